"""Values as Python source that says exactly that value, laid out as ruff and black would.

Whatever a text holds, it stays inside its quotes: everything but plain ASCII is written as an escape. Long runs of one
character are written as a product, so that a test with a text of 5,000 characters can still be read.
"""

import re
from typing import Any

WIDTH = 120
"""Columns of a line."""

RUN = 40
"""Characters in a row from which on they are written as a product."""

_RUN = re.compile(rf"(.)\1{{{RUN - 1},}}", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)")


def literal(value: Any, indent: int = 0, before: int = 0, after: int = 1) -> str:
    """Return a value of JSON, or bytes, as Python source.

    ``indent`` is the column at which the line starts, ``before`` and ``after`` are the characters around the value on
    that line. Raises ValueError for a value of another type.
    """
    flat = _flat(value)
    if indent + before + len(flat) + after <= WIDTH or not isinstance(value, dict | list | tuple) or not value:
        return flat
    inner = " " * (indent + 4)
    if isinstance(value, dict):
        names = {key: f"{_flat(key)}: " for key in value}
        parts = [names[key] + literal(part, indent + 4, len(names[key])) for key, part in value.items()]
        opening, closing = "{", "}"
    else:
        parts = [literal(part, indent + 4) for part in value]
        opening, closing = "[", "]"
    lines = "".join(f"{inner}{part},\n" for part in parts)
    return f"{opening}\n{lines}{' ' * indent}{closing}"


def listing(values: Any) -> str:
    """Return a list as Python source with an item a line, however short it is."""
    if not values:
        return "[]"
    return "[\n" + "".join(f"    {literal(value, 4)},\n" for value in values) + "]"


def _flat(value: Any) -> str:
    match value:
        case None | bool():
            return repr(value)
        case str() | bytes():
            return _runs(value)
        case float():
            return repr(value) if abs(value) < float("inf") else f'float("{value}")'
        case int():
            # Python reads no decimal number of more than 4,300 digits.
            return repr(value) if value.bit_length() < 10_000 else hex(value)
        case dict():
            return f"{{{', '.join(f'{_flat(key)}: {_flat(part)}' for key, part in value.items())}}}"
        case list() | tuple():
            return f"[{', '.join(map(_flat, value))}]"
    raise ValueError(f"a {type(value).__name__} cannot be written into a test")


def _runs(text: str | bytes) -> str:
    """Return a text as one literal, or as several that are added up, runs of one character as a product."""
    parts: list[str] = []
    end = 0
    shown = text.decode("latin-1") if isinstance(text, bytes) else text
    for run in _RUN.finditer(shown):
        if run.start() > end:
            parts.append(_quoted(text[end : run.start()]))
        parts.append(f"{_quoted(text[run.start() : run.start() + 1])} * {run.end() - run.start()}")
        end = run.end()
    if end < len(text) or not parts:
        parts.append(_quoted(text[end:]))
    return " + ".join(parts)


def _quoted(text: str | bytes) -> str:
    prefix = "b" if isinstance(text, bytes) else ""
    # Escape by escape, for a backslash may itself be escaped before a quote.
    inside = _ESCAPE.sub(lambda found: found[1] if found[1] in "'\"" else found[0], ascii(text)[len(prefix) + 1 : -1])
    quote = "'" if inside.count('"') > inside.count("'") else '"'
    escaped = inside.replace(quote, f"\\{quote}")
    return f"{prefix}{quote}{escaped}{quote}"
