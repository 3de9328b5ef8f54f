"""Pictures of records: from a trace, a ledger and trim points to plotly figures and to the words beside them.

Everything here is pure: no widget, no file. `timeline` is imported only when asked for, for it brings in plotly.
"""

from typing import TYPE_CHECKING, Any

from ctxlab.figures.history import History, history
from ctxlab.figures.moment import Moment, Subject
from ctxlab.figures.story import Story, story

if TYPE_CHECKING:
    from ctxlab.figures.timeline_plot import timeline

__all__ = ["History", "Moment", "Story", "Subject", "history", "story", "timeline"]


def __getattr__(name: str) -> Any:
    if name == "timeline":
        from ctxlab.figures.timeline_plot import timeline

        return timeline
    raise AttributeError(f"module 'ctxlab.figures' has no attribute {name!r}")
