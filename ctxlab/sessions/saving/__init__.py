"""``save``: a conversation into a new file or folder, and what the format could not hold. One module a format.

Nothing that is there is ever overwritten. What was written is loaded again and compared, so that a loss nobody thought
of is told, too.
"""

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ctxlab.messages import Conversation, Message
from ctxlab.sessions.loading import load
from ctxlab.sessions.notebook import NoteBook
from ctxlab.sessions.saving import anthropic, chat, converse, strands
from ctxlab.sessions.saving.pieces import plain
from ctxlab.sessions.session import Note, NoteKind, Session, SessionFormatError
from ctxlab.sessions.shape import message as shaped

WRITERS: dict[str, Callable[[Conversation, NoteBook], Any]] = {
    "messages": strands.message_list,
    "converse": converse.request,
    "anthropic": anthropic.request,
    "openai-chat": chat.request,
}
FORMATS = (*WRITERS, "strands-session")
"""The formats that can be written, by the names under which they are read."""


def save(session: Session | Iterable[Message], path: "str | os.PathLike[str]", format: str) -> tuple[Note, ...]:
    """Write the messages shown of a session to a new file (``strands-session``: into a storage folder).

    Returns what the format does not hold, with the place of the first case; nothing where it loads back the same.

    Raises:
        FileExistsError: something is there already.
        ValueError: there is no format of that name, or a value is nothing that JSON can hold.
        OSError: it cannot be written.
    """
    if format not in FORMATS:
        raise ValueError(f"no format {format!r} to write; there is {', '.join(map(repr, FORMATS))}")
    given = session if isinstance(session, Session) else Session.of(session)
    book = _Losses()
    messages = _in_shape(given.messages, book)
    if format == "strands-session":
        written = strands.folder(messages, Path(path), given, book)
    else:
        written = Path(path)
        _write(written, _text(messages, WRITERS[format], book))
    _read_back(messages, written, format, book)
    return book.notes()


class _Losses(NoteBook):
    """A notebook that also knows which messages it tells of."""

    def __init__(self) -> None:
        super().__init__()
        self.places: set[str] = set()

    def add(self, kind: NoteKind, text: str, where: str) -> None:
        """Write one loss down."""
        self.places.add(where.split("]")[0])
        super().add(kind, text, where)


def _in_shape(given: Conversation, book: NoteBook) -> Conversation:
    found: list[Message] = []
    for index, raw in enumerate(given):
        made = shaped(raw, f"messages[{index}]", NoteBook())
        if made is not raw:
            book.add("lost", "a message whose shape had to be repaired first", f"messages[{index}]")
        if made is not None:
            found.append(made)
    return tuple(found)


def _text(messages: Conversation, writer: Callable[[Conversation, NoteBook], Any], book: NoteBook) -> str:
    try:
        value = writer(messages, book)
        text = json.dumps(value, ensure_ascii=False, default=plain)
    except (TypeError, RecursionError, OverflowError) as fault:
        raise ValueError(f"the messages hold what JSON cannot: {fault}") from None
    try:
        text.encode()
    except UnicodeEncodeError:
        book.add("lost", "half of a surrogate pair, which is replaced when it is read", "text")
        return json.dumps(value, default=plain)
    return text


def _write(path: Path, text: str) -> None:
    # Mode x: the file system itself refuses what is there already, also a link to nowhere.
    with open(path, "x", encoding="utf-8", newline="\n") as file:
        try:
            file.write(text)
        except OSError:
            path.unlink()
            raise


def _read_back(messages: Conversation, path: Path, format: str, book: _Losses) -> None:
    """Load what was written, and note what is different there and not noted yet."""
    try:
        again = load(path, format).messages
    except SessionFormatError as fault:
        if messages:
            book.add("lost", f"it cannot be loaded again: {fault.reason}", path.name)
        return
    if len(again) != len(messages):
        # Messages that were split or moved no longer stand where they stood; why was noted when it was done.
        book.add("lost", f"read back it has {len(again)} messages, not {len(messages)}", path.name)
        return
    for index, (own, other) in enumerate(zip(messages, again, strict=True)):
        # NaN is not equal to itself, and is the same for all that.
        if own != other and repr(own) != repr(other) and f"messages[{index}" not in book.places:
            book.add("lost", "a message that reads back differently", f"messages[{index}]")
