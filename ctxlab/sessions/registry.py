"""The formats that ctxlab reads, each a Reader. To add one, add it here; nothing else knows the list."""

from ctxlab.sessions.lines import LINES
from ctxlab.sessions.messages_list import LIST, REQUEST
from ctxlab.sessions.reader import Reader
from ctxlab.sessions.recording import RECORDING
from ctxlab.sessions.snapshot import SNAPSHOT
from ctxlab.sessions.strands_folder import FOLDER


def readers() -> tuple[Reader, ...]:
    """Return every reader, in the order in which the formats are named to people."""
    return (FOLDER, SNAPSHOT, REQUEST, LIST, RECORDING, LINES)
