"""Counting a text that is cut again and again, without counting all of it each time.

The encodings here never join what stands on both sides of a seam: a line end followed by something that is not blank.
So the tokens of a text are those of its lines, and a cut needs only the few characters around it to be counted.
"""

import re
from dataclasses import dataclass, field

from ctxlab.tokens.counting import TokenCounter

SEAMED = frozenset({"cl100k_base", "o200k_base"})
"""Encodings whose pattern splits at every seam, whatever stands around it; other counters count whole texts."""

# o200k_base takes a slash after line ends into the same piece, so that is no seam.
_SEAM = re.compile(r"(?<=\n)(?=[^\s/])")


@dataclass(frozen=True, slots=True, eq=False)
class Spliced:
    """A text as parts that are counted apart, each a string and its tokens; ``cut`` remembers what it has cut."""

    parts: tuple[tuple[str, int], ...]
    length: int
    tokens: int
    counter: TokenCounter
    _cuts: dict[int, "Spliced"] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str, counter: TokenCounter) -> "Spliced":
        """Return a text in parts, counted."""
        lines = _SEAM.split(text) if counter.name in SEAMED else [text]
        parts = tuple((line, counter.text(line)) for line in lines)
        return cls(parts, len(text), sum(tokens for _, tokens in parts), counter)

    def cut(self, kept: int, marker: str) -> "Spliced":
        """Return the text with ``kept`` characters at each end and the marker between; it begins with no blank."""
        if kept not in self._cuts:
            self._cuts[kept] = self._cut(kept, marker)
        return self._cuts[kept]

    def _cut(self, kept: int, marker: str) -> "Spliced":
        parts = self.parts
        head, before, tokens = 0, 0, 0
        while before + len(parts[head][0]) <= kept:
            before += len(parts[head][0])
            tokens += parts[head][1]
            head += 1
        # A part at the very edge would follow the marker, which ends in no line end, and so has no seam before it.
        tail, after = len(parts), 0
        while after + len(parts[tail - 1][0]) < kept:
            tail -= 1
            after += len(parts[tail][0])
            tokens += parts[tail][1]
        last = parts[tail - 1][0]
        middle = f"{parts[head][0][: kept - before]}{marker}{last[len(last) - (kept - after) :]}"
        counted = self.counter.text(middle)
        return Spliced(
            (*parts[:head], (middle, counted), *parts[tail:]),
            before + len(middle) + after,
            tokens + counted,
            self.counter,
        )

    @property
    def text(self) -> str:
        """The text itself."""
        return "".join(part for part, _ in self.parts)
