"""The records that lessons, lanes, rules and the matrix are drawn from: they say what the algorithms say, no more."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxlab.checks import check_routine, check_trace
from ctxlab.comparison import compare
from ctxlab.exercises import NOWHERE, Study, exercise_from, is_right, public_exercises
from ctxlab.explorers import Exercises, Explorer, Invariants, Releases, Rules
from ctxlab.figures.lanes import RELEASES, STORY, Strip, lanes, side_by_side
from ctxlab.figures.lesson import SIGHT, lesson
from ctxlab.figures.matrix import END, LETTERS, PAGE, WHOLE, MatrixPicture
from ctxlab.figures.releases import releases
from ctxlab.figures.rule_stories import rule_stories
from ctxlab.invariants import CONVERSATION_RULES, RULES, verdict, verdicts
from ctxlab.messages import Conversation
from ctxlab.providers import providers
from ctxlab.recovery import recover
from ctxlab.reduction import ContextWindowOverflow
from ctxlab.sliding_window import SlidingWindow
from ctxlab.trimming import trim_points
from ctxlab.vocabularies import counter
from tests.builders import assistant, message, pinned, review, tool_chain, tool_result, tool_use, user
from tests.strategies import conversations, well_formed_conversations

HEURISTIC = counter("heuristic")
NAMES = list(providers())
LONG = tuple(part for _ in range(40) for part in (user("q"), *tool_chain(2), assistant("ok")))
HOSTILE = "<img src=x onerror=alert(1)>\x1b[31m\u202e<b>$x$"


# Lessons


def test_a_lesson_tells_of_every_message_what_the_study_says() -> None:
    for record, exercise in zip(lesson(public_exercises(), HEURISTIC), public_exercises(), strict=True):
        study = Study(exercise)
        assert len(record["told"]) == len(record["messages"]) == len(record["bars"]) == len(exercise.messages)
        for index, told in enumerate(record["told"]):
            one = study.told(index)
            assert told["right"] == one.right
            reason = one.point.reason if one.point else one.rejection
            assert reason is None or reason.text in told["why"]
            for judgement in one.judgements:
                assert judgement.violation.detail in told["why"]
                assert judgement.cell.error_text in told["why"]
            assert len(told["refused"]) == len(one.refusing)
        assert record["nowhere_told"]["right"] == is_right(study, NOWHERE)
        assert record["nowhere"] == (exercise.ask != "spot")
        assert record["source"] == exercise.source
        for strip, deed in zip(record["deeds"], filter(None, (study.release, study.careful)), strict=True):
            assert [at for at, fate in enumerate(strip["fates"]) if fate == "d"] == list(deed.dropped)
            assert [answer["status"] for answer in strip["answers"]] == [found.status for found in deed.verdicts]


def test_every_wrong_answer_teaches() -> None:
    for record in lesson(public_exercises(), HEURISTIC):
        for told in [*record["told"], *([record["nowhere_told"]] if record["nowhere"] else [])]:
            assert len(told["why"].split()) >= 3
            assert told["why"].endswith((".", "”"))


@settings(max_examples=25)
@given(well_formed_conversations(max_turns=12, min_turns=3), st.integers(1, 30))
def test_a_long_session_is_shown_around_the_answers(messages: Conversation, window: int) -> None:
    if len(messages) > 2:
        (record,) = lesson([exercise_from(messages, window_size=window)], HEURISTIC)
        assert len(record["messages"]) <= SIGHT
        assert record["count"] == len(messages)
        json.dumps(record)


def test_a_session_of_thousands_is_shown_in_part() -> None:
    (record,) = lesson([exercise_from(LONG, "1.35.0", 30)], HEURISTIC)
    first, shown = record["first"], len(record["messages"])
    assert 10 < shown <= SIGHT
    assert first <= len(LONG) - 30 < first + shown
    assert any(told["right"] for told in record["told"])


def test_what_is_hostile_in_a_session_is_visible_and_inert_in_every_record() -> None:
    messages: Conversation = (
        user(HOSTILE),
        tool_use(HOSTILE, name=HOSTILE),
        tool_result("other" + HOSTILE, HOSTILE),
        message(HOSTILE, {"text": HOSTILE}),
        assistant(HOSTILE),
    )
    trace = recover(messages, SlidingWindow(2), 1, HEURISTIC)
    picture = MatrixPicture(trim_points(messages), SlidingWindow(2), trace)
    told = [picture.details(key, name) for key in (WHOLE, END, *range(len(messages))) for name in NAMES]
    found = lanes(messages, 3, HEURISTIC, side_by_side(2))
    for record in (lesson([exercise_from(messages)], HEURISTIC), picture.sight(0, every=True), told, found):
        text = json.dumps(record, ensure_ascii=False)
        assert "\x1b" not in text
        assert "\u202e" not in text
    drawn = json.dumps(releases(found).to_plotly_json(), default=str, ensure_ascii=False)
    assert "<img" not in drawn
    assert "$x$" not in drawn


# Lanes


@settings(max_examples=25)
@given(conversations(), st.integers(1, 5), st.integers(0, 300), st.booleans())
def test_a_lane_says_what_its_trace_did(messages: Conversation, window: int, budget: int, truncates: bool) -> None:
    record = lanes(messages, budget, HEURISTIC, side_by_side(window, RELEASES, truncates))
    played = compare(messages, side_by_side(window, RELEASES, truncates), budget, HEURISTIC)
    assert [strip["name"] for strip in record["strips"]] == [lane.name for lane in played]
    for strip, lane in zip(record["strips"], played, strict=True):
        origins: tuple[int | None, ...] = tuple(range(len(messages)))
        for step in lane.trace.steps():
            origins = step.origins
        assert [at for at, fate in enumerate(strip["fates"]) if fate != "d"] == [at for at in origins if at is not None]
        assert (strip["outcome"], strip["tokens"], strip["left"]) == (
            lane.trace.outcome, lane.trace.tokens[-1], len(lane.trace.final),
        )  # fmt: skip
        breaches = check_trace(lane.trace, truncates)
        assert {(mark["rule"], mark["message"]) for mark in strip["marks"]} == {
            (found.violation.rule, -1 if found.origin is None else found.origin) for found in breaches
        }
        assert [answer["status"] for answer in strip["answers"]] == [f.status for f in verdicts(lane.trace.final)]
        assert all(0 <= share <= 100 for share in strip["shares"])


@settings(max_examples=25)
@given(conversations(), st.integers(1, 5))
def test_a_lane_of_routine_management_says_what_managing_does(messages: Conversation, window: int) -> None:
    record = lanes(messages, 10, HEURISTIC, side_by_side(window), "routine")
    for strip, (_, policy) in zip(record["strips"], side_by_side(window), strict=True):
        if strip["outcome"] == "stuck":
            with pytest.raises(ContextWindowOverflow) as refusal:
                policy.manage(messages)
            assert str(refusal.value) in strip["sentence"]
            continue
        round = policy.manage(messages)
        assert strip["left"] == len(round.messages)
        assert strip["outcome"] == "fits"
        assert {mark["rule"] for mark in strip["marks"]} == {found.rule for found in check_routine(messages, round)}
        assert strip["fates"].count("d") == round.removed


def test_the_history_is_told_by_the_lanes() -> None:
    record = lanes(review("x" * 900), 176, counter(), side_by_side(4, should_truncate_results=False))
    told = {strip["name"].removeprefix("Strands "): strip for strip in record["strips"]}
    assert list(told) == [*RELEASES, "careful"] == list(STORY)
    assert told["1.34.1"]["fates"] == told["1.37.0"]["fates"] == told["1.62.0"]["fates"] == "dddddkkk"
    assert told["1.35.0"]["outcome"] == "stuck"
    assert told["careful"]["fates"] == "kddddkkk"
    assert (told["careful"]["anchor"], told["careful"]["marks"]) == (0, [])
    assert [mark["rule"] for mark in told["1.37.0"]["marks"]] == ["starts-with-user"]
    refused = {name: sum(a["status"] == "refused" for a in strip["answers"]) for name, strip in told.items()}
    assert refused["1.37.0"] == 6
    assert refused["careful"] == 0
    routine = lanes(review("x" * 900), 176, counter(), side_by_side(4), "routine")
    broken = {strip["name"]: [mark["rule"] for mark in strip["marks"]] for strip in routine["strips"]}
    assert "routine-keeps-content" in broken["Strands 1.37.0"]
    assert "routine-keeps-content" not in broken["Strands 1.40.0"]


@pytest.mark.parametrize("messages", [review("x" * 900), LONG * 4, (), review()[:1]])
def test_a_figure_of_lanes_draws_each_of_them(messages: Conversation) -> None:
    record = lanes(messages, 20, HEURISTIC, side_by_side(4))
    figure = releases(record)
    names = {trace.name for trace in figure.data}
    assert {f"{strip['name']} {part}" for strip in record["strips"] for part in ("gone", "stays")} <= names
    assert {name for name in names if name.endswith("cut")} == {
        f"{strip['name']} cut" for strip in record["strips"] if strip["cut"] >= 0
    }
    for strip in record["strips"]:
        (bars,) = (trace for trace in figure.data if trace.name == f"{strip['name']} stays")
        empty = [fate == "d" or (fate != "k" and share == 0) for fate, share in both(strip)]
        assert [height == 0 for height in bars.y] == empty


def both(strip: Strip) -> list[tuple[str, int]]:
    return list(zip(strip["fates"], strip["shares"], strict=True))


# Rules


def test_a_rule_is_told_by_its_own_examples() -> None:
    stories = rule_stories()
    assert [story["id"] for story in stories] == list(RULES)
    for story in stories:
        assert story["breaks"]["found"]
        assert not story["holds"]["found"]
        assert story["sentence"] == RULES[story["id"]].sentence
        assert bool(story["answers"]) == (story["id"] in CONVERSATION_RULES)
    with pytest.raises(ValueError, match="unknown rule 'starts-with-assistant'"):
        rule_stories(["starts-with-assistant"])


# The matrix


def picture_of(messages: Conversation, policy: SlidingWindow, budget: int = 10) -> MatrixPicture:
    trace = recover(messages, policy, budget, HEURISTIC)
    return MatrixPicture(trim_points(messages, 0, policy.rules.trim), policy, trace)


@settings(max_examples=25)
@given(conversations(), st.integers(0, 30), st.booleans(), st.integers(1, 5))
def test_a_row_in_sight_holds_the_verdicts_on_its_cut(
    messages: Conversation, focus: int, every: bool, page: int
) -> None:
    picture = picture_of(messages, SlidingWindow.as_of("1.37.0", 3))
    sight = picture.sight(focus, page, every)
    keys = [row["key"] for row in sight["rows"]]
    assert keys[:2] == [WHOLE, END]
    assert len(keys) - 2 == min(page, sight["total"])
    assert keys[2:] == sorted(keys[2:])
    if focus < len(messages):
        assert focus in keys
    for row in sight["rows"][2:]:
        states = [verdict(messages[row["key"] :], name).status for name in NAMES]
        assert row["states"] == "".join(LETTERS[status] for status in states)
        assert row["candidate"] == (picture.points[row["key"]].kind is not None)
    whole, end = sight["rows"][:2]
    assert whole["states"] == "".join(LETTERS[found.status] for found in verdicts(messages))
    assert end["states"] == "".join(LETTERS[found.status] for found in verdicts(picture.trace.final))


@settings(max_examples=25)
@given(conversations(), st.sampled_from(NAMES), st.data())
def test_the_details_of_a_cell_tell_its_verdict_and_a_repair(
    messages: Conversation, name: str, data: st.DataObject
) -> None:
    picture = picture_of(messages, SlidingWindow(3))
    key = data.draw(st.sampled_from([WHOLE, END, *range(len(messages))]))
    found = picture.verdict(key, name)
    details = picture.details(key, name)
    kinds = [detail["kind"] for detail in details]
    assert kinds[:2] == [found.status, "about"]
    assert [detail["text"] for detail in details if detail["kind"] == "answer"] == list(found.texts[:3])
    assert ("repair" in kinds) == (found.status != "accepted")
    assert ("limit" in kinds) == (found.status == "accepted")
    if found.status == "unknown":
        assert "unknown, nobody has found out" in details[0]["text"]


def test_the_matrix_of_a_long_session_judges_only_what_is_in_sight() -> None:
    picture = picture_of(LONG, SlidingWindow(20, False))
    sight = picture.sight(100)
    assert len(sight["rows"]) == PAGE + 2
    assert f"Shown: {PAGE} of {len(picture.candidates) + 1} rows" in sight["sentence"]
    assert len(picture.matrix._rows) == PAGE


def test_each_row_that_is_judged_is_told_and_may_be_the_last() -> None:
    messages, policy = review("x" * 900), SlidingWindow(2)
    told: list[tuple[str, int, int]] = []
    trace = recover(messages, policy, 10, HEURISTIC)
    picture = MatrixPicture(trim_points(messages), policy, trace, lambda *what: told.append(what))
    told.clear()
    rows = picture.sight(0)["rows"]
    assert told == [("Asking the providers", done, len(rows)) for done in range(len(rows))]

    def stop(what: str, done: int, of: int) -> None:
        raise InterruptedError

    picture.progress = stop
    with pytest.raises(InterruptedError):
        picture.sight(0)


def test_the_row_that_the_policy_takes_is_marked() -> None:
    picture = picture_of(review(), SlidingWindow.as_of("1.37.0", 4))
    assert [row["key"] for row in picture.sight(0)["rows"] if row["taken"]] == [5]
    assert "refused by 6 of 13 providers, 1 unknown" in picture.headline


# The widgets


def test_the_exercises_keep_the_score() -> None:
    widget = Exercises()
    assert set(widget.progress.values()) == {"open"}
    widget.choices = {"S01-2085-assistant-first": [3, 4], "S02-2087-trailing-toolUse-start": [NOWHERE]}
    assert widget.progress["S01-2085-assistant-first"] == "solved"
    assert widget.progress["S02-2087-trailing-toolUse-start"] == "first try"
    assert len(json.loads(widget.record)) == len(public_exercises())
    assert json.loads(Exercises(exercise_from(review())).record)[0]["ask"] == "cut"
    with pytest.raises(ValueError, match="at least one exercise"):
        Exercises(())


def test_the_invariants_of_a_session_follow_the_cell_in_focus() -> None:
    widget = Invariants(review(), SlidingWindow(4, False), providers=["gemini", "bedrock-nova"])
    assert len(widget.hidden) == len(NAMES) - 2
    widget.selected = [5, "gemini"]
    told = {detail["kind"]: detail["text"] for detail in widget.details}
    assert "Please ensure that function call turn" in told["answer"]
    assert "anchor (#3447)" in told["repair"]
    widget.every = True
    assert widget.sight["total"] == 8
    with pytest.raises(ValueError, match="unknown provider 'bedrok'"):
        Invariants(review(), providers=["bedrok"])


def test_the_invariants_turn_pages_and_come_back() -> None:
    widget = Invariants(LONG, SlidingWindow(20, False))
    first = [row["key"] for row in widget.sight["rows"]]
    widget.turned = {"step": 1, "count": 1}
    assert widget.sight["first"] == PAGE
    widget.turned = {"step": -1, "count": 2}
    assert [row["key"] for row in widget.sight["rows"]] == first
    widget.turned = {"step": -1, "count": 3}
    assert [row["key"] for row in widget.sight["rows"]] == first


def test_the_explorer_has_a_tab_of_invariants_that_moves_with_the_focus() -> None:
    from ctxlab.sessions import Session

    explorer = Explorer(Session.of(review("x" * 900)), release="1.37.0", window_size=4, should_truncate_results=False)
    explorer.store.change(tab="Invariants")
    widget: Any = next(tab for tab in explorer.tabs if tab.name == "Invariants").widget
    assert "refused by 6 of 13" in widget.headline
    widget.selected = [3, "gemini"]
    assert explorer.state.focus == 3
    explorer.store.change(budget=10_000)
    assert "accepted by all 13" in widget.headline
    explorer.store.change_policy(kind="careful")
    explorer.store.change(budget=100)
    assert "accepted by all 13" in widget.headline


def test_releases_and_rules_are_shown_as_they_are_recorded() -> None:
    widget = Releases(review("x" * 900), window_size=4, releases=["1.35.0", "1.37.0"])
    assert [strip["name"] for strip in json.loads(widget.record)["strips"]] == [
        "Strands 1.35.0", "Strands 1.37.0", "careful",
    ]  # fmt: skip
    assert [story["id"] for story in json.loads(Rules("ids-match").record)] == ["ids-match"]
    pins = (pinned(user("task")), assistant("ok"), *tool_chain(3))
    assert json.loads(Releases(pins, window_size=3, occasion="routine").record)["occasion"] == "routine"
