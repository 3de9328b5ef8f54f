"""Wheels of released SDKs: fetched once from the package registry, unpacked side by side, and kept between runs.

Wheels are fetched as for a proof, into a folder of the project. Nothing is installed: a wheel's folder is put in front
of the path of the process that is to run that release.
"""

import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from ctxlab.takeaway import wheels
from ctxlab.takeaway.wheels import WheelError

__all__ = ["WheelError", "source", "unpacked"]

CACHE = Path(__file__).parents[2] / ".cache" / "sdk"


def unpacked(version: str) -> Path:
    """Return the folder that holds the package of a release, fetching it where it is not there yet."""
    return wheels.unpacked(version, CACHE)


def source(version: str) -> Path:
    """Return the folder of a release's source distribution, which has its tests, fetching it where it is not there yet.

    It is unpacked, and never built or installed.
    """
    folder = CACHE / f"{version}-source"
    if not (folder / "tests").is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
            archive = _download(version, Path(scratch))
            with tarfile.open(archive) as packed:
                packed.extractall(Path(scratch) / "whole", filter="data")
            _settle(next((Path(scratch) / "whole").iterdir()), folder, "tests")
    return folder


def _settle(whole: Path, folder: Path, sign: str) -> None:
    """Move what is complete into its place, so that a run that was stopped leaves nothing half unpacked there.

    Another run may have been faster: what it put there, by the ``sign``, may be in use and stays.
    """
    if folder.exists() and not (folder / sign).exists():
        shutil.rmtree(folder)
    try:
        whole.rename(folder)
    except OSError:
        if not (folder / sign).exists():
            raise


def _download(version: str, folder: Path) -> Path:
    wanted = [f"{wheels.DISTRIBUTION}=={version}", "--no-deps", "--no-binary", wheels.DISTRIBUTION]
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--retries", "2"]
    try:
        subprocess.run([*pip, *wanted, "--dest", str(folder)], capture_output=True, text=True, timeout=120, check=True)
    except subprocess.TimeoutExpired:
        raise WheelError("the package registry does not answer") from None
    except subprocess.CalledProcessError as failed:
        said = failed.stderr.strip().splitlines() or [f"pip download ended with {failed.returncode}"]
        raise WheelError(said[-1]) from None
    return next(folder.glob("*.tar.gz"))
