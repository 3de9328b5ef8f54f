"""The tab "Views": every view of the session in order, a bar for its tokens, and what it is; choosing one shows it.

For a recording these are its turns, one model call after the other: what the model saw, whether it was refused, and
what was cut before, by which rule. Nothing is drawn here and no rule lives here.
"""

from collections.abc import Mapping
from typing import Any

from ctxlab.explorers.findings import Findings
from ctxlab.explorers.front_end import Rows
from ctxlab.explorers.state import Store
from ctxlab.explorers.view import Guard
from ctxlab.sessions import View

COLUMNS = (("view", "short"), ("messages", "right"), ("tokens", "right"), ("", "short"), ("what it is", "wide"))
PAGE = 20
BAR = 12
"""Signs of the longest bar."""


class ViewsTab:
    """The table of views, the one that is shown first in sight."""

    name = "Views"

    def __init__(self, store: Store, guard: Guard) -> None:
        self.store = store
        self.widget = Rows(
            columns=[list(column) for column in COLUMNS], page=PAGE, noun="views",
            label="The views of this session: for a recording, its model calls and turns",
        )  # fmt: skip
        self.widget.observe(guard(self._selected), "selected")
        self._names: tuple[str, ...] = ()
        self._of: Mapping[str, View] = {}
        self._counter = ""
        self._totals: dict[str, int] = {}

    def show(self, findings: Findings) -> None:
        """Show the page around the view that is shown; tokens are counted by the explorer's counter."""
        offers = findings.session.offers
        self._names = tuple(offers)
        at = self._names.index(findings.state.view)
        first = max(0, min(at - at % PAGE, len(offers) - 1))
        totals = self._counted(findings)
        most = max(1, *totals.values())
        rows = [
            [
                "strong" if name == findings.state.view else "",
                name,
                f"{len(offers[name].messages):,}",
                f"{totals[name]:,}",
                "█" * max(1, round(BAR * totals[name] / most)),
                offers[name].about,
            ]
            for name in self._names[first : first + PAGE]
        ]
        with self.widget.hold_sync():
            self.widget.first, self.widget.total, self.widget.selected = first, len(offers), at
            if self.widget.rows != rows:
                self.widget.rows = rows

    def _counted(self, findings: Findings) -> dict[str, int]:
        """Return the tokens of each view, counted once a session."""
        offers, counter = findings.session.offers, findings.counter
        if offers is not self._of or counter.name != self._counter:
            self._totals = {}
            for number, (name, view) in enumerate(offers.items()):
                findings.progress("Counting views", number, len(offers))
                self._totals[name] = sum(map(counter.message, view.messages))
            self._of, self._counter = offers, counter.name
        return self._totals

    def _selected(self, change: Any) -> None:
        self.store.change(view=self._names[change.new], stop=None, focus=0, span=None)
