"""The matrix of trim points and providers: each cell is the verdict on that very cut, found without looking at all."""

from copy import deepcopy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxlab.careful import trim_points as careful_points
from ctxlab.edits import DropMessages
from ctxlab.invariants import verdict
from ctxlab.messages import Conversation
from ctxlab.providers import providers
from ctxlab.recovery import recover
from ctxlab.reduction import ContextWindowOverflow
from ctxlab.repairs import repair
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import Summarizing
from ctxlab.verdict_matrix import VerdictMatrix, end_state
from ctxlab.vocabularies import counter
from tests.builders import assistant, pinned, review, tool_chain, tool_result, user
from tests.strategies import conversations, well_formed_conversations

HEURISTIC = counter("heuristic")
POLICIES = (
    None,
    SlidingWindow.as_of("1.37.0", 3),
    SlidingWindow(3, pin_first=2),
    SlidingWindow.careful(3),
    Summarizing(),
)


@settings(max_examples=50)
@given(st.one_of(conversations(), well_formed_conversations(pins=True)), st.sampled_from(POLICIES))
def test_a_cell_is_the_verdict_on_what_that_cut_would_leave(messages: Conversation, policy: SlidingWindow) -> None:
    before = deepcopy(messages)
    matrix = VerdictMatrix(messages, policy)
    assert matrix.asked == tuple(providers())
    for index in range(len(messages)):
        row = matrix.row(index)
        assert row.verdicts == tuple(verdict(matrix.remainder(index), name) for name in matrix.asked)
        assert all(kept < index for kept in row.front)
    assert messages == before


@settings(max_examples=50)
@given(well_formed_conversations(pins=True), st.sampled_from(["1.28.0", "1.37.0", "1.62.0", "careful"]))
def test_the_row_of_the_index_that_a_policy_takes_is_the_verdict_on_what_it_leaves(
    messages: Conversation, release: str
) -> None:
    policy = SlidingWindow.careful(3, False) if release == "careful" else SlidingWindow.as_of(release, 3, False)
    try:
        done = policy.reduce(messages)
    except ContextWindowOverflow:
        return
    (drop,) = done.edits
    assert isinstance(drop, DropMessages)
    if drop.trim_point < len(messages):
        row = VerdictMatrix(messages, policy).row(drop.trim_point)
        assert row.verdicts == tuple(verdict(done.messages, name) for name in providers())


@given(conversations(), st.sampled_from(list(providers())))
def test_the_proposal_for_a_cut_is_the_repair_of_what_it_leaves(messages: Conversation, name: str) -> None:
    matrix = VerdictMatrix(messages, None, [name])
    for index in range(len(messages)):
        assert matrix.repair(index, name) == repair(messages[index:], name, messages[:index])


@given(well_formed_conversations())
def test_a_cut_that_the_careful_policy_accepts_is_refused_by_no_provider_that_took_the_whole(
    messages: Conversation,
) -> None:
    matrix = VerdictMatrix(messages, SlidingWindow.careful(3))
    for point in careful_points(messages, 0):
        if point.kind is not None:
            both = zip(matrix.whole, matrix.row(point.index).verdicts, strict=True)
            assert all(cut.status == "accepted" for whole, cut in both if whole.status == "accepted")


def test_the_seed_story_as_a_matrix() -> None:
    # The pair of #2174 is taken by some and refused by others; with the anchor of #3447 all of them take it.
    names = ["bedrock-claude", "bedrock-nova", "gemini", "cohere", "strands"]
    plain = VerdictMatrix(review(), SlidingWindow.as_of("1.37.0", 4), names)
    assert [found.status for found in plain.row(5).verdicts] == [
        "accepted", "refused", "refused", "unknown", "accepted",
    ]  # fmt: skip
    anchored = VerdictMatrix(review(), SlidingWindow.careful(4), names)
    assert anchored.row(5).front == (0,)
    assert {found.status for found in anchored.row(5).verdicts} == {"accepted"}
    proposal = plain.repair(5, "gemini")
    assert proposal is not None
    assert proposal.messages == anchored.remainder(5)


def test_pins_stay_in_front_of_a_cut_where_the_policy_knows_them() -> None:
    messages = (pinned(user("remember")), assistant("ok"), *tool_chain(2), user("go on"), assistant("ok"))
    assert VerdictMatrix(messages, SlidingWindow()).row(2).front == (0,)
    assert VerdictMatrix(messages, SlidingWindow.as_of("1.37.0")).row(2).front == ()
    assert VerdictMatrix(messages, SlidingWindow(pin_first=2)).row(4).front == (0, 1)


def test_a_breach_far_behind_the_cut_is_still_seen() -> None:
    messages = (*(user("q"), assistant("a")) * 20, user("q"), assistant("a"), tool_result("lost"), assistant("a"))
    row = VerdictMatrix(messages, None, ["bedrock-claude"]).row(2)
    assert [(found.rule, found.index) for found in row.verdicts[0].violations] == [("no-orphan-result", 40)]


def test_an_index_that_is_not_there_is_an_error() -> None:
    for index in (-1, 8):
        with pytest.raises(IndexError, match=rf"no message {index}"):
            VerdictMatrix(review()).row(index)
    with pytest.raises(ValueError, match="unknown provider 'bedrok'"):
        VerdictMatrix(review(), None, ["bedrok"])


@given(conversations(), st.sampled_from(["1.28.0", "1.37.0", "careful"]))
def test_an_end_state_is_judged_and_repaired_as_it_is(messages: Conversation, release: str) -> None:
    policy = SlidingWindow.careful(3) if release == "careful" else SlidingWindow.as_of(release, 3)
    trace = recover(messages, policy, 5, HEURISTIC)
    end = end_state(trace)
    assert end.verdicts == tuple(verdict(trace.final, name) for name in providers())
    for found, proposal in zip(end.verdicts, end.repairs, strict=True):
        assert proposal is None or (found.status != "accepted" and proposal.verdict.status == "accepted")


def test_the_end_state_of_the_fallback_is_repaired_by_the_anchor() -> None:
    end = end_state(recover(review(), SlidingWindow.as_of("1.37.0", 4), 5, HEURISTIC), ["gemini", "ollama"])
    assert [found.status for found in end.verdicts] == ["refused", "accepted"]
    assert end.repairs[0] is not None
    assert "anchor (#3447)" in end.repairs[0].sentence
    assert end.repairs[1] is None
