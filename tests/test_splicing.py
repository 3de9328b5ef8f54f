"""Counting by parts: a text's tokens are those of its lines, and of a cut only what is around it is counted."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ctxlab.tokens.splicing import SEAMED, Spliced
from ctxlab.truncation import Truncation, cut, marker
from ctxlab.vocabularies import counter
from tests.strategies import texts

# Blanks, line ends, slashes, apostrophes and scripts in every order: what a pattern could join across a line end.
SNIPPETS = st.sampled_from(
    [
        "a",
        "B",
        "'s",
        " ",
        "  ",
        "\n",
        "\n\n",
        "\r\n",
        "\t",
        "/",
        "//",
        "...",
        "7",
        "1234",
        "对",
        "e\u0301",
        "🧵",
        "\u00a0",
    ]
)
JUMBLES = st.lists(SNIPPETS, max_size=60).map("".join)
NAMES = pytest.mark.parametrize("name", [*sorted(SEAMED), "heuristic"])


@NAMES
@given(text=st.one_of(JUMBLES, texts()))
@example(text="a\n/b")
@example(text="a\n\n 'sb\n\n\n")
def test_the_parts_of_a_text_count_as_much_as_the_text(name: str, text: str) -> None:
    spliced = Spliced.of(text, counter(name))
    assert spliced.text == text
    assert (spliced.length, spliced.tokens) == (len(text), counter(name).text(text))


@NAMES
@given(text=st.one_of(JUMBLES, texts()), settings=st.lists(st.integers(1, 60), max_size=4))
def test_a_text_that_is_cut_again_and_again_is_the_text_and_counts_as_much(
    name: str, text: str, settings: list[int]
) -> None:
    spliced = Spliced.of(text, counter(name))
    for preserve_chars in settings:
        kept = Truncation(preserve_chars).kept(len(text))
        if 2 * kept < len(text):
            spliced = spliced.cut(kept, marker(len(text) - 2 * kept))
            text = cut(text, kept)
        assert spliced.text == text
        assert (spliced.length, spliced.tokens) == (len(text), counter(name).text(text))


def test_the_same_cut_is_made_once() -> None:
    spliced = Spliced.of("line\n" * 100, counter())
    assert spliced.cut(20, marker(460)) is spliced.cut(20, marker(460))
