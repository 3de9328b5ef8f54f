"""Releases of the SDK to run a test on: wheels from the package registry, unpacked side by side, kept between runs.

Nothing is installed, and nothing is fetched unless somebody asks for a proof.
"""

import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from ctxlab.releases import parse

DISTRIBUTION = "strands-agents"


class WheelError(Exception):
    """A release that cannot be had, with what pip said."""


def cache_folder() -> Path:
    """Return the folder in which unpacked wheels are kept: in the user's own cache."""
    own = os.environ.get("XDG_CACHE_HOME") or (os.environ.get("LOCALAPPDATA") if os.name == "nt" else None)
    return Path(own or Path.home() / ".cache") / "ctxlab" / "sdk"


def unpacked(version: str, cache: Path | None = None) -> Path:
    """Return the folder that holds the package of a release, fetching it with pip where it is not there yet.

    Raises ValueError for what is no version, and WheelError where pip cannot get it.
    """
    parse(version)  # it becomes the name of a folder
    cache = cache or cache_folder()
    folder = cache / version
    if not (folder / "strands" / "__init__.py").is_file():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as scratch:
            whole = Path(scratch) / "whole"
            with zipfile.ZipFile(_download(version, Path(scratch))) as archive:
                archive.extractall(whole)
            try:
                # Renamed only when complete, so that a run that was stopped leaves nothing half unpacked.
                whole.rename(folder)
            except OSError:
                if not (folder / "strands" / "__init__.py").is_file():  # another run was faster
                    raise
    return folder


def _download(version: str, folder: Path) -> Path:
    # Without dependencies: older releases run with those of the SDK that is installed.
    wanted = [f"{DISTRIBUTION}=={version}", "--no-deps", "--only-binary", ":all:", "--dest", str(folder)]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", *wanted]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        raise WheelError(f"fetching {DISTRIBUTION} {version} took longer than two minutes") from None
    if answer.returncode:
        lines = answer.stderr.strip().splitlines()
        raise WheelError(lines[-1] if lines else f"pip download ended with {answer.returncode}")
    return next(folder.glob("*.whl"))
