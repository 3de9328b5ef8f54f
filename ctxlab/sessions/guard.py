"""What stands between ctxlab and a reader that somebody else wrote: its faults become notes or one clear error.

The messages that it hands over are brought into the promised shape, as everybody's are.
"""

from dataclasses import replace

from ctxlab.sessions.reader import Reader, Reading
from ctxlab.sessions.session import Claim, SessionFormatError, View
from ctxlab.sessions.shape import conversation
from ctxlab.sessions.source import Source


def guarded(reader: Reader) -> Reader:
    """Return the reader with its faults caught; the cause stays on the error that is raised instead."""

    def recognise(source: Source) -> Claim | None:
        try:
            return reader.recognise(source)
        except (SessionFormatError, RecursionError):
            raise
        except Exception as fault:  # whatever a foreign reader raises on a file it does not expect
            source.book.add("read", f"the detector of {reader.name!r} failed and was passed over", _words(fault))
            return None

    def read(source: Source) -> Reading:
        try:
            reading = reader.read(source)
            views = {name: _shaped(name, view, source) for name, view in reading.views.items()}
            return Reading(reading.name, views, reading.view if reading.view in views else next(iter(views)))
        except (SessionFormatError, RecursionError):
            raise
        except Exception as fault:
            advice = "It is a plug-in; tell its author."
            reason = f"the reader {reader.name!r} failed: {_words(fault)}"
            raise SessionFormatError(source.path, "", reason, advice) from fault

    return replace(reader, recognise=recognise, read=read)


def _shaped(name: str, view: View, source: Source) -> View:
    placed = ((f"{name} messages[{index}]", message) for index, message in enumerate(view.messages))
    return replace(view, messages=conversation(placed, source.book))


def _words(fault: Exception) -> str:
    return f"{type(fault).__name__}: {fault}"[:200]
