"""What the detector and the readers look at: a folder or archive, one JSON document, or the lines of a JSONL file.

A source is opened once; which format it is in is not decided here. Lines are read one by one, never as one text.
"""

import io
import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from ctxlab.sessions.archive import Archive, ArchivePath, Place
from ctxlab.sessions.disk import (
    ZIP,
    check_magic,
    is_folder,
    open_regular,
    read_line,
    read_rest,
    read_text,
    text_of,
    wrongly_encoded,
)  # fmt: skip
from ctxlab.sessions.evidence import Signs, outline, signs
from ctxlab.sessions.jsontext import JsonError, JsonReader
from ctxlab.sessions.meter import Meter
from ctxlab.sessions.notebook import NoteBook
from ctxlab.sessions.session import SessionFormatError


@dataclass(frozen=True, slots=True)
class Record:
    """One line of a JSONL file and its JSON value."""

    number: int
    value: Any

    @property
    def where(self) -> str:
        """The line in words."""
        return f"line {self.number}"


@dataclass(slots=True)
class Source:
    """A folder, or a file with either one JSON ``document`` or ``records``; notes go into ``book``.

    ``path`` is what the person named; ``place`` is where the folder is looked at, which may be inside an archive.
    """

    path: Path
    book: NoteBook
    folder: bool = False
    document: Any = None
    records: tuple[Record, ...] = ()
    place: Place = Path()
    meter: Meter = field(default_factory=Meter)
    _signs: Signs | None = None

    @property
    def name(self) -> str:
        """The name of the file or folder."""
        return self.path.name

    def close(self) -> None:
        """Close an archive; what was read stays."""
        if isinstance(self.place, ArchivePath):
            self.place.archive.close()

    @property
    def signs(self) -> Signs:
        """What the messages of the document or of the lines look like; found out once for all readers."""
        if self._signs is None:
            self._signs = signs(self.listed())
        return self._signs

    def listed(self) -> list[tuple[str, Any]]:
        """Return the items that may be messages, each with its place: of the lines, a list, or ``messages``."""
        if self.records:
            return [(record.where, record.value) for record in self.records]
        items = self.document
        if isinstance(items, dict):
            items = items.get("messages", items.get("traj"))
        return [(f"messages[{index}]", item) for index, item in enumerate(items)] if isinstance(items, list) else []

    def refusal(self, needed: str) -> SessionFormatError:
        """Word what a format that a person named would need, and what is here."""
        if self.folder:
            found = "this is a folder" if isinstance(self.place, Path) else "this is a zip archive"
        elif self.records:
            found = f"this is a file of JSON lines, the first is {outline(self.records[0].value)}"
        else:
            found = f"this is {outline(self.document)}"
        return SessionFormatError(self.path, "top level", f"the format needs {needed}; {found}", "Leave format= out.")


def open_source(path: "str | os.PathLike[str]", meter: Meter | None = None) -> Source:
    """Look at a path that a person gave; a link there is followed, for they named it. An archive stays open.

    Raises:
        SessionFormatError: nothing is there, it cannot be read, or it is neither JSON nor JSONL.
    """
    named = Path(path)
    if not os.fspath(path):
        raise SessionFormatError(named, "", "the path is empty", "Give a file or a session folder.")
    if named.parts[:1] and named.parts[0].startswith("~"):
        try:
            named = named.expanduser()
        except RuntimeError:
            raise SessionFormatError(named, "", "no home folder is known for ~", "Write the path out.") from None
    book = NoteBook()
    meter = meter or Meter()
    if is_folder(named):
        return Source(named, book, folder=True, place=named, meter=meter)
    with ExitStack() as stack:
        file = stack.enter_context(open_regular(named, follow=True))
        meter.total = os.fstat(file.fileno()).st_size
        head = file.peek(16)[:16]
        if head.startswith((ZIP, b"PK\x05\x06")):
            archive = Archive(named, file, book, meter)
            stack.pop_all()
            return Source(named, book, folder=True, place=archive.root(), meter=meter)
        check_magic(named, head)
        if not json.detect_encoding(head[:4]).startswith("utf-8"):
            text = text_of(named, read_rest(named, file, meter), book)
            file = io.BufferedReader(cast(io.RawIOBase, io.BytesIO(text.encode())))
        return _Opening(named, file, book, meter).source()


def read_json(path: Place, parser: JsonReader, book: NoteBook, where: str, meter: Meter | None = None) -> Any:
    """Return the JSON value of one file of a session folder; links are not followed.

    Raises:
        SessionFormatError: it cannot be read, or is not JSON.
    """
    text = read_text(path, book, follow=False, where=where, meter=meter)
    try:
        return parser.parse(text, where)
    except JsonError as fault:
        raise SessionFormatError(path, _place(fault), f"not JSON ({fault.reason})", "Is the copy complete?") from None


def _place(fault: JsonError) -> str:
    return f"line {fault.line}, column {fault.column}" if fault.line else "top level"


class _Opening:
    """A file while it is being read: lines where its first line is an object and more follow, else one document."""

    def __init__(self, path: Path, file: io.BufferedReader, book: NoteBook, meter: Meter) -> None:
        self._path = path
        self._file = file
        self._before = NoteBook()
        self._before.take(book)
        self._book = book
        self._meter = meter
        self._parser = JsonReader(book)
        self._number = 0
        self._offset = 0

    def source(self) -> Source:
        lines = self._lines()
        number, line = next(lines, (0, b""))
        try:
            value = self._parser.parse(line, self._path.name)
        except (JsonError, UnicodeDecodeError):
            return self._document()
        second = next(lines, None)
        if second is None:
            return Source(self._path, self._book, document=value, meter=self._meter)
        if isinstance(value, dict):
            records = (Record(number, value), *self._records(second, lines))
            return Source(self._path, self._book, records=records, meter=self._meter)
        return self._document()

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield every line that is not blank, and its number. Only "\\n" ends a line: JSON strings may hold U+2028."""
        while line := read_line(self._path, self._file, self._meter):
            self._number += 1
            if self._number == 1 and line.startswith(b"\xef\xbb\xbf"):
                self._book.add("repaired", "read as utf-8-sig", self._path.name)
                self._offset = 3
                line = line[3:]
            if line.strip(b"\0 \t\r\n"):
                yield self._number, line
            elif b"\0" in line:
                self._book.add("repaired", "NUL bytes at the end of the file, left out", self._path.name)
            self._offset += len(line)

    def _document(self) -> Source:
        """Read the file as one JSON document."""
        self._book = NoteBook()
        self._book.take(self._before)
        self._parser = JsonReader(self._book)
        self._file.seek(0)
        data = read_rest(self._path, self._file, self._meter)
        try:
            value = self._parser.parse(data, self._path.name)
            return Source(self._path, self._book, document=value, meter=self._meter)
        except (JsonError, UnicodeDecodeError):
            text = text_of(self._path, data, self._book)
            del data
        try:
            value = self._parser.parse(text, self._path.name)
        except JsonError as fault:
            reason = f"not JSON ({fault.reason}), and not JSONL either" if fault.line else fault.reason
            advice = "Is the file complete, and is it a session?"
            raise SessionFormatError(self._path, _place(fault), reason, advice) from None
        return Source(self._path, self._book, document=value, meter=self._meter)

    def _records(self, line: tuple[int, bytes] | None, lines: Iterator[tuple[int, bytes]]) -> Iterator[Record]:
        while line is not None:
            number, text = line
            offset = self._offset
            following = next(lines, None)
            record = self._record(number, text, offset, last=following is None)
            if record:
                yield record
            line = following

    def _record(self, number: int, line: bytes, offset: int, *, last: bool) -> Record | None:
        where = f"line {number}"
        if last and line.endswith(b"\0"):
            self._book.add("repaired", "NUL bytes at the end of the file, left out", self._path.name)
            line = line.rstrip(b"\0")
        try:
            return Record(number, self._parser.parse(line, where))
        except UnicodeDecodeError as fault:
            if not last or fault.reason != "unexpected end of data" or fault.end < len(line):
                raise wrongly_encoded(self._path, fault, number, offset + fault.start, "") from None
            self._book.add("repaired", "the file ends inside a character", self._path.name)
            reason = "it ends inside a character"
        except JsonError as fault:
            reason = fault.reason
        text = "the last line is cut off, left out" if last else "a line that is not JSON, left out"
        self._book.add("skipped", text, f"{where} ({reason})")
        return None
