"""What occurs in a subject and therefore has a bar, a mark and a place in the legend."""

import numpy as np

from ctxlab.figures.history import NEVER
from ctxlab.figures.moment import Subject
from ctxlab.figures.palette import MARKS
from ctxlab.messages import block_kind, blocks
from ctxlab.tokens import COST_KINDS
from ctxlab.trimming import TrimKind


def verdicts(subject: Subject) -> tuple[TrimKind | None, ...]:
    """Return the kinds of verdict that occur, in the order of the legend."""
    found = {point.kind for point in subject.points}
    return tuple(kind for kind in MARKS if kind in found)


def pinned_messages(subject: Subject) -> list[int]:
    """Return the messages in sight that are pinned at the start or become so."""
    if not subject.pins:
        return []
    at = subject.history.pinned_at[subject.first : subject.last]
    return [subject.first + int(index) for index in np.flatnonzero(at < NEVER)]


def free_media(subject: Subject) -> list[int]:
    """Return the messages in sight that hold media, which are counted as 0 and so have no bar."""
    media = COST_KINDS.index("media")
    return [
        index
        for index in range(subject.first, subject.last)
        if not subject.ledger.kinds[index][media]
        and any(block_kind(block) in ("image", "document", "video") for block in blocks(subject.messages[index]))
    ]


def highest(subject: Subject) -> float:
    """Return the height of the highest bar in tokens, at least 1."""
    return max(1.0, float(subject.bars.sums(subject.costs).sum(axis=1).max(initial=0)))
