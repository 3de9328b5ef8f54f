"""Pictures of records: a history agrees with its trace, a picture with both, and no message is left out.

Laws first, over generated conversations under every manager; then what the screens must say of the session of #2173.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxlab.figures import Moment, Subject, history, story, timeline
from ctxlab.figures.grouping import GROUPS, MARKS, MOST_BARS, Groups
from ctxlab.figures.history import NEVER
from ctxlab.figures.legend import legend
from ctxlab.figures.picture import heights, now, picture
from ctxlab.figures.words import about, hover_group, reason, verdict
from ctxlab.messages import Conversation
from ctxlab.recovery import recover
from ctxlab.reduction import Trace
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import Summarizing
from ctxlab.tokens import HEURISTIC, ledger
from ctxlab.trimming import trim_points
from tests.builders import assistant, image, message, pinned, review, tool_chain, user
from tests.strategies import conversations, managers, sliding_windows


def subject_of(
    messages: Conversation, manager: SlidingWindow | Summarizing, first: int = 0, last: int | None = None
) -> tuple[Subject, Trace]:
    """A conversation under a manager that is played to the end, and the trace of that."""
    bill = ledger(messages, HEURISTIC)
    trace = recover(messages, manager, 0, HEURISTIC)
    points = trim_points(messages, 0, manager.rules.trim)
    end = len(messages) if last is None else last
    return Subject(messages, bill, points, history(trace, bill), manager.rules.pins, first, end), trace


def moment_of(subject: Subject, budget: int, edit: int | None = None, start: int | None = 0) -> Moment:
    edits = len(subject.history.edits) if edit is None else edit
    return Moment(subject, budget, edits, start, focus=0 if subject.messages else None)


def seed(release: str) -> tuple[Moment, Trace]:
    """The review of #2173 under a release with window 4, at the end of its trace."""
    manager = SlidingWindow.as_of(release, window_size=4)
    messages = review("diff " * 60)
    subject, trace = subject_of(messages, manager)
    under = trace.under(trace.tokens[0] // 2)
    edit = subject.history.ends[len(under.rounds)]
    return Moment(subject, under.budget, edit, manager.start(messages), focus=5), under


# ---- a history agrees with its trace


@given(conversations(), managers())
def test_a_history_has_the_tokens_that_the_trace_counted_after_each_round(
    messages: Conversation, manager: SlidingWindow | Summarizing
) -> None:
    subject, trace = subject_of(messages, manager)
    laid_out = subject.history
    assert tuple(laid_out.tokens[list(laid_out.ends)].tolist()) == trace.tokens


@given(conversations(), managers())
def test_a_message_is_gone_in_a_history_exactly_when_it_is_gone_in_the_state(
    messages: Conversation, manager: SlidingWindow | Summarizing
) -> None:
    subject, trace = subject_of(messages, manager)
    for edit, step in enumerate(trace.steps(), 1):
        alive = np.flatnonzero(subject.history.gone_at > edit).tolist()
        assert alive == sorted(origin for origin in step.origins if origin is not None)


@given(conversations(), sliding_windows())
def test_what_stays_less_what_was_cut_away_is_what_the_conversation_costs(
    messages: Conversation, manager: SlidingWindow
) -> None:
    subject, _ = subject_of(messages, manager)
    for edit in range(len(subject.history.edits) + 1):
        moment = moment_of(subject, 0, edit)
        staying = (subject.costs - moment.lost)[~moment.gone]
        assert int(staying.sum()) == moment.tokens


@given(conversations(), sliding_windows())
def test_the_last_cut_is_where_the_conversation_now_starts_but_for_what_is_pinned(
    messages: Conversation, manager: SlidingWindow
) -> None:
    subject, _ = subject_of(messages, manager)
    for edit in range(1, len(subject.history.edits) + 1):
        moment = moment_of(subject, 0, edit)
        if moment.cut is not None:
            alive = np.flatnonzero(~moment.gone)
            before = alive[alive < moment.cut.index]
            assert all(subject.history.pinned_at[before] < NEVER)
            assert not moment.gone[moment.cut.index :].any()


# ---- no message is left out


@given(st.integers(0, 3000), st.integers(1, 12_000))
def test_every_message_in_sight_is_in_exactly_one_bar_and_under_one_mark(first: int, count: int) -> None:
    for groups, most in ((Groups.bars(first, first + count), MOST_BARS), (Groups.marks(first, first + count), MARKS)):
        covered = [i for a, b in zip(groups.starts, groups.ends, strict=True) for i in range(a, b)]
        assert covered == list(range(first, first + count))
        assert len(groups) <= most
        assert all(
            int(groups.starts[groups.of(i)]) <= i < int(groups.ends[groups.of(i)]) for i in covered[:: 1 + count // 50]
        )


@pytest.mark.parametrize(
    ("count", "sentence"),
    [
        (1, "Showing 1 message, a bar each."),
        (400, "Showing 400 messages, a bar each."),
        (1000, "Showing 1,000 messages in 250 groups of 4: drag across the picture to see each message."),
        (10_000, "Showing 10,000 messages in 250 groups of 40: drag across the picture to see each message."),
    ],
)
def test_what_a_bar_stands_for_is_said(count: int, sentence: str) -> None:
    assert Groups.bars(0, count).sentence(count) == sentence
    assert len(Groups.bars(0, count)) <= max(GROUPS, MOST_BARS)


@settings(max_examples=30)
@given(conversations(), sliding_windows())
def test_the_bars_of_a_picture_add_up_to_the_ledger_and_the_gaps_to_what_went(
    messages: Conversation, manager: SlidingWindow
) -> None:
    subject, _ = subject_of(messages, manager)
    moment = moment_of(subject, 0)
    assert sum(sum(stack["tokens"]) for stack in picture(subject)["stacks"]) == subject.ledger.total
    assert sum(end - first for first, end in now(moment)["gaps"]) == len(messages) - moment.staying


@given(conversations(), sliding_windows(), st.integers(0, 20_000))
def test_a_mark_is_filled_exactly_where_what_would_stay_fits(
    messages: Conversation, manager: SlidingWindow, budget: int
) -> None:
    subject, _ = subject_of(messages, manager)
    moment = moment_of(subject, budget)
    flags = now(moment)["fits"]
    assert [flag == "1" for flag in flags] == [tokens <= budget for tokens in heights(moment)["marks"]]
    assert [flag == "1" for flag in flags] == [moment.fits(index) for index in subject.chosen]


@given(conversations(), sliding_windows())
def test_moving_the_budget_changes_nothing_but_the_moment(messages: Conversation, manager: SlidingWindow) -> None:
    subject, trace = subject_of(messages, manager)
    before = picture(subject)
    for budget in trace.tokens:
        now(moment_of(subject, budget))
    assert picture(subject) == before


@pytest.mark.parametrize("count", [1, 3, 8, 80, 1000, 10_000])
def test_a_figure_is_small_however_long_the_session_is(count: int) -> None:
    messages = (user("Go."), *tool_chain(count // 2, "x" * 900))[:count]
    subject, trace = subject_of(messages, SlidingWindow.as_of("1.62.0", window_size=40))
    figure = timeline(moment_of(subject, trace.tokens[0] // 3))
    assert sum(len(trace.x) for trace in figure.data) <= 12 * MOST_BARS
    assert len(figure.to_json()) < 400_000


def test_a_zoomed_picture_shows_each_message_and_only_those() -> None:
    messages = (user("Go."), *tool_chain(500, "x" * 90))
    subject, _ = subject_of(messages, SlidingWindow.as_of("1.62.0"), 100, 160)
    drawn = picture(subject)
    assert (drawn["first"], drawn["last"], drawn["size"]) == (100, 160, 1)
    assert sum(sum(stack["tokens"]) for stack in drawn["stacks"]) == sum(subject.ledger.per_message[100:160])


# ---- what is said


def test_the_seed_is_cut_at_5_in_1_37_0_and_what_goes_is_hatched() -> None:
    moment, trace = seed("1.37.0")
    at = now(moment)
    assert at["cut"] == 5
    assert at["gaps"] == [(0, 5)]
    assert at["cut_label"].startswith("cut at 5: 5 messages and ")
    told = story(trace, "Strands 1.37.0", moment)
    assert told.tone == "reduced"
    assert "cuts at message 5: 3 messages" in told.text
    assert reason(moment, 5).startswith("taken: the first tool pair at or after 4")


def test_the_seed_is_stuck_in_1_35_0_in_the_sdks_own_words_and_with_the_reason() -> None:
    moment, trace = seed("1.35.0")
    told = story(trace, "Strands 1.35.0", moment)
    assert told.tone == "stuck"
    assert "“Unable to trim conversation context!”" in told.text
    assert "no fallback to a tool pair (#2173)" in told.text
    assert now(moment)["cut"] == -1


def test_what_fits_is_told_as_fitting() -> None:
    messages = review()
    subject, trace = subject_of(messages, SlidingWindow.as_of("1.62.0"))
    told = story(trace.under(10_000), "Strands 1.62.0", Moment(subject, 10_000, 0, 2))
    assert told.tone == "fits"
    assert told.headline == "Fits."


def test_hover_and_focus_give_the_reason_of_the_trim_point_itself() -> None:
    moment, _ = seed("1.37.0")
    for point in moment.subject.points:
        if point.reason is not None:
            said = " ".join("\n".join(hover_group(moment.subject, moment.subject.bars, point.index)).split())
            assert point.reason.text in said
            assert point.reason.text in reason(moment, point.index)
            assert any(point.reason.text in line for line in about(moment, point.index))


def test_every_verdict_has_a_sign_and_a_word() -> None:
    moment, _ = seed("1.37.0")
    assert {verdict(moment.subject, index) for index in (0, 1, 2)} == {
        "▲ plain user message",
        "◆ tool pair",
        "× refused",
    }


def test_a_pinned_message_and_free_media_are_marked_and_in_the_legend() -> None:
    messages = (pinned(user("Keep me.")), message("user", image()), assistant("ok"), user("more"))
    subject, _ = subject_of(messages, SlidingWindow.as_of("1.62.0", window_size=2))
    drawn = picture(subject)
    assert (drawn["pinned"], drawn["media"]) == ([0], [1])
    assert "pinned" in legend(subject)
    assert "counted as 0" in legend(subject)


def test_a_shortened_message_is_drawn_with_what_was_cut_away() -> None:
    messages = (user("Go."), *tool_chain(1, "x" * 4000), assistant("ok"))
    subject, _ = subject_of(messages, SlidingWindow.as_of("1.62.0"))
    before, after = moment_of(subject, 0, 0), moment_of(subject, 0, 1)
    assert now(before)["lost"] == []
    ((bar, stack, tokens),) = now(after)["lost"]
    assert (bar, picture(subject)["stacks"][stack]["kind"]) == (2, "toolResult")
    assert tokens == before.tokens - after.tokens


HOSTILE = "<img src=x onerror=alert(1)><b>$x$</b>\u202e\x1b[31m"


def test_hostile_session_text_is_inert_in_figure_legend_and_hover() -> None:
    odd: Any = {"role": HOSTILE, "content": [{"text": HOSTILE}, {HOSTILE: HOSTILE}]}
    messages = (user(HOSTILE), odd, *tool_chain(2, HOSTILE))
    subject, trace = subject_of(messages, SlidingWindow.as_of("1.0.0", window_size=2))
    moment = moment_of(subject, trace.tokens[0] // 2)
    shown = timeline(moment).to_json() + legend(subject)
    assert "<img" not in shown
    assert "\\u202e" not in shown.replace("\\\\u202e", "")
    assert not set("\u202e\x1b") & set("".join(picture(subject)["hover"]))


def test_the_same_moment_is_told_alike_wherever_the_picture_is_cut_off() -> None:
    moment, _ = seed("1.37.0")
    near = replace(moment.subject, first=3, last=7)
    zoomed = Moment(near, moment.budget, moment.edit, moment.start, moment.focus)
    assert list(about(zoomed, 5)) == list(about(moment, 5))
    assert now(zoomed)["gaps"] == [(3, 5)]
