"""What raw JSON looks like: signs of Converse blocks, other formats by name, the top of a structure in words.

Signs only. Who may read a file is decided in ``detection``.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ctxlab.messages import KINDS

_KEYS = frozenset(KINDS)
# A tuple: what stands in place of a role need not be hashable.
_CHAT_ROLES = ("system", "developer", "tool", "function")
_CHAT_KEYS = ("tool_calls", "tool_call_id", "function_call")
_ANTHROPIC_TYPES = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"})
_RESPONSES_TYPES = frozenset({"input_text", "output_text", "input_image", "function_call", "function_call_output"})


@dataclass(frozen=True, slots=True)
class Signs:
    """Where Converse blocks were first seen, where and what was foreign, and whether there is a message at all."""

    converse: str | None
    foreign: str | None
    messages: int


def signs(raw: Iterable[tuple[str, Any]]) -> Signs:
    """Look at every message of a list of (place, JSON value): one foreign block among thousands is a sign, too."""
    converse = foreign = None
    messages = 0
    for where, each in raw:
        if not isinstance(each, dict):
            continue
        messages += "role" in each
        foreign = foreign or _foreign_message(each, where)
        content = each.get("content")
        for index, block in enumerate(content if isinstance(content, list) else ()):
            if isinstance(block, dict):
                if isinstance(block.get("type"), str):
                    foreign = foreign or f"{where}.content[{index}] is {_typed(block['type'])}"
                elif converse is None and not _KEYS.isdisjoint(block):
                    converse = f"{where}.content[{index}]"
    return Signs(converse, foreign, messages)


def _foreign_message(message: Mapping[str, Any], where: str) -> str | None:
    for key in _CHAT_KEYS:
        if key in message:
            return f"{where} has {key!r}, as OpenAI chat messages have"
    if "content" not in message:
        return f"{where} has 'parts', as Gemini, OpenTelemetry and pydantic-ai have" if "parts" in message else None
    if isinstance(message["content"], str) and message.get("role") in _CHAT_ROLES:
        return f"{where} has the role {message['role']!r}, as OpenAI chat messages have"
    return None


def _typed(name: str) -> str:
    if name in _ANTHROPIC_TYPES:
        return f"a block of type {name!r}, as Anthropic messages have"
    if name in _RESPONSES_TYPES:
        return f"a block of type {name!r}, as OpenAI Responses items have"
    return f"a block with a 'type' ({name[:40]!r}), as OpenAI and Anthropic messages have"


def _has(*keys: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda record: all(key in record for key in keys)


# The formats that people bring most, so that a refusal can name them; the first that fits is named.
_OBJECTS: tuple[tuple[str, Callable[[Mapping[str, Any]], bool]], ...] = (
    ("a Codex rollout", _has("timestamp", "type", "payload")),
    (
        "Claude Code lines",
        lambda r: "type" in r and any(k in r for k in ("parentUuid", "uuid", "leafUuid", "sessionId")),
    ),
    ("a Gemini CLI chat", _has("sessionId", "projectHash")),
    ("a Kimi session", _has("type", "protocol_version")),
    ("a Pi session", lambda r: r.get("type") in ("session", "message") and "timestamp" in r),
    ("an ATIF trajectory", lambda r: str(r.get("schema_version", ""))[:4] == "ATIF"),
    ("an OpenTelemetry export", lambda r: any(key in r for key in ("resourceSpans", "trace_id", "traceId"))),
    ("an Inspect log", lambda r: "eval" in r and any(key in r for key in ("samples", "plan", "status"))),
    ("a SWE-agent trajectory", _has("trajectory", "history")),
    ("a tau-bench run", lambda r: "traj" in r or ("task_id" in r and "messages" in r)),
    ("LangChain messages", lambda r: ("lc" in r and "kwargs" in r) or ("type" in r and "data" in r and len(r) == 2)),
    ("pydantic-ai messages", _has("kind", "parts")),
    ("an OpenAI Responses request", lambda r: "input" in r and "model" in r),
    ("OpenAI Responses items", lambda r: r.get("type") in ("function_call", "function_call_output", "reasoning")),
    ("Gemini contents", lambda r: "contents" in r or ("parts" in r and r.get("role") in ("user", "model"))),
    ("OpenTelemetry messages", _has("role", "parts")),
)


def foreign_name(records: Iterable[Any]) -> str | None:
    """Name the format that JSON objects look like, by their keys; None where they look like none that is known."""
    for record in records:
        if isinstance(record, dict):
            for name, fits in _OBJECTS:
                if fits(record):
                    return name
    return None


def outline(value: Any, depth: int = 2) -> str:
    """Describe the top of a JSON structure in one line; keys are shortened and escaped, values are not shown."""
    if isinstance(value, dict):
        if not value or depth == 0:
            return f"object of {len(value)} keys"
        shown = [f"{key[:30]!r}: {outline(item, depth - 1)}" for key, item in list(value.items())[:6]]
        more = [f"… {len(value) - 6} more"] if len(value) > 6 else []
        return "{" + ", ".join([*shown, *more]) + "}"
    if isinstance(value, list):
        return f"list of {len(value)}" + (f" [{outline(value[0], depth - 1)}, …]" if value and depth else "")
    if isinstance(value, bytes):
        return "bytes"
    return {type(None): "null", bool: "boolean", str: "text"}.get(type(value), "number")
