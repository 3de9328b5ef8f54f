"""The tabs "Rounds" and "Tune": they follow the explorer's state, and what is chosen in them changes it."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ctxlab.explorers import Explorer
from ctxlab.explorers.animator import RoundsPlayer
from ctxlab.explorers.rounds_tabs import RoundsTab, TuneTab
from ctxlab.explorers.tuner import Tuner
from ctxlab.explorers.work import Stopped
from ctxlab.samples import sample_sessions


def explorer() -> Explorer:
    return Explorer(sample_sessions()["mid-sized-results"], budget=30_000, window_size=4)


def test_a_tile_that_is_chosen_puts_its_message_in_focus() -> None:
    shown = explorer()
    tab = RoundsTab(shown.store, shown.guarded)
    tab.show(shown.findings)
    (player,) = tab.widget.children
    assert isinstance(player, RoundsPlayer)
    player.message = 4
    assert shown.state.focus == 4


def test_another_budget_is_another_record_of_the_same_player() -> None:
    shown = explorer()
    tab = RoundsTab(shown.store, shown.guarded)
    tab.show(shown.findings)
    (player,) = tab.widget.children
    shown.store.change(budget=20_000)
    tab.show(shown.findings)
    assert tab.widget.children == (player,)
    assert json.loads(player.record)["budget"] == 20_000


def test_the_tuner_and_the_explorer_share_a_budget() -> None:
    shown = explorer()
    tab = TuneTab(shown.store, shown.guarded)
    tab.show(shown.findings)
    tuner = tab.tuner
    assert isinstance(tuner, Tuner)
    assert tuner in tab.widget.children
    assert tuner.budget == 30_000
    tuner.budget = 25_000
    assert shown.state.budget == 25_000
    shown.store.change(budget=20_000)
    tab.show(shown.findings)
    assert (tab.tuner, tuner.budget) == (tuner, 20_000)


def test_another_session_is_another_tuner() -> None:
    shown = explorer()
    tab = TuneTab(shown.store, shown.guarded)
    tab.show(shown.findings)
    before = tab.tuner
    shown.show_session("sample:giant-block")
    tab.show(shown.findings)
    assert tab.tuner is not None
    assert tab.tuner is not before
    assert before not in tab.widget.children
    # What it has computed by now depends on whether an event loop is there; what it is about does not.
    assert list(tab.tuner.sessions) == [shown.findings.session.name]


def test_the_tuner_marks_the_texts_of_the_message_in_focus() -> None:
    shown = explorer()
    shown.store.focus_on(2)
    tab = TuneTab(shown.store, shown.guarded)
    tab.show(shown.findings)
    assert tab.tuner is not None
    assert (tab.tuner.marked_by, tab.tuner.marked) == ("message 2", [len(text) for text in texts(shown, 2)])
    shown.store.focus_on(1)
    tab.show(shown.findings)
    assert (tab.tuner.marked_by, tab.tuner.marked) == ("message 1", [len(text) for text in texts(shown, 1)])


def texts(shown: Explorer, index: int) -> list[str]:
    content: Any = shown.findings.messages[index]["content"]
    results = [item for block in content for item in block.get("toolResult", {}).get("content", [])]
    return [part["text"] for part in (*content, *results) if "text" in part]


def test_trying_values_tells_how_far_it_is_and_can_be_stopped() -> None:
    told: list[tuple[str, int, int]] = []

    def progress(what: str, done: int, of: int) -> None:
        told.append((what, done, of))
        if done == 3:
            raise Stopped

    messages = explorer().findings.messages
    # As in the explorer: in a thread where no loop runs, which would try the values bit by bit.
    with ThreadPoolExecutor(1) as thread, pytest.raises(Stopped):
        thread.submit(lambda: Tuner(messages, budget=30_000, progress=progress)).result()
    assert [done for _, done, _ in told] == [1, 2, 3]
    assert told[0][2] > 3
