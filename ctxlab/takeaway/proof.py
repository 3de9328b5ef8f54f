"""Proving a failing test: it is really run by pytest, against the real SDK, in a process of its own.

A proof is a record of runs. A test counts as failing only if it fails for the reason that it was written for: a file
that cannot be collected, or an error elsewhere, proves nothing.
"""

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree

from ctxlab.expectations import Expectation
from ctxlab.takeaway.wheels import DISTRIBUTION

Result = Literal["fails", "passes", "breaks"]
SECONDS = 120
"""How long one run may take."""

# What the SDK of a run is must be certain: an installed one could come first on the path.
_DRIVER = """
import sys
import pytest
import strands
folder, *arguments = sys.argv[1:]
if folder and not strands.__file__.startswith(folder):
    sys.exit(f"strands is imported from {strands.__file__}")
sys.exit(pytest.main(arguments))
"""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the test: on which release, what it should do there, what it did, and the error in a line."""

    release: str
    wanted: Result
    found: Result
    detail: str = ""

    @property
    def sentence(self) -> str:
        """The run in words."""
        if self.found == self.wanted:
            return f"{DISTRIBUTION} {self.release}: {self.found}, as it should"
        return f"{DISTRIBUTION} {self.release}: {self.found}, and should be one that {self.wanted}: {self.detail}"


@dataclass(frozen=True, slots=True)
class Proof:
    """The runs of a test, and why others are ``missing``, in sentences."""

    runs: tuple[Run, ...]
    missing: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Say whether the test fails where it should and passes where it should, in every run, and one at least."""
        return bool(self.runs) and all(run.found == run.wanted for run in self.runs)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The proof in words."""
        return (*(run.sentence for run in self.runs), *self.missing)


def what_is_missing() -> str | None:
    """Return the command that installs what is lacking to run a test, None where all is there."""
    lacking = [name for module, name in (("strands", DISTRIBUTION), ("pytest", "pytest")) if find_spec(module) is None]
    return installs(*lacking) if lacking else None


def installs(*packages: str) -> str:
    """Return the command that installs packages for this very Python, whichever environment a shell is in."""
    return shlex.join([sys.executable, "-m", "pip", "install", *packages])


def installed_release() -> str | None:
    """Return the version of the SDK that is installed beside ctxlab, None where there is none."""
    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return None


def prove(
    text: str,
    expectation: Expectation,
    wanted: dict[str, Result],
    folder_of: Callable[[str], Path | None],
    progress: Callable[[str], object] | None = None,
) -> Proof:
    """Run a test on each release in ``wanted`` and return what came of it.

    ``folder_of`` gives the folder of a release's package, or None for the SDK that is installed; it may raise
    LookupError to say why a release is missing. ``progress`` is told in words what comes next.
    """
    if (lacking := what_is_missing()) is not None:
        return Proof((), (f"it was not run, because something is not installed: {lacking}",))
    runs, missing = [], []
    for release, should in wanted.items():
        try:
            if progress is not None:
                progress(f"running it on {DISTRIBUTION} {release}")
            folder = folder_of(release)
        except LookupError as error:
            missing.append(f"{DISTRIBUTION} {release}: not run: {error.args[0]}")
            continue
        found, detail = run(text, expectation, folder)
        runs.append(Run(release, should, found, detail))
    return Proof(tuple(runs), tuple(missing))


def run(text: str, expectation: Expectation, folder: Path | None) -> tuple[Result, str]:
    """Run a test with the SDK in a folder, or with the installed one, and return what it does and the error."""
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "test_taken_away.py"
        file.write_text(text, encoding="utf-8")
        report = Path(scratch) / "report.xml"
        arguments = [str(file), "-q", "-p", "no:cacheprovider", "--rootdir", scratch, "-c", os.devnull]
        place = str(folder.resolve()) if folder else ""
        command = [sys.executable, "-c", _DRIVER, place, *arguments, f"--junitxml={report}"]
        try:
            answer = subprocess.run(
                command, cwd=scratch, env=_environment(place), capture_output=True, text=True, timeout=SECONDS
            )
        except subprocess.TimeoutExpired:
            return "breaks", f"it was not done after {SECONDS} seconds"
        if not report.is_file():
            lines = (answer.stderr or answer.stdout).strip().splitlines()
            return "breaks", lines[-1] if lines else f"it ended with {answer.returncode}"
        return _result(ElementTree.parse(report).getroot(), expectation)


def _result(report: ElementTree.Element, expectation: Expectation) -> tuple[Result, str]:
    errors = [error.get("message", "") for error in report.iter("error")]
    failures = [failure.get("message", "") for failure in report.iter("failure")]
    if errors or (len(failures) != 1 and not any(True for _ in report.iter("testcase"))):
        return "breaks", _line(errors[0] if errors else "no test was found in it")
    if not failures:
        return "passes", ""
    due = "ContextWindowOverflowException" if expectation.id == "no-error" else "assert"
    line = _line(failures[0])
    return ("fails" if due in line else "breaks"), line


def _line(message: str) -> str:
    return next(iter(message.splitlines()), "")[:300]


def _environment(folder: str) -> dict[str, str]:
    """Return the environment without what would change which code runs, or how."""
    foreign = ("PYTHON", "PYTEST", "COV", "OTEL", "AWS_PROFILE")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(foreign)}
    # Plugins of whoever runs ctxlab have no part in it.
    return {**kept, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONUTF8": "1", "PYTHONPATH": folder}
