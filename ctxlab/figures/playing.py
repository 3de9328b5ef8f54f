"""All that a player of rounds shows: the record of the animation, narrated, with a forecast and what else could be.

Nothing is drawn here and nothing is decided.
"""

from typing import Any

from ctxlab.comparison import Policy
from ctxlab.figures.animation import MOST_TILES, animation
from ctxlab.figures.narration import beside, narrate, risk
from ctxlab.forecast import forecast
from ctxlab.reduction import Trace
from ctxlab.summarizing import Summarizing
from ctxlab.tokens import TokenCounter


def rounds_record(
    trace: Trace,
    manager: Policy,
    counter: TokenCounter,
    shown: Trace | None = None,
    most_tiles: int = MOST_TILES,
) -> dict[str, Any]:
    """Return the record of a trace with its forecast, and with what the other rule would do where there is a choice.

    ``shown`` is the same trace in other words, such as a redacted one, and ``most_tiles`` as for `animation`.
    """
    summarizing = manager if isinstance(manager, Summarizing) else None
    truncation = summarizing.truncation if summarizing else None
    words = narrate(shown or trace, truncation)
    return {
        **animation(trace, counter, truncation, words, most_tiles, shown),
        # A trace that does not fit went on to the end, so that it serves as the full one.
        "forecast": forecast(trace.start, manager, trace.budget, counter, trace).sentence,
        "beside": beside(trace.start, summarizing, trace.budget, counter) if summarizing else "",
        "risk": risk(trace),
    }
