"""The timeline as a widget: `Canvas` takes the records of the picture to the front end, `TimelineView` fills it.

A new subject sends the whole picture; a move of budget, step or focus sends only what it changes.
"""

from pathlib import Path
from typing import Any

import anywidget
import ipywidgets
import traitlets

from ctxlab.explorers.bundle import FRONT
from ctxlab.explorers.findings import Findings
from ctxlab.explorers.state import Store
from ctxlab.explorers.view import Guard, set_value, text
from ctxlab.figures.legend import legend
from ctxlab.figures.moment import Subject
from ctxlab.figures.picture import heights, now, picture


class Canvas(anywidget.AnyWidget):
    """Draws `picture`, `heights` and `now` of figures; a click or an arrow key moves ``focus``, a drag sets ``span``.

    ``label`` is the text alternative. ``drawing`` counts what was sent; the element tells the last one drawn.
    """

    _esm: Path = FRONT / "timeline.js"
    picture = traitlets.Dict().tag(sync=True)
    heights = traitlets.Dict().tag(sync=True)
    now = traitlets.Dict().tag(sync=True)
    label = traitlets.Unicode("").tag(sync=True)
    focus = traitlets.Int(0).tag(sync=True)
    span: traitlets.List[int] = traitlets.List().tag(sync=True)
    drawing = traitlets.Int(0).tag(sync=True)


class TimelineView:
    """Shows the moment of the findings, and below it what the colours and marks mean."""

    def __init__(self, store: Store, guard: Guard) -> None:
        self.store = store
        self.canvas = Canvas(layout={"width": "auto"})
        self.legend = text()
        self.widget = ipywidgets.VBox([self.canvas, self.legend])
        self.canvas.observe(guard(lambda change: self.store.focus_on(change.new)), "focus")
        self.canvas.observe(guard(self._dragged), "span")
        self._subject: Subject | None = None

    def show(self, findings: Findings) -> None:
        """Send what differs from the moment shown."""
        canvas, moment = self.canvas, findings.moment
        with canvas.hold_sync():
            if findings.subject is not self._subject:
                self._subject = findings.subject
                canvas.picture = dict(picture(findings.subject))
                # Emptied, so that the same drag counts when it is made again.
                canvas.span = []
                set_value(self.legend, value=legend(findings.subject))
            set_value(canvas, heights=dict(heights(moment)), now=dict(now(moment)), focus=findings.focus)
            set_value(canvas, label=_alternative(findings))
            canvas.drawing += 1

    def _dragged(self, change: Any) -> None:
        if change.new and self._subject is not None:
            self.store.show_span(change.new[0], change.new[1], len(self._subject.messages))


def _alternative(findings: Findings) -> str:
    return (
        f"Timeline of {len(findings.messages):,} messages: what each costs, and what is left if the conversation "
        f"starts there. {findings.story} Arrow keys move the message in focus."
    )
