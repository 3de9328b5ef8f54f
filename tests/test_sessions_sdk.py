"""Folders written by the real SDK load as what a second, real agent restores from them."""

import copy
from collections.abc import AsyncIterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxlab.messages import Message
from ctxlab.sessions import load
from ctxlab.sessions.strands_folder import rewritten_at_restore
from tests.builders import message, result_block, use_block
from tests.conftest import need

PICTURE = b"\x89PNG\r\n\x1a\n-not-really"


@pytest.fixture(autouse=True)
def _sdk() -> None:
    need(find_spec("strands"), "strands-agents is not installed (pip install ctxlab[strands])")


def agent_on(storage: Path, replies: Sequence[Any] = (), **options: Any) -> Any:
    """An Agent with a FileSessionManager; its model gives the replies in turn: a text, a tool name, or an exception."""
    from strands.session.file_session_manager import FileSessionManager

    return _agent(replies, session_manager=FileSessionManager("talk", storage_dir=str(storage)), **options)


def _agent(replies: Sequence[Any], **options: Any) -> Any:
    from strands import Agent, tool
    from strands.models.model import Model

    left = iter(replies)

    class Scripted(Model):
        def update_config(self, **model_config: Any) -> None:
            raise NotImplementedError

        def get_config(self) -> dict[str, Any]:
            return {"model_id": "scripted"}

        def structured_output(self, *arguments: Any, **options: Any) -> Any:
            raise NotImplementedError

        async def stream(self, *arguments: Any, **options: Any) -> AsyncIterator[Any]:
            reply = next(left)
            if isinstance(reply, Exception):
                raise reply
            use = {"toolUse": {"toolUseId": f"use-{reply}", "name": reply}} if reply == "look" else {}
            yield {"messageStart": {"role": "assistant"}}
            yield {"contentBlockStart": {"start": use}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": "{}"}} if use else {"text": reply}}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "tool_use" if use else "end_turn"}}
            usage = {"inputTokens": 7, "outputTokens": 2, "totalTokens": 9}
            yield {"metadata": {"usage": usage, "metrics": {"latencyMs": 1}}}

    @tool
    def look() -> str:
        """Look around."""
        return "a long result " * 50

    return Agent(model=Scripted(), tools=[look], agent_id="worker", callback_handler=None, **options)


def test_a_folder_of_the_sdk_is_what_its_agent_holds(tmp_path: Path) -> None:
    agent = agent_on(tmp_path, ["look", "done", "fine"])
    agent("Look around 你好 🧵")
    agent([{"text": "and this?"}, {"image": {"format": "png", "source": {"bytes": PICTURE}}}])
    session = load(tmp_path)
    assert list(session.messages) == agent.messages
    assert session.messages[4]["content"][1]["image"]["source"]["bytes"] == PICTURE
    assert (session.name, session.agent_id) == ("talk (worker)", "worker")
    assert [tokens for _, tokens in session.reported_input_tokens] == [7, 7, 7]
    assert [note for note in session.notes if note.kind != "read"] == []


def test_live_is_what_a_second_agent_restores_after_a_sliding_window_trimmed(tmp_path: Path) -> None:
    from strands.agent.conversation_manager import SlidingWindowConversationManager

    window = SlidingWindowConversationManager(window_size=4)
    agent = agent_on(tmp_path, [f"answer {turn}" for turn in range(6)], conversation_manager=window)
    for turn in range(6):
        agent(f"question {turn}")
    restored = agent_on(tmp_path, conversation_manager=SlidingWindowConversationManager(window_size=4))
    session = load(tmp_path / "session_talk")
    assert session.removed_message_count > 0
    assert session.view == "live"
    assert list(session.messages) == restored.messages == agent.messages
    assert len(session.views["stored"]) == 12
    assert f"the last {len(session.messages)} of 12" in session.notes[0].text
    assert "the 12 messages on disk" in session.with_view("stored").notes[0].text


def test_live_begins_with_the_summary_that_a_second_agent_restores(tmp_path: Path) -> None:
    from strands.agent.conversation_manager import SummarizingConversationManager
    from strands.types.exceptions import ContextWindowOverflowException

    def manager() -> Any:
        return SummarizingConversationManager(summary_ratio=0.5, preserve_recent_messages=2)

    too_long = ContextWindowOverflowException("too long")
    replies = ["answer 0", "answer 1", "answer 2", too_long, "what was said so far", "answer 3"]
    agent = agent_on(tmp_path, replies, conversation_manager=manager())
    for turn in range(4):
        agent(f"question {turn}")
    restored = agent_on(tmp_path, conversation_manager=manager())
    session = load(tmp_path)
    assert session.manager == "SummarizingConversationManager"
    assert session.messages[0]["content"] == [{"text": "what was said so far"}]
    assert list(session.messages) == restored.messages == agent.messages
    assert len(session.views["stored"]) == 8
    assert "behind the summary" in session.notes[0].text


def test_a_redacted_message_is_what_a_second_agent_restores(tmp_path: Path) -> None:
    agent = agent_on(tmp_path, ["a secret"])
    agent("tell me")
    agent._session_manager.redact_latest_message(message("assistant", {"text": "[redacted]"}), agent)
    session = load(tmp_path)
    assert list(session.messages) == agent_on(tmp_path).messages
    assert session.messages[-1]["content"] == [{"text": "[redacted]"}]
    assert any("redacted" in note.text for note in session.notes)


def test_the_snapshots_of_the_sdk_are_views_from_the_newest_to_the_oldest(tmp_path: Path) -> None:
    from strands.session.snapshot_session_manager import SnapshotSessionManager
    from strands.storage import LocalFileStorage

    def manager() -> Any:
        storage = LocalFileStorage(str(tmp_path))
        return SnapshotSessionManager("talk", storage=storage, snapshot_trigger=lambda **_: True)

    agent = _agent(["one", "look", "two"], session_manager=manager())
    agent("first")
    agent([{"text": "second"}, {"image": {"format": "png", "source": {"bytes": PICTURE}}}])
    restored = _agent([], session_manager=manager())
    latest = next(tmp_path.rglob("snapshot_latest.json"))
    for path in (tmp_path, tmp_path / "session", tmp_path / "session" / "talk", latest.parent):
        session = load(path)
        assert session.format == "strands-snapshot"
        assert session.name == "talk (worker)"
        assert list(session.messages) == restored.messages == agent.messages
        lengths = [(name, len(messages)) for name, messages in session.views.items()]
        assert lengths == [("live", 6), ("history 2", 6), ("history 1", 2)]
    assert load(latest).messages == load(tmp_path).messages


IDS = st.sampled_from("123")
BLOCKS = st.one_of(st.builds(use_block, IDS), st.builds(result_block, IDS), st.just({"text": "hi"}))
MESSAGES = st.builds(
    lambda role, content: message(role, *content), st.sampled_from(["user", "assistant"]), st.lists(BLOCKS, max_size=3)
)


@given(st.lists(MESSAGES, max_size=6))
def test_it_names_a_place_exactly_when_the_sdk_would_rewrite_at_restore(messages: list[Message]) -> None:
    from strands.session.repository_session_manager import RepositorySessionManager

    given: Any = copy.deepcopy(messages)
    restored = RepositorySessionManager._fix_broken_tool_use(None, given)  # type: ignore[arg-type]  # it uses no self
    assert bool(rewritten_at_restore(messages)) == (restored != messages)
