"""LangChain messages as ``messages_to_dict`` and ``dumpd`` write them, alone or under 'messages'."""

from typing import Any

from ctxlab.sessions.evidence import signs
from ctxlab.sessions.formats.chat import add_chat
from ctxlab.sessions.formats.claims import Placed, built, claim_signs
from ctxlab.sessions.notebook import NoteBook
from ctxlab.sessions.reader import Reader, Reading
from ctxlab.sessions.session import Claim
from ctxlab.sessions.source import Source
from ctxlab.sessions.turns import Turns, conversation_views

_ROLES = {
    "human": "user",
    "ai": "assistant",
    "AIMessageChunk": "assistant",
    "HumanMessageChunk": "user",
    "tool": "tool",
}


def _items(source: Source) -> Placed:
    document = source.document
    inside = document.get("kwargs") if isinstance(document, dict) and "lc" in document else document
    state = inside.get("values", inside) if isinstance(inside, dict) else None
    messages = state.get("messages") if isinstance(state, dict) else None
    if isinstance(messages, list):
        return [(f"messages[{index}]", item) for index, item in enumerate(messages)]
    return source.listed()


def _recognise(source: Source) -> Claim | None:
    found = signs(_items(source)) if isinstance(source.document, dict) else source.signs
    return claim_signs(found, "langchain", "LangChain messages")


def _read(source: Source) -> Reading:
    items = _items(source)
    if not items:
        raise source.refusal("LangChain messages, as messages_to_dict or dumpd write them")
    _, messages = built(items, _add, source.book)
    return Reading(source.name, conversation_views(messages, "the LangChain messages"), "messages")


def _add(turns: Turns, raw: Any, where: str, book: NoteBook) -> None:
    data = raw.get("data", raw.get("kwargs", raw)) if isinstance(raw, dict) else None
    if not isinstance(data, dict):
        book.add("skipped", "something in place of a message", where)
        return
    # dumpd names the class in its id; messages_to_dict has the type outside.
    kind = raw["type"] if raw.get("type") not in (None, "constructor") else data.get("type")
    path = raw.get("id")
    if kind is None and isinstance(path, list) and path and isinstance(path[-1], str):
        kind = path[-1].removesuffix("Chunk").removesuffix("Message").lower()
    role = data.get("role") if kind == "chat" else _ROLES.get(kind, kind) if isinstance(kind, str) else None
    extra = data.get("additional_kwargs")
    message = {**data, "role": role, "usage": data.get("usage_metadata")}
    if not data.get("tool_calls") and isinstance(extra, dict) and isinstance(extra.get("tool_calls"), list):
        message["tool_calls"] = extra["tool_calls"]
    if role != "tool":
        message.pop("function_call", None)
    add_chat(turns, message, where, book)


LANGCHAIN = Reader("langchain", "LangChain messages (messages_to_dict, dumpd)", _recognise, _read)
