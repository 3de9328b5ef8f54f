"""Seeded choices that come out the same on every Python: only `Random.random()` is promised to stay as it is."""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """A reproducible source of choices; equal seeds give equal choices."""

    def __init__(self, seed: str) -> None:
        self._random = Random(seed)

    def between(self, low: int, high: int) -> int:
        """Return a whole number from low to high, both included."""
        return low + int(self._random.random() * (high - low + 1))

    def pick(self, choices: Sequence[T]) -> T:
        """Return one of the choices."""
        return choices[self.between(0, len(choices) - 1)]

    def token(self, length: int, alphabet: str) -> str:
        """Return `length` characters of the alphabet."""
        return "".join(self.pick(alphabet) for _ in range(length))
