"""Recordings of ``ctxlab.strands.record``: what was live at each model call, turn by turn, and every reduction.

Lines of JSON with a ``type``: the header of each run (`recording`), then `message` (each version of a message once),
`turn`, `call`, `overflow`, `reduction` and `end` in the order of events. Each call is a view. Writing is elsewhere.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ctxlab.edits import Edit
from ctxlab.messages import Conversation, Message
from ctxlab.reduction import Round, Trace
from ctxlab.replay import apply
from ctxlab.sessions.disk import read_bytes
from ctxlab.sessions.jsontext import JsonError, JsonReader
from ctxlab.sessions.notebook import NoteBook
from ctxlab.sessions.reader import Reader, Reading
from ctxlab.sessions.recorded_edits import edit_from
from ctxlab.sessions.session import Claim, SessionFormatError, View, count, plain
from ctxlab.sessions.shape import message as shaped
from ctxlab.sessions.source import Source

MARK = "recording"
VERSION = 1
MAX_VIEWS = 500
"""Moments that become views: a person chooses among them in a list."""

MAX_LIVE = 5_000_000
"""Live messages of all moments together after which no more is read: every line can name every message again."""


@dataclass(slots=True)
class _Run:
    """One process that recorded: its messages by number, and where it stands."""

    agent: str | None
    manager: str | None
    messages: dict[int, Message] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Moment:
    """A model call, or the end of a turn (``call`` None): what was live, and what was cut since the moment before."""

    turn: int
    call: int | None
    live: Conversation
    agent: str | None
    manager: str | None
    reductions: tuple[Trace, ...]
    refused: str | None = None

    @property
    def name(self) -> str:
        """What the moment is called in a list."""
        return f"turn {self.turn}, {f'call {self.call}' if self.call else 'end'}"

    @property
    def about(self) -> str:
        """What was live here, and how it came to be, in words."""
        live = "what the model saw" if self.call else "what was live at the end of the turn"
        edits = [edit for trace in self.reductions for edit in trace.edits]
        more = f" … and {count(len(edits) - 3, 'edit')} more" if len(edits) > 3 else ""
        cut = f"; cut before it: {' '.join(edit.sentence for edit in edits[:3])}{more}" if edits else ""
        refused = f"; the call was refused ({self.refused})" if self.refused is not None else ""
        return plain(f"{live}, {count(len(self.live), 'message')}{refused}{cut}")


def traces(path: "str | os.PathLike[str]") -> tuple[Trace, ...]:
    """Return the reductions of a recording, in order. Raises SessionFormatError for anything else."""
    return tuple(trace for moment in moments(path) for trace in moment.reductions)


def moments(path: "str | os.PathLike[str]") -> tuple[Moment, ...]:
    """Return the timeline of a recording: every model call and the end of every turn, in order.

    Raises SessionFormatError for anything else.
    """
    named, book = Path(path), NoteBook()
    lines = list(_parsed(named, book))
    if not lines or not _is_header(lines[0][1]):
        raise SessionFormatError(named, "top level", "no recording of ctxlab", "Use ctxlab.load for other files.")
    return tuple(_moments(lines, book))


def _parsed(path: Path, book: NoteBook) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the place and the object of each line of a file; what is none is passed over, and noted."""
    parser = JsonReader(book)
    for number, line in enumerate(read_bytes(path, follow=True).decode("utf-8", "replace").split("\n"), 1):
        where = f"line {number}"
        try:
            value = parser.parse(line, where) if line.strip() else None
        except JsonError as fault:
            book.add("skipped", "a line that is not JSON, left out", f"{where} ({fault.reason})")
            continue
        if isinstance(value, dict):
            yield where, value


def _lines(source: Source) -> Iterator[tuple[str, dict[str, Any]]]:
    # A file of one line is one JSON document, too.
    found = (
        ((record.where, record.value) for record in source.records) if source.records else [("line 1", source.document)]
    )
    return ((where, value) for where, value in found if isinstance(value, dict))


def _is_header(line: dict[str, Any]) -> bool:
    return line.get("type") == MARK and "ctxlab" in line


def _recognise(source: Source) -> Claim | None:
    _, first = next(_lines(source), ("", {}))
    return Claim("JSON lines that begin with a recording of ctxlab", "certain") if _is_header(first) else None


def _read(source: Source) -> Reading:
    if not _recognise(source):
        raise SessionFormatError(source.path, "top level", "the format needs its header", "Leave format= out.")
    found = list(_moments(_lines(source), source.book))
    if not found:
        raise SessionFormatError(source.path, "", "no model call was recorded", "Was the agent ever used?")
    if len(found) > MAX_VIEWS:
        source.book.add("skipped", f"moments before the newest {MAX_VIEWS}", source.path.name)
    views: dict[str, View] = {}
    for moment in found[-MAX_VIEWS:]:
        views[moment.name] = View(moment.live, moment.about, moment.agent, moment.manager)
    # The last moment can be an empty conversation, which leaves nothing to look at.
    shown = next((name for name in reversed(views) if views[name].messages), next(iter(views)))
    agent = found[-1].agent
    return Reading(f"{source.path.name} ({agent})" if agent else source.path.name, views, shown)


def _moments(lines: Iterable[tuple[str, dict[str, Any]]], book: NoteBook) -> Iterator[Moment]:
    """Yield the moments of all runs; turns are numbered through."""
    run = _Run(None, None)
    turn = call = 0
    waiting: Moment | None = None
    reductions: list[Trace] = []
    seen = 0
    for where, line in lines:
        if seen > MAX_LIVE:
            book.add("skipped", f"all that follows the first {MAX_LIVE:,} live messages", where)
            break
        match line.get("type"):
            case "recording":
                if line.get("ctxlab") != VERSION:
                    book.add("read", f"another version of recordings than {VERSION}, read all the same", where)
                run = _Run(_name(line.get("agent")), _name(line.get("manager")))
            case "message":
                message, number = shaped(line.get("message"), where, book), line.get("id")
                if message is not None and isinstance(number, int):
                    run.messages[number] = message
            case "turn":
                turn, call = turn + 1, 0
            case "call" | "end" as kind:
                if waiting is not None:
                    yield waiting
                call += kind == "call"
                live = _live(line.get("live"), run, where, book)
                seen += len(live)
                number = call if kind == "call" else None
                waiting = Moment(turn, number, live, run.agent, run.manager, tuple(reductions))
                reductions = []
            case "overflow":
                if waiting is not None:
                    waiting = _refused(waiting, line.get("error"))
            case "reduction":
                try:
                    reductions.append(_trace(line, run, where, book))
                    seen += len(reductions[-1].start)
                except ValueError as fault:
                    book.add("skipped", "a reduction that cannot be read", f"{where} ({fault})")
            case _:
                book.add("skipped", "a line of a recording that says nothing known", where)
    if waiting is not None:
        yield waiting


def _refused(moment: Moment, error: Any) -> Moment:
    words = error[:200] if isinstance(error, str) else ""
    return Moment(moment.turn, moment.call, moment.live, moment.agent, moment.manager, moment.reductions, plain(words))


def _name(value: Any) -> str | None:
    return plain(value[:80]) if isinstance(value, str) else None


def _live(ranges: Any, run: _Run, where: str, book: NoteBook) -> Conversation:
    """Return the messages of the ranges [[first, last], …]; what was not recorded is left out, and noted."""
    found: list[Message] = []
    highest = max(run.messages, default=-1)
    for each in ranges if isinstance(ranges, list) else ():
        match each:
            case [int(first), int(last)]:
                numbers = range(max(first, 0), min(last, highest) + 1)
                known = [run.messages[number] for number in numbers if number in run.messages]
                found.extend(known)
                missing = len(known) != last - first + 1
            case _:
                missing = True
        if missing:
            book.add("skipped", "live messages that were not recorded", where)
    return tuple(found)


def _trace(line: dict[str, Any], run: _Run, where: str, book: NoteBook) -> Trace:
    start = _live(line.get("start"), run, where, book)
    state, before = start, start
    rounds: list[Round] = []
    for raw in _listed(line.get("rounds")):
        edits: list[Edit] = []
        for record in _listed(raw.get("edits") if isinstance(raw, dict) else None):
            edit = edit_from(record, state)
            state = apply(state, edit)
            edits.append(edit)
        link: Conversation | Round = rounds[-1] if rounds else before
        rounds.append(Round(_whole(raw.get("number")), link, tuple(edits)))
    outcome, error = line.get("outcome"), line.get("error")
    if outcome not in ("fits", "stuck", "gave up"):
        raise ValueError(f"no outcome: {str(outcome)[:40]!r}")
    tokens = tuple(_whole(number) for number in _listed(line.get("tokens")))
    if len(tokens) != len(rounds) + 1:
        raise ValueError(f"{len(tokens)} token counts for {len(rounds)} rounds")
    return Trace(
        start,
        tuple(rounds),
        outcome,
        plain(error) if isinstance(error, str) else None,
        _whole(line.get("budget")),
        _whole(line.get("refused_calls")),
        tokens,
        _name(line.get("counter")) or "",
    )


def _listed(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError("something in place of a list")
    return value


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("something in place of a whole number")
    return value


RECORDING = Reader("recording", "a recording of ctxlab.strands.record", _recognise, _read)
