"""Inspect logs: one JSON object, or a zip archive (.eval) with a file a sample; long texts are kept as attachments.

Each sample is a conversation in the manner of OpenAI chat. References are resolved once: what they bring in is text.
"""

from typing import Any

from ctxlab.messages import Conversation
from ctxlab.sessions.archive import ArchivePath
from ctxlab.sessions.disk import look
from ctxlab.sessions.formats.attachments import Resolver
from ctxlab.sessions.formats.chat import add_chat
from ctxlab.sessions.formats.claims import MAX_VIEWS, built, several
from ctxlab.sessions.jsontext import JsonReader
from ctxlab.sessions.reader import Reader, Reading
from ctxlab.sessions.session import Claim, SessionFormatError
from ctxlab.sessions.source import Source, read_json
from ctxlab.sessions.turns import usage_of


def _recognise(source: Source) -> Claim | None:
    if isinstance(source.place, ArchivePath) and source.folder:
        here = look(source.place)
        if "samples" in here.folders and ("header.json" in here.files or "_journal" in here.folders):
            return Claim("an archive with header.json and samples", "certain")
    log = source.document
    if isinstance(log, dict) and isinstance(log.get("eval"), dict) and isinstance(log.get("samples"), list):
        return Claim("an object with eval and samples", "certain")
    return None


def _read(source: Source) -> Reading:
    if source.folder:
        return several(source, _from_archive(source), "the messages of")
    samples = source.document.get("samples") if isinstance(source.document, dict) else None
    if not isinstance(samples, list):
        raise source.refusal("a log of Inspect: an object with 'eval' and 'samples', or an .eval archive")
    placed = [(f"samples[{index}]", sample) for index, sample in enumerate(samples)]
    read = [_conversation(sample, where, source) for where, sample in placed[:MAX_VIEWS]]
    return several(source, [*read, *((where, ()) for where, _ in placed[MAX_VIEWS:])], "the messages of")


def _from_archive(source: Source) -> list[tuple[str, Conversation]]:
    place = source.place / "samples"
    names = [name for name in look(place).files if name.endswith(".json")]
    if not isinstance(source.place, ArchivePath) or not names:
        raise source.refusal("an .eval archive with samples")
    found: list[tuple[str, Conversation]] = []
    first: SessionFormatError | None = None
    parser = JsonReader(source.book)
    for name in names[:MAX_VIEWS]:
        try:
            found.append(_conversation(read_json(place / name, parser, source.book, name), name, source))
        except SessionFormatError as fault:
            first = first or fault
            source.book.add("skipped", "a sample that cannot be read", f"{name} ({fault.reason})")
    if first and not found:
        raise first
    return [*found, *((name, ()) for name in names[MAX_VIEWS:])]


def _conversation(sample: Any, where: str, source: Source) -> tuple[str, Conversation]:
    if not isinstance(sample, dict):
        source.book.add("skipped", "something in place of a sample", where)
        return where, ()
    messages = sample.get("messages")
    attachments = sample.get("attachments")
    transcript = sample.get("transcript")
    older = transcript.get("content") if isinstance(transcript, dict) else None
    texts = {**(older if isinstance(older, dict) else {}), **(attachments if isinstance(attachments, dict) else {})}
    resolver = Resolver(texts, where, source)
    raw = resolver.resolved(messages) if isinstance(messages, list) else []
    events = resolver.resolved(_usages(sample))
    usages = iter(events)
    placed = [(f"{where}.messages[{index}]", _with_usage(each, usages)) for index, each in enumerate(raw)]
    named = [str(sample[key])[:60] for key in ("id", "epoch") if isinstance(sample.get(key), str | int)]
    name = f"sample {named[0]}" + (f" epoch {named[1]}" if len(named) > 1 else "") if named else where
    return name, built(placed, add_chat, source.book)[1]


def _usages(sample: dict[str, Any]) -> list[Any]:
    """Return what each model call reported, in order, where there is a call for each generated message."""
    transcript = sample.get("transcript")
    events = sample.get("events", transcript.get("events") if isinstance(transcript, dict) else None)
    calls = (
        [event for event in events if isinstance(event, dict) and event.get("event") == "model"]
        if isinstance(events, list)
        else []
    )
    outputs = [call.get("output") for call in calls]
    messages = sample.get("messages")
    written = (
        [each for each in messages if isinstance(each, dict) and each.get("role") == "assistant"]
        if isinstance(messages, list)
        else []
    )
    if len(outputs) != len(written):
        return []
    return [output.get("usage") if isinstance(output, dict) else None for output in outputs]


def _with_usage(raw: Any, usages: Any) -> Any:
    if not isinstance(raw, dict) or raw.get("role") != "assistant":
        return raw
    usage = next(usages, None)
    return {**raw, "usage": usage} if usage_of(usage) else raw


INSPECT = Reader("inspect", "an Inspect log (.json, .eval)", _recognise, _read)
