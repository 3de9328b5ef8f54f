"""The messages of one GenAI span: typed parts in attributes or events, and the events of the older conventions.

Which spans belong together is not known here.
"""

from typing import Any

from ctxlab.messages import Block, Conversation
from ctxlab.sessions.blocks import blocks_of, call_block, reasoning_block, result_block
from ctxlab.sessions.formats.chat import add_chat
from ctxlab.sessions.formats.otel_spans import Span
from ctxlab.sessions.jsontext import JsonError, JsonReader
from ctxlab.sessions.notebook import NoteBook
from ctxlab.sessions.turns import Turns

INPUT, OUTPUT, _SYSTEM = "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions"
EVENTS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    "gen_ai.choice": "assistant",
}


def input_of(call: Span) -> list[Any]:
    """Return the raw messages that a call was made with."""
    for attributes in (call.attributes, *(inside for _, inside in call.events)):
        found = _json(attributes.get(INPUT), NoteBook(), "")
        if isinstance(found, list):
            return found
    return [name for name, _ in call.events if name in EVENTS and name != "gen_ai.choice"]


def messages_of(call: Span, book: NoteBook) -> Conversation:
    """Return what a call was made with and what it answered."""
    turns = Turns(book)
    sources = [call.attributes, *(inside for _, inside in call.events)]
    for key in (_SYSTEM, INPUT, OUTPUT):
        for attributes in sources:
            found = _json(attributes.get(key), book, f"{call.where}.{key}")
            if found is None:
                continue
            items = [{"role": "system", "parts": found}] if key == _SYSTEM else found
            for index, raw in enumerate(_matched(items, book, call.where) if isinstance(items, list) else ()):
                add_message(turns, raw, f"{call.where}.{key}[{index}]", book)
            break
    for index, (name, inside) in enumerate(call.events):
        if name in EVENTS:
            _add_event(turns, EVENTS[name], inside, f"{call.where}.events[{index}]", book)
    # The answer is what the usage of the call belongs to.
    if turns.last_role == "assistant":
        turns.report(
            {key.removeprefix("gen_ai.usage."): number for key, number in call.attributes.items() if "usage" in key}
        )
    return turns.conversation()


def _add_event(turns: Turns, role: str, inside: dict[str, Any], where: str, book: NoteBook) -> None:
    """Add an event of the older conventions; Strands puts its own content there as JSON."""
    content = _json(inside.get("content", inside.get("message")), book, where)
    if isinstance(content, dict) and "content" in content:
        content = content["content"]
    calls = _json(inside.get("tool_calls"), book, where)
    own = isinstance(content, list) and any(isinstance(block, dict) and "toolResult" in block for block in content)
    if role == "tool" and not own:
        add_chat(turns, {"role": "tool", "tool_call_id": inside.get("id"), "content": content}, where, book)
    else:
        add_chat(turns, {"role": "user" if own else role, "content": content, "tool_calls": calls}, where, book)


def add_message(turns: Turns, raw: Any, where: str, book: NoteBook) -> None:
    """Add a message with typed parts."""
    if not isinstance(raw, dict) or not isinstance(raw.get("parts"), list):
        book.add("skipped", "something in place of a message with parts", where)
        return
    blocks: list[Block] = []
    for index, part in enumerate(raw["parts"]):
        place = f"{where}.parts[{index}]"
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "tool_call":
            blocks.append(call_block(part.get("id"), part.get("name"), part.get("arguments"), place, book))
        elif kind == "tool_call_response":
            said = part.get("response", part.get("result"))
            blocks.append(result_block(part.get("id"), said, False, place, book))
        elif kind == "reasoning":
            blocks.append(reasoning_block(part.get("content")))
        elif kind in ("blob", "uri", "file") and isinstance(part.get("modality"), str):
            media = {**part, "type": part["modality"] if part["modality"] in ("image", "video") else "document"}
            blocks += blocks_of([{**media, "data": part.get("content"), "url": part.get("uri")}], place, book)
        elif isinstance(kind, str) and kind != "text" and isinstance(part.get("content"), dict):
            # Strands puts every other block there under its own key.
            blocks.append({kind: part["content"]})
        else:
            blocks += blocks_of([part], place, book)
    role = raw.get("role")
    turns.add("user" if role == "tool" else role, blocks, where, join=True)


def _matched(items: list[Any], book: NoteBook, where: str) -> list[Any]:
    """Give calls the ids of their answers where an instrumentation wrote two kinds of ids (item and call)."""
    found = list(items)
    for index in range(len(items) - 1):
        calls = [part for part in _parts(found[index]) if part.get("type") == "tool_call"]
        answers = [part for part in _parts(items[index + 1]) if part.get("type") == "tool_call_response"]
        ids = [part.get("id") for part in answers]
        if not calls or len(calls) != len(answers) or any(call.get("id") in ids for call in calls):
            continue
        book.add("repaired", "calls whose ids are not those of their answers, paired in order", where)
        others = iter(ids)
        parts = [
            {**part, "id": next(others)} if part.get("type") == "tool_call" else part for part in _parts(found[index])
        ]
        found[index] = {**found[index], "parts": parts}
    return found


def _parts(raw: Any) -> list[dict[str, Any]]:
    parts = raw.get("parts") if isinstance(raw, dict) else None
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []


def _json(value: Any, book: NoteBook, where: str) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return JsonReader(book).parse(value, where)
    except JsonError:
        return value
