"""Session text becomes something to look at: no markup, no escape sequence and no invisible character survives."""

import html as standard_html
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxlab.escaping import html, one_line, plotly, terminal, visible

HOSTILE = st.text(st.characters(), max_size=60) | st.text(
    st.sampled_from("\x00\x07\x1b[31m\x7f\x9b\u202e\u2066\u200b\ufeff\ud800\U000e0041<b>&\"'$\n\r\t"), max_size=40
)


@given(HOSTILE)
def test_html_shows_the_visible_text_and_holds_no_markup(text: str) -> None:
    escaped = html(text)
    assert not set('<>"') & set(escaped)
    assert standard_html.unescape(escaped) == visible(text)


@given(HOSTILE)
def test_a_plotly_label_is_one_line_without_markup_or_tex(text: str) -> None:
    escaped = plotly(text)
    assert not set("<>$\n\t\r") & set(escaped)
    assert standard_html.unescape(escaped) == one_line(text)


@given(HOSTILE)
def test_nothing_that_a_terminal_acts_on_is_left(text: str) -> None:
    left = {character for character in terminal(text) if unicodedata.category(character) in ("Cc", "Cs")}
    assert left <= {"\n", "\t"}


@given(HOSTILE)
def test_visible_text_can_be_sent_as_utf8_and_is_visible_already(text: str) -> None:
    visible(text).encode("utf-8")
    assert visible(visible(text)) == visible(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", "␛[31mred"),
        ("abc\u202edef", "abc\\u202edef"),
        ("a\U000e0041b", "a\\ue0041b"),
        ("\x9b31m", "\\x9b31m"),
        ("a\r\nb", "a\nb"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_cannot_be_seen_is_shown_as_a_sign_or_an_escape(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize("text", ["👩‍👩‍👧", "नमस्ते", "e\u0301", "对话", "a\tb\nc", "می‌خواهم"])
def test_what_people_write_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


@given(HOSTILE, st.integers(1, 30))
def test_a_limit_holds_in_characters_of_the_line(text: str, limit: int) -> None:
    assert len(one_line(text, limit)) <= limit
