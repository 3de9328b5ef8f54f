"""The small pieces of front end that ipywidgets lack, each with a script in `front`: `NumberBox`, `Page`, `PathBox`,
`Range`, `Rows`, `Ticker`.

They carry values and wishes back and forth; what to show and what to do about a wish is decided elsewhere.
"""

from typing import Any

import anywidget
import traitlets

from ctxlab.explorers.bundle import FRONT, script


class Page(anywidget.AnyWidget):
    """Invisible: brings the stylesheet, and names elements for screen readers.

    ``names`` are (CSS selector, attribute, text), kept up to date within the element of class ``ctxlab`` around it.
    """

    _esm = FRONT / "page.js"
    _css = FRONT / "page.css"
    names: traitlets.List[list[str]] = traitlets.List().tag(sync=True)


class NumberBox(anywidget.AnyWidget):
    """A number from ``min`` to ``max``, whole where ``step`` is; ``name`` is for where no ``description`` is.

    Unlike that of ipywidgets it leaves alone what a person is typing when an answer to something earlier comes late.
    """

    _esm = script("number")
    description = traitlets.Unicode("").tag(sync=True)
    name = traitlets.Unicode("").tag(sync=True)
    tooltip = traitlets.Unicode("").tag(sync=True)
    min = traitlets.Int(0).tag(sync=True)
    max = traitlets.Int(0).tag(sync=True)
    step: Any = traitlets.Union([traitlets.Int(), traitlets.Float()], default_value=1).tag(sync=True)
    value: Any = traitlets.Union([traitlets.Int(), traitlets.Float()], default_value=0).tag(sync=True)
    disabled = traitlets.Bool(False).tag(sync=True)

    @traitlets.validate("value")
    def _bounded(self, proposal: Any) -> float:
        value: float = proposal["value"]
        return max(self.min, min(self.max, value))


class PathBox(anywidget.AnyWidget):
    """A field for a path; Enter or its button makes a ``wish`` of it."""

    _esm = FRONT / "path.js"
    wish = traitlets.Dict({}).tag(sync=True)

    def ask(self, path: str) -> None:
        """Wish for a path as a person does who types it."""
        self.wish = {"path": path, "count": self.wish.get("count", 0) + 1}


class Range(anywidget.AnyWidget):
    """A slider from 0 to ``max`` in steps; ``words`` is its value as a screen reader says it.

    Unlike that of ipywidgets it reports only what a hand did: that one rounds a value which the kernel sets, and sends
    the rounded one back.
    """

    _esm = FRONT / "range.js"
    label = traitlets.Unicode("").tag(sync=True)
    words = traitlets.Unicode("").tag(sync=True)
    max = traitlets.Int(0).tag(sync=True)
    step = traitlets.Int(1).tag(sync=True)
    value = traitlets.Int(0).tag(sync=True)


class Rows(anywidget.AnyWidget):
    """A table of ``total`` rows of which those from ``first`` on are here; a click or a key moves ``selected``.

    ``columns`` are (title, "" | "right" | "short" | "wide"). A row is its look ("" | "strong" | "faint") and then its
    cells, plain text. ``page`` is how far a page is; ``noun`` names the rows, ``label`` the table.
    """

    _esm = FRONT / "rows.js"
    columns: traitlets.List[list[str]] = traitlets.List().tag(sync=True)
    rows: traitlets.List[list[str]] = traitlets.List().tag(sync=True)
    first = traitlets.Int(0).tag(sync=True)
    total = traitlets.Int(0).tag(sync=True)
    selected = traitlets.Int(0).tag(sync=True)
    page = traitlets.Int(20).tag(sync=True)
    noun = traitlets.Unicode("rows").tag(sync=True)
    label = traitlets.Unicode("").tag(sync=True)


class Ticker(anywidget.AnyWidget):
    """A clock: while ``playing`` it sets ``asked`` to one more than ``shown``, ``interval`` ms after that was set."""

    _esm = FRONT / "ticker.js"
    playing = traitlets.Bool(False).tag(sync=True)
    interval = traitlets.Int(700).tag(sync=True)
    asked = traitlets.Int(0).tag(sync=True)
    shown = traitlets.Int(0).tag(sync=True)
