"""The record of the timeline and of the table: what each stop of a trace looks like, and the words for each message.

There are as many stops as room allows; what is left out is said. Plain data for JSON; nothing is drawn here.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ctxlab.escaping import visible
from ctxlab.figures.candidates import COLUMNS, LABEL, PAGE, candidate
from ctxlab.figures.legend import entries
from ctxlab.figures.moment import Subject
from ctxlab.figures.picture import heights, now, picture
from ctxlab.figures.story import last_words, step_sentence
from ctxlab.figures.words import about, plural
from ctxlab.report.contents import Contents, Progress, Stop
from ctxlab.report.packing import Packed

STOPS = 60
"""Stops of a trace that are shown, at most."""

NEAR = 120
"""Messages in the picture of what is near the focus: each has a bar and a mark of its own."""

TOLD = 500
"""Rows between two reports of progress: about 0.1 s."""

ROWS = 60_000
"""Rows over all stops, about: with ten thousand messages there are six stops."""


def stops(contents: Contents, most: int) -> list[Stop]:
    """Return the stops to show: start, end and each edit between, or of more than ``most`` some ends of rounds."""
    last = contents.last
    places: Sequence[int] = range(last.edit + 1)
    room = max(2, most - last.failed)
    if len(places) > room:
        places = contents.subject.history.ends
    if len(places) > room:
        places = [places[number * (len(places) - 1) // (room - 1)] for number in range(room)]
    # A round that did nothing ends where the one before ends.
    shown = [Stop(edit) for edit in dict.fromkeys((*places, last.edit))]
    return [*shown, last] if last.failed else shown


def all_stops(contents: Contents) -> int:
    """Return how many stops the trace has."""
    return contents.last.edit + 1 + contents.last.failed


def moments_record(
    contents: Contents, most: int, window: range, progress: Progress = lambda what, done, of: None
) -> dict[str, Any]:
    """Return the record of pictures and table at no more than about ``most`` stops.

    Each stop has for each picture what it looks like. ``window`` are the messages that have a row. The rows of a stop
    are those that differ from the stop before, each as (message, template, numbers).
    """
    subjects, packed = _subjects(contents), Packed()
    chosen = stops(contents, most)
    before: dict[int, tuple[int, ...]] = {}
    found: list[dict[str, Any]] = []
    known_heights: Any = None
    for number, stop in enumerate(chosen):
        moment = contents.moment(stop)
        changed = []
        for index in window:
            if (index - window.start) % TOLD == 0:
                done = number * len(window) + index - window.start
                progress("Writing what each step looks like", done, len(chosen) * len(window))
            row = packed.row([*candidate(moment, index), *about(moment, index)])
            if before.get(index) != row:
                before[index] = row
                changed.append((index, *row))
        moments = [replace(moment, subject=subject) for subject in subjects]
        high = list(map(heights, moments))
        found.append(
            {
                "edit": stop.edit,
                "where": _where(contents, stop),
                "sentence": _sentence(contents, stop),
                "now": list(map(now, moments)),
                # Heights change only where a text was cut in place.
                "heights": None if high == known_heights else high,
                "rows": changed,
            }
        )
        known_heights = high
    count = len(contents.messages)
    return {
        "pictures": [
            {
                "picture": picture(subject),
                "legend": list(entries(subject)),
                "shown": subject.bars.sentence(count, "the table below has a row for each message"),
            }
            for subject in subjects
        ],
        "label": f"Timeline of {plural(count, 'message')}: what each costs, and what is left if the conversation "
        "starts there. Arrow keys move the message in focus.",
        "stops": found,
        "table": {
            "columns": COLUMNS,
            "page": PAGE,
            "label": LABEL,
            "first": window.start,
            "end": window.stop,
            "templates": packed.templates,
        },
    }


def _subjects(contents: Contents) -> list[Subject]:
    """Return what there are pictures of: the whole, and where that is drawn in groups, the messages near the focus."""
    whole = contents.subject
    if whole.bars.size == 1:
        return [whole]
    first = max(0, min(contents.focus - NEAR // 2, len(whole.messages) - NEAR))
    return [whole, replace(whole, first=first, last=first + NEAR)]


def _where(contents: Contents, stop: Stop) -> str:
    last = all_stops(contents) - 1
    if not last:
        return "no step: it fits"
    rounds = len(contents.trace.rounds)
    number = int(contents.subject.history.rounds[stop.edit])
    round = f", round {number:,} of {rounds:,}" if rounds and stop.edit else ""
    return f"step {stop.edit + stop.failed:,} of {last:,}{round}"


def _sentence(contents: Contents, stop: Stop) -> str:
    if stop.failed:
        return visible(" ".join(last_words(contents.shown, contents.policy_name)))
    return visible(step_sentence(contents.moment(stop)))
