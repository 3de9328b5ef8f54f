"""OpenTelemetry GenAI: the messages of chat spans, as attributes, as events, or as a bare list with typed parts.

Each span repeats the whole history, so the last of a conversation holds it; where a later span holds less than one
before, something was evicted, and what was there before is a view.
"""

from ctxlab.sessions.formats.claims import claim_signs
from ctxlab.sessions.formats.otel_messages import EVENTS, INPUT, OUTPUT, add_message, input_of, messages_of
from ctxlab.sessions.formats.otel_spans import Span, spans_of
from ctxlab.sessions.notebook import NoteBook
from ctxlab.sessions.reader import Reader, Reading
from ctxlab.sessions.session import Claim, View, count
from ctxlab.sessions.source import Source
from ctxlab.sessions.turns import Turns, conversation_views

MAX_CONVERSATIONS = 50
MAX_EVICTIONS = 20


def _recognise(source: Source) -> Claim | None:
    if source.folder:
        return None
    if any(_is_call(span) for span in spans_of(source)):
        return Claim("spans with GenAI messages", "certain")
    if isinstance(source.document, dict) and (INPUT in source.document or OUTPUT in source.document):
        return Claim("an object with gen_ai.input.messages", "certain")
    return claim_signs(source.signs, "otel", "OpenTelemetry messages")


def _read(source: Source) -> Reading:
    if source.folder:
        raise source.refusal("spans, or messages with typed parts")
    if isinstance(source.document, dict) and (INPUT in source.document or OUTPUT in source.document):
        span = Span("", "", "", "", 0, source.document, ())
        return Reading(source.name, conversation_views(messages_of(span, source.book), "the messages"), "messages")
    calls = [span for span in spans_of(source) if _is_call(span)]
    if not calls:
        turns = Turns(source.book)
        for where, raw in source.listed():
            add_message(turns, raw, where, source.book)
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
    return any(key in span.attributes for key in (INPUT, OUTPUT)) or any(
        name in EVENTS or INPUT in inside or OUTPUT in inside for name, inside in span.events
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
    lengths = [len(input_of(call)) for call in calls]
    evicted = [index for index in range(len(calls) - 1) if lengths[index + 1] < lengths[index]]
    last = messages_of(calls[-1], book)
    about = f"the last of {count(len(calls), 'call')} of {name} with its answer"
    views = conversation_views(last, about, name)
    for number, index in enumerate(evicted[-MAX_EVICTIONS:], 1):
        before = messages_of(calls[index], NoteBook())
        views[f"{name}, before eviction {number}"] = View(before, f"{about}, before the next one held less")
    return views


OTEL = Reader("otel", "OpenTelemetry GenAI spans or messages", _recognise, _read)
