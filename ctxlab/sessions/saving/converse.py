"""A Bedrock Converse request: roles and blocks as Strands has them, bytes as base64, and nothing beside them."""

import base64
from typing import Any

from ctxlab.messages import KINDS, Conversation
from ctxlab.sessions.notebook import NoteBook


def request(messages: Conversation, book: NoteBook) -> Any:
    """Return ``{"messages": […]}``."""
    made = []
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        for key in message.keys() - {"role", "content"}:
            book.add("lost", f"{key} of a message", where)
        if message["role"] not in ("user", "assistant"):
            book.add(
                "lost", "a role that Converse refuses, written all the same", f"{where} ({message['role'][:40]!r})"
            )
        known = [block for block in message["content"] if any(kind in block for kind in KINDS)]
        if len(known) < len(message["content"]):
            book.add("lost", "a block that Converse does not know", where)
        made.append({"role": message["role"], "content": _wire(known)})
    return {"messages": made}


def _wire(value: Any) -> Any:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {key: _wire(item) for key, item in value.items()}
    return [_wire(item) for item in value] if isinstance(value, list) else value
