"""The sentence at the top, the loader's notes, progress while something takes long, and the one place for errors."""

import threading
import time
import traceback
from collections.abc import Callable

import ipywidgets
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display

from ctxlab.calibration import calibrate
from ctxlab.escaping import html
from ctxlab.explorers.findings import Findings
from ctxlab.explorers.guarded import EXPECTED
from ctxlab.explorers.view import button, set_value, text
from ctxlab.explorers.work import PATIENCE

PAUSE = 0.1
"""Seconds between two words about the same work."""

NOTES = 12


class Summary:
    """What happens to the session, in a sentence."""

    def __init__(self) -> None:
        self.story = text()
        self.notes = text("ctxlab-quiet")
        self.widget = ipywidgets.VBox([self.story, self.notes])

    def show(self, findings: Findings) -> None:
        """Show the story of the trace."""
        told = findings.story
        words = f"<b>{html(told.headline)}</b> {html(told.text)}"
        said = f'<div class="ctxlab-story {told.tone}" role="status">{words}</div>'
        set_value(self.story, value=said)
        set_value(self.notes, value=_notes(findings))


def _notes(findings: Findings) -> str:
    reported = findings.session.reported_input_tokens
    estimate = [calibrate(reported, findings.ledger).sentence] if reported else []
    notes = [*estimate, *(str(note) for note in findings.session.notes)]
    warnings = list(findings.run.notes)
    if len(notes) + len(warnings) <= 0:
        return ""
    shown = [*notes[:NOTES], *([f"… and {len(notes) - NOTES:,} more"] if len(notes) > NOTES else []), *warnings[:NOTES]]
    items = "".join(f"<li>{html(note)}</li>" for note in shown)
    summary = f"How it was read ({len(notes)} notes)" + (f", {len(warnings)} about the policy" if warnings else "")
    return f"<details><summary>{summary}</summary><ul>{items}</ul></details>"


class Progress:
    """A bar that appears once something takes long. `report` is called from within the work.

    ``alone``: nothing shows the widget yet, so it is put on the screen by itself when it is needed.
    """

    def __init__(self, alone: bool = False) -> None:
        self.alone = alone
        self.bar = ipywidgets.IntProgress(min=0, max=100, layout={"width": "200px"})
        self.label = ipywidgets.Label()
        self.stop = button("■ Stop", "End this, and leave everything as it was", self._stopping)
        self.widget = ipywidgets.HBox([self.label, self.bar] if alone else [self.label, self.bar, self.stop])
        self.widget.add_class("ctxlab-progress")
        self.widget.layout.display = "none"
        self._began: float | None = None
        self._told = -PAUSE
        self._last = ("Working…", 0, 0)
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Start the clock."""
        self._began, self._last = time.monotonic(), ("Working…", 0, 0)

    def wait(self) -> None:
        """Say that there is something to wait for, unless it is done by now."""
        with self._lock:
            if self._began is not None and self.widget.layout.display is not None:
                self._show()

    def report(self, what: str, done: int, of: int) -> None:
        """Show how far the work is (``of`` 0: nobody knows), if it has taken long enough to be worth a word."""
        with self._lock:
            self._last, now = (what, done, of), time.monotonic()
            if self._began is not None and now - self._began >= PATIENCE and now - self._told >= PAUSE:
                self._told = now
                self._show()

    def end(self) -> None:
        """Put the bar away."""
        with self._lock:
            self._began = None
            set_value(self.stop, disabled=False)
            if self.widget.layout.display is None:
                self.widget.layout.display = "none"
            if self.alone:
                self.widget.close()

    def on_stop(self, stop: Callable[[], None]) -> None:
        """Call ``stop`` when somebody asks for the work to end."""
        self.stop.on_click(lambda _: stop())

    def _stopping(self, _: object) -> None:
        set_value(self.stop, disabled=True)
        set_value(self.label, value="Stopping…")

    def _show(self) -> None:
        what, done, of = self._last
        way_out = ". Interrupt the kernel to stop." if self.alone else ""
        far = f": {done:,} of {of:,}" if of else ""
        set_value(self.label, value=f"{what}{far}{way_out}")
        set_value(self.bar, value=100 * done // max(of, 1))
        if self.widget.layout.display is not None:
            self.widget.layout.display = None
            if self.alone and InteractiveShell.initialized():
                display(self.widget)  # type: ignore[no-untyped-call]  # IPython has no types here


class Errors:
    """Where every error of every callback is shown, until the next thing that works."""

    def __init__(self) -> None:
        self.widget = text()
        self.widget.add_class("ctxlab-errors")

    def show(self, error: BaseException) -> None:
        """Show an error: the words of an expected one, and where an unexpected one comes from."""
        said = html(f"{error}" or type(error).__name__)
        if isinstance(error, EXPECTED):
            body = f"<b>That did not work.</b> {said}"
        else:
            where = html("".join(traceback.format_exception(error)))
            body = (
                f"<b>An error in ctxlab: {html(type(error).__name__)}</b> {said}"
                f"<details><summary>Where it comes from</summary><pre>{where}</pre></details>"
            )
        self.widget.value = f'<div class="ctxlab-error" role="alert">{body}</div>'

    def tell(self, words: str) -> None:
        """Say what is no error, and no trace of what was asked for either."""
        self.widget.value = f'<div class="ctxlab-told" role="status">{html(words)}</div>'

    def clear(self) -> None:
        """Take the last error away."""
        set_value(self.widget, value="")
