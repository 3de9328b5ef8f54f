"""How far an estimate is from what the provider reported, call by call, and what that says about the next one.

A report counts what no message holds, too: the system prompt, the tools, the vendor's own frame. A straight line
through the calls tells that fixed part from the ratio of the tokenizers. Nothing here counts or reads files.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from ctxlab.tokens import Ledger


@dataclass(frozen=True, slots=True)
class Call:
    """One model call: how many messages were sent, their tokens by estimate, and the input tokens reported."""

    messages: int
    estimate: int
    reported: int

    @property
    def ratio(self) -> float | None:
        """Reported over estimated, None where nothing was estimated."""
        return self.reported / self.estimate if self.estimate else None


@dataclass(frozen=True, slots=True)
class Calibration:
    """The calls of a session, oldest first; ``growth`` and ``fixed`` are the line reported = growth × estimate + fixed.

    Both are None where the calls lie on no rising line: with one call, or where the window shrank between them.
    """

    calls: tuple[Call, ...]
    growth: float | None
    fixed: float | None

    @property
    def ratio(self) -> float | None:
        """Reported over estimated of all calls together, None without calls."""
        estimate = sum(call.estimate for call in self.calls)
        return sum(call.reported for call in self.calls) / estimate if estimate else None

    @property
    def sentence(self) -> str:
        """What it comes to, in words."""
        if not self.calls:
            return "The session holds no reported usage."
        last = self.calls[-1]
        times = f", × {last.ratio:.2f}" if last.ratio is not None else ""
        words = f"The last of {len(self.calls):,} reported calls read {last.reported:,} tokens; "
        words += f"the {last.messages:,} messages before it are estimated at {last.estimate:,}{times}."
        if self.growth is None or self.fixed is None:
            return words
        beside = f" and {self.fixed:,.0f} beside the messages" if self.fixed >= 1 else ""
        return f"{words} Over all calls: × {self.growth:.2f} of the estimate{beside}."


def calibrate(reported: Sequence[tuple[int, int]], ledger: Ledger) -> Calibration:
    """Hold (messages sent, input tokens reported) of each call against a ledger of the same messages.

    A call of more messages than the ledger has is left out.
    """
    before = (0, *accumulate(ledger.per_message))
    calls = tuple(Call(sent, before[sent], tokens) for sent, tokens in reported if 0 <= sent < len(before))
    growth = _slope(calls)
    if growth is None or growth <= 0:
        return Calibration(calls, None, None)
    fixed = sum(call.reported - growth * call.estimate for call in calls) / len(calls)
    return Calibration(calls, growth, fixed)


def _slope(calls: Sequence[Call]) -> float | None:
    """Return the slope of least squares, None where all estimates are the same."""
    if len({call.estimate for call in calls}) < 2:
        return None
    middle = sum(call.estimate for call in calls) / len(calls)
    height = sum(call.reported for call in calls) / len(calls)
    spread = sum((call.estimate - middle) ** 2 for call in calls)
    return sum((call.estimate - middle) * (call.reported - height) for call in calls) / spread
