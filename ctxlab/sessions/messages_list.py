"""Formats that are one JSON file of messages: a plain list as Strands keeps it, and a Converse request around one.

Only messages whose blocks are keyed by kind are claimed; typed blocks belong to other formats.
"""

from typing import Any

from ctxlab.sessions.evidence import Signs
from ctxlab.sessions.reader import Reader, Reading
from ctxlab.sessions.session import Claim, View
from ctxlab.sessions.shape import conversation
from ctxlab.sessions.source import Source

_CONVERSE_KEYS = ("modelId", "toolConfig", "inferenceConfig", "guardrailConfig")
_APART = ("system", "system_prompt", "instructions", "systemInstruction", "system_instruction", "toolConfig", "tools")
_CHAT_REQUEST_KEYS = frozenset({"model", "max_tokens", "tools", "tool_choice", "temperature", "stream", "response"})


def placed(messages: list[Any]) -> list[tuple[str, Any]]:
    """Give every item of a message list its place."""
    return [(f"messages[{index}]", each) for index, each in enumerate(messages)]


def claim(found: Signs, what: str) -> Claim | None:
    """Claim messages with Converse blocks and no foreign sign; plain text alone is only possible."""
    if found.foreign or not found.messages:
        return None
    if found.converse:
        return Claim(f"{what} whose blocks are keyed by kind, without 'type'", "certain")
    return Claim(f"{what} with plain text only, which other formats share", "possible")


def _recognise_list(source: Source) -> Claim | None:
    if not isinstance(source.document, list):
        return None
    return claim(source.signs, "a JSON list of messages")


def _read_list(source: Source) -> Reading:
    if not isinstance(source.document, list):
        raise source.refusal("a JSON list of messages")
    return _reading(source, source.document, "the messages of the list")


def _recognise_request(source: Source) -> Claim | None:
    request = source.document
    if not isinstance(request, dict) or not isinstance(request.get("messages"), list):
        return None
    found = claim(source.signs, "an object with 'messages'")
    if found and found.certainty == "possible":
        if any(key in request for key in _CONVERSE_KEYS):
            return Claim("a Converse request with plain text only", "certain")
        if _CHAT_REQUEST_KEYS & request.keys():
            return None
    return found


def _read_request(source: Source) -> Reading:
    request = source.document
    if not isinstance(request, dict) or not isinstance(request.get("messages"), list):
        raise source.refusal("an object with a list 'messages'")
    note_what_is_not_counted(source, request)
    return _reading(source, request["messages"], "the messages of the request")


def note_what_is_not_counted(source: Source, request: Any) -> None:
    """Note a system prompt and tool schemas: they cost tokens in the model call, but are no messages."""
    for key in _APART:
        if isinstance(request, dict) and request.get(key):
            text = f"{key!r} is there, but is no message, and so is not shown or counted"
            source.book.add("read", text, source.name)


def _reading(source: Source, messages: list[Any], about: str) -> Reading:
    shaped = conversation(placed(messages), source.book)
    return Reading(source.path.name, {"messages": View(shaped, f"{about} ({len(shaped):,})")}, "messages")


LIST = Reader("messages", "a JSON list of messages", _recognise_list, _read_list)
REQUEST = Reader("converse", 'a Bedrock Converse request, {"messages": […]}', _recognise_request, _read_request)
