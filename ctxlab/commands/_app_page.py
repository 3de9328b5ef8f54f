"""What a page of `ctxlab app` shows: the explorer, or in its place why there is none. Runs in the kernel of the page.

What to show comes in an environment variable, as JSON, so that no name of a file ever becomes code.
"""

import json
import os

import ipywidgets
from IPython.display import display
from IPython.utils.capture import capture_output

from ctxlab.explorers.explorer import Explorer
from ctxlab.explorers.front_end import Page
from ctxlab.explorers.summary import Errors
from ctxlab.sessions import load

VARIABLE = "CTXLAB_APP"


def asking(file: str, format: str | None) -> dict[str, str]:
    """Return the environment variables that make `show` show this file."""
    return {VARIABLE: json.dumps({"file": file, "format": format})}


def show() -> None:
    """Put the explorer on the page."""
    asked = json.loads(os.environ[VARIABLE])
    # Whatever is put on the screen while this cell runs would come to the page after it, when it is gone again.
    with capture_output(stdout=False, stderr=False):
        shown = _shown(asked["file"], asked["format"])
    display(shown)  # type: ignore[no-untyped-call]  # IPython has no types here


def _shown(file: str, format: str | None) -> ipywidgets.VBox:
    try:
        return Explorer(file if format is None else load(file, format=format))
    except Exception as error:
        errors = Errors()
        errors.show(error)
        instead = ipywidgets.VBox([errors.widget, Page()])
        instead.add_class("ctxlab")
        return instead
