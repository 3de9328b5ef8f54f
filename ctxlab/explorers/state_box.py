"""Passing a state on: `StateBox` copies it, saves it, and takes one in. What it takes in is checked elsewhere."""

from collections.abc import Callable
from typing import Any

import anywidget
import traitlets

from ctxlab.explorers.bundle import FRONT
from ctxlab.explorers.view import Guard, set_value


class StateBox(anywidget.AnyWidget):
    """Buttons for the state: ``text`` is copied, ``file`` saved, ``wish`` holds a text that a person wants to open."""

    _esm = FRONT / "state.js"
    _css = FRONT / "state.css"
    text = traitlets.Unicode("").tag(sync=True)
    file = traitlets.Unicode("").tag(sync=True)
    wish = traitlets.Dict({}).tag(sync=True)

    def react(self, guard: Guard, opened: Callable[[str], Any]) -> None:
        """Call ``opened`` with each text that a person wants to open."""
        self.observe(guard(lambda change: opened(str(change.new.get("text", "")))), "wish")

    def show(self, text: str, file: str) -> None:
        """Offer a state."""
        with self.hold_sync():
            set_value(self, text=text, file=file)
