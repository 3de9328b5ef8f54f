"""What a loader hands over: a conversation in one or more views, and notes on how it was read.

The plain records of the package live here. Reading files, and knowing any format, must not.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from ctxlab.messages import Conversation, Message

NoteKind = Literal["read", "repaired", "skipped", "lost"]
Certainty = Literal["certain", "likely", "possible"]


def count(number: int, noun: str) -> str:
    """Return "1 message", "2 messages"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def plain(text: str) -> str:
    """Return text from a file fit for one line of a terminal: what does not print is written as an escape."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


@dataclass(frozen=True, slots=True)
class Note:
    """One thing that the loader read, repaired or skipped, and where; ``str()`` is one line that is safe to print."""

    kind: NoteKind
    where: str
    text: str

    def __str__(self) -> str:
        return plain(f"{self.kind}: {self.where}: {self.text}" if self.where else f"{self.kind}: {self.text}")


class SessionFormatError(ValueError):
    """A file or folder that cannot be read as a session: which, at what place, why, and what to do next."""

    def __init__(self, path: object, where: str, reason: str, advice: str = "") -> None:
        super().__init__(str(path), where, reason, advice)
        self.path = str(path)
        self.where = where
        self.reason = reason
        self.advice = advice

    def __str__(self) -> str:
        place = f"{self.path}: {self.where}" if self.where else self.path
        return plain(f"{place}: {self.reason}.") + (f" {plain(self.advice)}" if self.advice else "")


@dataclass(frozen=True, slots=True)
class Claim:
    """The detection rule that fired for a format, in words, and how sure it is."""

    rule: str
    certainty: Certainty

    def __str__(self) -> str:
        return f"{self.rule} ({self.certainty})"


@dataclass(frozen=True, slots=True)
class View:
    """One way to look at a session: its messages, what they are in words, and whose they are.

    ``reported`` are the input tokens of calls that no message here carries: (messages sent, tokens).
    """

    messages: Conversation = field(repr=False)
    about: str
    agent_id: str | None = None
    manager: str | None = None
    removed_message_count: int = 0
    reported: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation as it was read: ``messages`` is the view shown, ``views`` are all that the file offers.

    Every message is a dict with a str ``role`` and a list ``content`` of dicts; ``toolUse`` and ``toolResult`` are
    dicts, ``toolResult.content`` is a list of dicts, ``metadata`` is a dict where it is there. Nobody mutates them.
    ``notes[0]`` says which view is shown; the others say what was read, repaired and skipped.
    """

    name: str
    format: str
    path: Path | None
    detected: Claim
    view: str
    notes: tuple[Note, ...]
    offers: Mapping[str, View] = field(repr=False)

    @classmethod
    def of(cls, messages: Iterable[Message], name: str = "conversation") -> "Session":
        """Make a session of messages that are already in memory; they are taken as they are."""
        return make_session(
            name,
            "memory",
            None,
            Claim("given in memory", "certain"),
            "messages",
            {"messages": View(tuple(messages), "the messages given")},
            (),
        )

    @property
    def messages(self) -> Conversation:
        """The messages of the view shown."""
        return self.offers[self.view].messages

    @property
    def views(self) -> Mapping[str, Conversation]:
        """The messages of every view, by name, in the order in which to offer them."""
        return MappingProxyType({name: view.messages for name, view in self.offers.items()})

    @property
    def agent_id(self) -> str | None:
        """The agent whose messages are shown, where the session names it."""
        return self.offers[self.view].agent_id

    @property
    def manager(self) -> str | None:
        """The class name of the conversation manager that the session was stored with."""
        return self.offers[self.view].manager

    @property
    def removed_message_count(self) -> int:
        """How many stored messages the manager had removed from the front when the session was stored."""
        return self.offers[self.view].removed_message_count

    @property
    def reported_input_tokens(self) -> tuple[tuple[int, int], ...]:
        """What the provider reported: (messages sent, input tokens) of each call in the view shown, in order.

        It is in ``metadata.usage`` of the answer, whose index is the number of messages that were sent.
        """
        found = [
            (index, tokens)
            for index, message in enumerate(self.messages)
            if (tokens := _input_tokens(message)) is not None
        ]
        return tuple(sorted([*found, *self.offers[self.view].reported]))

    def with_view(self, name: str) -> "Session":
        """Return the same session with another of its views shown.

        Raises:
            ValueError: there is no view of that name.
        """
        if name not in self.offers:
            raise ValueError(f"no view {name!r} in this session; it has {', '.join(map(repr, self.offers))}")
        return replace(self, view=name, notes=(_shown(self.path, name, self.offers), *self.notes[1:]))


def make_session(
    name: str,
    format_name: str,
    path: Path | None,
    detected: Claim,
    view: str,
    offers: Mapping[str, View],
    notes: Iterable[Note],
) -> Session:
    """Build a session whose first note says which of its views is shown."""
    notes = (_shown(path, view, offers), *notes)
    return Session(plain(name), format_name, path, detected, view, notes, MappingProxyType(dict(offers)))


def _shown(path: Path | None, view: str, offers: Mapping[str, View]) -> Note:
    shown = offers[view]
    text = f"shown is {view!r}, {shown.about}"
    others = [
        f"{name!r} ({count(len(other.messages), 'message')})"
        if other.messages != shown.messages
        else f"{name!r}, the same"
        for name, other in offers.items()
        if name != view
    ]
    if others:
        listed = others if len(others) <= 4 else [*others[:3], f"{len(others) - 3} more"]
        text += f"; also there: {', '.join(listed)}"
    return Note("read", path.name if path else "", text)


def _input_tokens(message: Message) -> int | None:
    metadata = message.get("metadata")
    usage = metadata.get("usage") if isinstance(metadata, dict) else None
    tokens = usage.get("inputTokens") if isinstance(usage, dict) else None
    return tokens if isinstance(tokens, int) and not isinstance(tokens, bool) else None
