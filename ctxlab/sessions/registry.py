"""The formats that ctxlab reads, each a Reader: its own, and those of installed packages, found by entry point.

A package adds a format with an entry point in the group ``ctxlab.readers`` that names a Reader. Nothing else knows the
list.
"""

import sys
import warnings
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points

from ctxlab.sessions.formats.anthropic import ANTHROPIC
from ctxlab.sessions.formats.claude_code import CLAUDE_CODE
from ctxlab.sessions.formats.codex import CODEX
from ctxlab.sessions.formats.gemini import GEMINI
from ctxlab.sessions.formats.inspect_log import INSPECT
from ctxlab.sessions.formats.langchain import LANGCHAIN
from ctxlab.sessions.formats.openai_chat import OPENAI_CHAT
from ctxlab.sessions.formats.openai_responses import OPENAI_RESPONSES
from ctxlab.sessions.formats.otel import OTEL
from ctxlab.sessions.formats.pydantic_ai import PYDANTIC_AI
from ctxlab.sessions.guard import guarded
from ctxlab.sessions.lines import LINES
from ctxlab.sessions.messages_list import LIST, REQUEST
from ctxlab.sessions.reader import Reader
from ctxlab.sessions.recording import RECORDING
from ctxlab.sessions.snapshot import SNAPSHOT
from ctxlab.sessions.strands_folder import FOLDER

GROUP = "ctxlab.readers"

OWN = (
    *(FOLDER, SNAPSHOT, REQUEST, LIST, RECORDING, LINES, ANTHROPIC, OPENAI_CHAT, OPENAI_RESPONSES, GEMINI, LANGCHAIN),
    *(CLAUDE_CODE, CODEX, INSPECT, OTEL, PYDANTIC_AI),
)


def readers() -> tuple[Reader, ...]:
    """Return every reader, in the order in which the formats are named to people.

    A plug-in that cannot be imported, is no Reader, or takes a name that is taken is left out, with a warning.
    """
    return _installed(tuple(sys.path))


@lru_cache(maxsize=8)
def _installed(path: tuple[str, ...]) -> tuple[Reader, ...]:
    """Look for plug-ins once for each state of ``sys.path``: it takes longer than to read a small session."""
    found = {reader.name: reader for reader in OWN}
    for point in entry_points(group=GROUP):
        reader = _loaded(point)
        if reader is None:
            continue
        if reader.name in found:
            warnings.warn(f"reader {point.value!r} is left out: there is a format {reader.name!r}", stacklevel=2)
            continue
        found[reader.name] = guarded(reader)
    return tuple(found.values())


def _loaded(point: EntryPoint) -> Reader | None:
    try:
        reader = point.load()
    except Exception as fault:  # whatever a foreign module raises when it is imported
        warnings.warn(f"reader {point.value!r} is left out: {type(fault).__name__}: {fault}", stacklevel=3)
        return None
    if isinstance(reader, Reader):
        return reader
    warnings.warn(f"reader {point.value!r} is left out: it is no ctxlab.sessions.Reader", stacklevel=3)
    return None
