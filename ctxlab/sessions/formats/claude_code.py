"""Claude Code sessions: lines in envelopes, a turn split over several, sidechains, and recorded compactions.

What is live is the chain of parents from the newest line, since the last compaction. Lines of one message id are one
turn. Lines that are no messages, and copies that a resumed session carries along, are counted and left out.
"""

from collections.abc import Iterable, Sequence

from ctxlab.messages import Conversation
from ctxlab.sessions.blocks import blocks_of
from ctxlab.sessions.formats.claude_lines import (
    BOUNDARY,
    MAX_COMPACTIONS,
    live_chain,
    sidechains,
    turn_of,
    windows_of,
)
from ctxlab.sessions.notebook import NoteBook
from ctxlab.sessions.reader import Reader, Reading
from ctxlab.sessions.session import Claim, View, count
from ctxlab.sessions.source import Record, Source
from ctxlab.sessions.turns import Turns

_ENVELOPE = ("uuid", "sessionId", "leafUuid", "parentUuid")


def _recognise(source: Source) -> Claim | None:
    seen = 0
    for record in source.records[:50]:
        line = record.value
        if isinstance(line, dict) and "payload" not in line and any(key in line for key in _ENVELOPE):
            seen += line.get("type") in ("user", "assistant") and isinstance(line.get("message"), dict)
    rule = "lines of type user and assistant with uuid or sessionId around a message"
    return Claim(rule, "certain") if seen else None


def _read(source: Source) -> Reading:
    book = source.book
    lines = _lines(source.records, book)
    if not lines:
        raise source.refusal("lines of Claude Code, each a message in an envelope")
    main = [line for line in lines if line.value.get("isSidechain") is not True]
    chain = live_chain(main)
    kept = [line for line in main if id(line) in chain]
    if len(kept) < len(main):
        text = "lines of branches that were left behind, only in 'every branch'"
        book.add("read", text, count(len(main) - len(kept), "line"))
    windows = windows_of(kept, book)
    views: dict[str, View] = {}
    if len(windows) > 1:
        views["live"] = _view(windows[-1], "what was live: since the last compaction", book)
        views["stored"] = _view(kept, "the whole main thread", NoteBook())
        for number, window in list(enumerate(windows[:-1], 1))[-MAX_COMPACTIONS:]:
            name = f"before compaction {number}"
            views[name] = _view(window, f"what was live {name}", NoteBook())
    else:
        views["main thread"] = _view(kept, "the main thread", book)
    if len(kept) < len(main):
        views["every branch"] = _view(main, "all lines of the main thread, also of branches left behind", NoteBook())
    for number, thread in enumerate(sidechains(lines, book), 1):
        views[f"sidechain {number}"] = _view(thread, f"the thread of subagent {number}", NoteBook())
    shown = next((name for name, view in views.items() if view.messages), next(iter(views)))
    return Reading(source.name, views, shown)


def _lines(records: Iterable[Record], book: NoteBook) -> list[Record]:
    """Return the lines that hold a message or a boundary, each uuid once."""
    found: list[Record] = []
    known: set[str] = set()
    for record in records:
        line = record.value
        kind = line.get("type") if isinstance(line, dict) else None
        boundary = isinstance(line, dict) and line.get("subtype") == BOUNDARY
        if not boundary and not (kind in ("user", "assistant") and isinstance(line.get("message"), dict)):
            named = f"of type {kind[:40]!r}" if isinstance(kind, str) else "without a type"
            book.add("skipped", f"a line {named}, which is no message", record.where)
            continue
        uuid = line.get("uuid")
        if isinstance(uuid, str):
            if uuid in known:
                book.add("skipped", "a line whose uuid was there before", record.where)
                continue
            known.add(uuid)
        found.append(record)
    return found


def _view(lines: Sequence[Record], about: str, book: NoteBook) -> View:
    messages = _conversation(lines, book)
    return View(messages, f"{about} ({count(len(messages), 'message')} of {count(len(lines), 'line')})")


def _conversation(lines: Sequence[Record], book: NoteBook) -> Conversation:
    turns = Turns(book)
    for line in lines:
        if line.value.get("subtype") == BOUNDARY:
            continue
        message = line.value["message"]
        role = message.get("role", line.value.get("type"))
        blocks = blocks_of(message.get("content"), f"{line.where}.content", book)
        turns.add(role, blocks, line.where, turn_of(line), message.get("usage"), join=True)
    return turns.conversation()


CLAUDE_CODE = Reader("claude-code", "a Claude Code session (JSONL)", _recognise, _read)
