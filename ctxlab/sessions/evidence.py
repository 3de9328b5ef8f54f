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
_NAMES = {
    "anthropic": "Anthropic messages",
    "openai-chat": "OpenAI chat messages",
    "openai-responses": "OpenAI Responses items",
    "gemini": "Gemini contents",
    "otel": "OpenTelemetry messages",
    "langchain": "LangChain messages",
    "pydantic-ai": "pydantic-ai messages",
}
_BLOCK_TYPES = {
    **dict.fromkeys(("tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"), "anthropic"),
    **dict.fromkeys(("image_url", "input_audio", "file", "refusal"), "openai-chat"),
    **dict.fromkeys(("input_text", "output_text", "input_image", "input_file", "summary_text"), "openai-responses"),
}
ITEM_TYPES = frozenset({
    "function_call", "function_call_output", "reasoning", "custom_tool_call", "custom_tool_call_output", "mcp_call",
    "mcp_list_tools", "mcp_approval_request", "mcp_approval_response", "web_search_call", "file_search_call",
    "computer_call", "computer_call_output", "local_shell_call", "local_shell_call_output", "shell_call",
    "shell_call_output", "apply_patch_call", "apply_patch_call_output", "code_interpreter_call",
    "image_generation_call", "item_reference", "compaction", "tool_search_call", "tool_search_output",
})  # fmt: skip
"""Types of Responses items that are no message."""


@dataclass(frozen=True, slots=True)
class Signs:
    """Where Converse blocks were first seen, what is foreign, how many messages there are, and the sign of each vendor.

    ``vendors`` names a format and where it was first seen; ``typed`` is the first block with a type that several use.
    """

    converse: str | None
    foreign: str | None
    messages: int
    vendors: Mapping[str, str]
    typed: str | None


def signs(raw: Iterable[tuple[str, Any]]) -> Signs:
    """Look at every message of a list of (place, JSON value): one foreign block among thousands is a sign, too."""
    converse = foreign = typed = None
    vendors: dict[str, str] = {}
    messages = 0
    for where, each in raw:
        if not isinstance(each, dict):
            continue
        messages += "role" in each
        found = _foreign_message(each)
        if found is not None:
            vendor, what = found
            vendors.setdefault(vendor, f"{where} {what}")
            foreign = foreign or f"{where} {what}, as {_NAMES[vendor]} have"
        content = each.get("content")
        for index, block in enumerate(content if isinstance(content, list) else ()):
            if not isinstance(block, dict):
                continue
            if isinstance(kind := block.get("type"), str):
                place = f"{where}.content[{index}]"
                vendor = _BLOCK_TYPES.get(kind, "anthropic" if isinstance(block.get("source"), dict) else "")
                if vendor:
                    vendors.setdefault(vendor, f"{place} is a block of type {kind!r}")
                typed = typed or f"{place} is a block of type {kind[:40]!r}"
                whose = _NAMES.get(vendor, "OpenAI and Anthropic messages")
                foreign = foreign or f"{place} is a block with a 'type' ({kind[:40]!r}), as {whose} have"
            elif converse is None and not _KEYS.isdisjoint(block):
                converse = f"{where}.content[{index}]"
    return Signs(converse, foreign, messages, vendors, typed)


def _foreign_message(message: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the vendor that writes messages with such keys, and the sign in words."""
    kind = message.get("type")
    if isinstance(kind, str):
        if kind in ITEM_TYPES or (kind == "message" and "role" in message and "message" not in message):
            return "openai-responses", f"has the type {kind!r}"
        if isinstance(message.get("data"), dict) and "role" not in message:
            return "langchain", "has 'type' and 'data'"
    if "lc" in message and isinstance(message.get("kwargs"), dict):
        return "langchain", "has 'lc' and 'kwargs'"
    for key in _CHAT_KEYS:
        if key in message and "data" not in message:
            return "openai-chat", f"has {key!r}"
    parts = message.get("parts")
    if isinstance(parts, list) and "content" not in message:
        if isinstance(message.get("kind"), str):
            return "pydantic-ai", "has 'kind' and 'parts'"
        if any(isinstance(part, dict) and isinstance(part.get("type"), str) for part in parts):
            return "otel", "has parts with a 'type'"
        return "gemini", "has 'parts'"
    role, content = message.get("role"), message.get("content")
    typed = isinstance(content, list) and any(isinstance(part, dict) and "type" in part for part in content)
    if role in _CHAT_ROLES and (isinstance(content, str) or typed):
        return "openai-chat", f"has the role {role!r}"
    return None


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
