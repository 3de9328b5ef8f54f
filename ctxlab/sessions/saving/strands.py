"""Strands' own formats: the JSON list of messages, and the folder of a FileSessionManager. Both hold everything."""

import base64
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ctxlab.messages import Conversation
from ctxlab.sessions.notebook import NoteBook
from ctxlab.sessions.session import Session


def message_list(messages: Conversation, book: NoteBook) -> Any:
    """Return the messages as a JSON value."""
    return [encoded(message, f"messages[{index}]", book) for index, message in enumerate(messages)]


def encoded(value: Any, where: str, book: NoteBook) -> Any:
    """Return a value with its bytes as Strands writes them."""
    if isinstance(value, bytes):
        return {"__bytes_encoded__": True, "data": base64.b64encode(value).decode()}
    if isinstance(value, dict):
        if value.get("__bytes_encoded__") is True and "data" in value:
            book.add("lost", "data that looks like encoded bytes, and is read as bytes", where)
        return {key: encoded(item, where, book) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [encoded(item, where, book) for item in value]
    return value


def folder(messages: Conversation, path: Path, session: Session, book: NoteBook) -> Path:
    """Write a session folder that a FileSessionManager restores: ``path`` itself if it is named session_*, else in it.

    Raises:
        FileExistsError: the session is there already.
    """
    own = path.name.startswith("session_")
    name = path.name.removeprefix("session_") if own else _identifier(session.name)
    agent = _identifier(session.agent_id or "default")
    target = path if own else path / f"session_{name}"
    now = datetime.now(UTC).isoformat()
    dated = {"created_at": now, "updated_at": now}
    texts = [
        _dumped({"message": raw, "message_id": number, "redact_message": None, **dated}, book)
        for number, raw in enumerate(message_list(messages, book))
    ]
    state = {"__name__": session.manager or "SlidingWindowConversationManager", "removed_message_count": 0}
    target.mkdir(parents=True)
    inside = target / "agents" / f"agent_{agent}"
    (inside / "messages").mkdir(parents=True)
    interrupts = {"interrupts": {}, "context": {}, "activated": False}
    about = {
        "agent_id": agent,
        "state": {},
        "conversation_manager_state": state,
        "_internal_state": {"interrupt_state": interrupts, "model_state": {}},
        **dated,
    }
    for number, text in enumerate(texts):
        (inside / "messages" / f"message_{number}.json").write_text(text, encoding="utf-8")
    (inside / "agent.json").write_text(json.dumps(about, indent=2), encoding="utf-8")
    head = {"session_id": name, "session_type": "AGENT", **dated}
    (target / "session.json").write_text(json.dumps(head, indent=2), encoding="utf-8")
    return target


def _dumped(value: Any, book: NoteBook) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
        text.encode()
    except UnicodeEncodeError:
        book.add("lost", "half of a surrogate pair, which is replaced when it is read", "text")
        return json.dumps(value)
    except (TypeError, RecursionError) as fault:
        raise ValueError(f"the messages hold what JSON cannot: {fault}") from None
    return text


def _identifier(name: str) -> str:
    """Return a name that is fit for a folder: the SDK refuses path separators, and systems refuse more."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.")[:80] or "session"
