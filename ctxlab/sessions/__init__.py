"""Files in and out: one module a format, one detector, one registry. Algorithms must not live here.

``load`` gives a Session, or one SessionFormatError that names file and place; it never writes. ``save`` writes one in
the format asked for, and returns what that format cannot hold. ``Reader`` and ``Turns`` are what a new format is made
of.
"""

from ctxlab.sessions.loading import load
from ctxlab.sessions.reader import Reader, Reading
from ctxlab.sessions.saving import save
from ctxlab.sessions.session import Claim, Note, Session, SessionFormatError, View
from ctxlab.sessions.source import Record, Source
from ctxlab.sessions.turns import Turns

__all__ = [
    "Claim",
    "Note",
    "Reader",
    "Reading",
    "Record",
    "Session",
    "SessionFormatError",
    "Source",
    "Turns",
    "View",
    "load",
    "save",
]
