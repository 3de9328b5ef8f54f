"""What lanes show, found once: of each run the checks of its rounds, of each end state the verdicts and the strip.

A budget only says how far a run is played, so what was found for one budget serves the next. No widget lives here, and
no rule is repeated.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TypeVar

from ctxlab.checks import Checking
from ctxlab.comparison import Lane
from ctxlab.explorers.findings import Progress, Run
from ctxlab.figures.difference import Difference, Side, first_difference, parting
from ctxlab.figures.grouping import Groups
from ctxlab.figures.lanes import Bar, Strip, Told, column_bars, cost_table, lane_strip, truncates
from ctxlab.invariants import Known, Verdict
from ctxlab.messages import Conversation
from ctxlab.reduction import Trace
from ctxlab.replay import origins
from ctxlab.tokens import Ledger

Value = TypeVar("Value")

KEPT = 256
"""Findings of a kind that are kept: a few dozen budgets of eight lanes."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A lane under one budget, with what providers make of what it leaves.

    ``places``: where each message that is left stands in the conversation, None for a new one.
    """

    run: Run = field(repr=False)
    trace: Trace = field(repr=False)
    told: Told = field(repr=False)
    places: tuple[int | None, ...] = field(repr=False)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdicts on what is left, one a provider."""
        return self.told.verdicts


class Comparing:
    """The lanes of one conversation whose ledger is ``bill``."""

    def __init__(self, messages: Conversation, bill: Ledger) -> None:
        self.messages = messages
        self._costs = cost_table(bill)
        self._known = Known(messages)
        self._kept: dict[str, OrderedDict[Hashable, object]] = {}

    def as_it_is(self) -> tuple[Verdict, ...]:
        """Return what each provider makes of the conversation before any policy."""
        return self._once(
            "verdicts", "as it is", lambda: self._known.verdicts(self.messages, range(len(self.messages)))
        )

    def bars(self, bars: Groups) -> list[Bar]:
        """Return the columns of all lanes."""
        return self._once("bars", bars, lambda: list(column_bars(self.messages, self._costs, bars)))

    def lane(self, run: Run, about: str, budget: int, progress: Progress) -> Compared:
        """Return a run as far as it is played under a budget in tokens; ``progress`` is told, and may raise to stop."""
        trace = run.trace.under(budget)

        def find() -> tuple[Told, tuple[int | None, ...]]:
            what = f"Comparing {run.manager.name}"
            progress(what, 0, len(trace.rounds))
            checking = self._once("checks", id(run), lambda: (run, self._checking(run)))[1]
            breaches = checking.under(trace, _now_and_then(what, progress))
            progress(what, len(trace.rounds), len(trace.rounds))
            final, places = trace.final, tuple(origins(trace.edits, len(trace.start)))
            found = self._known.verdicts(final, places)
            lane = Lane(run.manager.name, about, run.manager, trace)
            last = run.history.ends[len(trace.rounds)]
            return Told(lane, run.history, last, breaches, found, len(final)), places

        return Compared(run, trace, *self._once("lanes", (id(run), len(trace.rounds), trace.outcome), find))

    def strip(self, lane: Compared, bars: Groups) -> Strip:
        """Return a lane as it is drawn in these columns."""
        told = lane.told
        return self._once("strips", (id(told), bars), lambda: (told, lane_strip(told, self._costs, bars)))[1]

    def difference(self, one: Compared, other: Compared, names: tuple[str, str]) -> Difference:
        """Return where the second lane first does something else than the first, under these names."""
        runs = one.run, other.run
        at = self._once(
            "partings", (id(runs[0]), id(runs[1])), lambda: (runs, parting(runs[0].trace.edits, runs[1].trace.edits))
        )[1]
        ends = [lane.told.last for lane in (one, other)]
        # Behind the place where they part, it does not matter how far they go.
        how = tuple((lane.told.last, lane.trace.outcome) for lane in (one, other)) if at >= min(ends) else at

        def find() -> tuple[tuple[Run, Run], Difference]:
            mine, theirs = (
                Side(name, lane.run.manager, lane.trace, lane.run.history.places)
                for name, lane in zip(names, (one, other), strict=True)
            )
            return runs, first_difference(mine, theirs, at)

        return self._once("differences", (id(runs[0]), id(runs[1]), names, how), find)[1]

    def _checking(self, run: Run) -> Checking:
        return Checking(run.trace, truncates(run.manager), known=self._known)

    def _once(self, kind: str, key: Hashable, find: Callable[[], Value]) -> Value:
        """Return what is kept, or find it. A key by identity is kept with the object, so that no other one gets it."""
        kept = self._kept.setdefault(kind, OrderedDict())
        if key not in kept:
            kept[key] = find()
            while len(kept) > KEPT:
                kept.popitem(last=False)
        kept.move_to_end(key)
        return kept[key]  # type: ignore[return-value]  # a kind has values of one type


def _now_and_then(what: str, progress: Progress) -> Callable[[int, int], None]:
    told = -1

    def tell(done: int, of: int) -> None:
        nonlocal told
        if 100 * done // max(of, 1) > told:
            told = 100 * done // max(of, 1)
            progress(what, done, of)

    return tell
