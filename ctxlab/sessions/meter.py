"""How far loading is: bytes read of bytes there, told to a callback that may raise to stop. Knows no format."""

from collections.abc import Callable

Progress = Callable[[int, int], object]
"""Called with the bytes read so far and all bytes; what it raises ends the load and reaches the caller."""

_STEP = 1 << 20


class Meter:
    """Counts bytes; ``total`` is 0 until it is known. About two hundred calls a file at most, and one at the end."""

    def __init__(self, progress: Progress | None = None) -> None:
        self.total = 0
        self._progress = progress
        self._done = 0
        self._told = 0

    @property
    def watched(self) -> bool:
        """Say whether anybody wants to know, for totals that cost time to find out."""
        return self._progress is not None

    def add(self, count: int) -> None:
        """Say that ``count`` more bytes were read."""
        self._done += count
        if self._progress and self._done - self._told >= max(_STEP, self.total // 200):
            self._told = self._done
            self._progress(min(self._done, self.total), self.total)

    def finish(self) -> None:
        """Say that all is read."""
        if self._progress:
            self._progress(self.total, self.total)
