"""`Ledger`: what a conversation costs, by message, block and kind, and from each message to the end.

A ledger is a value: it is counted once, and what an edit changes is derived from it. Nothing here knows how a text
becomes tokens, and nothing cuts.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from ctxlab.messages import BlockKind, Message, block_kind, blocks
from ctxlab.tokens.counting import TokenCounter

if TYPE_CHECKING:
    import pandas as pd

Progress = Callable[[int, int], object]
"""Called with the messages counted so far and all messages; it may raise to stop."""

COST_KINDS = ("user text", "assistant text", "toolUse", "toolResult", "media", "reasoning", "other")
"""The kinds in which a message's tokens are shown, in the order of `Ledger.kinds`."""

_COLUMN = {kind: column for column, kind in enumerate(COST_KINDS)}
_COST_KIND: dict[BlockKind, str] = {
    "toolUse": "toolUse",
    "toolResult": "toolResult",
    "reasoningContent": "reasoning",
    "image": "media",
    "document": "media",
    "video": "media",
}

CHARACTERS_PER_REPORT = 250_000
"""Newly tokenized characters between two progress reports: about 50 ms of work."""

CHARACTERS_PER_MESSAGE = 50
"""What a message adds to that even if its texts were known."""


@dataclass(frozen=True, slots=True)
class MessageCost:
    """What one message costs: tokens in all, and kind, tokens and characters a content block.

    ``kinds`` holds the tokens by kind in the order of COST_KINDS.
    """

    role: str
    tokens: int
    per_block: tuple[int, ...]
    block_kinds: tuple[BlockKind, ...]
    characters: tuple[int, ...]
    kinds: tuple[int, ...]


def message_cost(message: Message, counter: TokenCounter) -> MessageCost:
    """Count one message."""
    role = message.get("role")
    per_block: list[int] = []
    block_kinds: list[BlockKind] = []
    characters: list[int] = []
    kinds = [0] * len(COST_KINDS)
    for block in blocks(message):
        tokens, length = counter.block_cost(block)
        kind = block_kind(block)
        kinds[_COLUMN[cost_kind(kind, role)]] += tokens
        per_block.append(tokens)
        block_kinds.append(kind)
        characters.append(length)
    return MessageCost(
        role if isinstance(role, str) else "",
        sum(per_block),
        tuple(per_block),
        tuple(block_kinds),
        tuple(characters),
        tuple(kinds),
    )


def cost_kind(kind: BlockKind, role: object) -> str:
    """Return which of COST_KINDS a block of this kind counts as in a message of this role."""
    if kind == "text":
        return f"{role} text" if role in ("user", "assistant") else "other"
    return _COST_KIND.get(kind, "other")


@dataclass(frozen=True, slots=True)
class Ledger:
    """The tokens of a conversation of n messages, counted by the counter named ``counter``.

    ``per_message`` (length n) adds up to ``total``. ``per_block`` has the tokens of each content block, a tuple a
    message. ``suffix`` (length n) has the tokens from message i to the end. ``kinds`` has the tokens by kind, for each
    message as many numbers as COST_KINDS has names: ``[row[0] for row in ledger.kinds]`` is the user text.
    """

    counter: str
    costs: tuple[MessageCost, ...]
    total: int
    per_message: tuple[int, ...]
    per_block: tuple[tuple[int, ...], ...]
    suffix: tuple[int, ...]
    kinds: tuple[tuple[int, ...], ...]

    def replaced(self, index: int, message: Message, counter: TokenCounter) -> "Ledger":
        """Return the ledger after one message was exchanged; only that message is counted.

        Raises ValueError for another counter than the ledger's and IndexError for a message that is not there.
        """
        if counter.name != self.counter:
            raise ValueError(f"a ledger of {self.counter!r} cannot be continued with {counter.name!r}")
        costs = list(self.costs)
        costs[index] = message_cost(message, counter)
        return _added_up(self.counter, costs)

    def kept(self, indices: Iterable[int]) -> "Ledger":
        """Return the ledger of the messages at ``indices`` alone, in that order; nothing is counted."""
        return _added_up(self.counter, [self.costs[index] for index in indices])

    def to_frame(self) -> "pd.DataFrame":
        """Return one row a content block: message, role, block, kind, characters (JSON as serialized), tokens."""
        import pandas as pd

        rows = [
            (at, cost.role, block, *of_block)
            for at, cost in enumerate(self.costs)
            for block, of_block in enumerate(zip(cost.block_kinds, cost.characters, cost.per_block, strict=True))
        ]
        return pd.DataFrame(rows, columns=["message", "role", "block", "kind", "characters", "tokens"])


def ledger(messages: Sequence[Message], counter: TokenCounter, progress: Progress | None = None) -> Ledger:
    """Count a conversation.

    ``progress`` is called with (messages counted, all messages) about twenty times a second while texts are tokenized,
    and once at the end. It may raise to stop: the texts counted so far stay known to the counter.
    """
    costs: list[MessageCost] = []
    before, due = counter.tokenized, CHARACTERS_PER_REPORT
    for message in messages:
        costs.append(message_cost(message, counter))
        if progress is not None and len(costs) < len(messages):
            work = counter.tokenized - before + CHARACTERS_PER_MESSAGE * len(costs)
            if work >= due:
                progress(len(costs), len(messages))
                due = work + CHARACTERS_PER_REPORT
    if progress is not None:
        progress(len(messages), len(messages))
    return _added_up(counter.name, costs)


def _added_up(counter: str, costs: Sequence[MessageCost]) -> Ledger:
    per_message = tuple(cost.tokens for cost in costs)
    return Ledger(
        counter,
        tuple(costs),
        sum(per_message),
        per_message,
        tuple(cost.per_block for cost in costs),
        tuple(accumulate(reversed(per_message)))[::-1],
        tuple(cost.kinds for cost in costs),
    )
