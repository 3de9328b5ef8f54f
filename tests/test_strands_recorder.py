"""The recorder: everything that happened to an agent, in a file that loads, and never at the agent's expense."""

import json
import logging
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ctxlab
from ctxlab.edits import Edit
from ctxlab.messages import Conversation
from ctxlab.reduction import Trace
from ctxlab.sessions.recorded_edits import edit_from, edit_record
from ctxlab.sessions.recording import moments, traces
from ctxlab.strands import ScriptedModel, conversation_manager, record
from ctxlab.strands.episode import Policy
from tests.builders import assistant, image, message, tool_chain, user
from tests.strands_agents import agent_of, looks, seen, tried

from strands.agent.conversation_manager import SlidingWindowConversationManager  # isort: skip
from strands.hooks import BeforeModelCallEvent

POLICIES: dict[str, Policy] = {
    "sliding": ctxlab.SlidingWindow(4, pin_first=1),
    "careful": ctxlab.SlidingWindow.careful(6),
    "old": ctxlab.SlidingWindow.as_of("1.28.0", 6),
    "summarizing": ctxlab.Summarizing(0.6, 2),
    "proportional": ctxlab.Summarizing(0.3, 10),
    "collapse": ctxlab.Summarizing(0.3, 10, truncation=ctxlab.Truncation(300, "collapse")),
}


def recorded_agent(policy: Any, path: Path, messages: Any = (), window: int = 1_150) -> Any:
    manager = conversation_manager(policy) if isinstance(policy, ctxlab.SlidingWindow | ctxlab.Summarizing) else policy
    agent = agent_of(manager, ScriptedModel(looks(30, 90, 60), context_window=window), messages)
    agent.recorder = record(agent, path)
    return agent


def bare(trace: Trace) -> Any:
    """A trace without what is not written down: ids, and content that the SDK adds to messages."""
    return seen(trace.start), trace.edits, trace.tokens, seen(trace.final)


@pytest.mark.parametrize("policy", POLICIES)
def test_what_the_model_saw_at_each_call_is_a_view(policy: str, tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    agent = recorded_agent(POLICIES[policy], path)
    calls: list[Any] = []
    agent.hooks.add_callback(
        BeforeModelCallEvent, lambda event: calls.append(json.loads(json.dumps(seen(event.agent.messages))))
    )
    ends = []
    for prompt in ("Look.", "Closer. " + "please " * 300, "Go on."):
        tried(agent, prompt)
        ends.append(json.loads(json.dumps(seen(agent.messages))))
    found = moments(path)
    assert [json.loads(json.dumps(seen(moment.live))) for moment in found if moment.call] == calls
    assert [json.loads(json.dumps(seen(moment.live))) for moment in found if moment.call is None] == ends
    assert agent.recorder.fault is None
    session = ctxlab.load(path)
    assert session.format == "recording"
    assert list(session.views) == [moment.name for moment in found]
    assert list(session.views)[:2] == ["turn 1, call 1", "turn 1, call 2"]
    assert seen(session.messages) == seen(agent.messages)


@pytest.mark.parametrize("policy", POLICIES)
def test_every_reduction_is_read_back_as_the_trace_that_it_was(policy: str, tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    agent = recorded_agent(POLICIES[policy], path)
    told: list[Trace] = []
    agent.conversation_manager.watchers.append(lambda trace, cause: told.append(trace))
    for prompt in ("Look.", "Closer. " + "please " * 300, "Go on."):
        tried(agent, prompt)
    assert told
    found = traces(path)
    assert [bare(trace) for trace in found] == [bare(trace) for trace in told]
    assert [(trace.outcome, trace.error, trace.budget, trace.counter) for trace in found] == [
        (trace.outcome, trace.error, trace.budget, trace.counter) for trace in told
    ]


def test_an_overflow_and_its_cut_are_told_in_words(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    agent = recorded_agent(ctxlab.SlidingWindow(40), path, window=700)
    agent("Look."), agent("Closer.")
    about = [view.about for view in ctxlab.load(path).offers.values()]
    assert any("the call was refused" in text and "do not fit" in text for text in about)
    assert any("cut before it: A text in message" in text for text in about)


def test_a_recording_also_shows_what_was_live_under_the_sdks_own_manager(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    agent = recorded_agent(SlidingWindowConversationManager(4), path)
    for prompt in ("Look.", "Closer.", "Go on."):
        agent(prompt)
    assert seen(ctxlab.load(path).messages) == seen(agent.messages)
    assert traces(path) == ()
    assert agent.recorder.fault is None


def test_a_file_that_is_there_is_added_to_and_turns_are_numbered_through(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    recorded_agent(ctxlab.SlidingWindow(), path)("Look.")
    # The first process was cut off in the middle of a line.
    path.write_bytes(path.read_bytes() + b'{"type": "mess')
    recorded_agent(ctxlab.SlidingWindow(), path)("Look again.")
    session = ctxlab.load(path)
    assert list(session.views) == [f"turn {n}, {at}" for n in (1, 2) for at in ("call 1", "call 2", "end")]
    assert any("not JSON" in note.text for note in session.notes)


def test_media_and_odd_values_survive_the_file(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    odd = message("user", {"text": "half a pair: \ud800, a bell: \a"}, image())
    agent = recorded_agent(ctxlab.SlidingWindow(), path, [odd, assistant("Yes.")])
    agent.messages[1]["metadata"] = {"custom": {"odd": object()}}
    agent("Look.")
    assert agent.recorder.fault is None
    assert ctxlab.load(path).messages[0]["content"][1] == image()
    assert "\a" not in ctxlab.load(path).offers["turn 1, call 1"].about


def test_recording_is_off_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    agent_of(conversation_manager(ctxlab.SlidingWindow()), ScriptedModel(looks(5)))("Look.")
    assert list(tmp_path.iterdir()) == []


def test_nothing_more_is_written_once_it_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    agent = recorded_agent(ctxlab.SlidingWindow(), path)
    agent("Look.")
    agent.recorder.close()
    before = path.read_bytes()
    agent("Closer.")
    assert path.read_bytes() == before
    assert agent.recorder.fault is None


@pytest.mark.parametrize("fault", ["a folder in its place", "no such place", "a full disk", "a bug"])
def test_a_fault_of_the_recorder_is_logged_and_the_agent_goes_on(
    fault: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "talk.jsonl"
    if fault == "a folder in its place":
        path.mkdir()
    elif fault == "no such place":
        (tmp_path / "file").write_text("")
        path = tmp_path / "file" / "talk.jsonl"
    agent = recorded_agent(ctxlab.SlidingWindow(4), path)
    if fault in ("a full disk", "a bug"):
        agent("Look.")
        raised: Exception = OSError(28, "No space left on device") if fault == "a full disk" else ZeroDivisionError()

        def broken(*arguments: Any) -> int:
            raise raised

        if fault == "a full disk":
            monkeypatch.setattr(os, "write", broken)
        else:
            monkeypatch.setattr(agent.recorder, "_ranges", broken)
    with caplog.at_level(logging.WARNING, "ctxlab.strands.recorder"):
        for prompt in ("Look.", "Closer."):
            assert tried(agent, prompt) is None
    assert agent.recorder.fault is not None
    assert [record.levelname for record in caplog.records if "has stopped" in record.getMessage()] == ["WARNING"]
    assert len(agent.messages) <= 4


def test_the_file_is_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "made" / "talk.jsonl"
    recorded_agent(ctxlab.SlidingWindow(), path)("Look.")
    if os.name == "posix":
        assert path.stat().st_mode & 0o077 == 0


def test_a_file_with_a_header_and_nothing_else_is_refused_with_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_text('{"type": "recording", "ctxlab": 1}\n')
    with pytest.raises(ctxlab.SessionFormatError, match="no model call was recorded"):
        ctxlab.load(path)
    path.write_text('{"role": "user", "content": []}\n')
    with pytest.raises(ctxlab.SessionFormatError, match="no recording of ctxlab"):
        moments(path)


def some_edits() -> list[tuple[Edit, Conversation]]:
    """Edits of every kind, each with the conversation before it."""
    talk: Conversation = (
        user("q" * 900),
        *tool_chain(6, [{"text": "r" * 900}, image()]),
        user("s" * 3000),
        assistant("ok"),
    )
    short: Conversation = (message("user", {"text": "q" * 900}, {"text": "s" * 3000}), assistant("ok"))
    found = []
    for policy in POLICIES.values():
        for start in (talk, short):
            trace = ctxlab.recover(start, policy, 0, ctxlab.counter("heuristic"))
            found += list(zip(trace.edits, trace.states(), strict=False))
    return found


EDITS = some_edits()


def test_every_kind_of_edit_comes_back_from_json_as_it_was() -> None:
    from strands.types.session import decode_bytes_values, encode_bytes_values

    from ctxlab.edits import edit_kind

    kinds = set()
    for edit, before in EDITS:
        written = decode_bytes_values(json.loads(json.dumps(encode_bytes_values(edit_record(edit)))))
        assert edit_from(written, before) == edit
        assert edit_from(written, before).sentence == edit.sentence
        kinds.add(edit_kind(edit))
    assert kinds == {"pin", "truncate", "replace image", "replace result", "collapse", "drop", "summarize"}


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.text(max_size=3), st.lists(st.integers(-2, 20), max_size=3)
)


@given(st.sampled_from(EDITS), st.data())
@settings(max_examples=300)
def test_an_edit_that_was_tampered_with_applies_or_is_refused(known: tuple[Edit, Conversation], data: Any) -> None:
    from ctxlab.replay import apply

    edit, before = known
    written = edit_record(edit)
    written[data.draw(st.sampled_from(sorted(written)))] = data.draw(VALUES)
    try:
        found = edit_from(written, before)
    except ValueError:
        return
    assert isinstance(apply(before, found), tuple)
    assert found.sentence


LINES = st.fixed_dictionaries(
    {"type": st.sampled_from(["recording", "message", "turn", "call", "end", "overflow", "reduction", "other"])},
    optional={
        "ctxlab": VALUES,
        "id": VALUES,
        "message": st.one_of(VALUES, st.just(user("hi"))),
        "live": st.one_of(VALUES, st.lists(st.lists(st.integers(-1, 10**12), max_size=3), max_size=3)),
        "start": st.just([[0, 0]]),
        "rounds": st.one_of(VALUES, st.lists(st.fixed_dictionaries({"number": VALUES, "edits": VALUES}), max_size=2)),
        "tokens": VALUES,
        "outcome": st.one_of(VALUES, st.just("fits")),
        "budget": VALUES,
        "refused_calls": VALUES,
        "error": VALUES,
        "agent": VALUES,
    },
)


@given(st.lists(LINES, max_size=12))
@settings(max_examples=200)
def test_a_recording_of_any_lines_loads_or_is_refused(
    tmp_path_factory: pytest.TempPathFactory, lines: list[Any]
) -> None:
    path = tmp_path_factory.mktemp("any") / "talk.jsonl"
    header = {"type": "recording", "ctxlab": 1}
    path.write_text("\n".join(json.dumps(line) for line in [header, *lines]))
    try:
        session = ctxlab.load(path)
    except ctxlab.SessionFormatError:
        return
    assert session.messages


def test_a_trace_that_was_read_can_be_asked_what_a_larger_budget_would_have_meant(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    policy = ctxlab.SlidingWindow(40)
    agent = agent_of(conversation_manager(policy, budget=900), ScriptedModel(looks(90), context_window=900))
    record(agent, path)
    agent("Look.")
    (trace,) = traces(path)
    assert trace.outcome == "fits"
    assert trace.under(100_000).rounds == ()
    assert replace(trace, start=()).tokens == trace.tokens
