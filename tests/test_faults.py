"""What goes wrong, and what a maintainer may expect instead: the checks that a failing test takes along are rules."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxlab import expectations
from ctxlab.checks import check_routine
from ctxlab.comparison import Policy
from ctxlab.expectations import EXPECTATIONS, Call
from ctxlab.faults import find_fault, play
from ctxlab.invariants import CONVERSATION_RULES, broken_rules
from ctxlab.messages import Conversation
from ctxlab.reduction import ContextWindowOverflow
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import Summarizing
from tests.builders import assistant, pinned, review, tool_chain, tool_result, tool_use, user
from tests.faulty import policy_pairs
from tests.strategies import managers, sliding_windows, well_formed_conversations

RULES = {
    "starts-with-user": expectations.starts_with_user,
    "no-orphan-result": expectations.has_no_orphan_result,
    "no-orphan-use": expectations.has_no_orphan_use,
    "roles-alternate": expectations.alternates_roles,
}


@st.composite
def torn(draw: st.DrawFn) -> Conversation:
    """What is left of a well-formed conversation when some of its messages are gone."""
    whole = draw(well_formed_conversations())
    return tuple(message for message in whole if draw(st.booleans()))


@pytest.mark.parametrize("rule", RULES)
@given(messages=torn())
@settings(max_examples=60)
def test_a_check_that_a_test_takes_along_is_the_rule_itself(rule: str, messages: Conversation) -> None:
    assert RULES[rule](list(messages)) == (rule not in broken_rules(messages))  # type: ignore[arg-type]  # plain dicts


@given(well_formed_conversations(), sliding_windows())
def test_keeping_what_stays_is_the_rule_about_routine(messages: Conversation, policy: SlidingWindow) -> None:
    try:
        done = policy.manage(messages)
    except ContextWindowOverflow:
        return
    broken = {violation.rule for violation in check_routine(messages, done)}
    kept = EXPECTATIONS["routine-keeps-content"].holds(list(messages), list(done.messages), policy.window_size)
    assert kept == ("routine-keeps-content" not in broken)


def test_every_rule_that_is_expected_goes_by_its_own_name() -> None:
    assert {each for each in EXPECTATIONS if each in CONVERSATION_RULES} == set(RULES)


@settings(max_examples=60)
@given(well_formed_conversations(), managers(), st.sampled_from(["overflow", "routine"]))
def test_playing_is_calling_the_manager_again_and_again(messages: Conversation, policy: Policy, call: Call) -> None:
    state = messages
    for number, played in enumerate(play(policy, messages, call), 1):
        try:
            done = policy.reduce(state, True, number) if call == "overflow" else policy.manage(state)
            state, error = done.messages, None
        except ContextWindowOverflow as overflow:
            state, error = (overflow.round.messages if overflow.round else state), str(overflow)
        assert played == (state, error)
        if number > 30:
            break


@given(well_formed_conversations(pins=True), policy_pairs())
def test_a_fault_shows_with_the_wrong_policy_and_not_with_the_right_one(
    messages: Conversation, policies: tuple[Policy, Policy | None]
) -> None:
    wrong, right = policies
    fault = find_fault(messages, wrong, right)
    if fault is None:
        return
    assert fault.shows(messages) == fault.calls
    if right is not None and fault.right is not None:
        # The right one in place of the wrong one shows nothing, whatever stands against it.
        assert replace(fault, wrong=fault.right).shows(messages) is None
        assert replace(fault, wrong=fault.right, right=None).shows(messages) is None or not fault.expectation.alone


@given(well_formed_conversations(pins=True), sliding_windows())
@settings(max_examples=50)
def test_a_policy_does_nothing_that_it_does_not_do_itself(messages: Conversation, policy: SlidingWindow) -> None:
    assert find_fault(messages, policy, policy) is None


def test_the_fault_of_2173_is_that_it_is_stuck() -> None:
    fault = find_fault(review(), SlidingWindow.as_of("1.35.0", 4), SlidingWindow.as_of("1.37.0", 4))
    assert fault is not None
    assert (fault.expectation.id, fault.call, fault.calls) == ("no-error", "overflow", 1)
    assert fault.sentence == (
        "On an overflow, Strands 1.35.0 is stuck: it raises “Unable to trim conversation context!”; "
        "Strands 1.37.0 does not."
    )


@pytest.mark.parametrize(
    ("wrong", "right", "call", "messages", "expected"),
    [
        ("1.38.0", "1.40.0", None, (user("q"), *tool_chain(4, "x" * 500)), "routine-keeps-content"),
        ("1.37.0", "1.38.0", "routine", (user("q"),), "fits-window"),
        ("1.34.1", "1.35.0", None, (user("q"), assistant("a")) * 3 + (user("b"),), "starts-with-user"),
        ("1.42.0", "1.43.0", None, (pinned(user("q")), assistant("a"), user("b"), assistant("c")), "pins-kept"),
        ("1.28.0", "1.29.0", "overflow", (user("q"), *tool_chain(2, "x" * 50)), "same-result"),
    ],
)
def test_each_change_is_known_by_what_it_repaired(
    wrong: str, right: str, call: Call | None, messages: Conversation, expected: str
) -> None:
    window = 0 if expected == "fits-window" else 2
    fault = find_fault(messages, SlidingWindow.as_of(wrong, window), SlidingWindow.as_of(right, window), call)
    assert fault is not None
    assert fault.expectation.id == expected


def test_a_rule_can_be_broken_without_anybody_who_does_it_right() -> None:
    messages = (user("q"), tool_use("1"), tool_result("1", "x"), tool_use("2"), tool_result("2", "x" * 900))
    fault = find_fault(messages, SlidingWindow.as_of("1.62.0", 4), expectation="largest-first")
    assert fault is not None
    assert fault.right is None


@pytest.mark.parametrize(
    ("wrong", "right", "says"),
    [
        (SlidingWindow.careful(4), SlidingWindow.as_of("1.37.0", 4), "must be a release"),
        (Summarizing.as_of("1.63.0"), Summarizing(), "must be a release"),
        (SlidingWindow.as_of("1.35.0", 4), Summarizing.as_of("1.40.0"), "one kind"),
        (SlidingWindow.as_of("1.35.0", 4), SlidingWindow.as_of("1.37.0", 5), "same options"),
    ],
)
def test_policies_that_no_release_tells_apart_are_refused(wrong: Policy, right: Policy, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        find_fault(review(), wrong, right)


def test_what_needs_a_comparison_says_so() -> None:
    with pytest.raises(ValueError, match="needs a right policy"):
        find_fault(review(), SlidingWindow.as_of("1.35.0", 4), expectation="no-error")
    with pytest.raises(ValueError, match="must be one of"):
        find_fault(review(), SlidingWindow.as_of("1.35.0", 4), expectation="all is well")
