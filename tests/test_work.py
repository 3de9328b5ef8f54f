"""Work in a thread of its own: in order, in the end complete, and stopped when somebody asks for it."""

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

import pytest

from ctxlab.explorers import Explorer, work
from ctxlab.explorers.state import State
from ctxlab.explorers.work import Stopped, Worker
from ctxlab.sessions import Session
from ctxlab.tokens import Ledger
from tests.builders import assistant, user

SOON = 20.0
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work as in a kernel, where whoever gives work does not wait for its end."""
    monkeypatch.setattr(work, "has_page", lambda: True)
    monkeypatch.setattr(work, "PATIENCE", 0.02)


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + SOON
    while not holds():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.005)


def test_without_a_page_work_is_done_when_it_was_given() -> None:
    done: list[int] = []
    worker = Worker(lambda: done.append(-1))
    for number in range(5):
        worker.do(partial(done.append, number))
    assert done == [0, 1, 2, 3, 4]


@pytest.mark.usefixtures("page")
def test_what_takes_long_is_said_to_and_done_later_and_in_order() -> None:
    go, done, late = threading.Event(), list[str](), list[str]()
    worker = Worker(lambda: late.append("late"))
    worker.do(partial(go.wait, SOON))
    worker.do(partial(done.append, "long"))
    worker.do(partial(done.append, "short"))
    assert (late, done) == (["late"] * 3, [])
    go.set()
    until(lambda: done == ["long", "short"])


@pytest.mark.usefixtures("page")
def test_of_values_that_wait_only_the_last_one_counts() -> None:
    go, done = threading.Event(), list[int]()
    worker = Worker(lambda: None)
    worker.do(partial(go.wait, SOON))
    for number in range(50):
        worker.do(partial(done.append, number), "slider")
    worker.do(partial(done.append, -1))
    go.set()
    until(lambda: done == [49, -1])


@pytest.mark.usefixtures("page")
def test_a_wish_to_stop_ends_the_work_and_what_waits_but_nothing_that_comes_after() -> None:
    done: list[str] = []
    worker = Worker(lambda: None)

    def endless() -> None:
        try:
            while True:
                worker.check()
                time.sleep(0.001)
        except Stopped:
            worker.check()  # a wish is heard once
            done.append("stopped")

    worker.do(endless)
    worker.do(partial(done.append, "waited"))
    worker.stop()
    worker.do(partial(done.append, "after"))
    until(lambda: done == ["stopped", "after"])


@pytest.mark.usefixtures("page")
def test_a_long_count_can_be_stopped_and_leaves_everything_as_it_was() -> None:
    explorer = Explorer(Session.of([user("hi"), assistant("ok")]))
    before = explorer.state
    counting, ended = threading.Event(), threading.Event()

    def load(path: str) -> str:
        counting.set()
        try:
            for done in range(10**9):
                explorer.finder.progress("Counting tokens", done, 10**9)
                time.sleep(0.001)
        finally:
            ended.set()
        return path

    explorer.sources.open = load  # type: ignore[method-assign]  # a session so large that it never ends
    explorer.session_bar.path.ask("large.json")
    assert counting.wait(SOON)
    until(lambda: explorer.progress.widget.layout.display is None)
    explorer.progress.stop.click()
    assert ended.wait(SOON)
    until(lambda: explorer.progress.widget.layout.display == "none")
    assert "Stopped" in explorer.errors.widget.value
    assert explorer.state == before
    # And it goes on working.
    explorer.budget_bar.number.value = 7
    until(lambda: explorer.state.budget == 7)
    until(lambda: explorer.errors.widget.value == "")


@pytest.mark.usefixtures("page")
def test_a_choice_that_was_stopped_is_taken_back_on_the_screen() -> None:
    explorer = Explorer(Session.of([user("hi"), assistant("ok")]))
    shown = explorer.session_bar.session.value

    count = explorer.finder.ledger

    def forever(state: State) -> Ledger:
        while state.source != explorer.state.source:
            explorer.worker.check()
            time.sleep(0.001)
        return count(state)

    explorer.finder.ledger = forever  # type: ignore[method-assign]  # as above
    explorer.session_bar.session.value = "sample:" + explorer.sources.samples[0]
    explorer.progress.stop.click()
    until(lambda: explorer.session_bar.session.value == shown)
    assert "Stopped" in explorer.errors.widget.value


@pytest.mark.usefixtures("page")
def test_in_the_place_of_work_that_waited_when_it_was_stopped_somebody_is_told() -> None:
    go, done = threading.Event(), list[str]()
    worker = Worker(lambda: None, partial(done.append, "dropped"))
    worker.do(partial(go.wait, SOON))  # it never asks whether it should stop
    worker.do(partial(done.append, "waited"))
    worker.do(partial(done.append, "replaced"), "slider")
    worker.do(partial(done.append, "last"), "slider")
    worker.stop()
    go.set()
    until(lambda: done == ["dropped", "dropped"])
    worker.do(worker.check)  # a wish that nobody heard is over
    worker.do(partial(done.append, "after"))
    until(lambda: done[2:] == ["after"])


@pytest.mark.usefixtures("page")
def test_controls_that_were_moved_in_vain_go_back_and_playing_goes_on() -> None:
    explorer = Explorer(Session.of([user("hi"), assistant("ok"), user("more " * 400), assistant("ok")]), budget=50)
    go = threading.Event()
    explorer.worker.do(partial(go.wait, SOON))
    shown = explorer.state
    explorer.tab.selected_index = 2
    explorer.budget_bar.number.value = 7
    upload = explorer.session_bar.upload
    upload.value = ({"name": "a.json", "type": "", "size": 2, "content": b"[]", "last_modified": EPOCH},)
    explorer.player.ticker.asked = 1
    explorer.progress.stop.click()
    go.set()
    until(lambda: "Stopped" in explorer.errors.widget.value)
    until(lambda: explorer.tab.selected_index == 0)
    until(lambda: explorer.budget_bar.number.value == 50)
    until(lambda: upload.value == ())
    until(lambda: explorer.player.ticker.shown == 1)
    assert explorer.state == shown
