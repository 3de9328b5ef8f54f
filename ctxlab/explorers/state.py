"""The one value that an explorer shows, and the store that holds it: controls change it, views are told.

Everything that a person can choose is in `State`; what follows from it is found in `findings`. No widget lives here.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ctxlab.releases import NEWEST, behaviour
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import LAST_KNOWN, Summarizing
from ctxlab.tokens import TokenCounter
from ctxlab.truncation import Rule, Truncation

PolicyKind = Literal["release", "careful", "summarizing"]

Fallback = Literal["release", "fixed", "proportional", "collapse", "none"]
"""What summarizing does where messages are lacking: as the release does, a rule of truncation, or nothing."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The choice of a policy and its parameters: the sliding window of a release, the careful one, or summarizing.

    ``aims`` makes the careful one cut right down to the budget. ``pin_first`` is kept, and not used, where the release
    knows no pins; so are the parameters of the policies that are not chosen.
    """

    kind: PolicyKind = "release"
    release: str = NEWEST
    window_size: int = 40
    should_truncate_results: bool = True
    pin_first: int = 0
    aims: bool = False
    summary_ratio: float = 0.3
    preserve_recent_messages: int = 10
    fallback: Fallback = "release"
    preserve_chars: int = 2000

    @property
    def has_pins(self) -> bool:
        """Whether the policy knows pinned messages."""
        return self.kind == "careful" or behaviour(self.release, LAST_KNOWN).pins

    @property
    def rule(self) -> Rule | None:
        """The rule of the fallback of summarizing that comes of the choice, None for no fallback."""
        if self.fallback == "release":
            return behaviour(self.release, LAST_KNOWN).fallback
        return None if self.fallback == "none" else self.fallback

    def aim(self, budget: int) -> int:
        """Return the tokens that the policy is played down to: the budget where it aims at that, else 0."""
        return budget if self.kind == "careful" and self.aims else 0

    def manager(self, budget: int, counter: TokenCounter) -> SlidingWindow | Summarizing:
        """Return the manager that was chosen; ValueError where its parameters make none."""
        pins = self.pin_first if self.has_pins and self.pin_first else None
        if self.kind == "summarizing":
            truncation = Truncation(self.preserve_chars, self.rule) if self.rule else None
            return Summarizing(
                self.summary_ratio, self.preserve_recent_messages, pins, truncation, release=self.release
            )
        if self.kind == "careful":
            aim = budget if self.aims else None
            return SlidingWindow.careful(self.window_size, self.should_truncate_results, pins, aim, counter)
        return SlidingWindow.as_of(self.release, self.window_size, self.should_truncate_results, pin_first=pins)


@dataclass(frozen=True, slots=True)
class State:
    """What an explorer shows. ``source`` names a session, ``view`` one of its views.

    ``budget`` is in tokens. ``stop`` is the place in the trace, 0 being the start and None the end. ``focus`` is a
    message; ``span`` the messages in sight, from the first up to, not including, the last, None for all. ``tab`` is the
    name of the open tab. ``compared`` are the policies beside the chosen one, None for those that are worth it.
    """

    source: str
    view: str
    budget: int
    counter: str = "cl100k_base"
    policy: Policy = field(default_factory=Policy)
    stop: int | None = None
    focus: int = 0
    span: tuple[int, int] | None = None
    tab: str = "Why"
    compared: tuple[Policy, ...] | None = None


Watcher = Callable[[State], None]


class Store:
    """Holds the state. While a change is being shown, what widgets report back is not a wish of the user."""

    def __init__(self, state: State) -> None:
        self.state = state
        self._watchers: list[Watcher] = []
        self._showing = False

    def watch(self, watcher: Watcher) -> None:
        """Call ``watcher`` with each new state; where it raises, the old state stays and is shown again."""
        self._watchers.append(watcher)

    def change(self, **changes: Any) -> None:
        """Replace fields of the state and tell the watchers, unless nothing differs or a change is being shown."""
        if not self._showing:
            self.replace(replace(self.state, **changes))

    def change_policy(self, **changes: Any) -> None:
        """Replace fields of the policy; the trace is another one, so its end is shown."""
        self.change(policy=replace(self.state.policy, **changes), stop=None)

    def focus_on(self, index: int) -> None:
        """Put a message in focus; a range that does not hold it moves by as much as it has to."""
        span = self.state.span
        if span is not None and not span[0] <= index < span[1]:
            first = index if index < span[0] else index - (span[1] - span[0]) + 1
            span = (first, first + span[1] - span[0])
        self.change(focus=index, span=span)

    def show_span(self, first: int, end: int, count: int) -> None:
        """Show the messages from ``first`` up to, not including, ``end``, of ``count``; the focus comes along."""
        first = max(0, min(first, end - 1, count - 1))
        end = max(first + 1, min(end, count))
        focus = max(first, min(self.state.focus, end - 1))
        self.change(span=None if (first, end) == (0, count) else (first, end), focus=focus)

    def replace(self, state: State) -> None:
        """Take a whole state, as `change` does."""
        if self._showing or state == self.state:
            return
        before, self.state = self.state, state
        try:
            self.show()
        except Exception:
            self.state = before
            self.show()
            raise

    def show(self) -> None:
        """Tell the watchers the state as it is."""
        self._showing = True
        try:
            for watcher in self._watchers:
                watcher(self.state)
        finally:
            self._showing = False
