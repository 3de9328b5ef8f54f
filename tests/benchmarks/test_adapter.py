"""What the adapter and the recorder cost beside the bare SDK: whole turns of a real agent, as ratios.

Not collected by the default run: `python -m pytest tests/benchmarks/test_adapter.py -s` prints the figures
(``extra_info`` with ``--benchmark-json``).
"""

import statistics
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import ctxlab
from ctxlab.strands import ScriptedModel, conversation_manager, record
from tests.strands_agents import agent_of, looks

from strands.agent.conversation_manager import SlidingWindowConversationManager  # isort: skip

TURNS = 40
ROUNDS = 7


def turns(manager: Callable[[], Any], storage: Path | None, recording: Path | None, window: int | None) -> float:
    """Seconds that an agent needs for its turns, each with a tool call, the agent's own making left out."""
    model = ScriptedModel(looks(*([40] * TURNS)), context_window=window)
    agent = agent_of(manager(), model, storage=storage)
    if recording is not None:
        record(agent, recording)
    started = time.perf_counter()
    for number in range(TURNS):
        agent(f"Look, for the {number}th time.")
    return time.perf_counter() - started


@pytest.mark.benchmark(group="adapter")
@pytest.mark.parametrize("window", [None, 6_000], ids=["never full", "overflows"])
@pytest.mark.parametrize("stored", [False, True], ids=["in memory", "file session"])
def test_turns_of_an_agent_with_the_adapter_and_the_recorder_against_the_bare_sdk(
    benchmark: BenchmarkFixture, tmp_path: Path, stored: bool, window: int | None
) -> None:
    """40 turns of a tool call each under a window of 40 messages; the three are run in turn, and medians compared."""
    number = count()

    def timed(manager: Callable[[], Any], recorded: bool = False) -> float:
        folder = tmp_path / str(next(number))
        return turns(manager, folder if stored else None, folder / "talk.jsonl" if recorded else None, window)

    def sdk() -> Any:
        return SlidingWindowConversationManager()

    def ours() -> Any:
        return conversation_manager(ctxlab.SlidingWindow())

    times: dict[str, list[float]] = {"sdk": [], "adapter": [], "adapter and recorder": []}

    def all_three() -> None:
        times["sdk"].append(timed(sdk))
        times["adapter"].append(timed(ours))
        times["adapter and recorder"].append(timed(ours, recorded=True))

    measured: Any = benchmark.pedantic  # it has no types
    measured(all_three, rounds=ROUNDS, warmup_rounds=1)
    bare = statistics.median(times["sdk"][1:])
    benchmark.extra_info["milliseconds_a_turn_of_the_sdk"] = bare / TURNS * 1_000
    for name in ("adapter", "adapter and recorder"):
        benchmark.extra_info[f"{name}, times the sdk"] = statistics.median(times[name][1:]) / bare
    print({key: round(value, 3) for key, value in benchmark.extra_info.items()})
