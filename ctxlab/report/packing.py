"""Many similar texts in little room: what they share is said once, and their numbers are kept as numbers.

Ten thousand rows of a table say some dozens of sentences; they come apart here and together again in the browser,
character by character as they were. Nothing here knows what the texts say.
"""

import re
from collections.abc import Iterable

HOLE = "\0"
"""Stands on both sides of the place of a number in a template; visible text has no such character."""

_NUMBER = re.compile(r"(?<![0-9,])[0-9]{1,3}(?:,[0-9]{3})*(?![0-9,])")

_LARGEST = 2**53
"""Numbers up to here are numbers in JavaScript too."""


class Packed:
    """Rows of texts that were packed, and the templates that they need: lists of texts with numbered holes."""

    def __init__(self) -> None:
        self.templates: list[list[str]] = []
        self._known: dict[str, int] = {}

    def row(self, texts: Iterable[str]) -> tuple[int, ...]:
        """Return the texts as the number of a template and the numbers for its holes. They must be visible text."""
        numbers: dict[int, int] = {}

        def hole(found: re.Match[str]) -> str:
            said = found[0]
            number = int(said.replace(",", ""))
            if f"{number:,}" != said or number > _LARGEST:
                return said
            return f"{HOLE}{numbers.setdefault(number, len(numbers))}{HOLE}"

        template = _NUMBER.sub(hole, "\n".join(texts))
        known = self._known.get(template)
        if known is None:
            known = self._known[template] = len(self.templates)
            self.templates.append(template.split("\n"))
        return (known, *numbers)
