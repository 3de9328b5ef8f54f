"""Vocabularies are at hand without a network and are tiktoken's own; where one is missing the error says what to do."""

import gzip
import hashlib
import importlib
import os
import subprocess
import sys
import threading
import time
from importlib import resources
from pathlib import Path
from typing import Any, cast

import pytest

from ctxlab.vocabularies import PACKAGE, RECIPES, VocabularyNotFound, counter, counter_names, encoding, measure

ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"
CLOSED = "http://127.0.0.1:9"
"""A proxy that nobody runs: with it a machine has no network."""


def plain(name: str) -> bytes:
    packed = resources.files(PACKAGE).joinpath("data", f"{name}.tiktoken.gz").read_bytes()
    return gzip.decompress(packed)


def cached(folder: Path, name: str) -> Path:
    """Where tiktoken looks for the vocabulary of a name in its cache folder."""
    return folder / hashlib.sha1(ADDRESS.format(name).encode()).hexdigest()


def run(script: str, folder: Path, **environment: str) -> str:
    """Run Python anew, without a network and with an own tiktoken cache; return what it printed."""
    offline = {"HTTPS_PROXY": CLOSED, "HTTP_PROXY": CLOSED, "NO_PROXY": "", "no_proxy": "", "https_proxy": CLOSED}
    answer = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **offline, "TIKTOKEN_CACHE_DIR": str(folder), **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.strip()


def without_bundled(folder: Path) -> str:
    """A PYTHONPATH on which the package with the vocabularies is damaged."""
    data = folder / PACKAGE / "data"
    data.mkdir(parents=True)
    (folder / PACKAGE / "__init__.py").touch()
    damaged = plain("cl100k_base").replace(b"IQ== 0\n", b"IQ== 1\n", 1)
    (data / "cl100k_base.tiktoken.gz").write_bytes(gzip.compress(damaged, 1))
    (data / "o200k_base.tiktoken.gz").write_bytes(b"not gzip")
    return str(folder)


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """This process without a network; returns the empty cache folder of tiktoken."""
    for name in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, CLOSED)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", list(RECIPES))
def test_a_current_vocabulary_needs_no_network_and_no_cache(name: str, tmp_path: Path) -> None:
    script = f"from ctxlab.vocabularies import counter; print(counter({name!r}).text('hello world'))"
    assert run(script, tmp_path) == "2"
    assert not list(tmp_path.iterdir()), "nothing is written"


@pytest.mark.parametrize("name", list(RECIPES))
def test_an_encoding_is_exactly_the_one_that_tiktoken_makes(name: str, offline: Path) -> None:
    openai_public = importlib.import_module("tiktoken_ext.openai_public")
    cached(offline, name).write_bytes(plain(name))
    official: dict[str, Any] = openai_public.ENCODING_CONSTRUCTORS[name]()
    own = encoding(name)
    assert own.name == official["name"]
    assert own._pat_str == official["pat_str"]
    assert own._special_tokens == official["special_tokens"]
    assert own._mergeable_ranks == official["mergeable_ranks"]


def test_a_damaged_vocabulary_is_not_used(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    path = without_bundled(tmp_path / "path")
    script = "\n".join(
        [
            "from ctxlab.vocabularies import VocabularyNotFound, counter",
            "for name in ('cl100k_base', 'o200k_base'):",
            "    try: print(counter(name).text('hello world'))",
            "    except VocabularyNotFound: print('not found')",
        ]
    )
    assert run(script, cache, PYTHONPATH=path).split("\n") == ["not found", "not found"]
    for name in RECIPES:
        cached(cache, name).write_bytes(plain(name))
    assert run(script, cache, PYTHONPATH=path).split("\n") == ["2", "2"], "tiktoken's own cache stands in"


def test_another_encoding_loads_from_tiktoken_s_cache(offline: Path) -> None:
    # o200k_harmony has the vocabulary of o200k_base and special tokens of its own.
    cached(offline, "o200k_base").write_bytes(plain("o200k_base"))
    assert counter("o200k_harmony").text("对话 window") == counter("o200k_base").text("对话 window")


def test_a_vocabulary_that_cannot_be_had_says_how_to_provide_it(offline: Path) -> None:
    start = time.monotonic()
    with pytest.raises(VocabularyNotFound) as failure:
        counter("p50k_base")
    assert time.monotonic() - start < 5
    for part in ("'p50k_base'", "TIKTOKEN_CACHE_DIR", "cl100k_base", "heuristic", "ProxyError"):
        assert part in str(failure.value)
    assert isinstance(failure.value, LookupError)


def test_a_vocabulary_that_was_missing_is_found_once_it_is_there(offline: Path) -> None:
    script = "\n".join(
        [
            "import gzip, pathlib",
            "from importlib import resources",
            "from ctxlab.vocabularies import VocabularyNotFound, counter",
            "try: counter('o200k_harmony')",
            "except VocabularyNotFound: print('not found')",
            f"packed = resources.files({PACKAGE!r}).joinpath('data', 'o200k_base.tiktoken.gz').read_bytes()",
            f"pathlib.Path({str(cached(offline, 'o200k_base'))!r}).write_bytes(gzip.decompress(packed))",
            "print(counter('o200k_harmony').text('hello world'))",
        ]
    )
    assert run(script, offline).split("\n") == ["not found", "2"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a pipe stands in for a connection that never answers")
def test_a_connection_that_never_answers_does_not_hold_up_for_ever(tmp_path: Path) -> None:
    address = "https://openaipublic.blob.core.windows.net/encodings/p50k_base.tiktoken"
    os.mkfifo(tmp_path / hashlib.sha1(address.encode()).hexdigest())
    script = "\n".join(
        [
            "from ctxlab.vocabularies import VocabularyNotFound, encoding",
            "try: encoding('p50k_base', patience=0.2)",
            "except VocabularyNotFound as error: print(type(error.__cause__).__name__, error.__cause__)",
        ]
    )
    assert run(script, tmp_path) == "TimeoutError no answer within 0.2 seconds"


@pytest.mark.parametrize("name", ["cl100k", "gpt-4o", "", None, ["cl100k_base"]])
def test_an_unknown_name_is_quoted_and_the_known_ones_are_listed(name: Any) -> None:
    with pytest.raises(ValueError, match="known") as failure:
        counter(name)
    assert repr(name) in str(failure.value)
    assert all(known in str(failure.value) for known in ("cl100k_base", "o200k_base", "heuristic", "p50k_base"))


def test_the_estimate_is_a_counter_but_not_an_encoding() -> None:
    assert counter("heuristic").name == "heuristic"
    with pytest.raises(ValueError, match="'heuristic'"):
        encoding("heuristic")


def test_the_counters_that_need_no_network_are_named_first() -> None:
    names = counter_names()
    assert names[:3] == ("cl100k_base", "o200k_base", "heuristic")
    assert "p50k_base" in names
    assert len(names) == len(set(names))


def test_a_name_has_one_counter_also_among_threads() -> None:
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(counter("o200k_base"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert set(found) == {counter("o200k_base")}
    assert counter() is counter("cl100k_base")


def test_counting_is_imported_without_tiktoken(tmp_path: Path) -> None:
    script = (
        "import sys, ctxlab.tokens, ctxlab.vocabularies; print('tiktoken' in sys.modules, 'requests' in sys.modules)"
    )
    assert run(script, tmp_path) == "False False"


# Texts that are meant to hurt


@pytest.mark.parametrize("name", list(RECIPES))
@pytest.mark.parametrize(("pattern", "characters"), [("a", 5_000_000), ("语", 10**6), ("=", 10**6), ("\ud800", 10**6)])
def test_millions_of_one_character_take_seconds(name: str, pattern: str, characters: int) -> None:
    # Half a minute tells seconds on a slow machine from the hours that the older, quadratic tiktoken takes.
    start = time.monotonic()
    assert counter(name).text(pattern * characters) > 10_000
    assert time.monotonic() - start < 30


@pytest.mark.parametrize("name", list(RECIPES))
@pytest.mark.parametrize(("blank", "in_a_token"), [(" ", 128), ("\t", 16), ("\u00a0", 8)])
def test_millions_of_blanks_are_counted_although_tiktoken_gives_up(name: str, blank: str, in_a_token: int) -> None:
    vocabulary = encoding(name)
    tokens = measure(vocabulary)(blank * 3_000_000 + "x")
    assert abs(tokens - 3_000_000 // in_a_token) < 20
    assert len(vocabulary.encode_ordinary("hello world")) == 2, "the encoding is still of use"


def test_what_else_stops_a_count_is_passed_on() -> None:
    class Interrupted:
        def encode_ordinary(self, text: str) -> list[int]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure(cast(Any, Interrupted()))("some text")
