"""Items in the manner of OpenAI Responses, as the API, the Agents SDK and Codex keep them.

One item goes into ``Turns``. Which file it comes from is not known here.
"""

from typing import Any

from ctxlab.sessions.blocks import blocks_of, reasoning_block, sealed_block
from ctxlab.sessions.notebook import NoteBook
from ctxlab.sessions.turns import Turns

_NAMED = {
    "local_shell_call": "local_shell",
    "shell_call": "shell",
    "computer_call": "computer",
    "apply_patch_call": "apply_patch",
}


def add_item(turns: Turns, raw: Any, where: str, book: NoteBook, turn: Any = None) -> None:
    """Add one item; what the assistant does between two inputs is one turn."""
    if not isinstance(raw, dict):
        book.add("skipped", "something in place of an item", where)
        return
    kind = raw.get("type", "message")
    # A turn ends where anybody else has spoken: the number of messages tells it from the next one.
    turn = turn if turn is not None else len(turns) if turns.last_role != "assistant" else len(turns) - 1
    if kind == "message":
        turns.say(raw.get("role"), raw.get("content"), where, turn=turn if raw.get("role") == "assistant" else None)
    elif kind == "custom_tool_call":
        # Its input is free text for a tool that parses it itself.
        use = {"toolUseId": raw.get("call_id"), "name": raw.get("name"), "input": raw.get("input")}
        turns.add("assistant", [{"toolUse": use}], where, turn)
    elif isinstance(kind, str) and (kind == "function_call" or kind in _NAMED):
        arguments = next((raw[key] for key in ("arguments", "input", "action", "operation") if key in raw), None)
        turns.call(raw.get("call_id", raw.get("id")), raw.get("name", _NAMED.get(kind)), arguments, where, turn)
    elif isinstance(kind, str) and kind.endswith("_output") and "call_id" in raw:
        turns.answer(raw.get("call_id"), raw.get("output"), where)
    elif kind == "reasoning":
        blocks = [reasoning_block(text) for text in _words(raw)]
        sealed = raw.get("encrypted_content")
        if isinstance(sealed, str) and sealed:
            blocks.append(sealed_block(sealed))
        if blocks:
            turns.add("assistant", blocks, where, turn)
        else:
            book.add("skipped", "reasoning without any content", where)
    elif isinstance(kind, str):
        turns.add("assistant", blocks_of([raw], where, book), where, turn)
    else:
        book.add("skipped", "an item whose type is no text", where)


def _words(raw: dict[str, Any]) -> list[str]:
    parts = [part for key in ("summary", "content") if isinstance(raw.get(key), list) for part in raw[key]]
    return [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
