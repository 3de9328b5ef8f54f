"""The same conversation under several policies: what each release of the SDK, and ctxlab's own policy, make of it.

A lane is a policy with its trace. Nothing is drawn here and no rule is repeated.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ctxlab.messages import Message
from ctxlab.recovery import Progress, recover
from ctxlab.reduction import Trace
from ctxlab.releases import CHANGES, NEWEST, behaviour, parse
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import LAST_KNOWN, Summarizing
from ctxlab.tokens import TokenCounter

Policy = SlidingWindow | Summarizing


@dataclass(frozen=True, slots=True)
class Lane:
    """One policy on one conversation: its ``name``, what it is ``about`` in a sentence, and the trace."""

    name: str
    about: str
    policy: Policy
    trace: Trace


def window_releases() -> tuple[str, ...]:
    """Return the releases at which the sliding window starts to behave differently, oldest first."""
    told = [change.version for change in CHANGES if parse(change.version) <= parse(NEWEST)]
    differing = [told[0]]
    for version in told[1:]:
        if _window_part(version) != _window_part(differing[-1]):
            differing.append(version)
    return tuple(differing)


def policies(
    window_size: int = 40, should_truncate_results: bool = True, pin_first: int | None = None
) -> Iterator[tuple[str, Policy]]:
    """Yield every policy worth comparing with a sentence about it: releases oldest first, careful, summarizing.

    ``pin_first`` is passed to the releases that know pins.
    """
    sentences = {change.version: change.sentence for change in CHANGES}
    for version in window_releases():
        pins = {"pin_first": pin_first} if pin_first is not None and behaviour(version).pins else {}
        yield sentences[version], SlidingWindow.as_of(version, window_size, should_truncate_results, **pins)
    yield (
        "ctxlab's own: compares ids, cuts the next result that can shrink, keeps an anchor",
        SlidingWindow.careful(window_size, should_truncate_results, pin_first),
    )
    yield "the oldest messages become a summary", Summarizing.as_of(NEWEST, pin_first=pin_first)
    yield sentences[LAST_KNOWN], Summarizing.as_of(LAST_KNOWN, pin_first=pin_first)
    yield "truncates in proportion to a text's length (#5791)", Summarizing(pin_first=pin_first)


def compare(
    messages: Sequence[Message],
    policies: Iterator[tuple[str, Policy]],
    budget: int,
    counter: TokenCounter,
    progress: Progress | None = None,
) -> tuple[Lane, ...]:
    """Return a lane a policy: the conversation recovered under a budget in tokens, with the progress of each."""
    return tuple(
        Lane(policy.name, about, policy, recover(messages, policy, budget, counter, progress=progress))
        for about, policy in policies
    )


def _window_part(version: str) -> tuple[object, ...]:
    rules = behaviour(version)
    return (rules.trim, rules.results, rules.cuts_in_routine, rules.warns, rules.clears, rules.pins)
