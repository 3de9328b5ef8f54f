"""The vocabulary: messages and blocks as Strands stores them, and how to look at them.

A conversation is a tuple of plain dicts that nobody mutates. Accessors are forgiving: they read what is
well-formed and pass over the rest, so that a broken session can still be looked at. No policy lives here:
nothing in this module says what may be cut.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NotRequired, TypedDict

Block = dict[str, Any]
"""One item of a message's content, a dict keyed by its kind: ``{"text": …}``, ``{"toolUse": {…}}``, …"""

BlockKind = Literal[
    "text",
    "toolUse",
    "toolResult",
    "image",
    "document",
    "video",
    "reasoningContent",
    "cachePoint",
    "guardContent",
    "citationsContent",
    "other",
]

KINDS: tuple[BlockKind, ...] = (
    "toolResult",
    "toolUse",
    "text",
    "reasoningContent",
    "image",
    "document",
    "video",
    "guardContent",
    "citationsContent",
    "cachePoint",
)
"""Kinds in the order in which a block with several keys is named: the SDK asks for tool keys first."""


class Message(TypedDict):
    """One message as Strands stores it; ``content`` is a list of blocks, unknown keys survive."""

    role: str
    content: list[Block]
    metadata: NotRequired[dict[str, Any]]


Conversation = tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class ToolPair:
    """An assistant's toolUse at ``use`` and the toolResult directly after it, by the ids that they share."""

    use: int
    result: int
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TextSlot:
    """A place that holds text: ``item`` is None for a message's own text, else its index in toolResult.content."""

    message: int
    block: int
    item: int | None
    text: str


def blocks(message: Message) -> Sequence[Block]:
    """Return the content blocks of a message; content that is missing, null or text has none."""
    content = message.get("content")
    return content if isinstance(content, list) else ()


def block_kind(block: Any) -> BlockKind:
    """Name the kind of a block by its key, ``"other"`` where no known key is there."""
    if isinstance(block, dict):
        for kind in KINDS:
            if kind in block:
                return kind
    return "other"


def has_block(message: Message, kind: str) -> bool:
    """Say whether any block of the message has the key ``kind``."""
    for block in blocks(message):  # noqa: SIM110  asked for every message, and a generator costs twice as much
        if isinstance(block, dict) and kind in block:
            return True
    return False


def has_tool_use(message: Message) -> bool:
    """Say whether the message holds a toolUse block."""
    return has_block(message, "toolUse")


def has_tool_result(message: Message) -> bool:
    """Say whether the message holds a toolResult block."""
    return has_block(message, "toolResult")


def tool_use_ids(message: Message) -> tuple[str, ...]:
    """Return the ids of the message's toolUse blocks, in order, repeats kept; a missing id is ``""``."""
    return _ids(message, "toolUse")


def tool_result_ids(message: Message) -> tuple[str, ...]:
    """Return the ids that the message's toolResult blocks answer, in order, repeats kept; a missing id is ``""``."""
    return _ids(message, "toolResult")


def _ids(message: Message, kind: str) -> tuple[str, ...]:
    return tuple(_id(block[kind]) for block in blocks(message) if isinstance(block, dict) and kind in block)


def _id(tool_block: Any) -> str:
    identifier = tool_block.get("toolUseId") if isinstance(tool_block, dict) else None
    # An id that is a number in the file still tells two calls apart.
    return identifier if isinstance(identifier, str) else "" if identifier is None else str(identifier)


def tool_pairs(messages: Sequence[Message]) -> tuple[ToolPair, ...]:
    """Find each message with a toolUse whose next message answers at least one of its ids."""
    pairs = []
    for index in range(len(messages) - 1):
        answered = set(tool_result_ids(messages[index + 1]))
        shared = tuple(use for use in tool_use_ids(messages[index]) if use in answered)
        if shared:
            pairs.append(ToolPair(index, index + 1, shared))
    return tuple(pairs)


def has_pinned_flag(message: Message) -> bool:
    """Say whether ``metadata.custom.pinned`` is the boolean True on this very message (#2196)."""
    metadata = message.get("metadata")
    custom = metadata.get("custom") if isinstance(metadata, dict) else None
    return isinstance(custom, dict) and custom.get("pinned") is True


def is_pinned(messages: Sequence[Message], index: int) -> bool:
    """Say whether a message is pinned, by its own flag or by that of an adjacent message with a common tool id (#2196).

    An empty id never counts as common.
    """
    if has_pinned_flag(messages[index]):
        return True
    neighbours = [
        messages[near]
        for near in (index - 1, index + 1)
        if 0 <= near < len(messages) and has_pinned_flag(messages[near])
    ]
    if not neighbours:
        return False
    own = _partner_ids(messages[index])
    return any(own & _partner_ids(neighbour) for neighbour in neighbours)


def pinned_indices(messages: Sequence[Message]) -> set[int]:
    """Return the indices of all messages that are pinned, as `is_pinned` says."""
    # Asked of whole conversations round after round, and hardly any message has metadata.
    flagged = [index for index, message in enumerate(messages) if "metadata" in message and has_pinned_flag(message)]
    near = {at for index in flagged for at in (index - 1, index, index + 1) if 0 <= at < len(messages)}
    return {index for index in near if is_pinned(messages, index)}


def _partner_ids(message: Message) -> set[str]:
    # A block that is both counts as a toolUse only, and an id that is empty, null or 0 is none, as in the SDK.
    dicts = (block for block in blocks(message) if isinstance(block, dict))
    tools = (block["toolUse"] if "toolUse" in block else block.get("toolResult") for block in dicts)
    return {_id(tool) for tool in tools if isinstance(tool, dict) and tool.get("toolUseId")}


def pin(message: Message) -> Message:
    """Return the message with ``metadata.custom.pinned`` set; everything else is shared."""
    metadata = message.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    custom = metadata.get("custom")
    custom = custom if isinstance(custom, dict) else {}
    return {**message, "metadata": {**metadata, "custom": {**custom, "pinned": True}}}


def text_slots(message: Message, index: int = 0) -> Iterator[TextSlot]:
    """Yield every text of a message in block and item order: its own text blocks, and text in toolResult.content.

    A json item is not text (algorithms, section 3, decided). ``index`` is recorded as the slot's message.
    """
    for at, block in enumerate(blocks(message)):
        if isinstance(block, dict):
            if isinstance(block.get("text"), str):
                yield TextSlot(index, at, None, block["text"])
            for item_at, item in enumerate(result_items(block)):
                if isinstance(item, dict) and isinstance(item.get("text"), str):
                    yield TextSlot(index, at, item_at, item["text"])


def result_items(block: Block) -> Sequence[Any]:
    """Return the items of a block's toolResult.content, none where the block has no such list."""
    result = block.get("toolResult") if isinstance(block, dict) else None
    items = result.get("content") if isinstance(result, dict) else None
    return items if isinstance(items, list) else ()


def replace_block(message: Message, block: int, new: Block) -> Message:
    """Return the message with one block exchanged; everything else is shared."""
    content = list(blocks(message))
    content[block] = new
    return {**message, "content": content}


def replace_item(message: Message, block: int, item: int, new: Block) -> Message:
    """Return the message with one item of a toolResult exchanged, in the shape that the SDK writes.

    The SDK writes the block anew with its toolResult alone, and the toolResult with all its other keys.
    """
    result = blocks(message)[block]["toolResult"]
    items = list(result["content"])
    items[item] = new
    return replace_block(message, block, {"toolResult": {**result, "content": items}})


def text_at(message: Message, block: int, item: int | None) -> str:
    """Return the text that a slot points at."""
    found = blocks(message)[block]
    text: str = found["text"] if item is None else result_items(found)[item]["text"]
    return text


def with_text(message: Message, block: int, item: int | None, text: str) -> Message:
    """Return the message with the text of one slot exchanged; an item becomes that text alone, as in the SDK."""
    if item is None:
        return replace_block(message, block, {**blocks(message)[block], "text": text})
    return replace_item(message, block, item, {"text": text})
