"""How one text gets shorter: the facts and the laws of section 3 of the rules, and the cut of tool results."""

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from ctxlab.edits import TruncateText
from ctxlab.messages import Conversation
from ctxlab.recovery import recover
from ctxlab.reduction import ContextWindowOverflow
from ctxlab.summarizing import INSUFFICIENT, Summarizing
from ctxlab.truncation import (
    PassedOver,
    Remains,
    Truncation,
    cut,
    cut_length,
    marker,
    round_size,
    shorten_result,
)
from ctxlab.vocabularies import counter
from tests.builders import assistant, pinned, tool_result, tool_use, user
from tests.strategies import QUOTED_MARKER, filled

FIXED = Truncation(2000, "fixed")
PROPORTIONAL = Truncation(2000, "proportional")
HEURISTIC = counter("heuristic")

PLAIN = st.sampled_from(["a", "log line\n", "对话", "🧵", "e\u0301", "👩‍👩‍👧"])
SETTINGS = st.builds(Truncation, st.integers(1, 3000), st.sampled_from(["fixed", "proportional"]))


def long_texts(up_to: int = 12_000) -> st.SearchStrategy[str]:
    return st.builds(filled, PLAIN, st.integers(0, up_to))


def eighty(length: int = 5000) -> Conversation:
    """The session of #5791: eighty texts of middling size over eight messages, too few to be summarized."""
    content = [{"text": filled(f"block {number} ", length)} for number in range(10)]
    turns = (("user", "assistant")[at % 2] for at in range(8))
    return tuple({"role": role, "content": list(content)} for role in turns)


def lengths(messages: Conversation) -> list[int]:
    return [len(block["text"]) for message in messages for block in message["content"]]


# The marker


def test_the_marker_says_how_many_characters_were_removed() -> None:
    assert marker(600) == "...\n\n... [truncated: 600 chars removed] ...\n\n..."


@pytest.mark.parametrize("removed", [1, 46, 999, 1_000_000])
def test_the_marker_has_45_characters_and_the_digits_of_the_number(removed: int) -> None:
    assert len(marker(removed)) == 45 + len(str(removed))


@given(long_texts(), st.integers(0, 3000))
def test_a_cut_keeps_head_and_tail_and_is_as_long_as_foretold(text: str, kept: int) -> None:
    assume(2 * kept <= len(text))
    after = cut(text, kept)
    assert after == text[:kept] + marker(len(text) - 2 * kept) + text[len(text) - kept :]
    assert len(after) == cut_length(len(text), kept)


# The two rules


@pytest.mark.parametrize(
    ("length", "fixed", "proportional"),
    [
        (1999, None, None),
        (2000, None, None),
        (2001, None, 1049),
        (5000, None, 2549),
        (6000, None, 3049),
        (6001, 4049, 3049),
        (8000, 4049, 4049),
    ],
)
def test_one_cut_leaves_what_the_rules_say(length: int, fixed: int | None, proportional: int | None) -> None:
    for truncation, expected in ((FIXED, fixed), (PROPORTIONAL, proportional)):
        after = truncation.shorten("x" * length)
        assert (after and len(after)) == expected


@given(SETTINGS, long_texts())
@example(Truncation(20, "proportional"), "x" * 50)
@example(Truncation(50, "proportional"), "x" * 93)
@example(Truncation(1, "proportional"), "xx")
@example(Truncation(1, "fixed"), "xxxx")
def test_a_cut_never_lengthens(truncation: Truncation, text: str) -> None:
    after = truncation.shorten(text)
    assert after is None or len(after) < len(text)


@given(st.integers(1, 3000), long_texts())
@example(20, "x" * 50)
@example(2000, "x" * 2001)
def test_a_proportional_cut_removes_at_least_half_of_the_characters(preserve_chars: int, text: str) -> None:
    truncation = Truncation(preserve_chars, "proportional")
    if truncation.shorten(text) is not None:
        assert 2 * truncation.kept(len(text)) <= len(text) / 2


@given(SETTINGS, long_texts())
def test_a_text_that_is_left_alone_has_a_reason_and_one_that_is_cut_has_none(truncation: Truncation, text: str) -> None:
    assert (truncation.shorten(text) is None) == (truncation.passed_over(len(text)) is not None)


def test_fifty_characters_at_preserve_chars_20_would_grow_and_so_are_left_alone() -> None:
    truncation = Truncation(20, "proportional")
    assert cut_length(50, truncation.kept(50)) == 71
    assert truncation.shorten("x" * 50) is None
    assert truncation.passed_over(50) is PassedOver.WOULD_GROW


@pytest.mark.parametrize(("length", "reason"), [(2000, PassedOver.SHORT), (6000, PassedOver.UNDER_THRESHOLD)])
def test_a_short_text_is_passed_over_for_the_reason_of_its_rule(length: int, reason: PassedOver) -> None:
    truncation = PROPORTIONAL if reason is PassedOver.SHORT else FIXED
    assert truncation.passed_over(length) is reason
    assert truncation.passed_over(length + 1) is None


@pytest.mark.parametrize("text", ["👩‍👩‍👧" * 1000, "e\u0301" * 4000, "对话" * 3000, "\U0001f9f5" * 5000])
@pytest.mark.parametrize("truncation", [FIXED, PROPORTIONAL])
def test_lengths_are_code_points_whatever_the_script(text: str, truncation: Truncation) -> None:
    after = truncation.shorten(text)
    kept = truncation.kept(len(text))
    if after is not None:
        assert after.startswith(text[:kept])
        assert after.endswith(text[-kept:])
        assert len(after) == cut_length(len(text), kept)
        after.encode("utf-8")  # no half of a character is left over


def test_a_text_that_quotes_the_marker_is_cut_like_any_other() -> None:
    text = QUOTED_MARKER * 200
    assert PROPORTIONAL.shorten(text) == cut(text, 2000)


@pytest.mark.parametrize("preserve_chars", [0, -1, True, 2.5, "2000", None])
def test_preserve_chars_is_a_whole_number_of_at_least_one(preserve_chars: int) -> None:
    with pytest.raises(ValueError, match=f"at least 1, got {preserve_chars!r}"):
        Truncation(preserve_chars)


def test_an_unknown_rule_is_refused_by_its_name() -> None:
    with pytest.raises(ValueError, match="got 'halve'"):
        Truncation(2000, "halve")  # type: ignore[arg-type] # the point of the test


def test_preserve_chars_of_one_is_allowed_and_leaves_one_character_at_each_end() -> None:
    assert Truncation(1, "proportional").shorten("abc" * 100) == "a" + marker(298) + "c"


# Rounds


@pytest.mark.parametrize(("round", "texts"), [(1, 1), (2, 2), (3, 4), (7, 64), (20, 2**19)])
def test_a_round_may_cut_twice_as_many_texts_as_the_one_before(round: int, texts: int) -> None:
    assert round_size(round) == texts


@pytest.mark.parametrize("round", [0, -1])
def test_rounds_count_from_one(round: int) -> None:
    with pytest.raises(ValueError, match=f"got {round}"):
        round_size(round)


def test_the_fixed_rule_changes_none_of_eighty_texts_of_5000_characters() -> None:
    with pytest.raises(ContextWindowOverflow, match=INSUFFICIENT):
        Summarizing(truncation=FIXED).reduce(eighty())


def test_the_proportional_rule_has_cut_each_of_the_eighty_after_seven_rounds() -> None:
    manager = Summarizing(truncation=PROPORTIONAL)
    messages = eighty()
    uncut = []
    cuts = 0
    for round in range(1, 8):
        done = manager.reduce(messages, round=round)
        messages = done.messages
        cuts += len(done.edits)
        uncut.append(lengths(messages).count(5000))
    assert uncut == [79, 77, 73, 65, 49, 17, 0]
    assert cuts == sum(2**round for round in range(7)) == 127
    assert len(messages) == 8
    assert len(lengths(messages)) == 80


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 900)), min_size=1, max_size=9), st.integers(1, 4), SETTINGS)
def test_a_round_takes_the_longest_texts_first_and_among_equals_the_oldest(
    sizes: list[tuple[bool, int]], round: int, setting: Truncation
) -> None:
    truncation = Truncation(1 + setting.preserve_chars % 100, setting.rule)
    messages = tuple(
        (assistant if at % 2 else user)("x" * size) if in_text else tool_result("1", "x" * size)
        for at, (in_text, size) in enumerate(sizes)
    )
    qualifying = [at for at, (_, size) in enumerate(sizes) if truncation.passed_over(size) is None]
    longest_first = sorted(qualifying, key=lambda at: (-sizes[at][1], at))
    try:
        edits = Summarizing(truncation=truncation).reduce(messages, round=round).edits
    except ContextWindowOverflow:
        edits = ()
    taken = [edit for edit in edits if isinstance(edit, TruncateText)]
    assert [edit.message for edit in taken] == longest_first[: 2 ** (round - 1)]
    assert [edit.rank for edit in taken] == list(range(1, len(taken) + 1))
    assert {edit.qualifying for edit in taken} <= {len(qualifying)}


def test_texts_of_tool_results_and_of_both_roles_are_cut_but_json_and_pinned_ones_are_not() -> None:
    long = "x" * 9000
    messages = (
        user(long),
        tool_use("1", text=long),
        tool_result("1", [{"json": {"rows": long}}, {"text": long}]),
        pinned(assistant(long)),
    )
    done = Summarizing(truncation=PROPORTIONAL).reduce(messages, round=3)
    places = [(edit.message, edit.block, edit.item) for edit in done.edits if isinstance(edit, TruncateText)]
    assert places == [(0, 0, None), (1, 0, None), (2, 0, 1)]
    assert done.messages[3] == messages[3]


# What is gone in all, over repeated cuts


@given(st.integers(1, 9000), st.integers(1, 1500), st.sampled_from(["fixed", "proportional"]))
def test_the_characters_lost_in_all_are_those_that_are_gone(length: int, preserve_chars: int, rule: str) -> None:
    # No character occurs twice, so that what is left of the original can be counted.
    original = "".join(chr(0x4E00 + at) for at in range(length))
    setting = Truncation(preserve_chars, "fixed" if rule == "fixed" else "proportional")
    trace = recover((user(original),), Summarizing(truncation=setting), 0, HEURISTIC)
    assert trace.outcome == "stuck"
    states = list(trace.states())[1:]
    for edit, state in zip(trace.edits, states, strict=True):
        assert isinstance(edit, TruncateText)
        assert edit.lost == length - len(set(original) & set(state[0]["content"][0]["text"]))


def test_what_is_left_of_a_text_that_was_never_cut_is_the_whole_of_it() -> None:
    assert Remains.whole(500).lost == 0
    assert Remains.whole(500).after(100).lost == 300
    assert Remains.whole(500).after(100).after(20).after(60).lost == 460


# Tool results under the sliding window


@pytest.mark.parametrize(
    ("length", "after"),
    [(400, None), (401, 446), (446, 447), (447, 447), (448, 447), (1400, 449), (1000, 448)],
)
def test_a_released_manager_cuts_above_400_characters_even_where_that_lengthens(length: int, after: int | None) -> None:
    shortened = shorten_result("x" * length)
    assert (shortened and len(shortened)) == after


@given(long_texts(2000))
@example("x" * 401)
@example("x" * 447)
def test_a_careful_cut_of_a_tool_result_always_shortens(text: str) -> None:
    shortened = shorten_result(text, careful=True)
    assert shortened is None or len(shortened) < len(text)
    assert (shortened is None) == (len(text) < 448)


@pytest.mark.parametrize("careful", [False, True])
def test_a_tool_result_is_cut_once(careful: bool) -> None:
    once = shorten_result("x" * 5000, careful)
    assert once is not None
    assert shorten_result(once, careful) is None


def test_a_quote_of_the_marker_keeps_a_released_manager_from_cutting_but_not_the_careful_one() -> None:
    text = QUOTED_MARKER * 50
    assert shorten_result(text) is None
    assert shorten_result(text, careful=True) == cut(text, 200)
