"""What can be taken away from a session: a failing test, the reduced session, the trace; redacted, and proven.

Each comes as an `Artifact`, text with a name, for whoever writes it down: the command line, a widget, a report.
"""

from ctxlab.minimize import Enough
from ctxlab.takeaway.artifacts import (
    Artifact,
    NoFault,
    failing_test,
    proven,
    reduced_session,
    trace_record,
    trace_table,
    whole_session,
)
from ctxlab.takeaway.proof import Proof, Run
from ctxlab.takeaway.trace_json import TraceFormatError, trace_from_json, trace_to_json

__all__ = [
    "Artifact",
    "Enough",
    "NoFault",
    "Proof",
    "Run",
    "TraceFormatError",
    "failing_test",
    "proven",
    "reduced_session",
    "trace_from_json",
    "trace_record",
    "trace_table",
    "trace_to_json",
    "whole_session",
]
