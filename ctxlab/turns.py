"""A session over several turns, each in a new process: what is live, what is stored, what a restart loads (#5690).

The SDK's repository session managers store every message as it was said, and a number to skip from the front; a
truncation is not written back. The repair of broken tool pairs that the SDK makes after loading is not played.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ctxlab.edits import DropMessages, Summarize
from ctxlab.messages import Conversation, Message
from ctxlab.recovery import recover
from ctxlab.reduction import Trace
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import Summarizing
from ctxlab.tokens import TokenCounter

Store = Literal["originals", "reductions"]
"""``originals``: as the SDK's repository session managers; ``reductions``: a store that writes a reduction back."""

Exchange = Callable[[int], tuple[Message, Message]]
"""From the number of a turn to what the user asks in it and what the model answers."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn: the overflow episode, what was ``live`` at its end and what a restart would load (``restored``).

    ``stored`` counts the messages in the store, ``removed_message_count`` those skipped from its front;
    ``live_tokens`` and ``restored_tokens`` are tokens.
    """

    number: int
    trace: Trace
    live: Conversation
    stored: int
    removed_message_count: int
    restored: Conversation
    live_tokens: int
    restored_tokens: int

    @property
    def first_difference(self) -> int | None:
        """The index of the first message at which a restart differs from what was live, in role or content."""
        pairs = zip(self.live, self.restored, strict=False)
        differing = (at for at, (live, restored) in enumerate(pairs) if _seen(live) != _seen(restored))
        shorter = min(len(self.live), len(self.restored))
        end = None if len(self.live) == len(self.restored) else shorter
        return next(differing, end)

    @property
    def sentence(self) -> str:
        """What this turn cost and what a restart makes of it, in words."""
        calls = f"{self.trace.refused_calls:,} refused model call{'s' if self.trace.refused_calls != 1 else ''}"
        if self.trace.outcome != "fits":
            return f"Turn {self.number}: {calls}, then {self.trace.outcome}: {self.trace.error}"
        if self.first_difference is None:
            return f"Turn {self.number}: {calls}. A restart loads exactly what was live."
        return (
            f"Turn {self.number}: {calls}. Live: {len(self.live):,} messages, {self.live_tokens:,} tokens. A restart "
            f"loads {len(self.restored):,} messages, {self.restored_tokens:,} tokens; they differ from message "
            f"{self.first_difference} on."
        )


def short_exchange(turn: int) -> tuple[Message, Message]:
    """Return a short question and answer, for turns whose content does not matter."""
    return (
        {"role": "user", "content": [{"text": f"Go on with step {turn}."}]},
        {"role": "assistant", "content": [{"text": f"Step {turn} is done."}]},
    )


def play_turns(
    messages: Sequence[Message],
    manager: SlidingWindow | Summarizing,
    budget: int,
    counter: TokenCounter,
    turns: int = 3,
    store: Store = "originals",
    exchange: Exchange = short_exchange,
) -> tuple[Turn, ...]:
    """Play ``turns`` turns, each starting from what a restart loads, and return them; the last one may be stuck.

    The first turn calls the model on the session as it is; each later one adds a question. An answer ends a turn.
    ``budget`` is tokens. Raises ValueError for fewer than one turn or an unknown store.
    """
    if turns < 1:
        raise ValueError(f"turns counts from 1, got {turns!r}")
    if store not in ("originals", "reductions"):
        raise ValueError(f"store must be 'originals' or 'reductions', got {store!r}")
    live = stored = tuple(messages)
    removed = 0
    summary: Message | None = None
    played: list[Turn] = []
    for number in range(1, turns + 1):
        question, answer = exchange(number)
        if number > 1:
            live, stored = (*live, question), (*stored, question)
        trace = recover(live, manager, budget, counter)
        removed, summary = _bookkeeping(trace, removed, summary)
        live = trace.final
        if trace.outcome == "fits":
            live, stored = (*live, answer), (*stored, answer)
        restored = live if store == "reductions" else (*((summary,) if summary else ()), *stored[removed:])
        tokens = [sum(counter.message(message) for message in state) for state in (live, restored)]
        played.append(Turn(number, trace, live, len(stored), removed, restored, tokens[0], tokens[1]))
        if trace.outcome != "fits":
            break
        if store == "reductions" and trace.rounds:
            # A manager that is kept pins the first messages once; one made anew in each process pins them again.
            manager = replace(manager, pin_first=None)
        live = restored
    return tuple(played)


def _bookkeeping(trace: Trace, removed: int, summary: Message | None) -> tuple[int, Message | None]:
    """Return removed_message_count and the last summary as the SDK keeps them over the rounds of a trace."""
    for edit in trace.edits:
        if isinstance(edit, DropMessages):
            removed += len(edit.indices)
        elif isinstance(edit, Summarize):
            # A summary that is summarized again was never in the store.
            removed += len(edit.indices) - (summary is not None)
            summary = edit.summary
    return removed, summary


def _seen(message: Message) -> tuple[object, object]:
    return message.get("role"), message.get("content")
