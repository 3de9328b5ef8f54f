"""The fourteen rules: each breaks where it should and nowhere else, on any conversation, in linear time."""

import json
import re
from copy import deepcopy
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxlab import checks
from ctxlab.edits import DropMessages
from ctxlab.invariants import (
    CONVERSATION_RULES,
    REDUCTION_RULES,
    RULES,
    Reduction,
    Violation,
    broken_cases,
    broken_rules,
    new_violations,
    pending_tool_uses,
    reduction_violations,
    verdict,
    verdicts,
    violations,
)
from ctxlab.messages import Conversation, Message, blocks
from ctxlab.providers import providers
from ctxlab.recovery import recover
from ctxlab.reduction import ContextWindowOverflow
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import Summarizing
from ctxlab.truncation import Truncation
from ctxlab.vocabularies import counter
from tests.builders import (
    assistant,
    message,
    pinned,
    result_block,
    review,
    tool_chain,
    tool_result,
    tool_results,
    tool_use,
    use_block,
    user,
)
from tests.strategies import conversations, malformed_conversations, well_formed_conversations

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "cases.json").read_text(encoding="utf-8"))
HEURISTIC = counter("heuristic")


def places(found: tuple[Violation, ...]) -> list[tuple[str, int, int | None]]:
    return [(breach.rule, breach.index, breach.block) for breach in found]


# Each rule and its two examples


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_is_broken_by_its_one_example_and_kept_by_the_other(rule: str) -> None:
    if rule in CONVERSATION_RULES:
        about = CONVERSATION_RULES[rule]
        assert {breach.rule for breach in about.find(about.breaks)} == {rule}
        assert about.find(about.holds) == ()
        assert violations(about.holds) == ()
    else:
        step = REDUCTION_RULES[rule]
        assert {breach.rule for breach in step.find(step.breaks)} == {rule}
        assert step.find(step.holds) == ()


@pytest.mark.parametrize("rule", REDUCTION_RULES)
def test_an_example_of_a_reduction_breaks_its_own_rule_alone(rule: str) -> None:
    others = {breach.rule for breach in reduction_violations(REDUCTION_RULES[rule].breaks)} - {rule}
    # One that changes content although nothing was due, or thrown away, may break a second rule; none breaks three.
    assert len(others) <= 1, others


@pytest.mark.parametrize("rule", RULES.values(), ids=list(RULES))
def test_a_rule_says_what_it_demands_and_where_that_comes_from(rule: Any) -> None:
    assert rule.sentence
    assert not rule.sentence.endswith(".")
    assert rule.source


# Where each rule is broken


def test_a_conversation_must_start_with_a_user_message() -> None:
    assert places(violations((assistant("hi"), user("q")))) == [("starts-with-user", 0, None)]
    assert places(violations((message("system", {"text": "be kind"}), user("q")))) == [("starts-with-user", 0, None)]


def test_an_empty_conversation_breaks_none_of_the_six_rules() -> None:
    assert violations(()) == ()
    assert broken_rules(()) == frozenset()


def test_a_result_whose_call_is_not_just_before_it_is_an_orphan() -> None:
    messages = (user("q"), tool_use("a"), tool_result("a"), assistant("ok"), message("user", result_block("a")))
    assert places(violations(messages)) == [("no-orphan-result", 4, 0)]


def test_a_result_that_shares_a_message_with_text_is_found_at_its_block() -> None:
    messages = (message("user", {"text": "summary"}, result_block("gone")), assistant("ok"))
    assert places(violations(messages)) == [("no-orphan-result", 0, 1)]


def test_a_call_without_an_answer_is_an_orphan_and_one_in_the_last_message_is_pending() -> None:
    assert places(violations((user("q"), tool_use("a"), user("and?")))) == [("no-orphan-use", 1, 0)]
    assert violations((user("q"), tool_use("a"))) == ()
    assert [(use.message, use.id) for use in pending_tool_uses((user("q"), tool_use("a", "b")))] == [(1, "a"), (1, "b")]
    assert pending_tool_uses(()) == ()


def test_each_unanswered_call_of_several_is_named() -> None:
    messages = (user("q"), tool_use("a", "b", "c"), tool_results(b="1"), assistant("ok"))
    assert places(violations(messages)) == [("no-orphan-use", 1, 0), ("no-orphan-use", 1, 2), ("ids-match", 2, 0)]


def test_ids_are_compared_as_multisets_and_not_as_sets() -> None:
    twice = (user("q"), tool_use("a", "a"), tool_result("a"), assistant("ok"))
    assert broken_rules(twice) == {"no-orphan-use", "ids-match"}
    assert violations((user("q"), tool_use("a", "a"), message("user", result_block("a"), result_block("a")))) == ()


def test_answers_of_parallel_calls_must_stand_in_one_message() -> None:
    messages = (user("q"), tool_use("a", "b"), tool_result("a"), tool_result("b"), assistant("ok"))
    found = violations(messages)
    assert places(found) == [
        ("no-orphan-use", 1, 1),
        ("ids-match", 2, 0),
        ("no-orphan-result", 3, 0),
        ("roles-alternate", 3, None),
    ]
    assert {breach.case for breach in found} == {"answered-later", "spread", "asked-earlier", "user"}


def test_the_order_of_parallel_answers_does_not_matter() -> None:
    assert violations((user("q"), tool_use("a", "b"), tool_results(b="2", a="1"))) == ()


def test_two_messages_of_one_role_are_found_at_the_second() -> None:
    assert places(violations((user("q"), user("r"), user("s")))) == [
        ("roles-alternate", 1, None),
        ("roles-alternate", 2, None),
    ]


@pytest.mark.parametrize(
    ("messages", "at"),
    [
        ((message("user", {"text": "q"}, use_block("a")),), (0, 1)),
        ((message("user", {"reasoningContent": {"reasoningText": {"text": "hm"}}}),), (0, 0)),
        ((user("q"), tool_use("a"), message("assistant", result_block("a"))), (2, 0)),
        ((user("q", ""),), (0, 1)),
        ((user("q", " \n\t"),), (0, 1)),
        ((user("q"), message("assistant")), (1, None)),
    ],
)
def test_an_illegal_block_is_found_at_its_place(messages: Conversation, at: tuple[int, int | None]) -> None:
    assert [(breach.index, breach.block) for breach in CONVERSATION_RULES["legal-blocks"].find(messages)] == [at]


def test_content_that_is_missing_null_or_text_is_no_content() -> None:
    odd_contents: tuple[Any, ...] = (None, "text", {}, [])
    for content in odd_contents:
        odd = cast(Message, {"role": "user", "content": content})
        assert broken_rules((odd,)) == {"legal-blocks"}
    assert broken_rules((cast(Message, {"role": "user"}),)) == {"legal-blocks"}


def test_the_text_of_a_breach_carries_no_control_character_and_no_long_id() -> None:
    hostile = "\x1b[31m<b>\u202e" + "x" * 200
    for breach in violations((user("q"), tool_use(hostile), tool_result("a\x07"))):
        assert breach.detail.isprintable()
        assert len(breach.detail) < 200


# Laws


@given(well_formed_conversations())
def test_a_well_formed_conversation_breaks_no_rule_of_anyone(messages: Conversation) -> None:
    assert violations(messages) == ()


@given(well_formed_conversations(), st.sampled_from(sorted(providers())))
def test_a_conversation_that_is_valid_for_a_profile_has_no_violation_there(messages: Conversation, name: str) -> None:
    # The generated results may hold documents, and the assistant may speak before it calls: both are some provider's
    # own rule, so only what the six rules say is asked here.
    assert [breach for breach in violations(messages, name) if breach.rule in CONVERSATION_RULES] == []


@given(conversations())
def test_every_breach_points_at_a_message_and_a_block_that_are_there(messages: Conversation) -> None:
    before = deepcopy(messages)
    for found in (violations(messages), *(answer.violations for answer in verdicts(messages))):
        for breach in found:
            assert 0 <= breach.index < max(len(messages), 1)
            assert breach.block is None or breach.block < len(blocks(messages[breach.index]))
            assert breach.detail
        assert [breach.index for breach in found] == sorted(breach.index for breach in found)
    assert messages == before


@given(conversations())
def test_every_breach_falls_into_a_case_that_its_rule_names(messages: Conversation) -> None:
    for breach in violations(messages):
        assert breach.case in CONVERSATION_RULES[breach.rule].cases


@given(conversations())
def test_the_broken_rules_are_those_that_have_a_violation(messages: Conversation) -> None:
    assert broken_rules(messages) == {breach.rule for breach in violations(messages)}


@given(conversations(), st.integers(0, 8))
def test_looking_at_the_head_finds_what_looking_at_all_finds_there(messages: Conversation, head: int) -> None:
    whole = {(breach.rule, breach.index, breach.block) for breach in violations(messages) if breach.index < head}
    assert broken_rules(messages, head) == {rule for rule, _, _ in whole}


@given(conversations())
def test_a_mismatch_of_ids_is_always_an_orphan_too(messages: Conversation) -> None:
    broken = broken_rules(messages)
    assert "ids-match" not in broken or broken & {"no-orphan-use", "no-orphan-result"}


@given(conversations())
def test_joining_same_role_neighbours_by_hand_is_what_a_merging_provider_sees(messages: Conversation) -> None:
    merged: list[Message] = []
    for part in messages:
        # Whether content is there at all is asked of each message before it is merged.
        if not blocks(part):
            return
        if merged and merged[-1].get("role") == part.get("role"):
            merged[-1] = {**merged[-1], "content": [*merged[-1]["content"], *part["content"]]}
        else:
            merged.append(deepcopy(part))
    one = verdict(messages, "anthropic")
    other = verdict(tuple(merged), "anthropic")
    structural = {"starts-with-user", "no-orphan-result", "no-orphan-use", "ids-match", "ids-unique", "result-first"}
    assert _counted(one.violations, structural) == _counted(other.violations, structural)


def _counted(found: tuple[Violation, ...], rules: set[str]) -> list[tuple[str, str]]:
    return sorted((breach.rule, breach.case) for breach in found if breach.rule in rules)


@given(conversations(), conversations(), st.sampled_from(sorted(providers())))
def test_where_no_case_is_new_no_provider_refuses_for_a_new_reason(
    one: Conversation, other: Conversation, name: str
) -> None:
    if broken_cases(other) <= broken_cases(one):
        new = new_violations(one, other, name)
        # The form of an id and the kind of a block are asked of the messages themselves, which differ here.
        assert {breach.rule for breach in new} <= {"id-form", "supported-blocks"}


def test_a_pinned_call_whose_answer_comes_late_is_not_cut_off_from_it() -> None:
    # Merged, the question and the late answer are one turn: for some providers the pair is whole until it is cut.
    late = (assistant("hi"), pinned(tool_use("0")), user("hi"), tool_result("0"), assistant("hi"), user("q"))
    split = (late[1], *late[4:])
    assert broken_rules(split) <= broken_rules(late)
    assert new_violations(late, split, "anthropic")
    assert broken_cases(split) - broken_cases(late)


# The public cases


def stated(case: dict[str, Any]) -> set[tuple[str, int]]:
    """What a case states about its input, as rule and index."""
    names = {
        "orphan toolResult": "no-orphan-result",
        "toolUse without result next": "no-orphan-use",
        "empty/missing content": "legal-blocks",
    }
    found = set()
    for sentence in case["computed"]["input_violations"]:
        if sentence.startswith("first message is"):
            found.add(("starts-with-user", 0))
        elif same_role := re.fullmatch(r"\d+,(\d+): same role \w+", sentence):
            found.add(("roles-alternate", int(same_role[1])))
        else:
            index, name = sentence.split(": ")
            if name in names:
                found.add((names[name], int(index)))
    return found


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_public_case_is_broken_where_its_report_says(case: dict[str, Any]) -> None:
    # The reports name neither mismatched ids nor blank text, and take a plain string for content.
    unnamed = {"empty-text", "whitespace-text"} | ({"empty-user"} if case["id"] == "S92-content-is-string" else set())
    found = violations(tuple(case["input_messages"]))
    named = {
        (breach.rule, breach.index) for breach in found if breach.rule != "ids-match" and breach.case not in unnamed
    }
    assert named == stated(case)


@pytest.mark.parametrize(
    "case", [case for case in CASES if case["params"]["op"] in ("fix", "validate")], ids=lambda case: case["id"]
)
def test_a_case_that_names_one_bad_message_is_broken_there(case: dict[str, Any]) -> None:
    messages = tuple(case["input_messages"])
    at = case["expected"].get("invalid_at")
    if at is None:
        return
    structural = {breach.index for breach in violations(messages) if breach.rule.startswith("no-orphan")}
    assert (structural or {use.message for use in pending_tool_uses(messages)}) == {at}


def by_id(case_id: str) -> Conversation:
    return tuple(next(case["input_messages"] for case in CASES if case["id"] == case_id))


def test_a_cited_reply_that_becomes_the_summary_starts_with_the_assistant() -> None:
    reply = by_id("S34-4402-summary-citations-only")
    assert places(violations(reply)) == [("starts-with-user", 0, None)]
    # As the SDK did up to 1.56: the inner texts as blocks, one of them empty (#4402).
    inner = reply[0]["content"][0]["citationsContent"]["content"]
    assert places(violations((message("user", *inner),))) == [("legal-blocks", 0, 1)]


def test_a_summary_after_a_tool_result_breaks_a_strict_template_at_both_messages() -> None:
    found = violations(by_id("P31-hermes-74111"), "strict-template")
    assert [breach.index for breach in found if breach.rule == "roles-alternate"] == [3, 4]


def test_an_orphan_behind_another_user_message_is_found_at_its_own_index_although_providers_merge() -> None:
    for name in ("anthropic", "bedrock-claude", "gemini"):
        assert ("no-orphan-result", 1, 0) in places(violations(by_id("P34-omp-1165"), name))


def test_calls_and_answers_in_separate_messages_are_fine_for_gemini_and_refused_by_openai() -> None:
    messages = by_id("P05-langchain-34195-order")
    assert verdict(messages, "gemini").status == "accepted"
    assert verdict(messages, "openai-chat").status == "refused"
    # The report calls it invalid for Anthropic as well. A live answer of that service says otherwise
    # (anthropic.merge_roles): what was refused then came from the library that sent it.
    assert verdict(messages, "anthropic").status == "accepted"


def test_the_middle_message_cannot_be_removed_alone() -> None:
    messages = by_id("P12-autogen-7955")
    for gone in (3, 4):
        assert broken_rules(messages[:gone] + messages[gone + 1 :]) & {"no-orphan-use", "no-orphan-result"}
    assert broken_rules(messages[:3] + messages[5:]) == frozenset()


# Reductions


@given(well_formed_conversations(), st.data())
def test_without_origins_the_messages_of_a_cut_are_found_again(messages: Conversation, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(messages)))
    assert Reduction(messages, messages[at:]).came_from == tuple(range(at, len(messages)))


def test_a_new_message_has_no_origin_and_a_truncated_one_keeps_its_own() -> None:
    before = (user("q"), tool_use("a"), tool_result("a", "x" * 900), assistant("done"))
    after = (user("[summary]"), before[1], tool_result("a", "x" * 100), before[3])
    assert Reduction(before, after).came_from == (None, 1, 2, 3)


def test_origins_that_do_not_name_every_message_are_an_error() -> None:
    with pytest.raises(ValueError, match=r"each of the 1 .*\(0, 1\)"):
        Reduction((user("q"),), (user("q"),), (0, 1))


@given(malformed_conversations(), malformed_conversations(), st.booleans())
def test_any_two_conversations_can_be_compared(before: Conversation, after: Conversation, overflow: bool) -> None:
    for breach in reduction_violations(Reduction(before, after, overflow=overflow, restored=before, due=False)):
        assert breach.index >= 0


def test_no_change_at_all_breaks_no_rule_about_a_reduction() -> None:
    same = review()
    assert reduction_violations(Reduction(same, same, due=False, restored=same, overflow=False)) == ()


def rules_of(found: tuple[checks.Breach, ...]) -> set[str]:
    return {breach.violation.rule for breach in found}


@pytest.mark.parametrize(("length", "grows"), [(401, True), (446, True), (447, True), (448, False), (900, False)])
def test_the_cut_of_the_newest_release_makes_short_results_no_smaller(length: int, grows: bool) -> None:
    round = SlidingWindow(window_size=40).reduce(review("x" * length), overflow=True)
    found = reduction_violations(Reduction(review("x" * length), round.messages))
    assert ("strictly-smaller" in {breach.rule for breach in found}) == grows


def test_messages_are_dropped_although_a_huge_result_is_left() -> None:
    early = (user("q"), tool_use("1"), tool_result("1", "small"), assistant("ok"))
    late = (user("go on"), tool_use("2"), tool_result("2", "x" * 90_000), assistant("done"))
    trace = recover((*early, *late), SlidingWindow(window_size=4), 100, HEURISTIC)
    assert any(isinstance(edit, DropMessages) for edit in trace.edits)
    left = [breach for breach in checks.check_trace(trace) if breach.violation.rule == "largest-first"]
    assert [breach.origin for breach in left] == [6]
    assert not any(breach.violation.rule == "largest-first" for breach in checks.check_trace(trace, truncates=False))


def test_a_release_that_throws_results_away_breaks_the_shape_and_routine_management_too() -> None:
    old = SlidingWindow.as_of("1.28.0", window_size=4)
    messages = review("x" * 900)
    in_routine = {breach.rule for breach in checks.check_routine(messages, old.manage(messages))}
    on_overflow = {breach.rule for breach in reduction_violations(Reduction(messages, old.reduce(messages).messages))}
    assert "shape-kept" in on_overflow
    assert "routine-keeps-content" in in_routine


def test_the_collapse_that_was_rejected_breaks_the_shape() -> None:
    manager = Summarizing(preserve_recent_messages=10, truncation=Truncation(preserve_chars=20, rule="collapse"))
    messages = (user("x" * 300, "y" * 300), assistant("ok"))
    assert "shape-kept" in rules_of(checks.check_trace(recover(messages, manager, 60, HEURISTIC)))


def test_starting_with_a_tool_pair_breaks_a_rule_that_was_kept_before() -> None:
    trace = recover((user("q"), *tool_chain(8, "ok")), SlidingWindow(window_size=4), 20, HEURISTIC)
    found = [breach for breach in checks.check_trace(trace) if breach.violation.rule == "starts-with-user"]
    assert [breach.violation.index for breach in found][:1] == [0]
    assert "starts-with-user" in rules_of(checks.check_trace(trace, provider="bedrock-nova"))
    assert "starts-with-user" not in rules_of(checks.check_trace(trace, provider="bedrock-claude"))


def test_pinned_messages_that_are_gone_are_named() -> None:
    messages = (pinned(user("keep")), assistant("ok"), user("q"))
    found = reduction_violations(Reduction(messages, messages[2:]))
    assert places(found) == [("pins-kept", 0, None)]


def test_a_restart_that_loads_the_originals_differs_from_what_was_live() -> None:
    live = (user("q"), tool_use("a"), tool_result("a", "short"))
    stored = (user("q"), tool_use("a"), tool_result("a", "x" * 900))
    assert places(checks.check_restart(live, stored)) == [("restored-equals-live", 2, None)]
    assert checks.check_restart(live, deepcopy(live)) == ()
    assert places(checks.check_restart(live, live[:2])) == [("restored-equals-live", 2, None)]


STRUCTURAL_PROVIDERS = st.sampled_from(sorted(providers()))


@given(conversations(), st.integers(1, 12), STRUCTURAL_PROVIDERS)
def test_careful_breaks_no_rule_that_its_input_did_not_break_whatever_the_provider(
    messages: Conversation, window: int, name: str
) -> None:
    manager = SlidingWindow.careful(window_size=window)
    try:
        after = manager.reduce(messages, overflow=True).messages
    except ContextWindowOverflow:
        return  # it says that no such cut exists
    assert new_violations(messages, after) == ()
    assert new_violations(messages, after, name) == ()


@given(well_formed_conversations(pins=True), st.integers(20, 400))
def test_a_careful_recovery_breaks_no_rule_about_reductions(messages: Conversation, budget: int) -> None:
    trace = recover(messages, SlidingWindow.careful(window_size=4), budget, HEURISTIC)
    assert checks.check_trace(trace) == ()


# Cost


@pytest.mark.timeout(60)
def test_a_hundred_thousand_messages_are_checked_in_seconds_also_where_all_of_them_merge() -> None:
    # Generous, and still far below what pairing would take if it were quadratic.
    turn = (tool_use("a"), tool_result("a"), assistant("ok"), user("q"))
    for name in ("anthropic", "openai-chat", "bedrock-nova"):
        assert violations((user("q"), *turn * 25_000), name) == ()
    calls, answers = (tool_use("a"),) * 50_000, (tool_result("a"),) * 50_000
    found = violations((*calls, *answers), "anthropic")
    assert {breach.rule for breach in found} == {"ids-unique"}
    assert len(found) == 2 * 49_999
