"""Errors of callbacks, shown in the widget itself: a widget that works alone has no other place for them."""

from collections.abc import Callable
from typing import Any

EXPECTED = (ValueError, LookupError, OSError)
"""What a person's choice may raise and whose words explain it."""


def say(error: BaseException) -> str:
    """Return an error in words: its own where it was to be expected, with its kind where it was not."""
    return f"That did not work. {error}" if isinstance(error, EXPECTED) else f"An error in ctxlab: {error!r}"


def guarded(widget: Any, callback: Callable[[Any], None]) -> Callable[[Any], None]:
    """Return a callback that shows what it raises in the widget's ``error``, and clears that when it works again."""

    def run(change: Any) -> None:
        try:
            callback(change)
            widget.error = ""
        except Exception as error:
            widget.error = say(error)

    return run
