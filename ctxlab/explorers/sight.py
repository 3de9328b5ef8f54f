"""Choosing what is in sight: the range of messages drawn, and the message in focus with all that is said of it."""

from typing import Any

import ipywidgets

from ctxlab.escaping import html
from ctxlab.explorers.findings import Findings
from ctxlab.explorers.front_end import NumberBox
from ctxlab.explorers.state import Store
from ctxlab.explorers.view import Guard, button, row, set_value, text
from ctxlab.figures.words import about


class Sight:
    """Controls of the range and of the focus."""

    def __init__(self, store: Store, guard: Guard) -> None:
        self.store = store
        self.count = 1
        narrow = {"width": "200px"}
        self.focus = NumberBox(description="Message in focus", layout=narrow)
        self.previous = button("◀", "The message before", guard(lambda _: self._look(self.store.state.focus - 1)))
        self.next = button("▶", "The message after", guard(lambda _: self._look(self.store.state.focus + 1)))
        self.previous.add_class("ctxlab-before")
        self.next.add_class("ctxlab-after")
        self.first = NumberBox(description="Show from", layout={"width": "145px"})
        self.last = NumberBox(description="to", layout={"width": "100px"})
        self.all = button("All", "Show all messages", guard(lambda _: self.store.change(span=None)))
        self.near = button("Near focus", "Show the 60 messages around the one in focus", guard(self._around))
        self.shown = text("ctxlab-quiet")
        self.said = text("ctxlab-said")
        self.said.add_class("ctxlab-about")
        focus = row(self.previous, self.next, self.focus)
        focus.layout.width = "auto"
        span = row(self.first, self.last, self.near, self.all)
        span.layout.width = "auto"
        self.widget = ipywidgets.VBox([row(focus, span), self.shown, self.said])
        self.focus.observe(guard(lambda change: self._look(change.new)), "value")
        self.first.observe(guard(lambda change: self._range(change.new, self.last.value)), "value")
        self.last.observe(guard(lambda change: self._range(self.first.value, change.new)), "value")

    def show(self, findings: Findings) -> None:
        """Show range and focus."""
        subject = findings.subject
        last = len(findings.messages) - 1
        self.count = last + 1
        set_value(self.focus, max=last)
        set_value(self.focus, value=findings.focus)
        set_value(self.previous, disabled=findings.focus == 0)
        set_value(self.next, disabled=findings.focus == last)
        for control, value in ((self.first, subject.first), (self.last, subject.last - 1)):
            set_value(control, max=last)
            set_value(control, value=value)
        whole = (subject.first, subject.last) == (0, last + 1)
        set_value(self.all, disabled=whole)
        set_value(self.near, disabled=last < 60)
        set_value(self.shown, value=html(subject.bars.sentence(last + 1)))
        set_value(self.said, value="<br>".join(map(html, about(findings.moment, findings.focus))))

    def _look(self, index: int) -> None:
        self.store.focus_on(max(0, min(index, self.count - 1)))

    def _range(self, first: int, last: int) -> None:
        self.store.show_span(first, last + 1, self.count)

    def _around(self, _: Any) -> None:
        first = max(0, min(self.store.state.focus - 30, self.count - 60))
        self.store.show_span(first, first + 60, self.count)
