"""A state as text to pass on: a small JSON object, and the same as one word that may stand in a URL.

What comes in is hostile until it is checked, field by field; it can choose what is shown, and nothing else: no path is
in it and none is opened. No widget lives here.
"""

import base64
import binascii
import json
import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, get_args

from ctxlab.explorers.state import Fallback, Policy, PolicyKind, State
from ctxlab.releases import CHANGES, parse
from ctxlab.summarizing import LAST_KNOWN
from ctxlab.vocabularies import counter, is_ready

VERSION = 1
MARK = "ctxlab-state"
PREFIX = f"{MARK}.{VERSION}."
LONGEST = 20_000
"""Characters of a text that is read at all."""

MOST_COMPARED = 8
SAMPLE, SESSION = "sample:", "session:"


class StateError(ValueError):
    """A text that is no state; its words say what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Saved:
    """A state that can be passed on. Its ``source`` is a sample or names a session; ``count`` messages were in view."""

    state: State
    count: int


def to_json(saved: Saved) -> str:
    """Return the state as a small JSON file."""
    return json.dumps(_record(saved), indent=1)


def to_text(saved: Saved) -> str:
    """Return the state as one word of letters, digits, ``.``, ``-`` and ``_``; what is as usual is left out."""
    packed = json.dumps(_record(saved), separators=(",", ":")).encode()
    return PREFIX + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def from_text(text: str) -> Saved:
    """Return the state of a word or of a JSON text. Raises StateError, in words, for anything else."""
    text = text.strip()
    if len(text) > LONGEST:
        raise StateError(f"a state has at most {LONGEST:,} characters, this has {len(text):,}")
    if not text.startswith("{"):
        text = _unpacked(text)
    try:
        record = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except StateError:
        raise
    except (ValueError, RecursionError) as error:
        raise StateError("this is no state, or a part of it is missing: copy it again, as a whole") from error
    return _saved(record)


def _record(saved: Saved) -> dict[str, Any]:
    state = saved.state
    told = _differing(state, {"policy", "compared"})
    told["policy"] = _differing(state.policy)
    if state.compared is not None:
        told["compared"] = [_differing(one) for one in state.compared]
    return {MARK: VERSION, "count": saved.count, **told}


def _differing(value: Any, without: Collection[str] = ()) -> dict[str, Any]:
    """Return the fields of a value that are not as usual."""
    told = {field.name: (getattr(value, field.name), field.default) for field in fields(value)}
    return {
        name: found
        for name, (found, usual) in told.items()
        if name not in without and (usual is MISSING or found != usual)
    }


def _unpacked(text: str) -> str:
    if not text.startswith(f"{MARK}."):
        raise StateError(f"a state begins with {PREFIX} or is a JSON object")
    if not text.startswith(PREFIX):
        raise StateError(f"this ctxlab reads states of version {VERSION}, this begins with {text[: len(PREFIX) + 8]!r}")
    packed = text.removeprefix(PREFIX)
    if not re.fullmatch(r"[A-Za-z0-9_-]*", packed):
        raise StateError("this is no state: it has characters that a state never has")
    try:
        return base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise StateError("this is no state: part of it is missing or changed") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise StateError("this is no state: a field comes twice")
    return found


def _no_constant(name: str) -> Any:
    raise StateError(f"this is no state: {name} is no number")


# ---- what each field may be

Check = Callable[[Any], bool]


def _whole(low: int, high: int) -> Check:
    return lambda value: type(value) is int and low <= value <= high


def _text(most: int) -> Check:
    return lambda value: type(value) is str and 0 < len(value) <= most


def _truth(value: Any) -> bool:
    return type(value) is bool


def _ratio(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and 0 <= value <= 1


def _release(value: Any) -> bool:
    if not _text(20)(value):
        return False
    try:
        return parse(CHANGES[0].version) <= parse(value) <= parse(LAST_KNOWN)
    except ValueError:
        return False


def _source(value: Any) -> bool:
    return _text(500)(value) and value.startswith((SAMPLE, SESSION))


def _span(value: Any) -> bool:
    index = _whole(0, MANY)
    return value is None or (type(value) is list and len(value) == 2 and all(map(index, value)) and value[0] < value[1])


def _or_none(check: Check) -> Check:
    return lambda value: value is None or check(value)


MANY = 10**9

POLICY_FIELDS: dict[str, Check] = {
    "kind": lambda value: value in get_args(PolicyKind),
    "release": _release,
    "window_size": _whole(-1, 10**6),
    "should_truncate_results": _truth,
    "pin_first": _whole(0, 10**6),
    "aims": _truth,
    "summary_ratio": _ratio,
    "preserve_recent_messages": _whole(0, 10**6),
    "fallback": lambda value: value in get_args(Fallback),
    "preserve_chars": _whole(1, 10**6),
}

STATE_FIELDS: dict[str, Check] = {
    MARK: lambda value: type(value) is int,
    "count": _whole(0, MANY),
    "source": _source,
    "view": _text(500),
    "budget": _whole(0, 10**12),
    # No other: the vocabulary would be fetched from the network, because somebody passed a text on.
    "counter": lambda value: type(value) is str and is_ready(value),
    "policy": lambda value: type(value) is dict,
    "stop": _or_none(_whole(0, MANY)),
    "focus": _whole(0, MANY),
    "span": _span,
    "tab": _text(40),
    "compared": _or_none(lambda value: type(value) is list and len(value) <= MOST_COMPARED),
}

NEEDED = (MARK, "count", "source", "view", "budget")


def _saved(record: Any) -> Saved:
    if type(record) is not dict or MARK not in record:
        raise StateError(f"this is no state: there is no field {MARK!r}")
    if record[MARK] != VERSION or type(record[MARK]) is not int:
        raise StateError(f"this ctxlab reads states of version {VERSION}, this is {_shown(record[MARK])}")
    _check(record, STATE_FIELDS, NEEDED)
    values = {name: value for name, value in record.items() if name not in (MARK, "count")}
    values["policy"] = _policy(record.get("policy", {}))
    if values.get("span") is not None:
        values["span"] = tuple(values["span"])
    if values.get("compared") is not None:
        values["compared"] = tuple(map(_policy, values["compared"]))
    return Saved(State(**values), record["count"])


def _policy(record: Any) -> Policy:
    if type(record) is not dict:
        raise StateError(f"this is no state: a policy cannot be {_shown(record)}")
    _check(record, POLICY_FIELDS)
    policy = Policy(**record)
    try:
        policy.manager(0, counter("heuristic"))
    except ValueError as error:
        raise StateError(f"this is no state: a policy cannot be so: {error}") from error
    return policy


def _check(record: Mapping[str, Any], known: Mapping[str, Check], needed: tuple[str, ...] = ()) -> None:
    for name in needed:
        if name not in record:
            raise StateError(f"this is no state: the field {name!r} is missing")
    for name, value in record.items():
        if name not in known:
            raise StateError(f"this is no state: there is no field {_shown(name)}")
        if not known[name](value):
            raise StateError(f"this is no state: {name} cannot be {_shown(value)}")


def _shown(value: Any) -> str:
    """Return a value as it may be quoted: short, whatever it is."""
    said = ascii(value) if isinstance(value, str | int | float | bool | None) else f"a {type(value).__name__}"
    return said if len(said) <= 60 else f"{said[:60]}…"
