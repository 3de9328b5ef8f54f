"""Which lines of a Claude Code session belong together: the live chain, windows between compactions, subagents.

Lines are told apart by their envelopes alone; what is in a message is not known here, but for tool results.
"""

from collections.abc import Sequence
from typing import Any

from ctxlab.sessions.notebook import NoteBook
from ctxlab.sessions.source import Record

BOUNDARY = "compact_boundary"
MAX_SIDECHAINS = MAX_COMPACTIONS = 50
"""Views of a kind: a person chooses among them in a list."""


def live_chain(lines: Sequence[Record]) -> set[int]:
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
    turns = {key for line in lines if id(line) in on and (key := turn_of(line)) is not None}
    asked: set[str] = set()
    for line in lines:
        if turn_of(line) in turns:
            on.add(id(line))
        uuid, parent = line.value.get("uuid"), line.value.get("parentUuid")
        if id(line) in on and line.value.get("type") == "assistant" and isinstance(uuid, str):
            asked.add(uuid)
        elif id(line) not in on and isinstance(parent, str) and parent in asked and _answers_only(line):
            on.add(id(line))
    return on


def turn_of(line: Record) -> str | None:
    """Return the message id of an assistant's line: lines that share it are one turn."""
    message = line.value.get("message")
    name = message.get("id") if isinstance(message, dict) and line.value.get("type") == "assistant" else None
    return name if isinstance(name, str) else None


def _answers_only(line: Record) -> bool:
    message = line.value.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    parts = content if isinstance(content, list) else [None]
    return all(isinstance(part, dict) and part.get("type") == "tool_result" for part in parts)


def windows_of(lines: Sequence[Record], book: NoteBook) -> list[list[Record]]:
    """Split at the boundaries; a boundary itself holds no message."""
    windows: list[list[Record]] = [[]]
    for line in lines:
        if line.value.get("subtype") == BOUNDARY:
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


def sidechains(lines: Sequence[Record], book: NoteBook) -> list[list[Record]]:
    """Return the lines of each subagent: they are joined by their agent id, or by their parents."""
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
    return list(threads.values())[:MAX_SIDECHAINS]
