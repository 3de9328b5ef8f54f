"""The exercises: what a person is told is what the algorithms say, and each has something to get wrong."""

import json
from copy import deepcopy
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ctxlab
from ctxlab import careful
from ctxlab.edits import DropMessages
from ctxlab.exercises import (
    NOWHERE,
    Exercise,
    Study,
    exercise_from,
    is_right,
    progress,
    public_exercises,
)
from ctxlab.invariants import verdict, violations
from ctxlab.messages import Conversation
from ctxlab.providers import providers
from ctxlab.reduction import ContextWindowOverflow
from ctxlab.samples import sample_sessions
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import Summarizing
from ctxlab.trimming import Rejection, split_rejection
from ctxlab.verdict_matrix import VerdictMatrix
from tests.builders import review, user
from tests.strategies import conversations

PUBLIC = public_exercises()
STUDIES = {exercise.id: Study(exercise) for exercise in PUBLIC}
CARRIED: list[dict[str, Any]] = json.loads(files("ctxlab.exercises").joinpath("cases.json").read_text("utf-8"))


def hold_the_laws(study: Study) -> None:
    """What holds of every exercise, public or one's own."""
    exercise, messages = study.exercise, study.exercise.messages
    for index in range(len(messages)):
        told = study.told(index)
        assert told.right == (index in study.right) == is_right(study, index)
        if exercise.ask == "cut":
            point = careful.trim_points(exercise.state, exercise.start)[index]
            row = VerdictMatrix(exercise.state, SlidingWindow.careful()).row(index)
            assert told.point == point
            assert told.right == (point.reason is None)
            assert told.verdicts == row.verdicts
            assert told.anchor is None or (told.anchor in row.front and point.reason is not Rejection.NO_ANCHOR)
        elif exercise.ask == "split":
            early = Rejection.BEFORE_START if index < exercise.start else None
            assert told.rejection == (early or split_rejection(messages, index))
            assert told.right == (told.rejection is None)
        else:
            minded = verdict(messages, exercise.provider).judgements
            assert told.judgements == tuple(found for found in minded if found.violation.index == index)
            assert told.right == bool(told.judgements)
    choices = [NOWHERE, *range(len(messages))]
    assert not all(is_right(study, choice) for choice in choices), "nothing could be got wrong"
    assert any(is_right(study, choice) for choice in choices)
    assert is_right(study, NOWHERE) == (not study.right)


@pytest.mark.parametrize("name", STUDIES)
def test_the_told_reasons_are_the_values_of_the_algorithms(name: str) -> None:
    hold_the_laws(STUDIES[name])


@settings(max_examples=30)
@given(conversations(), st.integers(1, 6), st.sampled_from(["1.28.0", "1.35.0", "1.62.0"]))
def test_an_exercise_can_be_made_of_any_session_that_can_be_cut(
    messages: Conversation, window: int, release: str
) -> None:
    assume(len(messages) > 2)
    before = deepcopy(messages)
    study = Study(exercise_from(messages, release, window))
    hold_the_laws(study)
    assert study.release is not None
    assert study.release.name.startswith(f"Strands {release}")
    assert messages == before


def test_there_are_about_a_dozen_each_of_a_public_report_and_of_many_kinds() -> None:
    assert 12 <= len(PUBLIC) <= 15
    assert len({exercise.id for exercise in PUBLIC}) == len({exercise.title for exercise in PUBLIC}) == len(PUBLIC)
    assert len({exercise.kind for exercise in PUBLIC}) >= 11
    assert {exercise.ask for exercise in PUBLIC} == {"cut", "split", "spot"}
    for exercise in PUBLIC:
        assert exercise.source.startswith("https://github.com/")
        assert exercise.report
        assert exercise.lesson


def test_the_exercises_between_them_break_all_six_rules_about_a_conversation() -> None:
    broken = set()
    for exercise in PUBLIC:
        study = STUDIES[exercise.id]
        told = [study.told(index) for index in range(len(exercise.messages))]
        found = [verdict for one in told for verdict in one.verdicts]
        broken |= {breach.rule for one in found for breach in one.violations}
        broken |= {judgement.violation.rule for one in told for judgement in one.judgements}
    assert broken >= {rule.id for rule in ctxlab.invariants.CONVERSATION_RULES.values()}


def test_some_exercises_have_no_cut_and_some_have_several() -> None:
    answers = {exercise.id[:3]: STUDIES[exercise.id].right for exercise in PUBLIC}
    assert answers == {
        "S01": (4,), "P01": (3, 5), "S02": (), "S03": (5,), "S18": (0,), "S74": (3, 5, 7), "S05": (), "S27": (1, 2),
        "P10": (1,), "S35": (4,), "S19": (5,), "S66": (), "P14": (5, 6, 7),
    }  # fmt: skip


@pytest.mark.parametrize("name", STUDIES)
def test_what_is_told_of_a_policy_is_what_it_does(name: str) -> None:
    study, exercise = STUDIES[name], STUDIES[name].exercise
    if exercise.policy is None:
        assert study.release is None
        return
    deed = study.release
    assert deed is not None
    play = exercise.policy.reduce if exercise.overflow else exercise.policy.manage
    if deed.round is None:
        with pytest.raises(ContextWindowOverflow) as refusal:
            play(exercise.messages)
        assert (deed.error, deed.final, deed.dropped) == (str(refusal.value), exercise.messages, ())
        return
    round = play(exercise.messages)
    assert deed.final == round.messages
    assert len(deed.dropped) == round.removed
    assert deed.verdicts == tuple(verdict(round.messages, provider) for provider in providers())
    if isinstance(exercise.policy, SlidingWindow) and deed.cut is not None:
        (drop,) = (edit for edit in round.edits if isinstance(edit, DropMessages))
        assert (deed.cut, deed.anchor) == (drop.trim_point, drop.anchor)


@pytest.mark.parametrize("name", STUDIES)
def test_the_careful_policy_gives_a_right_answer(name: str) -> None:
    study = STUDIES[name]
    if study.careful is not None:
        assert (study.careful.cut in study.right) if study.right else (study.careful.cut is None)
        assert study.careful.anchor == (study.told(study.careful.cut).anchor if study.careful.cut else None)


@pytest.mark.parametrize("name", ["S01-2085-assistant-first", "S02-2087-trailing-toolUse-start"])
def test_the_reported_release_does_what_the_report_says(name: str) -> None:
    study = STUDIES[name]
    assert study.release is not None
    assert study.release.cut not in study.right
    assert {found.provider for found in study.release.verdicts if found.status == "refused"} >= {"bedrock-nova"}


def test_a_repair_is_proposed_for_what_a_provider_refuses() -> None:
    study = STUDIES["S18-3447-python-fallback-assistant-first"]
    assert study.repair is not None
    assert "anchor (#3447)" in study.repair.sentence
    assert study.repair.messages[0] == user("Review the parcel list")
    assert violations(study.repair.messages) == ()


def test_progress_counts_the_first_try_and_what_was_found_later() -> None:
    study = STUDIES["S01-2085-assistant-first"]
    assert progress(study, []) == "open"
    assert progress(study, [3, NOWHERE]) == "tried"
    assert progress(study, [4]) == progress(study, [4, 3]) == "first try"
    assert progress(study, [3, 4]) == "solved"


def test_ones_own_session_becomes_an_exercise_in_one_call() -> None:
    session = ctxlab.load(sample_sessions()["review-2173"])
    exercise = exercise_from(session, "1.35.0")
    assert exercise.messages == session.messages
    assert exercise.start == 4
    study = Study(exercise)
    assert study.right == (5,)
    assert study.release is not None
    assert study.release.error == "Unable to trim conversation context!"


def test_what_cannot_be_an_exercise_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least 3 messages, got 2"):
        exercise_from(review()[:2])
    with pytest.raises(ValueError, match=r"1\.99\.0"):
        exercise_from(review(), "1.99.0")
    with pytest.raises(ValueError, match="asks for a cut needs SlidingWindow"):
        Exercise("x", "x", "cut", review(), Summarizing())
    with pytest.raises(ValueError, match="unknown provider 'bedrok'"):
        Exercise("x", "x", "spot", review(), provider="bedrok")
    with pytest.raises(IndexError, match="no message 8"):
        Study(exercise_from(review())).told(8)


def test_the_carried_cases_are_the_public_ones() -> None:
    public = json.loads((Path(__file__).parent / "cases.json").read_text(encoding="utf-8"))
    assert [case for case in CARRIED if case not in public] == []
    assert {case["id"] for case in CARRIED} == {exercise.id for exercise in PUBLIC}
