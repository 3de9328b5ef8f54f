"""Turns with a restart between them (#5690): what a store of originals costs, and where live and restored differ."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxlab.messages import Conversation, is_pinned
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import Summarizing
from ctxlab.truncation import Truncation
from ctxlab.turns import Store, play_turns
from ctxlab.vocabularies import counter
from tests.builders import review, user
from tests.strategies import filled, managers, well_formed_conversations

HEURISTIC = counter("heuristic")
EIGHTY = (user(*(filled(f"line {number} of the log\n", 5000) for number in range(80))),)
PROPORTIONAL = Summarizing(truncation=Truncation(2000, "proportional"))
STORES = st.sampled_from(["originals", "reductions"])


def test_a_store_of_originals_pays_for_the_rounds_at_every_turn() -> None:
    turns = play_turns(EIGHTY, PROPORTIONAL, 40_000, HEURISTIC, turns=3)
    assert [turn.trace.refused_calls for turn in turns] == [7, 7, 7]
    assert all(turn.restored_tokens > 100_000 > turn.live_tokens for turn in turns)
    assert [turn.first_difference for turn in turns] == [0, 0, 0]


def test_a_store_that_writes_reductions_back_pays_once() -> None:
    turns = play_turns(EIGHTY, PROPORTIONAL, 40_000, HEURISTIC, turns=3, store="reductions")
    assert [turn.trace.refused_calls for turn in turns] == [7, 0, 0]
    assert all(turn.first_difference is None for turn in turns)
    assert turns[0].sentence.endswith("A restart loads exactly what was live.")


def test_what_was_dropped_is_skipped_on_a_restart_and_costs_no_second_call() -> None:
    window = SlidingWindow.as_of("1.62.0", window_size=2, should_truncate_results=False)
    turns = play_turns((user("a" * 4000), *review(), user("b" * 40)), window, 200, HEURISTIC, turns=2)
    assert turns[0].removed_message_count > 0
    assert turns[0].first_difference is None
    assert turns[1].trace.refused_calls == 0


def test_with_pins_a_restart_skips_from_the_front_what_was_kept() -> None:
    """The store knows a number only, so that it skips the pinned message and loads one that was dropped (#4027)."""
    messages = (user("the task " * 20), *review("x" * 300, pairs=4))
    manager = SlidingWindow(window_size=4, should_truncate_results=False, pin_first=1)
    turn = play_turns(messages, manager, 200, HEURISTIC, turns=1)[0]
    assert is_pinned(turn.live, 0)
    assert len(turn.live) == len(turn.restored)
    assert turn.first_difference == 0
    assert "they differ from message 0 on" in turn.sentence


def test_a_turn_that_gets_stuck_is_the_last_one_and_is_not_answered() -> None:
    turns = play_turns(EIGHTY, Summarizing.as_of("1.63.0"), 40_000, HEURISTIC, turns=3)
    assert len(turns) == 1
    assert turns[0].live == EIGHTY
    assert "1 refused model call, then stuck: Cannot summarize" in turns[0].sentence


@given(well_formed_conversations(), managers(), st.integers(20, 4000), st.integers(1, 3), STORES)
def test_every_turn_starts_from_what_the_one_before_would_restore(
    messages: Conversation, manager: SlidingWindow | Summarizing, budget: int, count: int, store: Store
) -> None:
    turns = play_turns(messages, manager, budget, HEURISTIC, turns=count, store=store)
    assert turns[0].trace.start == tuple(messages)
    for before, turn in pairwise(turns):
        assert turn.trace.start[:-1] == before.restored
        assert turn.trace.start[-1]["role"] == "user"
    for turn in turns:
        assert turn.live_tokens == sum(map(HEURISTIC.message, turn.live))
        assert turn.restored_tokens == sum(map(HEURISTIC.message, turn.restored))
        if store == "reductions":
            assert turn.restored == turn.live


@given(well_formed_conversations(), managers(), st.integers(20, 4000))
def test_the_store_keeps_every_message_as_it_was_said(
    messages: Conversation, manager: SlidingWindow | Summarizing, budget: int
) -> None:
    turn = play_turns(messages, manager, budget, HEURISTIC, turns=1)[0]
    answered = turn.trace.outcome == "fits"
    assert turn.stored == len(messages) + answered
    stored = [message for message in turn.restored if message in messages]
    assert len(stored) >= len(turn.restored) - 1 - answered


@pytest.mark.parametrize(("turns", "store"), [(0, "originals"), (1, "nowhere")])
def test_what_cannot_be_is_a_value_error_that_quotes_it(turns: int, store: Store) -> None:
    with pytest.raises(ValueError, match=r"got '?(0|nowhere)"):
        play_turns(EIGHTY, PROPORTIONAL, 10, HEURISTIC, turns=turns, store=store)
