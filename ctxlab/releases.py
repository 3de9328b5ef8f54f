"""The releases of the Strands Agents SDK as data: what changed when, and what each one does.

Truth is the released package: where this table and a wheel differ, the wheel is right (tests run the wheels).
Nothing is decided here at run time; managers read a `Behaviour`.
"""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

from ctxlab.trimming import TrimRule
from ctxlab.truncation import Rule


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What a release's managers do, as far as releases differ.

    ``results``: which tool results an overflow cuts, and how. ``cuts_in_routine``: also without an overflow.
    ``warns``: routine management that finds no trim point warns instead of raising. ``clears``: window_size 0 drops
    everything, a negative one is a ValueError. ``pins``: pinned messages exist. ``summary_role``: the role of a
    summary. ``summary_warns``: without an overflow a failed summary warns instead of raising. ``fallback``: the
    truncation rule when summarizing lacks messages.
    """

    trim: TrimRule
    results: Literal["replace newest", "cut oldest"]
    cuts_in_routine: bool
    warns: bool
    clears: bool
    pins: bool
    summary_role: Literal["user", "assistant"]
    summary_warns: bool
    fallback: Rule | None


@dataclass(frozen=True, slots=True)
class Change:
    """A release that behaves differently from the one before: its sentence, its numbers and the fields that change."""

    version: str
    sentence: str
    numbers: tuple[int, ...]
    fields: dict[str, Any]


FIRST = Behaviour(
    trim=TrimRule(user_first=False, tool_pair="none"),
    results="replace newest",
    cuts_in_routine=True,
    warns=False,
    clears=False,
    pins=False,
    summary_role="assistant",
    summary_warns=False,
    fallback=None,
)
"""What 1.0.0 does."""

CHANGES: tuple[Change, ...] = (
    Change("1.0.0", "any role may come first; the newest tool results become an error text", (), {}),
    Change("1.7.0", "a summary is a user message", (), {"summary_role": "user"}),
    Change("1.29.0", "tool results keep 200 characters at each end, oldest first", (1756,), {"results": "cut oldest"}),
    Change(
        "1.35.0",
        "a plain user message must come first: tool-heavy conversations cannot be trimmed",
        (2087, 2173),
        {"trim": TrimRule(user_first=True, tool_pair="none"), "warns": True},
    ),
    Change(
        "1.37.0",
        "falls back to a tool pair where no plain user message is left",
        (2174,),
        {"trim": TrimRule(user_first=True, tool_pair="not user")},
    ),
    Change("1.38.0", "window_size 0 clears everything, a negative one is an error", (2208,), {"clears": True}),
    Change(
        "1.40.0",
        "tool results are cut on overflow only",
        (702, 2239),
        {"cuts_in_routine": False, "summary_warns": True},
    ),
    Change("1.43.0", "messages can be pinned", (2196,), {"pins": True}),
    Change(
        "1.44.0",
        "the first message of a tool pair may have any role",
        (),
        {"trim": TrimRule(user_first=True, tool_pair="any role")},
    ),
    Change("1.57.0", "a summary holds text only", (), {}),
    Change("1.62.0", "the newest release that can be installed", (), {}),
    Change(
        "1.63.0",
        "summarizing falls back to truncating the largest texts",
        (5603, 5691),
        {"fallback": "fixed"},
    ),
)
"""Every release at which a manager starts to behave differently, oldest first."""

NEWEST = "1.62.0"
"""The newest release that can be installed."""

PINS_FROM = "1.43.0"

LAST_BEFORE = {
    "1.29.0": "1.28.0",
    "1.35.0": "1.34.1",
    "1.37.0": "1.36.0",
    "1.38.0": "1.37.0",
    "1.40.0": "1.39.0",
    "1.43.0": "1.42.0",
    "1.44.0": "1.43.0",
}
"""The release that came last before one at which the sliding window starts to behave differently, as on PyPI."""


def parse(version: str) -> tuple[int, ...]:
    """Return a version as numbers, for comparison. Raises ValueError quoting what is no version."""
    parts = str(version).split(".")
    if len(parts) != 3 or not all(part.isascii() and part.isdigit() for part in parts):
        raise ValueError(f"a release is written like {NEWEST}, got {version!r}")
    return tuple(int(part) for part in parts)


@cache
def behaviour(version: str, last: str = NEWEST) -> Behaviour:
    """Return what a release does: every change up to it applied to 1.0.0.

    Between the listed releases the behaviour is the same. Raises ValueError for a version before 1.0.0 or
    after ``last``.
    """
    if not parse(CHANGES[0].version) <= parse(version) <= parse(last):
        raise ValueError(f"known releases go from {CHANGES[0].version} to {last}, got {version!r}")
    known = FIRST
    for change in CHANGES:
        if parse(change.version) <= parse(version):
            known = replace(known, **change.fields)
    return known


def latest_change(version: str) -> Change:
    """Return the last listed change at or before a release: what to tell a person about it."""
    return next(change for change in reversed(CHANGES) if parse(change.version) <= parse(version))
