"""The record of the matrix: rows of trim points against providers, in pages, and all that is said of each cell.

Of a long conversation only the trim points around one message are judged, and the record says so. A cell is a verdict
of `MatrixPicture`; nothing is judged or drawn here.
"""

from typing import Any

from ctxlab.escaping import one_line
from ctxlab.figures.matrix import ASKING, END, PAGE, WHOLE, Detail, MatrixPicture, Sight, columns
from ctxlab.report.contents import Progress

EVERY = 120
"""Messages up to which each has a row."""

PAGES = 4
"""Pages of trim points in a longer conversation, at most."""

WORK = 60_000
"""Messages that are judged for all rows, about: what would mend a row is tried out on all that would stay."""

LONGEST = 700
"""Characters of one sentence; some hold what a provider or a tool says."""


def matrix_record(matrix: MatrixPicture, around: int, progress: Progress) -> dict[str, Any]:
    """Return the pages of rows around a message, and for each cell which of the ``texts`` are said of it, in order."""
    pages = _pages(matrix, around)
    keys = [WHOLE, END, *(row["key"] for page in pages for row in page["rows"] if row["key"] >= 0)]
    texts: dict[tuple[Any, ...], int] = {}
    cells: dict[int, list[list[int]]] = {}
    for done, key in enumerate(dict.fromkeys(keys)):
        said = []
        for column, name in enumerate(matrix.names):
            progress(ASKING, done * len(matrix.names) + column, len(keys) * len(matrix.names))
            said.append(details(matrix, key, name))
        cells[key] = [[texts.setdefault(tuple(one.items()), len(texts)) for one in cell] for cell in said]
    return {
        "columns": columns(),
        "headline": matrix.headline,
        "bad": any(found.status != "accepted" for found in matrix.end),
        "pages": pages,
        "texts": list(map(dict, texts)),
        "cells": cells,
    }


def details(matrix: MatrixPicture, key: int, name: str, longest: int = LONGEST) -> list[Detail]:
    """Return what is said of a cell, fit to be shown, each sentence up to so many characters."""
    found = matrix.details(key, name)
    for one in found:
        one["text"] = one_line(one["text"], longest)
    return found


def _pages(matrix: MatrixPicture, around: int) -> list[Sight]:
    every = len(matrix.points) <= EVERY
    listed = range(len(matrix.points)) if every else matrix.candidates
    if not listed:
        return [matrix.sight(-1, every=every)]
    place = next((at for at, index in enumerate(listed) if index >= around), len(listed) - 1)
    most = len(listed) if every else max(1, min(PAGES, WORK // len(matrix.points) // PAGE))
    first = 0 if every else max(0, place // PAGE - most // 2)
    numbers = range(first, min(first + most, -(-len(listed) // PAGE)))
    shown = [matrix.sight(listed[number * PAGE], every=every) for number in numbers]
    held = len({row["key"] for sight in shown for row in sight["rows"] if row["key"] >= 0})
    less = "" if every or held >= len(listed) else f" This page holds {held:,} of them, around message {around:,}."
    total = (len(shown) - 1) * PAGE + len(shown[-1]["rows"]) - 2
    for number, sight in enumerate(shown):
        sight["first"], sight["total"] = number * PAGE, total
        sight["sentence"] += less
    return shown
