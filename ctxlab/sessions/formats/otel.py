"""OpenTelemetry GenAI: the messages of chat spans, as attributes, as events, or as a bare list with typed parts.

Each span repeats the whole history, so the last of a conversation holds it; where a later span holds less than one
before, something was evicted, and what was there before is a view.
"""

from typing import Any

from ctxlab.messages import Block, Conversation
from ctxlab.sessions.blocks import blocks_of, call_block, reasoning_block, result_block
from ctxlab.sessions.formats.chat import add_chat
from ctxlab.sessions.formats.claims import claim_signs
from ctxlab.sessions.formats.otel_spans import Span, spans_of
from ctxlab.sessions.jsontext import JsonError, JsonReader
from ctxlab.sessions.notebook import NoteBook
from ctxlab.sessions.reader import Reader, Reading
from ctxlab.sessions.session import Claim, View, count
from ctxlab.sessions.source import Source
from ctxlab.sessions.turns import Turns, conversation_views

_INPUT, _OUTPUT, _SYSTEM = "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions"
_EVENTS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    "gen_ai.choice": "assistant",
}
MAX_CONVERSATIONS = 50
MAX_EVICTIONS = 20


def _recognise(source: Source) -> Claim | None:
    if source.folder:
        return None
    if any(_is_call(span) for span in spans_of(source)):
        return Claim("spans with GenAI messages", "certain")
    if isinstance(source.document, dict) and (_INPUT in source.document or _OUTPUT in source.document):
        return Claim("an object with gen_ai.input.messages", "certain")
    return claim_signs(source.signs, "otel", "OpenTelemetry messages")


def _read(source: Source) -> Reading:
    if source.folder:
        raise source.refusal("spans, or messages with typed parts")
    if isinstance(source.document, dict) and (_INPUT in source.document or _OUTPUT in source.document):
        span = Span("", "", "", "", 0, source.document, ())
        return Reading(source.name, conversation_views(_messages(span, source.book), "the messages"), "messages")
    calls = [span for span in spans_of(source) if _is_call(span)]
    if not calls:
        turns = Turns(source.book)
        for where, raw in source.listed():
            _add(turns, raw, where, source.book)
        return Reading(source.name, conversation_views(turns.conversation(), "the messages"), "messages")
    threads = _threads(calls, spans_of(source))
    if len(threads) > MAX_CONVERSATIONS:
        source.book.add("skipped", f"conversations beyond the first {MAX_CONVERSATIONS}", f"{len(threads)} there")
    views: dict[str, View] = {}
    for name, spans in list(threads.items())[:MAX_CONVERSATIONS]:
        views |= _views(name, spans, source.book)
    shown = max(views, key=lambda name: len(views[name].messages))
    return Reading(source.name, views, shown)


def _is_call(span: Span) -> bool:
    """Say whether a span is a model call: an agent's own span repeats what its calls hold, and a tool's is a part."""
    if span.attributes.get("gen_ai.operation.name") in ("invoke_agent", "execute_tool", "create_agent", "embeddings"):
        return False
    return any(key in span.attributes for key in (_INPUT, _OUTPUT)) or any(
        name in _EVENTS or _INPUT in inside or _OUTPUT in inside for name, inside in span.events
    )


def _threads(calls: list[Span], spans: list[Span]) -> dict[str, list[Span]]:
    """Group the calls by conversation: by its id and agent where they are given, else by the agent's span above."""
    by_id = {(span.trace, span.id): span for span in spans}
    keyed: dict[tuple[str, ...], list[Span]] = {}
    names: dict[tuple[str, ...], str] = {}
    for call in calls:
        above, steps = call, 0
        while steps < 100 and above.attributes.get("gen_ai.operation.name") != "invoke_agent":
            parent = by_id.get((above.trace, above.parent))
            if parent is None or not above.parent:
                break
            above, steps = parent, steps + 1
        agent = above.attributes.get("gen_ai.agent.name", call.attributes.get("gen_ai.agent.name"))
        name = agent[:60] if isinstance(agent, str) and agent else "conversation"
        conversation = call.attributes.get("gen_ai.conversation.id", above.attributes.get("gen_ai.conversation.id"))
        key: tuple[str, ...] = (name, above.trace, above.id)
        if isinstance(conversation, str):
            key = (name, conversation)
        keyed.setdefault(key, []).append(call)
        names[key] = name
    threads: dict[str, list[Span]] = {}
    for key, found in keyed.items():
        name = names[key]
        threads[name if name not in threads else f"{name} ({len(threads) + 1})"] = found
    return threads


def _views(name: str, calls: list[Span], book: NoteBook) -> dict[str, View]:
    """Return the last call's conversation, and that of each call after which the next one held less."""
    lengths = [len(_input(call)) for call in calls]
    evicted = [index for index in range(len(calls) - 1) if lengths[index + 1] < lengths[index]]
    last = _messages(calls[-1], book)
    about = f"the last of {count(len(calls), 'call')} of {name} with its answer"
    views = conversation_views(last, about, name)
    for number, index in enumerate(evicted[-MAX_EVICTIONS:], 1):
        before = _messages(calls[index], NoteBook())
        views[f"{name}, before eviction {number}"] = View(before, f"{about}, before the next one held less")
    return views


def _input(call: Span) -> list[Any]:
    """Return the raw messages that a call was made with."""
    for attributes in (call.attributes, *(inside for _, inside in call.events)):
        found = _json(attributes.get(_INPUT), NoteBook(), "")
        if isinstance(found, list):
            return found
    return [name for name, _ in call.events if name in _EVENTS and name != "gen_ai.choice"]


def _messages(call: Span, book: NoteBook) -> Conversation:
    turns = Turns(book)
    sources = [call.attributes, *(inside for _, inside in call.events)]
    for key in (_SYSTEM, _INPUT, _OUTPUT):
        for attributes in sources:
            found = _json(attributes.get(key), book, f"{call.where}.{key}")
            if found is None:
                continue
            items = [{"role": "system", "parts": found}] if key == _SYSTEM else found
            for index, raw in enumerate(_matched(items, book, call.where) if isinstance(items, list) else ()):
                _add(turns, raw, f"{call.where}.{key}[{index}]", book)
            break
    for index, (name, inside) in enumerate(call.events):
        if name in _EVENTS:
            _add_event(turns, _EVENTS[name], inside, f"{call.where}.events[{index}]", book)
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


def _add(turns: Turns, raw: Any, where: str, book: NoteBook) -> None:
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


OTEL = Reader("otel", "OpenTelemetry GenAI spans or messages", _recognise, _read)
