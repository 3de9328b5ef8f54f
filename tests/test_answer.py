"""The answer before any detail: what happens, from which release to which, and why a release is stuck."""

from dataclasses import replace

import pytest

import ctxlab
from ctxlab.comparison import Lane, compare, policies, window_releases
from ctxlab.figures.answer import answer, lane_words, release_ranges
from ctxlab.figures.policies import verdicts
from ctxlab.messages import Conversation
from ctxlab.reduction import Outcome
from ctxlab.releases import LAST_BEFORE, behaviour, parse
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import Summarizing
from ctxlab.tokens import HEURISTIC, ledger
from tests.builders import assistant, review, tool_chain, user

STUCK = (user("go"), *tool_chain(9, "x" * 300))


def lanes(messages: Conversation = STUCK, budget: int = 100, window_size: int = 4) -> tuple[Lane, ...]:
    return compare(messages, policies(window_size), budget, HEURISTIC)


def ended(outcomes: dict[str, Outcome]) -> list[Lane]:
    """Lanes of these releases that end so, whatever they did before."""
    trace = lanes()[0].trace
    return [Lane(name, "", SlidingWindow.as_of(name, 4), replace(trace, outcome=end)) for name, end in outcomes.items()]


def test_the_ranges_of_2173_are_told_in_a_sentence() -> None:
    assert release_ranges(lanes()) == (
        "With the sliding window it fits up to 1.34.1, is stuck from 1.35.0 to 1.36.0 (#2087, #2173), "
        "and fits from 1.37.0 on (#2174)."
    )


@pytest.mark.parametrize(
    ("outcomes", "said"),
    [
        ({}, ""),
        (dict.fromkeys(window_releases(), "fits"), "With the sliding window it fits under every release."),
        (dict.fromkeys(window_releases(), "stuck"), "With the sliding window it is stuck under every release."),
        ({"1.36.0": "stuck"}, "With the sliding window it is stuck from 1.35.0 to 1.36.0."),
        ({"1.37.0": "stuck"}, "With the sliding window it is stuck in 1.37.0."),
        # Nobody asked what is between them.
        (
            {"1.62.0": "fits", "1.20.0": "fits", "1.34.1": "gave up"},
            "With the sliding window it fits up to 1.28.0, gives up from 1.29.0 to 1.34.1 (#1756), "
            "and fits from 1.44.0 on.",
        ),
    ],
)
def test_a_lane_stands_for_all_releases_that_behave_like_it(outcomes: dict[str, Outcome], said: str) -> None:
    assert release_ranges(ended(outcomes)) == said


def test_lanes_with_other_parameters_and_other_policies_are_left_out() -> None:
    other = ended({"1.35.0": "fits"})[0]
    others = [
        replace(other, policy=SlidingWindow.as_of("1.35.0", 40)),
        replace(other, policy=SlidingWindow.careful(4)),
        replace(other, policy=Summarizing()),
    ]
    assert release_ranges([*ended({"1.62.0": "stuck"}), *others]) == (
        "With the sliding window it is stuck from 1.44.0 on."
    )
    assert release_ranges(others[1:]) == ""


def test_the_release_before_a_change_still_behaves_as_before() -> None:
    assert list(LAST_BEFORE) == list(window_releases())[1:]
    for (change, before), old in zip(LAST_BEFORE.items(), window_releases(), strict=False):
        assert parse(before) < parse(change)
        assert behaviour(before) != behaviour(change)
        assert parse(old) <= parse(before)


def test_the_answer_is_the_sentence_of_the_explorer() -> None:
    manager, bill = SlidingWindow.as_of("1.35.0", 4), ledger(STUCK, HEURISTIC)
    trace = ctxlab.recover(STUCK, manager, 100, HEURISTIC)
    shown = ctxlab.Explorer(ctxlab.Session.of(STUCK), budget=100, release="1.35.0", window_size=4, counter="heuristic")
    told = answer(trace, manager, bill, verdicts(STUCK, manager, HEURISTIC))
    assert told == shown.findings.story
    assert "where the search starts, every message is refused" in told.text


def test_a_release_that_is_stuck_says_why_and_the_others_what_they_are_about() -> None:
    for lane in lanes():
        words = lane_words(lane, HEURISTIC)
        if lane.name == "Strands 1.35.0":
            assert words.startswith("Unable to trim conversation context: no cut is possible, as each of the last 4")
            assert "this release has no fallback to a tool pair (#2173)" in words
        elif lane.trace.outcome == "fits":
            assert words == lane.about


def test_where_a_cut_would_not_help_the_size_of_what_is_left_is_the_reason() -> None:
    messages = (user("go"), assistant("x" * 9000))
    words = {lane.name: lane_words(lane, HEURISTIC) for lane in lanes(messages)}
    assert "The largest thing left: message 1, block 0 (text" in words["Strands 1.44.0"]
    assert "The largest thing left: message 1, block 0 (text" in words["summarizing 1.62.0"]
    assert "fits" not in release_ranges(lanes(review("x" * 9000), 1))
