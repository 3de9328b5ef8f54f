"""The tabs "Rounds" and "Tune" of the explorer: the player and the tuner, fed from findings.

Each is made when it is first shown, and follows the session, the policy and the budget that the explorer has. What a
person chooses in it goes to the store. Nothing is drawn here and no rule lives here.
"""

from typing import Any

import ipywidgets

from ctxlab.explorers.animator import RoundsPlayer
from ctxlab.explorers.findings import Findings
from ctxlab.explorers.state import Store
from ctxlab.explorers.tuner import Tuner
from ctxlab.explorers.view import Guard, set_value
from ctxlab.messages import Conversation
from ctxlab.reduction import Trace


class RoundsTab:
    """The rounds of the trace that the explorer shows, block by block; a chosen tile puts its message in focus."""

    name = "Rounds"

    def __init__(self, store: Store, guard: Guard) -> None:
        self.store = store
        self.widget = ipywidgets.VBox([], layout={"width": "100%"})
        self._guard = guard
        self._player: RoundsPlayer | None = None
        self._shown: Trace | None = None

    def show(self, findings: Findings) -> None:
        """Show the trace and the message in focus."""
        trace, manager = findings.trace, findings.run.manager
        if self._player is None:
            self._player = RoundsPlayer.of(trace, manager, findings.counter)
            self._player.observe(self._guard(self._chosen), "message")
            self.widget.children = (self._player,)
        elif trace != self._shown:
            self._player.show(trace, manager, findings.counter)
        self._shown = trace
        set_value(self._player, message=findings.focus)

    def _chosen(self, change: Any) -> None:
        if change.new >= 0:
            self.store.change(focus=change.new)


class TuneTab:
    """The tuner for the session that the explorer shows, under its budget."""

    name = "Tune"

    def __init__(self, store: Store, guard: Guard) -> None:
        self.store = store
        self.widget = ipywidgets.VBox([], layout={"width": "100%"})
        self._guard = guard
        self._tuner: Tuner | None = None
        self._messages: Conversation | None = None

    def show(self, findings: Findings) -> None:
        """Show the tuner; another session is another tuner, another budget only other answers."""
        if self._tuner is None or findings.messages is not self._messages:
            old, self._messages = self._tuner, findings.messages
            named = {findings.session.name: findings.messages}
            self._tuner = Tuner(named, budget=findings.state.budget, counter=findings.state.counter)
            self._tuner.observe(self._guard(lambda change: self.store.change(budget=change.new, stop=None)), "budget")
            self.widget.children = (self._tuner,)
            if old is not None:
                old.stop()
                old.close()
        set_value(self._tuner, budget=findings.state.budget)
