"""The tabs "Rounds" and "Tune" of the explorer: the player and the tuner, fed from findings.

Each is made when it is first shown, and follows the session, the policy, the budget, the step and the message that the
explorer has. What a person chooses in it goes to the store. Nothing is drawn here and no rule lives here.
"""

from typing import Any

import ipywidgets

from ctxlab.explorers.animator import RoundsPlayer
from ctxlab.explorers.findings import Findings
from ctxlab.explorers.state import Policy, Store
from ctxlab.explorers.tuner import Tuner
from ctxlab.explorers.view import Guard, button, row, set_value, text
from ctxlab.messages import text_slots
from ctxlab.reduction import Trace
from ctxlab.summarizing import Summarizing
from ctxlab.truncation import Truncation


class RoundsTab:
    """The rounds of the trace that the explorer shows, block by block; a chosen tile puts its message in focus."""

    name = "Rounds"

    def __init__(self, store: Store, guard: Guard) -> None:
        self.store = store
        self.widget = ipywidgets.VBox([], layout={"width": "100%"})
        self.player: RoundsPlayer | None = None
        self._guard = guard
        self._shown: Trace | None = None
        self._last = 0

    def show(self, findings: Findings) -> None:
        """Show the trace, the step and the message in focus."""
        trace, manager = findings.trace, findings.run.manager
        self._last = findings.last_edit
        if self.player is None:
            self.player = RoundsPlayer.of(trace, manager, findings.counter)
            self.player.led = True
            self.player.observe(self._guard(self._chosen), "message")
            self.player.observe(self._guard(self._moved), "position")
            self.widget.children = (self.player,)
        with self.player.hold_sync():
            if self._shown is not None and trace != self._shown:
                self.player.show(trace, manager, findings.counter)
            set_value(self.player, position=min(findings.stop, self._last), message=findings.focus)
        self._shown = trace

    def _chosen(self, change: Any) -> None:
        if change.new >= 0:
            self.store.focus_on(change.new)

    def _moved(self, change: Any) -> None:
        self.store.change(stop=None if change.new >= self._last else change.new)


class TuneTab:
    """The tuner for the session that the explorer shows, under its budget and its parameters of summarizing."""

    name = "Tune"

    def __init__(self, store: Store, guard: Guard) -> None:
        self.store = store
        self.tuner: Tuner | None = None
        self.take = button(
            "Use this in the policy", "Summarize with the rule and the preserve_chars chosen here", guard(self._take)
        )
        self.about = text("ctxlab-quiet")
        self.widget = ipywidgets.VBox([], layout={"width": "100%"})
        self._guard = guard
        self._of: tuple[Any, ...] | None = None
        self._policy: Policy | None = None

    def show(self, findings: Findings) -> None:
        """Show the tuner; another session or other parameters are another tuner, another budget only other answers."""
        policy = findings.state.policy
        summarizes = policy.kind == "summarizing"
        manager = _manager(findings.run.manager)
        of = (id(findings.messages), findings.counter.name, manager)
        if self.tuner is None or of != self._of:
            self._make(findings, policy if summarizes else Policy(), manager)
            self._of = of
        elif summarizes and policy != self._policy and policy.rule:
            set_value(self.tuner, rule=policy.rule, preserve_chars=policy.preserve_chars)
        self._policy = policy
        lengths = [len(slot.text) for slot in text_slots(findings.messages[findings.focus])]
        marked = {"marked": lengths, "marked_by": f"message {findings.focus:,}"}
        set_value(self.tuner, budget=findings.state.budget, **marked)
        other = "" if summarizes else " The policy above does not summarize; this is what summarizing would do."
        set_value(self.about, value=f"How the fallback of summarizing would do on this session.{other}")

    def _make(self, findings: Findings, policy: Policy, manager: Summarizing) -> None:
        old = self.tuner
        self.tuner = Tuner(
            {findings.session.name: findings.messages},
            budget=findings.state.budget,
            counter=findings.state.counter,
            manager=manager,
            rule=policy.rule or "proportional",
            preserve_chars=policy.preserve_chars,
            progress=findings.progress,
        )
        self.tuner.observe(self._guard(lambda change: self.store.change(budget=change.new, stop=None)), "budget")
        self.widget.children = (row(self.take, self.about), self.tuner)
        if old is not None:
            old.stop()
            old.close()

    def _take(self, _: Any) -> None:
        if self.tuner is not None:
            self.store.change_policy(
                kind="summarizing", fallback=self.tuner.rule, preserve_chars=self.tuner.preserve_chars
            )


def _manager(manager: Any) -> Summarizing:
    """Return the parameters to tune with; those of the fallback are what is tuned, so they make no difference."""
    if not isinstance(manager, Summarizing):
        return Summarizing()
    return Summarizing(
        manager.summary_ratio,
        manager.preserve_recent_messages,
        manager.pin_first,
        Truncation(),
        release=manager.release,
    )
