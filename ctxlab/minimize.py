"""Delta debugging: the smallest part of a conversation in which the same thing still goes wrong.

What goes wrong is a predicate that the caller brings; nothing here knows a policy. Turns go first, then tool pairs,
messages, parallel calls and blocks, and at last the length of each text. Tries are bounded, and each is reported.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ctxlab.filler import LETTER, filler, short_filler, with_texts, without_words
from ctxlab.messages import (
    Conversation,
    Message,
    has_tool_result,
    has_tool_use,
    result_items,
    text_slots,
    tool_result_ids,
    tool_use_ids,
)

Predicate = Callable[[Conversation], bool]
"""Whether the same thing still goes wrong in a conversation."""

Progress = Callable[[int, int, int], object]
"""Called before each try with the tries so far, and the messages and characters left. It may raise `Enough`."""

MAX_TRIES = 5_000
"""Tries after which the smallest conversation found so far has to do."""

NEAR = 4
"""So many neighbours are tried together at every place in the end: two roles in a row keep their order that way."""


class Enough(Exception):  # noqa: N818  no error: it says that what was found so far will do
    """Raised by a progress callback to end a search with the smallest conversation found so far."""


@dataclass(frozen=True, slots=True)
class Minimized:
    """The smallest conversation found: ``origins`` says where each message was, ``tries`` how often was asked.

    ``finished`` is False where the search was ended before nothing more could go. ``has_words`` says that texts of the
    original are in it: because they were to be kept, or because the fault depends on them.
    """

    messages: Conversation
    origins: tuple[int, ...]
    tries: int
    finished: bool
    has_words: bool


def minimize(
    messages: Sequence[Message],
    wrong: Predicate,
    keep_text: bool = False,
    max_tries: int = MAX_TRIES,
    progress: Progress | None = None,
) -> Minimized:
    """Return the smallest conversation found in which ``wrong`` still holds; at the start it must hold.

    Texts become filler, as short as the fault allows; with ``keep_text`` they stay as they are. Raises ValueError
    where nothing is wrong with the conversation given.
    """
    start = tuple(messages)
    if not wrong(start):
        raise ValueError("nothing is wrong with the conversation as it is, so there is nothing to reduce")
    search = _Search(start, wrong, max_tries, progress)
    finished = True
    try:
        if not keep_text:
            search.take(without_words(start, short=True))
        search.drop_messages()
        search.drop_blocks(keep_text)
        if not keep_text:
            search.shorten_texts()
    except Enough:
        finished = False
    has_words = keep_text
    if not keep_text:
        plain = without_words(search.messages)
        has_words = plain != search.messages and not wrong(plain)
        search.messages = search.messages if has_words else plain
    return Minimized(search.messages, search.origins, search.tries, finished, has_words)


class _Search:
    """The smallest conversation so far, with the origin of each message."""

    def __init__(self, start: Conversation, wrong: Predicate, max_tries: int, progress: Progress | None) -> None:
        self.messages = start
        self.origins = tuple(range(len(start)))
        self.wrong = wrong
        self.max_tries = max_tries
        self.progress = progress
        self.tries = 0

    def take(self, candidate: Conversation, origins: tuple[int, ...] | None = None) -> bool:
        """Ask whether the same thing goes wrong in a candidate, and go on from it if so."""
        if self.tries >= self.max_tries:
            raise Enough
        if self.progress is not None:
            self.progress(self.tries, len(self.messages), characters(self.messages))
        self.tries += 1
        if not self.wrong(candidate):
            return False
        self.messages = candidate
        self.origins = self.origins if origins is None else origins
        return True

    def drop_messages(self) -> None:
        """Drop turns, tool pairs and messages, until none of them can go."""
        before = None
        while before != self.origins:
            before = self.origins
            for grouped in (turns, pairs, singles):
                self._halve(grouped)
                self._sweep(grouped)

    def _halve(self, grouped: "Grouping") -> None:
        """Drop ever smaller stretches, half of all groups first."""
        size = len(grouped(self.messages)) // 2
        while size > NEAR:
            at = 0
            while at < len(grouped(self.messages)):
                if not self._drop(grouped, at, size):
                    at += size
            size //= 2

    def _sweep(self, grouped: "Grouping") -> None:
        """Drop up to `NEAR` neighbours at every place, the last ones first, until none can go."""
        dropped = True
        while dropped:
            dropped = False
            for size in range(NEAR, 0, -1):
                at = len(grouped(self.messages)) - size
                while at >= 0:
                    dropped |= self._drop(grouped, at, size)
                    at = min(at - 1, len(grouped(self.messages)) - size)

    def _drop(self, grouped: "Grouping", at: int, size: int) -> bool:
        groups = grouped(self.messages)
        gone = {index for group in groups[at : at + size] for index in group}
        kept = [index for index in range(len(self.messages)) if index not in gone]
        return bool(gone) and bool(kept) and self._keep(kept)

    def _keep(self, kept: list[int]) -> bool:
        return self.take(tuple(self.messages[at] for at in kept), tuple(self.origins[at] for at in kept))

    def drop_blocks(self, keep_text: bool) -> None:
        """Drop calls together with their answers, then single blocks and items, as long as a message has others."""
        for candidates in (without_call, without_block, without_item):
            dropped = True
            while dropped:
                dropped = any(self.take(candidate) for candidate in candidates(self.messages))

    def shorten_texts(self) -> None:
        """Make every text as short as the fault allows: drop from its front, then from its end."""
        slots = [slot for index, message in enumerate(self.messages) for slot in text_slots(message, index)]
        for slot in sorted(slots, key=lambda slot: -len(slot.text)):
            place = (slot.message, slot.block, slot.item)
            text = slot.text
            for shorter in (short_filler(text), LETTER * len(text), filler(text)):
                if text.strip() and len(text) > 1 and self.take(with_texts(self.messages, {place: shorter})):
                    text = shorter
                    break
            before = ""
            while before != text and len(text) > 1:
                before = text
                text = self._shortened(place, text, lambda text, gone: text[gone:])
                text = self._shortened(place, text, lambda text, gone: text[: len(text) - gone])

    def _shortened(self, place: tuple[int, int, int | None], text: str, without: Callable[[str, int], str]) -> str:
        """Drop as many characters of a text on one side as can go, found by halving."""
        goes, fails = 0, len(text)
        step = 1
        while fails - goes > 1:
            # One at first: most texts that are left cannot lose any.
            gone = goes + min(step, (fails - goes) // 2)
            step = len(text)
            if self.take(with_texts(self.messages, {place: without(text, gone)})):
                goes = gone
            else:
                fails = gone
        return without(text, goes)


Grouping = Callable[[Conversation], list[list[int]]]


def singles(messages: Conversation) -> list[list[int]]:
    """Return every message for itself."""
    return [[index] for index in range(len(messages))]


def pairs(messages: Conversation) -> list[list[int]]:
    """Return every toolUse together with the toolResult after it, other messages alone."""
    groups: list[list[int]] = []
    for index, message in enumerate(messages):
        if index and has_tool_result(message) and has_tool_use(messages[index - 1]) and len(groups[-1]) == 1:
            groups[-1].append(index)
        else:
            groups.append([index])
    return groups


def turns(messages: Conversation) -> list[list[int]]:
    """Return every plain user message together with all that follows up to the next one."""
    groups: list[list[int]] = []
    for index, message in enumerate(messages):
        if not groups or (message.get("role") == "user" and not has_tool_result(message)):
            groups.append([])
        groups[-1].append(index)
    return groups


def characters(messages: Sequence[Message]) -> int:
    """Return the characters of all texts."""
    return sum(len(slot.text) for message in messages for slot in text_slots(message))


def without_call(messages: Conversation) -> Iterator[Conversation]:
    """Yield the conversation without one of several parallel calls and its answer."""
    for index in range(len(messages) - 1):
        uses, results = tool_use_ids(messages[index]), tool_result_ids(messages[index + 1])
        if len(uses) > 1:
            for identifier in dict.fromkeys(uses):
                if identifier in results and len(results) > 1:
                    both = (_without_id(messages[at], identifier) for at in (index, index + 1))
                    yield (*messages[:index], *both, *messages[index + 2 :])


def without_block(messages: Conversation) -> Iterator[Conversation]:
    """Yield the conversation without one of several blocks of a message."""
    for index, message in enumerate(messages):
        for at in range(len(message["content"]) if len(message["content"]) > 1 else 0):
            content = [block for other, block in enumerate(message["content"]) if other != at]
            yield (*messages[:index], {**message, "content": content}, *messages[index + 1 :])


def without_item(messages: Conversation) -> Iterator[Conversation]:
    """Yield the conversation without one of several items of a toolResult."""
    for index, message in enumerate(messages):
        for at, block in enumerate(message["content"]):
            items = result_items(block)
            for gone in range(len(items) if len(items) > 1 else 0):
                left = [item for other, item in enumerate(items) if other != gone]
                changed = {**block, "toolResult": {**block["toolResult"], "content": left}}
                content = [*message["content"][:at], changed, *message["content"][at + 1 :]]
                yield (*messages[:index], {**message, "content": content}, *messages[index + 1 :])


def _without_id(message: Message, identifier: str) -> Message:
    def has_id(block: dict[str, object]) -> bool:
        tool = block.get("toolUse", block.get("toolResult"))
        return isinstance(tool, dict) and str(tool.get("toolUseId")) == identifier

    return {**message, "content": [block for block in message["content"] if not has_id(block)]}
