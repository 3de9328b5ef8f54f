"""Calibration: estimates against what providers reported, as a law on lines and on recorded sessions."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxlab.calibration import Calibration, Call, calibrate
from ctxlab.sessions import Session, load
from ctxlab.tokens import HEURISTIC, ledger
from ctxlab.vocabularies import counter
from tests.builders import assistant, review, user


@given(st.lists(st.integers(1, 400), min_size=2, max_size=20), st.floats(0.5, 2), st.integers(0, 5000))
def test_a_line_is_found_again_whatever_its_slope_and_its_fixed_part(
    lengths: list[int], growth: float, fixed: int
) -> None:
    costs = ledger([user("x" * 40 * length) for length in lengths], HEURISTIC)
    estimates = [sum(costs.per_message[:sent]) for sent in range(1, len(lengths) + 1)]
    reported = [(sent, round(growth * estimate + fixed)) for sent, estimate in enumerate(estimates, 1)]
    found = calibrate(reported, costs)
    assert [call.estimate for call in found.calls] == estimates
    assert found.growth is not None
    assert found.fixed is not None
    assert found.growth == pytest.approx(growth, abs=0.15)
    for call in found.calls:
        assert found.growth * call.estimate + found.fixed == pytest.approx(call.reported, abs=2)


@given(st.lists(st.tuples(st.integers(-5, 20), st.integers(0, 10**9))))
def test_any_report_gives_a_calibration_of_the_calls_that_fit(reported: list[tuple[int, int]]) -> None:
    costs = ledger(review(), HEURISTIC)
    found = calibrate(reported, costs)
    assert [call.messages for call in found.calls] == [sent for sent, _ in reported if 0 <= sent <= 8]
    assert (found.growth is None) == (found.fixed is None)
    assert found.sentence.endswith(".")


def test_without_reports_it_says_so_and_one_call_makes_no_line() -> None:
    costs = ledger((user("a question"), assistant("an answer")), HEURISTIC)
    assert calibrate([], costs) == Calibration((), None, None)
    assert calibrate([], costs).ratio is None
    assert calibrate([], costs).sentence == "The session holds no reported usage."
    one = calibrate([(1, 30)], costs)
    assert one.calls == (Call(1, 3, 30),)
    assert (one.growth, one.fixed, one.ratio, one.calls[0].ratio) == (None, None, 10, 10)
    assert calibrate([(0, 30)], costs).calls[0].ratio is None


def test_a_recorded_session_is_estimated_within_a_fifth_once_what_is_beside_the_messages_is_known(shared: Path) -> None:
    session = load(next(shared.glob("sessions/codex__*")))
    found = calibrate(session.reported_input_tokens, ledger(session.messages, counter("o200k_base")))
    assert len(found.calls) > 10
    assert found.growth is not None
    assert found.fixed is not None
    assert found.fixed > 1000
    for call in found.calls:
        assert found.growth * call.estimate + found.fixed == pytest.approx(call.reported, rel=0.2)


@pytest.mark.parametrize("metadata", [None, [], "x", {"usage": None}, {"usage": {"inputTokens": True}}])
def test_metadata_that_is_no_report_is_none(metadata: Any) -> None:
    message: Any = {"role": "assistant", "content": [{"text": "ok"}], "metadata": metadata}
    assert Session.of([message]).reported_input_tokens == ()
