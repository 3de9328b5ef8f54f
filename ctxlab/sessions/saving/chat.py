"""OpenAI Chat Completions: ``{"messages": […]}``; each tool result is a message, and calls are beside the content."""

import json
from typing import Any

from ctxlab.messages import Block, Conversation, Message
from ctxlab.sessions.notebook import NoteBook
from ctxlab.sessions.saving.pieces import address_of, as_text, base64_of, keep_only, media_type, plain


def request(messages: Conversation, book: NoteBook) -> Any:
    """Return the messages as a request, without the model."""
    made: list[dict[str, Any]] = []
    answers = False
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        keep_only(message, ("role", "content"), "a message", where, book)
        content = message["content"]
        results = [block for block in content if "toolResult" in block]
        if results and answers:
            book.add("lost", "the border between two messages of tool results", where)
        answers = bool(content) and len(results) == len(content)
        if results and not answers:
            book.add("lost", "a message of tool results and other blocks, written as several", where)
        made += [_answer(block["toolResult"], where, book) for block in results]
        if not answers:
            made.append(_message(message, where, book))
    return {"messages": made}


def _message(message: Message, where: str, book: NoteBook) -> dict[str, Any]:
    content = [block for block in message["content"] if "toolResult" not in block]
    calls = [_call(block["toolUse"], where, book) for block in content if "toolUse" in block]
    first_call = next((at for at, block in enumerate(content) if "toolUse" in block), len(content))
    if any("toolUse" not in block for block in content[first_call:]):
        book.add("lost", "the order of calls and what is said between them", where)
    parts = [_part(block, where, book) for block in content if "toolUse" not in block]
    held = [part for part in parts if part is not None]
    said: Any = held
    if len(held) == 1 and held[0]["type"] == "text" and held[0]["text"]:
        said = held[0]["text"]
    elif not held:
        said = None if calls else ""
    return {"role": message["role"], "content": said, **({"tool_calls": calls} if calls else {})}


def _call(use: dict[str, Any], where: str, book: NoteBook) -> dict[str, Any]:
    keep_only(use, ("toolUseId", "name", "input"), "a tool call", where, book)
    arguments = json.dumps(use.get("input"), ensure_ascii=False, default=plain)
    function = {"name": use.get("name"), "arguments": arguments}
    return {"id": use.get("toolUseId"), "type": "function", "function": function}


def _answer(result: dict[str, Any], where: str, book: NoteBook) -> dict[str, Any]:
    keep_only(result, ("toolUseId", "status", "content"), "a tool result", where, book)
    if result.get("status") == "error":
        book.add("lost", "that a tool failed", where)
    parts: list[dict[str, Any]] = []
    for item in result["content"]:
        if "json" in item:
            parts.append({"type": "text", "text": as_text(item, where, book)})
        elif set(item) == {"text"}:
            parts.append({"type": "text", "text": item["text"]})
        else:
            book.add("lost", f"an item of a tool result ({', '.join(item)[:60]})", where)
    content: Any = parts[0]["text"] if len(parts) == 1 else parts
    return {"role": "tool", "tool_call_id": result.get("toolUseId"), "content": content}


def _part(block: Block, where: str, book: NoteBook) -> dict[str, Any] | None:
    match block:
        case {"text": str(text)} if len(block) == 1:
            return {"type": "text", "text": text}
        case {"image": dict(inside)} if len(block) == 1:
            address = _address("image", inside)
            if address is not None:
                return {"type": "image_url", "image_url": {"url": address}}
        case {"document": dict(inside)} if len(block) == 1 and base64_of(inside) is not None:
            named = {"filename": inside["name"]} if isinstance(inside.get("name"), str) else {}
            return {"type": "file", "file": {"file_data": _address("document", inside), **named}}
    book.add("lost", f"a block that OpenAI chat does not know ({', '.join(block)[:60]})", where)
    return None


def _address(kind: str, inside: dict[str, Any]) -> str | None:
    data = base64_of(inside)
    return address_of(inside) if data is None else f"data:{media_type(kind, inside)};base64,{data}"
