"""`Animator`: the rounds of a session, block by block, played in the browser.

The kernel sends one record a policy and budget; playing, stepping and jumping need no kernel. Nothing is drawn here and
no rule lives here: a change of a dial is one call of `recover` and one record.
"""

from dataclasses import replace
from typing import Any, Self, cast

import anywidget
import traitlets

from ctxlab.explorers.bundle import script, style
from ctxlab.explorers.given import Given, conversation
from ctxlab.explorers.guarded import guarded
from ctxlab.figures.animation import to_json
from ctxlab.figures.playing import rounds_record
from ctxlab.recovery import recover
from ctxlab.reduction import Trace
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import Summarizing
from ctxlab.tokens import TokenCounter
from ctxlab.truncation import Rule, Truncation
from ctxlab.tuning import preserve_grid
from ctxlab.vocabularies import counter as counter_of


class RoundsPlayer(anywidget.AnyWidget):
    """Plays a trace that it is given: `show` puts another one in.

    ``position`` is the number of edits made, set by the player when it is still and settable; ``message`` is the index
    of the message that a person chose, -1 for none, settable too. ``led``: another record is shown at ``position``,
    not at the round that was shown. The dials stay away unless a subclass shows them.
    """

    _esm = script("rounds")
    _css = style("rounds")
    record = traitlets.Unicode("").tag(sync=True)
    position = traitlets.Int(0).tag(sync=True)
    message = traitlets.Int(-1).tag(sync=True)
    led = traitlets.Bool(False).tag(sync=True)
    dials = traitlets.Bool(False).tag(sync=True)
    values = traitlets.List(traitlets.Int()).tag(sync=True)
    most = traitlets.Int(0).tag(sync=True)
    rule = traitlets.Unicode("proportional").tag(sync=True)
    preserve_chars = traitlets.Int(2000).tag(sync=True)
    budget = traitlets.Int(0).tag(sync=True)
    error = traitlets.Unicode("").tag(sync=True)

    @classmethod
    def of(cls, trace: Trace, manager: SlidingWindow | Summarizing, counter: TokenCounter) -> Self:
        """Return a player of one trace."""
        return cls(record=to_json(rounds_record(trace, manager, counter)))

    def show(self, trace: Trace, manager: SlidingWindow | Summarizing, counter: TokenCounter) -> None:
        """Play another trace from now on; what is shown stays at the same round."""
        self.record = to_json(rounds_record(trace, manager, counter))


class Animator(RoundsPlayer):
    """The rounds of one session under the truncation fallback, with dials for rule, preserve_chars and budget.

    ``session`` is a Session, a path or messages; ``budget`` is in tokens (default: half of what the session costs).
    ``manager`` gives the other parameters of summarizing. Raises what loading raises, ValueError for a parameter that
    cannot be.
    """

    def __init__(
        self,
        session: Given,
        *,
        budget: int | None = None,
        rule: Rule = "proportional",
        preserve_chars: int = 2000,
        manager: Summarizing | None = None,
        counter: str = "cl100k_base",
    ) -> None:
        self.name, self.messages = conversation(session)
        self.counter = counter_of(counter)
        self.manager = replace(manager or Summarizing(), truncation=Truncation(preserve_chars, rule))
        tokens = sum(map(self.counter.message, self.messages))
        self.trace = recover(self.messages, self.manager, tokens // 2 if budget is None else budget, self.counter)
        super().__init__(
            record=to_json(rounds_record(self.trace, self.manager, self.counter)),
            dials=True,
            values=list(preserve_grid([self.messages])),
            most=max(10, tokens * 115 // 100),
            rule=rule,
            preserve_chars=preserve_chars,
            budget=self.trace.budget,
        )
        self.observe(guarded(self, self._chosen), ["rule", "preserve_chars", "budget"])

    def _chosen(self, change: Any) -> None:
        truncation = Truncation(self.preserve_chars, cast(Rule, self.rule))
        self.manager = replace(self.manager, truncation=truncation)
        self.trace = recover(self.messages, self.manager, self.budget, self.counter)
        self.show(self.trace, self.manager, self.counter)
