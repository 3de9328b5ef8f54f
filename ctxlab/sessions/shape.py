"""Raw JSON to messages of the promised shape: what has it is passed on as it is, the rest is repaired and noted.

The shape: a dict with a str role and a list content of dicts; the value of every known block key is a dict (text: str);
toolResult.content is a list of dicts; ids and names are str. Which format the JSON came in is not known here.
"""

import base64
import binascii
from collections.abc import Iterable
from typing import Any, cast

from ctxlab.messages import KINDS, Block, Conversation, Message
from ctxlab.sessions.notebook import NoteBook

UNKNOWN_ROLE = "unknown"
_ITEM_KEYS = frozenset({"text", "json", "image", "document", "video"})
_MEDIA = frozenset({"image", "document", "video"})
_GONE = object()


def conversation(raw: Iterable[tuple[str, Any]], book: NoteBook) -> Conversation:
    """Return the messages of (place, JSON value) pairs; what is no message is skipped."""
    shaped = (message(value, where, book) for where, value in raw)
    return tuple(each for each in shaped if each is not None)


def message(raw: Any, where: str, book: NoteBook) -> Message | None:
    """Return one message in the promised shape, the very dict where it has it, or None where it is no object."""
    if not isinstance(raw, dict):
        book.add("skipped", f"{_kind(raw)} in place of a message", where)
        return None
    changes: dict[str, Any] = {}
    role = raw.get("role")
    if not isinstance(role, str):
        book.add("repaired", f"no role, or one that is not text; read as {UNKNOWN_ROLE!r}", where)
        changes["role"] = UNKNOWN_ROLE
    elif role not in ("user", "assistant"):
        book.add("read", "a role that is neither user nor assistant, kept", f"{where} ({role[:40]!r})")
    content = _content(raw, where, book)
    if content is not raw.get("content"):
        changes["content"] = content
    if "metadata" in raw and not isinstance(raw["metadata"], dict):
        book.add("repaired", f"metadata that is {_kind(raw['metadata'])}, left out", where)
        changes["metadata"] = _GONE
    # A cast, for TypedDict cannot say "and any other key": unknown keys survive.
    return cast(Message, _changed(raw, changes))


def _content(raw: dict[str, Any], where: str, book: NoteBook) -> list[Block]:
    content = raw.get("content")
    if isinstance(content, list):
        return _dicts(content, f"{where}.content", book, in_result=False)
    if isinstance(content, str):
        book.add("repaired", "content that is a string, read as one text block", where)
        return [{"text": content}]
    if isinstance(content, dict):
        book.add("repaired", "content that is one object, read as one block", where)
        return _dicts([content], f"{where}.content", book, in_result=False)
    what = _kind(content) if "content" in raw else "missing"
    book.add("repaired", f"content that is {what}, read as no blocks", where)
    return []


def _dicts(items: list[Any], where: str, book: NoteBook, *, in_result: bool) -> list[Block]:
    """Shape the items of a content list; the list itself where none had to change."""
    same = True
    shaped: list[Block] = []
    for index, item in enumerate(items):
        made = _block(item, where, index, book, in_result)
        same = same and made is item and made is not None
        if made is not None:
            shaped.append(made)
    return items if same else shaped


def _block(raw: Any, where: str, index: int, book: NoteBook, in_result: bool) -> Block | None:
    if isinstance(raw, str):
        book.add("repaired", "a string in a content list, read as a text block", f"{where}[{index}]")
        return {"text": raw}
    if not isinstance(raw, dict):
        if in_result and raw is not None:
            book.add("repaired", "a bare value in a toolResult, read as a json item", f"{where}[{index}]")
            return {"json": raw}
        book.add("skipped", f"{_kind(raw)} in place of a block", f"{where}[{index}]")
        return None
    changes: dict[str, Any] = {}
    for key in KINDS:
        if key in raw:
            value = _value(key, raw[key], where, index, book)
            if value is not raw[key]:
                changes[key] = value
    if not changes:
        return raw
    made = _changed(raw, changes)
    return made or None


def _value(key: str, value: Any, where: str, index: int, book: NoteBook) -> Any:
    place = f"{where}[{index}].{key}"
    if key == "text":
        return value if isinstance(value, str) else _as_text(value, "text", place, book)
    if not isinstance(value, dict):
        book.add("skipped", f"a block's {key} that is {_kind(value)}, left out", place)
        return _GONE
    if key == "toolUse":
        return _changed(value, _ids(value, ("toolUseId", "name"), place, book))
    if key == "toolResult":
        changes = _ids(value, ("toolUseId",), place, book)
        content = _result_content(value, place, book)
        if content is not value.get("content"):
            changes["content"] = content
        return _changed(value, changes)
    if key == "reasoningContent" and isinstance(sealed := value.get("redactedContent"), str):
        decoded = _unbase64(sealed, place, book)
        return value if isinstance(decoded, str) else {**value, "redactedContent": decoded}
    return _media(value, place, book) if key in _MEDIA else value


def _ids(value: dict[str, Any], keys: tuple[str, ...], place: str, book: NoteBook) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    for key in keys:
        if key not in value:
            book.add("read", f"a tool block without {key}", place)
        elif not isinstance(value[key], str):
            changes[key] = _as_text(value[key], key, place, book)
    return changes


def _result_content(result: dict[str, Any], place: str, book: NoteBook) -> list[Block]:
    content = result.get("content")
    if isinstance(content, list):
        return _dicts(content, f"{place}.content", book, in_result=True)
    if isinstance(content, str):
        book.add("repaired", "toolResult content that is a string, read as one text item", place)
        return [{"text": content}]
    if isinstance(content, dict):
        book.add("repaired", "toolResult content that is one object, read as one item", place)
        items = [content] if _ITEM_KEYS & content.keys() else [{"json": content}]
        return _dicts(items, f"{place}.content", book, in_result=True)
    if content is None:
        what = "null" if "content" in result else "missing"
        book.add("repaired", f"toolResult content that is {what}, read as no items", place)
        return []
    book.add("repaired", "toolResult content that is a bare value, read as a json item", place)
    return [{"json": content}]


def _media(value: dict[str, Any], place: str, book: NoteBook) -> dict[str, Any]:
    # A request as it goes over the wire holds base64 text where the SDK holds bytes; sizes must not depend on that.
    source = value.get("source")
    if not isinstance(source, dict) or not isinstance(source.get("bytes"), str):
        return value
    decoded = _unbase64(source["bytes"], place, book)
    return value if isinstance(decoded, str) else {**value, "source": {**source, "bytes": decoded}}


def _unbase64(text: str, place: str, book: NoteBook) -> str | bytes:
    try:
        decoded = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        book.add("read", "media bytes that are text but not base64, kept as text", place)
        return text
    book.add("read", "media bytes written as base64 text, decoded", place)
    return decoded


def _as_text(value: Any, key: str, place: str, book: NoteBook) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        book.add("repaired", f"{key} that is a number, read as text", place)
        return repr(value)
    book.add("skipped", f"{key} that is {_kind(value)}, left out", place)
    return _GONE


def _changed(original: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    if not changes:
        return original
    return {key: value for key, value in {**original, **changes}.items() if value is not _GONE}


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list", dict: "an object"}
    return names.get(type(value), "bytes")
