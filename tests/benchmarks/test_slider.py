"""What one move of the budget slider costs in Python: from the value that arrives to all values that are sent back.

Not collected by the default run: `python -m pytest tests/benchmarks/test_slider.py` prints the figures. The aim is at
most 5 ms at 10,000 messages; what the browser adds is measured there. Whatever takes longer has to be heard of: the
longest silence of a tab that is opened is measured here too.
"""

import time
from itertools import cycle, pairwise
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from ctxlab.explorers import Explorer
from ctxlab.messages import Conversation, Message
from ctxlab.sessions import Session
from tests.builders import assistant, tool_result, tool_use, user


def tool_heavy(count: int) -> Conversation:
    """Questions, each followed by twenty tool pairs whose results differ in length."""
    messages: list[Message] = []
    while len(messages) < count:
        number = len(messages)
        if number % 42 == 0:
            messages += [user(f"Look at part {number}."), assistant("I will.")]
        text = f"line {number} value {number * 7} " * (1 + number * 31 % 90)
        messages += [tool_use(str(number), input={"path": f"src/{number}.py"}), tool_result(str(number), text)]
    return tuple(messages[:count])


@pytest.mark.parametrize("count", [100, 1_000, 10_000])
@pytest.mark.parametrize("window", [0.04, 0.9])
def test_a_slider_move(benchmark: BenchmarkFixture, count: int, window: float) -> None:
    explorer = Explorer(Session.of(tool_heavy(count)), window_size=max(4, int(window * count)))
    slider = explorer.budget_bar.slider
    places = cycle([*range(0, slider.max, slider.max // 97), *range(slider.max, 0, -slider.max // 89)])

    def move() -> None:
        slider.value = next(places)

    benchmark(move)
    assert explorer.errors.widget.value == ""


@pytest.mark.parametrize("name", ["Invariants", "Compare", "Tune"])
def test_a_tab_is_opened_and_can_be_stopped_on_the_way(benchmark: BenchmarkFixture, name: str) -> None:
    """The aim is a report of progress every second of processor time; bare is asking each message for its cost."""
    explorer = Explorer(Session.of(tool_heavy(10_000)))
    told = explorer.finder.progress
    heard: list[float] = []

    def listen(what: str, done: int, of: int) -> None:
        told(what, done, of)
        heard.append(time.process_time())

    def opened() -> None:
        heard.append(time.process_time())
        explorer.tab.selected_index = next(at for at, tab in enumerate(explorer.tabs) if tab.name == name)
        heard.append(time.process_time())

    explorer.finder.progress = listen
    measured: Any = benchmark.pedantic  # it has no types
    measured(opened, rounds=1)
    assert explorer.state.tab == name
    started = time.process_time()
    for message in explorer.findings.messages:
        explorer.findings.counter.message(message)
    bare = time.process_time() - started
    benchmark.extra_info["longest_silence_seconds"] = max(later - before for before, later in pairwise(heard))
    benchmark.extra_info["times_a_bare_count"] = (heard[-1] - heard[0]) / bare
