"""The agent's loop under a token budget: the seed story end to end, and how recovering ends."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxlab.edits import DropMessages, TruncateText, edit_kind
from ctxlab.forecast import forecast
from ctxlab.messages import Conversation, tool_use_ids
from ctxlab.recovery import NO_PROGRESS, recover
from ctxlab.reduction import ContextWindowOverflow, Round
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import INSUFFICIENT, Summarizing
from ctxlab.tokens import TokenCounter, ledger
from ctxlab.trimming import Rejection
from ctxlab.truncation import Truncation
from ctxlab.vocabularies import counter
from tests.builders import assistant, pinned, review, tool_chain, user
from tests.strategies import conversations, managers

HEURISTIC = counter("heuristic")
ONE_A_TEXT = TokenCounter("one a text", lambda text: 1)
REVIEW = review()


def total(messages: Conversation) -> int:
    return sum(map(HEURISTIC.message, messages))


# The seed story: the eight messages of #2173 with a window of 4


def test_the_review_of_2173_is_trimmed_by_1_34_1() -> None:
    trace = recover(REVIEW, SlidingWindow.as_of("1.34.1", 4), total(REVIEW) - 1, HEURISTIC)
    assert (trace.outcome, trace.error) == ("fits", None)
    assert trace.final == REVIEW[5:]


def test_the_review_of_2173_is_stuck_in_1_35_0() -> None:
    manager = SlidingWindow.as_of("1.35.0", 4)
    trace = recover(REVIEW, manager, total(REVIEW) - 1, HEURISTIC)
    assert (trace.outcome, trace.error) == ("stuck", "Unable to trim conversation context!")
    assert (trace.rounds, trace.final, trace.refused_calls) == ((), REVIEW, 1)
    with pytest.raises(ContextWindowOverflow, match="Unable to trim conversation context!"):
        manager.reduce(REVIEW)
    routine = manager.manage(REVIEW)
    assert (routine.messages, routine.warning) == (REVIEW, "no valid trim point found")


def test_the_review_of_2173_is_cut_at_5_by_1_37_0_and_three_messages_are_left() -> None:
    trace = recover(REVIEW, SlidingWindow.as_of("1.37.0", 4), total(REVIEW) - 1, HEURISTIC)
    (edit,) = trace.edits
    assert isinstance(edit, DropMessages)
    assert (edit.trim_point, edit.kind, edit.start, edit.indices) == (5, "tool_pair", 4, (0, 1, 2, 3, 4))
    assert trace.outcome == "fits"
    assert len(trace.final) == 3
    assert tool_use_ids(trace.final[0]) == ("3",)
    assert trace.rounds[0].removed == 5


def test_the_careful_policy_keeps_the_question_before_the_pair() -> None:
    trace = recover(REVIEW, SlidingWindow.careful(4), total(REVIEW) - 1, HEURISTIC)
    (edit,) = trace.edits
    assert isinstance(edit, DropMessages)
    assert (edit.trim_point, edit.anchor) == (5, 0)
    assert trace.final == (REVIEW[0], *REVIEW[5:])


# How it ends


def test_a_conversation_that_fits_is_left_alone() -> None:
    trace = recover(review(), SlidingWindow(4), total(review()), HEURISTIC)
    assert (trace.outcome, trace.rounds, trace.refused_calls, trace.tokens) == ("fits", (), 0, (total(review()),))


def test_refused_calls_are_one_a_round_and_one_more_where_it_is_stuck() -> None:
    messages = (user("q"), *tool_chain(2, "x" * 900))
    stuck = recover(messages, SlidingWindow.as_of("1.35.0", 40), 0, HEURISTIC)
    assert (stuck.outcome, len(stuck.rounds), stuck.refused_calls) == ("stuck", 1, 2)
    fits = recover(messages, SlidingWindow.as_of("1.35.0", 40), total(messages) - 1, HEURISTIC)
    assert (fits.outcome, len(fits.rounds), fits.refused_calls) == ("fits", 1, 1)


def test_pins_that_were_set_before_it_got_stuck_stay_as_in_the_sdk() -> None:
    trace = recover((user("q"), assistant("a")), SlidingWindow(40, pin_first=1), 0, HEURISTIC)
    assert (trace.outcome, trace.refused_calls) == ("stuck", 1)
    assert trace.final == (pinned(user("q")), assistant("a"))
    assert len(trace.rounds) == 1


def test_the_error_carries_what_the_step_did_before_it_found_out() -> None:
    with pytest.raises(ContextWindowOverflow) as refusal:
        SlidingWindow(40, pin_first=1).reduce((user("q"), assistant("a")))
    assert refusal.value.round is not None
    assert refusal.value.round.messages[0] == pinned(user("q"))


def test_summarizing_a_summary_again_and_again_is_given_up() -> None:
    manager = Summarizing(0.1, 0, truncation=None, summarize=lambda messages: "again")
    trace = recover((user("a"), assistant("b")), manager, 0, HEURISTIC)
    assert (trace.outcome, trace.error) == ("gave up", NO_PROGRESS)


def test_a_policy_that_never_ends_is_stopped_after_the_rounds_that_one_allows() -> None:
    class Endless:
        def reduce(self, messages: Conversation, overflow: bool = True, round: int = 1, survey: Any = None) -> Round:
            text = messages[0]["content"][0]["text"]
            return Round(round, messages, (TruncateText(0, 0, None, text, text[:-1], 1, 1),))

    trace = recover((user("x" * 900),), Endless(), -1, HEURISTIC, max_rounds=5)
    assert (trace.outcome, trace.error, len(trace.rounds)) == ("gave up", "5 rounds were not enough", 5)


def test_results_that_grow_are_counted_as_progress_by_a_release_and_never_cut_by_the_careful_policy() -> None:
    messages = (user("q"), *tool_chain(1, "x" * 401), assistant("done"))
    released = recover(messages, SlidingWindow(40), total(messages) - 1, HEURISTIC)
    assert released.tokens[1] > released.tokens[0]
    careful = recover(messages, SlidingWindow.careful(40), total(messages) - 1, HEURISTIC)
    assert max(careful.tokens) == careful.tokens[0]


def test_the_smallest_size_that_is_foretold_may_be_the_one_before_a_result_grew() -> None:
    messages = (user("q"), *tool_chain(1, "x" * 401))
    foretold = forecast(messages, SlidingWindow.as_of("1.35.0", 40), 0, HEURISTIC)
    assert (foretold.refused_calls, foretold.smallest) == (None, total(messages))


def test_a_huge_newer_result_is_never_reached_by_a_release_and_is_cut_first_by_the_careful_policy() -> None:
    # #4341: the oldest result is small, so the released manager drops messages.
    messages = (
        user("q"),
        *tool_chain(1),
        assistant("a"),
        user("q"),
        *tool_chain(1, "x" * 9000, first=2),
        assistant("b"),
    )
    budget = total(messages) - 100
    released = recover(messages, SlidingWindow(40), budget, HEURISTIC)
    assert isinstance(released.edits[0], DropMessages)
    careful = recover(messages, SlidingWindow.careful(40), budget, HEURISTIC)
    assert careful.outcome == "fits"
    assert len(careful.final) == len(messages)


def test_a_careful_window_with_a_budget_cuts_once_where_a_release_cuts_again_and_again() -> None:
    turns = tuple(part for number in range(20) for part in (user("question " * 20), assistant("answer " * 20)))
    budget = total(turns[20:])
    once = recover(turns, SlidingWindow.careful(40, budget=budget, counter=HEURISTIC), budget, HEURISTIC)
    assert (once.outcome, len(once.rounds)) == ("fits", 1)
    assert once.final == turns[20:]
    assert len(recover(turns, SlidingWindow(40), budget, HEURISTIC).rounds) == 10


def test_one_token_less_than_a_remainder_needs_moves_the_careful_cut_on() -> None:
    turns = tuple(part for number in range(20) for part in (user("question " * 20), assistant("answer " * 20)))
    budget = total(turns[20:]) - 1
    manager = SlidingWindow.careful(40, budget=budget, counter=HEURISTIC)
    assert manager.trim_points(turns)[20].reason is Rejection.OVER_BUDGET
    assert manager.reduce(turns).messages == turns[22:]


def test_the_first_messages_are_pinned_in_the_first_round_of_an_episode_only() -> None:
    manager = SlidingWindow(4, pin_first=1)
    kinds = [[edit_kind(edit) for edit in manager.reduce(review(), round=round).edits] for round in (1, 2)]
    assert kinds == [["pin", "drop"], ["drop"]]


def test_a_careful_budget_needs_a_counter() -> None:
    with pytest.raises(ValueError, match="got budget 500 and no counter"):
        SlidingWindow.careful(40, budget=500)


def test_the_counter_decides_what_fits() -> None:
    trace = recover(review("x" * 9000), SlidingWindow(40), 100, ONE_A_TEXT)
    assert (trace.outcome, trace.rounds, trace.counter) == ("fits", (), "one a text")


def test_progress_is_told_in_tokens_saved_of_tokens_to_save() -> None:
    told: list[tuple[int, int]] = []
    messages = review("x" * 900)
    trace = recover(messages, SlidingWindow(2), 20, HEURISTIC, progress=lambda *saved: told.append(saved))
    assert told == [(trace.tokens[0] - tokens, trace.tokens[0] - 20) for tokens in trace.tokens[1:]]


def test_whoever_watches_the_progress_may_stop_it() -> None:
    def stop(saved: int, wanted: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        recover(review("x" * 900), SlidingWindow(2), 20, HEURISTIC, progress=stop)


# What a trace tells


def test_a_frame_has_one_row_an_edit() -> None:
    trace = recover(review("x" * 900), SlidingWindow(4), 150, HEURISTIC)
    frame = trace.to_frame()
    assert list(frame["sentence"]) == [edit.sentence for edit in trace.edits]
    assert list(frame["tokens_before"] - frame["tokens_after"]) == [
        edit.tokens.before - edit.tokens.after for edit in trace.edits if edit.tokens
    ]
    assert list(frame["round"]) == [round.number for round in trace.rounds for _ in round.edits]


def test_a_crash_of_the_release_is_noted_once() -> None:
    # Up to 1.28.0 a toolResult without status makes the release crash.
    broken = [{"toolResult": {"toolUseId": "1", "content": [{"text": "x"}]}}]
    messages: Conversation = (user("q"), *tool_chain(1)[:1], {"role": "user", "content": broken})
    trace = recover(messages, SlidingWindow.as_of("1.28.0", 40), 0, HEURISTIC)
    assert len(trace.notes) == 1
    assert "message 2" in trace.notes[0]


@pytest.mark.parametrize(("ratio", "split"), [(-1.0, 1), (0.0, 1), (0.1, 1), (0.3, 3), (0.8, 8), (0.99, 8), (5.0, 8)])
def test_the_share_that_is_summarized_stays_between_a_tenth_and_four_fifths(ratio: float, split: int) -> None:
    messages = tuple((user, assistant)[at % 2](str(at)) for at in range(10))
    assert Summarizing(ratio, 0).split_point(messages) == split


def test_stuck_summarizing_speaks_the_words_of_the_sdk() -> None:
    trace = recover(review(), Summarizing.as_of("1.62.0"), 0, HEURISTIC)
    assert (trace.outcome, trace.error) == ("stuck", INSUFFICIENT)


def test_the_proportional_rule_frees_the_session_in_which_the_fixed_one_is_stuck() -> None:
    # #5791: many texts of middling size.
    messages = tuple((user, assistant)[at % 2]("x" * 5000) for at in range(8))
    fixed = recover(messages, Summarizing(truncation=Truncation(2000, "fixed")), 6000, HEURISTIC)
    proportional = recover(messages, Summarizing(truncation=Truncation(2000, "proportional")), 6000, HEURISTIC)
    assert (fixed.outcome, fixed.error) == ("stuck", INSUFFICIENT)
    assert (proportional.outcome, len(proportional.final)) == ("fits", 8)


class OneAtATime:
    """A policy of somebody else's, with the documented face and nothing more."""

    def reduce(self, messages: Conversation, overflow: bool = True, round: int = 1) -> Round:
        if len(messages) < 2:
            raise ContextWindowOverflow("nothing left to drop")
        return Round(round, messages, (DropMessages((0,), 1, "any", 1),))


def test_a_policy_of_somebody_elses_is_recovered_with_too() -> None:
    trace = recover(tuple(user("hi") for _ in range(5)), OneAtATime(), 2, HEURISTIC)
    assert (trace.outcome, len(trace.final), trace.refused_calls) == ("fits", 2, 3)


@given(conversations(), managers(), st.integers(0, 300))
def test_what_a_ledger_has_counted_need_not_be_counted_again(messages: Conversation, manager: Any, budget: int) -> None:
    costs = ledger(messages, HEURISTIC).per_message
    told = recover(messages, manager, budget, HEURISTIC, 50, costs=costs)
    assert told == recover(messages, manager, budget, HEURISTIC, 50)
