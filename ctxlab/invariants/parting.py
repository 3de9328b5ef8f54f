"""Parting a conversation into what is known of it and what has to be looked at anew, turn by turn.

What is known is known of a conversation from which this one was made, by dropping messages, changing some, putting in
others. No rule is asked here.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ctxlab.invariants.provider_rules import Limits
from ctxlab.invariants.rules import Violation
from ctxlab.invariants.turns import Merging, View, joins, look, role_of
from ctxlab.messages import Conversation, Message, blocks, tool_result_ids, tool_use_ids

Alike = dict[tuple[int, int], tuple[Message, Message, bool]]
"""Pairs of messages by their identities, with whether they look alike."""


@dataclass(frozen=True, slots=True)
class Window:
    """Messages ``[start, stop)`` that are looked at, in a view that begins at ``first`` with the turn before them."""

    start: int
    stop: int
    first: int
    view: View


@dataclass(frozen=True, slots=True)
class Run:
    """Messages ``[start, stop)`` about which all is known; what is known counts them ``shift`` further on."""

    start: int
    stop: int
    shift: int


@dataclass(slots=True)
class Parts:
    """A state under one grouping, in parts, and what was found in it so far."""

    state: Conversation
    merging: Merging
    windows: tuple[Window, ...]
    runs: tuple[Run, ...]
    found: dict[tuple[str, Limits], list[Violation]]
    pairs: View | None = None


def parted(state: Conversation, origins: Sequence[int | None], parting: Iterable[int], merging: Merging) -> Parts:
    """Part a state: a window for the turns at each parting and a turn on both sides, a run for what lies between."""
    windows = [_window(state, start, stop, merging) for start, stop in _regions(state, parting, merging)]
    runs = []
    edges = [0, *(edge for window in windows for edge in (window.start, window.stop)), len(state)]
    for start, stop in zip(edges[::2], edges[1::2], strict=True):
        origin = origins[start] if start < stop else None
        if origin is not None:
            runs.append(Run(start, stop, origin - start))
    return Parts(state, merging, tuple(windows), tuple(runs), {})


def _regions(state: Conversation, parting: Iterable[int], merging: Merging) -> Iterator[tuple[int, int]]:
    start = stop = -1
    for at in parting:
        right = _turn_end(state, _turn_end(state, at, merging), merging)
        if start >= 0 and at <= stop:
            stop = max(stop, right)
            continue
        left = _turn_start(state, _turn_start(state, at, merging), merging)
        if start >= 0 and left <= stop:
            stop = max(stop, right)
            continue
        if start >= 0:
            yield start, stop
        start, stop = left, right
    if start >= 0:
        yield start, stop


def _window(state: Conversation, start: int, stop: int, merging: Merging) -> Window:
    first, last = _turn_start(state, start, merging), _turn_end(state, stop, merging)
    return Window(start, stop, first, look(state[first:last], merging))


def _turn_start(state: Conversation, at: int, merging: Merging) -> int:
    """Return where the turn of the message before ``at`` starts; 0 where there is none."""
    at = max(0, at - 1)
    while at > 0 and joins(state[at - 1], state[at], merging):
        at -= 1
    return at


def _turn_end(state: Conversation, at: int, merging: Merging) -> int:
    """Return where the turn of the message ``at`` ends; the end where there is none."""
    at = min(len(state), at + 1)
    while 0 < at < len(state) and joins(state[at - 1], state[at], merging):
        at += 1
    return at


def partings(known: Conversation, state: Conversation, origins: Sequence[int | None], alike: Alike) -> Iterator[int]:
    """Yield the places between messages of the state, in order, at which it does not go on as what is known.

    ``alike`` remembers which messages were compared: a trace asks about the same ones round after round.
    """
    before: int | None = -1
    for at, (message, origin) in enumerate(zip(state, origins, strict=True)):
        same = origin is not None and (known[origin] is message or _looked_alike(known[origin], message, alike))
        if not same or before is None or origin != before + 1:
            yield at
        before = origin if same else None
    if before != len(known) - 1:
        yield len(state)


def _looked_alike(one: Message, other: Message, alike: Alike) -> bool:
    # The messages are kept with what was found, so that no other ones can get their identities.
    key = id(one), id(other)
    if key not in alike:
        alike[key] = one, other, looks_alike(one, other)
    return alike[key][2]


def looks_alike(one: Message, other: Message) -> bool:
    """Say whether two messages are the same to every rule about a conversation: role, blocks, ids, blank texts."""
    mine, theirs = blocks(one), blocks(other)
    if role_of(one) != role_of(other) or len(mine) != len(theirs):
        return False
    if not mine:
        return one.get("content") == other.get("content")
    if tool_use_ids(one) != tool_use_ids(other) or tool_result_ids(one) != tool_result_ids(other):
        return False
    return all(was is now or _outline(was) == _outline(now) for was, now in zip(mine, theirs, strict=True))


def _outline(block: Any) -> object:
    if not isinstance(block, dict):
        return None
    text = block.get("text")
    return block.keys(), not text, isinstance(text, str) and text.isspace()
