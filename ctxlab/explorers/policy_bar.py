"""Choosing the policy: which one, as of which release, and its parameters; and what changed in that release."""

from functools import cache, partial
from typing import Any

import ipywidgets

from ctxlab.comparison import window_releases
from ctxlab.escaping import html
from ctxlab.explorers.findings import Findings
from ctxlab.explorers.state import Store
from ctxlab.explorers.view import FULL, Guard, row, set_value, text
from ctxlab.releases import NEWEST, PINS_FROM, Change, latest_change, parse

ABOUT_CAREFUL = (
    "ctxlab's own policy: compares tool ids, shortens the next result that can still shrink, keeps a plain user "
    "message before a tool pair (#3447), and declines a cut that would break a rule."
)


ALSO = ("1.34.1",)
"""Releases to offer besides those that differ: the one that #2173 was compared with."""


@cache
def releases() -> tuple[str, ...]:
    """Return the releases to choose from, newest first: those that differ, the newest, and ALSO."""
    return tuple(sorted({*window_releases(), NEWEST, *ALSO}, key=parse, reverse=True))


class PolicyBar:
    """Controls of the policy."""

    def __init__(self, store: Store, guard: Guard) -> None:
        self.store = store
        narrow = {"width": "auto"}
        self.kind = ipywidgets.Dropdown(
            options=[("sliding window", "release"), ("careful (ctxlab's own)", "careful")],
            description="Policy",
            style=FULL,
            layout=narrow,
        )
        self.release = ipywidgets.Dropdown(description="as of Strands", style=FULL, layout=narrow)
        self.window = _number("window_size", 40, "messages kept", "165px")
        self.pins = _number("pin_first", 0, f"pin the first messages (from {PINS_FROM})", "130px")
        self.truncate = _box("truncate results", "shorten tool results first on an overflow")
        self.aims = _box("aim at the budget", "cut at the first place whose remainder fits the budget")
        self.about = text("ctxlab-quiet")
        controls = row(self.kind, self.release, self.window, self.pins, self.truncate, self.aims)
        self.widget = ipywidgets.VBox([controls, self.about])
        for control, name in (
            (self.kind, "kind"), (self.release, "release"), (self.window, "window_size"), (self.pins, "pin_first"),
            (self.truncate, "should_truncate_results"), (self.aims, "aims"),
        ):  # fmt: skip
            control.observe(guard(partial(self._chosen, name)), "value")

    def show(self, findings: Findings) -> None:
        """Show the policy, and only the parameters that it has."""
        policy = findings.state.policy
        careful = policy.kind == "careful"
        options = _options(policy.release)
        if options != self.release.options:
            self.release.options = options
        set_value(self.kind, value=policy.kind)
        set_value(self.release, value=policy.release)
        set_value(self.window, value=policy.window_size)
        set_value(self.pins, value=policy.pin_first, disabled=not policy.has_pins)
        set_value(self.truncate, value=policy.should_truncate_results)
        set_value(self.aims, value=policy.aims)
        self.release.layout.display = "none" if careful else None
        self.aims.layout.display = None if careful else "none"
        set_value(self.about, value=html(ABOUT_CAREFUL) if careful else _about(policy.release))

    def _chosen(self, name: str, change: Any) -> None:
        if change.new is not None:
            self.store.change_policy(**{name: change.new})


def _number(name: str, value: int, tooltip: str, width: str) -> ipywidgets.BoundedIntText:
    # Below 0 only to show that a release takes it, or refuses it.
    low = -1 if name == "window_size" else 0
    return ipywidgets.BoundedIntText(
        value=value, min=low, max=1_000_000, description=name, tooltip=tooltip,
        style=FULL, layout={"width": width},
    )  # fmt: skip


def _box(name: str, tooltip: str) -> ipywidgets.Checkbox:
    return ipywidgets.Checkbox(description=name, tooltip=tooltip, indent=False, layout={"width": "auto"})


@cache
def _options(version: str) -> tuple[tuple[str, str], ...]:
    versions = releases() if version in releases() else (version, *releases())
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
