"""The table of all indices, a row a message: what it costs, whether the conversation may start there, and why not.

Plain text, in the words of the picture: whoever shows it escapes it. Nothing is drawn here.
"""

from ctxlab.figures.moment import Moment
from ctxlab.figures.words import contents, fate, reason, role, verdict

COLUMNS = (
    ("message", "right"),
    ("content", ""),
    ("tokens", "right"),
    ("from here", "right"),
    ("verdict", "short"),
    ("why", "wide"),
    ("now", ""),
)
"""The columns, each with how it is set: "right", "short" (on one line), "wide", or ""."""

PAGE = 20
"""Rows in sight."""

LABEL = "Where the conversation may start, and why not elsewhere"


def candidate(moment: Moment, index: int) -> list[str]:
    """Return the row of a message: its look ("strong" at the cut, "faint" where it is refused), then its cells."""
    subject, cut = moment.subject, moment.cut
    taken = cut is not None and cut.index == index
    look = "strong" if taken else "faint" if subject.points[index].kind is None else ""
    return [
        look,
        f"{index:,}",
        f"{role(subject.messages[index])}: {contents(subject.messages[index])}",
        f"{subject.ledger.per_message[index]:,}",
        f"{int(moment.suffix[index]):,}",
        verdict(subject, index),
        reason(moment, index),
        fate(moment, index),
    ]
