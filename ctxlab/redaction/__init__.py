"""Redaction: what must not leave with a conversation is replaced in equal length, and the report says what it was.

Own rules rather than a library's: the scanners that there are look at lines of source code, and the replacing, in
equal length inside any JSON, would be ours anyway.
"""

from ctxlab.redaction.redacting import Redacted, Replacement, Report, redact, redact_text
from ctxlab.redaction.traces import redact_trace

__all__ = ["Redacted", "Replacement", "Report", "redact", "redact_text", "redact_trace"]
