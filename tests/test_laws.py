"""Laws that every reduction keeps, whatever the conversation and the manager: what a trace says is what happened."""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ctxlab.careful import STRICT
from ctxlab.edits import DropMessages, Edit, Pin, ReplaceResult, Summarize, TruncateText, touched
from ctxlab.forecast import forecast
from ctxlab.invariants import broken_cases, broken_rules
from ctxlab.messages import Conversation, Message, blocks, is_pinned, tool_result_ids, tool_use_ids
from ctxlab.recovery import MAX_ROUNDS, PATIENCE, recover
from ctxlab.reduction import ContextWindowOverflow, Round, Trace
from ctxlab.releases import behaviour
from ctxlab.replay import apply, survivors
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import Summarizing
from ctxlab.survey import Survey
from ctxlab.trimming import Rejection, TrimRule, kind_codes
from ctxlab.truncation import Truncation
from ctxlab.vocabularies import counter
from tests.builders import tool_chain
from tests.strategies import (
    VERSIONS,
    careful_windows,
    conversations,
    managers,
    sliding_windows,
    summarizings,
    well_formed_conversations,
)

HEURISTIC = counter("heuristic")
# Budgets as percent of what the conversation costs: as absolute numbers most would end before the first round.
SHARES = st.integers(0, 99)

Manager = SlidingWindow | Summarizing


def total(messages: Conversation) -> int:
    return sum(HEURISTIC.message(message) for message in messages)


def part(messages: Conversation, share: int) -> int:
    """``share`` percent of what the conversation costs."""
    return total(messages) * share // 100


def attempt(manager: Manager, messages: Conversation, overflow: bool, number: int = 1) -> Round:
    """The round, also where it raises: then what it did before."""
    try:
        return manager.reduce(messages, overflow, number)
    except ContextWindowOverflow as refusal:
        return refusal.round or Round(number, messages)


def steps(trace: Trace) -> Iterator[tuple[Conversation, Edit, Conversation]]:
    """Every edit with the conversation before and after it."""
    states = list(trace.states())
    yield from zip(states[:-1], trace.edits, states[1:], strict=True)


# Nothing is mutated


@given(conversations(), managers(), SHARES, st.booleans())
def test_the_input_is_never_touched(messages: Conversation, manager: Manager, share: int, overflow: bool) -> None:
    before = deepcopy(messages)
    attempt(manager, messages, overflow).messages  # noqa: B018  replaying is what could touch it
    recover(messages, manager, part(messages, share), HEURISTIC).final  # noqa: B018  as above
    if isinstance(manager, SlidingWindow):
        manager.trim_points(messages)
    assert messages == before


@given(conversations(), managers())
def test_a_message_that_no_edit_touches_is_the_very_same_object(messages: Conversation, manager: Manager) -> None:
    for before, edit, after in steps(recover(messages, manager, 0, HEURISTIC)):
        for index, origin in enumerate(survivors(edit, len(before))):
            if origin is not None and origin not in touched(edit):
                assert after[index] is before[origin]


# The trace is what happened


@given(conversations(), managers(), SHARES)
def test_replaying_the_edits_gives_the_result(messages: Conversation, manager: Manager, share: int) -> None:
    trace = recover(messages, manager, part(messages, share), HEURISTIC)
    replayed = messages
    for edit in trace.edits:
        replayed = apply(replayed, edit)
    assert replayed == trace.final == list(trace.states())[-1]
    assert not trace.rounds or trace.rounds[-1].messages == trace.final


@given(conversations(), managers(), SHARES)
def test_recovering_is_calling_reduce_round_by_round(messages: Conversation, manager: Manager, share: int) -> None:
    trace = recover(messages, manager, part(messages, share), HEURISTIC)
    state = messages
    for number, round in enumerate(trace.rounds, 1):
        assert total(state) > trace.budget
        alone = attempt(manager, state, True, number)
        assert [_bare(edit) for edit in round.edits] == [_bare(edit) for edit in alone.edits]
        assert round.number == number
        assert round.removed == alone.removed
        state = alone.messages
    assert state == trace.final


def _bare(edit: Edit) -> Edit:
    """An edit without what only recovering knows: tokens, and what was lost before this round."""
    return replace(edit, lost=0, tokens=None) if isinstance(edit, TruncateText) else replace(edit, tokens=None)


@given(conversations(), managers(), SHARES)
def test_the_tokens_of_every_round_and_every_edit_equal_a_recount(
    messages: Conversation, manager: Manager, share: int
) -> None:
    trace = recover(messages, manager, part(messages, share), HEURISTIC)
    assert trace.tokens == (total(messages), *(total(round.messages) for round in trace.rounds))
    for before, edit, after in steps(trace):
        assert edit.tokens is not None
        assert edit.tokens.difference == total(after) - total(before)


@given(conversations(), managers(), SHARES)
def test_the_outcome_is_fits_exactly_where_the_last_tokens_are_within_the_budget(
    messages: Conversation, manager: Manager, share: int
) -> None:
    trace = recover(messages, manager, part(messages, share), HEURISTIC)
    assert (trace.outcome == "fits") == (total(trace.final) <= trace.budget)
    assert (trace.outcome == "fits") == (trace.error is None)
    assert all(tokens > trace.budget for tokens in trace.tokens[:-1])


@given(conversations(), managers())
def test_nothing_changes_where_the_conversation_fits_already(messages: Conversation, manager: Manager) -> None:
    trace = recover(messages, manager, total(messages), HEURISTIC)
    assert (trace.outcome, trace.rounds, trace.refused_calls) == ("fits", (), 0)


@given(conversations(), managers())
def test_each_message_descends_from_the_one_that_the_trace_names(messages: Conversation, manager: Manager) -> None:
    trace = recover(messages, manager, 0, HEURISTIC)
    for step in trace.steps():
        known = [origin for origin in step.origins if origin is not None]
        assert len(step.origins) == len(step.messages)
        assert known == sorted(set(known))
        for message, origin in zip(step.messages, step.origins, strict=True):
            if origin is not None:
                assert message.get("role") == messages[origin].get("role")


@given(conversations(), managers(), st.sampled_from([STRICT, *(behaviour(version).trim for version in VERSIONS)]))
def test_what_an_episode_knows_of_trim_points_is_what_a_fresh_look_finds(
    messages: Conversation, manager: Manager, rule: TrimRule
) -> None:
    survey = Survey()
    cases = broken_cases(messages)
    assert survey.codes(messages, rule) == kind_codes(messages, rule)
    assert all(survey.breaks(messages, case) for case in cases)
    for _, edit, after in steps(recover(messages, manager, 0, HEURISTIC)):
        survey.follow(edit, after)
        assert survey.codes(after, rule) == kind_codes(after, rule)
        broken = broken_cases(after)
        cases |= broken
        assert {case for case in cases if survey.breaks(after, case)} == broken


@given(conversations(max_turns=8), careful_windows())
def test_an_episode_that_remembers_is_played_as_one_in_which_every_round_looks_afresh(
    messages: Conversation, manager: SlidingWindow
) -> None:
    class Forgetful:
        def reduce(self, messages: Conversation, overflow: bool = True, round: int = 1) -> Round:
            return manager.reduce(messages, overflow, round)

    assert recover(messages, manager, 0, HEURISTIC) == recover(messages, Forgetful(), 0, HEURISTIC)


# Budgets


@given(conversations(), managers(), SHARES, SHARES)
def test_the_edits_of_a_larger_budget_are_the_first_ones_of_a_smaller_budget(
    messages: Conversation, manager: Manager, one: int, other: int
) -> None:
    small, large = (recover(messages, manager, part(messages, share), HEURISTIC) for share in sorted((one, other)))
    assert small.edits[: len(large.edits)] == large.edits
    assert small.tokens[: len(large.tokens)] == large.tokens


@given(conversations(), managers(), SHARES, SHARES)
def test_a_trace_under_a_larger_budget_is_what_recovering_under_it_gives(
    messages: Conversation, manager: Manager, one: int, other: int
) -> None:
    small, large = (part(messages, share) for share in sorted((one, other)))
    assert recover(messages, manager, small, HEURISTIC).under(large) == recover(messages, manager, large, HEURISTIC)


@given(conversations(), managers())
def test_a_trace_that_fits_knows_nothing_of_a_smaller_budget(messages: Conversation, manager: Manager) -> None:
    smallest = min(recover(messages, manager, 0, HEURISTIC).tokens)
    trace = recover(messages, manager, smallest, HEURISTIC)
    assert trace.outcome == "fits"
    with pytest.raises(ValueError, match="below what this trace reached"):
        trace.under(smallest - 1)


@given(conversations(), managers(), SHARES)
def test_the_forecast_is_what_running_shows(messages: Conversation, manager: Manager, share: int) -> None:
    foretold = forecast(messages, manager, part(messages, share), HEURISTIC)
    trace = recover(messages, manager, part(messages, share), HEURISTIC)
    assert foretold.refused_calls == (trace.refused_calls if trace.outcome == "fits" else None)
    if trace.outcome != "fits":
        assert foretold.smallest == min(trace.tokens)


# It ends


@given(conversations(), st.one_of(sliding_windows(), careful_windows()))
def test_a_sliding_window_ends_within_two_rounds_a_message(messages: Conversation, manager: SlidingWindow) -> None:
    trace = recover(messages, manager, -1, HEURISTIC)
    assert trace.outcome in ("stuck", "gave up")
    assert len(trace.rounds) <= 2 * len(messages) + 1


@given(conversations(), summarizings())
def test_summarizing_ends_within_a_bounded_number_of_rounds(messages: Conversation, manager: Summarizing) -> None:
    trace = recover(messages, manager, -1, HEURISTIC)
    assert trace.outcome in ("stuck", "gave up")
    assert len(trace.rounds) <= len(messages) + 14 + PATIENCE < MAX_ROUNDS


# Pins


@given(conversations(), managers())
def test_a_pinned_message_survives_untouched(messages: Conversation, manager: Manager) -> None:
    assume(manager.rules.pins)
    for before, edit, _ in steps(recover(messages, manager, 0, HEURISTIC)):
        if not isinstance(edit, Pin):
            assert not [index for index in touched(edit) if is_pinned(before, index)]


@given(conversations(), sliding_windows(versions=("1.43.0", "1.62.0")))
def test_pinning_the_first_messages_keeps_them_to_the_end(messages: Conversation, manager: SlidingWindow) -> None:
    first = replace(manager, pin_first=2)
    final = recover(messages, first, 0, HEURISTIC).final
    assume(total(messages) > 0)
    assert [message.get("content") for message in final[:2]] == [message.get("content") for message in messages[:2]]


# What gets smaller, and what keeps its shape


def text_cuts(trace: Trace) -> Iterator[tuple[Conversation, TruncateText, Conversation]]:
    for before, edit, after in steps(trace):
        if isinstance(edit, TruncateText):
            yield before, edit, after


@given(conversations(), careful_windows())
def test_tokens_never_rise_across_a_careful_cut_of_a_text(messages: Conversation, manager: SlidingWindow) -> None:
    for _, edit, _ in text_cuts(recover(messages, manager, 0, HEURISTIC)):
        assert len(edit.after) < len(edit.before)
        assert edit.tokens is not None
        assert edit.tokens.difference <= 0


@given(conversations(), st.sampled_from([1, 20, 100, 500, 2000]), st.sampled_from([2, 10, 40]))
def test_tokens_never_rise_across_a_proportional_cut(messages: Conversation, preserve_chars: int, recent: int) -> None:
    manager = Summarizing(0.3, recent, truncation=Truncation(preserve_chars, "proportional"))
    for _, edit, _ in text_cuts(recover(messages, manager, 0, HEURISTIC)):
        assert len(edit.after) < len(edit.before)
        assert 2 * edit.kept <= len(edit.before) / 2
        assert edit.tokens is not None
        assert edit.tokens.difference <= 0


@pytest.mark.parametrize("text", [" " * 2001, "a" * 2001])
def test_fewer_characters_may_be_more_tokens_in_a_vocabulary_that_packs_repeats(text: str) -> None:
    # The two laws above are about the heuristic: with cl100k_base one token can stand for eighty spaces, and the
    # marker costs fourteen. No rule of this house looks at tokens before it cuts.
    packed = counter("cl100k_base")
    shortened = Truncation(2000, "proportional").shorten(text)
    assert shortened is not None
    assert (packed.text(shortened) > packed.text(text)) == (text[0] == " ")


@given(conversations(), managers())
def test_shortening_a_text_keeps_ids_roles_statuses_order_and_number_of_blocks(
    messages: Conversation, manager: Manager
) -> None:
    for before, _, after in text_cuts(recover(messages, manager, 0, HEURISTIC)):
        assert [_shape(message) for message in after] == [_shape(message) for message in before]


def _shape(message: Message) -> tuple[object, ...]:
    results = [block["toolResult"] for block in blocks(message) if isinstance(block, dict) and "toolResult" in block]
    inside = [
        (result.get("status"), len(result.get("content") or ())) for result in results if isinstance(result, dict)
    ]
    return message.get("role"), len(blocks(message)), tool_use_ids(message), tool_result_ids(message), inside


@given(conversations(), sliding_windows(versions=("1.40.0", "1.43.0", "1.62.0")))
def test_routine_management_shortens_nothing_from_1_40_0_on(messages: Conversation, manager: SlidingWindow) -> None:
    edits = manager.manage(messages).edits
    assert all(isinstance(edit, Pin | DropMessages) for edit in edits)


@given(conversations(), st.one_of(sliding_windows(), careful_windows()))
def test_routine_management_does_nothing_while_the_window_is_not_full(
    messages: Conversation, manager: SlidingWindow
) -> None:
    if len(messages) <= manager.window_size:
        assert manager.manage(messages).edits == ()


@given(conversations(), managers(), st.booleans())
def test_what_a_round_removed_is_what_is_gone(messages: Conversation, manager: Manager, overflow: bool) -> None:
    done = attempt(manager, messages, overflow)
    summaries = sum(isinstance(edit, Summarize) for edit in done.edits)
    assert done.removed == len(messages) - len(done.messages) + summaries


@given(conversations(), st.sampled_from(["1.0.0", "1.7.0"]))
def test_a_result_that_an_early_release_replaces_keeps_its_id(messages: Conversation, version: str) -> None:
    for edit in attempt(SlidingWindow.as_of(version, 40), messages, True).edits:
        if isinstance(edit, ReplaceResult):
            assert edit.after["toolResult"].get("toolUseId") == edit.before["toolResult"].get("toolUseId")


# The careful policy


@given(conversations(), careful_windows())
def test_the_careful_policy_breaks_no_rule_at_any_step(messages: Conversation, manager: SlidingWindow) -> None:
    for before, _, after in steps(recover(messages, manager, 0, HEURISTIC)):
        # A window of 0 messages asks for an empty conversation, which some providers refuse.
        if after:
            assert broken_rules(after) <= broken_rules(before)
            assert broken_cases(after) <= broken_cases(before)


@given(well_formed_conversations(pins=True), careful_windows())
def test_on_a_well_formed_conversation_careful_routine_management_breaks_no_rule(
    messages: Conversation, manager: SlidingWindow
) -> None:
    assert not broken_rules(manager.manage(messages).messages)


@given(well_formed_conversations(), careful_windows())
def test_the_careful_policy_leaves_no_conversation_that_starts_with_the_assistant(
    messages: Conversation, manager: SlidingWindow
) -> None:
    final = recover(messages, manager, 0, HEURISTIC).final
    assert not final or final[0]["role"] == "user"


@given(conversations(), careful_windows())
def test_a_careful_cut_at_a_tool_pair_leaves_something_before_it(
    messages: Conversation, manager: SlidingWindow
) -> None:
    for _, edit, _ in steps(recover(messages, manager, 0, HEURISTIC)):
        if isinstance(edit, DropMessages) and edit.kind == "tool_pair":
            assert len(edit.indices) < edit.trim_point


def test_a_tool_pair_without_any_user_message_to_anchor_it_is_declined() -> None:
    # The conversation starts with the assistant already, so that no rule would be broken anew (#3447).
    manager = SlidingWindow.careful(2)
    assert manager.trim_points(tool_chain(4))[6].reason is Rejection.NO_ANCHOR
    assert manager.manage(tool_chain(4)).edits == ()


@given(conversations(), careful_windows(), st.integers(0, 100))
def test_a_careful_trim_point_shown_for_a_budget_is_one_whose_remainder_fits(
    messages: Conversation, manager: SlidingWindow, share: int
) -> None:
    assume(manager.window_size > 0)
    budget = part(messages, share)
    manager = replace(manager, should_truncate_results=False, budget=budget, counter=HEURISTIC, pin_first=None)
    shown = [point.index for point in manager.trim_points(messages) if point.kind]
    if shown:
        done = manager.reduce(messages)
        (drop,) = done.edits
        assert isinstance(drop, DropMessages)
        assert drop.trim_point == shown[0]
        assert total(done.messages) <= budget


@given(conversations(), careful_windows())
def test_the_careful_policy_drops_no_message_while_a_result_can_still_be_shortened(
    messages: Conversation, manager: SlidingWindow
) -> None:
    manager = replace(manager, should_truncate_results=True)
    assume(manager.window_size > 0)
    for before, edit, _ in steps(recover(messages, manager, 0, HEURISTIC)):
        if isinstance(edit, DropMessages):
            shortened = attempt(manager, before, True, number=2).edits
            assert not [other for other in shortened if isinstance(other, TruncateText)]
