"""The public bug reports of cases.json, and what came of a case in their own shorthand.

``kept [..]`` are original indices, ``S`` a summary, ``a->b chars`` all strings and bytes in content.
"""

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from ctxlab.messages import Conversation
from ctxlab.reduction import ContextWindowOverflow, Round
from ctxlab.replay import survivors
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import Summarizing

Case = dict[str, Any]
CASES: tuple[Case, ...] = tuple(json.loads(Path(__file__).with_name("cases.json").read_text(encoding="utf-8")))
BY_ID: dict[str, Case] = {case["id"]: case for case in CASES}

NOT_CONTENT = ("toolUseId", "name", "status", "format")
"""Strings that the shorthand does not count: they name and label, nobody reads them."""

SUMMARY = "SUMMARY"


def cases(op: str) -> list[Case]:
    """Return the cases of one kind of operation."""
    return [case for case in CASES if case["params"]["op"] == op]


def conversation(case: Case) -> Conversation:
    """Return the messages of a case, with its base64 bytes as bytes."""
    return tuple(_with_bytes(case["input_messages"]))


def _with_bytes(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: base64.b64decode(part) if key == "bytes" and isinstance(part, str) else _with_bytes(part)
            for key, part in value.items()
        }
    return [_with_bytes(part) for part in value] if isinstance(value, list) else value


def characters(messages: Conversation) -> int:
    """Return all characters and bytes in the content of the messages."""
    return sum(_characters(message.get("content")) for message in messages)


def _characters(value: Any) -> int:
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, dict):
        return sum(_characters(part) for key, part in value.items() if key not in NOT_CONTENT)
    return sum(map(_characters, value)) if isinstance(value, list) else 0


def sliding(case: Case, build: Callable[..., SlidingWindow]) -> SlidingWindow:
    """Return the sliding window that a case asks for."""
    wanted = ("window_size", "should_truncate_results", "pin_first")
    return build(**{key: value for key, value in case["params"].items() if key in wanted})


def summarizing(case: Case, build: Callable[..., Summarizing]) -> Summarizing:
    """Return the summarizing manager that a case asks for, with its literal summary."""
    wanted = ("summary_ratio", "preserve_recent_messages", "pin_first")
    options = {key: value for key, value in case["params"].items() if key in wanted}
    return build(**options, summarize=lambda messages: SUMMARY)


def play(case: Case, manager: SlidingWindow | Summarizing) -> tuple[str, Conversation]:
    """Return in the shorthand what a manager makes of a case, step by step, and the messages at the end."""
    messages = conversation(case)
    names: list[object] = list(range(len(messages)))
    said = []
    for number in range(1, case["params"].get("times", 1) + 1):
        before = messages
        try:
            if case["params"]["mode"] == "routine":
                done = manager.manage(messages)
            else:
                done = manager.reduce(messages, overflow=True, round=number)
        except ContextWindowOverflow as overflow:
            said.append(f"raise ContextWindowOverflowException: {overflow}")
            break
        names, old_names = _renamed(names, done), names
        messages = done.messages
        same = names == old_names and characters(before) == characters(messages)
        what = "truncated" if names == old_names else f"kept {names}"
        said.append("no change" if same else f"{what} {characters(before)}->{characters(messages)} chars")
    if len(said) > 4:
        said = [*said[:4], f"... {len(said)} steps ...", *said[-2:]]
    return "; ".join(said), messages


def _renamed(names: list[object], done: Round) -> list[object]:
    for edit in done.edits:
        names = ["S" if at is None else names[at] for at in survivors(edit, len(names))]
    return names


def observed(case: Case, version: str) -> str:
    """Return what a release was seen to do: the entry of the last listed release up to it."""
    known = {key.removeprefix("from "): value for key, value in case["observed_by_version"].items()}
    reached = [listed for listed in known if _numbers(listed) <= _numbers(version)]
    return cast(str, known[max(reached, key=_numbers)])


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
