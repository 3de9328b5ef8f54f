"""How requests of messages are claimed, and what their readers share: the response that a log keeps beside them."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ctxlab.messages import Conversation
from ctxlab.sessions.evidence import Signs
from ctxlab.sessions.messages_list import note_what_is_not_counted
from ctxlab.sessions.notebook import NoteBook
from ctxlab.sessions.reader import Reading
from ctxlab.sessions.session import Claim, View, count
from ctxlab.sessions.source import Source
from ctxlab.sessions.turns import Turns, conversation_views, usage_of

MAX_VIEWS = 100
"""Conversations of one file that become views: a person chooses among them in a list."""

_REQUEST = ("model", "max_tokens", "temperature", "stream", "tools", "tool_choice", "response")

Placed = Sequence[tuple[str, Any]]


def claim_messages(source: Source, found: Signs, vendor: str, what: str, hints: Iterable[str]) -> Claim | None:
    """Claim messages by their vendor's signs; where signs of others are there, too, or none at all, say so."""
    if not found.messages or found.converse:
        return None
    if found.vendors:
        return claim_signs(found, vendor, what)
    request = source.document if isinstance(source.document, dict) else {}
    hint = next((key for key in hints if key in request), None)
    if hint is not None:
        return Claim(f"{what}: a request with {hint!r}", "likely")
    if found.typed:
        return Claim(f"{what}: {found.typed}, which other formats have, too", "possible")
    if any(key in request for key in _REQUEST):
        return Claim(f"{what}: a request with plain text only, which other formats have, too", "possible")
    return None


def claim_signs(found: Signs, vendor: str, what: str) -> Claim | None:
    """Claim items that bear the vendor's signs; where they bear another's, too, that other claims them as well."""
    if found.converse or vendor not in found.vendors:
        return None
    others = " and ".join(name for name in found.vendors if name != vendor)
    if others:
        return Claim(f"{what}: {found.vendors[vendor]}, but there are signs of {others}", "likely")
    return Claim(f"{what}: {found.vendors[vendor]}", "certain")


def built(
    items: Placed, add: Callable[[Turns, Any, str, NoteBook], None], book: NoteBook
) -> tuple[Turns, Conversation]:
    """Give each item to ``add``, and return what became of them."""
    turns = Turns(book)
    for where, raw in items:
        add(turns, raw, where, book)
    return turns, turns.conversation()


def with_response(
    source: Source,
    items: Placed,
    response: Placed,
    usage: Any,
    add: Callable[[Turns, Any, str, NoteBook], None],
    about: str,
) -> Reading:
    """Return the messages of a request, and a second view with the response that the file keeps beside it."""
    note_what_is_not_counted(source, source.document)
    _, messages = built(items, add, source.book)
    views = conversation_views(messages, about)
    if response:
        # What was repaired in the request is told once.
        turns, longer = built([*items, *response], add, NoteBook())
        reported = usage_of(usage)
        if reported:
            first = views["messages"]
            told = ((len(messages), reported["inputTokens"]),)
            views["messages"] = View(first.messages, first.about, reported=told)
            turns.report(usage)
            longer = turns.conversation()
        views["with the response"] = View(longer, f"{about} and the response ({count(len(longer), 'message')})")
    return Reading(source.name, views, "messages")


def several(source: Source, conversations: Sequence[tuple[str, Conversation]], about: str) -> Reading:
    """Return a view for each conversation of a file; the longest is shown first."""
    for name, _ in conversations[MAX_VIEWS:]:
        source.book.add("skipped", f"a conversation beyond the first {MAX_VIEWS}", name)
    views: dict[str, View] = {}
    for name, messages in conversations[:MAX_VIEWS]:
        unique = name if name not in views else f"{name} ({len(views)})"
        views |= conversation_views(messages, f"{about} {name}", unique)
    if len(conversations) == 1:
        views = conversation_views(conversations[0][1], f"{about} {conversations[0][0]}")
    shown = max(views, key=lambda name: len(views[name].messages), default="messages")
    return Reading(source.name, views or {"messages": View((), about)}, shown)
