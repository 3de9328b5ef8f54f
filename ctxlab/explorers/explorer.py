"""`Explorer`: the controls, the timeline, the player and the tabs as one widget.

Data flows one way: controls change the state in the store, the finder finds what follows, the views show it. A new tab
is a view with a name, added to `tabs`. No rule lives here, and nothing is drawn here.
"""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import ipywidgets

from ctxlab.explorers.budget_bar import BudgetBar
from ctxlab.explorers.compare import CompareTab
from ctxlab.explorers.findings import Finder, Findings
from ctxlab.explorers.front_end import Page
from ctxlab.explorers.matrix import MatrixView
from ctxlab.explorers.message import MessageView
from ctxlab.explorers.names import NAMES
from ctxlab.explorers.passing_on import portable, read, restored, source_of
from ctxlab.explorers.player import Player
from ctxlab.explorers.policy_bar import PolicyBar
from ctxlab.explorers.rounds_tabs import RoundsTab, TuneTab
from ctxlab.explorers.saved import from_text, to_json, to_text
from ctxlab.explorers.session_bar import SessionBar
from ctxlab.explorers.sight import Sight
from ctxlab.explorers.sources import SAMPLE, Sources
from ctxlab.explorers.state import Fallback, Policy, State, Store
from ctxlab.explorers.state_box import StateBox
from ctxlab.explorers.summary import Errors, Progress, Summary
from ctxlab.explorers.take_tab import TakeTab
from ctxlab.explorers.timeline_view import TimelineView
from ctxlab.explorers.view import View, set_value
from ctxlab.explorers.views_tab import ViewsTab
from ctxlab.explorers.why import Why
from ctxlab.explorers.work import Stopped, Worker
from ctxlab.releases import NEWEST
from ctxlab.sessions import Session


class Explorer(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """Explore a session: a Session, a path, or None for the first sample or that of the state.

    The keywords choose what is shown first; everything can be changed on the screen. ``budget`` is in tokens (default:
    half of what the session costs), ``policy`` is "release", "careful" or "summarizing". Raises what loading
    the session raises. ``state`` is one that was copied or saved, as text or a `Path`; it wins over the
    other keywords, and where it is none, or of another session, that is a ValueError.
    """

    def __init__(
        self,
        session: "Session | str | os.PathLike[str] | None" = None,
        *,
        budget: int | None = None,
        counter: str = "cl100k_base",
        policy: Any = "release",
        release: str = NEWEST,
        window_size: int = 40,
        should_truncate_results: bool = True,
        pin_first: int | None = None,
        summary_ratio: float = 0.3,
        preserve_recent_messages: int = 10,
        fallback: Fallback = "release",
        preserve_chars: int = 2000,
        state: "str | os.PathLike[str] | None" = None,
    ) -> None:
        self.progress, self.errors = Progress(), Errors()
        self.worker = Worker(self.progress.wait, lambda: self._put_back(Stopped()))
        self.progress.on_stop(self.worker.stop)
        opening = Progress(alone=True)
        self.sources = Sources(opening.report)
        self.finder = Finder(self.sources, opening.report)
        chosen = Policy(
            policy, release, window_size, should_truncate_results, pin_first or 0, False, summary_ratio,
            preserve_recent_messages, fallback, preserve_chars,
        )  # fmt: skip
        opening.begin()
        try:
            shown = self._first(session, state, State("", "", 0, counter, chosen), budget)
            self.store = Store(shown)
            self.findings: Findings = self.finder(shown)
        finally:
            opening.end()
        self.sources.progress = self.finder.progress = self._report
        self.page = Page(names=[list(name) for name in NAMES])
        self.timeline = TimelineView(self.store, self.guarded)
        self.player = Player(self.store, self.guarded)
        self.session_bar = SessionBar(self.store, self.sources, self.show_session, self.guarded)
        self.policy_bar = PolicyBar(self.store, self.guarded)
        self.budget_bar = BudgetBar(self.store, self.guarded)
        self.summary, self.sight = Summary(), Sight(self.store, self.guarded)
        on = (self.store, self.guarded)
        self.tabs: tuple[Any, ...] = (
            Why(*on), RoundsTab(*on), MessageView(*on), MatrixView(*on), CompareTab(*on), TuneTab(*on), ViewsTab(*on),
            TakeTab(lambda: self.findings, self.guarded),
        )  # fmt: skip
        self.tab = ipywidgets.Tab([tab.widget for tab in self.tabs], titles=[tab.name for tab in self.tabs])
        self.state_box = StateBox()
        self.state_box.react(self.guarded, self.open_state)
        self._views: tuple[View, ...] = (
            self.session_bar, self.policy_bar, self.budget_bar, self.summary, self.player, self.timeline, self.sight,
        )  # fmt: skip
        stack = (
            self.session_bar, self.policy_bar, self.budget_bar, self.progress, self.errors, self.summary, self.player,
            self.timeline, self.sight,
        )  # fmt: skip
        super().__init__(
            [*(view.widget for view in stack), self.tab, self.state_box, self.page], layout={"width": "100%"}
        )
        self.add_class("ctxlab")
        self.tab.observe(self.guarded(lambda change: self._open_tab(change.new)), "selected_index")
        self.store.watch(self._show)
        self.store.show()

    @property
    def state(self) -> State:
        """What is shown, as one value."""
        return self.store.state

    @property
    def state_text(self) -> str:
        """What is shown, as one word that may stand in a URL; no path of this computer is in it."""
        return to_text(portable(self.findings))

    def save_state(self, path: "str | os.PathLike[str]") -> None:
        """Write what is shown to a small JSON file. Raises OSError."""
        Path(path).write_text(to_json(portable(self.findings)), encoding="utf-8")

    def open_state(self, state: "str | os.PathLike[str]") -> None:
        """Show a state that was copied or saved: a text, or a path given as `Path`.

        Raises ValueError, in words, where it is none, or of a session that is not open here.
        """
        saved = from_text(read(state))
        self.store.replace(restored(saved, self.sources, source_of(saved, self.sources)))

    def guarded(self, callback: Callable[[Any], None]) -> Callable[[Any], None]:
        """Return a callback that works where it can be stopped, and whose errors are shown in the explorer.

        This is the one place where they are caught. Of values that come in while it works, the last one counts.
        """

        def run(event: Any) -> None:
            if self.worker.is_here:  # what a callback sets calls others back; they are part of it
                callback(event)
            else:
                self.worker.do(lambda: self._run(callback, event), callback if hasattr(event, "new") else None)

        return run

    def show_session(self, source: str) -> None:
        """Show a session from its start, with the budget that was typed, or half of what it costs."""
        state = self._opened(source, self.store.state)
        if self.budget_bar.exact is not None:
            state = replace(state, budget=self.budget_bar.exact)
        if state == self.store.state:
            self.store.show()
        else:
            self.store.replace(state)

    def _run(self, callback: Callable[[Any], None], event: Any) -> None:
        self.progress.begin()
        try:
            before = self.store.state
            callback(event)
            if self.store.state is not before or not hasattr(event, "new"):
                self.errors.clear()
        except Exception as error:
            self._put_back(error)
        finally:
            self.progress.end()

    def _put_back(self, error: Exception) -> None:
        """Say what went wrong, and show again what is true: a control may still show what was wished for."""
        if isinstance(error, Stopped):
            self.errors.tell("Stopped. Everything is as it was before.")
        else:
            self.errors.show(error)
        try:
            self.store.show()
        except Exception as again:
            self.errors.show(again)

    def _report(self, what: str, done: int, of: int) -> None:
        self.worker.check()
        self.progress.report(what, done, of)

    def _source(self, session: "Session | str | os.PathLike[str] | None") -> str:
        if isinstance(session, Session):
            return self.sources.give(session)
        if session is None:
            return SAMPLE + self.sources.samples[0]
        return self.sources.open(os.fspath(session))

    def _first(
        self,
        session: "Session | str | os.PathLike[str] | None",
        saved: "str | os.PathLike[str] | None",
        chosen: State,
        budget: int | None,
    ) -> State:
        """Return what is shown first: a saved state, or a session from its start with what was chosen."""
        if saved is not None:
            told = from_text(read(saved))
            source = source_of(told, self.sources) if session is None else self._source(session)
            return restored(told, self.sources, source)
        shown = self._opened(self._source(session), chosen)
        return shown if budget is None else replace(shown, budget=budget)

    def _opened(self, source: str, state: State) -> State:
        opened = replace(state, source=source, view=self.sources[source].view, stop=None, focus=0, span=None)
        return replace(opened, budget=self.finder.ledger(opened).total // 2)

    def _show(self, state: State) -> None:
        self.findings = self.finder(state)
        for view in self._views:
            view.show(self.findings)
        self.tabs[self._tab_number(state.tab)].show(self.findings)
        set_value(self.tab, selected_index=self._tab_number(state.tab))
        saved = portable(self.findings)
        self.state_box.show(to_text(saved), to_json(saved))

    def _tab_number(self, name: str) -> int:
        return next((number for number, tab in enumerate(self.tabs) if tab.name == name), 0)

    def _open_tab(self, number: int | None) -> None:
        if number is not None:
            self.store.change(tab=self.tabs[number].name)
