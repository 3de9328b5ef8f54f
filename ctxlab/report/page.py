"""The page of a session under a policy: what it is made of, written small enough to be attached to an issue.

Each part has its share of the room; where it does not fit, it shows less, and the page says so.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from ctxlab.comparison import Lane, Policy
from ctxlab.escaping import visible
from ctxlab.figures.animation import MOST_TILES
from ctxlab.figures.matrix import MatrixPicture
from ctxlab.figures.playing import rounds_record
from ctxlab.figures.words import plural
from ctxlab.reduction import Trace
from ctxlab.report.contents import Contents, Progress, contents
from ctxlab.report.document import document, to_json
from ctxlab.report.markup import ROUNDS, body
from ctxlab.report.moments import ROWS, STOPS, all_stops, moments_record
from ctxlab.report.verdicts import matrix_record
from ctxlab.sessions import Session
from ctxlab.takeaway import Artifact
from ctxlab.tokens import Ledger, TokenCounter

ROOM = {"moments": 2_400_000, "rounds": 2_400_000}
"""Bytes of the page for the two parts that grow with a session; styles, scripts and the rest take less than 600,000."""

TILES = (MOST_TILES, 3_000, 1_000, 300)
"""Tiles of the rounds, at most: tried in turn until the record has room."""

LONGEST_NAME = 80
"""Characters of the name of a session in the name of a file."""

_ENDING = re.compile(r"\.(?:jsonl?|eval|zip|ndjson)\Z", re.IGNORECASE)
_PLAIN = re.compile(r"[^A-Za-z0-9._]+")


def html_page(
    session: Session,
    manager: Policy,
    budget: int,
    counter: TokenCounter,
    redacted: bool = True,
    names: Iterable[str] = (),
    progress: Progress | None = None,
    *,
    bill: Ledger | None = None,
    trace: Trace | None = None,
    lanes: tuple[Lane, ...] | None = None,
    words: bool = True,
) -> Artifact:
    """Return one HTML page of what a policy does to a session under a budget in tokens, under 6 MB.

    Words are redacted unless asked not to, and without ``names``; without ``words`` all of them become filler. Numbers
    stay those of the session. ``bill``, ``trace`` and ``lanes`` (`compare`) are what is known of the same session,
    policy and budget already. Raises ValueError for a session without messages, and what ``progress`` raises to stop.
    """
    told = progress or _quiet
    if not session.messages:
        raise ValueError(f"there is no message in the view {session.view!r} of {session.name!r}")
    found = contents(session, manager, budget, counter, redacted, names, told, bill, trace, lanes, words)
    matrix = MatrixPicture(found.subject.points, manager, found.shown, told)
    shortened: list[str] = []
    rounds, lines = _rounds(found, shortened, told)
    record = {
        "moments": _moments(found, shortened, told),
        "rounds": rounds,
        "verdicts": to_json(matrix_record(matrix, found.focus, told)),
        "focus": f"{found.focus}",
    }
    joined = "{" + ",".join(f'"{name}":{part}' for name, part in record.items()) + "}"
    text = document(f"{found.name}: ctxlab", body(found, matrix, lines, shortened), joined)
    about = (
        f"One page of {len(text.encode()) // 1000:,} KB: {plural(len(session.messages), 'message')}, "
        f"{plural(len(found.trace.edits), 'edit')} in {plural(len(found.trace.rounds), 'round')}.",
        *shortened,
    )
    return Artifact(_file_name(found), "text/html", text, about, found.redaction)


def _file_name(found: Contents) -> str:
    """Return session and release as the name of a file, in characters that every system takes."""
    name = _ENDING.sub("", found.name)
    parts = (
        _PLAIN.sub("-", part)[:LONGEST_NAME].strip("-.") for part in (name, found.policy.name.removeprefix("Strands "))
    )
    return "-".join(filter(None, parts)) + ".html"


def _quiet(what: str, done: int, of: int) -> None:
    """Say nothing."""


def _rounds(found: Contents, shortened: list[str], progress: Progress) -> tuple[str, Sequence[str]]:
    """Return the record of the rounds as JSON, and the first of them in words."""
    progress("Writing the rounds", 0, 1)
    shown = found.shown if found.redaction and found.redaction.count else None
    record, text = {}, ""
    for tiles in TILES:
        record = _told(rounds_record(found.trace, found.policy, found.counter, shown, tiles))
        progress("Writing the rounds", 0, 1)
        text = to_json(record)
        if len(text.encode()) <= ROOM["rounds"]:
            break
    rounds = record["rounds"]
    played = total = len(rounds["limit"])
    while len(text.encode()) > ROOM["rounds"] and played:
        played //= 2
        text = to_json(_first_rounds(record, played))
    if record["hidden"]:
        shortened.append(f"{record['hidden']:,} of the smallest blocks share tiles.")
    if any(sum(len(part) for _, part in one) < size for one, size in _texts(record)):
        shortened.append("Long texts are shown around their cuts and at their ends.")
    if played < total:
        shortened.append(f"The rounds play the first {played:,} of {total:,}.")
    told = list(zip(rounds["lead"], rounds["words"], rounds["after"], strict=True))
    lines = [" ".join(filter(None, one)) for one in told[: ROUNDS + 1]]
    if len(told) > len(lines):
        lines.append(f"… and {len(told) - len(lines):,} more rounds")
    return text, lines if total else ()


def _texts(record: dict[str, Any]) -> Iterable[tuple[list[tuple[int, str]], int]]:
    tiles = record["tiles"]
    columns = zip(tiles["excerpt"], tiles["length"], tiles["text"], tiles["count"], strict=True)
    return ((excerpt, length) for excerpt, length, is_text, number in columns if is_text and number == 1)


def _told(record: dict[str, Any]) -> dict[str, Any]:
    """Return what a player shows of a record, with sentences fit to be shown; excerpts have their own signs."""
    rounds = record["rounds"]
    words = {name: list(map(visible, rounds[name])) for name in ("lead", "words", "after")}
    steps = {name: record["steps"][name] for name in ("round", "tokens", "characters")}
    return {**record, "steps": steps, "rounds": {**rounds, **words}}


def _first_rounds(record: dict[str, Any], played: int) -> dict[str, Any]:
    """Return the record of the first rounds alone."""
    rounds, steps = record["rounds"], record["steps"]
    end = rounds["end"][played]
    longer = ("end", "lead", "words", "after")
    return {
        **record,
        "changes": [change for change in record["changes"] if change[0] <= end],
        "steps": {name: values[: end + (name in ("tokens", "characters"))] for name, values in steps.items()},
        "rounds": {name: values[: played + (name in longer)] for name, values in rounds.items()},
    }


def _moments(found: Contents, shortened: list[str], progress: Progress) -> str:
    """Return the record of timeline and table as JSON, with as many stops, then as many rows, as there is room for."""
    count = len(found.messages)
    window, most = range(count), max(2, min(STOPS, ROWS // count))
    while True:
        record = moments_record(found, most, window, progress)
        text = to_json(record)
        if len(text.encode()) <= ROOM["moments"] or (most <= 2 and len(window) <= 1):
            break
        if most > 2:
            most = max(2, most // 2)
        else:
            half = len(window) // 4
            window = range(max(0, found.focus - half), min(count, found.focus + half + 1))
    stops = len(record["stops"])
    if stops < all_stops(found):
        shortened.append(f"The timeline stops at {stops:,} of {all_stops(found):,} steps.")
    if len(window) < count:
        shortened.append(f"The table has {len(window):,} of {count:,} messages, around message {found.focus:,}.")
    return text
