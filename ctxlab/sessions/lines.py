"""JSONL: one message a line, bare or wrapped as Strands stores it ({"message": …, "message_id": …}).

Lines that wrap messages in another envelope (with "type", "uuid", …) belong to other formats.
"""

from typing import Any

from ctxlab.sessions.evidence import foreign_name, signs
from ctxlab.sessions.messages_list import claim
from ctxlab.sessions.notebook import NoteBook
from ctxlab.sessions.reader import Reader, Reading
from ctxlab.sessions.session import Claim, SessionFormatError, View
from ctxlab.sessions.shape import conversation
from ctxlab.sessions.source import Record, Source


def unwrap(stored: Any, where: str, book: NoteBook | None = None) -> Any:
    """Return the message of a stored record, its ``redact_message`` where that is set; a bare message as it is."""
    if not isinstance(stored, dict) or "role" in stored or "message" not in stored:
        return stored
    redacted = stored.get("redact_message")
    if redacted is None:
        return stored["message"]
    if not isinstance(redacted, dict):
        if book:
            book.add("repaired", "redact_message that is no object, left out", where)
        return stored["message"]
    if book:
        book.add("read", "a redacted message, shown as redacted", where)
    return redacted


def _records(source: Source) -> tuple[Record, ...]:
    # A file of one line is one JSON document, too.
    document = source.document
    if not source.records and isinstance(document, dict) and ("role" in document or "message" in document):
        return (Record(1, document),)
    return source.records


def _in_an_envelope(record: Record) -> bool:
    return isinstance(record.value, dict) and "message" in record.value and isinstance(record.value.get("type"), str)


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and "role" in value


def _recognise(source: Source) -> Claim | None:
    records = _records(source)
    if not records or foreign_name(record.value for record in records[:20]) or any(map(_in_an_envelope, records)):
        return None
    bare = source.records and not any(isinstance(r.value, dict) and "message" in r.value for r in records)
    found = source.signs if bare else signs((each.where, unwrap(each.value, each.where)) for each in records)
    return claim(found, "JSON lines of messages")


def _read(source: Source) -> Reading:
    records = _records(source)
    if not records:
        raise SessionFormatError(source.path, "top level", "the format needs one message a line", "Leave format= out.")
    found = []
    last_id = -1
    for record in records:
        message = unwrap(record.value, record.where, source.book)
        if not _is_message(message):
            source.book.add("skipped", "a line that holds no message", record.where)
            continue
        number = record.value.get("message_id") if isinstance(record.value, dict) else None
        if isinstance(number, int):
            if number <= last_id:
                source.book.add("read", "message_id that does not rise; the order of the lines is kept", record.where)
            last_id = number
        found.append((record.where, message))
    if not source.records:
        source.book.add("read", "one message only; if it is of a session folder, load the folder", source.path.name)
    shaped = conversation(found, source.book)
    view = View(shaped, f"the messages of the lines ({len(shaped):,})")
    return Reading(source.path.name, {"messages": view}, "messages")


LINES = Reader("jsonl", "JSONL with one message a line", _recognise, _read)
