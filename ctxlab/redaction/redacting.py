"""Taking secrets and people out of a conversation, so that it can leave: equal lengths, equal structure.

Every letter and digit of what goes becomes an x; signs and white space stay, and so do the SDK's own words, so that
nothing changes that a manager looks at. What was replaced is told by kind, count and place, never by itself.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ctxlab.messages import Conversation, Message
from ctxlab.redaction.kept import FIXED, LETTERS, SDK_WORDS, VOCABULARY, distinct, ones
from ctxlab.redaction.patterns import BY_NAME, COMMON_USERS, HOME_PATH, KINDS, NAME, PERSON, SECRET_NAME, word_pattern
from ctxlab.redaction.wordless import Wordless

PLACES = 5
"""Places that a sentence names; the report has all of them."""

_SECRET_KEY = re.compile(rf"[\w.-]{{0,40}}?{SECRET_NAME}", re.IGNORECASE)
_SHORTEST_USER = 3

TOLD = 100
"""Messages between two reports of progress."""

Progress = Callable[[int, int], object]
"""Called with the messages that are redacted and all of them."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """All that was replaced of one kind: how many ``things``, in which places, such as ``message 3, block 0, toolUse``.

    Without places it is everywhere.
    """

    kind: str
    count: int
    places: tuple[str, ...] = ()
    things: str = ""

    @property
    def sentence(self) -> str:
        """The replacement in words, with the first places."""
        told = f"{self.kind}: {self.count:,} {self.things}{' ' if self.things else ''}replaced"
        if not self.places:
            return told
        shown = "; ".join(self.places[:PLACES])
        more = f"; and {len(self.places) - PLACES:,} more places" if len(self.places) > PLACES else ""
        return f"{told} ({shown}{more})"


@dataclass(frozen=True, slots=True)
class Report:
    """What was replaced, by kind; ``binaries`` counts images, documents and videos, into which nobody looked."""

    replacements: tuple[Replacement, ...] = ()
    binaries: int = 0

    @property
    def count(self) -> int:
        """How many things were replaced in all."""
        return sum(replacement.count for replacement in self.replacements)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The report in words, a sentence a kind. What was replaced is not in it."""
        found = [replacement.sentence for replacement in self.replacements]
        if not found:
            found = ["nothing was recognised that has to be replaced"]
        if self.binaries:
            found.append(f"left as they are, nobody looked inside: {self.binaries:,} images, documents or videos")
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Redacted:
    """A conversation that may leave, and what was replaced in it."""

    messages: Conversation
    report: Report


def redact(
    messages: Sequence[Message],
    names: Iterable[str] = (),
    only: Sequence[int] | None = None,
    progress: Progress | None = None,
    words: bool = True,
) -> Redacted:
    """Return the conversation without keys, tokens, e-mail addresses, the users of home paths, and ``names``.

    The user of a home path goes wherever that name stands as a word, and so do ``names``, in any case. Texts keep their
    lengths, equal ids stay equal and different ones different, and redacting once more changes nothing. With ``only``
    these messages alone are returned and told of, as they are in the whole. ``progress`` may raise to stop. Without
    ``words`` every text becomes filler as well: see `Wordless`.
    """
    start = tuple(messages)
    redactor = _Redactor(names, users(strings(start)))
    redactor.ids = distinct(_ids(start), lambda text: redactor.text(text, "toolUseId"))
    kept = range(len(start)) if only is None else only
    # Ids are told of where they stand.
    redactor.counts.clear()
    redactor.places.clear()
    changed = []
    for done, index in enumerate(kept):
        if progress is not None and done % TOLD == 0:
            progress(done, len(kept))
        changed.append(redactor.value(start[index], f"message {index}"))
    found = Redacted(cast(Conversation, tuple(changed)), redactor.report())
    return found if words else _without_words(found)


def _without_words(found: Redacted) -> Redacted:
    wordless = Wordless()
    messages = wordless.conversation(found.messages)
    counted = (
        Replacement("all words", wordless.texts, things="texts"),
        Replacement("numbers in what tools were given and gave", wordless.numbers),
        Replacement("images, documents and videos", wordless.binaries),
    )
    gone = tuple(one for one in counted if one.count)
    return Redacted(messages, Report((*gone, *found.report.replacements)))


def redact_text(text: str, names: Iterable[str] = ()) -> str:
    """Return one text without secrets and people, in equal length."""
    return _Redactor(names, users([text])).text(text, "")


def strings(value: Any) -> Iterator[str]:
    """Yield every string in a value of JSON, the keys of its dicts too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from strings(key)
            yield from strings(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from strings(part)


def users(texts: Iterable[str]) -> set[str]:
    """Return the users whose home paths are seen in texts, without those that say nothing about a person."""
    kinds = [kind for kind in KINDS if kind.name == HOME_PATH]
    found = {
        text[start:end]
        for text in texts
        for lowered in [text.lower()]
        for kind in kinds
        if any(need in lowered for need in kind.needs)
        for start, end in kind.find(text)
    }
    return {name for name in found if len(name) >= _SHORTEST_USER and not _says_nothing(name)}


def _says_nothing(user: str) -> bool:
    return user.lower() in COMMON_USERS or not any(map(str.isalpha, user)) or not user.strip(LETTERS[0])


def _ids(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, part in value.items():
            if key == "toolUseId" and isinstance(part, str):
                yield part
            else:
                yield from _ids(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _ids(part)


class _Redactor:
    """Replaces in one part of a conversation after the other, and keeps count."""

    def __init__(self, names: Iterable[str], persons: Iterable[str]) -> None:
        self.words = ((NAME, word_pattern(names)), (PERSON, word_pattern(persons)))
        self.ids: dict[str, str] = {}
        self.counts: Counter[str] = Counter()
        self.places: dict[str, dict[str, None]] = {}
        self.binaries = 0

    def report(self) -> Report:
        """Return what was replaced so far."""
        found = tuple(Replacement(kind, self.counts[kind], tuple(self.places[kind])) for kind in sorted(self.counts))
        return Report(found, self.binaries)

    def value(self, value: Any, place: str) -> Any:
        """Return a message, or a part of one, redacted; what needs no change is shared."""
        if isinstance(value, str):
            return self.text(value, place)
        if isinstance(value, bytes):
            self.binaries += 1
        if isinstance(value, dict):
            free = [key for key in value if isinstance(key, str) and key not in VOCABULARY]
            keys = distinct(free, lambda text: self.text(text, place)) if free else {}
            changed = {keys.get(key, key): self._part(key, part, place) for key, part in value.items()}
            same = all(changed.get(key, value) is part for key, part in value.items())
            return value if same else changed
        if isinstance(value, list | tuple):
            parts = [self.value(part, _at(place, index)) for index, part in enumerate(value)]
            return value if all(one is other for one, other in zip(parts, value, strict=True)) else type(value)(parts)
        return value

    def _part(self, key: object, part: Any, place: str) -> Any:
        if isinstance(key, str) and key not in VOCABULARY and _SECRET_KEY.fullmatch(key):
            return self._secret(part, place, "token" in key.lower())
        if not isinstance(part, str):
            return self.value(part, f"{place}, {key}" if key in VOCABULARY and key != "content" else place)
        if key == "toolUseId" and part in self.ids:
            self.text(part, place)  # told of here, and made distinct once for all
            return self.ids[part]
        if part in FIXED.get(str(key), ()):
            return part
        return self.text(part, place)

    def _secret(self, value: Any, place: str, counts: bool) -> Any:
        """Return what is kept under the name of a secret without any of it; numbers that are ``counts`` stay."""
        if isinstance(value, str):
            return self._replaced(value, [(0, len(value), BY_NAME)], place)
        if isinstance(value, dict):
            whole = {key: self._secret(part, place, counts) for key, part in value.items()}
            return value if all(whole[key] is part for key, part in value.items()) else whole
        if isinstance(value, list | tuple):
            parts = [self._secret(part, place, counts) for part in value]
            return value if all(one is other for one, other in zip(parts, value, strict=True)) else type(value)(parts)
        if isinstance(value, int | float) and not isinstance(value, bool) and not counts and ones(value) != value:
            self.counts[BY_NAME] += 1
            self.places.setdefault(BY_NAME, {})[place] = None
            return ones(value)
        return value

    def text(self, text: str, place: str) -> str:
        """Return a text redacted; the text itself where there is nothing to replace."""
        # What is replaced may be all that kept a second secret from being one.
        while (changed := self._replaced(text, list(self._spans(text)), place)) != text:
            text = changed
        return text

    def _replaced(self, text: str, spans: list[tuple[int, int, str]], place: str) -> str:
        if not spans:
            return text
        kept = {at for found in SDK_WORDS.finditer(text) for at in range(*found.span())}
        letters = list(text)
        for start, end, kind in spans:
            gone = [at for at in range(start, end) if letters[at].isalnum() and letters[at] != LETTERS[0]]
            gone = [at for at in gone if at not in kept]
            for at in gone:
                letters[at] = LETTERS[0]
            if gone:
                self.counts[kind] += 1
                self.places.setdefault(kind, {})[place] = None
        return "".join(letters)

    def _spans(self, text: str) -> Iterator[tuple[int, int, str]]:
        lowered = text.lower()
        for kind in KINDS:
            if any(need in lowered for need in kind.needs):
                for start, end in kind.find(text):
                    if kind.name != HOME_PATH or text[start:end].lower() not in COMMON_USERS:
                        yield start, end, kind.name
        for name, pattern in self.words:
            for found in pattern.finditer(text) if pattern else ():
                yield *found.span(), name


def _at(place: str, index: int) -> str:
    if "block" not in place:
        return f"{place}, block {index}"
    return f"{place}, item {index}" if place.endswith("toolResult") else place
