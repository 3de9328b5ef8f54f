"""The tab "Views": each view of a session in order, with its tokens; for a recording, a timeline of its turns."""

from pathlib import Path
from typing import Any

import pytest

import ctxlab
from ctxlab.explorers import Explorer
from ctxlab.explorers.views_tab import BAR, ViewsTab
from ctxlab.samples import sample_sessions
from tests.conftest import need


def views(explorer: Explorer) -> ViewsTab:
    at, found = next((at, tab) for at, tab in enumerate(explorer.tabs) if isinstance(tab, ViewsTab))
    explorer.tab.selected_index = at
    return found


def test_every_view_has_a_row_with_its_messages_and_tokens() -> None:
    explorer = Explorer(sample_sessions()["pins"])
    session, counter = explorer.findings.session, ctxlab.counter()
    rows = views(explorer).widget.rows
    assert [row[1] for row in rows] == list(session.views)
    assert [row[2] for row in rows] == [str(len(messages)) for messages in session.views.values()]
    assert [row[3] for row in rows] == [f"{ctxlab.ledger(m, counter).total:,}" for m in session.views.values()]
    assert max(len(row[4]) for row in rows) == BAR


def test_choosing_a_row_shows_that_view() -> None:
    explorer = Explorer(sample_sessions()["pins"])
    tab = views(explorer)
    assert (explorer.state.view, len(explorer.findings.messages)) == ("live", 13)
    tab.widget.selected = 1
    assert (explorer.state.view, len(explorer.findings.messages)) == ("stored", 32)
    assert [row[0] for row in tab.widget.rows] == ["", "strong"]


def test_a_recording_is_a_timeline_of_its_turns(tmp_path: Path) -> None:
    try:
        from strands import Agent
    except ImportError:
        need(False, "strands-agents is not installed")
        return
    from ctxlab.strands import ScriptedModel, conversation_manager, record

    prompt: Any = list(ctxlab.load(sample_sessions()["eighty-blocks"]).messages[0]["content"])
    policy = ctxlab.Summarizing(truncation=ctxlab.Truncation(rule="proportional"))
    model = ScriptedModel(["Read.", "Done."], context_window=64_000, counter=ctxlab.counter())
    agent = Agent(model=model, conversation_manager=conversation_manager(policy), callback_handler=None)
    record(agent, tmp_path / "recording.jsonl")
    agent(prompt)
    agent("And now?")
    explorer = Explorer(tmp_path / "recording.jsonl")
    tab = views(explorer)
    rows = tab.widget.rows
    assert [row[1] for row in rows] == [
        *(f"turn 1, call {number}" for number in range(1, 9)), "turn 1, end", "turn 2, call 1", "turn 2, end",
    ]  # fmt: skip
    assert ["the call was refused" in row[5] for row in rows] == [True] * 7 + [False] * 4
    assert all("is cut from 5,000 to 2,549 characters" in row[5] for row in rows[1:8])
    tab.widget.selected = 2
    assert explorer.state.view == "turn 1, call 3"


@pytest.mark.parametrize("name", ["review-2173", "thousand-messages", "summarized"])
def test_every_sample_has_its_views(name: str) -> None:
    explorer = Explorer(sample_sessions()[name])
    assert len(views(explorer).widget.rows) == len(explorer.findings.session.views)
