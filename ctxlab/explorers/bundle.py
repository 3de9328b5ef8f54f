"""The scripts and styles of widgets that share parts: an anywidget has one of each, the shared part goes in front."""

from collections.abc import Iterable
from pathlib import Path

FRONT = Path(__file__).with_name("front")


def script(*names: str) -> str:
    """Return the script of a widget: parts.js, and then those named, its own last."""
    return _joined(f"{name}.js" for name in ("parts", *names))


def style(*names: str) -> str:
    """Return the stylesheet of a widget: parts.css, and then those named, its own last."""
    return _joined(f"{name}.css" for name in ("parts", *names))


def _joined(files: Iterable[str]) -> str:
    return "\n".join((FRONT / file).read_text(encoding="utf-8") for file in files)
