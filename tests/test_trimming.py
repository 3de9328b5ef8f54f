"""Where a conversation may start after a trim, where it may split, and the reason at every other index."""

from collections import Counter

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ctxlab.careful import STRICT
from ctxlab.edits import DropMessages
from ctxlab.messages import Conversation, has_tool_result, has_tool_use, tool_result_ids, tool_use_ids
from ctxlab.releases import CHANGES, behaviour
from ctxlab.sliding_window import SlidingWindow
from ctxlab.trimming import (
    NEWEST,
    Rejection,
    TrimRule,
    kind_codes,
    preferred,
    rejection,
    search,
    split_point,
    split_rejection,
    trim_points,
)
from tests.builders import (
    assistant,
    message,
    result_block,
    review,
    tool_result,
    tool_results,
    tool_use,
    use_block,
    user,
)
from tests.strategies import conversations, well_formed_conversations

RULES = [*dict.fromkeys(behaviour(change.version, "1.63.0").trim for change in CHANGES), STRICT]
OF_RELEASE = {version: behaviour(version).trim for version in ("1.0.0", "1.35.0", "1.37.0", "1.44.0")}


def kinds(messages: Conversation, rule: TrimRule = NEWEST) -> list[str | None]:
    return [point.kind for point in trim_points(messages, rule=rule)]


def reasons(messages: Conversation, rule: TrimRule = NEWEST) -> list[Rejection | None]:
    return [point.reason for point in trim_points(messages, rule=rule)]


# The seed story: the tool-heavy review of #2173


def test_the_review_of_2173_has_its_question_and_its_tool_pairs_as_trim_points() -> None:
    pair = ["tool_pair", None]
    assert kinds(review()) == ["user", *pair, *pair, *pair, None]


def test_each_tool_result_of_the_review_would_be_an_orphan_and_its_answer_is_no_user_message() -> None:
    found = reasons(review())
    assert [found[index] for index in (2, 4, 6)] == [Rejection.ORPHAN_RESULT] * 3
    assert found[7] is Rejection.NOT_USER


def test_1_35_0_has_no_fallback_to_a_tool_pair_and_says_so() -> None:
    found = trim_points(review(), rule=OF_RELEASE["1.35.0"])
    assert [found[index].reason for index in (1, 3, 5)] == [Rejection.USE_WITHOUT_FALLBACK] * 3
    assert search(review(), 4, OF_RELEASE["1.35.0"]) is None


@pytest.mark.parametrize("version", ["1.37.0", "1.44.0"])
def test_the_fallback_of_2174_takes_the_first_tool_pair_at_or_after_the_start(version: str) -> None:
    point = search(review(), 4, OF_RELEASE[version])
    assert point is not None
    assert (point.index, point.kind) == (5, "tool_pair")


# Kinds and reasons, one by one


def test_a_plain_user_message_is_a_trim_point() -> None:
    assert kinds((user("hi"), assistant("ok"))) == ["user", None]


def test_a_message_with_a_result_and_a_question_is_still_an_orphan() -> None:
    mixed = message("user", result_block("1"), {"text": "and what about this?"})
    assert reasons((user("q"), tool_use("1"), mixed))[2] is Rejection.ORPHAN_RESULT


def test_a_tool_use_without_an_answer_is_refused() -> None:
    assert reasons((tool_use("1"), user("stop")))[0] is Rejection.UNANSWERED_USE


@pytest.mark.parametrize("version", ["1.35.0", "1.37.0", "1.44.0"])
def test_a_tool_use_in_the_last_message_is_refused_from_1_35_0(version: str) -> None:
    assert rejection((user("q"), tool_use("1")), 1, OF_RELEASE[version]) is not None


def test_up_to_1_34_1_a_tool_use_in_the_last_message_passes_and_so_does_an_assistant_text() -> None:
    first = OF_RELEASE["1.0.0"]
    assert kinds((user("q"), tool_use("1")), first) == ["user", "any"]
    assert kinds((assistant("ok"), tool_use("1"), tool_result("1")), first) == ["any", "tool_pair", None]


def test_an_answer_by_the_assistant_makes_no_pair() -> None:
    answered = (tool_use("1"), message("assistant", result_block("1")))
    assert reasons(answered)[0] is Rejection.ANSWERED_BY_ASSISTANT


def test_from_1_44_0_the_first_message_of_a_pair_may_have_any_role() -> None:
    mixed = (message("user", result_block("0"), use_block("1")), tool_result("1"))
    assert rejection(mixed, 0, OF_RELEASE["1.37.0"]) is Rejection.USER_TOOL_PAIR
    assert kinds(mixed, OF_RELEASE["1.44.0"])[0] == "tool_pair"


def test_released_rules_never_compare_ids_and_the_strict_one_does() -> None:
    mismatched = (tool_use("1"), tool_result("2"))
    assert kinds(mismatched)[0] == "tool_pair"
    assert rejection(mismatched, 0, STRICT) is Rejection.IDS_DIFFER


def test_the_strict_rule_wants_every_parallel_call_answered_exactly_once() -> None:
    calls = tool_use("a", "b")
    assert kinds((calls, tool_results(b="2", a="1")), STRICT)[0] == "tool_pair"
    half = (calls, tool_result("a"))
    twice = (calls, message("user", result_block("a"), result_block("b"), result_block("b")))
    assert rejection(half, 0, STRICT) is Rejection.IDS_DIFFER
    assert rejection(twice, 0, STRICT) is Rejection.IDS_DIFFER
    assert kinds(half)[0] == kinds(twice)[0] == "tool_pair"


@pytest.mark.parametrize("content", [[], [{"text": " \n"}], [{"cachePoint": {"type": "default"}}]])
def test_the_strict_rule_wants_a_message_that_says_something(content: list[dict[str, object]]) -> None:
    empty = message("user", *content)
    assert kinds((empty,))[0] == "user"
    assert rejection((empty,), 0, STRICT) is Rejection.NOTHING_SAID


def test_guarded_content_says_something() -> None:
    guarded = message("user", {"guardContent": {"text": {"text": "hi"}}})
    assert kinds((guarded,), STRICT) == ["user"]


def test_indices_before_the_start_are_refused_as_such_and_the_others_are_judged_alone() -> None:
    found = trim_points(review(), start=4)
    assert [point.reason for point in found[:4]] == [Rejection.BEFORE_START] * 4
    assert found[4:] == trim_points(review())[4:]


@pytest.mark.parametrize("reason", Rejection)
def test_a_reason_reads_as_a_clause(reason: Rejection) -> None:
    assert reason.text[0].islower()
    assert not reason.text.endswith(".")


# Laws


@given(conversations(), st.sampled_from(RULES))
def test_an_index_has_either_a_kind_or_a_reason(messages: Conversation, rule: TrimRule) -> None:
    points = trim_points(messages, rule=rule)
    assert [point.index for point in points] == list(range(len(messages)))
    assert all((point.kind is None) != (point.reason is None) for point in points)


@given(conversations(), st.sampled_from(RULES), st.integers(0, 30))
def test_what_the_search_takes_is_one_of_the_trim_points_shown(
    messages: Conversation, rule: TrimRule, start: int
) -> None:
    shown = [point for point in trim_points(messages, start, rule) if point.kind]
    taken = search(messages, start, rule)
    assert (taken is None) == (not shown)
    assert taken is None or taken in shown


@given(conversations(), st.sampled_from(RULES), st.integers(0, 30))
def test_a_plain_user_message_wins_over_every_tool_pair_and_else_the_first_wins(
    messages: Conversation, rule: TrimRule, start: int
) -> None:
    shown = [point for point in trim_points(messages, start, rule) if point.kind]
    assume(shown)
    users = [point for point in shown if point.kind == "user"] if rule.user_first else []
    assert search(messages, start, rule) == (users or shown)[0]


@given(conversations(), st.sampled_from(RULES), st.integers(0, 30))
def test_the_search_could_go_on_to_every_trim_point_once(messages: Conversation, rule: TrimRule, start: int) -> None:
    order = list(preferred(kind_codes(messages, rule), start, rule))
    assert sorted(order) == [point.index for point in trim_points(messages, start, rule) if point.kind]


@given(conversations())
def test_what_the_strict_rule_accepts_the_newest_release_accepts_too(messages: Conversation) -> None:
    for strict, newest in zip(trim_points(messages, rule=STRICT), trim_points(messages), strict=True):
        assert strict.kind is None or strict.kind == newest.kind


@given(conversations())
def test_a_strict_tool_pair_answers_exactly_its_calls(messages: Conversation) -> None:
    for point in trim_points(messages, rule=STRICT):
        if point.kind == "tool_pair":
            calls, answers = messages[point.index], messages[point.index + 1]
            assert Counter(tool_use_ids(calls)) == Counter(tool_result_ids(answers))
            assert (calls.get("role"), answers.get("role")) == ("assistant", "user")


@given(conversations(), st.sampled_from(RULES))
def test_no_rule_starts_with_a_lone_tool_result(messages: Conversation, rule: TrimRule) -> None:
    for point in trim_points(messages, rule=rule):
        if has_tool_result(messages[point.index]) and not has_tool_use(messages[point.index]):
            assert point.reason is Rejection.ORPHAN_RESULT


@given(well_formed_conversations())
def test_in_a_well_formed_conversation_the_questions_and_answered_calls_are_the_trim_points(
    messages: Conversation,
) -> None:
    for index, kind in enumerate(kinds(messages)):
        question = messages[index]["role"] == "user" and not has_tool_result(messages[index])
        answered = has_tool_use(messages[index]) and index + 1 < len(messages)
        assert kind == ("user" if question else "tool_pair" if answered else None)


@given(conversations(), st.integers(1, 12), st.booleans())
def test_a_manager_takes_one_of_the_trim_points_that_it_shows(
    messages: Conversation, window: int, is_careful: bool
) -> None:
    build = SlidingWindow.careful if is_careful else SlidingWindow
    manager = build(window, should_truncate_results=False)
    shown = [point.index for point in manager.trim_points(messages) if point.kind]
    for edit in manager.manage(messages).edits:
        assert isinstance(edit, DropMessages)
        assert edit.trim_point in shown


# Where a conversation may split for a summary


def test_a_split_walks_forward_past_the_results_of_what_is_summarized() -> None:
    assert split_point(review(), 2) == 3
    assert split_point(review(), 6) == 7


def test_a_split_may_end_behind_the_last_message_but_not_walk_there() -> None:
    messages = (user("q"), tool_use("1"), tool_result("1"))
    assert split_point(messages, 3) == 3
    assert split_point(messages, 2) is None


def test_a_tool_use_in_the_last_message_may_stay_alone() -> None:
    assert split_rejection((user("q"), tool_use("1")), 1) is None


@given(conversations(), st.integers(1, 30))
def test_a_split_never_parts_a_result_from_its_call(messages: Conversation, wanted: int) -> None:
    assume(wanted < len(messages))
    split = split_point(messages, wanted)
    if split is not None and split < len(messages):
        assert split >= wanted
        assert not has_tool_result(messages[split])
        assert all(split_rejection(messages, index) for index in range(wanted, split))
