"""pydantic-ai messages: requests and responses with parts, as ``ModelMessagesTypeAdapter`` dumps them."""

from typing import Any

from ctxlab.sessions.blocks import blocks_of, reasoning_block
from ctxlab.sessions.formats.claims import built, claim_signs
from ctxlab.sessions.notebook import NoteBook
from ctxlab.sessions.reader import Reader, Reading
from ctxlab.sessions.session import Claim
from ctxlab.sessions.source import Source
from ctxlab.sessions.turns import Turns, conversation_views


def _recognise(source: Source) -> Claim | None:
    return claim_signs(source.signs, "pydantic-ai", "pydantic-ai messages")


def _read(source: Source) -> Reading:
    items = source.listed()
    if not items:
        raise source.refusal("a list of pydantic-ai messages")
    _, messages = built(items, _add, source.book)
    return Reading(source.name, conversation_views(messages, "the pydantic-ai messages"), "messages")


def _add(turns: Turns, raw: Any, where: str, book: NoteBook) -> None:
    parts = raw.get("parts") if isinstance(raw, dict) else None
    if not isinstance(parts, list):
        book.add("skipped", "something in place of a message with parts", where)
        return
    turn = object() if raw.get("kind") == "response" else None
    for index, part in enumerate(parts):
        if not isinstance(part, dict):
            book.add("skipped", "something in place of a part", f"{where}.parts[{index}]")
            continue
        place, kind, content = f"{where}.parts[{index}]", part.get("part_kind"), part.get("content")
        if kind == "system-prompt":
            turns.say("system", content, place)
        elif kind == "text":
            turns.say("assistant", content, place, turn)
        elif kind == "thinking":
            turns.add("assistant", [reasoning_block(content, part.get("signature"))], place, turn)
        elif kind == "tool-call":
            turns.call(part.get("tool_call_id"), part.get("tool_name"), part.get("args"), place, turn)
        elif kind in ("tool-return", "retry-prompt") and part.get("tool_name") is not None:
            failed = kind == "retry-prompt"
            turns.answer(part.get("tool_call_id"), content, place, failed=failed, name=part.get("tool_name"))
        elif kind in ("user-prompt", "retry-prompt"):
            turns.say("user", content, place)
        else:
            turns.add(
                "assistant" if turn else "user", blocks_of([{**part, "type": str(kind)}], place, book), place, turn
            )
    if turn is not None:
        turns.report(raw.get("usage"))


PYDANTIC_AI = Reader("pydantic-ai", "pydantic-ai messages", _recognise, _read)
