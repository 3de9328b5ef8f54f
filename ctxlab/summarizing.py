"""Summarizing: the oldest messages become one summary, and a fallback truncates where there are too few of them.

ctxlab asks no model: a summary is a stand-in text of a chosen size. Where a conversation may split and how a text gets
shorter live below; this module puts them in order (algorithms, section 3).
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Self

from ctxlab.edits import CollapseTexts, Edit, Pin, Summarize, TruncateText
from ctxlab.messages import Conversation, Message, is_pinned
from ctxlab.reduction import ContextWindowOverflow, Round
from ctxlab.releases import PINS_FROM, Behaviour, behaviour
from ctxlab.survey import Survey
from ctxlab.trimming import split_point
from ctxlab.truncation import Truncation, cut, largest, largest_message, reachable_texts, round_size

INSUFFICIENT = "Cannot summarize: insufficient messages for summarization"
"""The SDK's words where no message is old enough to be summarized."""

UNABLE = "Unable to trim conversation context!"
"""The SDK's words where the split walks off the end."""

TOO_MANY = "Split point exceeds message array length"
"""The SDK's words where there is no message at all, and a negative preserve_recent_messages hides it."""

ALL_PINNED = "Cannot summarize: all messages in summarize range are pinned"
"""The SDK's words where pins leave nothing to summarize."""

LAST_KNOWN = "1.63.0"
"""The release that brings the fallback (#5691); it cannot be installed, its rule is known from its source."""


def stand_in(size: int = 1000) -> Callable[[Conversation], str]:
    """Return a stand-in for a model's summary: a function from the summarized messages to ``size`` characters."""

    def summary(summarized: Conversation) -> str:
        text = f"[Stand-in for a summary of {len(summarized)} messages; no model was asked.] "
        return (text * (size // len(text) + 1))[:size]

    return summary


@dataclass(frozen=True, slots=True)
class Summarizing:
    """The summarizing manager: the oldest ``summary_ratio`` of the messages becomes one summary.

    ``summary_ratio`` is clamped to [0.1, 0.8]; the last ``preserve_recent_messages`` messages are left out of the
    count (the split may walk into them). ``pin_first`` as in the sliding window. ``truncation`` is the fallback
    where messages are lacking, None for none. ``summarize`` makes the stand-in text from the summarized messages.
    """

    summary_ratio: float = 0.3
    preserve_recent_messages: int = 10
    pin_first: int | None = None
    truncation: Truncation | None = field(default_factory=Truncation)
    summarize: Callable[[Conversation], str] | None = field(default=None, compare=False)
    release: str = field(default=LAST_KNOWN, kw_only=True)

    def __post_init__(self) -> None:
        if self.pin_first is not None and not self.rules.pins:
            raise ValueError(f"pin_first needs release {PINS_FROM} or later, got release {self.release!r}")

    @classmethod
    def as_of(
        cls, version: str, summary_ratio: float = 0.3, preserve_recent_messages: int = 10, **options: Any
    ) -> Self:
        """Return the summarizing manager as release ``version`` (1.0.0 to 1.63.0) had it.

        1.63.0 truncates with the fixed rule where messages are lacking; before it there is no fallback.
        """
        rule = behaviour(version, LAST_KNOWN).fallback
        preserve_chars = options.pop("preserve_chars", 2000)
        truncation = Truncation(preserve_chars, rule) if rule else None
        return cls(summary_ratio, preserve_recent_messages, truncation=truncation, release=version, **options)

    @property
    def rules(self) -> Behaviour:
        """What the release does, from the table of releases."""
        return behaviour(self.release, LAST_KNOWN)

    @property
    def name(self) -> str:
        """The policy in a few words, for tables and sentences."""
        if self.truncation is None or self.truncation.rule == self.rules.fallback:
            return f"summarizing {self.release}"
        return f"summarizing, {self.truncation.rule} fallback"

    def split_point(self, messages: Conversation) -> int:
        """Return how many of the oldest messages a summary takes in. Raises ContextWindowOverflow where none can."""
        ratio = max(0.1, min(0.8, self.summary_ratio))
        wanted = max(1, int(len(messages) * ratio))
        wanted = min(wanted, len(messages) - self.preserve_recent_messages)
        if wanted <= 0:
            raise ContextWindowOverflow(INSUFFICIENT)
        if wanted > len(messages):
            raise ContextWindowOverflow(TOO_MANY)
        split = split_point(messages, wanted)
        if split is None:
            raise ContextWindowOverflow(UNABLE)
        return split

    def manage(self, messages: Conversation) -> Round:
        """Return what routine management does: nothing."""
        return Round(1, tuple(messages))

    def reduce(
        self, messages: Conversation, overflow: bool = True, round: int = 1, survey: Survey | None = None
    ) -> Round:
        """Return one round: a summary, or truncated texts where messages are lacking.

        ``round`` counts from 1 with each overflow episode; round r may truncate 2^(r−1) texts. ``survey`` is not
        used here: rounds are few. Raises
        ContextWindowOverflow with the SDK's words where nothing can be reduced; without an overflow releases from
        1.40.0 on only warn.
        """
        messages = tuple(messages)
        done = Round(round, messages)
        try:
            return self._summarize(done, messages)
        except ContextWindowOverflow as refusal:
            if str(refusal) == INSUFFICIENT and self.truncation is not None:
                edits = self._truncate(messages, self.truncation, round)
                if edits:
                    return done.plus(*edits)
            if overflow or not self.rules.summary_warns:
                raise
            return replace(refusal.round or done, warning=str(refusal))

    def _summarize(self, done: Round, messages: Conversation) -> Round:
        split = self.split_point(messages)
        if done.number == 1 and self.pin_first is not None and self.pin_first > 0:
            done = done.plus(Pin(tuple(range(min(self.pin_first, len(messages))))))
        state = done.messages
        summarized = tuple(i for i in range(split) if not (self.rules.pins and is_pinned(state, i)))
        if not summarized:
            raise ContextWindowOverflow(ALL_PINNED, done)
        text = (self.summarize or stand_in())(tuple(state[index] for index in summarized))
        summary: Message = {"role": self.rules.summary_role, "content": [{"text": text}]}
        return done.plus(Summarize(summarized, split, summary))

    def _truncate(self, messages: Conversation, truncation: Truncation, round: int) -> list[Edit]:
        """Return the cuts of a round of the fallback (#5691), none where no text qualifies."""
        slots = reachable_texts(messages)
        if truncation.rule == "collapse":
            return _collapse(slots, truncation)
        qualifying = [slot for slot in slots if truncation.passed_over(len(slot.text)) is None]
        edits: list[Edit] = []
        for rank, slot in enumerate(largest(qualifying, truncation, round_size(round)), 1):
            kept = truncation.kept(len(slot.text))
            after = cut(slot.text, kept)
            lost = len(slot.text) - 2 * kept
            edits.append(
                TruncateText(slot.message, slot.block, slot.item, slot.text, after, kept, lost, rank, len(qualifying))
            )
        return edits


def _collapse(slots: list[Any], truncation: Truncation) -> list[Edit]:
    together = largest_message(slots, truncation)
    if not together:
        return []
    text = "\n".join(slot.text for slot in together)
    preview = cut(text, truncation.preserve_chars)
    first, *others = ((slot.block, slot.item) for slot in together)
    return [CollapseTexts(together[0].message, first, tuple(others), len(text), preview, truncation.preserve_chars)]
