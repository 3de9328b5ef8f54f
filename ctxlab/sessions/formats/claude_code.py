"""Claude Code sessions: lines in envelopes, a turn split over several, sidechains, and recorded compactions.

What is live is the chain of parents from the newest line, since the last compaction. Lines of one message id are one
turn. Lines that are no messages, and copies that a resumed session carries along, are counted and left out.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from ctxlab.messages import Conversation
from ctxlab.sessions.blocks import blocks_of
from ctxlab.sessions.notebook import NoteBook
from ctxlab.sessions.reader import Reader, Reading
from ctxlab.sessions.session import Claim, View, count
from ctxlab.sessions.source import Record, Source
from ctxlab.sessions.turns import Turns

_ENVELOPE = ("uuid", "sessionId", "leafUuid", "parentUuid")
_BOUNDARY = "compact_boundary"
MAX_SIDECHAINS = MAX_COMPACTIONS = 50
"""Views of a kind: a person chooses among them in a list."""


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
    chain = _chain(main)
    kept = [line for line in main if id(line) in chain]
    if len(kept) < len(main):
        text = "lines of branches that were left behind, only in 'every branch'"
        book.add("read", text, count(len(main) - len(kept), "line"))
    windows = _windows(kept, book)
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
    views |= _sidechains(lines, book)
    shown = next((name for name, view in views.items() if view.messages), next(iter(views)))
    return Reading(source.name, views, shown)


def _lines(records: Iterable[Record], book: NoteBook) -> list[Record]:
    """Return the lines that hold a message or a boundary, each uuid once."""
    found: list[Record] = []
    known: set[str] = set()
    for record in records:
        line = record.value
        kind = line.get("type") if isinstance(line, dict) else None
        boundary = isinstance(line, dict) and line.get("subtype") == _BOUNDARY
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


def _chain(lines: Sequence[Record]) -> set[int]:
    """Return the ids of the line objects on the chain from the newest one, and of what belongs to its turns."""
    by_uuid = {line.value.get("uuid"): line for line in lines if isinstance(line.value.get("uuid"), str)}
    on: set[int] = set()
    current: Record | None = next((line for line in reversed(lines) if isinstance(line.value.get("uuid"), str)), None)
    if current is None:
        return {id(line) for line in lines}
    while current is not None and id(current) not in on:
        on.add(id(current))
        value = current.value
        # A boundary has no parent, so that the old lines are not sent; what came before is its logical parent.
        parent = value.get("parentUuid") or value.get("logicalParentUuid")
        current = by_uuid.get(parent) if isinstance(parent, str) else None
        if current is None and isinstance(parent, str):
            # The chain leads out of the file: what stands before cannot be told apart, so it is all kept.
            at = next(index for index, line in enumerate(lines) if line.value is value)
            on |= {id(line) for line in lines[:at]}
    # Answers to parallel calls hang on their own call, so the chain passes through one of them only.
    turns = {key for line in lines if id(line) in on and (key := _turn(line)) is not None}
    asked: set[str] = set()
    for line in lines:
        if _turn(line) in turns:
            on.add(id(line))
        uuid, parent = line.value.get("uuid"), line.value.get("parentUuid")
        if id(line) in on and line.value.get("type") == "assistant" and isinstance(uuid, str):
            asked.add(uuid)
        elif id(line) not in on and isinstance(parent, str) and parent in asked and _answers_only(line):
            on.add(id(line))
    return on


def _turn(line: Record) -> str | None:
    message = line.value.get("message")
    name = message.get("id") if isinstance(message, dict) and line.value.get("type") == "assistant" else None
    return name if isinstance(name, str) else None


def _answers_only(line: Record) -> bool:
    message = line.value.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    parts = content if isinstance(content, list) else [None]
    return all(isinstance(part, dict) and part.get("type") == "tool_result" for part in parts)


def _windows(lines: Sequence[Record], book: NoteBook) -> list[list[Record]]:
    """Split at the boundaries; a boundary itself holds no message."""
    windows: list[list[Record]] = [[]]
    for line in lines:
        if line.value.get("subtype") == _BOUNDARY:
            about = line.value.get("compactMetadata")
            if isinstance(about, dict) and any(key.startswith("preserved") for key in about):
                book.add("read", "messages that a compaction preserved are not put back behind it", line.where)
            windows.append([])
        else:
            windows[-1].append(line)
    if len(windows) > MAX_COMPACTIONS:
        text = f"compactions before the newest {MAX_COMPACTIONS} have no view"
        book.add("skipped", text, f"{len(windows) - 1} there")
    return [window for window in windows if window] or [[]]


def _view(lines: Sequence[Record], about: str, book: NoteBook) -> View:
    messages = _conversation(lines, book)
    return View(messages, f"{about} ({count(len(messages), 'message')} of {count(len(lines), 'line')})")


def _conversation(lines: Sequence[Record], book: NoteBook) -> Conversation:
    turns = Turns(book)
    for line in lines:
        if line.value.get("subtype") == _BOUNDARY:
            continue
        message = line.value["message"]
        role = message.get("role", line.value.get("type"))
        blocks = blocks_of(message.get("content"), f"{line.where}.content", book)
        turns.add(role, blocks, line.where, _turn(line), message.get("usage"), join=True)
    return turns.conversation()


def _sidechains(lines: Sequence[Record], book: NoteBook) -> dict[str, View]:
    """Return each subagent's thread as a view: lines are joined by their agent id, or by their parents."""
    threads: dict[Any, list[Record]] = {}
    root: dict[str, Any] = {}
    for line in lines:
        value = line.value
        if value.get("isSidechain") is not True:
            continue
        parent, uuid, agent = value.get("parentUuid"), value.get("uuid"), value.get("agentId")
        key = agent if isinstance(agent, str) else root.get(parent) if isinstance(parent, str) else None
        key = key if key is not None else uuid if isinstance(uuid, str) else line.where
        if isinstance(uuid, str):
            root[uuid] = key
        threads.setdefault(key, []).append(line)
    if len(threads) > MAX_SIDECHAINS:
        book.add("skipped", f"sidechains beyond the first {MAX_SIDECHAINS}", f"{len(threads) - MAX_SIDECHAINS} of them")
    chosen = list(threads.values())[:MAX_SIDECHAINS]
    return {
        f"sidechain {number}": _view(thread, f"the thread of subagent {number}", NoteBook())
        for number, thread in enumerate(chosen, 1)
    }


CLAUDE_CODE = Reader("claude-code", "a Claude Code session (JSONL)", _recognise, _read)
