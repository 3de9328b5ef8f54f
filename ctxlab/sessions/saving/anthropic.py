"""Anthropic Messages: ``{"messages": […]}``, with leading system messages under ``system``."""

import base64
from typing import Any

from ctxlab.messages import Block, Conversation
from ctxlab.sessions.notebook import NoteBook
from ctxlab.sessions.saving.pieces import address_of, as_text, base64_of, keep_only, media_type


def request(messages: Conversation, book: NoteBook) -> Any:
    """Return the messages as a request, without the model and the limits that only the caller knows."""
    system: list[dict[str, Any]] = []
    made: list[dict[str, Any]] = []
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        keep_only(message, ("role", "content"), "a message", where, book)
        content = _blocks(message["content"], where, book)
        if message["role"] == "system" and not made:
            book.add("lost", "a system message, written as 'system', which is no message", where)
            system += content
            continue
        if message["role"] not in ("user", "assistant"):
            book.add(
                "lost", "a role that Anthropic refuses, written all the same", f"{where} ({message['role'][:40]!r})"
            )
        made.append({"role": message["role"], "content": content})
    return {"system": system, "messages": made} if system else {"messages": made}


def _blocks(content: list[Block], where: str, book: NoteBook) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for at, block in enumerate(content):
        place = f"{where}.content[{at}]"
        if "cachePoint" in block and made and "cache_control" not in made[-1]:
            ttl = block["cachePoint"].get("ttl")
            made[-1]["cache_control"] = {"type": "ephemeral", **({"ttl": ttl} if ttl else {})}
            continue
        typed = _typed(block, place, book)
        if typed is None:
            book.add("lost", f"a block that Anthropic does not know ({', '.join(block)[:60]})", place)
        else:
            made.append(typed)
    return made


def _typed(block: Block, where: str, book: NoteBook) -> dict[str, Any] | None:
    match block:
        case {"toolUse": dict(use)}:
            keep_only(block, ("toolUse",), "a block", where, book)
            keep_only(use, ("toolUseId", "name", "input"), "a tool call", where, book)
            return {"type": "tool_use", "id": use.get("toolUseId"), "name": use.get("name"), "input": use.get("input")}
        case {"toolResult": dict(result)}:
            keep_only(block, ("toolResult",), "a block", where, book)
            keep_only(result, ("toolUseId", "status", "content"), "a tool result", where, book)
            items = [_item(item, f"{where}.toolResult", book) for item in result["content"]]
            failed = {"is_error": True} if result.get("status") == "error" else {}
            content = [item for item in items if item is not None]
            return {"type": "tool_result", "tool_use_id": result.get("toolUseId"), "content": content, **failed}
        case {"reasoningContent": dict(reasoning)}:
            return _reasoning(reasoning)
        case {"text": str(text)}:
            keep_only(block, ("text", "citations"), "a block", where, book)
            return {"type": "text", **block, "text": text}
        case {"image": dict(inside)} | {"document": dict(inside)}:
            return _media("image" if "image" in block else "document", inside)
        case {"cachePoint": _} | {"video": _} | {"guardContent": _} | {"citationsContent": _}:
            return None
    if len(block) == 1:
        (kind, inside), *_ = block.items()
        # What was read of a type that Strands does not have goes back as that type.
        return {"type": kind, **inside} if isinstance(inside, dict) and "type" not in inside else None
    return None


def _item(item: Block, where: str, book: NoteBook) -> dict[str, Any] | None:
    if "json" in item:
        return {"type": "text", "text": as_text(item, where, book)}
    typed = _typed(item, where, book) if "text" in item or "image" in item or "document" in item else None
    if typed is None:
        book.add("lost", f"an item of a tool result ({', '.join(item)[:60]})", where)
    return typed


def _reasoning(reasoning: dict[str, Any]) -> dict[str, Any] | None:
    match reasoning:
        case {"reasoningText": {"text": str(text), **rest}} if rest.keys() <= {"signature"}:
            return {"type": "thinking", "thinking": text, "signature": rest.get("signature", "")}
        case {"redactedContent": bytes(data)}:
            return {"type": "redacted_thinking", "data": base64.b64encode(data).decode()}
    return None


def _media(kind: str, inside: dict[str, Any]) -> dict[str, Any] | None:
    data, url = base64_of(inside), address_of(inside)
    title = {"title": inside["name"]} if isinstance(inside.get("name"), str) else {}
    if data is not None:
        source = {"type": "base64", "media_type": media_type(kind, inside), "data": data}
        return {"type": kind, "source": source, **title}
    return {"type": kind, "source": {"type": "url", "url": url}, **title} if url is not None else None
