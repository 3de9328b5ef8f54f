"""Files in: one module a format, one detector, one registry. Algorithms must not live here.

``load`` gives a Session, or one SessionFormatError that names file and place. Nothing is ever written.
"""

from ctxlab.sessions.loading import load
from ctxlab.sessions.session import Claim, Note, Session, SessionFormatError, View

__all__ = ["Claim", "Note", "Session", "SessionFormatError", "View", "load"]
