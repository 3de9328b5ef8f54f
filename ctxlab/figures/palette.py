"""What stands for what in every picture: the colours of content, the marks of verdicts, and the words beside them.

The colours are Tol's bright scheme, safe for colour-blind readers; each comes with a shape or a word. Nothing is drawn
here and no verdict is made here.
"""

from dataclasses import dataclass

from ctxlab.tokens import COST_KINDS
from ctxlab.trimming import TrimKind

COLOURS: dict[str, str] = {
    "user text": "#4477AA",
    "assistant text": "#66CCEE",
    "toolUse": "#EE6677",
    "toolResult": "#228833",
    "media": "#CCBB44",
    "reasoning": "#AA3377",
    "other": "#BBBBBB",
}
"""The colour of each kind of content in `COST_KINDS`."""

STACK = tuple(sorted(COST_KINDS, key=list(COLOURS).index))
"""The kinds in the order in which bars are stacked and the legend lists them."""

BUDGET = "#AA3377"
CLEAR = "rgba(0,0,0,0)"
"""The fill of a hollow mark."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One kind of verdict as it is drawn and written: plotly symbol, sign in text, colour, word."""

    symbol: str
    sign: str
    colour: str
    word: str

    @property
    def label(self) -> str:
        """Sign and word."""
        return f"{self.sign} {self.word}"


MARKS: dict[TrimKind | None, Mark] = {
    "user": Mark("triangle-up", "▲", "#4477AA", "plain user message"),
    "tool_pair": Mark("diamond", "◆", "#E69F00", "tool pair"),
    "any": Mark("circle", "●", "#66CCEE", "any role"),
    None: Mark("x-thin", "×", "#777777", "refused"),
}
"""Verdicts in the order in which one wins over another where a mark stands for several messages."""

PINNED_SIGN = "▼"
