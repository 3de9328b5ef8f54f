"""Which policy does right what another one does wrong with a session, and the other way round: which does it wrong.

Policies are tried one after the other, each as `find_fault` judges it; later releases come first, oldest first, then
ctxlab's own. Nothing is reduced, shown or written here.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from ctxlab.comparison import Policy, window_releases
from ctxlab.expectations import Call
from ctxlab.faults import MAX_CALLS, Fault, find_fault
from ctxlab.messages import Message
from ctxlab.releases import CHANGES, NEWEST, behaviour, parse
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import LAST_KNOWN, Summarizing
from ctxlab.truncation import Rule, Truncation

SUMMARY_FIELDS = frozenset({"summary_role", "summary_warns", "pins", "fallback"})
"""What a release must change to be worth choosing for summarizing."""

ALSO = ("1.34.1",)
"""Releases to offer besides those that differ: the one that #2173 was compared with."""

CALLS: tuple[Call, ...] = ("overflow", "routine")

Progress = Callable[[str, int, int], object]
"""Called with what is looked for, how many policies were tried, and how many there are; may raise to stop."""


class Right(NamedTuple):
    """The ``policy`` that does it right, None where there is none; on which ``call``, and how many are looked at."""

    policy: Policy | None
    call: Call | None
    max_calls: int


@cache
def releases() -> tuple[str, ...]:
    """Return the releases to choose from, newest first: those that differ, the newest, and ALSO."""
    return tuple(sorted({*window_releases(), NEWEST, *ALSO}, key=parse, reverse=True))


@cache
def summary_releases() -> tuple[str, ...]:
    """Return the releases to choose from for summarizing, newest first."""
    differing = {change.version for change in CHANGES if SUMMARY_FIELDS & change.fields.keys()}
    return tuple(sorted({*differing, CHANGES[0].version, NEWEST}, key=parse, reverse=True))


def better(policy: Policy) -> Iterator[Policy]:
    """Yield the policies that were made to do it better: the releases that came later, oldest first, and ctxlab's."""
    own = parse(policy.release)
    yield from (one for one in reversed(_others(policy)) if parse(one.release) > own)
    if isinstance(policy, Summarizing):
        yield replace(policy, release=LAST_KNOWN, truncation=_truncation(policy, "proportional"))
    elif not policy.is_careful and policy.window_size >= 0:
        yield SlidingWindow.careful(policy.window_size, policy.should_truncate_results, policy.pin_first)


def alternatives(policy: Policy) -> dict[str, Policy]:
    """Return the policies that may do right what one does wrong, by release, "careful" or "proportional".

    Later releases come first, then ctxlab's own, then earlier releases.
    """
    own = parse(policy.release)
    found = [*better(policy), *(one for one in _others(policy) if parse(one.release) < own)]
    return {_word(one): one for one in found}


def find_right(
    messages: Sequence[Message],
    wrong: Policy,
    limits: Sequence[int] = (MAX_CALLS,),
    calls: Sequence[Call] = CALLS,
    expectation: str | None = None,
    progress: Progress | None = None,
) -> Right:
    """Return the first policy that does right what ``wrong`` does wrong, within the first of the ``limits`` (of calls).

    An overflow counts before routine management. Where there is none, the last limit and each of the calls are left.
    """
    offered = list(better(wrong))
    for limit in limits:
        for number, call in enumerate(calls):
            for tried, one in enumerate(offered):
                if progress is not None:
                    done = number * len(offered) + tried
                    progress("Looking for a release that does it right", done, len(calls) * len(offered))
                if fault_between(messages, wrong, one, call, expectation, limit):
                    return Right(one, call, limit)
    return Right(None, calls[0] if len(calls) == 1 else None, limits[-1])


def find_wrong(messages: Sequence[Message], right: Policy, progress: Progress | None = None) -> Fault | None:
    """Return what another release does wrong that ``right`` does right, the newest first; None where none does."""
    offered = _others(right)
    for tried, one in enumerate(offered):
        if progress is not None:
            progress("Looking for a release that does it wrong", tried, len(offered))
        fault = fault_between(messages, one, right)
        if fault is not None and fault.expectation.id != "same-result":
            return fault
    return None


def fault_between(
    messages: Sequence[Message],
    wrong: Policy,
    right: Policy,
    call: Call | None = None,
    expectation: str | None = None,
    limit: int = MAX_CALLS,
) -> Fault | None:
    """Return the fault that `find_fault` finds; None too where the two cannot be told apart by their release alone."""
    try:
        return find_fault(messages, wrong, right, call, expectation, limit) if limit else None
    except ValueError:
        return None


def _others(policy: Policy) -> tuple[Policy, ...]:
    """Return a policy as of the other releases, newest first, without those that do not know its parameters."""
    if isinstance(policy, SlidingWindow) and policy.is_careful:
        return ()
    offered = summary_releases() if isinstance(policy, Summarizing) else releases()
    found = []
    for release in offered:
        if release != policy.release:
            try:
                found.append(_as_of(policy, release))
            except ValueError:
                continue
    return tuple(found)


def _as_of(policy: Policy, release: str) -> Policy:
    if isinstance(policy, Summarizing):
        rule = behaviour(release, LAST_KNOWN).fallback
        return replace(policy, release=release, truncation=_truncation(policy, rule) if rule else None)
    return replace(policy, release=release)


def _truncation(policy: Summarizing, rule: Rule) -> Truncation:
    return replace(policy.truncation or Truncation(), rule=rule)


def _word(policy: Policy) -> str:
    if isinstance(policy, SlidingWindow):
        return "careful" if policy.is_careful else policy.release
    is_own = policy.truncation is not None and policy.truncation.rule == "proportional"
    return "proportional" if is_own else policy.release
