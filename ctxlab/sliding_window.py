"""The sliding window: what each release of the SDK does to a conversation that is too long, and a careful variant.

A manager is a value: reducing is a pure function of the messages, the round and the manager's parameters. Rules of
where to cut and how to shorten live below; this module puts them in order (algorithms, section 2).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Self

from ctxlab import careful
from ctxlab.edits import DropMessages, Edit, Pin, ReplaceImage, ReplaceResult, TruncateText
from ctxlab.messages import Conversation, Message, blocks, has_tool_result, is_pinned, result_items
from ctxlab.reduction import ContextWindowOverflow, Round
from ctxlab.releases import NEWEST, PINS_FROM, Behaviour, behaviour
from ctxlab.survey import Survey
from ctxlab.tokens import TokenCounter
from ctxlab.trimming import Rejection, TrimPoint, preferred, trim_point, trim_points
from ctxlab.truncation import RESULT_CHARS, TOO_LARGE, shorten_result

UNABLE = "Unable to trim conversation context!"
"""The SDK's words where no trim point is left."""

ALL_PINNED = "all messages before the trim point are pinned"
NO_POINT = "no valid trim point found"


@dataclass(frozen=True, slots=True)
class SlidingWindow:
    """The sliding window of a release: keep the last ``window_size`` messages, cut where a conversation may start.

    ``window_size`` counts messages (0: keep the pinned ones only). ``should_truncate_results`` shortens tool results
    first on an overflow. ``pin_first`` pins that many messages in the first round (from 1.43.0, #2196). Built
    directly it is the newest release. Raises ValueError for a negative window_size (from 1.38.0, #2208) and for
    pin_first where the release knows no pins.
    """

    window_size: int = 40
    should_truncate_results: bool = True
    pin_first: int | None = None
    release: str = field(default=NEWEST, kw_only=True)
    is_careful: bool = field(default=False, kw_only=True)
    budget: int | None = field(default=None, kw_only=True)
    counter: TokenCounter | None = field(default=None, kw_only=True, compare=False, repr=False)

    def __post_init__(self) -> None:
        rules = behaviour(self.release)
        if not isinstance(self.window_size, int):
            raise ValueError(f"window_size must be a whole number of messages, got {self.window_size!r}")
        if rules.clears and self.window_size < 0:
            raise ValueError(f"window_size must be a non-negative integer, got {self.window_size!r}")
        if self.pin_first is not None and not rules.pins:
            raise ValueError(f"pin_first needs release {PINS_FROM} or later, got release {self.release!r}")

    @classmethod
    def as_of(cls, version: str, window_size: int = 40, should_truncate_results: bool = True, **options: Any) -> Self:
        """Return the sliding window as release ``version`` (1.0.0 to 1.62.0) had it. ValueError for another one."""
        return cls(window_size, should_truncate_results, release=version, **options)

    @classmethod
    def careful(
        cls,
        window_size: int = 40,
        should_truncate_results: bool = True,
        pin_first: int | None = None,
        budget: int | None = None,
        counter: TokenCounter | None = None,
    ) -> Self:
        """Return ctxlab's own policy: the newest release without its known faults.

        It compares tool ids, reaches the next result that can still shrink, cuts a text only where that shortens
        it, keeps the anchor of #3447 before a tool pair, and declines a cut that would break a rule. With a
        ``budget`` in tokens (and the ``counter`` for it) the trim point is the first whose remainder fits.
        """
        if budget is not None and counter is None:
            raise ValueError(f"a budget needs a counter to count with, got budget {budget!r} and no counter")
        return cls(window_size, should_truncate_results, pin_first, is_careful=True, budget=budget, counter=counter)

    @property
    def rules(self) -> Behaviour:
        """What the release does, from the table of releases."""
        return behaviour(self.release)

    @property
    def name(self) -> str:
        """The policy in a word or two, for tables and sentences."""
        return "careful" if self.is_careful else f"Strands {self.release}"

    def start(self, messages: Conversation) -> int:
        """Return the index at which the search for a trim point starts (step 4)."""
        count = len(messages)
        return 2 if count <= self.window_size else count - self.window_size

    def trim_points(self, messages: Conversation) -> tuple[TrimPoint, ...]:
        """Return the verdict of this policy on every index, ahead of its search: one `TrimPoint` an index."""
        if self.is_careful:
            return careful.trim_points(messages, self.start(messages), self.budget, self.counter)
        return trim_points(messages, self.start(messages), self.rules.trim)

    def manage(self, messages: Conversation) -> Round:
        """Return what routine management does: nothing while the messages are no more than window_size."""
        messages = tuple(messages)
        if len(messages) <= self.window_size:
            return Round(1, messages)
        return self.reduce(messages, overflow=False)

    def reduce(
        self, messages: Conversation, overflow: bool = True, round: int = 1, survey: Survey | None = None
    ) -> Round:
        """Return one round: the answer to an overflow, or with ``overflow=False`` routine management.

        ``round`` counts from 1 with each overflow episode; pin_first applies in the first. ``survey`` is what an
        episode carries from round to round, for speed. Raises ContextWindowOverflow with the SDK's words where
        nothing can be reduced; where the release only warns, the round has that warning and changes nothing.
        """
        messages = tuple(messages)
        survey = survey or Survey()
        done = Round(round, messages)
        if round == 1 and self.pin_first is not None and self.pin_first > 0 and messages:
            done = done.plus(Pin(tuple(range(min(self.pin_first, len(messages))))))
        state = done.messages
        if self.rules.clears and self.window_size == 0:
            return self._clear(done, state, overflow)
        if self.should_truncate_results and (overflow or self.rules.cuts_in_routine):
            edits, notes, progress = self._cut_results(state, survey)
            done = replace(done.plus(*edits), notes=notes)
            if progress:
                return done
            state = done.messages
        return self._trim(done, state, overflow, survey)

    def _clear(self, done: Round, state: Conversation, overflow: bool) -> Round:
        kept = {index for index in range(len(state)) if self.rules.pins and is_pinned(state, index)}
        dropped = tuple(index for index in range(len(state)) if index not in kept)
        # Nothing at all is what a window of 0 messages asks for; only what is pinned could break a rule.
        if self.is_careful and kept and careful.breaks(state, sorted(kept)):
            return self._unable(done, overflow, Rejection.BREAKS_A_RULE.text)
        return done.plus(DropMessages(dropped, len(state), None, 0)) if dropped else done

    def _cut_results(self, state: Conversation, survey: Survey) -> tuple[list[Edit], tuple[str, ...], bool]:
        """Return the edits of step 3, notes on malformed input, and whether they end the round."""
        if self.rules.results == "replace newest":
            newest = next((i for i in reversed(range(len(state))) if has_tool_result(state[i])), None)
            return _replace_results(state[newest], newest) if newest is not None else ([], (), False)
        for index in range(survey.skip, len(state)):
            survey.skip = index
            if not has_tool_result(state[index]) or (self.rules.pins and is_pinned(state, index)):
                continue
            edits = list(_shorten_results(state[index], index, self.is_careful))
            # The released managers look at this one message and no further (#4341).
            if edits or not self.is_careful:
                return edits, (), bool(edits)
        return [], (), False

    def _trim(self, done: Round, state: Conversation, overflow: bool, survey: Survey) -> Round:
        start = self.start(state)
        if self.is_careful:
            drop = careful.search(state, start, self.budget, self.counter, survey)
            return done.plus(drop) if drop else self._unable(done, overflow, NO_POINT)
        rule = self.rules.trim
        index = next(preferred(survey.codes(state, rule), start, rule), None)
        if index is None:
            return self._unable(done, overflow, NO_POINT)
        dropped = tuple(i for i in range(index) if not (self.rules.pins and is_pinned(state, i)))
        if not dropped and self.rules.pins:
            return self._unable(done, overflow, ALL_PINNED)
        kind = trim_point(state, index, rule).kind
        return done.plus(DropMessages(dropped, index, kind, start)) if dropped else done

    def _unable(self, done: Round, overflow: bool, warning: str) -> Round:
        if overflow or not self.rules.warns:
            raise ContextWindowOverflow(UNABLE, done)
        return replace(done, warning=warning)


def _shorten_results(message: Message, index: int, is_careful: bool) -> Iterator[Edit]:
    for at, block in enumerate(blocks(message)):
        for item_at, item in enumerate(result_items(block)):
            if not isinstance(item, dict):
                continue
            if "image" in item:
                yield ReplaceImage(index, at, item_at, item, careful.image_text(item["image"], is_careful))
            elif isinstance(text := item.get("text"), str):
                shorter = shorten_result(text, is_careful)
                if shorter is not None:
                    lost = len(text) - 2 * RESULT_CHARS
                    yield TruncateText(index, at, item_at, text, shorter, RESULT_CHARS, lost)


def _replace_results(message: Message, index: int) -> tuple[list[Edit], tuple[str, ...], bool]:
    """Replace every tool result of a message by an error, as releases up to 1.28.0 do.

    A result that is that error already ends the search without progress, whatever was replaced before it.
    """
    edits: list[Edit] = []
    notes = []
    for at, block in enumerate(blocks(message)):
        result = block.get("toolResult") if isinstance(block, dict) else None
        if not isinstance(result, dict):
            continue
        if "status" not in result or "content" not in result:
            notes.append(f"message {index}: a toolResult without status or content, at which this release crashes")
        texts = (item["text"] for item in result_items(block) if isinstance(item, dict) and "text" in item)
        if result.get("status") == "error" and next(texts, "") == TOO_LARGE:
            return edits, tuple(notes), False
        replaced = {**result, "status": "error", "content": [{"text": TOO_LARGE}]}
        edits.append(ReplaceResult(index, at, block, {**block, "toolResult": replaced}))
    return edits, tuple(notes), bool(edits)
