"""What a picture is of: a `Subject` that stays while the budget moves, and a `Moment` of it under one budget.

Everything that is drawn, hovered over or read aloud about single messages is looked up here, so that picture, table and
text cannot disagree. Nothing is drawn here, and no verdict is made here: they come with the trim points.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ctxlab.figures.grouping import Groups
from ctxlab.figures.history import NEVER, Cut, History, Ints
from ctxlab.figures.palette import STACK
from ctxlab.messages import Conversation
from ctxlab.tokens import COST_KINDS, Ledger
from ctxlab.trimming import TrimPoint

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Subject:
    """A conversation under one policy, seen from message ``first`` up to, not including, ``last``.

    ``points`` has the policy's verdict on every index wherever its search starts. ``pins``: the policy knows pins.
    Not slotted: what is looked up again and again is kept.
    """

    messages: Conversation = field(repr=False)
    ledger: Ledger = field(repr=False)
    points: tuple[TrimPoint, ...] = field(repr=False)
    history: History = field(repr=False)
    pins: bool
    first: int
    last: int

    @cached_property
    def bars(self) -> Groups:
        """The messages that each bar stands for."""
        return Groups.bars(self.first, self.last)

    @cached_property
    def marks(self) -> Groups:
        """The messages that each mark stands for."""
        return Groups.marks(self.first, self.last)

    @cached_property
    def costs(self) -> Ints:
        """Tokens at the start: a row a message, a column a kind."""
        return self.history.costs

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of content in sight that cost anything, in the order in which bars are stacked."""
        totals = self.costs[self.first : self.last].sum(axis=0).tolist()
        return tuple(kind for kind in STACK if totals[COST_KINDS.index(kind)])

    @cached_property
    def pinned_tokens(self) -> Ints:
        """Tokens of pinned messages before each index (length n): they stay wherever the cut is."""
        pinned = self.history.pinned_at < NEVER if self.pins else np.zeros(len(self.messages), dtype=bool)
        own = np.where(pinned, np.array(self.ledger.per_message, dtype=np.int64), 0)
        before: Ints = np.cumsum(own) - own
        return before

    @cached_property
    def suffix(self) -> Ints:
        """Tokens from each index to the end, with the pins before it, as long as nothing was cut in place."""
        return np.array(self.ledger.suffix, dtype=np.int64) + self.pinned_tokens

    @cached_property
    def last_user(self) -> int:
        """The last plain user message that the policy would start at, -1 where there is none."""
        return next((point.index for point in reversed(self.points) if point.kind == "user"), -1)

    @cached_property
    def chosen(self) -> tuple[int, ...]:
        """The message that each mark is drawn at: the first of the best verdict in its group."""
        rank = {"user": 0, "tool_pair": 1, "any": 2, None: 3}
        starts, ends = self.marks.starts.tolist(), self.marks.ends.tolist()
        spans = zip(starts, ends, strict=True)
        return tuple(min(range(a, b), key=lambda index: rank[self.points[index].kind]) for a, b in spans)


@dataclass(frozen=True, eq=False)
class Moment:
    """A subject under a budget in tokens after so many edits of its history; ``start``: where a search starts now.

    ``focus`` is the message in focus, ``start`` None where the policy does not search.
    """

    subject: Subject = field(repr=False)
    budget: int
    edit: int
    start: int | None
    focus: int | None = None

    @cached_property
    def gone(self) -> Bools:
        """Whether each message is gone."""
        return self.subject.history.gone_at <= self.edit

    @cached_property
    def lost(self) -> Ints:
        """Tokens cut away in place: a row a message, a column a kind."""
        return self.subject.history.lost(self.edit)

    @cached_property
    def is_shortened(self) -> bool:
        """Whether anything has been cut in place."""
        shortened = self.subject.history.shortened
        return bool(len(shortened)) and int(shortened[0, 0]) <= self.edit

    @cached_property
    def suffix(self) -> Ints:
        """Tokens if the conversation started at each index (length n), after the cuts in place, with the pins."""
        if not self.is_shortened:
            return self.subject.suffix
        now = (self.subject.costs - self.lost).sum(axis=1)
        return np.cumsum(now[::-1])[::-1] + self.subject.pinned_tokens

    @cached_property
    def cut(self) -> Cut | None:
        """The last cut made."""
        return self.subject.history.cut(self.edit)

    @property
    def tokens(self) -> int:
        """Tokens of the conversation now."""
        return int(self.subject.history.tokens[self.edit])

    @cached_property
    def staying(self) -> int:
        """Messages of the start that are still there."""
        return int(len(self.gone) - np.count_nonzero(self.gone))

    @cached_property
    def gone_tokens(self) -> int:
        """Tokens that have gone, with messages and by shortening, as counted from the start."""
        return self.subject.ledger.total - self.tokens

    @cached_property
    def gaps(self) -> tuple[tuple[int, int], ...]:
        """The runs of messages that are gone, each from its first to, not including, its end."""
        edges = np.flatnonzero(np.diff(np.concatenate(([False], self.gone, [False])).astype(np.int8)))
        return tuple(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))

    def fits(self, index: int) -> bool:
        """Say whether what would stay fits the budget if the conversation started at a message."""
        return int(self.suffix[index]) <= self.budget

    def is_before_start(self, index: int) -> bool:
        """Say whether the search starts only after a message."""
        return self.start is not None and index < self.start
