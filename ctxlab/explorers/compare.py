"""The tab "Compare": the chosen policy and others on the same session, a lane each, and where each of them first parts.

A lane is found when it is first shown and kept while session and range stay. Nothing is drawn here and no rule lives
here.
"""

import json
from collections import OrderedDict
from dataclasses import replace
from typing import Any

import anywidget
import traitlets

from ctxlab.comparison import Lane
from ctxlab.explorers.findings import Findings
from ctxlab.explorers.releases import lane_script, lane_style
from ctxlab.explorers.state import Policy, Store
from ctxlab.explorers.view import Guard, set_value
from ctxlab.figures.difference import Side, first_difference
from ctxlab.figures.lanes import STORY, Strip, column_bars, lane_strip
from ctxlab.releases import latest_change
from ctxlab.summarizing import LAST_KNOWN

TELLING = ("1.34.1", "1.35.0", "1.37.0", "1.62.0")
"""Releases to compare with unless others are chosen."""

MOST = 8
"""Policies beside the chosen one; more would not be seen together."""

KEPT = 64


class Lanes(anywidget.AnyWidget):
    """Shows lanes side by side; a click or an arrow key moves ``focus``, a button makes a ``wish``."""

    _esm = lane_script("compare")
    _css = lane_style("compare")
    record = traitlets.Unicode("").tag(sync=True)
    focus = traitlets.Int(0).tag(sync=True)
    wish = traitlets.Dict({}).tag(sync=True)


class CompareTab:
    """The lanes; the first is the chosen policy."""

    name = "Compare"

    def __init__(self, store: Store, guard: Guard) -> None:
        self.store = store
        self.widget = Lanes(layout={"width": "100%"})
        self.widget.observe(guard(lambda change: store.focus_on(change.new)), "focus")
        self.widget.observe(guard(self._wished), "wish")
        self._findings: Findings | None = None
        self._of: tuple[Any, ...] = ()
        self._strips: OrderedDict[tuple[Policy, int], tuple[Strip, Side]] = OrderedDict()
        self._shown: tuple[Any, ...] = ()

    def show(self, findings: Findings) -> None:
        """Show the lanes of the policies, and the message in focus."""
        self._findings = findings
        subject = findings.subject
        of = (subject.messages, findings.ledger, subject.first, subject.last)
        if len(of) != len(self._of) or any(
            new is not old and new != old for new, old in zip(of, self._of, strict=True)
        ):
            self._of = of
            self._strips.clear()
            self._shown = ()
        shown = (findings.state.policy, findings.state.budget, findings.state.compared)
        with self.widget.hold_sync():
            if shown != self._shown:
                set_value(self.widget, record=json.dumps(self._record(findings), separators=(",", ":")))
                self._shown = shown
            set_value(self.widget, focus=findings.focus)

    def _record(self, findings: Findings) -> dict[str, Any]:
        subject, state = findings.subject, findings.state
        found = [self._lane(findings, policy) for policy in (state.policy, *others(state.policy, state.compared))]
        sides = _briefly([side for _, side in found])
        strips = []
        for number, (strip, full) in enumerate(found):
            difference = first_difference(sides[0], sides[number]) if number else None
            trace = full.trace
            strips.append(
                {
                    **strip,
                    "name": full.name,
                    "brief": sides[number].name,
                    "rounds": len(trace.rounds),
                    "calls": trace.refused_calls,
                    "error": trace.error or "",
                    "difference": difference.text if difference else "",
                    "where": -1 if difference is None or difference.message is None else difference.message,
                }
            )
        return {
            "count": len(findings.messages),
            "first": subject.first,
            "size": subject.bars.size,
            "sight": subject.bars.sentence(len(findings.messages)),
            "tokens": findings.ledger.total,
            "budget": state.budget,
            "bars": list(column_bars(findings.messages, findings.ledger.kinds, subject.bars)),
            "strips": strips,
            "chosen": state.compared is not None,
            "full": len(found) > MOST,
        }

    def _lane(self, findings: Findings, policy: Policy) -> tuple[Strip, Side]:
        key = (policy, findings.state.budget)
        if key not in self._strips:
            run = findings.played(policy)
            trace = run.trace.under(findings.state.budget)
            strip = lane_strip(
                Lane(run.manager.name, _about(policy), run.manager, trace), findings.ledger, findings.subject.bars
            )
            places = run.history.places[: run.history.ends[len(trace.rounds)]]
            self._strips[key] = (strip, Side(lane_name(policy), run.manager, trace, places))
            while len(self._strips) > KEPT:
                self._strips.popitem(last=False)
        return self._strips[key]

    def _wished(self, change: Any) -> None:
        if self._findings is None or not change.new:
            return
        state = self.store.state
        beside = others(state.policy, state.compared)
        lane = int(change.new.get("lane", 0)) - 1
        match change.new.get("do"):
            case "keep":
                # The chosen policy stays as a lane of its own while another one is chosen above.
                self.store.change(compared=(state.policy, *(one for one in beside if one != state.policy))[:MOST])
            case "remove" if 0 <= lane < len(beside):
                self.store.change(compared=(*beside[:lane], *beside[lane + 1 :]))
            case "show" if 0 <= lane < len(beside):
                kept = tuple(state.policy if one == beside[lane] else one for one in beside)
                self.store.change(policy=beside[lane], compared=kept, stop=None)
            case "reset":
                self.store.change(compared=None)


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


def _briefly(sides: list[Side]) -> list[Side]:
    """Return the sides without their parameters in the name, where the name alone tells them apart."""
    brief = [side.name.split(",")[0] for side in sides]
    return [
        replace(side, name=name) if brief.count(name) == 1 else side for side, name in zip(sides, brief, strict=True)
    ]


def _about(policy: Policy) -> str:
    if policy.kind == "careful":
        return STORY["careful"]
    if policy.kind == "summarizing":
        return "the oldest messages become a summary; a stand-in, no model was asked"
    return STORY.get(policy.release) or latest_change(policy.release).sentence
