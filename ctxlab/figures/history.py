"""What became of each message, edit by edit: a trace laid out by the messages of its start.

A trace is a list of edits on conversations that shrink; a picture has one axis, the messages as they were at the start.
Here the one is turned into the other, once, so that any moment can be looked up without replaying. No policy lives here
and nothing is drawn.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import assert_never

import numpy as np
import numpy.typing as npt

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
from ctxlab.messages import Conversation, is_pinned
from ctxlab.reduction import Trace
from ctxlab.replay import apply, survivors
from ctxlab.tokens import COST_KINDS, Ledger

Ints = npt.NDArray[np.int64]

NEVER = np.iinfo(np.int64).max
"""The number of an edit that does not come."""

RESULT = COST_KINDS.index("toolResult")

DEEDS = ("pin", "shorten result", "shorten text", "replace image", "replace result", "summarize", "cut")
"""What edits do, as a story tells it; the columns of `History.deeds`."""


@dataclass(frozen=True, slots=True)
class Cut:
    """One cut by the messages of the start: made by edit ``edit`` (from 1), the conversation then starts at ``index``.

    ``start`` is where its search started. Both are as many as there are messages where they lie behind the last.
    """

    edit: int
    round: int
    index: int
    start: int
    kind: str | None
    anchor: int | None


@dataclass(slots=True)
class Made:
    """What became of a summary: the edits that changed it in place, and the edit with which it went, else NEVER."""

    changes: list[int] = field(default_factory=list)
    gone_at: int = NEVER


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """A trace by the messages of its start. Edits count from 1; 0 is the start, before any edit.

    ``gone_at`` and ``pinned_at`` (length n): the edit at which a message goes or is pinned, else NEVER. ``shortened``
    has a row an edit that changes tokens in place: edit, message, index in COST_KINDS, tokens lost (negative: grown).
    ``tokens`` and ``rounds`` (length edits + 1): tokens, and the number of the round, after each edit. ``ends``: the
    number of edits after each round, from 0 rounds on. ``places``: the message of the start that each edit is about.
    ``deeds`` (edits + 1 rows, a column each of DEEDS): how often each was done, up to each edit. ``summaries`` has what
    became of each summary, by the edit that made it.
    """

    ledger: Ledger
    edits: tuple[Edit, ...]
    gone_at: Ints
    pinned_at: Ints
    shortened: Ints
    tokens: Ints
    rounds: Ints
    ends: tuple[int, ...]
    cuts: tuple[Cut, ...]
    places: tuple[int, ...]
    deeds: Ints
    summaries: Mapping[int, Made]

    @property
    def costs(self) -> Ints:
        """Tokens at the start, a row a message, a column a kind of COST_KINDS."""
        return np.array(self.ledger.kinds, dtype=np.int64).reshape(-1, len(COST_KINDS))

    def lost(self, edit: int) -> Ints:
        """Return the tokens cut away in place up to an edit, in the shape of `costs`."""
        table = np.zeros((len(self.gone_at), len(COST_KINDS)), dtype=np.int64)
        done = self.shortened[self.shortened[:, 0] <= edit]
        np.add.at(table, (done[:, 1], done[:, 2]), done[:, 3])
        return table

    def cut(self, edit: int) -> Cut | None:
        """Return the last cut made up to an edit."""
        made = bisect_right(self.cuts, edit, key=lambda cut: cut.edit)
        return self.cuts[made - 1] if made else None


def history(trace: Trace, ledger: Ledger) -> History:
    """Lay out a trace by the messages of its start; ``ledger`` is of these messages."""
    walk = _Walk(trace.start, ledger)
    ends = [0]
    for round in trace.rounds:
        for edit in round.edits:
            walk.take(edit, round.number)
        ends.append(len(walk.tokens) - 1)
    shortened = np.array(walk.shortened, dtype=np.int64).reshape(-1, 4)
    return History(
        ledger,
        trace.edits,
        np.array(walk.gone_at, dtype=np.int64),
        np.array(walk.pinned_at, dtype=np.int64),
        shortened,
        np.array(walk.tokens, dtype=np.int64),
        np.array(walk.rounds, dtype=np.int64),
        tuple(ends),
        tuple(walk.cuts),
        tuple(walk.places),
        np.cumsum([[0] * len(DEEDS), *(_deed_row(edit) for edit in trace.edits)], axis=0),
        walk.summaries,
    )


def _deed_row(edit: Edit) -> list[int]:
    deed = _deed(edit)
    return [int(deed == name) for name in DEEDS]


def _deed(edit: Edit) -> str:
    match edit:
        case Pin():
            return "pin"
        case TruncateText():
            return "shorten text" if edit.item is None else "shorten result"
        case CollapseTexts():
            return "shorten text"
        case ReplaceImage():
            return "replace image"
        case ReplaceResult():
            return "replace result"
        case Summarize():
            return "summarize"
        case DropMessages():
            return "cut"
        case _:
            assert_never(edit)


def local_place(edit: Edit) -> int:
    """Return the message that an edit is about, as the conversation before it counts."""
    match edit:
        case Pin():
            return edit.messages[0]
        case TruncateText() | ReplaceImage() | ReplaceResult() | CollapseTexts():
            return edit.message
        case DropMessages():
            return edit.trim_point
        case Summarize():
            return edit.split_point
        case _:
            assert_never(edit)


class _Walk:
    """The walk over the edits: where each message of the running state was at the start, and what befell it.

    A summary has no place at the start; its origin is the number of the edit that made it, negative.
    """

    def __init__(self, start: Conversation, ledger: Ledger) -> None:
        self.start = start
        self.kinds = ledger.kinds
        self.origins: Sequence[int] = range(len(start))
        self.summaries: dict[int, Made] = {}
        self.gone_at: list[int] = [NEVER] * len(start)
        self.pinned_at: list[int] = [0 if is_pinned(start, index) else NEVER for index in range(len(start))]
        self.shortened: list[tuple[int, int, int, int]] = []
        self.tokens = [ledger.total]
        self.rounds = [0]
        self.cuts: list[Cut] = []
        self.places: list[int] = []

    def take(self, edit: Edit, round: int) -> None:
        number = len(self.tokens)
        self.tokens.append(self.tokens[-1] + (edit.tokens.difference if edit.tokens else 0))
        self.rounds.append(round)
        self.places.append(self._place(local_place(edit)))
        match edit:
            case Pin():
                # The first edit of a trace, so the state is the start. A pin holds for the partner of a tool call too.
                after = apply(self.start, edit)
                for index in range(len(after)):
                    if is_pinned(after, index):
                        self.pinned_at[index] = min(self.pinned_at[index], number)
            case TruncateText() | ReplaceImage() | ReplaceResult() | CollapseTexts():
                if self.origins[edit.message] < 0:
                    self.summaries[-self.origins[edit.message]].changes.append(number)
                for origin in self._found((edit.message,)):
                    saved = -edit.tokens.difference if edit.tokens else 0
                    self.shortened.append((number, origin, self._kind(edit, origin), saved))
            case DropMessages():
                anchor = None if edit.anchor is None else self.origins[edit.anchor]
                places = (self._place(edit.trim_point), self._place(edit.start))
                self.cuts.append(Cut(number, round, *places, edit.kind, anchor))
                self._leave(edit, number)
            case Summarize():
                self.summaries[number] = Made()
                split = self._place(edit.split_point)
                self.cuts.append(Cut(number, round, split, split, "summary", None))
                self._leave(edit, number)
            case _:
                assert_never(edit)

    def _leave(self, edit: DropMessages | Summarize, number: int) -> None:
        for index in edit.indices:
            if self.origins[index] < 0:
                self.summaries[-self.origins[index]].gone_at = number
            else:
                self.gone_at[self.origins[index]] = number
        kept = survivors(edit, len(self.origins))
        if isinstance(kept, range):
            self.origins = self.origins[kept.start :]
        else:
            self.origins = [-number if index is None else self.origins[index] for index in kept]

    def _found(self, indices: Sequence[int]) -> Iterator[int]:
        for index in indices:
            origin = self.origins[index]
            if origin >= 0:
                yield origin

    def _place(self, index: int) -> int:
        """Return where an index of the running state lies at the start; behind summaries, that of the next message."""
        return next((origin for origin in self.origins[index:] if origin >= 0), len(self.start))

    def _kind(self, edit: Edit, origin: int) -> int:
        if isinstance(edit, ReplaceImage | ReplaceResult) or (isinstance(edit, TruncateText) and edit.item is not None):
            return RESULT
        # A text of the message itself; a collapse is put down to what the message has most of.
        if isinstance(edit, CollapseTexts):
            return int(np.argmax(self.kinds[origin]))
        role = self.start[origin].get("role")
        return COST_KINDS.index(f"{role} text") if role in ("user", "assistant") else COST_KINDS.index("other")
