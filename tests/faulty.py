"""Pairs of policies of which one is wrong, and conversations long enough for what goes wrong to be a small part."""

from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from ctxlab.comparison import Policy
from ctxlab.messages import Block, Conversation, Message
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import Summarizing
from tests.strategies import well_formed_conversations

STEPS = (
    ("1.28.0", "1.29.0"),
    ("1.34.1", "1.35.0"),
    ("1.35.0", "1.37.0"),
    ("1.37.0", "1.38.0"),
    ("1.38.0", "1.40.0"),
    ("1.42.0", "1.43.0"),
)
"""Releases on both sides of a change that a sliding window shows."""


def window_pairs(window_size: int, **options: Any) -> Iterator[tuple[Policy, Policy | None]]:
    """Yield every wrong and right policy worth trying on a session: releases, the careful one, none."""
    for wrong, right in STEPS:
        yield SlidingWindow.as_of(wrong, window_size, **options), SlidingWindow.as_of(right, window_size, **options)
    yield SlidingWindow.as_of("1.62.0", window_size, **options), SlidingWindow.careful(window_size, **options)
    yield SlidingWindow.as_of("1.62.0", window_size, **options), None


def summarizing_pairs(ratio: float = 0.3, recent: int = 10) -> Iterator[tuple[Policy, Policy | None]]:
    """Yield wrong and right policies that summarize."""
    yield Summarizing.as_of("1.6.0", ratio, recent), Summarizing.as_of("1.7.0", ratio, recent)
    yield Summarizing.as_of("1.62.0", ratio, recent), Summarizing(ratio, recent)


@st.composite
def policy_pairs(draw: st.DrawFn) -> tuple[Policy, Policy | None]:
    """A wrong policy and a right one, or none."""
    if draw(st.integers(0, 5)) == 0:
        return draw(st.sampled_from(list(summarizing_pairs(recent=draw(st.sampled_from([1, 2, 10]))))))
    truncates = draw(st.booleans())
    window = draw(st.sampled_from([0, 1, 2, 4, 6]))
    return draw(st.sampled_from(list(window_pairs(window, should_truncate_results=truncates))))


@st.composite
def long_conversations(draw: st.DrawFn, least: int = 60) -> Conversation:
    """At least so many messages: a random conversation again and again, with ids of its own each time."""
    once = draw(well_formed_conversations(max_turns=4))
    messages: list[Message] = []
    while len(messages) < least:
        if len(messages) % 2:
            messages.append({"role": "assistant", "content": [{"text": "And then?"}]})
        messages += [_again(message, f"{len(messages)}-") for message in once]
    return tuple(messages)


def _again(message: Message, prefix: str) -> Message:
    return {**message, "content": [_renamed(block, prefix) for block in message["content"]]}


def _renamed(block: Block, prefix: str) -> Block:
    return {
        kind: {**value, "toolUseId": prefix + value["toolUseId"]} if kind in ("toolUse", "toolResult") else value
        for kind, value in block.items()
    }
