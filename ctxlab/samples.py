"""Where the notebooks and the sample sessions that come with ctxlab are, and a copy of them for a person to work in.

In a wheel they lie inside the package, in a checkout beside it. What they contain is read elsewhere.
"""

import filecmp
import shutil
from dataclasses import dataclass
from pathlib import Path

_FOLDERS = ("notebooks", "sample_sessions")


@dataclass(frozen=True, slots=True)
class WorkingCopy:
    """A folder with notebooks and sample sessions in it, and how each file came to be as it is.

    The paths are relative to `folder`: `copied` were missing, `same` were there already as they come with ctxlab,
    `kept` were there with other content and stay.
    """

    folder: Path
    copied: tuple[Path, ...]
    same: tuple[Path, ...]
    kept: tuple[Path, ...]


def notebooks() -> dict[str, Path]:
    """The notebooks by name (without `.ipynb`), in reading order, as they come with ctxlab: not for editing."""
    return {file.stem: file for file in sorted(_original("notebooks").glob("*.ipynb"))}


def sample_sessions() -> dict[str, Path]:
    """The sample sessions by name: each the session folder that the SDK wrote, as `ctxlab.load` opens it."""
    return {folder.parent.name: folder for folder in sorted(_original("sample_sessions").glob("*/session_*"))}


def working_copy(folder: Path) -> WorkingCopy:
    """Put every notebook and sample session that `folder` lacks into it, and change nothing that is there already.

    Raises OSError where the folder cannot be made or written.
    """
    copied: list[Path] = []
    same: list[Path] = []
    kept: list[Path] = []
    for original, place in _files():
        target = folder / place
        if target.exists() or target.is_symlink():
            (same if target.is_file() and filecmp.cmp(original, target, shallow=False) else kept).append(place)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        # Content only: an installation may be read-only, the copy must not be.
        shutil.copyfile(original, target)
        copied.append(place)
    return WorkingCopy(folder, tuple(copied), tuple(same), tuple(kept))


def _files() -> list[tuple[Path, Path]]:
    """Every file that belongs in a working copy, with its place in it: nothing hidden, no script, no README picture."""
    found = []
    for name in _FOLDERS:
        folder = _original(name)
        for file in sorted(folder.rglob("*")):
            place = file.relative_to(folder)
            internal = any(part.startswith((".", "__")) for part in place.parts) or file.suffix in (
                ".py",
                ".png",
                ".gif",
            )
            if file.is_file() and not internal:
                found.append((file, Path(name) / place))
    return found


def _original(name: str) -> Path:
    package = Path(__file__).parent
    in_wheel = package / name
    return in_wheel if in_wheel.is_dir() else package.parent / name
