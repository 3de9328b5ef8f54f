"""Tuning: sharing work between settings changes nothing, and what is recommended holds."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ctxlab
from ctxlab.fallback import Shared, measure
from ctxlab.messages import Conversation
from ctxlab.recovery import recover
from ctxlab.samples import sample_sessions
from ctxlab.summarizing import Summarizing
from ctxlab.truncation import Rule, Truncation
from ctxlab.tuning import Tuning, coarse_first, preserve_grid, settings, text_lengths, tune
from ctxlab.vocabularies import counter
from tests.builders import assistant, pinned, user
from tests.strategies import conversations, filled, summarizings

TRUNCATIONS = st.builds(Truncation, st.integers(1, 4000), st.sampled_from(["fixed", "proportional", "collapse"]))
EIGHTY = (user(*(filled(f"line {number} of the log\n", 5000) for number in range(80))),)


# Shared work


@given(
    conversations(), summarizings(), st.lists(TRUNCATIONS, min_size=1, max_size=4), st.sampled_from(["heuristic", None])
)
def test_settings_that_share_work_come_to_what_each_comes_to_from_scratch(
    messages: Conversation, manager: Summarizing, truncations: list[Truncation], name: str | None
) -> None:
    counting = counter(name) if name else counter()
    shared = Shared("session", messages, manager, counting)
    for truncation in truncations:
        assert shared.setting(truncation) == measure(
            "session", messages, replace(manager, truncation=truncation), counting
        )


@pytest.mark.parametrize("name", sample_sessions())
@pytest.mark.parametrize("rule", ["fixed", "proportional", "collapse"])
def test_they_do_on_every_sample_session(name: str, rule: Rule) -> None:
    messages = ctxlab.load(sample_sessions()[name]).messages
    manager = Summarizing(preserve_recent_messages=len(messages))
    shared = Shared(name, messages, manager, counter())
    for value in (50, 420, 2000):
        truncation = Truncation(value, rule)
        assert shared.setting(truncation) == measure(name, messages, replace(manager, truncation=truncation), counter())


def test_a_manager_without_a_fallback_has_nothing_to_tune() -> None:
    with pytest.raises(ValueError, match="no preserve_chars to tune"):
        measure("session", EIGHTY, Summarizing(truncation=None), counter())


# What a tuning says


@given(conversations(), st.integers(1, 3000), st.integers(0, 5000))
def test_an_answer_is_what_recovering_under_that_budget_shows(
    messages: Conversation, preserve_chars: int, budget: int
) -> None:
    heuristic = counter("heuristic")
    answer = tune({"it": messages}, heuristic, values=[preserve_chars]).answer(preserve_chars, budget)
    trace = recover(messages, Summarizing(truncation=Truncation(preserve_chars)), budget, heuristic)
    assert answer.refused_calls == (trace.refused_calls if trace.outcome == "fits" else None)
    assert answer.tokens == trace.tokens[-1]


@given(st.lists(conversations(), min_size=1, max_size=3), st.integers(0, 4000), st.integers(0, 8))
def test_a_recommendation_holds_and_no_larger_value_would_do(
    sessions: list[Conversation], budget: int, most_refused: int
) -> None:
    named = {str(number): messages for number, messages in enumerate(sessions)}
    tuning = tune(named, counter("heuristic"), values=[50, 200, 1000, 3000])
    calls = {answer.preserve_chars: answer.refused_calls for answer in tuning.answers(budget)}
    best = tuning.recommend(budget, most_refused).preserve_chars
    fitting = {value: needed for value, needed in calls.items() if needed is not None}
    within = [value for value, needed in fitting.items() if needed <= most_refused]
    if within:
        assert best == max(within)
    elif fitting:
        assert best is not None
        assert fitting[best] == min(fitting.values())
    else:
        assert best is None


def test_the_eighty_blocks_fit_after_seven_rounds_and_never_under_the_fixed_rule() -> None:
    for rule, needed in (("proportional", 7), ("fixed", None)):
        tuning = tune({"eighty": EIGHTY}, counter(), rule, [2000])  # type: ignore[arg-type]  # the loop widens a literal
        assert tuning.answer(2000, counter().message(EIGHTY[0]) // 2).refused_calls == needed


def test_the_characters_of_the_eighty_blocks_are_those_of_the_rule() -> None:
    characters = tune({"eighty": EIGHTY}, counter(), values=[2000]).settings[0].characters
    assert characters[:3] == (400_000, 400_000 - 2451, 400_000 - 3 * 2451)
    # 63 blocks were cut after round 6; round 7 cuts the other 17 and the first 47 again, to 637 at each end.
    assert characters[7] == 33 * 2549 + 47 * (2 * 637 + 49)


def test_several_sessions_need_as_many_calls_as_the_worst_and_leave_the_sum() -> None:
    small = (user(filled("line\n", 6000)),)
    tuning = tune({"eighty": EIGHTY, "small": small}, counter("heuristic"), values=[1000])
    alone = [tune({"it": messages}, counter("heuristic"), values=[1000]) for messages in (EIGHTY, small)]
    together, parts = tuning.answer(1000, 1400), [one.answer(1000, 1400) for one in alone]
    assert together.fitting == 1
    assert together.refused_calls is None
    assert together.characters == sum(part.characters for part in parts)


def test_a_reason_says_when_a_smaller_value_keeps_more() -> None:
    tuning = tune({"eighty": EIGHTY}, counter(), values=[500, 2000])
    budget = counter().message(EIGHTY[0]) * 2 // 5
    reason = tuning.recommend(budget, 7)
    assert reason.preserve_chars == 2000
    assert "500 would keep more text" in reason.reason


def test_a_reason_counts_the_calls_there_are_where_too_many_are_needed() -> None:
    tuning = tune({"eighty": EIGHTY}, counter(), values=[500, 2000])
    assert tuning.recommend(70_000, 1).reason.startswith("No preserve_chars fits in 1 refused call; with ")


def test_where_nothing_fits_the_reason_says_how_far_it_gets() -> None:
    messages = (user("short"), assistant("also short"))
    recommendation = tune({"it": messages}, counter("heuristic"), values=[50]).recommend(1)
    assert recommendation.preserve_chars is None
    assert "the smallest reached is 5" in recommendation.reason


# The range


@given(st.lists(conversations(), max_size=3), st.integers(1, 120))
def test_the_range_ascends_from_50_and_holds_the_default(sessions: list[Conversation], count: int) -> None:
    values = preserve_grid(sessions, count)
    assert values[0] == 50
    assert 2000 in values
    assert all(one < other for one, other in pairwise(values))
    longest = max((length for messages in sessions for length in text_lengths(messages)), default=0)
    assert values[-1] <= max(2000, longest * 1.1)


@given(st.lists(st.integers(1, 10_000), unique=True, max_size=120).map(sorted))
def test_coarse_first_tries_every_value_once_and_spreads_each_beginning(values: list[int]) -> None:
    order = coarse_first(values)
    assert sorted(order) == values
    assert order[: (len(values) + 15) // 16] == tuple(values[::16])


def test_whoever_stops_asking_stops_the_work_and_has_a_tuning_of_what_was_tried() -> None:
    trying = settings({"one": EIGHTY, "two": EIGHTY}, counter("heuristic"), values=[100, 200, 300])
    tried = [next(trying) for _ in range(3)]
    assert Tuning.of("proportional", tried).values == (100,)


def test_without_a_session_there_is_nothing_to_tune() -> None:
    with pytest.raises(ValueError, match="nothing was tried"):
        tune({}, counter("heuristic"), values=[100])


def test_progress_is_told_and_may_stop() -> None:
    seen: list[tuple[int, int]] = []

    def told(done: int, of: int) -> None:
        seen.append((done, of))
        if done == 2:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        tune({"it": EIGHTY}, counter("heuristic"), values=[100, 200, 300], progress=told)
    assert seen == [(1, 3), (2, 3)]


def test_pinned_texts_are_not_among_those_that_can_be_cut() -> None:
    assert text_lengths((pinned(user("x" * 500)), user("y" * 30))) == (30,)


def test_the_table_has_a_row_a_setting() -> None:
    frame = tune({"eighty": EIGHTY}, counter(), values=[500, 2000]).to_frame(1000)
    assert list(frame["preserve_chars"]) == [500, 2000]
    assert list(frame["fits"]) == [False, False]
    assert frame["error"].str.contains("insufficient messages").all()
