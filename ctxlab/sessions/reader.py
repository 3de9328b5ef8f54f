"""The shape of a reader: one name, one detector, one function. A format is a module that makes one of these."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ctxlab.sessions.session import Claim, View
from ctxlab.sessions.source import Source


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader found: a name for people, the views in the order to offer them, and the one to show first."""

    name: str
    views: Mapping[str, View]
    view: str


@dataclass(frozen=True, slots=True)
class Reader:
    """A format. ``recognise`` claims a source or passes; ``read`` is called after a claim, or because a person said so.

    ``read`` raises SessionFormatError where the source does not hold what the format needs, and writes what it
    repairs or skips into the book of the source.
    """

    name: str
    reads: str
    recognise: Callable[[Source], Claim | None]
    read: Callable[[Source], Reading]
