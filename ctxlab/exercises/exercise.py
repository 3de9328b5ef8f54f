"""What an exercise is, and one made of a person's own session. Answers are found in `study`, not stored here."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ctxlab.comparison import Policy
from ctxlab.messages import Conversation, Message, pin
from ctxlab.providers import profile
from ctxlab.releases import NEWEST
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import Summarizing

Ask = Literal["cut", "split", "spot"]
"""``cut``: where may the conversation start; ``split``: which message may be the first that a summary leaves alone;
``spot``: which message does a provider refuse."""

LEAST = 3
"""Messages that a cut needs: the search starts at 2 at the earliest."""


@dataclass(frozen=True, slots=True)
class Exercise:
    """A conversation and a question about it: where would you cut, or split, or which message is refused.

    ``policy`` is what the released manager is, for a cut or a split; ``overflow`` tells an answer to an overflow from
    routine management. ``provider`` is who refuses. ``source`` is the address of the public report, ``""`` for a
    session of one's own, and ``report`` what it says; ``lesson`` is what to take away. ``cut_off`` is what stood before
    the messages, where a repair may find an anchor.
    """

    id: str
    title: str
    ask: Ask
    messages: Conversation = field(repr=False)
    policy: Policy | None = None
    overflow: bool = True
    provider: str = ""
    kind: str = ""
    source: str = ""
    report: str = ""
    lesson: str = ""
    cut_off: Conversation = field(default=(), repr=False)

    def __post_init__(self) -> None:
        needs = {"cut": SlidingWindow, "split": Summarizing, "spot": type(None)}[self.ask]
        if not isinstance(self.policy, needs):
            raise ValueError(f"an exercise that asks for a {self.ask} needs {needs.__name__}, got {self.policy!r}")
        if self.ask == "spot":
            profile(self.provider)

    @property
    def state(self) -> Conversation:
        """The messages as the search sees them: what ``pin_first`` pins is pinned."""
        first = (self.policy.pin_first or 0) if self.policy else 0
        return tuple(pin(message) if at < first else message for at, message in enumerate(self.messages))

    @property
    def start(self) -> int:
        """The first index that the question is about."""
        if isinstance(self.policy, SlidingWindow):
            return min(self.policy.start(self.messages), len(self.messages))
        if isinstance(self.policy, Summarizing):
            ratio = max(0.1, min(0.8, self.policy.summary_ratio))
            wanted = max(1, int(len(self.messages) * ratio))
            return max(0, min(wanted, len(self.messages) - self.policy.preserve_recent_messages))
        return 0

    @property
    def setting(self) -> str:
        """What the situation is, in a sentence or two."""
        count = f"{len(self.messages):,} messages"
        if isinstance(self.policy, SlidingWindow):
            why = "The model has refused the call" if self.overflow else f"The conversation has grown to {count}"
            pins = f" The first {self.policy.pin_first:,} are pinned and stay." if self.policy.pin_first else ""
            kept = f"The window keeps {_messages(self.policy.window_size)} of {len(self.messages):,}"
            return f"{why}. {kept}, so the search for a cut starts at message {self.start:,}.{pins}"
        if isinstance(self.policy, Summarizing):
            return f"The model has refused the call. The oldest {self.start:,} of {count}, or more, become a summary."
        return f"A session of {count} is sent to {profile(self.provider).label}."

    @property
    def question(self) -> str:
        """The question, in a sentence."""
        if self.ask == "cut":
            return "Where would you cut? Choose the message that the conversation may start with."
        if self.ask == "split":
            return "Where would you split? Choose the first message that stays behind the summary."
        return f"Which message does {profile(self.provider).label} refuse?"


def exercise_from(
    session: Any, release: str = NEWEST, window_size: int | None = None, title: str | None = None
) -> Exercise:
    """Make an exercise of one's own session: where would you cut it?

    ``session`` is a Session or messages. ``window_size`` counts the messages that are kept (default: half of them).
    Raises ValueError for fewer than three messages, which cannot be cut, and for an unknown release.
    """
    messages: Sequence[Message] = getattr(session, "messages", session)
    count = len(messages)
    if count < LEAST:
        raise ValueError(f"an exercise needs at least {LEAST} messages, got {count:,}")
    window = max(1, count // 2) if window_size is None else window_size
    name = str(getattr(session, "name", "your session"))
    return Exercise(
        id=f"own-{name}",
        title=title or f"Your own: {name}",
        ask="cut",
        messages=tuple(messages),
        policy=SlidingWindow.as_of(release, window, False),
        kind="own",
    )


def _messages(count: int) -> str:
    return f"{count:,} message{'' if count == 1 else 's'}"
