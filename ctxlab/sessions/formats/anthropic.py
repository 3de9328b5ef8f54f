"""Anthropic Messages: a list, a request, or lines; a response that is kept beside a request is a view."""

from typing import Any

from ctxlab.sessions.formats.claims import Placed, claim_messages, with_response
from ctxlab.sessions.notebook import NoteBook
from ctxlab.sessions.reader import Reader, Reading
from ctxlab.sessions.session import Claim
from ctxlab.sessions.source import Source
from ctxlab.sessions.turns import Turns


def _recognise(source: Source) -> Claim | None:
    return claim_messages(source, source.signs, "anthropic", "Anthropic messages", ("system", "stop_sequences"))


def _read(source: Source) -> Reading:
    items = source.listed()
    if not items:
        raise source.refusal("a list of Anthropic messages, or an object with 'messages'")
    response = source.document.get("response") if isinstance(source.document, dict) else None
    placed: Placed = [("response", response)] if isinstance(response, dict) and "content" in response else []
    return with_response(source, items, placed, _usage(response), _add, "the Anthropic messages")


def _add(turns: Turns, raw: Any, where: str, book: NoteBook) -> None:
    if not isinstance(raw, dict):
        book.add("skipped", "something in place of a message", where)
        return
    turns.say(raw.get("role"), raw.get("content"), where, usage=raw.get("usage"))


def _usage(response: Any) -> Any:
    return response.get("usage") if isinstance(response, dict) else None


ANTHROPIC = Reader("anthropic", "Anthropic Messages: a list or a request", _recognise, _read)
