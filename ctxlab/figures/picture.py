"""The timeline as a record: every number, place and word that a drawing of it needs, ready to be sent as JSON.

`picture` holds what stays while budget, step and focus move, `now` what they change; a slider move sends `now` alone.
The widget and the plotly figure draw these records and decide nothing. Nothing is drawn here.
"""

from typing import TypedDict

import numpy as np

from ctxlab.figures.history import Ints
from ctxlab.figures.moment import Moment, Subject
from ctxlab.figures.palette import COLOURS, MARKS
from ctxlab.figures.present import free_media, highest, pinned_messages
from ctxlab.figures.words import about, hover_group, plural
from ctxlab.tokens import COST_KINDS

HEADROOM = 1.3
"""How much higher than what it shows a picture is, so that labels stand above all bars and marks."""


class Stack(TypedDict):
    """One kind of content: its colour, and tokens at the start for each bar."""

    kind: str
    colour: str
    tokens: list[int]


class MarkStyle(TypedDict):
    """How one kind of verdict is drawn."""

    symbol: str
    colour: str
    word: str


class Picture(TypedDict):
    """What holds at every moment of a subject. Bars cover the messages from ``first`` up to ``last``, ``size`` each.

    ``marks`` are (message, number in ``styles``); ``hover`` has the lines for each bar; ``top`` and ``ceiling`` are the
    heights of the two pictures in tokens.
    """

    first: int
    last: int
    count: int
    size: int
    stacks: list[Stack]
    styles: list[MarkStyle]
    marks: list[tuple[int, int]]
    pinned: list[int]
    media: list[int]
    hover: list[str]
    top: float
    ceiling: float
    above: str
    below: str


class Heights(TypedDict):
    """Tokens if the conversation started at the first message of each bar, and at each mark."""

    line: list[int]
    marks: list[int]


class Now(TypedDict):
    """What a moment looks like. ``gaps`` are runs of messages that are gone, from the first up to the last.

    ``lost`` are (bar, number in ``stacks``, tokens cut away in place); ``fits`` has for each mark, ``room`` for each
    bar, a 1 where what would stay there fits the budget. ``start`` and ``cut`` are -1 where there is none.
    """

    budget: int
    gaps: list[tuple[int, int]]
    lost: list[tuple[int, int, int]]
    fits: str
    room: str
    start: int
    cut: int
    focus: int
    start_label: str
    cut_label: str
    budget_label: str
    about: list[str]


def picture(subject: Subject) -> Picture:
    """Return the lasting part of the timeline."""
    bars = subject.bars
    costs = bars.sums(subject.costs)
    kinds = list(MARKS)
    size = bars.size
    return {
        "first": subject.first,
        "last": subject.last,
        "count": len(subject.messages),
        "size": size,
        "stacks": [
            {"kind": kind, "colour": COLOURS[kind], "tokens": costs[:, COST_KINDS.index(kind)].tolist()}
            for kind in subject.kinds
        ],
        "styles": [{"symbol": mark.symbol, "colour": mark.colour, "word": mark.word} for mark in MARKS.values()],
        "marks": [(index, kinds.index(subject.points[index].kind)) for index in subject.chosen],
        "pinned": pinned_messages(subject),
        "media": free_media(subject),
        "hover": ["\n".join(hover_group(subject, bars, number)) for number in range(len(bars))],
        "top": HEADROOM * highest(subject),
        "ceiling": _ceiling(subject),
        "above": "Tokens per message" if size == 1 else f"Tokens per group of {size:,} messages",
        "below": "Tokens if the conversation starts here",
    }


def heights(moment: Moment) -> Heights:
    """Return the heights of line and marks: they change only where a text was cut in place."""
    subject = moment.subject
    return {
        "line": moment.suffix[subject.bars.starts].tolist(),
        "marks": moment.suffix[np.array(subject.chosen, dtype=np.int64)].tolist(),
    }


def now(moment: Moment) -> Now:
    """Return the part of the timeline that budget, step and focus change."""
    subject = moment.subject
    cut = moment.cut
    above = "" if moment.budget <= _ceiling(subject) else " (above this picture)"
    return {
        "budget": moment.budget,
        "gaps": [
            (max(first, subject.first), min(end, subject.last))
            for first, end in moment.gaps
            if first < subject.last and end > subject.first
        ],
        "lost": _lost(moment) if moment.is_shortened else [],
        "fits": _flags(moment, np.array(subject.chosen, dtype=np.int64)),
        "room": _flags(moment, subject.bars.starts),
        "start": -1 if moment.start is None else moment.start,
        "cut": cut.index if cut else -1,
        "focus": -1 if moment.focus is None else moment.focus,
        "start_label": f"search starts at {moment.start:,}" if moment.start is not None else "",
        "cut_label": _cut_label(moment),
        "budget_label": f"budget {moment.budget:,}{above}",
        "about": list(about(moment, moment.focus)) if moment.focus is not None else [],
    }


def _flags(moment: Moment, where: Ints) -> str:
    return "".join("1" if fits else "0" for fits in (moment.suffix[where] <= moment.budget).tolist())


def _lost(moment: Moment) -> list[tuple[int, int, int]]:
    subject = moment.subject
    columns = [COST_KINDS.index(kind) for kind in subject.kinds]
    lost = subject.bars.sums(moment.lost)[:, columns]
    return [(int(bar), int(stack), int(lost[bar, stack])) for bar, stack in np.argwhere(lost)]


def _cut_label(moment: Moment) -> str:
    cut = moment.cut
    if cut is None:
        return ""
    gone = len(moment.gone) - moment.staying
    if cut.kind == "summary":
        return f"up to {cut.index:,}: {plural(gone, 'message')} in a stand-in summary"
    return f"cut at {cut.index:,}: {plural(gone, 'message')} and {moment.gone_tokens:,} tokens go"


def _ceiling(subject: Subject) -> float:
    if subject.last <= subject.first:
        return 1.0
    most = subject.ledger.suffix[subject.first] + int(subject.pinned_tokens[subject.first])
    return HEADROOM * max(1.0, most)
