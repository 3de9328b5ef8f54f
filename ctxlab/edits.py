"""What a reduction does to a conversation, as data: the closed union `Edit`.

Each edit says where, what was there before, what is there after, what it costs in tokens, and explains itself in one
sentence. No policy lives here: an edit does not know why it was chosen beyond what it carries. How it changes a
conversation is in `replay`.
"""

from dataclasses import dataclass
from typing import Any, Literal, assert_never

from ctxlab.messages import Message, text_slots
from ctxlab.trimming import TrimKind


@dataclass(frozen=True, slots=True)
class TokenChange:
    """Tokens of what an edit touches, before and after it."""

    before: int
    after: int

    @property
    def difference(self) -> int:
        """Tokens after minus tokens before: negative where the edit saves some."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class Pin:
    """Messages that become pinned because they are the first ``pin_first`` ones (#2196)."""

    messages: tuple[int, ...]
    tokens: TokenChange | None = None

    @property
    def sentence(self) -> str:
        """What this edit does, in words."""
        return f"{_the_messages(self.messages)} become{'s' if len(self.messages) == 1 else ''} pinned."


@dataclass(frozen=True, slots=True)
class TruncateText:
    """One text cut to its head, a marker and its tail; ``kept`` characters stay at each end.

    ``lost`` counts the characters of the original that are gone in all, over repeated cuts. ``rank`` of
    ``qualifying`` says which of the texts that a round could have taken this one was, the longest being 1.
    """

    message: int
    block: int
    item: int | None
    before: str
    after: str
    kept: int
    lost: int
    rank: int | None = None
    qualifying: int | None = None
    tokens: TokenChange | None = None

    @property
    def sentence(self) -> str:
        """What this edit does, in words; a text that grows is called out (401 to 446 characters)."""
        rank = f", number {self.rank:,} of {self.qualifying:,} by length," if self.rank and self.qualifying else ""
        sentence = (
            f"A text in message {self.message:,}{rank} is cut from {len(self.before):,} to {len(self.after):,} "
            f"characters: {self.kept:,} stay at each end."
        )
        if len(self.after) > len(self.before):
            return f"{sentence} With the marker it grows, and that still counts as progress."
        if len(self.after) == len(self.before):
            return f"{sentence} With the marker it is as long as before, and that still counts as progress."
        return sentence


@dataclass(frozen=True, slots=True)
class ReplaceImage:
    """An image in a tool result replaced by a placeholder text (#1756)."""

    message: int
    block: int
    item: int
    before: dict[str, Any]
    after: str
    tokens: TokenChange | None = None

    @property
    def sentence(self) -> str:
        """What this edit does, in words."""
        return f"An image in a tool result of message {self.message:,} becomes the text {self.after}."


@dataclass(frozen=True, slots=True)
class ReplaceResult:
    """A whole tool result replaced by an error text, with the status set to error (releases up to 1.28.0, #1545)."""

    message: int
    block: int
    before: dict[str, Any]
    after: dict[str, Any]
    tokens: TokenChange | None = None

    @property
    def sentence(self) -> str:
        """What this edit does, in words."""
        return (
            f"A tool result of message {self.message:,} is thrown away: it becomes an error that says it was too large."
        )


@dataclass(frozen=True, slots=True)
class CollapseTexts:
    """All texts of one message replaced by one preview in its first text; ``removed`` are the slots that vanish.

    This is the alternative that #5791 rejects: blocks disappear, inside toolResult.content too.
    """

    message: int
    first: tuple[int, int | None]
    removed: tuple[tuple[int, int | None], ...]
    before: int
    after: str
    kept: int
    tokens: TokenChange | None = None

    @property
    def sentence(self) -> str:
        """What this edit does, in words, and why it is risky."""
        inside = sum(item is not None for _, item in self.removed)
        emptied = f", {inside:,} of them inside tool results" if inside else ""
        return (
            f"All text of message {self.message:,}, {self.before:,} characters, becomes one preview of "
            f"{len(self.after):,}; {len(self.removed):,} blocks are removed{emptied}."
        )


@dataclass(frozen=True, slots=True)
class DropMessages:
    """Whole messages dropped so that the conversation starts at ``trim_point``; indices are those before the edit.

    ``kind`` is the kind of the trim point, or None where no trim point was searched (window_size 0). ``start`` is
    where the search started, ``anchor`` the plain user message kept before a tool pair (#3447).
    """

    indices: tuple[int, ...]
    trim_point: int
    kind: TrimKind | None
    start: int
    anchor: int | None = None
    tokens: TokenChange | None = None

    @property
    def sentence(self) -> str:
        """What this edit does, in words."""
        one = len(self.indices) == 1
        count = f"{len(self.indices):,} message{'' if one else 's'}"
        goes = "is" if one else "are"
        if self.kind is None:
            return f"The window is 0 messages: {count} that {goes} not pinned {goes} dropped."
        what = {
            "user": "a plain user message",
            "tool_pair": "a tool pair",
            "any": "a message whose role this release does not look at",
        }[self.kind]
        anchor = f" Message {self.anchor:,} stays before it as the anchor." if self.anchor is not None else ""
        return (
            f"The conversation is cut at message {self.trim_point:,}, {what}: {count} before it {goes} dropped.{anchor}"
        )


@dataclass(frozen=True, slots=True)
class Summarize:
    """The messages ``indices`` of the first ``split_point`` replaced by one summary; pinned ones stay before it.

    ``asked`` says that a model was asked for it: in a real agent, never in the lab.
    """

    indices: tuple[int, ...]
    split_point: int
    summary: Message
    tokens: TokenChange | None = None
    asked: bool = False

    @property
    def sentence(self) -> str:
        """What this edit does, in words."""
        length = sum(len(slot.text) for slot in text_slots(self.summary))
        size = f"{length:,} characters"
        by = f"{size}, by a model" if self.asked else f"a stand-in of {size}; no model was asked"
        return f"{len(self.indices):,} of the oldest {self.split_point:,} messages become one summary ({by})."


Edit = Pin | TruncateText | ReplaceImage | ReplaceResult | CollapseTexts | DropMessages | Summarize

EditKind = Literal["pin", "truncate", "replace image", "replace result", "collapse", "drop", "summarize"]


def edit_kind(edit: Edit) -> EditKind:
    """Name the kind of an edit in a word for tables."""
    match edit:
        case Pin():
            return "pin"
        case TruncateText():
            return "truncate"
        case ReplaceImage():
            return "replace image"
        case ReplaceResult():
            return "replace result"
        case CollapseTexts():
            return "collapse"
        case DropMessages():
            return "drop"
        case Summarize():
            return "summarize"
        case _:
            assert_never(edit)


def touched(edit: Edit) -> tuple[int, ...]:
    """Return the indices of the messages that an edit changes or drops, as they were before it."""
    match edit:
        case Pin():
            return edit.messages
        case TruncateText() | ReplaceImage() | ReplaceResult() | CollapseTexts():
            return (edit.message,)
        case DropMessages() | Summarize():
            return edit.indices
        case _:
            assert_never(edit)


def _the_messages(indices: tuple[int, ...]) -> str:
    if len(indices) == 1:
        return f"Message {indices[0]}"
    if indices == tuple(range(indices[0], indices[-1] + 1)):
        return f"Messages {indices[0]} to {indices[-1]}"
    return f"Messages {', '.join(map(str, indices))}"
