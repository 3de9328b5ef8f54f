"""What follows from a state: session, ledger, trace, the moment shown. Each is found once and kept while it is of use.

This is the whole of an explorer without its widgets. Nothing is drawn here and no rule is repeated.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from ctxlab.explorers.sources import Sources
from ctxlab.explorers.state import Policy, State
from ctxlab.figures.history import History, history
from ctxlab.figures.moment import Moment, Subject
from ctxlab.figures.policies import policy_name, search_start, verdicts
from ctxlab.figures.story import Story, story
from ctxlab.messages import Conversation
from ctxlab.recovery import recover
from ctxlab.reduction import Trace
from ctxlab.sessions import Session
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import Summarizing
from ctxlab.tokens import Ledger, TokenCounter, ledger
from ctxlab.trimming import TrimPoint
from ctxlab.vocabularies import counter

Value = TypeVar("Value")

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""

KEPT = 32
"""Ledgers, traces and subjects that are kept: enough to go back and forth between a few policies, side by side."""


@dataclass(frozen=True, slots=True)
class Run:
    """A policy played to its very end (or, where it aims at a budget, to that budget), and its history."""

    manager: SlidingWindow | Summarizing
    trace: Trace = field(repr=False)
    history: History = field(repr=False)
    points: tuple[TrimPoint, ...] = field(repr=False)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Findings:
    """All that a view may want to show of a state. ``trace`` is the one under the state's budget.

    ``played`` returns the run of another policy on the same session; whatever else takes long is told to ``progress``,
    which may raise to stop it. Stops are the places at which the player halts:
    0 is the start, then one an edit, and one more where the trace ends without fitting.
    """

    state: State
    session: Session = field(repr=False)
    counter: TokenCounter
    ledger: Ledger = field(repr=False)
    run: Run = field(repr=False)
    trace: Trace = field(repr=False)
    subject: Subject = field(repr=False)
    played: Callable[[Policy], Run] = field(repr=False)
    progress: Progress = field(repr=False)

    @property
    def messages(self) -> Conversation:
        """The messages shown."""
        return self.subject.messages

    @property
    def history(self) -> History:
        """The history of the policy's full trace; edits after `last_edit` do not come under this budget."""
        return self.run.history

    @cached_property
    def last_edit(self) -> int:
        """The number of edits under this budget."""
        return self.history.ends[len(self.trace.rounds)]

    @property
    def last_stop(self) -> int:
        """The number of the last stop."""
        return self.last_edit + (self.trace.outcome != "fits")

    @property
    def policy_name(self) -> str:
        """The policy as a sentence begins with it."""
        return policy_name(self.run.manager)

    @property
    def stop(self) -> int:
        """The stop that is shown."""
        stop = self.state.stop
        return self.last_stop if stop is None else max(0, min(stop, self.last_stop))

    @property
    def is_at_error(self) -> bool:
        """Whether the stop shown is the one at which the policy has nothing left to do."""
        return self.stop > self.last_edit

    @cached_property
    def moment(self) -> Moment:
        """The moment that is shown."""
        return self._moment(self.stop, self.focus)

    @cached_property
    def story(self) -> Story:
        """The trace in words."""
        return story(self.trace, self.policy_name, self._moment(self.last_stop, None))

    @property
    def focus(self) -> int:
        """The message in focus."""
        return max(0, min(self.state.focus, len(self.messages) - 1))

    def _moment(self, stop: int, focus: int | None) -> Moment:
        edit = min(stop, self.last_edit)
        start = search_start(self.messages, self.run.manager, self.history, edit, stop > edit)
        return Moment(self.subject, self.state.budget, edit, start, focus)


class Finder:
    """Finds what follows from a state, and remembers what took long."""

    def __init__(self, sources: Sources, progress: Progress) -> None:
        self.sources = sources
        self.progress = progress
        self._kept: OrderedDict[Hashable, object] = OrderedDict()

    def __call__(self, state: State) -> Findings:
        """Return the findings; raises what the session, the counter or the policy raises."""
        session = self.sources[state.source].with_view(state.view)
        if not session.messages:
            raise ValueError(f"there is no message in the view {state.view!r} of {session.name!r}")
        counting, bill = counter(state.counter), self.ledger(state)
        on = self._on(state)

        def played(policy: Policy) -> Run:
            aim = policy.aim(state.budget)
            return self._once(
                ("run", *on, policy, aim), lambda: self._run(session.messages, bill, counting, policy, aim)
            )

        run_key = ("run", *on, state.policy, state.policy.aim(state.budget))
        run = played(state.policy)
        trace = run.trace.under(state.budget)
        span = _span(state.span, len(session.messages))
        subject = self._once(
            ("subject", *run_key, span),
            lambda: Subject(session.messages, bill, run.points, run.history, state.policy.has_pins, *span),
        )
        return Findings(state, session, counting, bill, run, trace, subject, played, self._report)

    def _report(self, what: str, done: int, of: int) -> None:
        self.progress(what, done, of)  # looked up at each call: it is another one once the explorer stands

    def ledger(self, state: State) -> Ledger:
        """Return what the session of a state costs, counted with progress when it is first asked for."""
        messages = self.sources[state.source].with_view(state.view).messages
        return self._once(
            ("ledger", *self._on(state)),
            lambda: ledger(
                messages, counter(state.counter), lambda done, of: self.progress("Counting tokens", done, of)
            ),
        )

    def _on(self, state: State) -> tuple[Hashable, ...]:
        return (state.source, self.sources.edition(state.source), state.view, state.counter)

    def _run(self, messages: Conversation, bill: Ledger, counting: TokenCounter, policy: Policy, aim: int) -> Run:
        manager = policy.manager(aim, counting)
        trace = recover(
            messages, manager, aim, counting,
            progress=lambda saved, of: self.progress(f"Playing {manager.name}", saved, of),
            costs=bill.per_message,
        )  # fmt: skip
        what = f"Looking where {manager.name} may cut"
        points = verdicts(messages, manager, counting, lambda done, of: self.progress(what, done, of))
        self.progress(what, 1, 1)
        return Run(manager, trace, history(trace, bill), points, trace.notes)

    def _once(self, key: Hashable, find: Callable[[], Value]) -> Value:
        if key not in self._kept:
            self._kept[key] = find()
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]  # type: ignore[return-value]  # a key is only ever used with one kind of value


def _span(span: tuple[int, int] | None, count: int) -> tuple[int, int]:
    if span is None:
        return 0, count
    first = max(0, min(span[0], count - 1))
    return first, max(first + 1, min(span[1], count))
