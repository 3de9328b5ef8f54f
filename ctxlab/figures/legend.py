"""The legend of the timeline, below the picture: only what occurs in it, every colour with its word.

As entries for whoever draws it, and as HTML.
"""

from collections.abc import Iterator
from typing import NamedTuple

from ctxlab.escaping import html
from ctxlab.figures.moment import Subject
from ctxlab.figures.palette import COLOURS, MARKS, PINNED_SIGN
from ctxlab.figures.present import free_media, pinned_messages, verdicts


class Entry(NamedTuple):
    """Words, and what they explain: a ``sign`` ("" for a filled square, "/" for a hatched one) of a ``colour``.

    ``colour`` is what CSS calls one, "" where there is nothing but words.
    """

    words: str
    sign: str = ""
    colour: str = ""


def entries(subject: Subject) -> Iterator[Entry]:
    """Yield the legend of a subject, and what its marks stand for where that is not one message each."""
    for kind in subject.kinds:
        yield Entry(kind, "", _themed(kind, COLOURS[kind]))
    if free_media(subject):
        yield Entry("media, counted as 0", "■", _themed("media", COLOURS["media"]))
    if pinned_messages(subject):
        yield Entry("pinned", PINNED_SIGN, _themed("pinned", "currentColor"))
    for verdict in verdicts(subject):
        mark = MARKS[verdict]
        yield Entry(mark.word, mark.sign, _themed(mark.symbol, mark.colour))
    yield Entry("filled: what stays fits the budget")
    yield Entry("hatched: goes", "/", "currentColor")
    if subject.marks.size > 1:
        yield Entry(f"a mark stands for {subject.marks.size:,} messages: ▲ before ◆ before ×")


def legend(subject: Subject) -> str:
    """Return the legend of a subject as HTML."""
    items = "".join(f"<span>{_swatch(entry)}{html(entry.words)}</span>" for entry in entries(subject))
    return f'<div class="ctxlab-legend">{items}</div>'


def _swatch(entry: Entry) -> str:
    if not entry.colour:
        return ""
    if entry.sign == "/":
        return '<span class="ctxlab-swatch hatched"></span>'
    if entry.sign:
        return f'<span class="ctxlab-swatch sign" style="color:{entry.colour}">{entry.sign}</span>'
    return f'<span class="ctxlab-swatch" style="background:{entry.colour}"></span>'


def _themed(name: str, colour: str) -> str:
    """Return the colour, unless the theme has a lighter one of the same hue."""
    return f"var(--ctxlab-{name.replace(' ', '-')}, {colour})"
