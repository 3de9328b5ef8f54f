"""What goes wrong with a session under one policy and not under another: found here, so that it can be shown elsewhere.

A fault is about calls of a manager, not about tokens: which call, how often, and what is expected afterwards. So it can
be repeated with the real SDK, and in a conversation whose words were replaced. Nothing is reduced or written here.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice, repeat
from typing import NamedTuple

from ctxlab.comparison import Policy
from ctxlab.expectations import EXPECTATIONS, Call, Expectation
from ctxlab.invariants import CONVERSATION_RULES, broken_rules
from ctxlab.messages import Conversation, Message, blocks
from ctxlab.reduction import ContextWindowOverflow
from ctxlab.releases import NEWEST, parse
from ctxlab.replay import apply
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import Summarizing
from ctxlab.survey import Survey

SUMMARY = "summary"
"""The text that stands in for every summary, here and in a failing test."""

MAX_CALLS = 5_000
"""Calls after which a search for a fault ends."""


class Played(NamedTuple):
    """The conversation after one call of a manager, and what the call raised, if it did."""

    messages: Conversation
    error: str | None


@dataclass(frozen=True, slots=True)
class Fault:
    """``wrong`` breaks an expectation after the ``calls``-th call on ``messages``, and ``right`` does not.

    ``right`` is None where nothing is known that does it right. ``error`` is what ``wrong`` raised.
    """

    wrong: Policy
    right: Policy | None
    call: Call
    calls: int
    expectation: Expectation
    error: str | None = None

    @property
    def sentence(self) -> str:
        """What goes wrong, in words."""
        when = "In routine management" if self.call == "routine" else "On an overflow"
        nth = f", at call {self.calls:,}" if self.calls > 1 else ""
        error = f" “{self.error}”" if self.error else ""
        right = f"; {_named(self.right)} does not" if self.right else ""
        return f"{when}{nth}, {self.wrong.name} {self.expectation.broken}{error}{right}."

    def shows(self, messages: Conversation) -> int | None:
        """Return after how many calls, at most as many as here, the fault shows in another conversation; or None."""
        found = _shown([self], messages, self.calls)
        return found.calls if found else None

    def fairly(self, like: Conversation) -> Callable[[Conversation], bool]:
        """Return whether it shows in a conversation that breaks no rule which the conversation ``like`` keeps."""
        broken = broken_rules(like)
        return lambda messages: self.shows(messages) is not None and broken_rules(messages) <= broken


def find_fault(
    messages: Sequence[Message],
    wrong: Policy,
    right: Policy | None = None,
    call: Call | None = None,
    expectation: str | None = None,
    max_calls: int = MAX_CALLS,
) -> Fault | None:
    """Return the gravest thing that ``wrong`` does to a conversation and ``right`` does not, None where there is none.

    Without ``call`` overflows are tried before routine management, without ``expectation`` all of `EXPECTATIONS` in
    their order. Without ``right`` what is broken must have been whole before. Raises ValueError where the two policies
    cannot be told apart by their release alone, or the messages are not of the shape that the SDK stores.
    """
    start = tuple(messages)
    _check_shape(start)
    wrong, right = _plain(wrong), _plain(right) if right else None
    _check_pair(wrong, right)
    if expectation is not None and expectation not in EXPECTATIONS:
        raise ValueError(f"expectation must be one of {', '.join(EXPECTATIONS)}, got {expectation!r}")
    asked = [EXPECTATIONS[expectation]] if expectation else list(EXPECTATIONS.values())
    if right is None and not any(each.alone for each in asked):
        raise ValueError(f"{expectation!r} needs a right policy to compare with: a release, or the careful one")
    calls: tuple[Call, ...] = (call,) if call else ("overflow", "routine")
    for kind in calls:
        possible = [
            Fault(wrong, right, kind, max_calls, each)
            for each in asked
            if kind in each.calls and (right is not None or each.alone) and _has_meaning(each, wrong)
        ]
        if found := _shown(possible, start, max_calls):
            return found
    return None


def play(policy: Policy, messages: Conversation, call: Call) -> Iterator[Played]:
    """Yield what a policy makes of a conversation call by call, up to an error or to where nothing changes any more."""
    survey = Survey()
    for number in count(1):
        before = messages
        try:
            if call == "routine":
                edits = policy.manage(messages).edits
            else:
                edits = policy.reduce(messages, True, number, survey).edits
        except ContextWindowOverflow as overflow:
            yield Played(overflow.round.messages if overflow.round else messages, str(overflow))
            return
        for edit in edits:
            messages = apply(messages, edit)
            survey.follow(edit, messages)
        yield Played(messages, None)
        if call == "routine" or messages == before:
            return


def options(policy: Policy) -> dict[str, int | float | bool | None]:
    """Return what a policy passes to the SDK's own manager, by the SDK's names."""
    if isinstance(policy, SlidingWindow):
        names = ("window_size", "should_truncate_results", "pin_first")
    else:
        names = ("summary_ratio", "preserve_recent_messages", "pin_first")
    return {name: getattr(policy, name) for name in names}


def is_released(policy: Policy) -> bool:
    """Say whether a release that can be installed does what the policy does."""
    if isinstance(policy, SlidingWindow):
        return not policy.is_careful
    return parse(policy.release) <= parse(NEWEST) and policy.truncation is None


def said(messages: Conversation) -> list[tuple[object, object]]:
    """Return role and content of each message: all that counts when two conversations are compared."""
    return [(message.get("role"), message.get("content")) for message in messages]


def _shown(possible: Sequence[Fault], start: Conversation, max_calls: int) -> Fault | None:
    """Return the first of these faults that shows, with the number of the call; all are of one wrong and right policy.

    ``possible`` has the gravest first: a later one counts only where none before it shows at any call.
    """
    whole = {rule for rule in CONVERSATION_RULES if rule not in broken_rules(start)}
    left = [
        fault for fault in possible if fault.expectation.id in whole or fault.expectation.id not in CONVERSATION_RULES
    ]
    if not left:
        return None
    one = left[0]
    shown: Fault | None = None
    wrong = islice(play(one.wrong, start, one.call), max_calls)
    right = play(one.right, start, one.call) if one.right else repeat(None)
    for number, (wrongly, rightly) in enumerate(zip(wrong, right, strict=False), 1):
        if not left or (rightly is not None and rightly.error is not None):
            break
        if rightly is not None and wrongly == rightly:
            continue  # what is the same is as right or wrong as the other
        for at, fault in enumerate(left):
            if _breaks(fault, start, wrongly, rightly):
                shown = replace(fault, calls=number, error=wrongly.error)
                left = left[:at]
                break
    return shown


def _breaks(fault: Fault, start: Conversation, wrongly: Played, rightly: Played | None) -> bool:
    """Say whether the wrong policy breaks the expectation and the right one, if there is one, does not."""
    expectation = fault.expectation
    if expectation.id == "no-error":
        # Where routine management finds nothing to do, doing nothing is right.
        moved = rightly is not None and (fault.call == "routine" or rightly.messages != start)
        return wrongly.error is not None and moved
    if wrongly.error is not None:
        return False
    if expectation.id == "same-result":
        return rightly is not None and said(wrongly.messages) != said(rightly.messages)
    window = fault.wrong.window_size if isinstance(fault.wrong, SlidingWindow) else None
    holds = [expectation.holds(list(start), list(played.messages), window) for played in (wrongly, rightly) if played]
    return not holds[0] and all(holds[1:])


def _named(policy: Policy) -> str:
    return "ctxlab's careful policy" if isinstance(policy, SlidingWindow) and policy.is_careful else policy.name


def _has_meaning(expectation: Expectation, policy: Policy) -> bool:
    # Summarizing takes messages away whether results are long or not, and knows no window.
    return isinstance(policy, SlidingWindow) or expectation.id not in ("fits-window", "largest-first")


def _plain(policy: Policy) -> Policy:
    """Return the policy with the summary that a failing test puts in."""
    return replace(policy, summarize=lambda _: SUMMARY) if isinstance(policy, Summarizing) else policy


def _check_pair(wrong: Policy, right: Policy | None) -> None:
    if not is_released(wrong):
        raise ValueError(f"what is wrong must be a release up to {NEWEST}, got {wrong.name}")
    if right is None:
        return
    if type(right) is not type(wrong):
        raise ValueError(f"wrong and right must be managers of one kind, got {wrong.name} and {right.name}")
    if options(right) != options(wrong):
        raise ValueError(f"wrong and right must have the same options, got {options(wrong)} and {options(right)}")


def _check_shape(messages: Conversation) -> None:
    """Refuse what the SDK would not store: the checks, and the real manager, read it without asking."""
    for index, message in enumerate(messages):
        content = message.get("content")
        shaped = isinstance(message.get("role"), str) and isinstance(content, list)
        if not shaped or not all(_is_shaped(block) for block in blocks(message)):
            raise ValueError(
                f"message {index} is not of the shape that the SDK stores: a role, and a list of blocks keyed by kind"
            )


def _is_shaped(block: object) -> bool:
    if not isinstance(block, dict) or not isinstance(block.get("text", ""), str):
        return False
    if not isinstance(block.get("toolUse", {}), dict) or not isinstance(block.get("toolResult", {}), dict):
        return False
    items = block.get("toolResult", {"content": []}).get("content")
    return isinstance(items, list) and all(
        isinstance(item, dict) and isinstance(item.get("text", ""), str) for item in items
    )
