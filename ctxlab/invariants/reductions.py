"""The facts about one reduction that the eight rules about reductions look at: plain conversations, plain numbers.

Nothing here knows an edit, a manager or a trace; whoever has those fills in the facts.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ctxlab.messages import Conversation, Message, block_kind, blocks, text_slots, tool_result_ids, tool_use_ids


class Reducible(NamedTuple):
    """A part of a message that could still get shorter: its message in ``before``, its block, and its size."""

    message: int
    block: int
    size: int


@dataclass(frozen=True, slots=True)
class Reduction:
    """One step from ``before`` to ``after``, and what has to be known about it.

    ``origins`` says where each message of ``after`` was in ``before``, None for a new one; left out, it is worked out
    by likeness. ``overflow`` tells an answer to an overflow from routine management; ``due`` is False where the
    conversation fitted, so that nothing had to happen. ``reducible`` lists what could still be truncated in ``after``
    (unpinned). ``restored`` is what a restart would load. ``ended`` is False where reducing was given up after
    ``rounds`` rounds without a fit or a refusal.
    """

    before: Conversation
    after: Conversation
    origins: tuple[int | None, ...] | None = None
    overflow: bool = True
    due: bool = True
    reducible: tuple[Reducible, ...] = ()
    restored: Conversation | None = None
    ended: bool = True
    rounds: int = 1
    came_from: tuple[int | None, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        origins = align(self.before, self.after) if self.origins is None else self.origins
        if len(origins) != len(self.after):
            raise ValueError(f"origins must name one message each of the {len(self.after):,} after, got {origins!r}")
        object.__setattr__(self, "came_from", origins)

    @property
    def dropped(self) -> tuple[int, ...]:
        """Indices of the messages that are gone."""
        kept = set(self.came_from)
        return tuple(index for index in range(len(self.before)) if index not in kept)

    @property
    def added(self) -> tuple[Message, ...]:
        """The messages that are new, such as a summary."""
        both = zip(self.came_from, self.after, strict=True)
        return tuple(message for origin, message in both if origin is None)

    @property
    def changed(self) -> tuple[tuple[int, Message, Message], ...]:
        """Index before, message before and message after, where the content of a kept message changed."""
        pairs = ((origin, self.before[origin], new) for origin, new in self._kept())
        return tuple(
            (origin, old, new)
            for origin, old, new in pairs
            if old is not new and old.get("content") != new.get("content")
        )

    def _kept(self) -> list[tuple[int, Message]]:
        return [
            (origin, message) for origin, message in zip(self.came_from, self.after, strict=True) if origin is not None
        ]


MEDIA = ("image", "document", "video")
MEDIA_SIZE = 1_000
"""Decided: a picture, document or video costs a model as much as 1,000 characters and its bytes, however few."""


def size(message: Message) -> int:
    """Return the characters and bytes of all content of a message; what its metadata holds does not count."""
    return size_of(message.get("content"))


def size_of(value: Any) -> int:
    """Return the characters and bytes of a block, an item, or anything in it; keys do not count."""
    if isinstance(value, str | bytes | bytearray):
        return len(value)
    if isinstance(value, dict):
        media = sum(MEDIA_SIZE for kind in MEDIA if kind in value)
        return media + sum(size_of(inner) for inner in value.values())
    if isinstance(value, list | tuple):
        return sum(size_of(inner) for inner in value)
    return 0 if value is None else len(str(value))


def align(before: Sequence[Message], after: Sequence[Message]) -> tuple[int | None, ...]:
    """Say where each message of ``after`` was in ``before``, order kept: the latest likely place, None for a new one.

    Likely is the same role with the same kinds and ids of blocks; among those, texts that agree at their ends. A
    reduction takes away from the front, so the search runs from the back.
    """
    places: dict[Any, list[int]] = defaultdict(list)
    for index, message in enumerate(before):
        places[_outline(message)].append(index)
    origins: list[int | None] = []
    limit = len(before)
    for message in reversed(after):
        candidates = places[_outline(message)]
        while candidates and candidates[-1] >= limit:
            candidates.pop()
        found = next((at for at in reversed(candidates) if _is_version_of(message, before[at])), None)
        origins.append(found)
        limit = limit if found is None else found
    return tuple(reversed(origins))


def _outline(message: Message) -> tuple[Any, ...]:
    kinds = tuple(block_kind(block) for block in blocks(message))
    return str(message.get("role")), kinds, tool_use_ids(message), tool_result_ids(message)


def _is_version_of(new: Message, old: Message) -> bool:
    if new is old or new.get("content") == old.get("content"):
        return True
    if tool_use_ids(new) or tool_result_ids(new):
        return True
    texts = zip(text_slots(new), text_slots(old), strict=False)
    return all(one.text[:8] == other.text[:8] and one.text[-8:] == other.text[-8:] for one, other in texts)
