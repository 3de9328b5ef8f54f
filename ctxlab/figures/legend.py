"""The legend of the timeline as HTML, below the picture: only what occurs in it, every colour with its word."""

from collections.abc import Iterator

from ctxlab.escaping import html
from ctxlab.figures.moment import Subject
from ctxlab.figures.palette import COLOURS, MARKS, PINNED_SIGN
from ctxlab.figures.present import free_media, pinned_messages, verdicts


def legend(subject: Subject) -> str:
    """Return the legend of a subject, and what its bars and marks stand for where that is not one message each."""
    items = "".join(f"<span>{item}</span>" for item in _items(subject))
    return f'<div class="ctxlab-legend">{items}</div>'


def _items(subject: Subject) -> Iterator[str]:
    for kind in subject.kinds:
        yield f"{_swatch(kind, COLOURS[kind])}{html(kind)}"
    if free_media(subject):
        yield f"{_sign('■', 'media', COLOURS['media'])}media, counted as 0"
    if pinned_messages(subject):
        yield f"{_sign(PINNED_SIGN, 'pinned', 'currentColor')}pinned"
    for verdict in verdicts(subject):
        mark = MARKS[verdict]
        yield f"{_sign(mark.sign, mark.symbol, mark.colour)}{html(mark.word)}"
    yield "filled: what stays fits the budget"
    yield '<span class="ctxlab-swatch hatched"></span>hatched: goes'
    if subject.marks.size > 1:
        yield f"a mark stands for {subject.marks.size:,} messages: ▲ before ◆ before ×"


def _swatch(name: str, colour: str) -> str:
    return f'<span class="ctxlab-swatch" style="background:{_themed(name, colour)}"></span>'


def _sign(sign: str, name: str, colour: str) -> str:
    return f'<span class="ctxlab-swatch sign" style="color:{_themed(name, colour)}">{sign}</span>'


def _themed(name: str, colour: str) -> str:
    """Return the colour, unless the theme has a lighter one of the same hue."""
    return f"var(--ctxlab-{name.replace(' ', '-')}, {colour})"
