"""Spans out of an OpenTelemetry export: OTLP JSON, lines of it, or a list of spans as SDKs print them.

A span here is what the reader asks for: who, when, below what, and its attributes and events as plain dicts.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ctxlab.sessions.source import Source


@dataclass(frozen=True, slots=True)
class Span:
    """One span; ``start`` orders those of one export."""

    where: str
    trace: str
    id: str
    parent: str
    start: int
    attributes: dict[str, Any]
    events: tuple[tuple[str, dict[str, Any]], ...]


def spans_of(source: Source) -> list[Span]:
    """Return the spans of a document or of lines, by their start."""
    raw = [(record.where, record.value) for record in source.records] or [("", source.document)]
    found = [_span(where, each) for where, value in raw for where, each in _inside(where, value)]
    return sorted(found, key=lambda span: span.start)


def _inside(where: str, value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(value, list):
        for index, each in enumerate(value):
            yield from _inside(f"{where}[{index}]", each)
    elif isinstance(value, dict) and any(isinstance(value.get(key), list) for key in _LEVELS):
        for key in _LEVELS:
            if isinstance(value.get(key), list):
                yield from _inside(f"{where}.{key}".lstrip("."), value[key])
    elif isinstance(value, dict) and ("attributes" in value or "events" in value):
        yield where, value


_LEVELS = ("resourceSpans", "resource_spans", "scopeSpans", "scope_spans", "spans")


def _span(where: str, raw: dict[str, Any]) -> Span:
    context = raw.get("context") if isinstance(raw.get("context"), dict) else {}
    merged = {**(context or {}), **raw}
    events = _first(merged, "events", "span_events")
    return Span(
        where or "span",
        str(_first(merged, "traceId", "trace_id") or ""),
        str(_first(merged, "spanId", "span_id") or where),
        str(_first(merged, "parentSpanId", "parent_span_id", "parent_id") or ""),
        _time(_first(merged, "startTimeUnixNano", "start_time", "start_time_unix_nano")),
        _attributes(raw.get("attributes")),
        tuple(
            (str(_first(event, "name", "event_name") or ""), _attributes(event.get("attributes")))
            for event in (events if isinstance(events, list) else ())
            if isinstance(event, dict)
        ),
    )


def _first(raw: dict[str, Any], *keys: str) -> Any:
    return next((raw[key] for key in keys if raw.get(key) is not None), None)


def _time(value: Any) -> int:
    """Return a number that sorts: nanoseconds, or the digits of an ISO time, which are as many in one export."""
    digits = "".join(filter(str.isdecimal, value[:40])) if isinstance(value, str) and value.isascii() else ""
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e30:
        return int(value)
    return int(digits) if digits else 0


def _attributes(raw: Any) -> dict[str, Any]:
    """Return attributes as a dict: they are one already, or a list of keys with typed values."""
    if isinstance(raw, dict):
        return raw
    pairs = (each for each in raw if isinstance(each, dict)) if isinstance(raw, list) else ()
    return {each["key"]: _value(each.get("value")) for each in pairs if isinstance(each.get("key"), str)}


def _value(raw: Any) -> Any:
    if not isinstance(raw, dict):
        return raw
    for key, inside in raw.items():
        match key, inside:
            case "intValue", str(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 20:
                return int(digits)
            case "arrayValue", {"values": list(values)}:
                return [_value(each) for each in values]
            case "kvlistValue", {"values": list(values)}:
                return _attributes(values)
            case (("stringValue" | "intValue" | "doubleValue" | "boolValue"), value):
                return value
    return raw
