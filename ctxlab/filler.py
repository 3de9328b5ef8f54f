"""A conversation without its words: filler that keeps what a manager looks at, and nothing that anybody said.

Kept are roles, kinds of blocks, which ids are equal, statuses, pins, lengths or at least blankness, and the SDK's own
words (the marker of a cut, the text for a result that was too large). Everything else becomes the letter x.
"""

import re
from collections.abc import Sequence
from typing import Any, cast

from ctxlab.messages import Block, Conversation, Message, has_pinned_flag
from ctxlab.truncation import MARKER_GUARD, TOO_LARGE

LETTER = "x"
_OWN_WORDS = re.compile(
    r"\.\.\.\n\n\.\.\. \[truncated: \d+ chars removed\] \.\.\.\n\n\.\.\." + f"|{re.escape(MARKER_GUARD)}"
)
_ROLES = ("user", "assistant", "system", "tool", "developer")
_STATUSES = ("success", "error")


def filler(text: str) -> str:
    """Return a text of equal length in characters: blank where it is blank, with the SDK's own words in their place."""
    if text == TOO_LARGE:
        return text
    if not text.strip():
        return " " * len(text)
    parts = []
    end = 0
    for found in _OWN_WORDS.finditer(text):
        parts += [LETTER * (found.start() - end), found.group()]
        end = found.end()
    return "".join((*parts, LETTER * (len(text) - end)))


def short_filler(text: str) -> str:
    """Return the shortest text that is as blank as this one: the letter x, a space or nothing."""
    return LETTER if text.strip() else text[:1] and " "


def without_words(messages: Sequence[Message], short: bool = False) -> Conversation:
    """Return the conversation in filler, of equal lengths or ``short``; no word, number, key or byte of it is left.

    Tools are called "tool" with empty input, and their ids are numbered in the order in which they appear.
    """
    words = _Words(short)
    return tuple(words.message(message) for message in messages)


def with_texts(messages: Conversation, texts: dict[tuple[int, int, int | None], str]) -> Conversation:
    """Return the conversation with the texts at these slots (message, block, item) exchanged."""
    changed = list(messages)
    for (index, block, item), text in texts.items():
        changed[index] = _with_text(changed[index], block, item, text)
    return tuple(changed)


def _with_text(message: Message, block: int, item: int | None, text: str) -> Message:
    content = list(message["content"])
    found = content[block]
    if item is None:
        content[block] = {**found, "text": text}
    else:
        items = list(found["toolResult"]["content"])
        items[item] = {**items[item], "text": text}
        content[block] = {**found, "toolResult": {**found["toolResult"], "content": items}}
    return {**message, "content": content}


class _Words:
    """Takes the words out of a conversation, message by message; remembers which id has become which."""

    def __init__(self, short: bool) -> None:
        self.text = short_filler if short else filler
        self.short = short
        self.ids: dict[str, str] = {}

    def message(self, message: Message) -> Message:
        role = message.get("role")
        content = message.get("content")
        plain: dict[str, Any] = {
            "role": role if role in _ROLES else "other",
            "content": [self.block(block) for block in content if isinstance(block, dict)]
            if isinstance(content, list)
            else [],
        }
        if has_pinned_flag(message):
            plain["metadata"] = {"custom": {"pinned": True}}
        return cast(Message, plain)

    def block(self, block: Block) -> Block:
        plain: Block = {}
        for kind, value in block.items():
            match kind, value:
                case "text", str(text):
                    plain[kind] = self.text(text)
                case "toolUse", dict(use):
                    plain[kind] = {**self.id(use), "name": "tool", "input": {}}
                case "toolResult", dict(result):
                    plain[kind] = self.result(result)
                case "image" | "document" | "video", _:
                    plain[kind] = self.media(kind, value if isinstance(value, dict) else {})
                case "json", _:
                    plain[kind] = {}
                case "reasoningContent", {"reasoningText": {"text": str(text)}}:
                    plain[kind] = {"reasoningText": {"text": self.text(text)}}
                case "reasoningContent", _:
                    plain[kind] = {"redactedContent": LETTER.encode()}
                case "guardContent", _:
                    plain[kind] = {"text": {"text": LETTER}}
                case "citationsContent", _:
                    plain[kind] = {"content": [{"text": LETTER}], "citations": []}
                case "cachePoint", _:
                    plain[kind] = {"type": "default"}
                case _:
                    pass  # a key that nobody knows may itself be a word of the session
        return plain

    def result(self, result: dict[str, Any]) -> dict[str, Any]:
        plain = self.id(result)
        if "status" in result:
            plain["status"] = result["status"] if result["status"] in _STATUSES else _STATUSES[0]
        items = result.get("content")
        if isinstance(items, list):
            plain["content"] = [self.block(item) for item in items if isinstance(item, dict)]
        return plain

    def id(self, tool: dict[str, Any]) -> dict[str, Any]:
        if "toolUseId" not in tool:
            return {}
        given = tool["toolUseId"]
        if not given:
            return {"toolUseId": "" if isinstance(given, str) else None}
        return {"toolUseId": self.ids.setdefault(str(given), f"t{len(self.ids) + 1}")}

    def media(self, kind: str, media: dict[str, Any]) -> dict[str, Any]:
        formats = {"image": "png", "document": "txt", "video": "mp4"}
        plain: dict[str, Any] = {"format": formats[kind]}
        if kind == "document":
            plain["name"] = "document"
        source = media.get("source")
        data = source.get("bytes") if isinstance(source, dict) else None
        if isinstance(data, bytes):
            plain["source"] = {"bytes": LETTER.encode() * (min(1, len(data)) if self.short else len(data))}
        elif isinstance(source, dict) and source:
            plain["source"] = {"location": {"type": "s3", "uri": "s3://bucket/key"}}
        return plain
