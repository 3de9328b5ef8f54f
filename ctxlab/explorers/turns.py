"""`Turns`: several turns of a session, each in a new process, under two kinds of store (#5690).

Nothing is drawn here and no rule lives here: one call of `play_turns` a store, and one record.
"""

import json
from typing import get_args

import anywidget
import traitlets

from ctxlab.explorers.bundle import script, style
from ctxlab.explorers.given import Given, conversation
from ctxlab.figures.turns import turns_record
from ctxlab.messages import Conversation
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import Summarizing
from ctxlab.tokens import TokenCounter
from ctxlab.turns import Store, play_turns
from ctxlab.vocabularies import counter as counter_of


class Turns(anywidget.AnyWidget):
    """Shows refused model calls a turn, what is live at its end and what a restart would load, for both stores.

    ``session`` is a Session, a path or messages; ``budget`` is in tokens (default: half of what the session costs).
    Raises what loading raises, ValueError for fewer than one turn.
    """

    _esm = script("turns")
    _css = style("turns")
    record = traitlets.Unicode("").tag(sync=True)

    def __init__(
        self,
        session: Given,
        manager: SlidingWindow | Summarizing | None = None,
        *,
        budget: int | None = None,
        turns: int = 4,
        counter: str = "cl100k_base",
    ) -> None:
        super().__init__()
        _, messages = conversation(session)
        counting = counter_of(counter)
        tokens = sum(map(counting.message, messages))
        self.show(messages, manager or Summarizing(), tokens // 2 if budget is None else budget, counting, turns)

    def show(
        self,
        messages: Conversation,
        manager: SlidingWindow | Summarizing,
        budget: int,
        counter: TokenCounter,
        turns: int = 4,
    ) -> None:
        """Play other turns and show them from now on."""
        stores: tuple[Store, ...] = get_args(Store)
        self.played = {store: play_turns(messages, manager, budget, counter, turns, store) for store in stores}
        self.record = json.dumps(turns_record(self.played, budget), separators=(",", ":"))
