"""How one text gets shorter, and which texts a round takes.

Two cuts live here: the one that the sliding window makes in tool results (200 characters kept at each end), and
`Truncation`, the fallback of summarizing (#5603, #5691, #5791). Whole messages are never dropped here.
All lengths are characters (code points).
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from heapq import nsmallest
from typing import Literal, TypeVar, get_args

from ctxlab.messages import Message, TextSlot, is_pinned, text_slots

Slot = TypeVar("Slot")

Rule = Literal["fixed", "proportional", "collapse"]

RESULT_CHARS = 200
"""Characters that the sliding window keeps at each end of a tool result (#1756)."""

MARKER_GUARD = "... [truncated:"
"""A tool result that contains this is taken for one that was cut before: a substring test, so a quote counts too."""

TOO_LARGE = "The tool result was too large!"
"""What releases up to 1.28.0 put in place of a tool result."""

_OWN_MARKER = re.compile(r"\.\.\.\n\n\.\.\. \[truncated: \d+ chars removed\] \.\.\.\n\n\.\.\.")


def marker(removed: int) -> str:
    """Return what stands where ``removed`` characters were taken out; 45 characters plus the digits of the number."""
    return f"...\n\n... [truncated: {removed} chars removed] ...\n\n..."


def cut(text: str, kept: int) -> str:
    """Return the first and the last ``kept`` characters of a text with the marker between them."""
    return f"{text[:kept]}{marker(len(text) - 2 * kept)}{text[len(text) - kept :]}"


def cut_length(length: int, kept: int) -> int:
    """Return how long a text of ``length`` characters is after `cut`."""
    return 2 * kept + len(marker(length - 2 * kept))


def shorten_result(text: str, careful: bool = False) -> str | None:
    """Return a tool result's text as the sliding window cuts it, or None where it leaves it alone.

    More than 400 characters and no marker: the cut of #1756, which lengthens a text of 401 to 446 characters.
    ``careful`` cuts only where that shortens, and takes a text for cut before only if the marker stands in its place.
    """
    if len(text) <= 2 * RESULT_CHARS:
        return None
    if careful:
        if _OWN_MARKER.fullmatch(text, RESULT_CHARS, len(text) - RESULT_CHARS):
            return None
        return cut(text, RESULT_CHARS) if cut_length(len(text), RESULT_CHARS) < len(text) else None
    return None if MARKER_GUARD in text else cut(text, RESULT_CHARS)


class PassedOver(Enum):
    """Why a round leaves a text alone; the value is a clause fit to show a person."""

    UNDER_THRESHOLD = "it is not longer than 3 × preserve_chars, below which this rule cuts nothing"
    SHORT = "it is not longer than preserve_chars"
    WOULD_GROW = "with the marker it would not get shorter"
    PINNED = "its message is pinned"
    NOT_ITS_TURN = "larger texts fill this round"

    @property
    def text(self) -> str:
        """The reason as a clause."""
        return self.value


@dataclass(frozen=True, slots=True)
class Truncation:
    """The truncation fallback of summarizing: which texts qualify and how much of each is kept.

    ``fixed`` is the rule of 1.63.0: longer than 3 × preserve_chars, preserve_chars kept at each end.
    ``proportional`` is proposed in #5791: longer than preserve_chars, min(preserve_chars, length // 4) kept.
    ``collapse`` is the alternative that #5791 rejects: the texts of the largest message, more than
    3 × preserve_chars together, become one preview with preserve_chars at each end (decided: one message a round).
    Raises ValueError for preserve_chars below 1 or an unknown rule.
    """

    preserve_chars: int = 2000
    rule: Rule = "proportional"

    def __post_init__(self) -> None:
        if isinstance(self.preserve_chars, bool) or not isinstance(self.preserve_chars, int) or self.preserve_chars < 1:
            raise ValueError(
                f"preserve_chars must be a whole number of characters, at least 1, got {self.preserve_chars!r}"
            )
        if self.rule not in get_args(Rule):
            raise ValueError(f"rule must be one of {', '.join(get_args(Rule))}, got {self.rule!r}")

    @property
    def threshold(self) -> int:
        """The length in characters above which a text qualifies."""
        return self.preserve_chars if self.rule == "proportional" else 3 * self.preserve_chars

    def kept(self, length: int) -> int:
        """Return how many characters of a text of ``length`` a cut keeps at each end."""
        return min(self.preserve_chars, length // 4) if self.rule == "proportional" else self.preserve_chars

    def passed_over(self, length: int) -> PassedOver | None:
        """Return None where a text of ``length`` characters qualifies, else why not (a cut must make it shorter)."""
        if length <= self.threshold:
            return PassedOver.SHORT if self.rule == "proportional" else PassedOver.UNDER_THRESHOLD
        kept = self.kept(length)
        return None if 2 * kept < length and cut_length(length, kept) < length else PassedOver.WOULD_GROW

    def shorten(self, text: str) -> str | None:
        """Return the text as one cut leaves it, or None where the rule leaves it alone."""
        return None if self.passed_over(len(text)) else cut(text, self.kept(len(text)))


def round_size(round: int) -> int:
    """Return how many texts round ``round`` may cut: 1, 2, 4, … (#5691). Raises ValueError below 1."""
    if round < 1:
        raise ValueError(f"round counts from 1, got {round!r}")
    return 1 << (round - 1)


def reachable_texts(messages: Sequence[Message]) -> list[TextSlot]:
    """Return every text of the unpinned messages in message, block and item order."""
    return [
        slot
        for index, message in enumerate(messages)
        if not is_pinned(messages, index)
        for slot in text_slots(message, index)
    ]


def longest(slots: Iterable[Slot], count: int, length: Callable[[Slot], int]) -> list[Slot]:
    """Return the ``count`` longest of what qualifies, longest first, equal lengths in the order given."""
    # nsmallest is stable, so texts of equal length stay in message, block and item order.
    return nsmallest(count, slots, key=lambda slot: -length(slot))


def largest(slots: Iterable[TextSlot], truncation: Truncation, count: int) -> list[TextSlot]:
    """Return the ``count`` longest texts that qualify, longest first, equal lengths oldest first."""
    qualifying = (slot for slot in slots if truncation.passed_over(len(slot.text)) is None)
    return longest(qualifying, count, lambda slot: len(slot.text))


def largest_message(slots: Iterable[TextSlot], truncation: Truncation) -> list[TextSlot]:
    """Return all texts of the message that `collapse` takes next: the most text, equal amounts oldest first."""
    texts: dict[int, list[TextSlot]] = {}
    for slot in slots:
        texts.setdefault(slot.message, []).append(slot)
    qualifying = [together for together in texts.values() if truncation.passed_over(_characters(together)) is None]
    return max(qualifying, key=_characters, default=[])


def _characters(slots: Sequence[TextSlot]) -> int:
    return sum(len(slot.text) for slot in slots)


@dataclass(frozen=True, slots=True)
class Remains:
    """How much of an original text of ``original`` characters is left at its head and tail after cuts."""

    original: int
    head: int
    tail: int

    @classmethod
    def whole(cls, length: int) -> "Remains":
        """Return the remains of a text that was not cut yet."""
        return cls(length, length, length)

    def after(self, kept: int) -> "Remains":
        """Return what is left once ``kept`` characters are kept at each end; an older marker is not original text."""
        return Remains(self.original, min(self.head, kept), min(self.tail, kept))

    @property
    def lost(self) -> int:
        """Characters of the original that are gone in all."""
        return max(0, self.original - self.head - self.tail)
