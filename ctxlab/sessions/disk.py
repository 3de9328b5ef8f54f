"""Files and folders in, and nothing out: opened for reading only, links inside a session never followed.

Knows what a file is (regular, link, unreadable, in an archive, which encoding), not what it means.
"""

import io
import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from ctxlab.sessions.archive import ArchivePath, Place
from ctxlab.sessions.meter import Meter
from ctxlab.sessions.notebook import NoteBook
from ctxlab.sessions.session import SessionFormatError

_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
# Opening a pipe must not wait for somebody to write into it.
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_CHUNK = 1 << 20
_BUFFER = 1 << 20

ZIP = b"PK\x03\x04"
_MAGIC = (
    (b"SQLite format 3\0", "an SQLite database", "Export the messages as JSON."),
    (ZIP, "a zip archive", "Unpack it and load the folder or file inside."),
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


def look(folder: Place) -> Listing:
    """List a folder.

    Raises:
        SessionFormatError: it cannot be listed.
    """
    found: tuple[list[str], list[str], list[str], list[str]] = ([], [], [], [])
    if isinstance(folder, ArchivePath):
        for name in folder.archive.folders.get(folder.parts, ()):
            parts = (*folder.parts, name)
            archive = folder.archive
            kind = 0 if parts in archive.folders else 2 if parts in archive.links else 1
            found[kind].append(name)
    else:
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


def size_below(folder: Place) -> int:
    """Return the bytes of the regular files directly in a folder."""
    if isinstance(folder, ArchivePath):
        inside = (folder.archive.files.get((*folder.parts, name)) for name in look(folder).files)
        return sum(info.compress_size for info in inside if info)
    return sum((folder / name).lstat().st_size for name in look(folder).files)


def open_regular(path: Path, *, follow: bool) -> io.BufferedReader:
    """Open a regular file for reading.

    Raises:
        SessionFormatError: it cannot be opened, is no regular file, or is a link and ``follow`` is False.
    """
    if not follow and path.is_symlink():
        raise SessionFormatError(path, "", "a symbolic link, which is not followed", "Load its target by its own path.")
    try:
        handle = os.open(path, _READ | (0 if follow else _NO_FOLLOW))
        if stat.S_ISREG(os.fstat(handle).st_mode):
            return io.BufferedReader(io.FileIO(handle, "rb"), _BUFFER)
        os.close(handle)
    except (OSError, ValueError) as fault:
        raise _refused(path, fault) from None
    raise SessionFormatError(path, "", "not a regular file", "Give a file or a session folder.")


def read_bytes(path: Place, *, follow: bool, meter: Meter | None = None) -> bytes | bytearray:
    """Return the content of a regular file, or of a member of an archive.

    Raises:
        SessionFormatError: it cannot be read, is no regular file, or is a link and ``follow`` is False.
    """
    if isinstance(path, ArchivePath):
        return path.archive.read(path.parts)
    with open_regular(path, follow=follow) as file:
        return read_rest(path, file, meter)


def read_rest(path: Place, file: io.BufferedReader, meter: Meter | None) -> bytearray:
    """Return what is left of an open file, in steps that the meter is told of.

    Raises:
        SessionFormatError: the system cannot read on, or there is not enough memory.
    """
    found = bytearray()
    try:
        while chunk := file.read(_CHUNK):
            found += chunk
            if meter:
                meter.add(len(chunk))
    except (OSError, MemoryError) as fault:
        raise _refused(path, fault) from None
    return found


def read_line(path: Path, file: io.BufferedReader, meter: Meter) -> bytes:
    """Return the next line of an open file, ``b""`` at its end; a long one in steps that the meter is told of.

    Raises:
        SessionFormatError: the system cannot read on, or there is not enough memory.
    """
    parts: list[bytes] = []
    try:
        while part := file.readline(_CHUNK):
            parts.append(part)
            meter.add(len(part))
            if part.endswith(b"\n"):
                break
        return b"".join(parts)
    except (OSError, MemoryError) as fault:
        raise _refused(path, fault) from None


def read_text(path: Place, book: NoteBook, *, follow: bool, where: str = "", meter: Meter | None = None) -> str:
    """Return the text of a file: UTF-8, or UTF-16/32 where its first bytes say so; a byte-order mark is left out.

    Raises:
        SessionFormatError: it cannot be read, is empty, a known binary format, or wrongly encoded.
    """
    data = read_bytes(path, follow=follow, meter=meter)
    check_magic(path, data[:16], where)
    return text_of(path, data, book, where)


def check_magic(path: Place, head: bytes | bytearray, where: str = "") -> None:
    """Refuse what its first bytes show to be a known binary format.

    Raises:
        SessionFormatError: it is one.
    """
    for magic, name, advice in _MAGIC:
        if head.startswith(magic):
            raise SessionFormatError(path, where, f"{name}, not JSON", advice)


def text_of(path: Place, data: bytes | bytearray, book: NoteBook, where: str = "") -> str:
    """Decode what was read of a file.

    Raises:
        SessionFormatError: it is empty, or wrongly encoded.
    """
    if not data.strip(b"\0 \t\r\n"):
        raise SessionFormatError(path, where, "the file is empty", "Was it copied while it was being written?")
    encoding = json.detect_encoding(bytes(data[:4]))
    if encoding == "utf-8" and data.endswith(b"\0"):
        book.add("repaired", "NUL bytes at the end of the file, left out", where or path.name)
        data = data.rstrip(b"\0")
    if encoding != "utf-8":
        book.add("repaired", f"read as {encoding}", where or path.name)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as fault:
        if encoding != "utf-8" or fault.reason != "unexpected end of data" or fault.end < len(data):
            raise wrongly_encoded(path, fault, 1 + data.count(b"\n", 0, fault.start), fault.start, where) from None
        book.add("repaired", "the file ends inside a character", where or path.name)
        text = data[: fault.start].decode(encoding)
    return text.removeprefix("\ufeff")


def wrongly_encoded(path: Place, fault: UnicodeDecodeError, line: int, offset: int, where: str) -> SessionFormatError:
    """Word the refusal of a byte that is not what the encoding allows at this line and offset of the file."""
    return SessionFormatError(
        path,
        f"line {line}" + (f" of {where}" if where else ""),
        f"byte 0x{fault.object[fault.start]:02x} at offset {offset} is not {fault.encoding.upper()}",
        "If it is a text file, convert it to UTF-8 first (iconv -f ENCODING -t UTF-8).",
    )


def _refused(path: Place, fault: Exception) -> SessionFormatError:
    reason = fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault) or type(fault).__name__
    return SessionFormatError(path, "", f"cannot be read: {reason}", "Check the path and its permissions.")
