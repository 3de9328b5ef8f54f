"""The matrix of trim points and providers as a widget: a tab of the explorer, and `Invariants` for a session alone.

Rows in sight and the details of one cell go out, wishes come in. Nothing is drawn here and no rule lives here.
"""

from collections.abc import Callable, Iterable
from typing import Any

import anywidget
import traitlets

from ctxlab.comparison import Policy
from ctxlab.explorers.bundle import script, style
from ctxlab.explorers.findings import Findings, Run
from ctxlab.explorers.given import Given, conversation
from ctxlab.explorers.guarded import guarded
from ctxlab.explorers.state import Store
from ctxlab.explorers.view import Guard, set_value
from ctxlab.figures.matrix import PAGE, WHOLE, MatrixPicture, columns
from ctxlab.figures.policies import verdicts
from ctxlab.providers import profile, providers
from ctxlab.recovery import recover
from ctxlab.sliding_window import SlidingWindow
from ctxlab.vocabularies import counter as counter_of


class Matrix(anywidget.AnyWidget):
    """Shows the rows in sight of a matrix, and all about the cell that is ``selected``: (key of the row, provider).

    ``hidden`` are providers that are not shown, ``every`` lists all messages instead of the trim points. ``turned`` is
    a wish for another page.
    """

    _esm = script("lanes", "matrix", "matrix_tab")
    _css = style("lanes", "matrix")
    columns: Any = traitlets.List().tag(sync=True)
    sight = traitlets.Dict().tag(sync=True)
    headline = traitlets.Unicode("").tag(sync=True)
    bad = traitlets.Bool(False).tag(sync=True)
    selected: Any = traitlets.List().tag(sync=True)
    details: Any = traitlets.List().tag(sync=True)
    hidden = traitlets.List(traitlets.Unicode()).tag(sync=True)
    every = traitlets.Bool(False).tag(sync=True)
    turned = traitlets.Dict({}).tag(sync=True)
    error = traitlets.Unicode("").tag(sync=True)

    def __init__(self, **values: Any) -> None:
        heads = [dict(column) for column in columns()]
        blank = {"first": 0, "total": 0, "rows": [], "sentence": ""}
        super().__init__(columns=heads, sight=blank, selected=[WHOLE, next(iter(providers()))], **values)
        self.picture: MatrixPicture | None = None
        self.focus = 0

    def show(self, picture: MatrixPicture, focus: int) -> None:
        """Show a picture around a message; the cell in focus stays where its row is still there."""
        self.picture, self.focus = picture, focus
        with self.hold_sync():
            set_value(self, sight=dict(picture.sight(focus, every=self.every)), headline=picture.headline)
            set_value(self, bad=any(found.status != "accepted" for found in picture.end))
            key, name = self.selected
            if key >= len(picture.points):
                self.selected = [WHOLE, name]
            self.tell()

    def tell(self) -> None:
        """Say all that there is about the cell in focus."""
        if self.picture is not None:
            key, name = self.selected
            set_value(self, details=[dict(detail) for detail in self.picture.details(key, name)])

    def page(self, step: int) -> int | None:
        """Return the message to put in focus for a page further on (or, with -1, back); None where there is none."""
        if self.picture is None:
            return None
        rows = [row["key"] for row in self.sight["rows"] if row["key"] >= 0]
        listed = range(len(self.picture.points)) if self.every else self.picture.candidates
        if not rows or not listed:
            return None
        beyond = [key for key in listed if (key > rows[-1] if step > 0 else key < rows[0])]
        if not beyond:
            return None
        return beyond[0] if step > 0 else beyond[max(0, len(beyond) - PAGE)]

    def react(self, guard: Guard, look: Callable[[int], None]) -> None:
        """Follow the wishes of the page: ``look`` puts a message in focus."""
        self.observe(guard(lambda change: self._select(change.new, look)), "selected")
        self.observe(guard(lambda _: self._again()), "every")
        self.observe(guard(lambda change: self._turn(change.new, look)), "turned")

    def _again(self) -> None:
        if self.picture is not None:
            self.show(self.picture, self.focus)

    def _select(self, selected: list[Any], look: Callable[[int], None]) -> None:
        self.tell()
        if selected[0] >= 0 and selected[0] != self.focus:
            look(selected[0])

    def _turn(self, wish: dict[str, int], look: Callable[[int], None]) -> None:
        wanted = self.page(wish.get("step", 1))
        if wanted is not None:
            look(wanted)


class MatrixView:
    """The tab "Invariants" of the explorer."""

    name = "Invariants"

    def __init__(self, store: Store, guard: Guard) -> None:
        self.store = store
        self.widget = Matrix(layout={"width": "100%"})
        self.widget.react(guard, lambda index: store.focus_on(index))
        self._run: Run | None = None
        self._picture: MatrixPicture | None = None

    def show(self, findings: Findings) -> None:
        """Show the matrix of the policy, with what it leaves under the budget."""
        run = findings.run
        if run is not self._run or self._picture is None:
            self._picture = MatrixPicture(run.points, run.manager, findings.trace, findings.progress)
            self._run = run
        elif len(findings.trace.rounds) != len(self._picture.trace.rounds) or (
            findings.trace.outcome != self._picture.trace.outcome
        ):
            self._picture = self._picture.under(findings.trace)
        self.widget.show(self._picture, findings.focus)


class Invariants(Matrix):
    """The matrix of one session: where it may start, what each provider makes of that, and what would mend it.

    ``session`` is a Session, a path or messages; ``policy`` a manager (default: the newest release, a window of half
    the messages), ``budget`` in tokens (default: half of what the session costs); ``providers`` are those shown first
    (default: all). Raises what loading raises, ValueError for an unknown provider.
    """

    def __init__(
        self,
        session: Given,
        policy: Policy | None = None,
        *,
        budget: int | None = None,
        providers: Iterable[str] = (),
        counter: str = "cl100k_base",
    ) -> None:
        asked = [profile(name).name for name in providers]
        super().__init__(layout={"width": "100%"})
        _, messages = conversation(session)
        counting = counter_of(counter)
        manager = policy or SlidingWindow(max(1, len(messages) // 2), should_truncate_results=False)
        total = sum(map(counting.message, messages))
        trace = recover(messages, manager, total // 2 if budget is None else budget, counting)
        self.hidden = [column["name"] for column in self.columns if asked and column["name"] not in asked]
        if asked:
            self.selected = [WHOLE, asked[0]]
        shown = MatrixPicture(verdicts(messages, manager, counting), manager, trace)
        self.show(shown, 0)
        self.react(lambda callback: guarded(self, callback), lambda index: self.show(shown, index))
