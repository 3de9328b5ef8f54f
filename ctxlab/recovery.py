"""Overflow, reduce, call again: the agent's loop around a manager, under a token budget.

The model is stood in for by a budget: a call is refused while the conversation costs more. Tokens are counted once at
the start and then carried along by the edits. Nothing is drawn here and no rule of a manager is repeated.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from inspect import signature
from typing import Any, Protocol, TypeVar, assert_never

from ctxlab.edits import (
    CollapseTexts,
    DropMessages,
    Edit,
    Pin,
    ReplaceImage,
    ReplaceResult,
    Summarize,
    TokenChange,
    TruncateText,
)
from ctxlab.messages import Conversation, Message, blocks
from ctxlab.reduction import ContextWindowOverflow, Outcome, Round, Trace
from ctxlab.replay import apply, survivors
from ctxlab.survey import Survey
from ctxlab.tokens import TokenCounter
from ctxlab.truncation import Remains

Value = TypeVar("Value")

MAX_ROUNDS = 100_000
"""Rounds after which recovering gives up; every policy here ends far below, this bounds one that does not."""

NO_PROGRESS = "a round changed nothing, so every further one would be the same"

PATIENCE = 20
"""Rounds in a row that may make nothing smaller: a cut that grows is followed by a trim, so that two are common."""

NOT_SMALLER = f"{PATIENCE} rounds in a row made it no smaller; an agent would go on for ever (#3338)"


class Manager(Protocol):
    """What recovering asks of a policy."""

    def reduce(self, messages: Conversation, overflow: bool = True, round: int = 1) -> Round:
        """Return one round, or raise ContextWindowOverflow. One with a ``survey`` parameter gets the episode's."""


Progress = Callable[[int, int], None]
"""Called with the tokens saved so far and the tokens to save; may raise to stop."""


def recover(
    messages: Sequence[Message],
    manager: Manager,
    budget: int,
    counter: TokenCounter,
    max_rounds: int = MAX_ROUNDS,
    progress: Progress | None = None,
    costs: Sequence[int] | None = None,
) -> Trace:
    """Play an overflow episode: reduce round by round until the conversation fits ``budget`` tokens or is stuck.

    Returns the Trace, whose outcome is "fits" (tokens ≤ budget), "stuck" (the manager raised; ``error`` has the
    SDK's words) or "gave up" (a round changed nothing, `PATIENCE` rounds made nothing smaller, or ``max_rounds``
    were played). ``costs`` are the tokens of each message, where a ledger has counted them already. Never raises for a
    conversation that cannot be reduced.
    """
    start = tuple(messages)
    loop = _Episode(start, counter, [counter.message(message) for message in start] if costs is None else list(costs))
    known: dict[str, Any] = {"survey": loop.survey} if "survey" in signature(manager.reduce).parameters else {}
    while loop.total > budget:
        if len(loop.rounds) >= max_rounds:
            return loop.trace("gave up", f"{max_rounds:,} rounds were not enough", budget)
        before = loop.messages
        try:
            done = manager.reduce(loop.messages, overflow=True, round=len(loop.rounds) + 1, **known)
        except ContextWindowOverflow as refusal:
            refused = len(loop.rounds) + 1
            if refusal.round is not None and refusal.round.edits:
                loop.take(refusal.round)
            return replace(loop.trace("stuck", str(refusal), budget), refused_calls=refused)
        loop.take(done)
        # Summarizing a summary alone gives the same conversation again, for ever.
        if not done.edits or loop.messages == before:
            return loop.trace("gave up", NO_PROGRESS, budget)
        if loop.rounds_since_smallest >= PATIENCE:
            return loop.trace("gave up", NOT_SMALLER, budget)
        if progress is not None:
            progress(loop.tokens[0] - loop.total, loop.tokens[0] - budget)
    return loop.trace("fits", None, budget)


class _Episode:
    """The running state of one episode: the messages, what each costs, and what is left of texts cut before."""

    def __init__(self, start: Conversation, counter: TokenCounter, costs: list[int]) -> None:
        self.start = start
        self.counter = counter
        self.messages = start
        self.costs = costs
        self.total = sum(self.costs)
        self.tokens = [self.total]
        self.smallest = self.total
        self.rounds_since_smallest = 0
        self.rounds: list[Round] = []
        self.origins: list[int | None] = list(range(len(start)))
        self.survey = Survey()
        self.remains: dict[tuple[int, int, int | None], Remains] = {}

    def take(self, done: Round) -> None:
        """Apply a round's edits, complete them with tokens and characters lost in all, and record the round."""
        edits = tuple(self._apply(edit) for edit in done.edits)
        before = self.rounds[-1] if self.rounds else self.start
        self.rounds.append(replace(done, before=before, edits=edits))
        self.rounds_since_smallest = 0 if self.total < self.smallest else self.rounds_since_smallest + 1
        self.smallest = min(self.smallest, self.total)
        self.tokens.append(self.total)

    def trace(self, outcome: Outcome, error: str | None, budget: int) -> Trace:
        return Trace(
            self.start,
            tuple(self.rounds),
            outcome,
            error,
            budget,
            len(self.rounds),
            tuple(self.tokens),
            self.counter.name,
        )

    def _apply(self, edit: Edit) -> Edit:
        if isinstance(edit, TruncateText):
            edit = self._with_lost(edit)
        after = apply(self.messages, edit)
        change = self._change(edit, after)
        self.total += change.difference
        kept = survivors(edit, len(self.messages))
        if isinstance(edit, DropMessages | Summarize):
            self.costs = _select(self.costs, kept, change.after)
            self.origins = _select(self.origins, kept, None)
        self.messages = after
        self.survey.follow(edit, after)
        return replace(edit, tokens=change)

    def _change(self, edit: Edit, after: Conversation) -> TokenChange:
        """Return the tokens of the messages that an edit touches, before and after it."""
        match edit:
            case Pin():
                return TokenChange(0, 0)
            case TruncateText() | ReplaceImage() | ReplaceResult():
                # Only the block that changed is counted: a message may hold thousands.
                old, new = (blocks(state[edit.message])[edit.block] for state in (self.messages, after))
                before = self.costs[edit.message]
                self.costs[edit.message] = before + self.counter.block(new) - self.counter.block(old)
                return TokenChange(before, self.costs[edit.message])
            case CollapseTexts():
                before = self.costs[edit.message]
                self.costs[edit.message] = self.counter.message(after[edit.message])
                return TokenChange(before, self.costs[edit.message])
            case DropMessages():
                return TokenChange(sum(self.costs[index] for index in edit.indices), 0)
            case Summarize():
                gone = sum(self.costs[index] for index in edit.indices)
                return TokenChange(gone, self.counter.message(edit.summary))
            case _:
                assert_never(edit)

    def _with_lost(self, edit: TruncateText) -> TruncateText:
        origin = self.origins[edit.message]
        if origin is None:
            return edit
        slot = (origin, edit.block, edit.item)
        remains = self.remains.get(slot, Remains.whole(len(edit.before))).after(edit.kept)
        self.remains[slot] = remains
        return replace(edit, lost=remains.lost)


def _select(values: list[Value], kept: Sequence[int | None], new: Value) -> list[Value]:
    """Return the values of the messages that are kept, and ``new`` where a summary stands."""
    if isinstance(kept, range):
        return values[kept.start :]
    return [new if index is None else values[index] for index in kept]
