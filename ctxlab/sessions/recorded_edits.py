"""Edits as JSON objects and back, for recordings. A text that an edit took away is not written down a second time.

It is in the messages that the edit started from, so `edit_from` is given the conversation before it. Input is never
trusted: whatever does not fit raises ValueError.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, assert_never, get_args

from ctxlab.edits import (
    CollapseTexts,
    DropMessages,
    Edit,
    Pin,
    ReplaceImage,
    ReplaceResult,
    Summarize,
    TokenChange,
    TruncateText,
    edit_kind,
)
from ctxlab.messages import Conversation, Message, blocks, result_items, text_at
from ctxlab.trimming import TrimKind


def edit_record(edit: Edit) -> dict[str, Any]:
    """Return an edit as an object of JSON values (and bytes in messages, as messages have them)."""
    tokens = [edit.tokens.before, edit.tokens.after] if edit.tokens else None
    return {"edit": edit_kind(edit), **_fields(edit), "tokens": tokens, "sentence": edit.sentence}


def _fields(edit: Edit) -> dict[str, Any]:
    names: tuple[str, ...]
    match edit:
        case Pin():
            names = ("messages",)
        case TruncateText():
            names = ("message", "block", "item", "after", "kept", "lost", "rank", "qualifying")
        case ReplaceImage():
            names = ("message", "block", "item", "after")
        case ReplaceResult():
            names = ("message", "block", "after")
        case CollapseTexts():
            names = ("message", "first", "removed", "before", "after", "kept")
        case DropMessages():
            names = ("indices", "trim_point", "kind", "start", "anchor")
        case Summarize():
            names = ("indices", "split_point", "summary", "asked")
        case _:
            assert_never(edit)
    return {name: getattr(edit, name) for name in names}


def edit_from(record: Any, messages: Conversation) -> Edit:
    """Return the edit of a record, given the conversation that it changed. Raises ValueError where they do not fit."""
    try:
        return _edit(record, messages)
    except (KeyError, IndexError, TypeError, AttributeError) as fault:
        raise ValueError(f"no edit of this conversation: {type(fault).__name__}: {fault}") from None


def _edit(record: dict[str, Any], messages: Conversation) -> Edit:
    tokens = TokenChange(*_numbers(record["tokens"], 2)) if record.get("tokens") is not None else None
    kind = record["edit"]
    if kind == "pin":
        return Pin(_indices(record["messages"], len(messages)), tokens)
    if kind == "drop":
        return DropMessages(
            _indices(record["indices"], len(messages)),
            _number(record["trim_point"]),
            _trim_kind(record["kind"]),
            _number(record["start"]),
            None if record["anchor"] is None else _number(record["anchor"]),
            tokens,
        )
    if kind == "summarize":
        split = _index(record["split_point"], len(messages) + 1)
        return Summarize(
            _indices(record["indices"], split), split, _message(record["summary"]), tokens, record["asked"] is True
        )
    message = _index(record["message"], len(messages))
    if kind == "collapse":
        first, *removed = (_slot(each, messages[message]) for each in (record["first"], *record["removed"]))
        before, kept = _number(record["before"]), _number(record["kept"])
        return CollapseTexts(message, first, tuple(removed), before, _text(record["after"]), kept, tokens)
    block = _index(record["block"], len(blocks(messages[message])))
    if kind == "replace result":
        if not isinstance(record["after"], dict):
            raise ValueError("a replaced result that is no object")
        return ReplaceResult(message, block, blocks(messages[message])[block], record["after"], tokens)
    slot = _slot([block, record["item"]], messages[message])
    if kind == "replace image" and slot[1] is not None:
        image = result_items(blocks(messages[message])[block])[slot[1]]
        return ReplaceImage(message, block, slot[1], image, _text(record["after"]), tokens)
    if kind == "truncate":
        text, after = _text(text_at(messages[message], *slot)), _text(record["after"])
        kept, lost = _number(record["kept"]), _number(record["lost"])
        rank, qualifying = (None if record[name] is None else _number(record[name]) for name in ("rank", "qualifying"))
        return TruncateText(message, *slot, text, after, kept, lost, rank, qualifying, tokens)
    raise ValueError(f"no kind of edit: {str(kind)[:40]!r}")


def _number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"no whole number: {str(value)[:40]!r}")
    return value


def _numbers(values: Any, count: int) -> list[int]:
    if not isinstance(values, list) or len(values) != count:
        raise ValueError(f"not {count} numbers: {str(values)[:40]!r}")
    return [_number(value) for value in values]


def _index(value: Any, count: int) -> int:
    if not 0 <= _number(value) < count:
        raise ValueError(f"an index that is not in a list of {count}: {value}")
    return int(value)


def _indices(values: Any, count: int) -> tuple[int, ...]:
    found = tuple(_index(value, count) for value in values)
    if not found or any(a >= b for a, b in pairwise(found)):
        raise ValueError("indices that do not rise, or none")
    return found


def _slot(value: Sequence[Any], message: Message) -> tuple[int, int | None]:
    block, item = value
    block = _index(block, len(blocks(message)))
    return block, None if item is None else _index(item, len(result_items(blocks(message)[block])))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"no text: {str(value)[:40]!r}")
    return value


def _trim_kind(value: Any) -> TrimKind | None:
    if value is not None and value not in get_args(TrimKind):
        raise ValueError(f"no kind of trim point: {str(value)[:40]!r}")
    kind: TrimKind | None = value
    return kind


def _message(value: Any) -> Message:
    if not isinstance(value, dict) or not isinstance(value.get("role"), str):
        raise ValueError("a summary that is no message")
    content = value.get("content")
    if not isinstance(content, list) or not all(isinstance(block, dict) for block in content):
        raise ValueError("a summary without a list of blocks")
    return {"role": value["role"], "content": content}
