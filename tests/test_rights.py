"""Looking for the policy that does it right: later releases first, an overflow first, and a fault that is one."""

import pytest
from hypothesis import given, settings

from ctxlab.comparison import Policy
from ctxlab.faults import MAX_CALLS, find_fault
from ctxlab.messages import Conversation
from ctxlab.releases import parse
from ctxlab.rights import CALLS, alternatives, better, find_right, find_wrong
from ctxlab.samples import sample_sessions
from ctxlab.sessions import load
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import Summarizing
from tests.builders import assistant, review, tool_result, tool_use, user
from tests.strategies import conversations

STUCK = SlidingWindow.as_of("1.35.0", 4)


@pytest.mark.parametrize("policy", [STUCK, Summarizing.as_of("1.43.0"), SlidingWindow.as_of("1.62.0")])
def test_later_releases_are_tried_first_then_ctxlabs_own_and_no_policy_against_itself(policy: Policy) -> None:
    tried = list(better(policy))
    assert policy not in alternatives(policy).values()
    later = [parse(one.release) for one in tried[:-1]]
    assert later == sorted(later)
    assert all(release > parse(policy.release) for release in later)
    assert list(alternatives(policy))[len(later)] in ("careful", "proportional")


def test_the_careful_policy_is_compared_with_none() -> None:
    assert list(better(SlidingWindow.careful())) == []
    assert alternatives(SlidingWindow.careful()) == {}


def test_a_release_that_does_not_know_the_parameters_is_left_out() -> None:
    assert "1.37.0" not in alternatives(SlidingWindow.as_of("1.44.0", pin_first=2))
    assert "1.43.0" in alternatives(SlidingWindow.as_of("1.44.0", pin_first=2))
    assert "1.62.0" not in alternatives(SlidingWindow.as_of("1.35.0", -1))


def test_preserve_chars_goes_along() -> None:
    policy = Summarizing.as_of("1.63.0", preserve_chars=77)
    own = alternatives(policy)["proportional"]
    assert isinstance(own, Summarizing)
    assert own.truncation is not None
    assert (own.truncation.preserve_chars, own.truncation.rule) == (77, "proportional")


def test_an_overflow_counts_before_routine_management() -> None:
    # 1.40.0 does routine management right; 1.37.0 is what matters to who is stuck.
    messages = review("x" * 900)
    found = find_right(messages, STUCK)
    assert found.policy == SlidingWindow.as_of("1.37.0", 4)
    assert (found.call, found.max_calls) == ("overflow", MAX_CALLS)
    routine = find_right(messages, STUCK, calls=["routine"])
    assert routine.policy is None or routine.call == "routine"


def test_what_comes_under_the_budget_counts_before_what_comes_later() -> None:
    messages = review("x" * 900)
    fault = find_fault(messages, STUCK, SlidingWindow.as_of("1.37.0", 4))
    assert fault is not None
    assert fault.calls == 2
    assert find_right(messages, STUCK, (fault.calls, MAX_CALLS)).max_calls == fault.calls
    assert find_right(messages, STUCK, (0, fault.calls - 1, MAX_CALLS), ["overflow"]).max_calls == MAX_CALLS


@given(conversations())
@settings(max_examples=40)
def test_what_is_found_is_a_fault_or_nothing_is(messages: Conversation) -> None:
    found = find_right(messages, STUCK)
    if found.policy is not None:
        assert find_fault(messages, STUCK, found.policy, found.call, None, found.max_calls)
    else:
        assert found == (None, None, MAX_CALLS)


def test_where_nothing_is_wrong_the_release_is_found_that_does_wrong() -> None:
    messages = load(sample_sessions()["review-2173"]).messages
    fault = find_wrong(messages, SlidingWindow.as_of("1.37.0", 4))
    assert fault is not None
    assert fault.wrong != fault.right
    assert find_fault(messages, fault.wrong, fault.right) == fault


def test_where_no_release_does_wrong_none_is_found() -> None:
    messages = (user("hi"), tool_use("1"), tool_result("1", "ok"), assistant("done"))
    assert find_wrong(messages, SlidingWindow()) is None
    assert find_wrong(messages, SlidingWindow.careful()) is None
    assert find_right(messages, SlidingWindow()).policy is None


def test_the_search_can_be_stopped_and_says_how_far_it_is() -> None:
    told = list[tuple[int, int]]()
    find_right((), SlidingWindow.as_of("1.43.0"), progress=lambda what, done, of: told.append((done, of)))
    assert told == [(at, 6) for at in range(6)]
    assert len(CALLS) == 2
