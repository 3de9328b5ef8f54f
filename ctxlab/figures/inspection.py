"""What an inspector says of one message: its blocks as text, the other halves of its tool pairs, what each cut changed.

Plain text: whoever shows it escapes it. Nothing is drawn here and no rule is repeated.
"""

import json
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, assert_never

from ctxlab.edits import CollapseTexts, ReplaceImage, ReplaceResult, Summarize, TokenChange, TruncateText
from ctxlab.figures.history import History
from ctxlab.messages import Block, Conversation, Message, block_kind, blocks, result_items, text_at
from ctxlab.replay import InPlace, changed

RAW = 20_000
"""Characters of raw JSON that are shown."""

ENDS = 300
"""Characters shown at each end of what a change leaves alone."""

CHANGED = 1200
"""Characters shown of what a change takes away or brings."""


@dataclass(frozen=True, slots=True)
class Partner:
    """The other halves of the tool call, or of its answer, in one block: the messages that hold them."""

    block: int
    role: Literal["call", "answer"]
    index: int
    messages: tuple[int, ...]

    @property
    def sentence(self) -> str:
        """Where the other half is, and whether it is where it has to be."""
        call = self.role == "call"
        if not self.messages:
            return "not answered anywhere" if call else "answers a call that is not there"
        where = ", ".join(f"{message:,}" for message in self.messages[:4]) + (", …" if len(self.messages) > 4 else "")
        near = self.index + 1 if call else self.index - 1
        apart = "" if near in self.messages else f", which is not the {'next' if call else 'previous'} one"
        return f"{'answered in' if call else 'answers'} message {where}{apart}"


class Partners:
    """The tool calls and answers of a conversation by their ids, gone through once."""

    def __init__(self, messages: Conversation) -> None:
        self.messages = messages
        self._calls: defaultdict[str, list[int]] = defaultdict(list)
        self._answers: defaultdict[str, list[int]] = defaultdict(list)
        for index, message in enumerate(messages):
            for _, role, identifier in _halves(message):
                places = (self._calls if role == "call" else self._answers)[identifier]
                if not places or places[-1] != index:
                    places.append(index)

    def of(self, index: int) -> tuple[Partner, ...]:
        """Return the partners of each tool block of a message; where an id comes again, the nearest first."""
        found = []
        for at, role, identifier in _halves(self.messages[index]):
            places = (self._answers if role == "call" else self._calls).get(identifier, [])
            after = bisect_left(places, index)
            forward, back = places[after:], places[:after][::-1]
            found.append(Partner(at, role, index, tuple((*forward, *back) if role == "call" else (*back, *forward))))
        return tuple(found)


def _halves(message: Message) -> Iterator[tuple[int, Literal["call", "answer"], str]]:
    for at, block in enumerate(blocks(message)):
        if not isinstance(block, dict):
            continue
        kinds: tuple[tuple[str, Literal["call", "answer"]], ...] = (("toolUse", "call"), ("toolResult", "answer"))
        for kind, role in kinds:
            inner = block.get(kind)
            identifier = inner.get("toolUseId") if isinstance(inner, dict) else None
            if identifier is not None:
                yield at, role, str(identifier)


@dataclass(frozen=True, slots=True)
class Change:
    """One cut in a message: ``head`` and ``tail`` stay, ``removed`` goes between them and ``added`` takes its place.

    ``edit`` counts from 1. Where several texts become one, ``texts`` has what stays and goes of each of them, and the
    others are about all of them together. Long parts are shortened, and say so.
    """

    edit: int
    round: int
    sentence: str
    tokens: TokenChange | None
    head: str
    removed: str
    added: str
    tail: str
    texts: tuple["Taken", ...] = ()


@dataclass(frozen=True, slots=True)
class Taken:
    """One of several texts that become one: where it stood, what stays of it at its ends, and what goes between."""

    where: str
    head: str
    removed: str
    tail: str


@dataclass(frozen=True, slots=True)
class Event:
    """What befalls a message as a whole: ``edit`` (from 1) pins it, keeps it as the anchor, drops it or sums it up.

    Of a summary that took it, ``text`` is the summary's, and ``changes`` are the cuts of it later on.
    """

    edit: int
    round: int
    what: str
    sentence: str
    text: str = ""
    changes: tuple[Change, ...] = ()


def changes(history: History, messages: Conversation, index: int, last: int) -> Iterator[Change]:
    """Yield the cuts in place of one of the messages of the start, up to edit ``last``."""
    rows = history.shortened
    numbers = rows[(rows[:, 1] == index) & (rows[:, 0] <= last), 0].tolist()
    yield from _changes(history, messages[index], numbers)


def events(history: History, index: int, last: int) -> Iterator[Event]:
    """Yield what befalls a message of the start as a whole up to edit ``last``, and then the summary that took it."""
    pinned, gone = int(history.pinned_at[index]), int(history.gone_at[index])
    if pinned == 0:
        yield Event(0, 0, "pinned", "It is pinned from the start.")
    elif pinned <= last:
        yield _event(history, pinned, "pinned")
    for cut in history.cuts:
        if cut.anchor == index and cut.edit <= last:
            yield _event(history, cut.edit, "kept as the anchor")
    while gone <= last:
        edit = history.edits[gone - 1]
        if not isinstance(edit, Summarize):
            yield _event(history, gone, "dropped")
            return
        made = history.summaries[gone]
        told = [number for number in made.changes if number <= last]
        event = _event(history, gone, "summed up")
        text = "\n".join(map(block_text, blocks(edit.summary)))
        yield replace(event, text=_middle(text), changes=tuple(_changes(history, edit.summary, told)))
        gone = made.gone_at


def _event(history: History, number: int, what: str) -> Event:
    return Event(number, int(history.rounds[number]), what, history.edits[number - 1].sentence)


def _changes(history: History, message: Message, numbers: Iterable[int]) -> Iterator[Change]:
    """Yield edits in place of one message, one after the other; ``message`` is as it was before them."""
    for number in numbers:
        edit = history.edits[number - 1]
        if isinstance(edit, InPlace):
            before, after = _texts(edit, message)
            head, removed, added, tail = parted(before, after)
            texts = _taken(edit, message, len(head), len(tail)) if isinstance(edit, CollapseTexts) else ()
            yield Change(
                number, int(history.rounds[number]), edit.sentence, edit.tokens,
                _end(head, keep_last=True), _middle(removed), _middle(added), _end(tail, keep_last=False), texts,
            )  # fmt: skip
            message = changed(message, edit)


def _taken(edit: CollapseTexts, message: Message, head: int, tail: int) -> tuple[Taken, ...]:
    """Return each text that a collapse takes; ``head`` and ``tail`` characters of all of them together stay."""
    found, start = [], 0
    end = edit.before - tail
    for block, item in (edit.first, *edit.removed):
        text = text_at(message, block, item)
        from_, to = max(0, min(len(text), head - start)), max(0, min(len(text), end - start))
        where = f"block {block + 1:,}" + ("" if item is None else f", item {item + 1:,}")
        parts = text[:from_], text[from_:to], text[to:]
        found.append(Taken(where, _end(parts[0], keep_last=True), _middle(parts[1]), _end(parts[2], keep_last=False)))
        start += len(text) + 1  # a line break stands between two of them
    return tuple(found)


def parted(before: str, after: str) -> tuple[str, str, str, str]:
    """Return what two texts begin with alike, what only each of them has, and what they end with alike."""
    most = min(len(before), len(after))
    start = _alike(before, after, most)
    end = _alike(before[::-1], after[::-1], most - start)
    return (
        before[:start],
        before[start : len(before) - end],
        after[start : len(after) - end],
        before[len(before) - end :],
    )


def _alike(one: str, other: str, most: int) -> int:
    """Return how many characters two texts begin with alike, by halving: texts are long and mostly the same."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _end(text: str, keep_last: bool) -> str:
    if len(text) <= ENDS:
        return text
    left_out = f"[… {len(text) - ENDS:,} characters not shown …]"
    return left_out + text[-ENDS:] if keep_last else text[:ENDS] + left_out


def _middle(text: str) -> str:
    if len(text) <= CHANGED:
        return text
    half = CHANGED // 2
    return f"{text[:half]}[… {len(text) - CHANGED:,} characters not shown …]{text[-half:]}"


def _texts(edit: InPlace, message: Message) -> tuple[str, str]:
    """Return the text before and after an edit in place of a message."""
    match edit:
        case TruncateText():
            return edit.before, edit.after
        case ReplaceImage():
            return brief(edit.before), edit.after
        case ReplaceResult():
            return block_text(edit.before), block_text(edit.after)
        case CollapseTexts():
            return "\n".join(text_at(message, *slot) for slot in (edit.first, *edit.removed)), edit.after
        case _:
            assert_never(edit)


def block_text(block: Block) -> str:
    """Return a block as text, line by line."""
    return "\n".join(_lines(block))


def _lines(block: Block) -> Iterator[str]:
    kind = block_kind(block)
    if kind == "text":
        yield str(block["text"])
    elif kind == "toolUse":
        use = block["toolUse"]
        yield f"{use.get('name')} ({use.get('toolUseId')})" if isinstance(use, dict) else str(use)
        if isinstance(use, dict):
            yield str(use.get("input"))
    elif kind == "toolResult":
        result = block["toolResult"]
        if isinstance(result, dict):
            yield f"({result.get('toolUseId')}, {result.get('status')})"
        for item in result_items(block):
            yield str(item["text"]) if isinstance(item, dict) and "text" in item else brief(item)
    else:
        yield brief(block)


def brief(value: object) -> str:
    """Return a value as text; bytes are only counted."""
    if isinstance(value, bytes):
        return f"[{len(value):,} bytes]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {brief(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(brief, value)) + "]"
    return str(value)


def raw_json(message: Message) -> tuple[str, int]:
    """Return a message as JSON, as much of it as is shown, and the number of characters left out; bytes are counted."""
    whole = json.dumps(message, indent=2, ensure_ascii=False, default=_unknown)
    return whole[:RAW], max(0, len(whole) - RAW)


def _unknown(value: Any) -> str:
    return brief(value) if isinstance(value, bytes) else repr(value)
