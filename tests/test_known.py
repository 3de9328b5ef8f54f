"""Judging by what differs: the same verdicts as looking at all of it, whatever was cut, changed, moved or put in."""

from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxlab.invariants import CONVERSATION_RULES, Known, View, broken_cases, look, verdict, verdicts
from ctxlab.invariants.turns import Merging
from ctxlab.messages import Conversation, Message
from ctxlab.providers import providers
from ctxlab.recovery import Manager, recover
from ctxlab.replay import origins
from ctxlab.vocabularies import counter
from tests.builders import assistant, tool_chain, tool_result, tool_use, user
from tests.strategies import conversations, managers

HEURISTIC = counter("heuristic")


@st.composite
def parts(draw: st.DrawFn, messages: Conversation, others: Conversation) -> tuple[Conversation, list[int | None]]:
    """What may become of messages: runs of them in any order, some exchanged, and others put in between."""
    state: list[Message] = []
    origins: list[int | None] = []
    for _ in range(draw(st.integers(0, 3))):
        start, stop = sorted(draw(st.tuples(*[st.integers(0, len(messages))] * 2)))
        state += messages[start:stop]
        origins += range(start, stop)
        put_in, exchanged = draw(st.booleans()), draw(st.booleans())
        if others and put_in:
            at, other = draw(st.integers(0, len(state))), draw(st.sampled_from(others))
            state.insert(at, other)
            origins.insert(at, None)
        if others and state and exchanged:
            state[draw(st.integers(0, len(state) - 1))] = draw(st.sampled_from(others))
    return tuple(state), origins


@settings(max_examples=150)
@given(st.data(), conversations(max_turns=8), conversations(max_turns=2))
def test_whatever_becomes_of_a_conversation_is_judged_as_if_all_of_it_were_looked_at(
    data: st.DataObject, messages: Conversation, others: Conversation
) -> None:
    known = Known(messages)
    for _ in range(3):
        state, places = data.draw(parts(messages, others))
        assert known.verdicts(state, places) == verdicts(state)


@settings(max_examples=100)
@given(st.data(), conversations(max_turns=8), conversations(max_turns=2))
def test_a_case_is_found_broken_behind_another_front_as_if_all_of_it_were_looked_at(
    data: st.DataObject, messages: Conversation, others: Conversation
) -> None:
    known = Known(messages)
    every = broken_cases(messages) | broken_cases(others)
    for _ in range(3):
        same = data.draw(st.integers(0, len(messages)))
        state = (*data.draw(st.sampled_from([(), others, messages[:2], others[:1]])), *messages[len(messages) - same :])
        broken = broken_cases(state)
        assert {case for case in every | broken if known.breaks(state, same, case)} == broken


@given(conversations(max_turns=4))
def test_what_merges_nothing_is_broken_alike_under_every_grouping(messages: Conversation) -> None:
    six = {
        (merging, breach.rule, breach.case)
        for merging in get_args(Merging)
        for rule in CONVERSATION_RULES.values()
        for breach in rule.check(look(messages, merging))
    }
    assert {case for case in broken_cases(messages) if case[1] in CONVERSATION_RULES} == six


@settings(max_examples=60)
@given(conversations(max_turns=6), managers(), st.integers(0, 300))
def test_what_a_policy_leaves_is_judged_as_if_all_of_it_were_looked_at(
    messages: Conversation, policy: Manager, budget: int
) -> None:
    trace = recover(messages, policy, budget, HEURISTIC)
    known = Known(messages)
    assert known.verdicts(messages, range(len(messages))) == verdicts(messages)
    assert known.verdicts(trace.final, origins(trace.edits, len(messages))) == verdicts(trace.final)


def test_a_call_that_is_answered_far_away_is_told_from_one_that_never_is() -> None:
    # The pair that is torn apart is far from the cut: what is known of it depends on what was dropped all the same.
    middle = tuple(part for _ in range(30) for part in (user("q"), assistant("a")))
    messages = (user("q"), tool_use("1"), *middle, tool_result("1"), assistant("a"))
    known = Known(messages)
    for first in (0, 1, 2, 9):
        state = messages[first:]
        assert known.verdicts(state, range(first, len(messages))) == verdicts(state)
    cases = {breach.case for breach in known.verdicts(messages[2:], range(2, len(messages)), ["strands"])[0].violations}
    assert "asked-earlier" not in cases


def test_only_the_turns_around_a_parting_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    messages = (user("Go."), *tool_chain(500), assistant("ok"))
    known = Known(messages)
    known.verdicts(messages, range(len(messages)))
    seen: list[int] = []

    def counted(state: Conversation, merging: Merging) -> View:
        seen.append(len(state))
        return look(state, merging)

    monkeypatch.setattr("ctxlab.invariants.parting.look", counted)
    monkeypatch.setattr("ctxlab.invariants.known.look", counted)
    found = known.verdicts(messages[301:], range(301, len(messages)))
    assert found == tuple(verdict(messages[301:], name) for name in providers())
    assert max(seen) < 10
