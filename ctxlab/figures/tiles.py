"""The board of the animator: a tile for every piece of content, and what each edit of a trace makes of which tiles.

A tile keeps its place on the board from the start to the end, whatever happens to its message, so that a picture can
stand still. Which excerpt of a text is sent and how it is written down live elsewhere; nothing is drawn.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import assert_never

from ctxlab.edits import (
    CollapseTexts,
    DropMessages,
    Edit,
    Pin,
    ReplaceImage,
    ReplaceResult,
    Summarize,
    TruncateText,
)
from ctxlab.escaping import one_line
from ctxlab.messages import Block, Message, block_kind, blocks, is_pinned, result_items
from ctxlab.reduction import Trace
from ctxlab.replay import survivors
from ctxlab.tokens import COST_KINDS, TokenCounter, cost_kind
from ctxlab.truncation import PassedOver, Remains, Truncation

Seat = list[dict[int | None, int]]
"""Where a message sits: for each of its blocks the tiles by item, None being the block's own."""


class Fate(IntEnum):
    """What a change makes of a tile: the first three leave something of it, BORN is a summary that appears."""

    CUT = 0
    REPLACED = 1
    COLLAPSED = 2
    PINNED = 3
    DROPPED = 4
    SUMMARIZED = 5
    REMOVED = 6
    BORN = 7


@dataclass(frozen=True, slots=True)
class Change:
    """What the edit number ``step`` (from 1) makes of a tile: characters of the original left at its head and tail.

    ``middle`` is what stands between them, ``length`` the characters in all, ``lost`` those of the original that are
    gone in all, ``why`` the reason why a further round would pass the block over, None where its turn can come.
    ``rank`` is its place by length among the blocks that qualified, 1 for the longest, 0 where there is none.
    """

    step: int
    tile: int
    fate: Fate
    head: int
    tail: int
    middle: str
    length: int
    lost: int
    tokens: int
    why: PassedOver | None
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Group:
    """The tiles of one message; ``message`` is its index at the start, None for a summary. ``order`` sorts groups."""

    order: float
    message: int | None
    role: str
    pinned: bool


@dataclass(slots=True)
class Tile:
    """A piece of content: a text (``text`` is None for what is none), its length in characters and its tokens.

    What follows ``why`` is the running state: what is left of the text and how many text characters stand here now.
    """

    group: int
    block: int
    item: int | None
    category: int
    text: str | None
    length: int
    tokens: int
    why: PassedOver | None
    born: bool = False
    remains: Remains = field(init=False)
    text_now: int = field(init=False)
    length_now: int = field(init=False)
    tokens_now: int = field(init=False)

    def __post_init__(self) -> None:
        self.remains = Remains.whole(self.length)
        self.text_now = 0 if self.text is None else self.length
        self.length_now = self.length
        self.tokens_now = self.tokens


class Board:
    """Plays the edits of a trace on tiles; keeps every change, and round, tokens and text characters after each edit.

    Raises ValueError for a counter other than the trace's.
    """

    def __init__(self, trace: Trace, counter: TokenCounter, truncation: Truncation | None = None) -> None:
        if counter.name != trace.counter:
            raise ValueError(f"the trace was counted with {trace.counter!r}, got the counter {counter.name!r}")
        self._counter = counter
        self._truncation = truncation
        self.groups: list[Group] = []
        self.tiles: list[Tile] = []
        self.changes: list[Change] = []
        self._messages = len(trace.start)
        self._seats = [self._sit(message, at, is_pinned(trace.start, at)) for at, message in enumerate(trace.start)]
        self.rounds: list[int] = []
        self.tokens = [trace.tokens[0]]
        self.characters = [sum(tile.text_now for tile in self.tiles)]
        for round in trace.rounds:
            for edit in round.edits:
                self.rounds.append(round.number)
                self.tokens.append(self.tokens[-1] + (edit.tokens.difference if edit.tokens else 0))
                self.characters.append(self.characters[-1])
                self._play(edit)

    def reword(self, other: "Board") -> None:
        """Take the texts and roles of the board of the same trace in other words; all that is counted stays."""
        for tile, told in zip(self.tiles, other.tiles, strict=True):
            tile.text = told.text
        for at, group in enumerate(other.groups):
            self.groups[at] = replace(self.groups[at], role=group.role)
        for at, change in enumerate(other.changes):
            self.changes[at] = replace(self.changes[at], middle=change.middle)

    def _sit(self, message: Message, index: int | None, pinned: bool, order: float | None = None) -> Seat:
        """Put a message on the board, a tile for each text and for each other block or item; return where they are."""
        role = one_line(str(message.get("role", "")), 20)
        self.groups.append(Group(float(index or 0) if order is None else order, index, role, pinned))
        seat: Seat = []
        for at, block in enumerate(blocks(message)):
            parts: dict[int | None, Block] = dict(enumerate(result_items(block)))
            # A broken block may be a toolResult and something else at once.
            own = {key: value for key, value in block.items() if key != "toolResult"} if parts else block
            if own:
                parts[None] = own
            seat.append({item: self._tile(message, block, part, at, item, pinned) for item, part in parts.items()})
        return seat

    def _tile(self, message: Message, block: Block, part: Block, at: int, item: int | None, pinned: bool) -> int:
        text = part.get("text") if isinstance(part, dict) else None
        # An item is counted as what it is: the content of a tool result.
        cost = self._counter.block_cost(part if item is None else {"toolResult": {"content": [part]}})
        kind = COST_KINDS.index(cost_kind("toolResult" if item is not None else block_kind(part), message.get("role")))
        known = text if isinstance(text, str) else None
        length = cost[1] if known is None else len(known)
        why = self._why(length, pinned) if known is not None else None
        self.tiles.append(Tile(len(self.groups) - 1, at, item, kind, known, length, cost[0], why))
        return len(self.tiles) - 1

    def _why(self, length: int, pinned: bool) -> PassedOver | None:
        if pinned:
            return PassedOver.PINNED
        # Collapsing looks at a message as a whole, so that no text has a reason of its own.
        alone = self._truncation is not None and self._truncation.rule != "collapse"
        return self._truncation.passed_over(length) if self._truncation and alone else None

    def _play(self, edit: Edit) -> None:
        match edit:
            case Pin():
                for index in edit.messages:
                    for tile in _all(self._seats[index]):
                        self._pin(tile)
            case TruncateText():
                self._cut(self._seats[edit.message][edit.block][edit.item], edit)
            case ReplaceImage():
                self._replace(self._seats[edit.message][edit.block][edit.item], Fate.REPLACED, edit.after)
            case ReplaceResult():
                place = self._seats[edit.message][edit.block]
                texts = [item.get("text") for item in result_items(edit.after)]
                first, *others = place.values()
                self._replace(first, Fate.REPLACED, next((text for text in texts if isinstance(text, str)), ""))
                self._gone(others, Fate.REMOVED)
                self._seats[edit.message][edit.block] = {0: first}
            case CollapseTexts():
                self._collapse(edit)
            case DropMessages() | Summarize():
                self._leave(edit)
            case _:
                assert_never(edit)

    def _pin(self, at: int) -> None:
        tile = self.tiles[at]
        if tile.text is not None:
            self._change(at, Fate.PINNED, "", tile.length_now, tile.remains.lost, tile.tokens_now, PassedOver.PINNED)

    def _cut(self, at: int, edit: TruncateText) -> None:
        tile = self.tiles[at]
        tile.remains = tile.remains.after(edit.kept)
        middle = edit.after[tile.remains.head : len(edit.after) - tile.remains.tail]
        tokens = tile.tokens_now + (edit.tokens.difference if edit.tokens else 0)
        length = len(edit.after)
        self._change(at, Fate.CUT, middle, length, edit.lost, tokens, self._why(length, False), edit.rank or 0)

    def _replace(self, at: int, fate: Fate, text: str) -> None:
        tile = self.tiles[at]
        tile.remains = Remains(tile.length, 0, 0)
        lost = tile.length if tile.text is not None else 0
        self._change(at, fate, text, len(text), lost, self._counter.text(text), self._why(len(text), False))

    def _gone(self, tiles: Iterable[int], fate: Fate) -> None:
        for at in tiles:
            tile = self.tiles[at]
            tile.remains = Remains(tile.length, 0, 0)
            self._change(at, fate, "", 0, tile.length if tile.text is not None else 0, 0, None)

    def _collapse(self, edit: CollapseTexts) -> None:
        seat = self._seats[edit.message]
        block, item = edit.first
        self._replace(seat[block][item], Fate.COLLAPSED, edit.after)
        removed = set(edit.removed)
        self._gone([seat[block][item] for block, item in edit.removed], Fate.REMOVED)
        # As in `apply`: a text block that is removed takes its place with it, and items move up within theirs.
        self._seats[edit.message] = [
            _moved_up({item: tile for item, tile in place.items() if (at, item) not in removed})
            for at, place in enumerate(seat)
            if (at, None) not in removed
        ]

    def _leave(self, edit: DropMessages | Summarize) -> None:
        fate = Fate.DROPPED if isinstance(edit, DropMessages) else Fate.SUMMARIZED
        for index in edit.indices:
            self._gone(_all(self._seats[index]), fate)
        summary: Seat = []
        if isinstance(edit, Summarize):
            first = min((self.tiles[at].group for index in edit.indices for at in _all(self._seats[index])), default=0)
            # Between the message that it stands for and the one before; a later summary goes before an earlier one.
            order = self.groups[first].order - 0.5 ** (2 + len(self.groups) - self._messages)
            summary = self._sit(edit.summary, None, False, order)
            for at in _all(summary):
                self._appear(at)
        kept = survivors(edit, len(self._seats))
        self._seats = [summary if at is None else self._seats[at] for at in kept]

    def _appear(self, at: int) -> None:
        tile = self.tiles[at]
        tile.born = True
        self.characters[-1] += tile.length
        self.changes.append(
            Change(len(self.rounds), at, Fate.BORN, tile.length, tile.length, "", tile.length, 0, tile.tokens, tile.why)
        )

    def _change(
        self,
        at: int,
        fate: Fate,
        middle: str,
        length: int,
        lost: int,
        tokens: int,
        why: PassedOver | None,
        rank: int = 0,
    ) -> None:
        tile = self.tiles[at]
        # What is no text counts as text once a text stands in its place.
        text = length if tile.text is not None or fate in (Fate.REPLACED, Fate.COLLAPSED) else 0
        self.characters[-1] += text - tile.text_now
        tile.text_now, tile.length_now, tile.tokens_now = text, length, tokens
        remains = tile.remains
        self.changes.append(
            Change(len(self.rounds), at, fate, remains.head, remains.tail, middle, length, lost, tokens, why, rank)
        )


def _all(seat: Seat) -> list[int]:
    return [tile for place in seat for tile in place.values()]


def _moved_up(place: dict[int | None, int]) -> dict[int | None, int]:
    items = [item for item in place if item is not None]
    new: dict[int | None, int] = {number: place[item] for number, item in enumerate(sorted(items))}
    return new | ({None: place[None]} if None in place else {})
