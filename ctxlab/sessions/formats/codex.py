"""Codex rollouts: Responses items in envelopes; a recorded compaction replaces what came before it.

Events repeat what the items say, and are left out but for the tokens that they report.
"""

from typing import Any

from ctxlab.sessions.formats.responses import add_item
from ctxlab.sessions.notebook import NoteBook
from ctxlab.sessions.reader import Reader, Reading
from ctxlab.sessions.session import Claim, View, count
from ctxlab.sessions.source import Record, Source
from ctxlab.sessions.turns import Turns

_TYPES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
MAX_COMPACTIONS = 50


def _recognise(source: Source) -> Claim | None:
    first = [record.value for record in source.records[:20]]
    fits = [line for line in first if isinstance(line, dict) and "payload" in line and line.get("type") in _TYPES]
    return Claim("lines of timestamp, type and payload with the types of Codex", "certain") if fits else None


def _read(source: Source) -> Reading:
    if not source.records:
        raise source.refusal("lines of a Codex rollout")
    live, stored = _Replay(source.book), _Replay(NoteBook())
    before: list[View] = []
    for record in source.records:
        line = record.value
        payload = line.get("payload") if isinstance(line, dict) else None
        kind = line.get("type") if isinstance(line, dict) else None
        if kind == "compacted" and isinstance(payload, dict):
            number = len(before) + 1
            before.append(live.view(f"what was live before compaction {number}"))
            live = _replaced(payload, record, source.book)
        elif kind == "response_item":
            live.item(payload, record)
            stored.item(payload, record)
        elif kind == "event_msg" and isinstance(payload, dict) and payload.get("type") == "token_count":
            live.report(payload)
            stored.report(payload)
        else:
            named = f"of type {kind[:40]!r}" if isinstance(kind, str) else "without a type"
            source.book.add("skipped", f"a line {named}, which is no item of the conversation", record.where)
    if not before:
        return Reading(source.name, {"messages": live.view("what the items make")}, "messages")
    views = {
        "live": live.view("what was live at the end: since the last compaction"),
        "stored": stored.view("all items that were stored"),
    }
    for number, view in list(enumerate(before, 1))[-MAX_COMPACTIONS:]:
        views[f"before compaction {number}"] = view
    if len(before) > MAX_COMPACTIONS:
        text = f"compactions before the newest {MAX_COMPACTIONS} have no view"
        source.book.add("skipped", text, f"{len(before)} there")
    return Reading(source.name, views, "live" if views["live"].messages else "stored")


class _Replay:
    """The conversation as far as the lines have come; a count of tokens goes to the answer that it is of."""

    def __init__(self, book: NoteBook) -> None:
        self._book = book
        self.turns = Turns(book)
        self._usage: Any = None

    def item(self, payload: Any, record: Record) -> None:
        length = len(self.turns)
        add_item(self.turns, payload, record.where, self._book)
        # Older releases report a call before the items that answer it, newer ones after them.
        if self._usage and len(self.turns) > length and self.turns.last_role == "assistant":
            self.turns.report(self._usage)
            self._usage = None

    def report(self, payload: dict[str, Any]) -> None:
        info = payload.get("info")
        usage = info.get("last_token_usage") if isinstance(info, dict) else None
        if isinstance(usage, dict) and not self.turns.report(usage):
            self._usage = usage

    def view(self, about: str) -> View:
        messages = self.turns.conversation()
        return View(messages, f"{about} ({count(len(messages), 'message')} of {count(self.turns.pieces, 'item')})")


def _replaced(payload: dict[str, Any], record: Record, book: NoteBook) -> _Replay:
    replay = _Replay(book)
    history = payload.get("replacement_history")
    if isinstance(history, list):
        for item in history:
            replay.item(item, record)
        return replay
    book.add(
        "read",
        "a compaction without its replacement: what was live after it is known but for the summary",
        record.where,
    )
    summary = payload.get("message")
    if isinstance(summary, str) and summary:
        replay.item({"type": "message", "role": "user", "content": summary}, record)
    return replay


CODEX = Reader("codex", "a Codex rollout (JSONL)", _recognise, _read)
