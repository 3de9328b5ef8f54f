"""The tabs "Rounds" and "Tune": they follow the explorer's state, and what is chosen in them changes it."""

import json

from ctxlab.explorers import Explorer
from ctxlab.explorers.animator import RoundsPlayer
from ctxlab.explorers.rounds_tabs import RoundsTab, TuneTab
from ctxlab.explorers.tuner import Tuner
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
