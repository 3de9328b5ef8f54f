"""A trace as JSON and back: everything that is needed to replay it without the policy that made it.

The schema is stable: what is there keeps its name and meaning within a ``version``, later ones may add keys. ``start``
holds messages as Strands stores them, bytes as it writes them. Each of ``rounds`` has its ``edits`` in order, each
named by ``edit``, with the fields of that kind in `ctxlab.edits`, its ``tokens`` (of what it touches, before and after)
and a ``sentence``. The trace's own ``tokens`` has one number more than there are rounds.
"""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from ctxlab.comparison import Policy
from ctxlab.edits import (
    CollapseTexts,
    DropMessages,
    Edit,
    EditKind,
    Pin,
    ReplaceImage,
    ReplaceResult,
    Summarize,
    TokenChange,
    TruncateText,
    edit_kind,
)
from ctxlab.faults import options
from ctxlab.messages import Conversation
from ctxlab.reduction import Round, Trace
from ctxlab.sessions.notebook import NoteBook
from ctxlab.sessions.saving.strands import encoded

FORMAT = "ctxlab-trace"
VERSION = 1

KINDS: Mapping[EditKind, type[Edit]] = {
    "pin": Pin,
    "truncate": TruncateText,
    "replace image": ReplaceImage,
    "replace result": ReplaceResult,
    "collapse": CollapseTexts,
    "drop": DropMessages,
    "summarize": Summarize,
}
"""Every kind of edit by its name."""

_TUPLES = ("messages", "indices", "removed", "first")
"""Fields of edits that are tuples."""


class TraceFormatError(ValueError):
    """Text that is no trace, and why."""


def trace_to_json(trace: Trace, policy: Policy | None = None, session: str = "") -> str:
    """Return a trace as JSON text in ASCII, with the policy that made it and the name of the session, if given.

    Raises ValueError where the messages hold what JSON cannot.
    """
    record = {
        "format": FORMAT,
        "version": VERSION,
        "session": session,
        "policy": {"name": policy.name, "release": policy.release, **options(policy)} if policy else None,
        "counter": trace.counter,
        "budget": trace.budget,
        "outcome": trace.outcome,
        "error": trace.error,
        "refused_calls": trace.refused_calls,
        "tokens": list(trace.tokens),
        "start": _encoded(trace.start),
        "rounds": [
            {
                "number": round.number,
                "warning": round.warning,
                "notes": list(round.notes),
                "edits": [_edit_record(edit) for edit in round.edits],
            }
            for round in trace.rounds
        ],
    }
    try:
        return json.dumps(record, indent=1) + "\n"
    except (TypeError, RecursionError) as error:
        raise ValueError(f"the messages hold what JSON cannot: {error}") from None


def trace_from_json(text: str) -> Trace:
    """Return the trace of JSON text, replayed once to see that it can be. Raises TraceFormatError, saying why not."""
    try:
        record = json.loads(text)
        if not isinstance(record, dict) or record.get("format") != FORMAT:
            raise TraceFormatError(f'it is no trace of ctxlab: it has no "format": "{FORMAT}"')
        if record.get("version") != VERSION:
            raise TraceFormatError(f"its version is {record.get('version')!r:.40}, and {VERSION} can be read")
        trace = _trace(record)
        if len(trace.tokens) != len(trace.rounds) + 1:
            raise TraceFormatError(f"{len(trace.rounds)} rounds have {len(trace.tokens)} token counts, not one more")
        assert all(isinstance(message, dict) for message in trace.final)
    except TraceFormatError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, AssertionError, RecursionError) as error:
        raise TraceFormatError(f"it cannot be read as a trace: {type(error).__name__}: {error!s:.100}") from None
    return trace


def _trace(record: dict[str, Any]) -> Trace:
    start: Conversation = tuple(_decoded(record["start"]))
    rounds: list[Round] = []
    for found in record["rounds"]:
        before = rounds[-1] if rounds else start
        edits = tuple(_edit(edit) for edit in found["edits"])
        rounds.append(Round(found["number"], before, edits, found["warning"], tuple(found["notes"])))
    if record["outcome"] not in ("fits", "stuck", "gave up"):
        raise TraceFormatError(f"there is no outcome {record['outcome']!r:.40}")
    return Trace(
        start,
        tuple(rounds),
        record["outcome"],
        record["error"],
        record["budget"],
        record["refused_calls"],
        tuple(record["tokens"]),
        record["counter"],
    )


def _edit_record(edit: Edit) -> dict[str, Any]:
    values = {field.name: getattr(edit, field.name) for field in fields(edit) if field.name != "tokens"}
    tokens = [edit.tokens.before, edit.tokens.after] if edit.tokens else None
    return {"edit": edit_kind(edit), **_encoded(values), "tokens": tokens, "sentence": edit.sentence}


def _edit(record: dict[str, Any]) -> Edit:
    kind = KINDS[record["edit"]]
    given = {name: value for name, value in record.items() if name != "tokens"}
    known = {field.name for field in fields(kind)}
    values = {
        name: _tuples(value) if name in _TUPLES else _decoded(value) for name, value in given.items() if name in known
    }
    tokens = TokenChange(*record["tokens"]) if record["tokens"] is not None else None
    return kind(**values, tokens=tokens)


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _encoded(value: Any) -> Any:
    return encoded(value, "", NoteBook())


def _decoded(value: Any) -> Any:
    if isinstance(value, dict):
        if value.get("__bytes_encoded__") is True and isinstance(value.get("data"), str):
            try:
                return base64.b64decode(value["data"], validate=True)
            except binascii.Error:
                return value
        return {key: _decoded(part) for key, part in value.items()}
    return [_decoded(part) for part in value] if isinstance(value, list) else value
