"""The scripts and styles of widgets that share parts: an anywidget has one of each, the shared part goes in front."""

from pathlib import Path

FRONT = Path(__file__).with_name("front")


def script(name: str) -> str:
    """Return the script of a widget: parts.js and then its own."""
    return _joined(f"{name}.js", "parts.js")


def style(name: str) -> str:
    """Return the stylesheet of a widget: parts.css and then its own."""
    return _joined(f"{name}.css", "parts.css")


def _joined(own: str, shared: str) -> str:
    return "\n".join((FRONT / part).read_text(encoding="utf-8") for part in (shared, own))
