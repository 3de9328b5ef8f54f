"""The public bug reports about summarizing and its truncation fallback: what each release did, and what is right."""

from typing import Any

import pytest

from ctxlab.checks import check_trace
from ctxlab.edits import Summarize, TruncateText
from ctxlab.messages import Conversation, tool_pairs
from ctxlab.recovery import NO_PROGRESS, recover
from ctxlab.reduction import ContextWindowOverflow
from ctxlab.summarizing import INSUFFICIENT, Summarizing
from ctxlab.truncation import Truncation, cut_length
from ctxlab.vocabularies import counter
from tests.cases import BY_ID, SUMMARY, Case, cases, characters, conversation, observed, play, summarizing
from tests.test_cases_sliding import VERSIONS, ids

SUMMARIZING = cases("sum")
HEURISTIC = counter("heuristic")

NOT_A_RULE = {
    "P08-openai-agents-4622": "a preview of at most so many characters in all: no rule here has such a budget",
    "S34-4402-summary-citations-only": "a stand-in summary is text from the start: no model's reply is turned into one",
}
"""Cases about rules that ctxlab does not have."""


def newest(case: Case, **options: Any) -> Summarizing:
    """The newest installable release with the proportional fallback, on the parameters of a case."""
    return summarizing(case, lambda **params: Summarizing(**{**params, **options}))


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("case", SUMMARIZING, ids=ids)
def test_a_release_does_what_it_was_seen_to_do(case: Case, version: str) -> None:
    played, _ = play(case, summarizing(case, lambda **options: Summarizing.as_of(version, **options)))
    assert played == observed(case, version)


@pytest.mark.parametrize(
    "case", [case for case in SUMMARIZING if isinstance(case["expected"].get("kept"), list)], ids=ids
)
def test_what_is_kept_is_what_the_report_says(case: Case) -> None:
    kept = ["S" if part == SUMMARY else part for part in case["expected"]["kept"]]
    assert play(case, newest(case))[0].startswith(f"kept {kept} ")


@pytest.mark.parametrize("case", [case for case in SUMMARIZING if "split" in case["expected"]], ids=ids)
def test_the_split_walks_forward_to_where_the_report_says(case: Case) -> None:
    assert newest(case).split_point(conversation(case)) == case["expected"]["split"]


@pytest.mark.parametrize("case", [case for case in SUMMARIZING if "must_not_cut_at" in case["expected"]], ids=ids)
def test_the_split_is_never_where_the_report_forbids_it(case: Case) -> None:
    assert newest(case).split_point(conversation(case)) not in case["expected"]["must_not_cut_at"]


def test_s14_the_fallback_shrinks_the_one_huge_result_in_place() -> None:
    case = BY_ID["S14-981-single-huge-result"]
    messages = conversation(case)
    done = newest(case).reduce(messages)
    (edit,) = done.edits
    assert isinstance(edit, TruncateText)
    assert edit.message == 2
    assert tool_pairs(done.messages) == tool_pairs(messages)
    assert [part["role"] for part in done.messages] == [part["role"] for part in messages]
    assert characters(done.messages) < characters(messages)


def test_s21_summarizing_small_by_small_is_given_up_after_a_bounded_number_of_rounds() -> None:
    case = BY_ID["S21-3338-no-convergence"]
    trace = recover(conversation(case), newest(case, truncation=None), 100, HEURISTIC)
    assert trace.outcome == "gave up"
    assert len(trace.rounds) < 25


def test_s88_a_pin_that_moves_before_the_summary_is_shown_and_the_user_messages_in_a_row_are_reported() -> None:
    case = BY_ID["S88-sum-pin-reorders"]
    trace = recover(conversation(case), newest(case), 7, HEURISTIC)
    assert next(trace.steps()).origins == (2, None, 4, 5, 6, 7)
    assert "roles-alternate" in {breach.violation.rule for breach in check_trace(trace)}


def test_p20_a_summary_that_makes_the_conversation_larger_is_reported() -> None:
    case = BY_ID["P20-gemini-4557"]
    messages = conversation(case)
    trace = recover(messages, newest(case), sum(map(HEURISTIC.message, messages)) - 1, HEURISTIC)
    assert isinstance(trace.edits[0], Summarize)
    assert "strictly-smaller" in {breach.violation.rule for breach in check_trace(trace)}


def test_p38_the_fallback_of_5691_never_comes_while_a_summary_can_be_summarized_again() -> None:
    # What would be right, truncating after the summary, is in no release: the fallback waits for a lack of messages.
    case = BY_ID["P38-deepagentsjs-228"]
    trace = recover(conversation(case), newest(case), 1200, HEURISTIC)
    assert (trace.outcome, trace.error) == ("gave up", NO_PROGRESS)
    assert all(isinstance(edit, Summarize) for edit in trace.edits)


def test_every_case_that_is_no_rule_of_ctxlab_is_named() -> None:
    known = {"S15-5791-many-mid-blocks", "S16-5691-boundaries"}
    assert {case["id"] for case in (*cases("spec"), *cases("as_summary"))} == known | NOT_A_RULE.keys()


# Rules that no released SDK has


def repeated(case: Case) -> Conversation:
    """The messages of a case whose first has a few blocks that stand for many: as many as it asks for."""
    first, *rest = conversation(case)
    few = first["content"]
    wanted = case["params"]["repeat_block_to"]
    return ({"role": "user", "content": [few[at % len(few)] for at in range(wanted)]}, *rest)


def test_s15_the_fixed_rule_changes_none_of_the_many_blocks() -> None:
    with pytest.raises(ContextWindowOverflow, match=INSUFFICIENT):
        Summarizing.as_of("1.63.0").reduce(repeated(BY_ID["S15-5791-many-mid-blocks"]))


def test_s15_the_proportional_rule_has_cut_all_of_them_after_seven_rounds() -> None:
    case = BY_ID["S15-5791-many-mid-blocks"]
    messages = repeated(case)
    for round in range(1, case["expected"]["proposed"]["rounds_for_80_blocks"] + 1):
        before = messages
        done = Summarizing().reduce(messages, round=round)
        messages = done.messages
        assert len(done.edits) == 2 ** (round - 1)
        assert [len(part["content"]) for part in messages] == [len(part["content"]) for part in before]
    assert [len(block["text"]) for block in messages[0]["content"]].count(5000) == 0


def test_s16_each_boundary_length_is_touched_or_skipped_as_the_rules_say() -> None:
    case = BY_ID["S16-5691-boundaries"]
    messages = conversation(case)
    lengths = {index: len(part["content"][0]["text"]) for index, part in enumerate(messages) if index % 2 == 0}
    for rule, expected in (("fixed", case["expected"]["v5691"]), ("proportional", case["expected"]["proposed"])):
        truncation = Truncation(case["params"]["preserve_chars"], "fixed" if rule == "fixed" else "proportional")
        touched = [index for index, length in lengths.items() if truncation.passed_over(length) is None]
        assert touched == expected["touch"]
        for index, kept in expected.get("keep_each_end", {}).items():
            length = lengths[int(index)]
            assert truncation.kept(length) == kept
            assert cut_length(length, kept) == len(truncation.shorten("x" * length) or "")


def test_s16_the_largest_goes_first() -> None:
    edits = Summarizing(preserve_recent_messages=99).reduce(conversation(BY_ID["S16-5691-boundaries"]), round=5).edits
    assert [edit.message for edit in edits if isinstance(edit, TruncateText)] == [8, 6, 4, 2]
