"""The sessions that an explorer can show, by a name that a state can hold: samples, paths, uploads, what was passed in.

A sample or a path is read when it is first asked for. An upload is read from a private temporary file that is gone
afterwards. Nothing is written elsewhere.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path

from ctxlab.samples import sample_sessions
from ctxlab.sessions import Session, SessionFormatError, load

SAMPLE = "sample:"
PATH = "path:"
UPLOAD = "upload:"
GIVEN = "given:"


class Sources:
    """Sessions by source: ``sample:NAME``, ``path:PATH``, ``upload:NAME`` or ``given:NAME``; ``samples`` are names.

    ``progress`` is called with what is being done and how many bytes are read of how many; it may raise to stop.
    """

    def __init__(self, progress: Callable[[str, int, int], None] = lambda what, done, of: None) -> None:
        self.progress = progress
        self.samples = tuple(sample_sessions())
        self._sessions: dict[str, Session] = {}
        self._editions: dict[str, int] = {}

    @property
    def others(self) -> tuple[str, ...]:
        """The sources that were opened so far and are no samples."""
        return tuple(source for source in self._sessions if not source.startswith(SAMPLE))

    def __getitem__(self, source: str) -> Session:
        """Return a session; raises SessionFormatError where it cannot be read, KeyError for an unknown source."""
        if source not in self._sessions:
            self._add(source, self._read(source))
        return self._sessions[source]

    def edition(self, source: str) -> int:
        """Return how often a source was read: what was found for an earlier edition does not hold for this one."""
        return self._editions.get(source, 0)

    def open(self, path: str) -> str:
        """Read, or read again, a file or folder and return its source: a sample's where it is one."""
        place = Path(path).expanduser()
        if not place.is_absolute() and not place.exists():
            raise ValueError(f"there is no {path!r} in {Path.cwd()}, where paths begin that do not start with /")
        sample = next((name for name, folder in sample_sessions().items() if _is_same(folder, place)), None)
        source = SAMPLE + sample if sample else PATH + path
        self._add(source, self._load(place))
        return source

    def upload(self, name: str, content: bytes) -> str:
        """Read an uploaded file and return its source; only the last part of its name is used."""
        plain = Path(name.replace("\\", "/")).name or "upload"
        with tempfile.TemporaryDirectory(prefix="ctxlab-") as folder:
            file = Path(folder) / plain
            file.write_bytes(content)
            try:
                session = self._load(file)
            except SessionFormatError as error:
                # Where it lay for a moment says nothing to whoever uploaded it.
                raise SessionFormatError(plain, error.where, error.reason, error.advice) from None
        source = UPLOAD + plain
        self._add(source, session)
        return source

    def give(self, session: Session) -> str:
        """Take a session that is in memory and return its source."""
        source = GIVEN + session.name
        self._add(source, session)
        return source

    def _add(self, source: str, session: Session) -> None:
        self._sessions[source] = session
        self._editions[source] = self.edition(source) + 1

    def _read(self, source: str) -> Session:
        if source.startswith(SAMPLE):
            return self._load(sample_sessions()[source.removeprefix(SAMPLE)])
        if source.startswith(PATH):
            return self._load(Path(source.removeprefix(PATH)).expanduser())
        raise KeyError(f"no session {source!r} has been opened")

    def _load(self, path: Path) -> Session:
        return load(path, progress=lambda done, of: self.progress("Reading bytes", done, of))


def _is_same(one: Path, other: Path) -> bool:
    return other.exists() and one.samefile(other)
