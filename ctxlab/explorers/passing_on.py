"""From what is shown to a state that may leave this computer, and back: of which session it is, and if it is this one.

No path leaves and none is opened: a session is told by its name, and has to be open already. No widget lives here.
"""

import os
from dataclasses import replace
from pathlib import Path

from ctxlab.escaping import one_line
from ctxlab.explorers.findings import Findings
from ctxlab.explorers.saved import LONGEST, SESSION, Saved, StateError
from ctxlab.explorers.sources import SAMPLE, Sources
from ctxlab.explorers.state import State

NAME = 200
"""Characters of a session's name that a state holds."""


def portable(findings: Findings) -> Saved:
    """Return the state of findings with the name of its session in place of a path, which would say who somebody is."""
    state = findings.state
    known = state.source.startswith(SAMPLE)
    source = state.source if known else SESSION + one_line(findings.session.name, NAME)
    return Saved(replace(state, source=source), len(findings.messages))


def source_of(saved: Saved, sources: Sources) -> str:
    """Return the source of a saved state: a sample, or a session that is open here; StateError for any other."""
    source = saved.state.source
    if source.startswith(SAMPLE):
        if source.removeprefix(SAMPLE) not in sources.samples:
            raise StateError(f"there is no sample {source.removeprefix(SAMPLE)!r}")
        return source
    name = source.removeprefix(SESSION)
    known = [other for other in sources.others if one_line(sources[other].name, NAME) == name]
    if not known:
        raise StateError(f"this state is of the session {name!r}: open that session first, then the state")
    return known[-1]


def restored(saved: Saved, sources: Sources, source: str) -> State:
    """Return a saved state on one of the sources. StateError where its session is another one, or has changed."""
    session = sources[source].with_view(saved.state.view)
    if len(session.messages) != saved.count:
        raise StateError(
            f"this state is of a session with {saved.count:,} messages, {session.name!r} has "
            f"{len(session.messages):,}: it is another one, or it has changed"
        )
    return replace(saved.state, source=source)


def read(state: "str | os.PathLike[str]") -> str:
    """Return the text of a state; a file is read as far as a state can be long. Raises OSError."""
    if isinstance(state, str):
        return state
    with Path(state).open(encoding="utf-8", errors="replace") as file:
        return file.read(2 * LONGEST)
