"""Gemini contents: roles user and model, parts keyed by kind, often without ids; camelCase and snake_case."""

from typing import Any

from ctxlab.messages import Block
from ctxlab.sessions.blocks import call_block, media_block, reasoning_block
from ctxlab.sessions.evidence import signs
from ctxlab.sessions.formats.claims import Placed, built, claim_signs
from ctxlab.sessions.messages_list import note_what_is_not_counted
from ctxlab.sessions.notebook import NoteBook
from ctxlab.sessions.reader import Reader, Reading
from ctxlab.sessions.session import Claim
from ctxlab.sessions.source import Source
from ctxlab.sessions.turns import Turns, conversation_views


def _contents(source: Source) -> Placed:
    contents = source.document.get("contents") if isinstance(source.document, dict) else None
    if isinstance(contents, list):
        return [(f"contents[{index}]", each) for index, each in enumerate(contents)]
    return [] if isinstance(source.document, dict) else source.listed()


def _recognise(source: Source) -> Claim | None:
    found = signs(_contents(source)) if isinstance(source.document, dict) else source.signs
    return claim_signs(found, "gemini", "Gemini contents")


def _read(source: Source) -> Reading:
    contents = _contents(source)
    if not contents:
        raise source.refusal("a list of Gemini contents, or an object with 'contents'")
    note_what_is_not_counted(source, source.document)
    _, messages = built(contents, _add, source.book)
    return Reading(source.name, conversation_views(messages, "the contents"), "messages")


def _add(turns: Turns, raw: Any, where: str, book: NoteBook) -> None:
    if not isinstance(raw, dict):
        book.add("skipped", "something in place of a content", where)
        return
    parts = raw.get("parts")
    blocks: list[Block] = []
    for index, part in enumerate(parts if isinstance(parts, list) else [parts]):
        place = f"{where}.parts[{index}]"
        response = _get(part, "functionResponse", "function_response")
        if isinstance(response, dict):
            # Without an id it answers the oldest call of its name, which only ``answer`` knows.
            turns.answer(response.get("id"), response.get("response"), place, name=response.get("name"))
        elif isinstance(part, dict):
            blocks.extend(_blocks(part, place, book))
        elif isinstance(part, str):
            blocks.append({"text": part})
        else:
            book.add("skipped", "something in place of a part", place)
    if blocks or not parts:
        role = raw.get("role", "user")
        turns.add("user" if role == "function" else role, blocks, where)


def _blocks(part: dict[str, Any], where: str, book: NoteBook) -> list[Block]:
    call = _get(part, "functionCall", "function_call")
    inline = _get(part, "inlineData", "inline_data")
    file = _get(part, "fileData", "file_data")
    if isinstance(call, dict):
        return [call_block(call.get("id"), call.get("name"), call.get("args"), where, book)]
    if isinstance(part.get("text"), str):
        thought = part.get("thought") is True
        signature = _get(part, "thoughtSignature", "thought_signature")
        return [reasoning_block(part["text"], signature) if thought else {"text": part["text"]}]
    for held, key in ((inline, "data"), (file, "fileUri"), (file, "file_uri")):
        if isinstance(held, dict) and key in held:
            kind = str(_get(held, "mimeType", "mime_type")).split("/")[0]
            data = held[key]
            if isinstance(data, str) and key == "data":
                data = data.replace("-", "+").replace("_", "/")
            media = kind if kind in ("image", "video") else "document"
            return [media_block(media, data, _get(held, "mimeType", "mime_type"), where, book)]
    return [{key: value} for key, value in part.items() if isinstance(value, dict)]


def _get(part: Any, *keys: str) -> Any:
    return next((part[key] for key in keys if part.get(key) is not None), None) if isinstance(part, dict) else None


GEMINI = Reader("gemini", "Gemini contents: a list or a request", _recognise, _read)
