"""Choosing the policy: which one, as of which release, and its parameters; and what changed in that release."""

from functools import cache, partial
from typing import Any

import ipywidgets

from ctxlab.escaping import html
from ctxlab.explorers.findings import Findings
from ctxlab.explorers.front_end import NumberBox
from ctxlab.explorers.state import PolicyKind, Store
from ctxlab.explorers.view import FULL, Guard, row, set_value, text
from ctxlab.releases import NEWEST, PINS_FROM, Change, latest_change, parse
from ctxlab.rights import releases, summary_releases

ABOUT_CAREFUL = (
    "ctxlab's own policy: compares tool ids, shortens the next result that can still shrink, keeps a plain user "
    "message before a tool pair (#3447), and declines a cut that would break a rule."
)

ABOUT_SUMMARIES = "The summary is a stand-in of 1,000 characters; no model was asked."

FALLBACKS = (
    ("as in the release", "release"),
    ("fixed", "fixed"),
    ("proportional", "proportional"),
    ("collapse", "collapse"),
    ("none", "none"),
)


class PolicyBar:
    """Controls of the policy."""

    def __init__(self, store: Store, guard: Guard) -> None:
        self.store = store
        narrow = {"width": "auto"}
        self.kind = ipywidgets.Dropdown(
            options=[
                ("sliding window", "release"),
                ("summarizing", "summarizing"),
                ("careful (ctxlab's own)", "careful"),
            ],
            description="Policy",
            style=FULL,
            layout=narrow,
        )
        self.release = ipywidgets.Dropdown(description="as of Strands", style=FULL, layout=narrow)
        self.window = _number("window_size", 40, "messages kept", "165px")
        self.pins = _number("pin_first", 0, f"pin the first messages (from {PINS_FROM})", "130px")
        self.truncate = _box("truncate results", "shorten tool results first on an overflow")
        self.aims = _box("aim at the budget", "cut at the first place whose remainder fits the budget")
        self.ratio = NumberBox(
            max=1, value=0.3, step=0.05, description="summary_ratio", layout={"width": "165px"},
            tooltip="how much of the messages a summary takes in; the SDK keeps it between 0.1 and 0.8",
        )  # fmt: skip
        self.recent = _number("preserve_recent_messages", 10, "the newest messages, left out of the count", "240px")
        self.fallback = ipywidgets.Dropdown(
            options=FALLBACKS, description="fallback", style=FULL, layout=narrow,
            tooltip="how texts are truncated where there are too few messages to summarize",
        )  # fmt: skip
        self.chars = _number("preserve_chars", 2000, "the size that the fallback goes by", "180px")
        self.about = text("ctxlab-quiet")
        summarizing = (self.ratio, self.recent, self.fallback, self.chars)
        self._own: dict[str, tuple[Any, ...]] = {
            "release": (self.release, self.window, self.truncate),
            "careful": (self.window, self.truncate, self.aims),
            "summarizing": (self.release, *summarizing),
        }
        controls = row(self.kind, self.release, self.window, *summarizing, self.pins, self.truncate, self.aims)
        self.widget = ipywidgets.VBox([controls, self.about])
        for control, name in (
            (self.kind, "kind"), (self.release, "release"), (self.window, "window_size"), (self.pins, "pin_first"),
            (self.truncate, "should_truncate_results"), (self.aims, "aims"), (self.ratio, "summary_ratio"),
            (self.recent, "preserve_recent_messages"), (self.fallback, "fallback"), (self.chars, "preserve_chars"),
        ):  # fmt: skip
            control.observe(guard(partial(self._chosen, name)), "value")

    def show(self, findings: Findings) -> None:
        """Show the policy, and only the parameters that it has."""
        policy = findings.state.policy
        options = _options(policy.release, policy.kind)
        if options != self.release.options:
            self.release.options = options
        set_value(self.kind, value=policy.kind)
        set_value(self.release, value=policy.release)
        set_value(self.window, value=policy.window_size)
        set_value(self.pins, value=policy.pin_first, disabled=not policy.has_pins)
        set_value(self.truncate, value=policy.should_truncate_results)
        set_value(self.aims, value=policy.aims)
        set_value(self.ratio, value=policy.summary_ratio)
        set_value(self.recent, value=policy.preserve_recent_messages)
        set_value(self.fallback, value=policy.fallback)
        set_value(self.chars, value=policy.preserve_chars, disabled=policy.rule is None)
        own = self._own[policy.kind]
        for control in {one for controls in self._own.values() for one in controls}:
            control.layout.display = None if control in own else "none"
        said = html(ABOUT_CAREFUL) if policy.kind == "careful" else _about(policy.release)
        set_value(self.about, value=f"{said} {html(ABOUT_SUMMARIES)}" if policy.kind == "summarizing" else said)

    def _chosen(self, name: str, change: Any) -> None:
        if change.new is None:
            return
        changes = {name: change.new}
        # Only summarizing is known beyond the newest release that can be installed.
        if name == "kind" and change.new != "summarizing" and parse(self.store.state.policy.release) > parse(NEWEST):
            changes["release"] = NEWEST
        self.store.change_policy(**changes)


def _number(name: str, value: int, tooltip: str, width: str) -> NumberBox:
    # Below 0 only to show that a release takes it, or refuses it.
    low = -1 if name == "window_size" else 0
    return NumberBox(min=low, max=1_000_000, value=value, description=name, tooltip=tooltip, layout={"width": width})


def _box(name: str, tooltip: str) -> ipywidgets.Checkbox:
    return ipywidgets.Checkbox(description=name, tooltip=tooltip, indent=False, layout={"width": "auto"})


@cache
def _options(version: str, kind: PolicyKind) -> tuple[tuple[str, str], ...]:
    offered = summary_releases() if kind == "summarizing" else releases()
    versions = offered if version in offered else (version, *offered)
    return tuple((_line(each), each) for each in versions)


def _line(version: str) -> str:
    change = latest_change(version)
    numbers = ", ".join(f"#{number}" for number in change.numbers)
    return f"{version}{f' ({numbers})' if numbers and change.version == version else ''}"


def _about(version: str) -> str:
    change = latest_change(version)
    when = f"New in {version}" if change.version == version else f"{version} is as {change.version}"
    return html(f"{when}: {_sentence(change)}")


def _sentence(change: Change) -> str:
    numbers = ", ".join(f"#{number}" for number in change.numbers)
    return f"{change.sentence}{f' ({numbers})' if numbers else ''}."
