"""`Releases`: the same session under several releases and the careful policy, side by side.

Nothing is drawn here and no rule lives here: one call of `lanes`, and one record.
"""

import json
from collections.abc import Iterable

import anywidget
import traitlets

from ctxlab.explorers.bundle import script, style
from ctxlab.explorers.given import Given, conversation
from ctxlab.figures.lanes import RELEASES, Occasion, lanes, side_by_side
from ctxlab.vocabularies import counter as counter_of


def lane_script(name: str) -> str:
    """Return the script of a widget that draws lanes: parts.js, lanes.js and then its own."""
    return script("lanes", name)


def lane_style(name: str) -> str:
    """Return the stylesheet of a widget that draws lanes: parts.css, lanes.css and then its own."""
    return style("lanes", name)


class Releases(anywidget.AnyWidget):
    """Shows what each release keeps, drops, shortens and breaks of a session, a lane each, aligned by message.

    ``session`` is a Session, a path or messages; ``budget`` is in tokens (default: half of what it costs). ``careful``
    adds ctxlab's own policy as the last lane; ``occasion`` is "overflow" or "routine". Raises what loading raises,
    ValueError for an unknown release.
    """

    _esm = lane_script("releases")
    _css = lane_style("releases")
    record = traitlets.Unicode("").tag(sync=True)

    def __init__(
        self,
        session: Given,
        *,
        window_size: int = 40,
        budget: int | None = None,
        releases: Iterable[str] = RELEASES,
        should_truncate_results: bool = True,
        careful: bool = True,
        occasion: Occasion = "overflow",
        counter: str = "cl100k_base",
    ) -> None:
        _, messages = conversation(session)
        counting = counter_of(counter)
        tokens = sum(map(counting.message, messages))
        policies = side_by_side(window_size, releases, should_truncate_results, careful)
        self.lanes = lanes(messages, tokens // 2 if budget is None else budget, counting, policies, occasion)
        super().__init__(record=json.dumps(self.lanes, separators=(",", ":")))
