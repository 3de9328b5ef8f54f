"""How long the rules take on 100,000 messages. Measured, never a gate."""

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from ctxlab.invariants import broken_rules, verdict, verdicts, violations
from tests.builders import assistant, tool_result, tool_use, user

TURN = (tool_use("a"), tool_result("a"), assistant("ok"), user("q"))
LONG = (user("q"), *TURN * 25_000)[:100_000]


def test_all_six_rules(benchmark: BenchmarkFixture) -> None:
    assert benchmark(violations, LONG) == ()


def test_the_rules_that_are_broken(benchmark: BenchmarkFixture) -> None:
    assert benchmark(broken_rules, LONG) == frozenset()


@pytest.mark.parametrize("name", ["bedrock-claude", "openai-chat", "strict-template"])
def test_one_provider(benchmark: BenchmarkFixture, name: str) -> None:
    assert benchmark(verdict, LONG, name).status == "accepted"


def test_every_provider_on_the_new_start_alone(benchmark: BenchmarkFixture) -> None:
    assert len(benchmark(verdicts, LONG, 3)) == 13
