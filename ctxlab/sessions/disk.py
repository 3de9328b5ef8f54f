"""Files and folders in, and nothing out: opened for reading only, links inside a session never followed.

Knows what a file is (regular, link, unreadable, which encoding), not what it means.
"""

import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from ctxlab.sessions.notebook import NoteBook
from ctxlab.sessions.session import SessionFormatError

_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
# Opening a pipe must not wait for somebody to write into it.
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)

_MAGIC = (
    (b"SQLite format 3\0", "an SQLite database", "Export the messages as JSON."),
    (b"PK\x03\x04", "a zip archive", "Unpack it and load the folder or file inside."),
    (b"\x1f\x8b", "a gzip file", "Unpack it first."),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file", "Unpack it first."),
)


@dataclass(frozen=True, slots=True)
class Listing:
    """The names in a folder by what they are; links are neither folders nor files here."""

    folders: tuple[str, ...]
    files: tuple[str, ...]
    links: tuple[str, ...]
    others: tuple[str, ...]


def look(folder: Path) -> Listing:
    """List a folder.

    Raises:
        SessionFormatError: it cannot be listed.
    """
    found: tuple[list[str], list[str], list[str], list[str]] = ([], [], [], [])
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                kind = 2 if entry.is_symlink() else 0 if entry.is_dir() else 1 if entry.is_file() else 3
                found[kind].append(entry.name)
    except OSError as fault:
        raise _refused(folder, fault) from None
    folders, files, links, others = (tuple(sorted(names)) for names in found)
    return Listing(folders, files, links, others)


def is_folder(path: Path) -> bool:
    """Say whether the path, which may be a link that a person typed, leads to a folder.

    Raises:
        SessionFormatError: there is nothing, or it cannot be looked at.
    """
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except FileNotFoundError:
        raise SessionFormatError(path, "", "there is no such file or folder", "Check the path.") from None
    except (OSError, ValueError) as fault:
        raise _refused(path, fault) from None


def read_bytes(path: Path, *, follow: bool) -> bytes:
    """Return the content of a regular file.

    Raises:
        SessionFormatError: it cannot be read, is no regular file, or is a link and ``follow`` is False.
    """
    if not follow and path.is_symlink():
        raise SessionFormatError(path, "", "a symbolic link, which is not followed", "Load its target by its own path.")
    try:
        handle = os.open(path, _READ | (0 if follow else _NO_FOLLOW))
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise SessionFormatError(path, "", "not a regular file", "Give a file or a session folder.")
            return file.read()
    except (OSError, ValueError, MemoryError) as fault:
        if isinstance(fault, SessionFormatError):
            raise
        raise _refused(path, fault) from None


def read_text(path: Path, book: NoteBook, *, follow: bool, where: str = "") -> str:
    """Return the text of a file: UTF-8, or UTF-16/32 where its first bytes say so; a byte-order mark is left out.

    Raises:
        SessionFormatError: it cannot be read, is empty, a known binary format, or wrongly encoded.
    """
    data = read_bytes(path, follow=follow)
    for magic, name, advice in _MAGIC:
        if data.startswith(magic):
            raise SessionFormatError(path, where, f"{name}, not JSON", advice)
    if not data.strip(b"\0 \t\r\n"):
        raise SessionFormatError(path, where, "the file is empty", "Was it copied while it was being written?")
    encoding = json.detect_encoding(data)
    if encoding == "utf-8" and data.endswith(b"\0"):
        book.add("repaired", "NUL bytes at the end of the file, left out", where or path.name)
        data = data.rstrip(b"\0")
    if encoding != "utf-8":
        book.add("repaired", f"read as {encoding}", where or path.name)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as fault:
        if encoding != "utf-8" or fault.reason != "unexpected end of data" or fault.end < len(data):
            line = data.count(b"\n", 0, fault.start) + 1
            raise SessionFormatError(
                path,
                f"line {line}" + (f" of {where}" if where else ""),
                f"byte 0x{data[fault.start]:02x} at offset {fault.start} is not {encoding.upper()}",
                "If it is a text file, convert it to UTF-8 first (iconv -f ENCODING -t UTF-8).",
            ) from None
        book.add("repaired", "the file ends inside a character", where or path.name)
        text = data[: fault.start].decode(encoding)
    return text.removeprefix("\ufeff")


def _refused(path: Path, fault: Exception) -> SessionFormatError:
    reason = fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault) or type(fault).__name__
    return SessionFormatError(path, "", f"cannot be read: {reason}", "Check the path and its permissions.")
