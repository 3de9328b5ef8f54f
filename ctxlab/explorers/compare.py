"""The tab "Compare": the chosen policy and others on the same session, a lane each, and where each of them first parts.

A lane is found when it is first shown, by `Comparing`. Nothing is drawn here and no rule lives here.
"""

import json
from dataclasses import replace
from typing import Any

import anywidget
import traitlets

from ctxlab.comparison import Lane, window_releases
from ctxlab.explorers.bundle import script, style
from ctxlab.explorers.comparing import Compared, Comparing
from ctxlab.explorers.findings import Findings
from ctxlab.explorers.state import Policy, Store
from ctxlab.explorers.view import Guard, set_value
from ctxlab.figures.answer import release_ranges
from ctxlab.figures.grouping import Groups
from ctxlab.figures.lanes import STORY, Told, policy_rows
from ctxlab.figures.matrix import WHOLE, cell_details, columns
from ctxlab.figures.words import plural
from ctxlab.providers import providers
from ctxlab.releases import latest_change
from ctxlab.summarizing import LAST_KNOWN
from ctxlab.tokens import Ledger

TELLING = ("1.34.1", "1.35.0", "1.37.0", "1.62.0")
"""Releases to compare with unless others are chosen."""

MOST = 8
"""Policies beside the chosen one; more would not be seen together."""


class Lanes(anywidget.AnyWidget):
    """Shows lanes side by side; a click or an arrow key moves ``focus``, a button makes a ``wish``.

    ``selected`` is a cell of the table below them, (key of the row, provider), and ``details`` is all about it.
    """

    _esm = script("lanes", "matrix", "compare")
    _css = style("lanes", "matrix", "compare")
    record = traitlets.Unicode("").tag(sync=True)
    focus = traitlets.Int(0).tag(sync=True)
    wish = traitlets.Dict({}).tag(sync=True)
    selected: Any = traitlets.List([WHOLE, next(iter(providers()))]).tag(sync=True)
    details: Any = traitlets.List().tag(sync=True)


class CompareTab:
    """The lanes; the first is the chosen policy."""

    name = "Compare"

    def __init__(self, store: Store, guard: Guard) -> None:
        self.store = store
        self.widget = Lanes(layout={"width": "100%"})
        self.widget.observe(guard(lambda change: store.focus_on(change.new)), "focus")
        self.widget.observe(guard(self._wished), "wish")
        self.widget.observe(guard(lambda _: self._tell()), "selected")
        self._findings: Findings | None = None
        self._comparing: Comparing | None = None
        self._of: Ledger | None = None
        self._lanes: list[tuple[str, Compared]] = []
        self._shown: tuple[Any, ...] = ()

    def show(self, findings: Findings) -> None:
        """Show the lanes of the policies, and the message in focus. Raises what the progress of the findings raises."""
        self._findings = findings
        if self._comparing is None or findings.ledger is not self._of or findings.messages != self._comparing.messages:
            self._comparing, self._of = Comparing(findings.messages, findings.ledger), findings.ledger
            self._shown = ()
        state, bars = findings.state, findings.subject.bars
        shown = (state.policy, state.budget, state.compared, bars)
        with self.widget.hold_sync():
            if shown != self._shown:
                record = self._record(findings, self._comparing, bars)
                set_value(self.widget, record=json.dumps(record, separators=(",", ":")))
                self._shown = shown
                self._tell()
            set_value(self.widget, focus=findings.focus)

    def _record(self, findings: Findings, comparing: Comparing, bars: Groups) -> dict[str, Any]:
        state = findings.state
        policies = (state.policy, *others(state.policy, state.compared))
        names = _briefly([lane_name(policy) for policy in policies])
        self._lanes = []
        strips = []
        for policy, name in zip(policies, names, strict=True):
            lane = comparing.lane(findings.played(policy), _about(policy), state.budget, findings.progress)
            self._lanes.append((name, lane))
            first = self._lanes[0]
            apart = comparing.difference(first[1], lane, (first[0], name)) if lane is not first[1] else None
            strips.append(
                {
                    **comparing.strip(lane, bars),
                    "name": lane_name(policy),
                    "brief": name,
                    "rounds": len(lane.trace.rounds),
                    "calls": lane.trace.refused_calls,
                    "error": lane.trace.error or "",
                    "difference": apart.text if apart else "",
                    "where": -1 if apart is None or apart.message is None else apart.message,
                }
            )
        return {
            "count": len(findings.messages),
            "first": bars.first,
            "last": bars.last,
            "size": bars.size,
            "sight": bars.sentence(len(findings.messages)),
            "tokens": findings.ledger.total,
            "budget": state.budget,
            "bars": comparing.bars(bars),
            "strips": strips,
            "columns": columns(),
            "rows": list(policy_rows(len(findings.messages), comparing.as_it_is(), self._lanes_told())),
            "ranges": _ranges(findings),
            "chosen": state.compared is not None,
            "full": len(policies) > MOST,
        }

    def _lanes_told(self) -> list[tuple[str, Told]]:
        return [(name, lane.told) for name, lane in self._lanes]

    def _tell(self) -> None:
        """Say all that there is about the selected cell."""
        if self._comparing is None:
            return
        key, name = self.widget.selected
        number = WHOLE - 1 - key
        if 0 <= number < len(self._lanes):
            policy, lane = self._lanes[number]
            about = f"What {policy} leaves: {plural(lane.told.left, 'message')}."
            found, places = lane.told.verdicts, lane.places
        else:
            about = f"The conversation as it is, {plural(len(self._comparing.messages), 'message')}."
            found, places = self._comparing.as_it_is(), tuple(range(len(self._comparing.messages)))
        verdict = next(one for one in found if one.provider == name)
        set_value(self.widget, details=list(cell_details(verdict, about, places)))

    def _wished(self, change: Any) -> None:
        if self._findings is None or not change.new:
            return
        state = self.store.state
        beside = others(state.policy, state.compared)
        # By its name: a press may come late, when another lane stands in the place of the one that was meant.
        lane = next((one for one in beside if lane_name(one) == change.new.get("lane")), None)
        match change.new.get("do"):
            case "keep":
                # The chosen policy stays as a lane of its own while another one is chosen above.
                self.store.change(compared=(state.policy, *(one for one in beside if one != state.policy))[:MOST])
            case "remove" if lane is not None:
                self.store.change(compared=tuple(one for one in beside if one != lane))
            case "show" if lane is not None:
                kept = tuple(state.policy if one == lane else one for one in beside)
                self.store.change(policy=lane, compared=kept, stop=None)
            case "reset":
                self.store.change(compared=None)


def _ranges(findings: Findings) -> str:
    """Say from which release to which the sliding window fits, with the parameters that are chosen."""
    state = findings.state
    if state.policy.kind == "summarizing":
        return ""
    lanes = []
    for release in window_releases():
        run = findings.played(replace(state.policy, kind="release", release=release))
        lanes.append(Lane(run.manager.name, "", run.manager, run.trace.under(state.budget)))
    return release_ranges(lanes)


def others(policy: Policy, compared: tuple[Policy, ...] | None) -> tuple[Policy, ...]:
    """Return the policies beside a chosen one: those of a state, or with the same parameters those worth comparing."""
    if compared is not None:
        return tuple(one for one in compared if one != policy)
    found = (
        *(replace(policy, kind="release", release=version) for version in TELLING),
        replace(policy, kind="careful", release=TELLING[-1]),
        replace(policy, kind="summarizing", release=LAST_KNOWN, fallback="release"),
    )
    own = lane_name(policy)
    return tuple(one for one in found if lane_name(one) != own)


def lane_name(policy: Policy) -> str:
    """Return a policy with all of its parameters that make a difference."""
    pins = (f"pin_first {policy.pin_first}",) if policy.has_pins and policy.pin_first else ()
    if policy.kind == "summarizing":
        ends = f", {policy.preserve_chars:,} characters" if policy.rule else ""
        rule = f"{policy.rule or 'no'} fallback{ends}"
        parts = (
            f"Summarizing {policy.release}", f"ratio {policy.summary_ratio:g}",
            f"recent {policy.preserve_recent_messages}", rule, *pins,
        )  # fmt: skip
        return ", ".join(parts)
    who = "Careful" if policy.kind == "careful" else f"Strands {policy.release}"
    whole = () if policy.should_truncate_results else ("results left whole",)
    aims = ("aiming at the budget",) if policy.kind == "careful" and policy.aims else ()
    return ", ".join((who, f"window {policy.window_size}", *whole, *pins, *aims))


def _briefly(names: list[str]) -> list[str]:
    """Return the names without their parameters, where what stands before these alone tells them apart."""
    brief = [name.split(",")[0] for name in names]
    return [short if brief.count(short) == 1 else name for short, name in zip(brief, names, strict=True)]


def _about(policy: Policy) -> str:
    if policy.kind == "careful":
        return STORY["careful"]
    if policy.kind == "summarizing":
        return "the oldest messages become a summary; a stand-in, no model was asked"
    return STORY.get(policy.release) or latest_change(policy.release).sentence
