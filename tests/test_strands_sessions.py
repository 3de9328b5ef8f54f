"""Reductions survive a restart (#5690): what a second process loads is what was live, beside the originals."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ctxlab
from ctxlab.messages import has_pinned_flag
from ctxlab.strands.episode import Policy
from ctxlab.strands.standing import Standing
from tests.builders import assistant, image, message, result_block, tool_result, tool_use, user
from tests.conftest import need
from tests.strands_agents import agent_of, looks, seen, stored_originals, tried

from ctxlab.strands import ScriptedModel, conversation_manager  # isort: skip
from strands.agent.conversation_manager import SlidingWindowConversationManager, SummarizingConversationManager
from strands.hooks import MessageAddedEvent

CRASHES = Path(__file__).parent / "sdk" / "crashes.py"

POLICIES: dict[str, Policy] = {
    "trims": ctxlab.SlidingWindow(4),
    "trims and pins": ctxlab.SlidingWindow(4, pin_first=1),
    "truncations": ctxlab.SlidingWindow(40),
    "careful": ctxlab.SlidingWindow.careful(6),
    "summaries": ctxlab.Summarizing(0.6, 2),
    "summaries and pins": ctxlab.Summarizing(0.6, 2, pin_first=2),
    "truncated texts": ctxlab.Summarizing(0.3, 10),
}

Session = Callable[[], Any]


@pytest.fixture
def session(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    """A session manager for the same session each time it is asked for, as every process makes one."""
    from strands.session import FileSessionManager, S3SessionManager

    if request.param == "file":
        yield lambda: FileSessionManager("talk", storage_dir=str(tmp_path))
        return
    need(find_spec("moto"), "moto, the stand-in for S3, is not installed")
    import boto3  # type: ignore[import-untyped]  # it ships no type information
    from moto import mock_aws

    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "none")
    with mock_aws():
        boto3.client("s3", region_name="us-east-1").create_bucket(Bucket="sessions")
        yield lambda: S3SessionManager("talk", "sessions", region_name="us-east-1")


KEPT_IN_S3 = ("trims and pins", "truncations", "summaries and pins")


@pytest.mark.parametrize(
    ("policy", "session"),
    [*((policy, "file") for policy in POLICIES), *((policy, "s3") for policy in KEPT_IN_S3)],
    indirect=["session"],
)
def test_a_second_process_loads_what_was_live(policy: str, session: Session) -> None:
    model = ScriptedModel(looks(30, 90, 60, 2, 80), context_window=1_150)
    said: list[Any] = []
    live: list[Any] = []
    reductions = 0
    for prompt in ("Look.", "Closer. " + "please " * 300, "Go on.", "And on.", "The end."):
        agent = agent_of(conversation_manager(POLICIES[policy]), model, session=session())
        agent.hooks.add_callback(MessageAddedEvent, lambda event: said.append(json.loads(json.dumps(event.message))))
        assert seen(agent.messages) == seen(live)
        tried(agent, prompt)
        live = agent.messages
        reductions += len(agent.conversation_manager.traces)
    assert reductions > 1
    second = agent_of(conversation_manager(POLICIES[policy]), model, session=session())
    assert seen(second.messages) == seen(live)
    store = session()
    originals = [record.message for record in store.list_messages("talk", "worker")]
    assert seen(originals) == seen(said)


def test_the_sdk_forgets_here_what_ctxlab_keeps(tmp_path: Path) -> None:
    # The reason for all this; where it fails, the SDK has learned to keep reductions.
    for manager, keeps in (
        (lambda: SlidingWindowConversationManager(40), False),
        (lambda: conversation_manager(ctxlab.SlidingWindow(40)), True),
    ):
        storage = tmp_path / str(keeps)
        agent = agent_of(manager(), ScriptedModel(looks(90), context_window=700), storage=storage)
        agent("Look.")
        restored = agent_of(manager(), ScriptedModel(), storage=storage)
        assert (seen(restored.messages) == seen(agent.messages)) is keeps


def test_two_real_processes_agree(tmp_path: Path) -> None:
    script = (
        "import sys, json, ctxlab\n"
        "from tests.strands_agents import agent_of, looks, seen\n"
        "from ctxlab.strands import ScriptedModel, conversation_manager\n"
        "policy = ctxlab.SlidingWindow(4, pin_first=1)\n"
        "agent = agent_of(conversation_manager(policy), ScriptedModel(looks(90, 95), 900), storage=sys.argv[1])\n"
        "before = seen(agent.messages)\n"
        "for prompt in sys.argv[2:]: agent(prompt)\n"
        "print(json.dumps([before, seen(agent.messages)]))\n"
    )
    root = Path(__file__).parents[1]
    found = []
    for prompts in (["Look.", "Closer."], []):
        command = [sys.executable, "-c", script, str(tmp_path), *prompts]
        answer = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root, timeout=120)
        found.append(json.loads(answer.stdout))
    (first, live), (restored, _) = found
    assert first == []
    assert any("truncated" in json.dumps(message) for message in live)
    assert restored == live


@pytest.mark.skipif(sys.platform == "win32", reason="a process that kills itself needs fork and SIGKILL")
@pytest.mark.parametrize("policy", ["trims and pins", "summaries and pins"])
def test_nothing_is_lost_wherever_the_process_dies(policy: str, tmp_path: Path) -> None:
    """Killed before and after its every write: all that was stored is there, and what loads is what was live."""
    command = [sys.executable, "-m", "tests.sdk.crashes", policy, str(tmp_path)]
    root = Path(__file__).parents[1]
    answer = subprocess.run(command, capture_output=True, text=True, cwd=root, timeout=240)
    assert answer.returncode == 0, answer.stderr
    crashes = [json.loads(line) for line in answer.stdout.splitlines()]
    assert len(crashes) > 20
    assert [crash for crash in crashes if crash["fault"]] == []
    assert any(crash["reduced"] for crash in crashes)


def test_a_restart_after_everything_was_removed_does_not_write_over_the_first_message(tmp_path: Path) -> None:
    # The SDK numbers from 0 again where a restart passes over every stored message.
    first = agent_of(conversation_manager(ctxlab.SlidingWindow(0)), ScriptedModel(["One."]), storage=tmp_path)
    first("Question 1")
    assert first.messages == []
    second = agent_of(conversation_manager(ctxlab.SlidingWindow(0)), ScriptedModel(["Two."]), storage=tmp_path)
    assert second.messages == []
    second("Question 2")
    texts = [stored["content"][0]["text"] for stored in stored_originals(tmp_path)]
    assert texts == ["Question 1", "One.", "Question 2", "Two."]


def test_pins_that_a_person_sets_survive_a_restart(tmp_path: Path) -> None:
    agent = agent_of(conversation_manager(ctxlab.SlidingWindow(4)), ScriptedModel(), storage=tmp_path)
    agent("Never forget this.")
    agent.messages[0]["metadata"] = {"custom": {"pinned": True}}
    agent("Something else.")
    restored = agent_of(conversation_manager(ctxlab.SlidingWindow(4)), ScriptedModel(), storage=tmp_path)
    assert has_pinned_flag(restored.messages[0])
    for number in range(4):
        restored(f"Question {number}")
    assert restored.messages[0]["content"] == [{"text": "Never forget this."}]
    assert not has_pinned_flag(stored_originals(tmp_path)[0])


def test_what_a_person_takes_out_of_the_conversation_stays_out(tmp_path: Path) -> None:
    agent = agent_of(conversation_manager(ctxlab.SlidingWindow(40)), ScriptedModel(), storage=tmp_path)
    agent("A mistake.")
    agent.messages.clear()
    agent("The question.")
    restored = agent_of(conversation_manager(ctxlab.SlidingWindow(40)), ScriptedModel(), storage=tmp_path)
    assert seen(restored.messages) == seen(agent.messages)
    assert len(stored_originals(tmp_path)) == 4


def test_images_in_front_of_a_restart_are_bytes_again(tmp_path: Path) -> None:
    history = [
        message("user", {"text": "See this."}, image()),
        assistant("A picture."),
        user("q" * 900),
        assistant("a"),
    ]
    policy = ctxlab.SlidingWindow(4, pin_first=1)
    agent = agent_of(conversation_manager(policy), ScriptedModel(), history, storage=tmp_path)
    agent("Go on.")
    restored = agent_of(conversation_manager(policy), ScriptedModel(), storage=tmp_path)
    assert seen(restored.messages) == seen(agent.messages)
    assert restored.messages[0]["content"][1] == image()


def test_a_message_that_was_cut_and_then_redacted_leaves_nothing_of_its_text_behind(tmp_path: Path) -> None:
    secret = "the secret word " * 800
    model = ScriptedModel(context_window=2_500)
    agent = agent_of(conversation_manager(ctxlab.Summarizing()), model, storage=tmp_path)
    stream = model.stream

    async def guarded(*arguments: Any, **options: Any) -> Any:
        async for event in stream(*arguments, **options):
            yield event
        yield {"redactContent": {"redactUserContentMessage": "[redacted]"}}

    model.stream = guarded  # type: ignore[method-assign]  # a guardrail at the end of this one model's stream
    agent(secret)
    assert agent.conversation_manager.traces
    assert "secret" not in json.dumps([stored["content"] for stored in stored_originals(tmp_path)])
    restored = agent_of(conversation_manager(ctxlab.Summarizing()), ScriptedModel(), storage=tmp_path)
    assert "secret" not in json.dumps(restored.messages)


@pytest.mark.parametrize("end", [assistant("Well."), message("user", result_block("9"))], ids=["one more", "as many"])
def test_a_conversation_that_the_sdk_repairs_as_it_loads_goes_on_from_there(end: Any, tmp_path: Path) -> None:
    history = [user("Look."), tool_use("1"), user("Never mind."), assistant("Well."), end]
    agent_of(conversation_manager(ctxlab.SlidingWindow(40)), ScriptedModel(), history, storage=tmp_path)
    second = agent_of(conversation_manager(ctxlab.SlidingWindow(4)), ScriptedModel(), storage=tmp_path)
    assert seen(second.messages) != seen(history)
    for prompt in ("Go on.", "And on."):
        second(prompt)
        third = agent_of(conversation_manager(ctxlab.SlidingWindow(4)), ScriptedModel(), storage=tmp_path)
        assert seen(third.messages) == seen(second.messages)
    assert len(stored_originals(tmp_path)) == len(history) + 4


def test_a_session_with_a_gap_in_its_numbers_goes_on(tmp_path: Path) -> None:
    history = [part for number in range(6) for part in (user(f"Question {number}"), assistant("Answer"))]
    agent_of(conversation_manager(ctxlab.SlidingWindow(40)), ScriptedModel(), history, storage=tmp_path)
    for number in (2, 3):
        next(tmp_path.rglob(f"message_{number}.json")).unlink()
    second = agent_of(conversation_manager(ctxlab.SlidingWindow(4, pin_first=1)), ScriptedModel(), storage=tmp_path)
    second("Go on.")
    third = agent_of(conversation_manager(ctxlab.SlidingWindow(4, pin_first=1)), ScriptedModel(), storage=tmp_path)
    assert seen(third.messages) == seen(second.messages)


@pytest.mark.parametrize(
    ("sdk", "policy"),
    [
        (lambda: SlidingWindowConversationManager(4), ctxlab.SlidingWindow(4)),
        (lambda: SummarizingConversationManager(0.6, 2), ctxlab.Summarizing(0.6, 2)),
    ],
)
def test_a_session_of_the_sdks_own_manager_is_taken_over(sdk: Any, policy: Policy, tmp_path: Path) -> None:
    agent = agent_of(sdk(), ScriptedModel(["Answer. " * 90] * 5, context_window=700), storage=tmp_path)
    for number in range(5):
        agent(f"Question {number}")
    assert agent.conversation_manager.removed_message_count
    taken = agent_of(conversation_manager(policy), ScriptedModel(), storage=tmp_path)
    assert seen(taken.messages) == seen(agent.messages)
    assert taken.conversation_manager.get_state().get("front") is None


def test_snapshots_keep_what_was_live(tmp_path: Path) -> None:
    if not find_spec("strands.storage"):
        pytest.skip("this release has no snapshots")
    from strands.session.snapshot_session_manager import SnapshotSessionManager
    from strands.storage import LocalFileStorage

    def agent(replies: Any) -> Any:
        session = SnapshotSessionManager("talk", storage=LocalFileStorage(str(tmp_path)))
        model = ScriptedModel(replies, context_window=900)
        return agent_of(conversation_manager(ctxlab.SlidingWindow(4, pin_first=1)), model, session=session)

    first = agent(looks(90, 30))
    first("Look.")
    second = agent(looks(60))
    assert seen(second.messages) == seen(first.messages)
    second("Closer.")
    assert seen(agent([]).messages) == seen(second.messages)


def test_the_state_of_a_stranger_is_refused() -> None:
    with pytest.raises(ValueError, match="Invalid conversation manager state"):
        conversation_manager(ctxlab.SlidingWindow()).restore_from_session({"__name__": "Another"})


@pytest.mark.parametrize("policy", POLICIES)
def test_ctxlab_loads_the_folder_as_a_restart_does(policy: str, tmp_path: Path) -> None:
    model = ScriptedModel(looks(30, 90, 60), context_window=1_150)
    agent = agent_of(conversation_manager(POLICIES[policy]), model, storage=tmp_path)
    for prompt in ("Look.", "Closer. " + "please " * 300, "Go on."):
        tried(agent, prompt)
    session = ctxlab.load(tmp_path)
    assert seen(session.views["live"]) == seen(agent.messages)
    assert seen(session.views["stored"]) == seen(stored_originals(tmp_path))


MESSAGES = st.sampled_from(["add", "cut", "pin", "drop first", "drop some", "insert", "settle"])


@given(st.lists(MESSAGES, max_size=40), st.randoms(use_true_random=False))
@settings(max_examples=150)
def test_front_and_stored_make_up_the_conversation_whatever_is_done_to_it(steps: list[str], dice: Any) -> None:
    live: list[Any] = []
    stored: list[Any] = []
    standing = Standing(0, [])
    for number, step in enumerate(steps):
        chosen = dice.choice(live) if live else None
        if step == "add":
            said = user(f"message {number}")
            live.append(said)
            stored.append({**said})
            standing.added(said)
        elif step == "insert":
            live.insert(dice.randrange(len(live) + 1), assistant(f"summary {number}"))
        elif step == "settle":
            standing.front(live)
        elif chosen is not None:
            if step == "cut":
                chosen["content"] = [{"text": "cut"}]
            elif step == "pin":
                chosen["metadata"] = {"custom": {"pinned": True}}
            elif step == "drop first":
                del live[0]
            else:
                live.remove(chosen)
    front, passed_over = standing.front(live)
    assert [*front, *stored[passed_over:]] == live
    assert standing.stored == len(stored)


def test_tool_results_that_are_cut_in_the_middle_of_a_turn_are_kept(tmp_path: Path) -> None:
    history = [user("Begin."), tool_use("1"), tool_result("1", "r" * 9_000), assistant("Seen.")]
    policy = ctxlab.SlidingWindow(40)
    agent = agent_of(conversation_manager(policy), ScriptedModel(context_window=1_500), history, storage=tmp_path)
    agent("Go on.")
    state = json.loads(next(tmp_path.rglob("agent.json")).read_text(encoding="utf-8"))["conversation_manager_state"]
    assert [part["role"] for part in state["front"]] == ["user", "assistant", "user"]
    assert state["removed_message_count"] == 3
    assert stored_originals(tmp_path)[2]["content"] == history[2]["content"]
