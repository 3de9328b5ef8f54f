"""Real sessions, recorded elsewhere: released SDKs against `as_of`, and the forecast against what running shows."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ctxlab.forecast import forecast
from ctxlab.messages import Conversation
from ctxlab.recovery import recover
from ctxlab.sessions import SessionFormatError, load
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import Summarizing
from ctxlab.truncation import Truncation
from ctxlab.vocabularies import counter
from tests.sdk.released import RELEASES, Case, ReleasedSdk
from tests.test_fidelity import compare

HEURISTIC = counter("heuristic")
SHARES = (0.9, 0.5, 0.2, 0.02)
"""Budgets as shares of what a session costs."""

MANAGERS: tuple[SlidingWindow | Summarizing, ...] = (
    *(SlidingWindow.as_of(version, window) for version in ("1.28.0", "1.35.0", "1.62.0") for window in (4, 40)),
    *(SlidingWindow.careful(window) for window in (4, 40)),
    *(Summarizing.as_of(version) for version in ("1.62.0", "1.63.0")),
    *(Summarizing(0.3, 2000, truncation=Truncation(chars)) for chars in (200, 2000)),
)


@pytest.fixture(scope="module")
def sessions(shared: Path) -> dict[str, Conversation]:
    """The recorded sessions in a format that ctxlab reads, by name."""
    found: dict[str, Conversation] = {}
    for path in sorted((shared / "sessions").iterdir()):
        try:
            found[path.name] = load(path).messages
        except SessionFormatError:
            continue
    assert len(found) >= 6
    return found


@pytest.mark.parametrize("version", RELEASES)
def test_on_recorded_sessions_a_release_does_what_as_of_does(
    version: str, sessions: dict[str, Conversation], released: Callable[[str], ReleasedSdk]
) -> None:
    cases = []
    for messages in sessions.values():
        given = list(messages)
        cases += [Case("sliding", {"window_size": window}, given, ("overflow",) * 6) for window in (4, 40)]
        cases += [Case("sliding", {"window_size": 10}, given, ("manage", "overflow", "manage"))]
        cases += [Case("summarizing", {}, given, ("overflow",) * 3)]
    tally = compare(released(version), cases)
    assert tally.report() is None
    assert tally.seen["reduced"] >= len(sessions)


@pytest.mark.parametrize("share", SHARES)
def test_on_recorded_sessions_the_forecast_is_what_running_shows(
    share: float, sessions: dict[str, Conversation]
) -> None:
    for name, messages in sessions.items():
        budget = int(sum(map(HEURISTIC.message, messages)) * share)
        for manager in MANAGERS:
            foretold = forecast(messages, manager, budget, HEURISTIC)
            trace = recover(messages, manager, budget, HEURISTIC)
            expected = trace.refused_calls if trace.outcome == "fits" else None
            assert foretold.refused_calls == expected, (name, manager)
            recount = tuple(sum(map(HEURISTIC.message, round.messages)) for round in trace.rounds[-3:])
            assert trace.tokens[len(trace.tokens) - len(recount) :] == recount, (name, manager)
