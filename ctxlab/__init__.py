"""ctxlab shows what happens to an agent's conversation when it no longer fits its context window.

Load a session, choose a manager and a token budget, and look at the trace of what happens: `load`, `SlidingWindow` or
`Summarizing`, `recover`. `Explorer` is all of it as one widget for Jupyter; it is imported only when asked for.
"""

from typing import TYPE_CHECKING, Any

from ctxlab.invariants import Violation, violations
from ctxlab.recovery import recover
from ctxlab.reduction import ContextWindowOverflow, Round, Trace
from ctxlab.sessions import Session, SessionFormatError, load, save
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import Summarizing
from ctxlab.tokens import Ledger, TokenCounter, ledger
from ctxlab.trimming import TrimPoint, trim_points
from ctxlab.truncation import Truncation
from ctxlab.vocabularies import counter

if TYPE_CHECKING:
    from ctxlab.explorers import Explorer

__all__ = [
    "ContextWindowOverflow",
    "Explorer",
    "Ledger",
    "Round",
    "Session",
    "SessionFormatError",
    "SlidingWindow",
    "Summarizing",
    "TokenCounter",
    "Trace",
    "TrimPoint",
    "Truncation",
    "Violation",
    "counter",
    "ledger",
    "load",
    "recover",
    "save",
    "trim_points",
    "violations",
]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # The widgets bring in plotly and ipywidgets, which a script that only reduces must not pay for.
    if name == "Explorer":
        from ctxlab.explorers import Explorer

        return Explorer
    raise AttributeError(f"module 'ctxlab' has no attribute {name!r}")
