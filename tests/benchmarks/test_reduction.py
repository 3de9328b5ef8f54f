"""How long reducing takes, as ratios against the SDK's own loop and against reading the messages once.

Not collected by the default run: `python -m pytest tests/benchmarks --benchmark-only` prints the figures.
"""

import copy
import time
from collections.abc import Callable
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import ctxlab
from ctxlab.checks import check_trace
from ctxlab.messages import Conversation, has_tool_result
from tests.builders import assistant, tool_chain, user

MESSAGES = 10_000


def tool_heavy(count: int = MESSAGES) -> Conversation:
    """One question and then tool pairs only, each result long enough to be cut."""
    return (user("Review this."), *tool_chain(count // 2, "x" * 900))


def best_of(runs: int, call: Callable[[], object]) -> float:
    """Seconds of the fastest of some runs."""
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return min(times)


def sdk_loop(messages: Conversation, window_size: int, budget: int) -> int:
    """Reduce as an agent on the SDK does: count, refuse, reduce, until it fits; return the refused calls."""
    from strands.agent.conversation_manager import SlidingWindowConversationManager
    from strands.models.model import _estimate_tokens_with_heuristic

    class Agent:
        def __init__(self) -> None:
            self.messages: Any = copy.deepcopy(list(messages))

    agent: Any = Agent()
    manager = SlidingWindowConversationManager(window_size=window_size)
    refused = 0
    while _estimate_tokens_with_heuristic(agent.messages, None, None) > budget:
        manager.reduce_context(agent, RuntimeError("overflow"))
        refused += 1
    return refused


@pytest.mark.benchmark(group="recover")
@pytest.mark.parametrize("rounds", [200])
def test_recovering_a_long_tool_heavy_session_against_the_sdks_own_loop(
    benchmark: BenchmarkFixture, rounds: int
) -> None:
    """Both start at two messages a cut (the window holds all), so that many rounds are needed; aim: 20 times faster."""
    messages = tool_heavy()
    counter = ctxlab.counter("heuristic")
    full = ctxlab.recover(messages, ctxlab.SlidingWindow(window_size=MESSAGES + 1), 0, counter, max_rounds=rounds)
    budget = full.tokens[-1]
    manager = ctxlab.SlidingWindow(window_size=MESSAGES + 1)
    trace = benchmark(lambda: ctxlab.recover(messages, manager, budget, counter))
    started = time.perf_counter()
    refused = sdk_loop(messages, MESSAGES + 1, budget)
    sdk = time.perf_counter() - started
    assert trace.refused_calls == refused
    assert benchmark.stats is not None
    benchmark.extra_info["sdk_seconds"] = sdk
    benchmark.extra_info["times_faster_than_the_sdk"] = sdk / benchmark.stats.stats.median


def role_breaches(count: int = MESSAGES) -> Conversation:
    """Two user and two assistant messages in a row before three tool pairs: what a cut meets is broken already."""
    turn = (user("q"), user("and"), assistant("ok"), assistant("then"), *tool_chain(3, "x" * 900))
    return (turn * (count // len(turn)))[:count]


@pytest.mark.benchmark(group="recover")
@pytest.mark.parametrize("pin_first", [None, 1])
def test_the_careful_policy_on_a_session_that_breaks_rules_against_what_edits_cost_alone(
    benchmark: BenchmarkFixture, pin_first: int | None
) -> None:
    """Two messages a cut, thousands of rounds: bare is replaying them."""
    messages, counter = role_breaches(), ctxlab.counter("heuristic")
    manager = ctxlab.SlidingWindow.careful(MESSAGES * 9 // 10, pin_first=pin_first)
    measured: Any = benchmark.pedantic  # it has no types
    trace = measured(lambda: ctxlab.recover(messages, manager, -1, counter), rounds=2)
    assert len(trace.rounds) > MESSAGES // 10
    assert benchmark.stats is not None
    bare = best_of(2, lambda: list(trace.states()))
    benchmark.extra_info["rounds"] = len(trace.rounds)
    benchmark.extra_info["times_a_bare_replay"] = benchmark.stats.stats.min / bare


@pytest.mark.benchmark(group="check")
def test_checking_thousands_of_rounds_against_what_edits_cost_alone(benchmark: BenchmarkFixture) -> None:
    """Every cut is judged in the light of what is known of the start; bare is replaying the trace."""
    messages, counter = role_breaches(), ctxlab.counter("heuristic")
    trace = ctxlab.recover(messages, ctxlab.SlidingWindow.careful(MESSAGES * 9 // 10), -1, counter)
    measured: Any = benchmark.pedantic  # it has no types
    measured(lambda: check_trace(trace), rounds=1)
    assert benchmark.stats is not None
    benchmark.extra_info["times_a_bare_replay"] = benchmark.stats.stats.min / best_of(2, lambda: list(trace.states()))


@pytest.mark.benchmark(group="trim_points")
def test_trim_points_grow_linearly_with_the_messages(benchmark: BenchmarkFixture) -> None:
    """100,000 messages against 10,000 (10 is linear), and against asking each message for its tool results once."""
    small, large = tool_heavy(10_000), tool_heavy(100_000)
    benchmark(lambda: ctxlab.trim_points(large))
    assert benchmark.stats is not None
    median = benchmark.stats.stats.median
    benchmark.extra_info["times_that_of_10_000"] = median / best_of(5, lambda: ctxlab.trim_points(small))
    bare = best_of(5, lambda: [has_tool_result(message) for message in large])
    benchmark.extra_info["times_a_bare_pass"] = median / bare
