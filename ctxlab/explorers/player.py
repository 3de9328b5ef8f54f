"""Playing the trace: step, back, play, a round at a time, jump; and what the step shown did, in words."""

from bisect import bisect_left, bisect_right
from typing import Any

import ipywidgets

from ctxlab.escaping import html
from ctxlab.explorers.findings import Findings
from ctxlab.explorers.front_end import Range, Ticker
from ctxlab.explorers.state import Store
from ctxlab.explorers.view import FULL, Guard, button, row, set_value, text
from ctxlab.figures.story import last_words, step_sentence

SPEEDS = (("slow", 1500), ("normal", 700), ("fast", 200))


class Player:
    """Controls of the stop. While it plays, the next step is asked for only after the last one is shown."""

    def __init__(self, store: Store, guard: Guard) -> None:
        self.store = store
        self.findings: Findings | None = None
        self.start = button("|◀ Start", "Show the session before any edit", guard(lambda _: self._go(0)))
        self.round_back = button("◀ Round", "Back to the end of the round before", guard(lambda _: self._round(-1)))
        self.back = button("◀ Back", "One edit back", guard(lambda _: self._go(self._stop - 1)))
        self.play = button("▶ Play", "Play the edits one by one; press again to pause", guard(self._toggle))
        self.step = button("Step ▶", "One edit on", guard(lambda _: self._go(self._stop + 1)))
        self.round = button("Round ▶", "On to the end of the next round", guard(lambda _: self._round(1)))
        self.end = button("End ▶|", "Show the end of the trace", guard(lambda _: self._go(None)))
        self.speed = ipywidgets.Dropdown(
            options=SPEEDS, value=700, description="Speed", style=FULL, layout={"width": "auto"}
        )
        self.jump = Range(label="Step", layout={"flex": "1 1 150px", "width": "auto"})
        self.jump.add_class("ctxlab-jump")
        self.where = ipywidgets.Label()
        self.play.layout.min_width = "90px"  # it says Play or Pause, and what is beside it stays
        self.said = text("ctxlab-said")
        self.said.add_class("ctxlab-step")
        self.ticker = Ticker()
        buttons = (self.start, self.round_back, self.back, self.play, self.step, self.round, self.end)
        controls = row(*buttons, self.speed, self.jump, self.where, self.ticker)
        self.widget = ipywidgets.VBox([controls, self.said])
        self.jump.observe(guard(lambda change: self._go(change.new)), "value")
        self.speed.observe(guard(lambda change: set_value(self.ticker, interval=change.new)), "value")
        self.ticker.observe(guard(self._tick), "asked")

    def show(self, findings: Findings) -> None:
        """Show where in the trace this is, and what the step did."""
        self.findings = findings
        last, stop = findings.last_stop, findings.stop
        with self.jump.hold_sync():
            set_value(self.jump, max=last, value=stop, words=f"{stop:,} of {last:,}")
        for control in (self.start, self.round_back, self.back):
            set_value(control, disabled=stop == 0)
        for control in (self.step, self.round, self.end):
            set_value(control, disabled=stop == last)
        set_value(self.play, disabled=last == 0)
        if stop == last and self.ticker.playing:
            self._pause()
        # It goes on from here, also where its last question was never answered.
        set_value(self.ticker, shown=self.ticker.asked)
        set_value(self.where.layout, min_width=f"{7 * len(_where(findings, last))}px")
        set_value(self.where, value=_where(findings, stop))
        set_value(self.said, value=_said(findings))

    @property
    def _stop(self) -> int:
        return self.findings.stop if self.findings else 0

    def _go(self, stop: int | None) -> None:
        if self.findings is not None:
            last = self.findings.last_stop
            wanted = last if stop is None else max(0, min(stop, last))
            if wanted != self.findings.stop:
                self.store.change(stop=None if wanted == last else wanted)

    def _round(self, direction: int) -> None:
        if self.findings is not None:
            ends = sorted({*self.findings.history.ends[: len(self.findings.trace.rounds) + 1], self.findings.last_stop})
            at = bisect_right(ends, self._stop) if direction > 0 else bisect_left(ends, self._stop) - 1
            self._go(ends[max(0, min(at, len(ends) - 1))])

    def _toggle(self, _: Any) -> None:
        if self.ticker.playing:
            self._pause()
        elif self.findings is not None:
            if self.findings.stop == self.findings.last_stop:
                self._go(0)
            self.play.description = "❚❚ Pause"
            self.ticker.playing = True

    def _pause(self) -> None:
        self.ticker.playing = False
        self.play.description = "▶ Play"

    def _tick(self, change: Any) -> None:
        if self.ticker.playing:
            self._go(self._stop + 1)
        self.ticker.shown = change.new


def _where(findings: Findings, stop: int) -> str:
    last = findings.last_stop
    if last == 0:
        return "no step: it fits"
    rounds = len(findings.trace.rounds)
    number = int(findings.history.rounds[min(stop, findings.last_edit)])
    round = f", round {number:,} of {rounds:,}" if rounds and stop else ""
    return f"{stop:,} of {last:,}{round}"


def _said(findings: Findings) -> str:
    if findings.is_at_error:
        lead, words = last_words(findings.trace, findings.policy_name)
        return f"<b>{lead}</b> {html(words)}"
    return html(step_sentence(findings.moment))
