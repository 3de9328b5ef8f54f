"""The tab "Take away": what comes out is what `takeaway` makes, told in words, and stale once something changes."""

import ast
import json

import pytest

from ctxlab.explorers import Explorer
from ctxlab.explorers.take_tab import KINDS, TakeTab
from ctxlab.explorers.taking import ALONE, FIND, What, Wish, take
from ctxlab.explorers.work import Stopped
from ctxlab.faults import find_fault
from ctxlab.samples import sample_sessions
from ctxlab.sessions import Session
from ctxlab.takeaway import NoFault, trace_from_json
from tests.builders import assistant, tool_result, tool_use, user

SECRET = "sk-ant-api03-" + "A1b2C3d4" * 6


@pytest.fixture(scope="module")
def stuck() -> Explorer:
    """The session of #2173 under the release that is stuck with it."""
    return Explorer(sample_sessions()["review-2173"], release="1.35.0", window_size=4)


def tab(explorer: Explorer) -> TakeTab:
    found = next(tab for tab in explorer.tabs if isinstance(tab, TakeTab))
    explorer.store.change(tab=found.name)
    return found


def make(explorer: Explorer, what: str, **choices: object) -> TakeTab:
    """Press the button, as a person would, without running what has to be fetched."""
    taken = tab(explorer)
    taken.what.value = what
    taken.prove.value = False
    for name, value in choices.items():
        getattr(taken, name).value = value
    taken.make.click()
    return taken


def error(explorer: Explorer) -> str:
    return str(explorer.errors.widget.value) + str(tab(explorer).offer.problem)


def test_the_release_that_does_it_right_is_found(stuck: Explorer) -> None:
    offer = make(stuck, "test").offer
    ast.parse(offer.text)
    assert "passes with 1.37.0" in offer.text
    assert offer.name.startswith("test_")
    assert offer.name.endswith(".py")
    assert any("Strands 1.37.0 does not" in sentence for sentence in offer.about)


def test_a_press_before_the_tab_was_told_is_about_what_is_shown_now() -> None:
    explorer = Explorer(sample_sessions()["review-2173"], release="1.35.0", window_size=4)
    taken = next(tab for tab in explorer.tabs if isinstance(tab, TakeTab))
    taken.what.value = "trace"
    explorer.store.change(budget=123)
    assert explorer.state.tab != taken.name
    taken.make.click()
    assert trace_from_json(taken.offer.text).budget == 123


def test_a_test_is_run_where_that_is_wanted_and_the_runs_are_told(stuck: Explorer) -> None:
    assert not make(stuck, "test").offer.runs
    taken = tab(stuck)
    taken.prove.value = True
    taken.make.click()
    runs = {sentence.split(":")[0]: (holds, sentence) for holds, sentence in taken.offer.runs}
    assert runs["strands-agents 1.35.0"] == (True, "strands-agents 1.35.0: fails, as it should")
    assert runs["strands-agents 1.37.0"] == (True, "strands-agents 1.37.0: passes, as it should")
    assert not taken.offer.missing


@pytest.mark.parametrize("what", [what for _, what, _ in KINDS])
def test_everything_can_be_made_of_every_sample(what: str) -> None:
    explorer = Explorer(release="1.35.0", window_size=4)
    for name in explorer.sources.samples:
        explorer.show_session("sample:" + name)
        offer = make(explorer, what).offer
        assert offer.text or "does nothing wrong here" in error(explorer), (name, error(explorer))
        assert "An error in ctxlab" not in error(explorer)
        offer.text = ""


def test_a_trace_that_was_taken_away_can_be_replayed(stuck: Explorer) -> None:
    offer = make(stuck, "trace", redacted=False).offer
    assert trace_from_json(offer.text) == stuck.findings.trace


def test_what_is_secret_stays_unless_it_is_asked_for() -> None:
    session = Session.of([user(f"my key is {SECRET}, says Ada Lovelace"), assistant("ok")])
    explorer = Explorer(session)
    offer = make(explorer, "session", names="Ada Lovelace").offer
    assert SECRET not in offer.text
    assert "Lovelace" not in offer.text
    assert offer.redacted
    assert len(json.loads(offer.text)[0]["content"][0]["text"]) == len(f"my key is {SECRET}, says Ada Lovelace")
    assert SECRET in make(explorer, "session", redacted=False).offer.text
    assert not explorer.tabs[-1].offer.redacted


@pytest.mark.parametrize("what", ["page", "session", "trace"])
def test_a_wish_without_words_leaves_no_word(what: What) -> None:
    findings = Explorer(Session.of([user("ask Quixote"), assistant("Quixote says so. " * 99)])).findings
    assert "Quixote" in take(findings, Wish(what)).text
    made = take(findings, Wish(what, words=False))
    assert "Quixote" not in made.text
    assert made.redaction is not None
    assert made.redaction.sentences[0].startswith("all words: ")


def test_the_words_of_the_session_are_kept_only_on_request(stuck: Explorer) -> None:
    words = "review"
    assert words not in make(stuck, "reduced", keep_text=False).offer.text
    assert words in make(stuck, "reduced", keep_text=True).offer.text.lower()


def test_a_file_with_words_in_it_says_to_look_through_it_and_one_without_has_none() -> None:
    explorer = Explorer(Session.of([user("a word nobody else would say"), assistant("ok")], name="telling-name"))
    for what in ("session", "trace", "page"):
        offer = make(explorer, what).offer
        assert any("Look through it" in sentence for sentence in offer.about)
        assert "nobody else" in offer.text
        offer = make(explorer, what, words=False).offer
        assert not any("Look through it" in sentence for sentence in offer.about)
        assert "nobody else" not in offer.text
        assert "telling-name" not in offer.text + offer.name
        tab(explorer).words.value = True


def test_what_was_made_of_something_else_says_so() -> None:
    explorer = Explorer(sample_sessions()["review-2173"], release="1.35.0", window_size=4)
    offer = make(explorer, "table").offer
    assert offer.stale == ""
    explorer.store.focus_on(3)
    assert offer.stale == ""
    explorer.store.change(budget=explorer.state.budget + 1)
    assert "make it again" in offer.stale
    explorer.store.change(budget=explorer.state.budget - 1)
    assert offer.stale == ""


def test_where_nothing_goes_wrong_another_release_is_named_that_does_wrong() -> None:
    explorer = Explorer(sample_sessions()["thousand-messages"])
    make(explorer, "test")
    assert "does nothing wrong here" in error(explorer)
    assert "Choose Strands 1.34.1 as the policy above" in error(explorer)
    assert explorer.tabs[-1].offer.text == ""
    # As it says.
    explorer.store.change_policy(release="1.34.1")
    assert make(explorer, "test").offer.text
    assert error(explorer) == ""


def test_each_kind_is_offered_under_its_own_choice() -> None:
    explorer = Explorer(sample_sessions()["review-2173"], release="1.35.0", window_size=4)
    offer = make(explorer, "table").offer
    assert offer.name == "trace.csv"
    taken = tab(explorer)
    taken.what.value = "trace"
    before = offer.name
    make(explorer, "trace")
    assert (before, offer.name) == ("", "trace.json")
    taken.what.value = "table"
    assert offer.name == "trace.csv"


def test_while_it_is_made_the_button_says_so(stuck: Explorer, monkeypatch: pytest.MonkeyPatch) -> None:
    taken, seen = tab(stuck), list[tuple[str, bool]]()
    taken.make.observe(lambda change: seen.append((taken.make.description, taken.make.disabled)), "disabled")
    make(stuck, "table")
    assert seen == [("Making it…", True), ("Make it", False)]


def test_the_careful_policy_cannot_be_what_is_wrong() -> None:
    explorer = Explorer(sample_sessions()["review-2173"], policy="careful")
    make(explorer, "test")
    assert "must be a release" in error(explorer)
    assert "An error in ctxlab" not in error(explorer)


def test_a_choice_that_the_next_policy_does_not_have_falls_back_to_looking() -> None:
    explorer = Explorer(sample_sessions()["review-2173"], release="1.35.0")
    taken = tab(explorer)
    taken.right.value = "1.37.0"
    explorer.store.change_policy(kind="summarizing")
    assert taken.right.value == FIND
    assert ("ctxlab's" in str(taken.right.options)) is False
    assert dict(taken.right.options)["none that is known"] == ALONE


def test_what_is_found_is_a_fault_of_the_policy_that_is_shown(stuck: Explorer) -> None:
    made = take(stuck.findings, Wish("reduced"))
    assert made.fault is not None
    assert made.fault.wrong.name == stuck.findings.run.manager.name
    again = find_fault(stuck.findings.messages, made.fault.wrong, made.fault.right, made.fault.call)
    assert again is not None
    assert again.expectation == made.fault.expectation


def test_without_any_fault_the_answer_is_no_fault() -> None:
    messages = [user("hi"), tool_use("1"), tool_result("1", "ok"), assistant("done")]
    with pytest.raises(NoFault, match="Compare"):
        take(Explorer(Session.of(messages)).findings, Wish("test", ALONE))


@pytest.mark.parametrize("what", ["session", "trace", "page", "test"])
def test_making_it_says_how_far_it_is_and_can_be_stopped(
    stuck: Explorer, what: What, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise Stopped

    monkeypatch.setattr(stuck.finder, "progress", stop)
    with pytest.raises(Stopped):
        take(stuck.findings, Wish(what))
