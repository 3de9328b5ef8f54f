"""Work that may take long: done in a thread of its own, one piece after the other, so that a wish to stop it is heard.

A kernel that works in the thread in which messages arrive hears nothing until it is done. Whoever asks waits a moment,
so that what is quick is done when the answer goes out. No widget lives here.
"""

import contextvars
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor, wait

from IPython.core.interactiveshell import InteractiveShell

PATIENCE = 0.4
"""Seconds without a word."""


class Stopped(Exception):  # noqa: N818  it is an answer to a wish, not an error
    """Somebody asked for the work to end."""


class Worker:
    """Does pieces of work in order. ``late`` is called where one takes longer than `PATIENCE`.

    ``dropped`` is called in the place of a piece that waited when somebody asked to stop.
    """

    def __init__(self, late: Callable[[], None], dropped: Callable[[], None] = lambda: None) -> None:
        self._late, self._dropped = late, dropped
        self._thread = ThreadPoolExecutor(1, "ctxlab")
        self._last: Future[None] | None = None
        self._newest: dict[Hashable, int] = {}
        self._given = 0
        self._wishes = 0
        self._heard = 0
        self._here = threading.local()

    def do(self, work: Callable[[], object], replaces: Hashable = None) -> None:
        """Do a piece of work, and return when it is done, or when it turns out that it takes long.

        Without a page that could ask to stop it, return only when it is done. Of several pieces that wait and that
        replace the same thing, only the last is done. ``work`` does not raise, and gives no work itself.
        """
        self._given += 1
        if replaces is not None:
            self._newest[replaces] = self._given
        busy = self._last is not None and not self._last.done()
        context = contextvars.copy_context()  # the kernel looks up there which message it answers
        self._last = self._thread.submit(context.run, self._do, work, self._given, replaces, self._wishes)
        if not has_page():
            self._last.result()
        elif busy or wait([self._last], PATIENCE).not_done:
            self._late()

    @property
    def is_here(self) -> bool:
        """Whether this is asked from within work."""
        return getattr(self._here, "working", False)

    def stop(self) -> None:
        """Ask for the work to end, and for what waits not to begin; `check` hears it."""
        self._wishes += 1

    def check(self) -> None:
        """Raise Stopped once where it was asked for; to be called from within work, as often as can be."""
        if self._heard < self._wishes:
            self._heard = self._wishes
            raise Stopped

    def _do(self, work: Callable[[], object], number: int, replaces: Hashable, wishes: int) -> None:
        if replaces is not None and self._newest[replaces] != number:
            return
        self._here.working = True
        # A wish that nobody heard is over with the work that it was for.
        self._heard = self._wishes
        if wishes < self._wishes:
            self._dropped()
        else:
            work()


def has_page() -> bool:
    """Return whether this is a kernel, with a page that sends messages while it works."""
    if not InteractiveShell.initialized():
        return False
    return hasattr(InteractiveShell.instance(), "kernel")
