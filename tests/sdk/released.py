"""A released SDK as a process: give it cases, take its answers in the same order."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tests.sdk.encoding import decode, encode
from tests.sdk.wheels import unpacked

WORKER = Path(__file__).with_name("worker.py")

RELEASES = (
    "1.0.0",
    "1.6.0",
    "1.7.0",
    "1.28.0",
    "1.29.0",
    "1.34.1",
    "1.35.0",
    "1.36.0",
    "1.37.0",
    "1.38.0",
    "1.39.0",
    "1.40.0",
    "1.42.0",
    "1.43.0",
    "1.44.0",
    "1.62.0",
)
"""Both sides of every change in the table of releases."""

Step = Literal["overflow", "routine", "manage"]


@dataclass(frozen=True, slots=True)
class Case:
    """What a manager is given: its options, a conversation, and the steps to take one after the other."""

    manager: Literal["sliding", "summarizing"]
    options: dict[str, Any]
    messages: list[Any]
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class State:
    """Where a released manager stood after a step: the messages as canonical JSON, and what it raised or warned of."""

    messages: str
    error: tuple[str, str] | None
    removed: int
    warnings: tuple[str, ...]
    swallowed: tuple[str, str] | None

    @property
    def crashed(self) -> str | None:
        """The error at which the release broke down on malformed input, also where it swallowed it."""
        error = self.error or self.swallowed
        return ": ".join(error) if error and error[0] != "ContextWindowOverflowException" else None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a released manager did: the states after each step up to an error, or why it could not be built."""

    refused: tuple[str, str] | None
    states: tuple[State, ...]


class ReleasedSdk:
    """One release, running from its wheel until closed."""

    def __init__(self, version: str) -> None:
        self.version = version
        self.folder = unpacked(version)
        # PYTHONPATH and nothing else: the worker must not find the project or the installed SDK first.
        self.process = subprocess.Popen(
            [sys.executable, str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            env={**_environment(), "PYTHONPATH": str(self.folder), "PYTHONUTF8": "1"},
        )
        self.package: Path | None = None

    def answers(self, cases: Iterable[Case]) -> Iterator[Answer]:
        """Yield what the release does with each case, while it works on the next ones."""
        self._greet()
        given = list(cases)
        feeder = threading.Thread(target=self._feed, args=(given,), daemon=True)
        feeder.start()
        for _ in given:
            yield _answer(self._line())
        feeder.join()

    def close(self) -> None:
        """End the process."""
        # Not asked politely: some releases spend seconds on closing their telemetry.
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                pipe.close()

    def _greet(self) -> None:
        if self.package is None:
            self.package = Path(decode(self._line())["package"])
            assert self.package.is_relative_to(self.folder), f"{self.version} runs from {self.package}"

    def _feed(self, cases: list[Case]) -> None:
        assert self.process.stdin
        for case in cases:
            asked = {
                "manager": case.manager,
                "options": case.options,
                "messages": case.messages,
                "steps": case.steps,
            }
            self.process.stdin.write(f"{encode(asked)}\n")
        self.process.stdin.write("\n")  # an empty line asks for what is left in the buffer
        self.process.stdin.flush()

    def _line(self) -> str:
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, f"the worker of {self.version} ended with {self.process.wait(timeout=30)}"
        return line


def _answer(line: str) -> Answer:
    # Messages stay text: they are compared as such, and only looked into where they differ.
    found = decode(line)
    states = tuple(
        State(
            state["messages"],
            tuple(state["error"]) if state["error"] else None,
            state["removed"],
            tuple(state["warnings"]),
            tuple(state["swallowed"]) if state["swallowed"] else None,
        )
        for state in found["states"]
    )
    return Answer(tuple(found["refused"]) if found["refused"] else None, states)


def _environment() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "OTEL", "COV"))}
