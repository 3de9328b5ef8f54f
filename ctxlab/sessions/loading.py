"""``load``: a path in, a Session or one SessionFormatError out. Nothing is written."""

import gc
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from ctxlab.messages import block_kind
from ctxlab.sessions.detection import detect
from ctxlab.sessions.meter import Meter, Progress
from ctxlab.sessions.reader import Reader, Reading
from ctxlab.sessions.registry import readers
from ctxlab.sessions.session import Claim, Note, Session, SessionFormatError, count, make_session
from ctxlab.sessions.source import Source, open_source


def load(path: "str | os.PathLike[str]", format: str | None = None, progress: Progress | None = None) -> Session:
    """Read a session from a file or folder; ``format`` names the format where the detector is not to decide.

    ``progress`` is called with (bytes read, all bytes) and may raise to stop; what it raises is raised here.

    Raises:
        SessionFormatError: the file or folder cannot be read as a session; it says where and why.
        ValueError: there is no format of that name.
    """
    known = {reader.name: reader for reader in readers()}
    if format is not None and format not in known:
        raise ValueError(f"no format {format!r}; there is {', '.join(map(repr, known))}")
    meter = Meter(progress)
    with _few_collections():
        source = open_source(path, meter)
        try:
            if format is None:
                reader, claim = detect(source, tuple(known.values()))
            else:
                reader, claim = known[format], Claim(f"format={format!r} was given", "certain")
            reading = reader.read(source)
        except RecursionError:
            raise SessionFormatError(source.path, "", "nested too deeply", "Is it a session?") from None
        finally:
            source.close()
    if not any(view.messages for view in reading.views.values()):
        raise SessionFormatError(source.path, "", "there is no message in it", "Is it the right file?")
    notes = (Note("read", source.path.name, _counts(source, reading, reader, claim)), *source.book.notes())
    meter.finish()
    return make_session(reading.name, reader.name, source.path, claim, reading.view, reading.views, notes)


@contextmanager
def _few_collections() -> Iterator[None]:
    """Hold Python's search for reference cycles while JSON is read: it has none, and the search takes longest."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def _counts(source: Source, reading: Reading, reader: Reader, claim: Claim) -> str:
    messages = max((view.messages for view in reading.views.values()), key=len)
    kinds = Counter(block_kind(block) for message in messages for block in message["content"])
    calls = count(kinds.pop("toolUse", 0), "tool call")
    results = count(kinds.pop("toolResult", 0), "tool result")
    others = "".join(f", {number:,} {kind}" for kind, number in sorted(kinds.items()))
    lines = f" from {count(len(source.records), 'line')}" if source.records else ""
    sure = "" if claim.certainty == "certain" else f"; {claim.certainty}, not certain"
    return (
        f"{count(len(messages), 'message')} with {calls} and {results}{others}{lines}, "
        f"read as {reader.name} ({claim.rule}{sure})"
    )
