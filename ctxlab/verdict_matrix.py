"""Trim points against providers: what each provider would make of a conversation that starts at each index.

A cell is the very verdict on what would stay. Of a long conversation only so much is looked at as a cut can change; a
test holds that against looking at all of it. Nothing is drawn here, and no rule is repeated.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ctxlab import careful
from ctxlab.audit import cut_off
from ctxlab.comparison import Policy
from ctxlab.invariants import Verdict, look, role_of, verdict
from ctxlab.messages import Conversation, Message, is_pinned, pin
from ctxlab.providers import profile, providers
from ctxlab.reduction import Trace
from ctxlab.repairs import Repair, repair
from ctxlab.sliding_window import SlidingWindow


@dataclass(frozen=True, slots=True)
class Row:
    """What would stay if the conversation started at ``index``, judged: ``front`` are messages before it that stay.

    ``verdicts`` has one verdict each of the matrix's providers.
    """

    index: int
    front: tuple[int, ...]
    verdicts: tuple[Verdict, ...]


class VerdictMatrix:
    """The matrix of one conversation under one policy; a row is judged when it is first asked for.

    ``asked`` are the providers (all, where none are named). Raises ValueError for an unknown one.
    """

    def __init__(self, messages: Sequence[Message], policy: Policy | None = None, asked: Iterable[str] = ()) -> None:
        first = policy.pin_first or 0 if policy is not None and policy.rules.pins else 0
        self.messages: Conversation = tuple(pin(part) if at < first else part for at, part in enumerate(messages))
        self.policy = policy
        self.asked = tuple(dict.fromkeys(asked)) or tuple(providers())
        self.whole = tuple(verdict(self.messages, provider) for provider in self.asked)
        self._last_breach = tuple(_last_breach(self.messages, found) for found in self.whole)
        self._rows: dict[int, Row] = {}

    def row(self, index: int) -> Row:
        """Return the verdicts on starting at an index. Raises IndexError for one that is not there."""
        if not 0 <= index < len(self.messages):
            raise IndexError(f"no message {index!r}: there are {len(self.messages):,}")
        if index not in self._rows:
            front = self._front(index)
            state = (*(self.messages[kept] for kept in front), *self.messages[index:])
            # A cut changes what the first turn answers, and with it what is left for the second; behind that only
            # what was wrong before.
            head = _second_turn_end(state, len(front))
            reach = (max(head, len(front) + last - index + 1) for last in self._last_breach)
            both = zip(self.asked, reach, strict=True)
            self._rows[index] = Row(index, front, tuple(verdict(state, provider, head) for provider, head in both))
        return self._rows[index]

    def remainder(self, index: int) -> Conversation:
        """Return what would stay if the conversation started at an index."""
        return (*(self.messages[kept] for kept in self.row(index).front), *self.messages[index:])

    def repair(self, index: int, provider: str) -> Repair | None:
        """Propose what would make a provider accept the conversation that starts at an index."""
        return repair(self.remainder(index), provider, self.messages[:index])

    def _front(self, index: int) -> tuple[int, ...]:
        if isinstance(self.policy, SlidingWindow) and self.policy.is_careful:
            return careful.front(self.messages, index)
        if self.policy is None or not self.policy.rules.pins:
            return ()
        return tuple(at for at in range(index) if is_pinned(self.messages, at))


@dataclass(frozen=True, slots=True)
class EndState:
    """What a trace leaves, judged, with a proposal for each provider that refuses it or may."""

    verdicts: tuple[Verdict, ...]
    repairs: tuple[Repair | None, ...]


def end_state(trace: Trace, asked: Iterable[str] = ()) -> EndState:
    """Judge what a trace leaves. Raises ValueError for an unknown provider."""
    final, before = trace.final, cut_off(trace)
    names = tuple(dict.fromkeys(asked)) or tuple(providers())
    return EndState(
        tuple(verdict(final, provider) for provider in names),
        tuple(repair(final, provider, before) for provider in names),
    )


def _last_breach(messages: Conversation, found: Verdict) -> int:
    """Return the last message with a breach that the provider minds, or with half of a tool pair; -1 for none."""
    view = look(messages, profile(found.provider).merges)
    minded = (judgement.violation.index for judgement in found.judgements)
    return max((*minded, *(half.at.message for half in (*view.unanswered, *view.unasked))), default=-1)


def _second_turn_end(messages: Sequence[Message], start: int) -> int:
    """Return the end of the second run of one role at or after ``start``."""
    stop = start
    for _ in range(2):
        role = role_of(messages[stop]) if stop < len(messages) else None
        while stop < len(messages) and role_of(messages[stop]) == role:
            stop += 1
    return stop
