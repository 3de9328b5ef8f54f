"""One small conversation as each tool would have written it: what every reader must make the same messages of.

Written by hand after the formats' own documentation; nothing here was recorded.
"""

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

from ctxlab.messages import Conversation
from tests.builders import assistant, message, result_block, use_block, user

QUESTION, SAID, ANSWER = "Compare the two files.", "I read both.", "They differ: α is not β 🧵."
CALLS = (("a1", {"path": "a.txt"}, "alpha"), ("a2", {"path": "b.txt", "lines": [1, 2]}, "beta"))

CONVERSATION: Conversation = (
    user(QUESTION),
    message("assistant", {"text": SAID}, *(use_block(call, "read", arguments) for call, arguments, _ in CALLS)),
    message("user", *(result_block(call, text) for call, _, text in CALLS)),
    assistant(ANSWER),
)


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def document(value: Any) -> bytes:
    return json.dumps(value).encode()


def anthropic_messages() -> list[dict[str, Any]]:
    uses = [{"type": "tool_use", "id": call, "name": "read", "input": arguments} for call, arguments, _ in CALLS]
    results = [{"type": "tool_result", "tool_use_id": call, "content": text} for call, _, text in CALLS]
    return [
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": [{"type": "text", "text": SAID}, *uses]},
        {"role": "user", "content": results},
        {"role": "assistant", "content": [{"type": "text", "text": ANSWER}]},
    ]


def chat_messages() -> list[dict[str, Any]]:
    calls = [
        {"id": call, "type": "function", "function": {"name": "read", "arguments": json.dumps(arguments)}}
        for call, arguments, _ in CALLS
    ]
    return [
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": SAID, "tool_calls": calls},
        *({"role": "tool", "tool_call_id": call, "content": text} for call, _, text in CALLS),
        {"role": "assistant", "content": ANSWER},
    ]


def response_items() -> list[dict[str, Any]]:
    said = [{"type": "output_text", "text": SAID}]
    calls = [
        {"type": "function_call", "call_id": call, "name": "read", "arguments": json.dumps(arguments)}
        for call, arguments, _ in CALLS
    ]
    outputs = [{"type": "function_call_output", "call_id": call, "output": text} for call, _, text in CALLS]
    return [
        {"role": "user", "content": QUESTION},
        {"type": "message", "role": "assistant", "content": said},
        *calls,
        *outputs,
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ANSWER}]},
    ]


def gemini_contents() -> list[dict[str, Any]]:
    """Without any id, as the API gives them: calls and responses pair by name and order."""
    calls = [{"functionCall": {"name": "read", "args": arguments}} for _, arguments, _ in CALLS]
    responses = [{"functionResponse": {"name": "read", "response": {"output": text}}} for _, _, text in CALLS]
    return [
        {"role": "user", "parts": [{"text": QUESTION}]},
        {"role": "model", "parts": [{"text": SAID}, *calls]},
        {"role": "user", "parts": responses},
        {"role": "model", "parts": [{"text": ANSWER}]},
    ]


def langchain_dicts() -> list[dict[str, Any]]:
    calls = [{"name": "read", "args": arguments, "id": call, "type": "tool_call"} for call, arguments, _ in CALLS]
    return [
        {"type": "human", "data": {"content": QUESTION, "type": "human"}},
        {"type": "ai", "data": {"content": SAID, "type": "ai", "tool_calls": calls}},
        *({"type": "tool", "data": {"content": text, "type": "tool", "tool_call_id": call}} for call, _, text in CALLS),
        {"type": "ai", "data": {"content": ANSWER, "type": "ai", "tool_calls": []}},
    ]


def claude_code_lines() -> list[dict[str, Any]]:
    """One block a line; the answers hang on their own calls, so that the chain of parents misses one of them."""
    found: list[dict[str, Any]] = [{"type": "summary", "summary": "files", "leafUuid": "7"}]

    def add(uuid: str, parent: str | None, role: str, content: Any, **more: Any) -> None:
        head = {"uuid": uuid, "parentUuid": parent, "sessionId": "s", "isSidechain": False, "type": role}
        found.append({**head, "message": {"role": role, "content": content, **more}})

    first, second = anthropic_messages()[1:3]
    add("1", None, "user", QUESTION)
    for number, block in enumerate(first["content"]):
        add(str(2 + number), str(1 + number), "assistant", [block], id="msg_1")
    add("5", "3", "user", [second["content"][0]])
    add("6", "4", "user", [second["content"][1]])
    add("7", "6", "assistant", [{"type": "text", "text": ANSWER}], id="msg_2")
    return found


def codex_lines() -> list[dict[str, Any]]:
    at = {"timestamp": "2026-01-01T00:00:00Z"}
    usage = {"input_tokens": 70, "cached_input_tokens": 20, "output_tokens": 5, "total_tokens": 75}
    counted = {"type": "token_count", "info": {"last_token_usage": usage, "total_token_usage": usage}}
    return [
        {**at, "type": "session_meta", "payload": {"id": "x"}},
        {**at, "type": "event_msg", "payload": {"type": "user_message", "message": QUESTION}},
        *({**at, "type": "response_item", "payload": item} for item in response_items()),
        {**at, "type": "event_msg", "payload": counted},
    ]


def inspect_sample() -> dict[str, Any]:
    calls = [{"id": call, "function": "read", "arguments": arguments} for call, arguments, _ in CALLS]
    return {
        "id": 1,
        "epoch": 1,
        "messages": [
            {"role": "user", "content": "attachment://" + "a" * 32},
            {"role": "assistant", "content": [{"type": "text", "text": SAID}], "tool_calls": calls},
            *({"role": "tool", "tool_call_id": call, "function": "read", "content": text} for call, _, text in CALLS),
            {"role": "assistant", "content": ANSWER},
        ],
        "attachments": {"a" * 32: QUESTION},
    }


def inspect_archive() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", document({"version": 3, "eval": {}}))
        archive.writestr("samples/1_epoch_1.json", document(inspect_sample()))
    return packed.getvalue()


def otel_messages() -> list[dict[str, Any]]:
    calls = [{"type": "tool_call", "id": call, "name": "read", "arguments": arguments} for call, arguments, _ in CALLS]
    answers = [{"type": "tool_call_response", "id": call, "response": text} for call, _, text in CALLS]
    return [
        {"role": "user", "parts": [{"type": "text", "content": QUESTION}]},
        {"role": "assistant", "parts": [{"type": "text", "content": SAID}, *calls]},
        {"role": "tool", "parts": answers},
        {"role": "assistant", "parts": [{"type": "text", "content": ANSWER}]},
    ]


def otel_export() -> dict[str, Any]:
    """OTLP JSON: two calls of one agent, the second with the whole history."""

    def span(number: int, attributes: dict[str, Any]) -> dict[str, Any]:
        pairs = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
        ids = {"traceId": "t", "spanId": f"s{number}", "parentSpanId": "s0" if number else ""}
        return {**ids, "name": "chat", "startTimeUnixNano": str(1000 + number), "attributes": pairs}

    told = otel_messages()
    spans = [
        span(0, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "reader"}),
        span(1, {"gen_ai.input.messages": json.dumps(told[:1]), "gen_ai.output.messages": json.dumps(told[1:2])}),
        span(2, {"gen_ai.input.messages": json.dumps(told[:3]), "gen_ai.output.messages": json.dumps(told[3:])}),
    ]
    return {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}


def pydantic_ai_messages() -> list[dict[str, Any]]:
    calls = [
        {"part_kind": "tool-call", "tool_name": "read", "args": json.dumps(arguments), "tool_call_id": call}
        for call, arguments, _ in CALLS
    ]
    returns = [
        {"part_kind": "tool-return", "tool_name": "read", "content": text, "tool_call_id": call}
        for call, _, text in CALLS
    ]
    return [
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": QUESTION}]},
        {"kind": "response", "parts": [{"part_kind": "text", "content": SAID}, *calls], "usage": {"input_tokens": 9}},
        {"kind": "request", "parts": returns},
        {"kind": "response", "parts": [{"part_kind": "text", "content": ANSWER}]},
    ]


def snapshot() -> dict[str, Any]:
    return {"scope": "agent", "schema_version": "1.0", "data": {"messages": CONVERSATION}}


def zipped_folder() -> bytes:
    """A session folder as S3 keeps it, behind a prefix, zipped."""
    packed = io.BytesIO()
    state = {"__name__": "SlidingWindowConversationManager", "removed_message_count": 0}
    prefix = "backup/2026/session_talk"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{prefix}/session.json", document({"session_id": "talk", "session_type": "AGENT"}))
        agent = f"{prefix}/agents/agent_default"
        archive.writestr(f"{agent}/agent.json", document({"agent_id": "default", "conversation_manager_state": state}))
        for number, each in enumerate(CONVERSATION):
            stored = {"message": each, "message_id": number, "redact_message": None}
            archive.writestr(f"{agent}/messages/message_{number}.json", document(stored))
    return packed.getvalue()


def recording_lines() -> list[dict[str, Any]]:
    said = [{"type": "message", "id": number, "message": each} for number, each in enumerate(CONVERSATION)]
    call, end = {"type": "call", "live": [[0, 2]]}, {"type": "end", "live": [[0, 3]]}
    head = {"type": "recording", "ctxlab": 1, "agent": "a", "manager": "SlidingWindowConversationManager"}
    return [head, {"type": "turn"}, *said[:3], call, said[3], end]


# By a name for people: the format that reads it, and the bytes of the file.
FILES: dict[str, tuple[str, Callable[[], bytes]]] = {
    "session folder, zipped": ("strands-session", zipped_folder),
    "snapshot": ("strands-snapshot", lambda: document(snapshot())),
    "list of messages": ("messages", lambda: document(CONVERSATION)),
    "Converse request": ("converse", lambda: document({"modelId": "m", "messages": CONVERSATION})),
    "message a line": ("jsonl", lambda: lines(*CONVERSATION)),
    "recording": ("recording", lambda: lines(*recording_lines())),
    "Anthropic request": ("anthropic", lambda: document({"model": "m", "messages": anthropic_messages()})),
    "Anthropic list": ("anthropic", lambda: document(anthropic_messages())),
    "Anthropic lines": ("anthropic", lambda: lines(*anthropic_messages())),
    "chat list": ("openai-chat", lambda: document(chat_messages())),
    "chat request": ("openai-chat", lambda: document({"model": "m", "messages": chat_messages()})),
    "chat lines": ("openai-chat", lambda: lines(*chat_messages())),
    "training data": ("openai-chat", lambda: lines({"messages": chat_messages()}, {"messages": chat_messages()[:1]})),
    "tau-bench": ("openai-chat", lambda: document([{"task_id": 1, "traj": chat_messages()}])),
    "tau2-bench": ("openai-chat", lambda: document({"simulations": [{"id": "x", "messages": chat_messages()}]})),
    "Responses items": ("openai-responses", lambda: document(response_items())),
    "Responses request": ("openai-responses", lambda: document({"model": "m", "input": response_items()})),
    "Responses lines": ("openai-responses", lambda: lines(*response_items())),
    "LangChain dicts": ("langchain", lambda: document(langchain_dicts())),
    "LangChain state": ("langchain", lambda: document({"messages": langchain_dicts()})),
    "Claude Code": ("claude-code", lambda: lines(*claude_code_lines())),
    "Codex": ("codex", lambda: lines(*codex_lines())),
    "Inspect log": ("inspect", lambda: document({"eval": {}, "samples": [inspect_sample()]})),
    "Inspect archive": ("inspect", inspect_archive),
    "OTLP": ("otel", lambda: document(otel_export())),
    "OTLP lines": ("otel", lambda: lines(otel_export(), {"resourceSpans": []})),
    "OpenTelemetry messages": ("otel", lambda: document(otel_messages())),
    "pydantic-ai": ("pydantic-ai", lambda: document(pydantic_ai_messages())),
    "Gemini contents": ("gemini", lambda: document({"contents": gemini_contents()})),
}
