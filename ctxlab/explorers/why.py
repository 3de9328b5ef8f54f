"""The tab "Why": all indices with verdict and reason, in the words of the picture; the rows follow the focus."""

from typing import Any

from ctxlab.explorers.findings import Findings
from ctxlab.explorers.front_end import Rows
from ctxlab.explorers.state import Store
from ctxlab.explorers.view import Guard
from ctxlab.figures.words import contents, fate, reason, role, verdict

COLUMNS = (
    ("message", "right"),
    ("content", ""),
    ("tokens", "right"),
    ("from here", "right"),
    ("verdict", "short"),
    ("why", "wide"),
    ("now", ""),
)
PAGE = 20


class Why:
    """The table of indices."""

    name = "Why"

    def __init__(self, store: Store, guard: Guard) -> None:
        self.store = store
        self.widget = Rows(
            columns=[list(column) for column in COLUMNS], page=PAGE, noun="messages",
            label="Where the conversation may start, and why not elsewhere",
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
        rows = [_row(findings, index) for index in range(self._first, min(self._first + PAGE, count))]
        with self.widget.hold_sync():
            self.widget.first, self.widget.total, self.widget.selected = self._first, count, focus
            if self.widget.rows != rows:
                self.widget.rows = rows

    def _selected(self, change: Any) -> None:
        self.store.focus_on(change.new)


def _row(findings: Findings, index: int) -> list[str]:
    moment, subject = findings.moment, findings.subject
    cut = moment.cut
    taken = cut is not None and cut.index == index
    look = "strong" if taken else "faint" if subject.points[index].kind is None else ""
    return [
        look,
        f"{index:,}",
        f"{role(subject.messages[index])}: {contents(subject.messages[index])}",
        f"{subject.ledger.per_message[index]:,}",
        f"{int(moment.suffix[index]):,}",
        verdict(subject, index),
        reason(moment, index),
        fate(moment, index),
    ]
