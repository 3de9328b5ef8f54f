"""The tab "Why": all indices with verdict and reason, in the words of the picture; the rows follow the focus."""

from typing import Any

from ctxlab.explorers.findings import Findings
from ctxlab.explorers.front_end import Rows
from ctxlab.explorers.state import Store
from ctxlab.explorers.view import Guard
from ctxlab.figures.candidates import COLUMNS, LABEL, PAGE, candidate


class Why:
    """The table of indices."""

    name = "Why"

    def __init__(self, store: Store, guard: Guard) -> None:
        self.store = store
        self.widget = Rows(
            columns=[list(column) for column in COLUMNS], page=PAGE, noun="messages", label=LABEL
        )  # fmt: skip
        self.widget.observe(guard(self._selected), "selected")
        self._first = 0

    def show(self, findings: Findings) -> None:
        """Show the page around the focus; it moves only when the focus leaves it."""
        count = len(findings.messages)
        focus = findings.focus
        if not self._first <= focus < self._first + PAGE:
            self._first = focus
        self._first = max(0, min(self._first, count - PAGE))
        shown = range(self._first, min(self._first + PAGE, count))
        rows = [candidate(findings.moment, index) for index in shown]
        with self.widget.hold_sync():
            self.widget.first, self.widget.total, self.widget.selected = self._first, count, focus
            if self.widget.rows != rows:
                self.widget.rows = rows

    def _selected(self, change: Any) -> None:
        self.store.focus_on(change.new)
