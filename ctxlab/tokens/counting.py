"""`TokenCounter`: the tokens of a text, a JSON value, a block and a message.

A message costs the sum of its blocks and nothing more, so tokens add up and an edit changes the message it touches
only. Which texts of a block cost tokens follows the estimate of the Strands SDK. How a text becomes tokens is a
function that is passed in: vocabularies live elsewhere.
"""

import json
from collections.abc import Callable, Iterator
from hashlib import blake2b
from typing import Any

from ctxlab.messages import Message, blocks

Measure = Callable[[str], int]
"""From a text to its length in tokens."""

SHORT = 256
"""Characters up to which a text is remembered itself; of a longer one only a digest, to keep memory small."""

REMEMBERED = 1 << 19
"""Distinct texts after which a counter forgets all it has counted, so that memory stays bounded (below 200 MB)."""


class TokenCounter:
    """Counts tokens of texts, JSON values, blocks and messages; each distinct text is measured once.

    ``measure`` is called with a text and ``measure_json`` with serialized JSON (default: like a text). What they
    return is kept for as long as the counter lives, unless ``remember`` is false, which suits a measure that is cheaper
    than a look-up. If a measure raises, nothing is kept of that text. Threads may share a counter: at worst both
    measure the same text.
    """

    __slots__ = ("_json", "_text", "name")

    def __init__(self, name: str, measure: Measure, measure_json: Measure | None = None, remember: bool = True) -> None:
        self.name = name
        self._text: Measure = _Memory(measure) if remember else measure
        self._json: Measure = self._text
        if measure_json is not None:
            self._json = _Memory(measure_json) if remember else measure_json

    def __repr__(self) -> str:
        return f"TokenCounter({self.name!r})"

    @property
    def tokenized(self) -> int:
        """Characters measured so far, those of remembered texts counted once; 0 where nothing is remembered."""
        return sum(part.tokenized for part in {self._text, self._json} if isinstance(part, _Memory))

    def text(self, text: str) -> int:
        """Return the tokens of a text."""
        return self._text(text)

    def json(self, value: Any) -> int:
        """Return the tokens of a value as JSON, 0 for one that JSON cannot hold (as in the SDK)."""
        return self._json(_serialized(value))

    def block(self, block: Any) -> int:
        """Return the tokens of a block: of text, toolUse, toolResult, reasoning, guard and citation text; media cost 0.

        What has not the type that its place asks for costs 0.
        """
        return self.block_cost(block)[0]

    def message(self, message: Message) -> int:
        """Return the tokens of a message: the sum of its blocks."""
        return sum(self.block_cost(block)[0] for block in blocks(message))

    def block_cost(self, block: Any) -> tuple[int, int]:
        """Return the tokens of a block and the characters of the texts that cost them (JSON as serialized)."""
        tokens = characters = 0
        for text, is_json in _counted_texts(block):
            tokens += self._json(text) if is_json else self._text(text)
            characters += len(text)
        return tokens, characters


class _Memory:
    """A measure that remembers the length of each text it has seen."""

    __slots__ = ("_lengths", "_measure", "tokenized")

    def __init__(self, measure: Measure) -> None:
        self._measure = measure
        self._lengths: dict[str | bytes, int] = {}
        self.tokenized = 0

    def __call__(self, text: str) -> int:
        key = text if len(text) <= SHORT else blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        length = self._lengths.get(key)
        if length is None:
            length = self._measure(text)
            if len(self._lengths) >= REMEMBERED:
                self._lengths.clear()
            self._lengths[key] = length
            self.tokenized += len(text)
        return length


def _counted_texts(block: Any) -> Iterator[tuple[str, bool]]:
    """Yield the texts of a block that cost tokens, and whether each is serialized JSON (the SDK's estimate)."""
    if not isinstance(block, dict):
        return
    for part in block.items():
        match part:
            case "text", str(text):
                yield text, False
            case "toolUse", dict(use):
                if isinstance(name := use.get("name"), str):
                    yield name, False
                yield _serialized(use.get("input", {})), True
            case ("toolResult" | "citationsContent") as kind, {"content": list(items)}:
                for item in items:
                    if isinstance(item, dict):
                        if isinstance(said := item.get("text"), str):
                            yield said, False
                        if "json" in item and kind == "toolResult":
                            yield _serialized(item["json"]), True
            case "reasoningContent", {"reasoningText": {"text": str(text)}}:
                yield text, False
            case "guardContent", {"text": {"text": str(text)}}:
                yield text, False


def _serialized(value: Any) -> str:
    try:
        return json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return ""


HEURISTIC = TokenCounter("heuristic", lambda text: -(-len(text) // 4), lambda text: -(-len(text) // 2), remember=False)
"""The SDK's own estimate (algorithms, section 4): a token for 4 characters of text or 2 of JSON, rounded up a text."""
