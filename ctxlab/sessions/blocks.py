"""Blocks as vendors type them ({"type": "tool_use", …}) to blocks as Strands keys them, one small function a type.

What has no place in Strands' model stays, keyed by its type. Repairs of shape are made elsewhere, and no format is
known here: the types of different vendors hardly clash, so one table serves all.
"""

import base64
import binascii
import re
from collections.abc import Callable
from typing import Any

from ctxlab.messages import KINDS, Block
from ctxlab.sessions.jsontext import JsonError, JsonReader
from ctxlab.sessions.notebook import NoteBook

_DATA_URI = re.compile(r"data:([\w.+-]+/[\w.+-]+)?(?:;[\w=.+-]+)*,", re.ASCII)
_FORMATS = {"jpg": "jpeg", "plain": "txt", "markdown": "md", "msword": "doc", "svg+xml": "svg"}
_OFFICE = {"wordprocessingml.document": "docx", "spreadsheetml.sheet": "xlsx"}
_IMAGES = frozenset({"png", "jpeg", "jpg", "gif", "webp"})


def blocks_of(content: Any, where: str, book: NoteBook) -> list[Block]:
    """Return the blocks of a message's content: a string, a list of strings and typed blocks, null or one block."""
    if content is None or content == "":
        return []
    items = content if isinstance(content, list) else [content]
    found: list[Block] = []
    for index, item in enumerate(items):
        if isinstance(item, str):
            found.append({"text": item})
            continue
        if not isinstance(item, dict):
            book.add("skipped", "something in place of a block", f"{where}[{index}]")
            continue
        found.append(_block(item, f"{where}[{index}]", book))
        if isinstance(item.get("cache_control"), dict):
            ttl = item["cache_control"].get("ttl")
            found.append({"cachePoint": {"type": "default", **({"ttl": ttl} if isinstance(ttl, str) else {})}})
    return found


def result_items(content: Any, where: str, book: NoteBook) -> list[Block]:
    """Return the items of a tool's answer: text, json, and media where its parts are typed so."""
    if content is None:
        return []
    if isinstance(content, str):
        return [{"text": content}]
    found: list[Block] = []
    for index, part in enumerate(content if isinstance(content, list) else [content]):
        if isinstance(part, str):
            found.append({"text": part})
        elif isinstance(part, dict) and isinstance(part.get("type"), str) and part["type"] in _IN_RESULTS:
            found.append(_block(part, f"{where}[{index}]", book))
        elif isinstance(part, dict) and len(part) == 1 and next(iter(part)) in _ITEM_KEYS:
            found.append(part)
        elif part is not None:
            found.append({"json": part})
    return found


def call_block(call_id: Any, name: Any, arguments: Any, where: str, book: NoteBook) -> Block:
    """Return a toolUse; arguments that are JSON in a string are parsed."""
    return {"toolUse": {"toolUseId": call_id, "name": name, "input": parsed(arguments, where, book)}}


def result_block(call_id: Any, content: Any, failed: bool, where: str, book: NoteBook) -> Block:
    """Return a toolResult."""
    status = "error" if failed else "success"
    return {"toolResult": {"toolUseId": call_id, "status": status, "content": result_items(content, where, book)}}


def reasoning_block(text: Any, signature: Any = None) -> Block:
    """Return reasoning in words, with the signature that some vendors want to see again."""
    signed = {"signature": signature} if isinstance(signature, str) and signature else {}
    return {"reasoningContent": {"reasoningText": {"text": text if isinstance(text, str) else "", **signed}}}


def sealed_block(data: str) -> Block:
    """Return reasoning that only the vendor can read."""
    return {"reasoningContent": {"redactedContent": unbase64(data) or data.encode("utf-8", "replace")}}


def parsed(arguments: Any, where: str, book: NoteBook) -> Any:
    """Return the arguments of a call as a JSON value; a string that is no JSON stays one, and an empty one is {}."""
    if arguments is None or arguments == "":
        return {}
    if not isinstance(arguments, str):
        return arguments
    try:
        return JsonReader(book).parse(arguments, where)
    except JsonError as fault:
        book.add("repaired", "arguments that are no JSON, kept as text", f"{where} ({fault.reason})")
        return arguments


def media_block(kind: str, data: Any, media_type: Any, where: str, book: NoteBook, name: str = "") -> Block:
    """Return an image, document or video: from base64, a data URI, bytes or an address, which is kept as it is."""
    if isinstance(data, str):
        uri = _DATA_URI.match(data[:200])
        if uri:
            media_type = uri[1] or media_type
            data = data[uri.end() :]
        elif re.match(r"[a-z][a-z0-9+.-]*://", data[:40]):
            return {kind: _named({"format": _format(kind, media_type, data), "source": {"url": data}}, name)}
    decoded = data if isinstance(data, bytes) else unbase64(data) if isinstance(data, str) else None
    if decoded is None:
        book.add("read", "media that is no base64, kept as text", where)
    inside: dict[str, Any] = {
        "format": _format(kind, media_type, name),
        "source": {"bytes": data if decoded is None and isinstance(data, str) else decoded or b""},
    }
    return {kind: _named(inside, name)}


def unbase64(data: str) -> bytes | None:
    """Return the bytes of strict base64, None for anything else."""
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None


def _named(inside: dict[str, Any], name: str) -> dict[str, Any]:
    return {**inside, "name": name} if name and "/" not in name else inside


def _format(kind: str, media_type: Any, name: str) -> str:
    ending = name.rsplit(".", 1)[-1].lower() if "." in name[-6:] else ""
    found = media_type.rsplit("/", 1)[-1].lower() if isinstance(media_type, str) else ending
    for part, office in _OFFICE.items():
        if found.endswith(part):
            return office
    if kind == "image" and found not in _IMAGES and ending in _IMAGES:
        found = ending
    return _FORMATS.get(found, found) or ("png" if kind == "image" else "txt")


def _block(block: dict[str, Any], where: str, book: NoteBook) -> Block:
    kind = block.get("type")
    if not isinstance(kind, str):
        return block
    make = _TYPES.get(kind)
    if make:
        return make(block, where, book)
    book.add(
        "read", "a block of a type that the model has no place for, kept under its name", f"{where} ({kind[:40]!r})"
    )
    return {kind: {key: value for key, value in block.items() if key != "type"}}


def _text(block: dict[str, Any], where: str, book: NoteBook) -> Block:
    text = next((block[key] for key in ("text", "refusal", "content") if key in block), None)
    cited = block.get("citations")
    return {"text": text, **({"citations": cited} if cited and isinstance(cited, list) else {})}


def _call(block: dict[str, Any], where: str, book: NoteBook) -> Block:
    made = next((block[key] for key in ("input", "arguments", "args") if key in block), None)
    return call_block(block.get("call_id", block.get("id")), block.get("name"), made, where, book)


def _result(block: dict[str, Any], where: str, book: NoteBook) -> Block:
    failed = block.get("is_error") is True or block.get("isError") is True
    return result_block(block.get("tool_use_id"), block.get("content"), failed, f"{where}.content", book)


def _thinking(block: dict[str, Any], where: str, book: NoteBook) -> Block:
    text = next((block[key] for key in ("thinking", "reasoning", "text") if isinstance(block.get(key), str)), "")
    if block.get("redacted") is True:
        return sealed_block(text)
    return reasoning_block(text, block.get("signature"))


def _sealed(block: dict[str, Any], where: str, book: NoteBook) -> Block:
    return sealed_block(block["data"] if isinstance(block.get("data"), str) else "")


def _media(kind: str) -> Callable[[dict[str, Any], str, NoteBook], Block]:
    def make(block: dict[str, Any], where: str, book: NoteBook) -> Block:
        # Anthropic has a source, and with OpenAI the type is the key, too.
        held = (block.get("source"), block.get(str(block.get("type"))), block)
        inside = next(each for each in held if isinstance(each, dict))
        keys = ("data", "base64", "url", "file_data", "image_url", "image", "document", "video", "bytes")
        data = next((inside[key] for key in keys if isinstance(inside.get(key), str | bytes)), None)
        if data is None or inside.get("type") == "text":
            if isinstance(data, str):
                data = base64.b64encode(data.encode("utf-8", "replace")).decode()
            else:
                book.add("read", "media that is kept elsewhere", where)
                return {kind: {"source": {key: value for key, value in inside.items() if key != "type"}}}
        names = (block.get("title"), inside.get("filename"), block.get("filename"), block.get("name"))
        name = next((each for each in names if isinstance(each, str)), "")
        media_type = next((inside[key] for key in ("media_type", "mime_type", "mimeType") if key in inside), None)
        return media_block(kind, data, media_type, where, book, name)

    return make


_TYPES: dict[str, Callable[[dict[str, Any], str, NoteBook], Block]] = {
    **dict.fromkeys(("text", "input_text", "output_text", "summary_text", "reasoning_text", "refusal"), _text),
    **dict.fromkeys(("tool_use", "toolCall", "tool_call", "function_call"), _call),
    "tool_result": _result,
    **dict.fromkeys(("thinking", "reasoning"), _thinking),
    "redacted_thinking": _sealed,
    **dict.fromkeys(("image", "image_url", "input_image"), _media("image")),
    **dict.fromkeys(("document", "file", "input_file"), _media("document")),
    **dict.fromkeys(("video", "input_video"), _media("video")),
}
_IN_RESULTS = _TYPES.keys() - {"tool_result", "tool_use", "toolCall", "tool_call", "function_call"}
_ITEM_KEYS = frozenset({"text", "json", "image", "document", "video"}) & (frozenset(KINDS) | {"json"})
