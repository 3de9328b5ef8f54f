"""Choosing the token budget: a slider over what this session costs, an exact number, known context windows; and how
tokens are counted.
"""

from typing import Any

import ipywidgets

from ctxlab.explorers.findings import Findings
from ctxlab.explorers.front_end import NumberBox, Range
from ctxlab.explorers.state import Store
from ctxlab.explorers.view import FULL, Guard, row, set_value
from ctxlab.providers import CONTEXT_WINDOWS

COUNTERS = ("cl100k_base", "o200k_base", "heuristic")

MOST = 1_000_000_000
STEPS = 1000
"""Places on the slider."""


def presets() -> list[tuple[str, int]]:
    """Return the sizes of known context windows, each once, with the families that have it."""
    sizes: dict[int, list[str]] = {}
    for name, tokens in CONTEXT_WINDOWS:
        sizes.setdefault(tokens, []).append(name)
    return [(f"{tokens:,}: {', '.join(names)}", tokens) for tokens, names in sizes.items()]


class BudgetBar:
    """Controls of the budget."""

    def __init__(self, store: Store, guard: Guard) -> None:
        self.store = store
        self.slider = Range(label="Token budget", layout={"flex": "1 1 420px", "width": "auto"})
        self.slider.add_class("ctxlab-budget")
        self.number = NumberBox(
            name="Token budget, exactly", max=MOST, tooltip="token budget, exactly", layout={"width": "110px"}
        )
        self.preset = ipywidgets.Dropdown(layout={"width": "260px"}, tooltip="set the budget to a known context window")
        self.preset.add_class("ctxlab-preset")
        self.counter = ipywidgets.Dropdown(
            options=COUNTERS, description="Tokens by", style=FULL, layout={"width": "auto"}
        )
        self.widget = row(self.slider, self.number, self.preset, self.counter)
        self.slider.observe(guard(self._moved), "value")
        self.number.observe(guard(lambda change: self._typed(change.new)), "value")
        self.preset.observe(guard(self._preset), "value")
        self.counter.observe(guard(lambda change: self.store.change(counter=change.new)), "value")
        self._step = 1
        self.exact: int | None = None
        """The budget that was typed or chosen by name, as that of a model; it holds for the next session too."""

    def show(self, findings: Findings) -> None:
        """Show the budget; one that is beyond the slider leaves it at its end."""
        total, budget = findings.ledger.total, findings.state.budget
        self._step = max(1, -(-total // STEPS))
        highest = max(10, -(-total * 115 // 100 // self._step) * self._step)
        place = min(self._on_step(budget), highest)
        with self.slider.hold_sync():
            set_value(self.slider, max=highest, step=self._step, words=f"{budget:,} tokens", value=place)
        set_value(self.number, value=budget)
        half, quarter = total // 2, total // 4
        options = [
            ("presets…", -1),
            (f"{half:,}: half of this session", half),
            (f"{quarter:,}: a quarter of it", quarter),
            *presets(),
        ]
        if tuple(options) != self.preset.options:
            self.preset.options = options
        set_value(self.preset, value=budget if budget in {size for _, size in options} else -1)
        name = findings.state.counter
        if name not in self.counter.options:
            self.counter.options = (*COUNTERS, name)
        set_value(self.counter, value=name)

    def _on_step(self, budget: int) -> int:
        return round(budget / self._step) * self._step

    def _moved(self, change: Any) -> None:
        if change.new != min(self._on_step(self.store.state.budget), self.slider.max):
            self._choose(change.new)
            self.exact = None

    def _typed(self, budget: int) -> None:
        if budget != self.store.state.budget:
            self._choose(budget)
            self.exact = budget

    def _preset(self, change: Any) -> None:
        if change.new is not None and change.new >= 0 and change.new != self.store.state.budget:
            self._choose(change.new)
            self.exact = change.new if change.new in dict(presets()).values() else None

    def _choose(self, budget: int) -> None:
        self.store.change(budget=budget, stop=None)
