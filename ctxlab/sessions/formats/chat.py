"""Messages in the manner of OpenAI chat, and of those who nearly write it: Inspect, tau-bench, SWE-agent, LiteLLM.

One raw message goes into ``Turns``. Which file it comes from is not known here.
"""

from typing import Any

from ctxlab.messages import tool_use_ids
from ctxlab.sessions.blocks import blocks_of, call_block
from ctxlab.sessions.notebook import NoteBook
from ctxlab.sessions.turns import Turns


def add_chat(turns: Turns, raw: Any, where: str, book: NoteBook) -> None:
    """Add a chat message: role, content, tool calls (arguments as text or object), or the answer of a tool."""
    if not isinstance(raw, dict):
        book.add("skipped", "something in place of a message", where)
        return
    role = raw.get("role")
    if role in ("tool", "function"):
        many = raw.get("tool_call_ids")
        call_id = raw.get("tool_call_id", many[0] if isinstance(many, list) and many else raw.get("id"))
        failed = raw.get("error") not in (None, False) or raw.get("status") == "error"
        name = raw.get("name", raw.get("function"))
        turns.answer(call_id, raw.get("content"), where, failed=failed, name=name)
        return
    blocks = blocks_of(_reasoned(raw), f"{where}.content", book)
    known = set(tool_use_ids({"role": "assistant", "content": blocks}))
    calls = raw.get("tool_calls")
    for index, call in enumerate(calls if isinstance(calls, list) else ()):
        made = _call(call, f"{where}.tool_calls[{index}]", book)
        # LangChain and others store a call twice: as a block and as a call.
        if made and not known.intersection(tool_use_ids({"role": "assistant", "content": [made]}), known - {""}):
            blocks.append(made)
    if isinstance(raw.get("function_call"), dict):
        blocks.append(_call({"function": raw["function_call"]}, where, book))
    turns.add(role, blocks, where, usage=raw.get("usage"))


def _reasoned(raw: dict[str, Any]) -> Any:
    """Return the content, behind the reasoning that some providers give beside it."""
    content, reasoning = raw.get("content"), raw.get("reasoning_content")
    if not isinstance(reasoning, str) or not reasoning or isinstance(content, dict):
        return content
    said = content if isinstance(content, list) else [content] if content else []
    return [{"type": "thinking", "thinking": reasoning}, *said]


def _call(call: Any, where: str, book: NoteBook) -> Any:
    if not isinstance(call, dict):
        book.add("skipped", "something in place of a tool call", where)
        return None
    function = call.get("function")
    custom = call.get("custom")
    inside = function if isinstance(function, dict) else custom if isinstance(custom, dict) else call
    name = inside.get("name", function if isinstance(function, str) else None)
    arguments = next((inside[key] for key in ("arguments", "args", "input") if key in inside), None)
    return call_block(call.get("id"), name, arguments, where, book)
