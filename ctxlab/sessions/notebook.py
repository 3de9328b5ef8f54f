"""The book in which a loader writes down what it read, repaired and skipped, one line a kind of thing.

Ten thousand null contents are one note with a count and the first place. The wording of a note belongs to the
module that writes it.
"""

from ctxlab.sessions.session import Note, NoteKind


class NoteBook:
    """Collects notes; equal text of the same kind is counted, and keeps the place where it was first seen."""

    def __init__(self) -> None:
        self._found: dict[tuple[NoteKind, str], tuple[int, str]] = {}

    def add(self, kind: NoteKind, text: str, where: str) -> None:
        """Write one thing down; what differs from case to case belongs into ``where``, so that texts can be counted."""
        count, first = self._found.get((kind, text), (0, where))
        self._found[kind, text] = (count + 1, first)

    def take(self, other: "NoteBook") -> None:
        """Take over what another book holds."""
        for (kind, text), (count, where) in other._found.items():
            own, first = self._found.get((kind, text), (0, where))
            self._found[kind, text] = (own + count, first)

    def notes(self) -> tuple[Note, ...]:
        """Return one note a kind of thing, in the order in which they were first seen."""
        return tuple(
            Note(kind, where, text if count == 1 else f"{text} ({count} times, the first here)")
            for (kind, text), (count, where) in self._found.items()
        )
