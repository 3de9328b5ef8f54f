"""Trim points against providers: what each provider would make of a conversation that starts at each index.

A cell is the very verdict on what would stay, found by looking at what a cut changes. Nothing is drawn here, and no
rule is repeated.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ctxlab import careful
from ctxlab.audit import cut_off
from ctxlab.comparison import Policy
from ctxlab.invariants import Known, Verdict
from ctxlab.messages import Conversation, Message, is_pinned, pin
from ctxlab.providers import providers
from ctxlab.reduction import Trace
from ctxlab.repairs import Repair, repair
from ctxlab.sliding_window import SlidingWindow
from ctxlab.survey import Survey


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
        self.known = Known(self.messages)
        self.whole = self.known.verdicts(self.messages, range(len(self.messages)), self.asked)
        self._rows: dict[int, Row] = {}
        self._survey = Survey()

    def row(self, index: int) -> Row:
        """Return the verdicts on starting at an index. Raises IndexError for one that is not there."""
        if not 0 <= index < len(self.messages):
            raise IndexError(f"no message {index!r}: there are {len(self.messages):,}")
        if index not in self._rows:
            front = self._front(index)
            state = (*(self.messages[kept] for kept in front), *self.messages[index:])
            places = (*front, *range(index, len(self.messages)))
            self._rows[index] = Row(index, front, self.known.verdicts(state, places, self.asked))
        return self._rows[index]

    def remainder(self, index: int) -> Conversation:
        """Return what would stay if the conversation started at an index."""
        return (*(self.messages[kept] for kept in self.row(index).front), *self.messages[index:])

    def repair(self, index: int, provider: str) -> Repair | None:
        """Propose what would make a provider accept the conversation that starts at an index."""
        return repair(self.remainder(index), provider, self.messages[:index], self.known)

    def _front(self, index: int) -> tuple[int, ...]:
        if isinstance(self.policy, SlidingWindow) and self.policy.is_careful:
            return careful.front(self.messages, index, self._survey)
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
    known = Known(final)
    return EndState(
        known.verdicts(final, range(len(final)), names),
        tuple(repair(final, provider, before, known) for provider in names),
    )
