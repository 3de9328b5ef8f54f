"""Reads the sessions of the Pi coding agent: one message a line, behind a header."""

from ctxlab.sessions import Claim, Reader, Reading, Source, Turns, View


def recognise(source: Source) -> Claim | None:
    first = source.records[0].value if source.records else {}
    return Claim("a header of type session", "certain") if first.get("type") == "session" else None


def read(source: Source) -> Reading:
    turns = Turns(source.book)
    for line in source.records:
        message = line.value.get("message")
        if line.value.get("type") != "message" or not isinstance(message, dict):
            source.book.add("skipped", "a line that holds no message", line.where)
        elif message.get("role") == "toolResult":
            turns.answer(message.get("toolCallId"), message.get("content"), line.where, failed=message.get("isError"))
        else:
            turns.say(message.get("role"), message.get("content"), line.where)
    return Reading(source.name, {"messages": View(turns.conversation(), "the whole session")}, "messages")


PI = Reader("pi", "a session of the Pi coding agent", recognise, read)
