"""`Tuner`: which preserve_chars to choose, over the whole range at once, for one session or several.

The range is tried once a rule, coarse first, in slices between which the kernel listens, so that it can be watched and
stopped. After that preserve_chars moves in the browser alone. Nothing is drawn here and no rule lives here.
"""

import asyncio
import json
import time
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, cast

import anywidget
import traitlets

from ctxlab.explorers.bundle import script, style
from ctxlab.explorers.findings import Progress
from ctxlab.explorers.given import Given, conversations
from ctxlab.explorers.guarded import guarded, say
from ctxlab.fallback import Setting
from ctxlab.figures.tuning import answers_record, tuning_record
from ctxlab.summarizing import Summarizing
from ctxlab.truncation import Rule
from ctxlab.tuning import Recommendation, Tuning, coarse_first, preserve_grid, settings
from ctxlab.vocabularies import counter as counter_of

SLICE = 0.05
"""Seconds of work between two times at which the kernel listens."""

REDRAW = 0.4
"""Seconds between two pictures of what was tried so far."""


class Tuner(anywidget.AnyWidget):
    """Shows what each preserve_chars does to sessions under a budget in tokens, and recommends one.

    ``sessions`` are Sessions, paths or lists of messages; or one mapping from names to them. ``budget`` defaults to
    half of what the largest session costs. ``manager`` gives the other parameters of summarizing. `preserve_chars`,
    `rule`, `budget` and `most_refused` are what the dials show, to be set and observed. ``marked`` are lengths in
    characters to be shown among those of all texts, of what ``marked_by`` says. Where no loop runs, all is tried at
    once and told to ``progress``, which may raise to stop. Raises what loading raises, ValueError without a session.
    """

    _esm = script("tuner")
    _css = style("tuner")
    record = traitlets.Unicode("").tag(sync=True)
    answers = traitlets.Unicode("").tag(sync=True)
    rule = traitlets.Unicode("proportional").tag(sync=True)
    preserve_chars = traitlets.Int(2000).tag(sync=True)
    budget = traitlets.Int(0).tag(sync=True)
    most = traitlets.Int(0).tag(sync=True)
    most_refused = traitlets.Int(3).tag(sync=True)
    tried = traitlets.Int(0).tag(sync=True)
    to_try = traitlets.Int(0).tag(sync=True)
    running = traitlets.Bool(False).tag(sync=True)
    error = traitlets.Unicode("").tag(sync=True)
    marked: traitlets.List[int] = traitlets.List().tag(sync=True)
    marked_by = traitlets.Unicode("").tag(sync=True)

    def __init__(
        self,
        *sessions: Given,
        budget: int | None = None,
        rule: Rule = "proportional",
        preserve_chars: int = 2000,
        most_refused: int = 3,
        manager: Summarizing | None = None,
        counter: str = "cl100k_base",
        count: int = 100,
        progress: Progress | None = None,
    ) -> None:
        only = sessions[0] if len(sessions) == 1 else None
        self.sessions = conversations(only if isinstance(only, Mapping) else sessions)
        if not self.sessions:
            raise ValueError("there is no session to tune for")
        self.counter = counter_of(counter)
        self._progress = progress
        self.manager = manager or Summarizing()
        self.values = tuple(sorted({*preserve_grid(list(self.sessions.values()), count), preserve_chars}))
        self.tunings: dict[Rule, Tuning] = {}
        self._tried: dict[Rule, dict[int, list[Setting]]] = {}
        self._task: asyncio.Task[None] | None = None
        self._shown: Tuning | None = None
        costs = [sum(map(self.counter.message, messages)) for messages in self.sessions.values()]
        super().__init__(
            rule=rule,
            preserve_chars=preserve_chars,
            most_refused=most_refused,
            budget=max(costs) // 2 if budget is None else budget,
            most=max(10, max(costs) * 115 // 100),
        )
        self.observe(guarded(self, lambda change: self._begin()), "rule")
        self.observe(guarded(self, lambda change: self._answer()), ["budget", "most_refused"])
        self.observe(guarded(self, lambda change: self._add(change.new)), "preserve_chars")
        self.on_msg(lambda _, content, buffers: self.stop() if content == {"do": "stop"} else None)
        self._begin()

    @property
    def tuning(self) -> Tuning:
        """The tuning of the rule that is chosen, finished first where it is not."""
        self.finish()
        return self.tunings[cast(Rule, self.rule)]

    @property
    def recommendation(self) -> Recommendation:
        """What is recommended for the rule, budget and most refused calls that are chosen, and why."""
        return self.tuning.recommend(self.budget, self.most_refused)

    def finish(self) -> None:
        """Try what is left of the range, without a break."""
        self.stop()
        rule = cast(Rule, self.rule)
        for _ in self._try(rule):
            if self._progress is not None:
                self._progress("Trying values of preserve_chars", len(self._tried[rule]), len(self.values))
        self._draw()

    def stop(self) -> None:
        """Stop trying; what was tried is shown. `finish`, or choosing the rule again, goes on from there."""
        if self._task is not None:
            self._task.cancel()
            self._task = None
        self.running = False

    def _begin(self) -> None:
        self.stop()
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self.finish()
            return
        self.running = True
        self._task = loop.create_task(self._work(cast(Rule, self.rule)))

    async def _work(self, rule: Rule) -> None:
        heard = time.monotonic()
        drawn = -REDRAW
        try:
            for _ in self._try(rule):
                if time.monotonic() - drawn > REDRAW:
                    self._draw()
                    drawn = time.monotonic()
                if time.monotonic() - heard > SLICE:
                    await asyncio.sleep(0.001)
                    heard = time.monotonic()
            self._draw()
        except Exception as error:
            self.error = say(error)
        self.running = False

    def _try(self, rule: Rule) -> Iterator[None]:
        """Try one value after another, and stop after each for whoever asks."""
        tried = self._tried.setdefault(rule, {})
        left = [value for value in coarse_first(self.values) if value not in tried]
        found: list[Setting] = []
        for setting in settings(self.sessions, self.counter, rule, left, self.manager):
            found.append(setting)
            if len(found) == len(self.sessions):
                tried[setting.preserve_chars] = found
                found = []
                yield
        self.tunings[rule] = Tuning.of(rule, list(chain.from_iterable(tried.values())))

    def _add(self, value: int) -> None:
        """Try a value that is not among those of the range."""
        rule = cast(Rule, self.rule)
        tried = self._tried.setdefault(rule, {})
        if value not in tried and value not in self.values:
            tried[value] = list(settings(self.sessions, self.counter, rule, [value], self.manager))
            self._draw()

    def _draw(self) -> None:
        """Show what was tried so far."""
        rule = cast(Rule, self.rule)
        tried = self._tried[rule]
        self._shown = Tuning.of(rule, list(chain.from_iterable(tried.values())))
        if rule in self.tunings:
            self.tunings[rule] = self._shown
        with self.hold_sync():
            self.tried, self.to_try = len(tried), len({*self.values, *tried})
            self.record = _json(tuning_record(self._shown, self.sessions))
            self._answer()

    def _answer(self) -> None:
        """Show what holds under the budget that is chosen."""
        if self._shown is not None:
            self.answers = _json(answers_record(self._shown, self.budget, self.most_refused))


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":"))
