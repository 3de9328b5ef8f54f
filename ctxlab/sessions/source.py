"""What the detector and the readers look at: a folder, one JSON document, or the lines of a JSONL file.

A source is opened once; which format it is in is not decided here.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ctxlab.sessions.disk import is_folder, read_text
from ctxlab.sessions.jsontext import JsonError, JsonReader
from ctxlab.sessions.notebook import NoteBook
from ctxlab.sessions.session import SessionFormatError


@dataclass(frozen=True, slots=True)
class Record:
    """One line of a JSONL file and its JSON value."""

    where: str
    value: Any


@dataclass(frozen=True, slots=True)
class Source:
    """A folder, or a file with either one JSON ``document`` or ``records``; notes go into ``book``."""

    path: Path
    book: NoteBook
    folder: bool = False
    document: Any = None
    records: tuple[Record, ...] = ()


def open_source(path: "str | os.PathLike[str]") -> Source:
    """Look at a path that a person gave; a link there is followed, for they named it.

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
    if is_folder(named):
        return Source(named, book, folder=True)
    text = read_text(named, book, follow=True)
    parser = JsonReader(book)
    try:
        return Source(named, book, document=parser.parse(text, named.name))
    except JsonError as fault:
        records = _records(text, parser, book)
        if records:
            return Source(named, book, records=records)
        reason = f"not JSON ({fault.reason}), and not JSONL either" if fault.line else fault.reason
        raise SessionFormatError(named, _place(fault), reason, "Is the file complete, and is it a session?") from None


def read_json(path: Path, parser: JsonReader, book: NoteBook, where: str) -> Any:
    """Return the JSON value of one file of a session folder; links are not followed.

    Raises:
        SessionFormatError: it cannot be read, or is not JSON.
    """
    text = read_text(path, book, follow=False, where=where)
    try:
        return parser.parse(text, where)
    except JsonError as fault:
        raise SessionFormatError(path, _place(fault), f"not JSON ({fault.reason})", "Is the copy complete?") from None


def _place(fault: JsonError) -> str:
    return f"line {fault.line}, column {fault.column}" if fault.line else "top level"


def _records(text: str, parser: JsonReader, book: NoteBook) -> tuple[Record, ...]:
    # Only "\n" ends a line: JSON strings may hold U+2028 and its like.
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    records: list[Record] = []
    for number, line in lines:
        where = f"line {number}"
        try:
            records.append(Record(where, parser.parse(line, where)))
        except JsonError as fault:
            # A file whose first line is no object is one broken document, not lines.
            if not records:
                return ()
            last = number == lines[-1][0]
            text_of_note = "the last line is cut off, left out" if last else "a line that is not JSON, left out"
            book.add("skipped", text_of_note, f"{where} ({fault.reason})")
        if not isinstance(records[0].value, dict):
            return ()
    return tuple(records) if len(lines) > 1 else ()
