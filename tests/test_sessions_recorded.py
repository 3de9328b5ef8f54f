"""Sessions that other projects recorded: those in a format that is read load with the counts of their index."""

import json
from pathlib import Path
from typing import Any

import pytest

from ctxlab.sessions import SessionFormatError, load

READ = ("strands__", "derived_converse__", "bedrock_converse__")


def index(shared: Path) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads((shared / "sessions" / "index.json").read_text(encoding="utf-8"))
    return entries


def blocks_of(messages: Any, kind: str) -> int:
    return sum(kind in block for message in messages for block in message["content"])


def test_every_recorded_session_in_a_format_that_is_read_has_the_counts_of_its_index(shared: Path) -> None:
    entries = [entry for entry in index(shared) if entry["file"].startswith(READ)]
    assert len(entries) >= 6
    for entry in entries:
        session = load(shared / "sessions" / entry["file"])
        counted = (len(session.messages), blocks_of(session.messages, "toolUse"))
        assert counted == (entry["messages"], entry["tool_calls"]), entry["file"]
        assert blocks_of(session.messages, "toolResult") == entry["shapes"]["n_tool_results"], entry["file"]
        assert session.detected.certainty == "certain"
        assert not [note for note in session.notes if note.kind != "read"], entry["file"]


def test_every_other_recorded_session_is_refused_with_what_it_looks_like(shared: Path) -> None:
    looks = {
        "anthropic_messages__": "OpenAI and Anthropic messages", "claude_code__": "Claude Code lines",
        "codex__": "a Codex rollout", "gemini_cli__": "a Gemini CLI chat", "inspect__images": "an Inspect log",
        "inspect__message_dedup": "a zip archive", "kimi_code__": "a Kimi session", "langchain__": "LangChain messages",
        "openai_responses__": "an OpenAI Responses request", "openhands__": "OpenAI and Anthropic messages",
        "otel_spans__": "an OpenTelemetry export", "pi__": "a Pi session", "swe_agent__": "a SWE-agent trajectory",
        "tau2_bench__": "a tau-bench run", "tau_bench__": "a tau-bench run",
    }  # fmt: skip
    others = [entry["file"] for entry in index(shared) if not entry["file"].startswith(READ)]
    assert len(others) >= 15
    for file in others:
        with pytest.raises(SessionFormatError) as refusal:
            load(shared / "sessions" / file)
        words = str(refusal.value)
        assert file in words
        assert next(name for start, name in looks.items() if file.startswith(start)) in words
        assert "zip archive" in words or "Formats read: strands-session" in words


def test_a_recorded_session_opens_from_its_storage_session_agent_and_messages_folder(shared: Path) -> None:
    storage = shared / "sessions" / "strands__ronbrowser_session"
    session = storage / "session_default"
    agent = session / "agents" / "agent_ron-superagent"
    opened = [load(path) for path in (storage, session, agent, agent / "messages")]
    assert len({len(each.messages) for each in opened}) == 1
    assert all(each.messages == opened[0].messages for each in opened)
    assert {each.name for each in opened} == {"default (ron-superagent)"}
    assert {each.manager for each in opened} == {"SlidingWindowConversationManager"}
    assert [each.detected.rule.split()[-2] for each in opened] == ["storage", "session", "agent", "messages"]


def test_it_says_when_the_sdk_would_rewrite_a_recorded_session_at_restore(shared: Path) -> None:
    session = load(shared / "sessions" / "strands__ronbrowser_session")
    assert any("rewrites them when it restores" in note.text for note in session.notes)
