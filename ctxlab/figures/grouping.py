"""How many messages one bar or one mark stands for, so that ten thousand can be read and none is left out unsaid."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

MOST_BARS = 400
"""Messages up to which each has a bar of its own."""

GROUPS = 250
"""Groups, at most, beyond that."""

MARKS = 120
"""Marks, at most, that stand side by side without touching on a page 900 px wide."""


@dataclass(frozen=True, slots=True)
class Groups:
    """The messages from ``first`` up to, not including, ``last`` in groups of ``size`` (the last may be smaller)."""

    first: int
    last: int
    size: int

    @classmethod
    def bars(cls, first: int, last: int) -> "Groups":
        """Return one group a message up to MOST_BARS messages, else at most GROUPS groups of one size."""
        count = max(last - first, 0)
        return cls(first, last, 1 if count <= MOST_BARS else -(-count // GROUPS))

    @classmethod
    def marks(cls, first: int, last: int) -> "Groups":
        """Return at most MARKS groups of one size."""
        return cls(first, last, max(1, -(-max(last - first, 0) // MARKS)))

    @property
    def starts(self) -> npt.NDArray[np.int64]:
        """The first message of each group."""
        return np.arange(self.first, self.last, self.size)

    @property
    def ends(self) -> npt.NDArray[np.int64]:
        """The message after each group."""
        return np.minimum(self.starts + self.size, self.last)

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """The number of messages in each group."""
        return self.ends - self.starts

    @property
    def centres(self) -> npt.NDArray[np.float64]:
        """Where the bar of each group stands on an axis of messages."""
        return (self.starts + self.ends - 1) / 2

    def __len__(self) -> int:
        return len(self.starts)

    def sums(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the sums over each group of values given one a message (axis 0) for the whole conversation."""
        if self.size == 1:
            return values[self.first : self.last]
        return np.add.reduceat(values[self.first : self.last], self.starts - self.first, axis=0)

    def of(self, message: int) -> int:
        """Return the group that a message is in."""
        return (message - self.first) // self.size

    def sentence(self, total: int, more: str = "drag across the picture to see each message") -> str:
        """Say what the bars show, as a sentence for the reader; ``more`` is how to see more where they are groups."""
        count = self.last - self.first
        shown = f"{count:,} message{'s' if count != 1 else ''}"
        of_all = shown if count == total else f"messages {self.first:,} to {self.last - 1:,} of {total:,}"
        if self.size == 1:
            return f"Showing {of_all}, a bar each."
        return f"Showing {of_all} in {len(self):,} groups of {self.size:,}: {more}."
