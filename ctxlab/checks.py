"""Holding a whole reduction against the rules: every edit of a trace, every round, and what was broken on the way.

The rules live in `ctxlab.invariants`; here is only where their facts come from in a Round or a Trace.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from ctxlab.edits import CollapseTexts, DropMessages, Edit, Pin, ReplaceImage, ReplaceResult, Summarize, TruncateText
from ctxlab.invariants import (
    REDUCTION_RULES,
    Reducible,
    Reduction,
    Violation,
    new_violations,
    reduction_violations,
    size_of,
)
from ctxlab.messages import Conversation, Message, is_pinned, result_items, text_slots
from ctxlab.reduction import Round, Trace
from ctxlab.replay import apply, survivors
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


def check_trace(trace: Trace, truncates: bool = True, provider: str | None = None) -> tuple[Breach, ...]:
    """Return every breach of the rules about a reduction in a trace, and what it broke of the rules about one
    conversation (those that ``provider`` enforces, if given).

    ``truncates`` says whether the policy may shorten tool results; where not, dropping first is no breach. Raises
    ValueError for an unknown provider.
    """
    breaches = list(_check_edits(trace, truncates, provider))
    final = trace.final if trace.rounds else trace.start
    whole = Reduction(
        trace.start,
        final,
        _origins(trace),
        due=trace.tokens[0] > trace.budget,
        ended=trace.outcome != "gave up",
        rounds=len(trace.rounds),
    )
    for rule in ("terminates", "no-op-when-fits"):
        for violation in REDUCTION_RULES[rule].find(whole):
            breaches.append(Breach(len(trace.rounds), None, violation, violation.index))
    return tuple(breaches)


def check_routine(before: Conversation, round: Round) -> tuple[Violation, ...]:
    """Return every breach in one round of routine management, indices counted in ``before``."""
    after = before
    origins: tuple[int | None, ...] = tuple(range(len(before)))
    for edit in round.edits:
        origins = _carried(origins, survivors(edit, len(after)))
        after = apply(after, edit)
    reduction = Reduction(before, after, origins, overflow=False)
    return (*reduction_violations(reduction), *new_violations(before, after))


def check_restart(live: Conversation, restored: Conversation) -> tuple[Violation, ...]:
    """Return the first message at which what a restart loads differs from what was live."""
    same = tuple(range(len(live)))
    return REDUCTION_RULES["restored-equals-live"].find(Reduction(live, live, same, restored=restored))


def _check_edits(trace: Trace, truncates: bool, provider: str | None) -> Iterator[Breach]:
    messages = trace.start
    origins: tuple[int | None, ...] = tuple(range(len(messages)))
    step = 0
    for round in trace.rounds:
        at_start = messages
        for edit in round.edits:
            after = apply(messages, edit)
            kept = tuple(survivors(edit, len(messages)))
            for violation in _check_edit(messages, edit, after, kept, truncates):
                yield Breach(round.number, step, violation, _at(origins, violation.index))
            messages, origins, step = after, _carried(origins, kept), step + 1
        # Shortening a text can break no rule about one conversation: it leaves text.
        if any(not isinstance(edit, Pin | TruncateText) for edit in round.edits):
            for violation in new_violations(at_start, messages, provider):
                yield Breach(round.number, None, violation, _at(origins, violation.index))


def _check_edit(
    messages: Conversation, edit: Edit, after: Conversation, kept: tuple[int | None, ...], truncates: bool
) -> Iterator[Violation]:
    match edit:
        case Pin():
            return  # pinning is not meant to make anything smaller
        case DropMessages():
            left = _reducible(messages, kept) if truncates else ()
            yield from reduction_violations(Reduction(messages, after, kept, reducible=left))
        case Summarize():
            yield from reduction_violations(Reduction(messages, after, kept))
        case TruncateText() | ReplaceImage() | ReplaceResult() | CollapseTexts():
            # Only one message changes, so only that one is looked at: a trace may have thousands of such edits.
            at = edit.message
            for violation in reduction_violations(Reduction((messages[at],), (after[at],), (0,))):
                yield replace(violation, index=at)
        case _:
            assert_never(edit)


def _reducible(messages: Conversation, kept: Sequence[int | None]) -> tuple[Reducible, ...]:
    """Return the texts and images in unpinned tool results that stay and could get shorter."""
    return tuple(
        part
        for index in kept
        if index is not None and not is_pinned(messages, index)
        for part in _parts(messages[index], index)
    )


def _parts(message: Message, index: int) -> Iterator[Reducible]:
    for slot in text_slots(message, index):
        if slot.item is not None and shorten_result(slot.text, careful=True) is not None:
            yield Reducible(index, slot.block, len(slot.text))
    content = message.get("content")
    for at, block in enumerate(content if isinstance(content, list) else ()):
        for item in result_items(block):
            if isinstance(item, dict) and "image" in item:
                yield Reducible(index, at, size_of(item))


def _origins(trace: Trace) -> tuple[int | None, ...]:
    origins: tuple[int | None, ...] = tuple(range(len(trace.start)))
    for edit in trace.edits:
        origins = _carried(origins, survivors(edit, len(origins)))
    return origins


def _carried(origins: tuple[int | None, ...], kept: Sequence[int | None]) -> tuple[int | None, ...]:
    return tuple(None if at is None else origins[at] for at in kept)


def _at(origins: tuple[int | None, ...], index: int) -> int | None:
    return origins[index] if index < len(origins) else None
