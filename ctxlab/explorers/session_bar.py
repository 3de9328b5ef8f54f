"""Choosing the session: a sample, a path, an upload; and which of its views."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ipywidgets

from ctxlab.explorers.findings import Findings
from ctxlab.explorers.front_end import PathBox
from ctxlab.explorers.sources import SAMPLE, Sources
from ctxlab.explorers.state import Store
from ctxlab.explorers.view import FULL, Guard, row, set_value


class SessionBar:
    """Controls of the session. ``show_session`` is asked to show one of the sources."""

    def __init__(self, store: Store, sources: Sources, show_session: Callable[[str], None], guard: Guard) -> None:
        self.store, self.sources, self.show_session = store, sources, show_session
        self.session = ipywidgets.Dropdown(description="Session", style=FULL, layout={"width": "auto"})
        self.view = ipywidgets.Dropdown(description="Messages", style=FULL, layout={"width": "auto"})
        self.path = PathBox(layout={"width": "auto", "flex": "1 1 240px", "max_width": "480px"})
        self.upload = ipywidgets.FileUpload(
            description="Upload…", tooltip="Read a session file from this computer", layout={"width": "auto"}
        )
        files = row(self.path, self.upload)
        files.layout.width, files.layout.flex = "auto", "1 1 400px"
        self.widget = row(self.session, self.view, files)
        self.session.observe(guard(self._choose), "value")
        self.view.observe(guard(lambda change: self._look(change.new)), "value")
        self.path.observe(guard(lambda change: self._open(str(change.new.get("path", "")))), "wish")
        self.upload.observe(guard(self._uploaded), "value")

    def show(self, findings: Findings) -> None:
        """Show which session it is and what can be chosen."""
        state = findings.state
        known = [SAMPLE + name for name in self.sources.samples]
        options = [(_words(source), source) for source in (*known, *self.sources.others)]
        if tuple(options) != self.session.options:
            self.session.options = options
        set_value(self.session, value=state.source)
        views = tuple((f"{name}: {len(shown):,}", name) for name, shown in findings.session.views.items())
        if views != self.view.options:
            self.view.options = views
        set_value(self.view, value=state.view, tooltip=findings.session.offers[state.view].about)
        self.view.layout.display = "none" if len(views) < 2 else None
        set_value(self.upload, value=())  # what was not read after all can be uploaded once more

    def _choose(self, change: Any) -> None:
        if change.new is not None and change.new != self.store.state.source:
            self.show_session(change.new)

    def _look(self, view: str | None) -> None:
        if view is not None:
            self.store.change(view=view, stop=None, focus=0, span=None)

    def _open(self, wished: str) -> None:
        path = wished.strip()
        if len(path) > 1 and path[0] == path[-1] and path[0] in "\"'":
            path = path[1:-1]  # as file managers copy it
        if not path:
            raise ValueError("type the path of a session file or folder first")
        self.show_session(self.sources.open(path))

    def _uploaded(self, change: Any) -> None:
        if not change.new:
            return
        file = change.new[0]
        # Emptied, so that the same file can be uploaded once more after it was changed.
        self.upload.value = ()
        self.show_session(self.sources.upload(str(file["name"]), bytes(file["content"])))


def _words(source: str) -> str:
    kind, _, name = source.partition(":")
    if kind == "path":
        return f"…/{'/'.join(Path(name).parts[-2:])}" if len(Path(name).parts) > 2 else name
    return {"sample": f"sample: {name}", "upload": f"{name} (uploaded)"}.get(kind, name)
