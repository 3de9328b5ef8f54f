"""What the writers of vendors' formats share: media as base64 and as a data URI, JSON as text, what is not held."""

import base64
import json
from typing import Any

from ctxlab.messages import Block
from ctxlab.sessions.notebook import NoteBook

_TYPES = {
    "pdf": "application/pdf",
    "txt": "text/plain",
    "md": "text/markdown",
    "html": "text/html",
    "csv": "text/csv",
    "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xls": "application/vnd.ms-excel",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


def media_type(kind: str, inside: dict[str, Any]) -> str:
    """Return the MIME type of an image, document or video."""
    name = str(inside.get("format", "png" if kind == "image" else "txt"))
    return f"{kind}/{name}" if kind in ("image", "video") else _TYPES.get(name, f"application/{name}")


def base64_of(inside: dict[str, Any]) -> str | None:
    """Return the bytes of a medium as base64, None where it holds none."""
    source = inside.get("source")
    data = source.get("bytes") if isinstance(source, dict) else None
    return base64.b64encode(data).decode() if isinstance(data, bytes) else data if isinstance(data, str) else None


def address_of(inside: dict[str, Any]) -> str | None:
    """Return the address of a medium that lies elsewhere."""
    source = inside.get("source")
    url = source.get("url") if isinstance(source, dict) else None
    return url if isinstance(url, str) else None


def as_text(item: Block, where: str, book: NoteBook) -> str:
    """Return a json item of a tool's answer as text."""
    book.add("lost", "a json item of a tool's answer, written as text", where)
    return json.dumps(item["json"], ensure_ascii=False, default=plain)


def plain(value: Any) -> Any:
    """Return bytes as base64, for JSON that knows no bytes.

    Raises:
        TypeError: it is something else.
    """
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeError(f"a value of the type {type(value).__name__}")


def keep_only(value: Any, keys: tuple[str, ...], what: str, where: str, book: NoteBook) -> None:
    """Note the keys of a block that are not written."""
    for key in value.keys() - set(keys) if isinstance(value, dict) else ():
        book.add("lost", f"{key} of {what}", where)
