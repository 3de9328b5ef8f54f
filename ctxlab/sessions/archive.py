"""Zip archives as folders in memory: nothing is unpacked to disk, no link is followed, no name leads outside.

What a member may unpack to is bounded, so that an archive made to burst ends in one error. Formats are not known here.
"""

import re
import stat
import struct
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from ctxlab.sessions.meter import Meter
from ctxlab.sessions.notebook import NoteBook
from ctxlab.sessions.session import SessionFormatError

if sys.version_info >= (3, 14):
    import zipfile
else:
    # Inspect writes members as Zstandard, which the zipfile of Python learned in 3.14.
    from backports.zstd import zipfile

MAX_UNPACKED = 1 << 30
"""Bytes that all members read of one archive may unpack to."""

MAX_RATIO = 100
"""How many times its packed size a member may unpack to, beyond FREE_RATIO bytes. JSON packs to a tenth or so."""

FREE_RATIO = 64 << 20
MAX_DIRECTORY = 16 << 20
"""Bytes of the archive's table of contents: over a hundred thousand members."""

_CHUNK = 1 << 20
_DRIVE = re.compile(r"[A-Za-z]:")
_ADVICE = "Unpack it and load the folder or file inside."


class Archive:
    """A zip file that is open for reading, and the tree of its safe member names."""

    def __init__(self, path: Path, file: IO[bytes], book: NoteBook, meter: Meter) -> None:
        self.path = path
        self._file = file
        self._book = book
        self._meter = meter
        self._left = MAX_UNPACKED
        self.files: dict[tuple[str, ...], zipfile.ZipInfo] = {}
        self.links: set[tuple[str, ...]] = set()
        self.folders: dict[tuple[str, ...], set[str]] = {(): set()}
        _check_directory(path, file)
        try:
            self._zip = zipfile.ZipFile(file)
            infos = self._zip.infolist()
        except Exception as fault:  # zipfile raises a dozen kinds for broken archives
            raise SessionFormatError(
                path, "", f"a zip archive that cannot be read ({fault})", "Is the copy complete?"
            ) from None
        for info in infos:
            self._enter(info)

    def close(self) -> None:
        """Close the file."""
        self._zip.close()
        self._file.close()

    def root(self) -> "ArchivePath":
        """Return the first folder that holds more than one other folder."""
        parts: tuple[str, ...] = ()
        while len(self.folders.get(parts, ())) == 1:
            (name,) = self.folders[parts]
            if (*parts, name) not in self.folders:
                break
            parts = (*parts, name)
        return ArchivePath(self, parts)

    def read(self, parts: tuple[str, ...]) -> bytes:
        """Return what a member unpacks to.

        Raises:
            SessionFormatError: it is not there, encrypted, damaged, packed in an unknown way, or unpacks to too much.
        """
        place = ArchivePath(self, parts)
        if parts in self.links:
            raise SessionFormatError(place, "", "a symbolic link, which is not followed", _ADVICE)
        info = self.files.get(parts)
        if info is None:
            raise SessionFormatError(place, "", "there is no such file in the archive", "Is the copy complete?")
        if info.flag_bits & 1:
            raise SessionFormatError(place, "", "it is encrypted", _ADVICE)
        limit = min(self._left, max(FREE_RATIO, MAX_RATIO * info.compress_size))
        found = bytearray()
        try:
            with self._zip.open(info) as member:
                while len(found) <= limit and (chunk := member.read(_CHUNK)):
                    found += chunk
        except Exception as fault:  # zipfile and the decompressors raise a dozen kinds for damaged members
            raise SessionFormatError(place, "", f"cannot be unpacked: {fault}", "Is the copy complete?") from None
        if len(found) > limit:
            reason = f"it unpacks to more than {limit >> 20} MB from {info.compress_size:,} bytes"
            raise SessionFormatError(place, "", reason, _ADVICE)
        self._left -= len(found)
        self._meter.add(info.compress_size)
        return bytes(found)

    def _enter(self, info: zipfile.ZipInfo) -> None:
        name = info.filename.replace("\\", "/")
        parts = tuple(part for part in name.split("/") if part not in ("", "."))
        if not parts or name.startswith("/") or ".." in parts or _DRIVE.match(name) or len(parts) > 50:
            self._book.add("skipped", "a member whose name leads out of the archive or is no name", name[:80])
            return
        kind = stat.S_IFMT(info.external_attr >> 16)
        for depth in range(len(parts)):
            self.folders.setdefault(parts[:depth], set()).add(parts[depth])
        if name.endswith("/"):
            self.folders.setdefault(parts, set())
        elif kind == stat.S_IFLNK:
            self.links.add(parts)
        else:
            if parts in self.files:
                self._book.add("repaired", "a member twice in the archive, the last one counts", name[:80])
            self.files[parts] = info


@dataclass(frozen=True, slots=True)
class ArchivePath:
    """A place in an archive, with as much of ``pathlib.Path`` as the readers of folders ask for."""

    archive: Archive = field(repr=False)
    parts: tuple[str, ...] = ()

    def __truediv__(self, name: str) -> "ArchivePath":
        return ArchivePath(self.archive, (*self.parts, name))

    def __str__(self) -> str:
        return f"{self.archive.path}!/{'/'.join(self.parts)}"

    @property
    def name(self) -> str:
        """The last part; of the top it is the name of the archive without its ending."""
        return self.parts[-1] if self.parts else self.archive.path.stem

    @property
    def parent(self) -> "ArchivePath":
        """The folder around, the top for the top."""
        return ArchivePath(self.archive, self.parts[:-1])

    def resolve(self) -> "ArchivePath":
        """Return the place itself: there are no links to resolve."""
        return self


Place = Path | ArchivePath


def _check_directory(path: Path, file: IO[bytes]) -> None:
    """Refuse an archive whose table of contents alone would fill the memory, before it is read."""
    size = file.seek(0, 2)
    file.seek(max(0, size - (1 << 16) - 100))
    tail = file.read()
    file.seek(0)
    end = tail.rfind(b"PK\5\6")
    length = 0
    if 0 <= end <= len(tail) - 22:
        (length,) = struct.unpack_from("<L", tail, end + 12)
        large = tail.rfind(b"PK\6\6", 0, end)
        if length == 0xFFFFFFFF and 0 <= large <= len(tail) - 56:
            (length,) = struct.unpack_from("<Q", tail, large + 40)
    if length > MAX_DIRECTORY:
        raise SessionFormatError(path, "", f"an archive of too many members ({length >> 20} MB of names)", _ADVICE)
