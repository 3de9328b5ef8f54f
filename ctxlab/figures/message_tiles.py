"""A message as a tile: its role, whether it is pinned, and what each of its blocks says, in a line.

Text is cut short and made visible, not escaped for any markup. Nothing is drawn here.
"""

from typing import TypedDict

from ctxlab.escaping import one_line
from ctxlab.figures.palette import COLOURS
from ctxlab.figures.words import role
from ctxlab.messages import Block, Message, block_kind, blocks, has_pinned_flag, result_items

EXCERPT = 90
"""Characters of a block that are shown."""

PARTS = 6
"""Blocks of a message that are shown."""


class Part(TypedDict):
    """One block: its kind, the colour of its kind, and what it says."""

    kind: str
    colour: str
    text: str


class MessageTile(TypedDict):
    """One message."""

    role: str
    pinned: bool
    parts: list[Part]


def message_tile(message: Message) -> MessageTile:
    """Return a message as it is shown on a tile."""
    return {
        "role": role(message),
        "pinned": has_pinned_flag(message),
        "parts": [_part(block, str(message.get("role"))) for block in blocks(message)[:PARTS]],
    }


def _part(block: Block, role: str) -> Part:
    kind = block_kind(block)
    colour = COLOURS.get(f"{role} text" if kind == "text" else kind, COLOURS["other"])
    return {"kind": kind, "colour": colour, "text": one_line(_words(block, kind), EXCERPT)}


def _words(block: Block, kind: str) -> str:
    if not isinstance(block, dict):
        return "not a block"
    inside = block.get(kind)
    if kind == "text":
        return str(inside) or "(empty)"
    if kind == "toolUse" and isinstance(inside, dict):
        return f"calls {inside.get('name')} ({inside.get('toolUseId')})"
    if kind == "toolResult" and isinstance(inside, dict):
        items = result_items(block)
        said = " ".join(str(item["text"])[:EXCERPT] for item in items if isinstance(item, dict) and "text" in item)
        return f"answers {inside.get('toolUseId')}: {said}"
    return kind
