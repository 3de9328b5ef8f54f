"""What stays in a conversation whatever is taken out of it: keys, values and words of the SDK, and what must differ.

Nothing is recognised or replaced here.
"""

import re
from collections.abc import Callable, Iterable, Sequence

from ctxlab.truncation import MARKER_GUARD, TOO_LARGE, marker

LETTERS = "xyzwvutsrqponmlkjihgfedcba"
"""What letters and digits become: the first one; the others where two ids or keys would else become the same."""

SDK_WORDS = re.compile(
    f"{re.escape(marker(7)).replace('7', '[0-9]+')}|{re.escape(MARKER_GUARD)}|{re.escape(TOO_LARGE)}"
)

# fmt: off
VOCABULARY = frozenset({
    "role", "content", "metadata", "custom", "pinned", "usage", "metrics", "tracking_id",
    "text", "toolUse", "toolResult", "toolUseId", "name", "input", "status", "json", "image", "document", "video",
    "format", "source", "bytes", "location", "type", "uri", "reasoningContent", "reasoningText", "redactedContent",
    "cachePoint", "guardContent", "citationsContent", "citations",
    "inputTokens", "outputTokens", "totalTokens", "cacheReadInputTokens", "cacheWriteInputTokens", "latencyMs",
    "timeToFirstByteMs",
})
# fmt: on
"""Keys of the SDK, which stay whatever a rule says."""

FIXED = {"role": ("user", "assistant", "system", "tool"), "status": ("success", "error")}
"""Values of the SDK, which stay as well."""

_DIGITS = re.compile(r"\d")

_MORE = 0x4E00
"""From here on there are twenty thousand letters, for keys that are too short and too many for `LETTERS`."""


def ones(value: float) -> float:
    """Return a number of the same kind and as many digits, all of them ones."""
    return type(value)(_DIGITS.sub("1", repr(value)))


def distinct(texts: Iterable[str], become: Callable[[str], str]) -> dict[str, str]:
    """Return each text with what it becomes, such that different ones stay different."""
    found = {text: become(text) for text in dict.fromkeys(texts)}
    # What stays as it is keeps its own name; the others make way.
    taken = {text for text, plain in found.items() if text == plain}
    for text, plain in found.items():
        if text == plain:
            continue
        new = plain
        gone = [at for at, letter in enumerate(plain) if letter != text[at]]
        number = 0
        while new in taken:
            number += 1
            new = _numbered(plain, gone, number)
        taken.add(new)
        found[text] = new
    return found


def _numbered(text: str, gone: Sequence[int], number: int) -> str:
    """Return the text with a number in letters at its first places that are gone."""
    letters = list(text)
    if number >= len(LETTERS) ** len(gone):
        letters[gone[0]] = chr(_MORE + number)
        return "".join(letters)
    for at in gone:
        number, digit = divmod(number, len(LETTERS))
        letters[at] = LETTERS[digit]
    return "".join(letters)
