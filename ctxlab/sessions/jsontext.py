"""Text to JSON values, tolerant where the meaning is plain and strict where it is not; every repair is noted.

Also undoes the bytes encoding of Strands. What a value means as a message is not known here. Bytes are tried with
msgspec first (twice as fast here, a quarter less memory); whatever it refuses, or reads without what must be noted,
the decoder of the standard library reads, so that the outcome is that decoder's.
"""

import base64
import binascii
import json
import re
from typing import Any

import msgspec

from ctxlab.sessions.notebook import NoteBook
from ctxlab.sessions.session import NoteKind

MAX_DEPTH = 200
"""Levels of nesting that are read. Real tool inputs stay below 20, and whoever walks them recurses."""

_FAST = msgspec.json.Decoder()
_ENCODE = msgspec.json.Encoder().encode
_PRINTABLE_ESCAPE = re.compile(rb"\\u00[2-7]")
_NOT_READ = object()
_NOT_MARKS = bytes(set(range(256)) - set(b'"[{'))
_LARGE = 1 << 20
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


class JsonError(Exception):
    """A text that is not JSON; ``line`` and ``column`` count from 1 and are 0 where the place is not known."""

    def __init__(self, reason: str, line: int = 0, column: int = 0) -> None:
        super().__init__(reason, line, column)
        self.reason = reason
        self.line = line
        self.column = column


class JsonReader:
    """Parses texts into one notebook; it is built once a file, since decoders are dear to build a line at a time."""

    def __init__(self, book: NoteBook) -> None:
        self._book = book
        self._local = NoteBook()
        self._where = ""
        self._strict = json.JSONDecoder(object_pairs_hook=self._object, parse_constant=self._constant)
        self._lenient = json.JSONDecoder(
            object_pairs_hook=self._object, parse_constant=self._constant, parse_int=self._integer, strict=False
        )

    def parse(self, text: str | bytes | bytearray, where: str) -> Any:
        """Return the JSON value of ``text``; notes carry ``where``.

        Raises:
            JsonError: no JSON, or nested deeper than MAX_DEPTH.
            UnicodeDecodeError: bytes that are not UTF-8.
        """
        if isinstance(text, str):
            value, opening = _NOT_READ, text.count("{") + text.count("[")
        else:
            # One pass over the bytes where counting each sign would take three.
            marks = text.translate(None, _NOT_MARKS)
            quotes = marks.count(b'"')
            value, opening = _fast(text, quotes), len(marks) - quotes
        try:
            if value is _NOT_READ:
                value = self._exact(text if isinstance(text, str) else text.decode(), where)
            # Counting brackets is cheap, and settles it for nearly every line of a file.
            if opening > MAX_DEPTH:
                check_depth(value)
        except RecursionError:
            raise JsonError(f"nested deeper than {MAX_DEPTH} levels") from None
        self._book.take(self._local)
        self._local = NoteBook()
        return value

    def _exact(self, text: str, where: str) -> Any:
        self._where = where
        value = self._decode(text)
        return self._mended(value) if _SURROGATE_ESCAPE.search(text) else value

    def _decode(self, text: str) -> Any:
        self._local = NoteBook()
        try:
            return self._strict.decode(text)
        except json.JSONDecodeError as fault:
            if not fault.msg.startswith("Invalid control character"):
                raise JsonError(fault.msg, fault.lineno, fault.colno) from None
        except ValueError:
            # Python refuses to convert integers of more than 4,300 digits.
            pass
        self._local = NoteBook()
        try:
            value = self._lenient.decode(text)
        except json.JSONDecodeError as fault:
            raise JsonError(fault.msg, fault.lineno, fault.colno) from None
        self._note("repaired", "not strict JSON (raw control characters or huge integers), read all the same")
        return value

    def _note(self, kind: NoteKind, text: str, detail: str = "") -> None:
        self._local.add(kind, text, self._where + detail)

    def _object(self, pairs: list[tuple[str, Any]]) -> Any:
        made = dict(pairs)
        if len(made) != len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            self._note("repaired", "a key twice in one object, the last one counts", f" ({twice[:40]!r})")
        if made.get("__bytes_encoded__") is True and "data" in made:
            return self._bytes(made)
        return made

    def _bytes(self, encoded: dict[str, Any]) -> Any:
        try:
            decoded = base64.b64decode(encoded["data"])
        except (binascii.Error, TypeError, ValueError):
            self._note("repaired", "encoded bytes that are not base64, left as they are")
            return encoded
        return decoded

    def _constant(self, name: str) -> float:
        self._note("read", "NaN or Infinity, which JSON does not know, kept as a number", f" ({name})")
        return float(name.replace("Infinity", "inf"))

    def _integer(self, digits: str) -> int | str:
        try:
            return int(digits)
        except ValueError:
            self._note("repaired", "an integer of more digits than Python converts, kept as text")
            return digits

    def _mended(self, value: Any) -> Any:
        if isinstance(value, str):
            try:
                value.encode("utf-8")
            except UnicodeEncodeError:
                self._note("repaired", "half of a surrogate pair, replaced by U+FFFD")
                return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            return value
        if isinstance(value, dict):
            return {self._mended(key): self._mended(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._mended(item) for item in value]
        return value


def _fast(text: bytes | bytearray, quotes: int) -> Any:
    """Return what msgspec reads, where the standard library would read the same and find nothing to note."""
    try:
        value = _FAST.decode(text)
        # A key given twice is lost without a word, and its quotes with it.
        whole = _quotes(value, 4 if len(text) > _LARGE else 0) == quotes
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return _NOT_READ
    # Quotes and keys may be written as escapes of characters that need none.
    escaped = b"\\u00" in text and _PRINTABLE_ESCAPE.search(text)
    return _NOT_READ if not whole or escaped or b'"__bytes_encoded__"' in text else value


def _quotes(value: Any, depth: int) -> int:
    """Count the quotes of a value as JSON, in parts, so that a large document is not written out as a whole."""
    if depth and isinstance(value, list):
        return sum(_quotes(each, depth - 1) for each in value)
    if depth and isinstance(value, dict):
        return sum(_ENCODE(key).count(b'"') + _quotes(each, depth - 1) for key, each in value.items())
    return _ENCODE(value).count(b'"')


def check_depth(value: Any) -> None:
    """Refuse a value that is nested deeper than MAX_DEPTH.

    Raises:
        JsonError: it is.
    """
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        inner: list[Any] = []
        for each in level:
            if isinstance(each, dict):
                inner.extend(item for item in each.values() if isinstance(item, dict | list))
            elif isinstance(each, list):
                inner.extend(item for item in each if isinstance(item, dict | list))
        if not inner:
            return
        level = inner
    raise JsonError(f"nested deeper than {MAX_DEPTH} levels")
