"""The recorder: writes what happens to an agent's conversation into a file that ``ctxlab.load`` opens.

Lines are only ever added, each in one write; the format is described in ``ctxlab.sessions.recording``. It must never
break the agent: at its first fault it says so in the log, stops, and the agent goes on.
"""

import json
import logging
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from strands.hooks import AfterInvocationEvent, AfterModelCallEvent, BeforeInvocationEvent, BeforeModelCallEvent
from strands.types.exceptions import ContextWindowOverflowException
from strands.types.session import encode_bytes_values

from ctxlab.messages import Message
from ctxlab.reduction import Trace
from ctxlab.sessions.recorded_edits import edit_record
from ctxlab.sessions.recording import MARK, VERSION
from ctxlab.strands.manager import Cause, CtxlabConversationManager
from ctxlab.strands.standing import Stored

logger = logging.getLogger(__name__)


class Recorder:
    """Records one agent into one file, from `record` until `close`; ``fault`` is what stopped it, if anything did."""

    def __init__(self, agent: Any, path: "str | os.PathLike[str]") -> None:
        self.path = Path(path)
        self.fault: Exception | None = None
        self._agent = agent
        self._file: int | None = None
        self._closed = False
        self._lock = threading.Lock()
        self._known: dict[int, tuple[Stored, int]] = {}
        self._next = 0

    def close(self) -> None:
        """Stop recording; what is in the file stays."""
        with self._lock:
            self._closed = True
            if self._file is not None:
                os.close(self._file)
                self._file = None

    def _attach(self) -> None:
        agent = self._agent
        hooks: tuple[tuple[Any, Callable[[Any], None]], ...] = (
            (BeforeInvocationEvent, lambda event: self._write({"type": "turn", "at": datetime.now(UTC).isoformat()})),
            (BeforeModelCallEvent, lambda event: self._write({"type": "call", "live": self._ranges(agent.messages)})),
            (AfterModelCallEvent, self._after_model_call),
            (AfterInvocationEvent, lambda event: self._write({"type": "end", "live": self._ranges(agent.messages)})),
        )
        for kind, wrapped in hooks:
            agent.hooks.add_callback(kind, self._safely(wrapped))
        manager = agent.conversation_manager
        if isinstance(manager, CtxlabConversationManager):
            reduction = self._safely(lambda found: self._reduction(*found))
            manager.watchers.append(lambda trace, cause: reduction((trace, cause)))

    def _safely(self, record: Callable[[Any], None]) -> Callable[[Any], None]:
        def recorded(event: Any) -> None:
            try:
                with self._lock:
                    if not self._closed and self.fault is None:
                        record(event)
            except Exception as fault:
                self.fault = fault
                logger.warning("recording into %s has stopped, the agent goes on", self.path, exc_info=True)

        return recorded

    def _after_model_call(self, event: AfterModelCallEvent) -> None:
        if isinstance(event.exception, ContextWindowOverflowException):
            self._write({"type": "overflow", "error": str(event.exception)})

    def _reduction(self, trace: Trace, cause: Cause) -> None:
        self._write(
            {
                "type": "reduction",
                "cause": cause,
                "by": self._agent.conversation_manager.policy.name,
                # Told before the agent's messages change, so these are the ones that it starts from.
                "start": self._ranges(self._agent.messages),
                "rounds": [
                    {"number": done.number, "edits": [edit_record(edit) for edit in done.edits]}
                    for done in trace.rounds
                ],
                "outcome": trace.outcome,
                "error": trace.error,
                "budget": trace.budget,
                "refused_calls": trace.refused_calls,
                "tokens": trace.tokens,
                "counter": trace.counter,
            }
        )

    def _ranges(self, messages: Sequence[Message]) -> list[list[int]]:
        """Return the numbers of the messages as [first, last] pairs; what was not seen like this before is written."""
        known: dict[int, tuple[Stored, int]] = {}
        ranges: list[list[int]] = []
        for message in messages:
            number = self._number(message)
            known[id(message)] = (Stored.of(message), number)
            if ranges and ranges[-1][1] == number - 1:
                ranges[-1][1] = number
            else:
                ranges.append([number, number])
        self._known = known
        return ranges

    def _number(self, message: Message) -> int:
        stored, number = self._known.get(id(message), (None, None))
        if stored is not None and number is not None and stored.is_as_stored(message):
            return number
        before = {} if stored is None or stored.message is not message else {"was": number}
        self._write({"type": "message", "id": self._next, **before, "message": message})
        self._next += 1
        return self._next - 1

    def _write(self, line: dict[str, Any]) -> None:
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            for first in self._header():
                _write_all(self._file, first)
        _write_all(self._file, _line(line))

    def _header(self) -> Iterator[bytes]:
        if _ends_inside_a_line(self.path):
            yield b"\n"
        yield _line(
            {
                "type": MARK,
                "ctxlab": VERSION,
                "agent": self._agent.agent_id,
                "manager": type(self._agent.conversation_manager).__name__,
                "sdk": _sdk_version(),
                "at": datetime.now(UTC).isoformat(),
            }
        )


def _line(line: dict[str, Any]) -> bytes:
    # ASCII: half of a surrogate pair, which a tool may return, cannot be written any other way.
    return f"{json.dumps(encode_bytes_values(line), default=repr)}\n".encode("ascii")


def _write_all(file: int, data: bytes) -> None:
    # A disk that is nearly full takes a part, and refuses the rest.
    while data:
        data = data[os.write(file, data) :]


def _ends_inside_a_line(path: Path) -> bool:
    """Say whether an earlier run was cut off in the middle of a line, which must not swallow the next one."""
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) == 0:
            return False
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"


def _sdk_version() -> str | None:
    try:
        return version("strands-agents")
    except PackageNotFoundError:
        return None


def record(agent: Any, path: "str | os.PathLike[str]") -> Recorder:
    """Record every model call, overflow, reduction and turn of a Strands agent into the file at ``path``.

    The file is made with the first event, readable for its owner only; a file that is there is added to. It holds the
    conversation in full, and is for one agent at a time. Reductions are recorded as traces with a manager of
    `conversation_manager`; with any other one the recording still shows what was live. Never raises for what goes wrong
    while recording: see ``Recorder.fault``.
    """
    recorder = Recorder(agent, path)
    recorder._attach()
    return recorder
