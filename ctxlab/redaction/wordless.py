"""Taking all words out of a conversation: every text becomes filler of equal length, whatever it says.

For who must not rely on secrets being recognised. What tells a manager or a provider what it is looks at stays: roles,
ids, names of tools, keys and values of the SDK, its own markers; and signs and white space, so that lengths stay.
"""

from collections.abc import Callable, Sequence
from typing import Any, cast
from unicodedata import category

from ctxlab.messages import Conversation, Message
from ctxlab.redaction.kept import FIXED, LETTERS, SDK_WORDS, VOCABULARY, distinct, ones

# fmt: off
_FORMATS = frozenset({
    "png", "jpeg", "jpg", "gif", "webp", "pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md",
    "flv", "mkv", "mov", "mpeg", "mpg", "mp4", "three_gp", "webm", "wmv",
})
# fmt: on
"""Formats of images, documents and videos that the SDK knows."""

# fmt: off
_KEYS = VOCABULARY | {
    "signature", "s3Location", "bucketOwner", "ttl", "title", "sourceContent", "qualifiers", "documentChar",
    "documentChunk", "documentPage", "documentIndex", "start", "end",
}
# fmt: on
"""Keys that stay: the SDK's, also those whose values may be secret."""

_TYPES = frozenset({"default", "s3", "text", "json"})
"""Types of cache points and of places where something is kept."""


class Wordless:
    """Replaces in one message after the other, and counts ``texts``, ``numbers`` and ``binaries`` that were."""

    def __init__(self) -> None:
        self.texts = self.numbers = self.binaries = 0

    def conversation(self, messages: Sequence[Message]) -> Conversation:
        """Return messages without their words; ids and names of tools are as they were."""
        return tuple(cast(Message, self._mapped(message, self._of_message)) for message in messages)

    def _of_message(self, key: object, part: Any) -> Any:
        if key == "content" and isinstance(part, list):
            return [self._mapped(block, self._of_block) for block in part]
        return self._value(key, part)

    def _of_block(self, key: object, part: Any) -> Any:
        if key in ("toolUse", "toolResult"):
            return self._mapped(part, self._of_use if key == "toolUse" else self._of_result)
        return self._value(key, part)

    def _of_use(self, key: object, part: Any) -> Any:
        if key in ("toolUseId", "name") and isinstance(part, str):
            return part
        return self._value(key, part, key == "input")

    def _of_result(self, key: object, part: Any) -> Any:
        if key == "toolUseId" and isinstance(part, str):
            return part
        if key == "content" and isinstance(part, list):
            return [self._mapped(item, lambda key, part: self._value(key, part, key == "json")) for item in part]
        return self._value(key, part)

    def _mapped(self, value: Any, of: Callable[[object, Any], Any]) -> Any:
        """Return a dict with each part as ``of`` makes it; what is no dict as any value."""
        if not isinstance(value, dict):
            return self._value(None, value)
        free = [key for key in value if isinstance(key, str) and key not in _KEYS]
        new = distinct(free, self.text) if free else {}
        return {new.get(key, key): of(key, part) for key, part in value.items()}

    def _value(self, key: object, value: Any, given: bool = False) -> Any:
        """Return any value of JSON without words; in what is ``given`` to a tool or by it, numbers go as well."""
        if isinstance(value, str):
            return value if _is_known(key, value) and not given else self.text(value)
        if isinstance(value, bytes):
            self.binaries += 1
            return LETTERS[0].encode() * len(value)
        if isinstance(value, dict):
            return self._mapped(value, lambda key, part: self._value(key, part, given))
        if isinstance(value, list | tuple):
            return type(value)([self._value(None, part, given) for part in value])
        if given and isinstance(value, int | float) and not isinstance(value, bool):
            return self._number(value)
        return value

    def text(self, text: str) -> str:
        """Return filler as long as a text: an x for each letter and digit outside of the SDK's own words."""
        parts, done = [], 0
        for found in SDK_WORDS.finditer(text):
            parts += [text[done : found.start()].translate(_FILLER), found.group()]
            done = found.end()
        new = "".join([*parts, text[done:].translate(_FILLER)])
        self.texts += new != text
        return new

    def _number(self, value: float) -> float:
        new = ones(value)
        self.numbers += new != value
        return new


class _Filler(dict[int, str]):
    """What becomes of each character, found out when it is first seen; marks on letters are parts of them."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        self[code] = LETTERS[0] if letter.isalnum() or category(letter).startswith("M") else letter
        return self[code]


_FILLER = _Filler()


def _is_known(key: object, value: str) -> bool:
    known = {"format": _FORMATS, "type": _TYPES}.get(str(key)) or FIXED.get(str(key), ())
    return value in known
