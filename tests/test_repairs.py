"""Repairs: what is proposed is accepted, keeps the user's words, and is only proposed where something is wrong."""

from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxlab.invariants import verdict
from ctxlab.messages import Conversation, text_slots
from ctxlab.providers import providers
from ctxlab.repairs import FILLER, NO_RESULT, OPENING, repair
from tests.builders import assistant, message, result_block, tool_result, tool_results, tool_use, user
from tests.strategies import conversations, well_formed_conversations

NAMES = list(providers())


@given(conversations(), st.sampled_from(NAMES))
def test_what_is_proposed_is_accepted_and_nothing_is_touched(messages: Conversation, name: str) -> None:
    before = deepcopy(messages)
    proposal = repair(messages, name)
    assert messages == before
    if proposal is not None:
        assert verdict(proposal.messages, name).status == "accepted"
        assert proposal.steps
        assert verdict(messages, name).status != "accepted"


@given(well_formed_conversations(), st.sampled_from(NAMES))
def test_an_accepted_conversation_needs_no_repair(messages: Conversation, name: str) -> None:
    if verdict(messages, name).status == "accepted":
        assert repair(messages, name) is None


@given(conversations(), st.sampled_from(NAMES))
def test_what_a_user_or_an_assistant_said_is_never_dropped(messages: Conversation, name: str) -> None:
    proposal = repair(messages, name)
    if proposal is not None:
        said = [_said(state) for state in (messages, proposal.messages)]
        assert set(said[0]) <= set(said[1])


def _said(messages: Conversation) -> list[str]:
    slots = (slot for part in messages for slot in text_slots(part))
    return [slot.text for slot in slots if slot.item is None and slot.text.strip()]


def test_the_last_plain_user_message_before_the_cut_is_kept_as_the_anchor() -> None:
    cut_off = (user("first"), assistant("ok"), user("the task"), tool_use("0"), tool_result("0"))
    proposal = repair((tool_use("1"), tool_result("1")), "gemini", cut_off)
    assert proposal is not None
    assert proposal.messages == (user("the task"), tool_use("1"), tool_result("1"))
    assert "message 2" in proposal.sentence


def test_without_any_user_message_a_user_text_is_put_in_front() -> None:
    proposal = repair((tool_use("1"), tool_result("1")), "bedrock-nova")
    assert proposal is not None
    assert proposal.messages == (user(OPENING), tool_use("1"), tool_result("1"))


def test_a_call_without_an_answer_gets_an_error_result_and_a_stale_result_goes() -> None:
    proposal = repair((user("q"), tool_use("a"), tool_result("old"), assistant("ok")), "anthropic")
    assert proposal is not None
    assert proposal.messages == (user("q"), tool_use("a"), tool_result("a", NO_RESULT, "error"), assistant("ok"))
    assert "'a'" in proposal.sentence
    assert "'old'" in proposal.sentence


def test_an_answer_in_a_later_message_is_moved_and_not_invented() -> None:
    messages = (user("q"), tool_use("a", "b"), tool_result("a", "1"), assistant("hm"), tool_result("b", "2"))
    proposal = repair(messages, "anthropic")
    assert proposal is not None
    assert proposal.messages == (user("q"), tool_use("a", "b"), tool_results(a="1", b="2"), assistant("hm"))


def test_an_orphan_that_shares_a_message_with_text_leaves_the_text() -> None:
    messages = (message("user", {"text": "[summary]"}, result_block("gone")), assistant("x"), user("q"))
    proposal = repair(messages, "bedrock-claude")
    assert proposal is not None
    assert proposal.messages == (user("[summary]"), assistant("x"), user("q"))


def test_results_that_must_stand_alone_are_parted_from_the_users_words() -> None:
    messages = (user("q"), tool_use("a"), tool_result("a"), user("and now?"))
    proposal = repair(messages, "bedrock-llama")
    assert proposal is not None
    assert proposal.messages == (*messages[:3], FILLER, messages[3])


@pytest.mark.parametrize("name", NAMES)
def test_what_no_known_means_can_mend_has_no_proposal(name: str) -> None:
    messages = (
        user("q"),
        assistant("ok"),
        message("user", {"text": "x"}, {"toolUse": {"toolUseId": "a", "name": "get"}}),
    )
    if verdict(messages, name).status != "accepted":
        assert repair(messages, name) is None
