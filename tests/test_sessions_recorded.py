"""Sessions that other projects recorded: those in a format that is read load with the counts of their index."""

import json
from pathlib import Path
from typing import Any

import pytest

from ctxlab.messages import Conversation
from ctxlab.sessions import Session, SessionFormatError, load

# What is read of each file: format, messages, tool calls, tool results of the view shown, and, where the index counts
# otherwise, why the numbers here are right: a message is what went to the model as one, not a line of a file.
COUNTS: dict[str, tuple[str, int, int, int, str]] = {
    "anthropic_messages__handoff_anthropic.json": (
        *("anthropic", 11, 3, 3),
        "one of the four is a server tool, which the vendor runs itself and nobody answers; it is kept under its type",
    ),
    "bedrock_converse__tool_return_mixed_order.json": ("converse", 4, 1, 1, ""),
    "claude_code__dk_sidechains_ja.jsonl": (
        *("claude-code", 21, 13, 13),
        "53 lines: 22 of two subagents, which are views, and 31 of the main thread, where lines of one id are one turn",
    ),
    "claude_code__gitai_todo_refactor.jsonl": (
        *("claude-code", 28, 13, 13),
        "38 lines, ten of which continue the turn of the line before",
    ),
    "codex__vct_zh_rollout.jsonl": (
        *("codex", 40, 19, 19),
        "59 items: reasoning, text and call of one turn are one message, and ten of the reasonings are empty",
    ),
    "derived_converse__cc_gitai_todo_refactor.json": ("messages", 27, 13, 13, ""),
    "derived_converse__pi_large_session.json": ("messages", 876, 391, 373, ""),
    "derived_converse__tau_task2_trial1.json": ("messages", 61, 27, 27, ""),
    "inspect__images_tc.json": ("inspect", 3, 0, 0, ""),
    "inspect__message_dedup.eval": ("inspect", 12, 5, 5, ""),
    "langchain__deepagents_summarization_seed.json": ("langchain", 6, 2, 2, ""),
    "openai_responses__openai_mcp_tool.json": (
        *("openai-responses", 3, 0, 0),
        "7 items: the five between the two questions are one turn of the assistant",
    ),
    "openhands__litellm_log_fncall.json": ("openai-chat", 12, 5, 5, ""),
    "otel_spans__openai_agents_genai_live_spans.json": (
        *("otel", 7, 2, 2),
        "the index counts spans only; the coordinator's last call holds six messages, its answer is the seventh",
    ),
    "strands__evals_skills_two_skills.json": ("converse", 6, 2, 2, ""),
    "strands__ronbrowser_session": ("strands-session", 38, 11, 11, ""),
    "tau2_bench__telecom_mobile_data.json": (
        *("openai-chat", 26, 9, 9),
        "28 lines: twice the results of two parallel calls stand in two of them",
    ),
    "tau_bench__gpt4o_airline_task2_trial1.json": ("openai-chat", 62, 27, 27, ""),
}
REFUSED = {
    "gemini_cli__vct_zh_chat.jsonl": "a Gemini CLI chat",
    "kimi_code__jz_tools_compaction.jsonl": "a Kimi session",
    "pi__large_session_excerpt156.jsonl": "a Pi session",
    "swe_agent__marshmallow_fc.traj": "a SWE-agent trajectory",
}


def index(shared: Path) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads((shared / "sessions" / "index.json").read_text(encoding="utf-8"))
    return entries


def blocks_of(messages: Any, kind: str) -> int:
    return sum(kind in block for message in messages for block in message["content"])


def counted(messages: Conversation) -> tuple[int, int, int]:
    return len(messages), blocks_of(messages, "toolUse"), blocks_of(messages, "toolResult")


def test_every_file_of_the_index_is_in_one_of_the_tables(shared: Path) -> None:
    assert {entry["file"] for entry in index(shared)} == COUNTS.keys() | REFUSED.keys()


@pytest.mark.parametrize("file", COUNTS)
def test_a_recorded_session_has_the_counts_of_its_index_or_a_reason_why_not(shared: Path, file: str) -> None:
    (entry,) = (entry for entry in index(shared) if entry["file"] == file)
    session = load(shared / "sessions" / file)
    name, messages, calls, results, reason = COUNTS[file]
    assert (session.format, *counted(session.messages)) == (name, messages, calls, results)
    of_index = (entry["messages"], entry["tool_calls"], entry["shapes"].get("n_tool_results", 0))
    assert bool(reason) == ((messages, calls, results) != of_index)
    assert session.detected.certainty == "certain"
    assert not [note for note in session.notes if note.kind == "repaired" and "ids are not those" not in note.text]


@pytest.mark.parametrize("file", REFUSED)
def test_a_recorded_session_in_another_format_is_refused_by_its_name(shared: Path, file: str) -> None:
    with pytest.raises(SessionFormatError) as refusal:
        load(shared / "sessions" / file)
    assert file in str(refusal.value)
    assert REFUSED[file] in str(refusal.value)
    assert "Formats read: strands-session" in str(refusal.value)


def test_the_lines_and_items_that_the_index_counts_are_all_accounted_for(shared: Path) -> None:
    def session(start: str) -> Session:
        return load(next(shared.glob(f"sessions/{start}*")))

    chat = session("claude_code__dk")
    assert {name: counted(messages) for name, messages in chat.views.items()} == {
        "main thread": (21, 13, 13),
        "sidechain 1": (6, 2, 2),
        "sidechain 2": (14, 6, 6),
    }
    lines = [int(view.about.split(" of ")[-1].split()[0]) for view in chat.offers.values()]
    assert sum(lines) == 53
    assert sum(len(messages) for messages in session("otel").views.values()) > 0
    side = session("tau2").with_view("agent's side")
    assert counted(side.messages) == (23, 4, 4)


def test_what_providers_reported_is_found_in_recorded_sessions(shared: Path) -> None:
    expected = {
        "anthropic_messages__": [(11, 1229)],
        "claude_code__gitai": [(1, 15167), (3, 15775), (5, 19143)],
        "codex__": [(2, 5645), (4, 5822), (6, 6565)],
        "inspect__images": [(2, 323)],
        "langchain__": [(1, 6720), (3, 13432), (5, 13541)],
        "openai_responses__": [(3, 1109)],
        "openhands__": [(12, 6729)],
        "otel_spans__": [(6, 405)],
        "tau2_bench__": [(2, 6299), (4, 6389), (6, 6623)],
    }
    for start, calls in expected.items():
        session = load(next(shared.glob(f"sessions/{start}*")))
        assert list(session.reported_input_tokens[:3]) == calls, start


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
