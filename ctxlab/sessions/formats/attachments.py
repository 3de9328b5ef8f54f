"""Attachments of Inspect logs: long texts that a sample keeps once and names by a hash.

They are put back one level deep and up to a bound: a text may name itself, and may be named a million times.
"""

import re
from typing import Any

from ctxlab.sessions.session import SessionFormatError
from ctxlab.sessions.source import Source

_ATTACHMENT = re.compile(r"(?:attachment|tc)://([0-9a-f]{8,64})")
MAX_RESOLVED = 1 << 28
"""Characters that the attachments of one sample may bring in: one text may be named a million times."""


class Resolver:
    """Puts attachments where they are named, one level deep: an attachment that names another stays as it is."""

    def __init__(self, texts: dict[str, Any], where: str, source: Source) -> None:
        self._texts = texts
        self._where = where
        self._source = source
        self._left = MAX_RESOLVED

    def resolved(self, value: Any) -> Any:
        """Return the value with the texts in place of their names."""
        if isinstance(value, str):
            return _ATTACHMENT.sub(self._text, value) if "://" in value else value
        if isinstance(value, list):
            return [self.resolved(each) for each in value]
        if isinstance(value, dict):
            return {key: self.resolved(each) for key, each in value.items()}
        return value

    def _text(self, reference: "re.Match[str]") -> str:
        text = self._texts.get(reference[1])
        if not isinstance(text, str):
            self._source.book.add("read", "a reference to an attachment that is not there, kept", self._where)
            return reference[0]
        self._left -= len(text)
        if self._left < 0:
            reason = f"its attachments bring in more than {MAX_RESOLVED >> 20} MB of text"
            raise SessionFormatError(self._source.path, self._where, reason, "Is it a real log?")
        return text
