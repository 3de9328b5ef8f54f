"""What a view is: a widget, and a way to show findings. Small pieces that all views use live here too."""

from collections.abc import Callable
from typing import Any, Protocol

import ipywidgets

from ctxlab.explorers.findings import Findings

Guard = Callable[[Callable[[Any], None]], Callable[[Any], None]]
"""Wraps a callback so that what it raises is shown in the explorer."""


class View(Protocol):
    """A part of the explorer that shows findings. It changes the state through the store, and never itself."""

    widget: ipywidgets.Widget

    def show(self, findings: Findings) -> None:
        """Show findings; cheap where nothing that this view shows has changed."""


FULL = {"description_width": "initial"}
"""The style of a control whose description is not cut off."""


def row(*children: ipywidgets.Widget, look: str = "") -> ipywidgets.HBox:
    """Return controls side by side, going on in the next line where the page is narrow."""
    box = ipywidgets.HBox(children, layout={"flex_flow": "row wrap", "width": "auto"})
    box.add_class("ctxlab-row")
    if look:
        box.add_class(look)
    return box


def text(look: str = "") -> ipywidgets.HTML:
    """Return a place for HTML; whatever comes from a session must be escaped before it is put there."""
    place = ipywidgets.HTML(layout={"width": "auto", "height": "auto"})
    if look:
        place.add_class(look)
    return place


def button(label: str, tooltip: str, pressed: Callable[[Any], None]) -> ipywidgets.Button:
    """Return a button with words on it."""
    made = ipywidgets.Button(description=label, tooltip=tooltip, layout={"width": "auto"})
    made.on_click(pressed)
    return made


def set_value(control: Any, **values: Any) -> None:
    """Set traits of a control that differ: no message goes out for what is shown already."""
    for name, value in values.items():
        if getattr(control, name) != value:
            setattr(control, name, value)


def toggle_class(widget: Any, name: str, on: bool) -> None:
    """Add or remove a CSS class."""
    if on != (name in widget._dom_classes):
        (widget.add_class if on else widget.remove_class)(name)
