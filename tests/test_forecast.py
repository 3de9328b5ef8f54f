"""The forecast says what running shows, and where it says never, it names what holds the rest."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ctxlab
from ctxlab.forecast import NOT_TEXT, PINNED, forecast, full_trace, why_no_cut
from ctxlab.messages import Conversation
from ctxlab.recovery import recover
from ctxlab.samples import sample_sessions
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import INSUFFICIENT, Summarizing
from ctxlab.truncation import Truncation
from ctxlab.vocabularies import counter
from tests.builders import pinned, tool_chain, tool_result, tool_use, user
from tests.conftest import PROJECT
from tests.strategies import conversations, filled, managers

HEURISTIC = counter("heuristic")
FIXED = Summarizing.as_of("1.63.0")
PROPORTIONAL = Summarizing(truncation=Truncation(2000, "proportional"))
EIGHTY = (user(*(filled(f"line {number} of the log\n", 5000) for number in range(80))),)


def holds(messages: Conversation, manager: SlidingWindow | Summarizing, budget: int) -> None:
    """Check a forecast against the run that it forecasts."""
    told = forecast(messages, manager, budget, HEURISTIC)
    trace = recover(messages, manager, budget, HEURISTIC)
    assert told.refused_calls == (trace.refused_calls if trace.outcome == "fits" else None)
    assert (told.refused_calls is None) == (told.smallest > budget)
    if told.refused_calls is None:
        assert told.smallest == min(trace.tokens)
        assert sum(held.tokens for held in told.held) == trace.tokens[-1]


@given(conversations(), managers(), st.integers(0, 6000))
def test_the_forecast_equals_what_running_shows(
    messages: Conversation, manager: SlidingWindow | Summarizing, budget: int
) -> None:
    holds(messages, manager, budget)


RECORDED = PROJECT.parent / "shared" / "sessions"
FORMATS = ("strands__*", "derived_converse__*", "bedrock_converse__*")


@pytest.mark.parametrize("pattern", FORMATS)
@pytest.mark.parametrize(
    "manager", [FIXED, PROPORTIONAL, SlidingWindow(window_size=10)], ids=["1.63.0", "#5791", "window"]
)
def test_it_does_on_the_recorded_sessions(shared: Path, pattern: str, manager: SlidingWindow | Summarizing) -> None:
    found = sorted((shared / "sessions").glob(pattern))
    assert found
    for path in found:
        messages = ctxlab.load(path).messages
        tokens = sum(map(HEURISTIC.message, messages))
        for part in (0.9, 0.5, 0.1):
            holds(messages, manager, int(tokens * part))


@pytest.mark.parametrize("name", sample_sessions())
def test_it_does_on_the_sample_sessions(name: str) -> None:
    messages = ctxlab.load(sample_sessions()[name]).messages
    tokens = sum(map(HEURISTIC.message, messages))
    for manager in (FIXED, PROPORTIONAL, SlidingWindow.as_of("1.35.0", window_size=4)):
        holds(messages, manager, tokens // 2)


def test_the_eighty_blocks_never_fit_under_the_fixed_rule_and_after_seven_calls_under_the_proposed_one() -> None:
    budget = counter().message(EIGHTY[0]) * 2 // 5
    never = forecast(EIGHTY, FIXED, budget, counter())
    assert never.refused_calls is None
    assert never.error == INSUFFICIENT
    assert len(never.held) == 80
    assert {held.why for held in never.held} == {
        "it is not longer than 3 × preserve_chars, below which this rule cuts nothing"
    }
    assert forecast(EIGHTY, PROPORTIONAL, budget, counter()).sentence == "It will fit after 7 refused model calls."


def test_what_is_no_text_is_named_with_its_tokens() -> None:
    mass = {"rows": ["x" * 50] * 200}
    messages = (user("go"), tool_use("1", input=mass), tool_result("1", [{"json": mass}, {"text": "done"}]))
    held = forecast(messages, PROPORTIONAL, 100, counter()).held
    assert [(part.message, part.item, part.why) for part in held[:2]] == [(1, None, NOT_TEXT), (2, 0, NOT_TEXT)]
    assert (
        "The largest thing left: message 1, block 0 (toolUse"
        in forecast(messages, PROPORTIONAL, 100, counter()).sentence
    )


def test_a_pinned_message_holds_because_it_is_pinned() -> None:
    messages = (pinned(user("x" * 9000)), user("go"))
    assert forecast(messages, PROPORTIONAL, 100, HEURISTIC).held[0].why == PINNED


def test_one_full_trace_serves_every_budget() -> None:
    full = full_trace(EIGHTY, PROPORTIONAL, HEURISTIC)
    for budget in range(0, 110_000, 5000):
        assert forecast(EIGHTY, PROPORTIONAL, budget, HEURISTIC, full) == forecast(
            EIGHTY, PROPORTIONAL, budget, HEURISTIC
        )


def test_what_fits_needs_no_refused_call() -> None:
    assert (
        forecast((user("hi"),), PROPORTIONAL, 10, HEURISTIC).sentence
        == "It fits as it is: no model call will be refused."
    )


def test_where_a_window_finds_no_place_to_cut_that_is_the_reason_and_not_a_size() -> None:
    messages = (user("go"), *tool_chain(9, "x" * 4000))
    told = forecast(messages, SlidingWindow.as_of("1.35.0", window_size=4), 100, HEURISTIC)
    assert told.held
    assert "The largest thing left" not in told.sentence
    assert told.sentence.endswith(
        "Unable to trim conversation context: no cut is possible, as each of the last 4 messages, where it may cut, is "
        "refused: 2 (it is not a user message; this release has no fallback to a tool pair (#2173)), "
        "2 (its toolUse would be cut away)."
    )


def test_where_there_is_nothing_to_search_the_size_is_the_reason() -> None:
    told = forecast((user("go"), user("x" * 9000)), SlidingWindow(), 1, HEURISTIC)
    assert told.no_cut is None
    assert "The largest thing left: message 1, block 0 (text" in told.sentence


@given(conversations(), managers())
def test_no_cut_is_only_said_where_the_policy_finds_none(
    messages: Conversation, manager: SlidingWindow | Summarizing
) -> None:
    if why_no_cut(messages, manager) is not None:
        assert isinstance(manager, SlidingWindow)
        assert not any(point.kind for point in manager.trim_points(messages))
