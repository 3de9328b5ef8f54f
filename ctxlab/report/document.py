"""The page as one file: markup, data, styles and scripts, under a policy that allows nothing else.

The policy names each script and style by its hash, so that nothing can be loaded and no text can become code.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from ctxlab.escaping import html, visible

FRONT = Path(__file__).parents[1] / "explorers" / "front"
"""The scripts and styles that the explorer's widgets are made of."""

SHARED = ("parts.js", "lanes.js")
"""What the drawings below share."""

DRAWINGS = ("timeline.js", "rows.js", "rounds.js", "matrix.js")
"""Each offers a function that draws without a kernel; in the page each has a scope of its own."""

STYLES = ("page.css", "parts.css", "lanes.css", "rounds.css", "matrix.css", "report.css")

_OFFERED = re.compile(r"^export function (\w+)", re.MULTILINE)
_WIDGET = re.compile(r"^export default ", re.MULTILINE)


def document(title: str, body: Iterable[str], record: str) -> str:
    """Return the whole file; ``record`` is JSON as `to_json` writes it."""
    style, code = styles(), script()
    policy = (
        f"default-src 'none'; script-src {_hash(code)}; style-src {_hash(style)}; base-uri 'none'; form-action 'none'"
    )
    head = (
        '<meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">'
        f"<title>{html(title)}</title><style>{style}</style>"
    )
    inside = "\n".join(body)
    return (
        f'<!doctype html>\n<html lang="en"><head>{head}</head><body>\n<main class="ctxlab">\n{inside}\n</main>\n'
        f'<script type="application/json" id="record">{record}</script>\n<script>{code}</script>\n</body></html>\n'
    )


def to_json(value: Any) -> str:
    """Return a value as JSON for a script element: what markup or an eye could trip over is escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    table = {ord(char): _escape(char) for char in set(text) if char in "<>&" or visible(char) != char}
    return text.translate(table)


def _escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


@cache
def script() -> str:
    """Return the script of the page: what drawings share, the drawings, and what brings them together."""
    parts = [_read(name) for name in SHARED]
    for name in DRAWINGS:
        source = _read(name)
        offered = _OFFERED.findall(source)
        inner = _WIDGET.sub("const widget = ", _OFFERED.sub(r"function \1", source))
        parts.append(
            f"const {{ {', '.join(offered)} }} = (() => {{\n{inner}\nreturn {{ {', '.join(offered)} }};\n}})();"
        )
    # In scopes of their own: at the top, a name such as `top` is the browser's.
    return "\n".join(['"use strict";', "(() => {", *parts, "(() => {", _read("report.js"), "})();", "})();"])


@cache
def styles() -> str:
    """Return the styles of the page."""
    return "\n".join(map(_read, STYLES))


def _read(name: str) -> str:
    return (FRONT / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
