"""Holding a whole reduction against the rules: every edit of a trace, every round, and what was broken on the way.

The rules live in `ctxlab.invariants`; here is only where their facts come from in a Round or a Trace.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from ctxlab.edits import CollapseTexts, DropMessages, Edit, Pin, ReplaceImage, ReplaceResult, Summarize, TruncateText
from ctxlab.invariants import (
    REDUCTION_RULES,
    Known,
    Reducible,
    Reduction,
    Violation,
    new_violations,
    reduction_violations,
    size_of,
)
from ctxlab.messages import Conversation, Message, pinned_indices, result_items, text_slots
from ctxlab.reduction import Round, Trace
from ctxlab.replay import apply, carried, origins, replayed, survivors
from ctxlab.truncation import shorten_result


@dataclass(frozen=True, slots=True)
class Breach:
    """A violation in a reduction: in which round, by which edit of the trace, and where that message was at the start.

    ``violation.index`` counts the messages before the edit, for the six rules about one conversation those after the
    round. ``step`` counts the edits from 0, None where the breach is not one edit's. ``origin`` is None for a message
    that was not there at the start.
    """

    round: int
    step: int | None
    violation: Violation
    origin: int | None

    @property
    def sentence(self) -> str:
        """The breach in words; the message is named as it was counted at the start."""
        where = "a new message" if self.origin is None else f"message {self.origin}"
        return f"Round {self.round}, {where}: {self.violation.detail} ({self.violation.rule})."


Progress = Callable[[int, int], object]
"""Called with the edits checked so far and all that are to be checked; it may raise to stop."""


def check_trace(trace: Trace, truncates: bool = True, provider: str | None = None) -> tuple[Breach, ...]:
    """Return every breach of the rules about a reduction in a trace, and what it broke of the rules about one
    conversation (those that ``provider`` enforces, if given).

    ``truncates`` says whether the policy may shorten tool results; where not, dropping first is no breach. Raises
    ValueError for an unknown provider.
    """
    return Checking(trace, truncates, provider).under(trace)


class Checking:
    """`check_trace` of one trace under many budgets: each round is looked at once, when it is first asked for.

    ``known`` is what is known of the start, where somebody has it.
    """

    def __init__(
        self, trace: Trace, truncates: bool = True, provider: str | None = None, known: Known | None = None
    ) -> None:
        self.trace = trace
        self._rounds: list[tuple[Breach, ...]] = []
        self._pending = _check_rounds(trace, truncates, provider, known or Known(trace.start))

    def under(self, trace: Trace, progress: Progress | None = None) -> tuple[Breach, ...]:
        """Return the breaches under a budget; ``trace`` is what `Trace.under` makes of the one that is checked."""
        to_do = sum(len(round.edits) for round in trace.rounds[len(self._rounds) :])
        done = 0
        while len(self._rounds) < len(trace.rounds):
            self._rounds.append(next(self._pending))
            done += len(trace.rounds[len(self._rounds) - 1].edits)
            if progress is not None:
                progress(done, to_do)
        found = [breach for round in self._rounds[: len(trace.rounds)] for breach in round]
        whole = Reduction(
            trace.start,
            trace.final,
            tuple(origins(trace.edits, len(trace.start))),
            due=trace.tokens[0] > trace.budget,
            ended=trace.outcome != "gave up",
            rounds=len(trace.rounds),
        )
        for rule in ("terminates", "no-op-when-fits"):
            for violation in REDUCTION_RULES[rule].find(whole):
                found.append(Breach(len(trace.rounds), None, violation, violation.index))
        return tuple(found)


def check_routine(before: Conversation, round: Round) -> tuple[Violation, ...]:
    """Return every breach in one round of routine management, indices counted in ``before``."""
    after = replayed(before, round.edits)
    reduction = Reduction(before, after, tuple(origins(round.edits, len(before))), overflow=False)
    return (*reduction_violations(reduction), *new_violations(before, after))


def check_restart(live: Conversation, restored: Conversation) -> tuple[Violation, ...]:
    """Return the first message at which what a restart loads differs from what was live."""
    same = tuple(range(len(live)))
    return REDUCTION_RULES["restored-equals-live"].find(Reduction(live, live, same, restored=restored))


def _check_rounds(trace: Trace, truncates: bool, provider: str | None, known: Known) -> Iterator[tuple[Breach, ...]]:
    messages = trace.start
    places: Sequence[int | None] = range(len(messages))
    reducible = _Reducibles()
    told: tuple[Conversation, tuple[Violation, ...]] | None = None
    step = 0
    for round in trace.rounds:
        at_start, places_at_start = messages, places
        found = []
        for edit in round.edits:
            after = apply(messages, edit)
            kept = survivors(edit, len(messages))
            for violation in _check_edit(messages, edit, after, kept, reducible if truncates else None):
                found.append(Breach(round.number, step, violation, _at(places, violation.index)))
            messages, places, step = after, carried(places, edit), step + 1
        # Shortening a text can break no rule about one conversation: it leaves text.
        if any(not isinstance(edit, Pin | TruncateText) for edit in round.edits):
            if told is None or told[0] is not at_start:
                told = at_start, known.violations(at_start, places_at_start, provider)
            old = {breach.rule for breach in told[1]}
            told = messages, known.violations(messages, places, provider)
            for violation in told[1]:
                if violation.rule not in old:
                    found.append(Breach(round.number, None, violation, _at(places, violation.index)))
        yield tuple(found)


def _check_edit(
    messages: Conversation,
    edit: Edit,
    after: Conversation,
    kept: Sequence[int | None],
    reducible: "_Reducibles | None",
) -> Iterator[Violation]:
    match edit:
        case Pin():
            return  # pinning is not meant to make anything smaller
        case DropMessages():
            left = () if reducible is None else reducible.left(messages, kept)
            yield from reduction_violations(Reduction(messages, after, tuple(kept), reducible=left))
        case Summarize():
            yield from reduction_violations(Reduction(messages, after, tuple(kept)))
        case TruncateText() | ReplaceImage() | ReplaceResult() | CollapseTexts():
            # Only one message changes, so only that one is looked at: a trace may have thousands of such edits.
            at = edit.message
            for violation in reduction_violations(Reduction((messages[at],), (after[at],), (0,))):
                yield replace(violation, index=at)
        case _:
            assert_never(edit)


class _Reducibles:
    """The largest text or image in tool results that could get shorter; each message is looked at once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Message, Reducible | None]] = {}

    def left(self, messages: Conversation, kept: Sequence[int | None]) -> tuple[Reducible, ...]:
        """Return that of the messages that stay and are not pinned, () where there is none: no rule asks for more."""
        pinned = pinned_indices(messages)
        largest, at = None, 0
        for index in kept:
            part = None if index is None or index in pinned else self._of(messages[index])
            if index is not None and part is not None and (largest is None or part.size > largest.size):
                largest, at = part, index
        return () if largest is None else (largest._replace(message=at),)

    def _of(self, message: Message) -> Reducible | None:
        # The message is kept with its part, so that no other one can get its identity.
        known = self._known.get(id(message))
        if known is None:
            part = max(_parts(message, 0), key=lambda part: part.size, default=None)
            known = self._known[id(message)] = message, part
        return known[1]


def _parts(message: Message, index: int) -> Iterator[Reducible]:
    for slot in text_slots(message, index):
        if slot.item is not None and shorten_result(slot.text, careful=True) is not None:
            yield Reducible(index, slot.block, len(slot.text))
    content = message.get("content")
    for at, block in enumerate(content if isinstance(content, list) else ()):
        for item in result_items(block):
            if isinstance(item, dict) and "image" in item:
                yield Reducible(index, at, size_of(item))


def _at(places: Sequence[int | None], index: int) -> int | None:
    return places[index] if index < len(places) else None
