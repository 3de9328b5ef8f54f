"""How an edit changes a conversation: `apply`, the only place where one changes, and where each message came from.

Nothing is mutated; what an edit leaves alone is shared between the conversation before and after it.
"""

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import assert_never

from ctxlab.edits import CollapseTexts, DropMessages, Edit, Pin, ReplaceImage, ReplaceResult, Summarize, TruncateText
from ctxlab.messages import Conversation, Message, blocks, pin, replace_block, replace_item, with_text

InPlace = TruncateText | ReplaceImage | ReplaceResult | CollapseTexts
"""The edits that change one message and leave all others."""


def survivors(edit: Edit, count: int) -> Sequence[int | None]:
    """Return where each message after the edit was among the ``count`` before it; None for a new summary."""
    match edit:
        case Pin() | TruncateText() | ReplaceImage() | ReplaceResult() | CollapseTexts():
            return range(count)
        case DropMessages():
            first = len(edit.indices)
            if edit.indices == tuple(range(first)):
                return range(first, count)
            dropped = set(edit.indices)
            end = max(dropped) + 1
            return [*(index for index in range(end) if index not in dropped), *range(end, count)]
        case Summarize():
            summarized = set(edit.indices)
            kept = [index for index in range(edit.split_point) if index not in summarized]
            return [*kept, None, *range(edit.split_point, count)]
        case _:
            assert_never(edit)


def origins(edits: Iterable[Edit], count: int) -> Sequence[int | None]:
    """Return where each message left after the edits was among the ``count`` before them; None for a new one."""
    return reduce(carried, edits, range(count))


def carried(places: Sequence[int | None], edit: Edit) -> Sequence[int | None]:
    """Return the places of the messages that are left after an edit, of a place each before it; None for a new one."""
    kept = survivors(edit, len(places))
    if isinstance(kept, range):
        return places[kept.start :] if kept.start else places
    return [None if index is None else places[index] for index in kept]


def replayed(messages: Conversation, edits: Iterable[Edit]) -> Conversation:
    """Return the conversation after all of the edits, in their order."""
    todo = tuple(edits)
    if len(todo) == 1:
        return apply(messages, todo[0])
    state = list(messages)
    for edit in todo:
        if isinstance(edit, InPlace):
            state[edit.message] = changed(state[edit.message], edit)
        else:
            state = list(apply(tuple(state), edit))
    return tuple(state)


def apply(messages: Conversation, edit: Edit) -> Conversation:
    """Return the conversation after the edit; what did not change is shared, nothing is mutated."""
    match edit:
        case Pin():
            pinned = set(edit.messages)
            return tuple(pin(message) if index in pinned else message for index, message in enumerate(messages))
        case TruncateText() | ReplaceImage() | ReplaceResult() | CollapseTexts():
            new = changed(messages[edit.message], edit)
            return (*messages[: edit.message], new, *messages[edit.message + 1 :])
        case DropMessages():
            kept = survivors(edit, len(messages))
            if isinstance(kept, range):
                return messages[kept.start :]
            return tuple(messages[index] for index in kept if index is not None)
        case Summarize():
            return tuple(edit.summary if index is None else messages[index] for index in survivors(edit, len(messages)))
        case _:
            assert_never(edit)


def changed(message: Message, edit: InPlace) -> Message:
    """Return the message after an edit that changes it alone."""
    match edit:
        case TruncateText():
            return with_text(message, edit.block, edit.item, edit.after)
        case ReplaceImage():
            return replace_item(message, edit.block, edit.item, {"text": edit.after})
        case ReplaceResult():
            return replace_block(message, edit.block, edit.after)
        case CollapseTexts():
            return _collapsed(message, edit)
        case _:
            assert_never(edit)


def _collapsed(message: Message, edit: CollapseTexts) -> Message:
    changed = with_text(message, *edit.first, edit.after)
    gone = set(edit.removed)
    content = []
    for at, block in enumerate(blocks(changed)):
        if (at, None) in gone:
            continue
        inside = {item for of, item in gone if of == at and item is not None}
        if inside:
            result = block["toolResult"]
            items = [item for item_at, item in enumerate(result["content"]) if item_at not in inside]
            block = {**block, "toolResult": {**result, "content": items}}
        content.append(block)
    return {**changed, "content": content}
