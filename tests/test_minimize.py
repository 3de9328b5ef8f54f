"""Delta debugging: what is left still goes wrong, holds no word of the session, and nothing more of it can go."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ctxlab.comparison import Policy
from ctxlab.faults import Fault, find_fault
from ctxlab.filler import filler, short_filler, with_texts, without_words
from ctxlab.messages import Conversation, block_kind, blocks, is_pinned, text_slots, tool_result_ids, tool_use_ids
from ctxlab.minimize import Enough, Minimized, characters, minimize, pairs, singles
from ctxlab.samples import sample_sessions
from ctxlab.sessions import load
from ctxlab.sliding_window import SlidingWindow
from ctxlab.truncation import MARKER_GUARD, cut, shorten_result
from tests import cases
from tests.builders import assistant, review, tool_chain, user
from tests.faulty import long_conversations, policy_pairs, summarizing_pairs, window_pairs
from tests.strategies import conversations, texts, well_formed_conversations

SAMPLES = {name: load(folder).views["stored"] for name, folder in sample_sessions().items()}


def reduced(fault: Fault, messages: Conversation, **options: Any) -> Minimized:
    return minimize(messages, fault.fairly(messages), **options)


def faults_of(messages: Conversation) -> Iterator[Fault]:
    """The faults that a session shows, one a pair of policies."""
    tried = [pair for window in (0, 4) for pair in window_pairs(window)]
    for wrong, right in (*tried, *summarizing_pairs()):
        fault = find_fault(messages, wrong, right)
        if fault is not None:
            yield fault


def smaller(messages: Conversation) -> Iterator[Conversation]:
    """Every conversation that is one step smaller: a message or a pair fewer, or a text shorter."""
    for grouped in (singles, pairs):
        for group in grouped(messages):
            if len(group) < len(messages):
                yield tuple(message for index, message in enumerate(messages) if index not in group)
    for index, message in enumerate(messages):
        for slot in text_slots(message, index):
            if len(slot.text) > 1:
                yield with_texts(messages, {(index, slot.block, slot.item): slot.text[1:]})


def holds_all_that_matters(fault: Fault, before: Conversation, after: Minimized) -> None:
    assert fault.fairly(before)(after.messages)
    assert [message["role"] for message in after.messages] == [before[origin]["role"] for origin in after.origins]
    assert list(after.origins) == sorted(set(after.origins))
    assert characters(after.messages) <= characters(before)


def is_as_small_as_the_fault_allows(fault: Fault, before: Conversation, after: Minimized) -> None:
    """At most a tenth in messages and in characters, or one step less and the fault is gone."""
    tenth = 10 * len(after.messages) <= len(before) and 10 * characters(after.messages) <= characters(before)
    if not tenth:
        assert not any(map(fault.fairly(before), smaller(after.messages)))


# Laws of the search


@given(well_formed_conversations(pins=True), policy_pairs())
@settings(max_examples=40)
def test_what_is_left_shows_the_same_fault_and_nothing_more_can_go(
    messages: Conversation, policies: tuple[Policy, Policy | None]
) -> None:
    fault = find_fault(messages, *policies)
    assume(fault is not None)
    assert fault is not None
    found = reduced(fault, messages)
    holds_all_that_matters(fault, messages, found)
    assert found.finished
    assert not any(map(fault.fairly(messages), smaller(found.messages)))


@given(long_conversations(), policy_pairs())
@settings(max_examples=25)
def test_of_a_long_conversation_a_tenth_is_left_where_the_fault_allows(
    messages: Conversation, policies: tuple[Policy, Policy | None]
) -> None:
    fault = find_fault(messages, *policies)
    assume(fault is not None)
    assert fault is not None
    found = reduced(fault, messages)
    holds_all_that_matters(fault, messages, found)
    is_as_small_as_the_fault_allows(fault, messages, found)


@pytest.mark.parametrize("name", SAMPLES)
def test_of_a_recorded_session_a_tenth_is_left_where_the_fault_allows(name: str) -> None:
    for fault in faults_of(SAMPLES[name]):
        found = reduced(fault, SAMPLES[name])
        holds_all_that_matters(fault, SAMPLES[name], found)
        is_as_small_as_the_fault_allows(fault, SAMPLES[name], found)


def test_the_faults_of_the_bug_reports_are_reduced_too() -> None:
    seen = 0
    for case in cases.cases("sw"):
        messages = cases.conversation(case)
        options = {key: value for key, value in case["params"].items() if key == "should_truncate_results"}
        for wrong, right in window_pairs(case["params"].get("window_size", 40), **options):
            try:
                fault = find_fault(messages, wrong, right)
            except ValueError:
                continue  # nothing that the SDK would store
            if fault is not None:
                seen += 1
                found = reduced(fault, messages)
                holds_all_that_matters(fault, messages, found)
                is_as_small_as_the_fault_allows(fault, messages, found)
    assert seen > 100


def test_sessions_from_the_wild_are_reduced_too(shared: Path) -> None:
    seen = 0
    for file in sorted((shared / "sessions").glob("derived_converse__*.json")):
        messages = load(file).messages
        fault = find_fault(messages, SlidingWindow.as_of("1.35.0", 4), SlidingWindow.as_of("1.37.0", 4))
        if fault is not None:
            found = reduced(fault, messages)
            holds_all_that_matters(fault, messages, found)
            is_as_small_as_the_fault_allows(fault, messages, found)
            seen += 1
    assert seen


def test_the_review_of_2173_becomes_five_messages_of_a_letter() -> None:
    fault = find_fault(SAMPLES["review-long"], SlidingWindow.as_of("1.35.0", 4), SlidingWindow.as_of("1.37.0", 4))
    assert fault is not None
    found = reduced(fault, SAMPLES["review-long"])
    assert found.messages == (user("x"), *_plain_chain(2))


def _plain_chain(count: int) -> Conversation:
    return without_words((user("x"), *tool_chain(count, "x")))[1:]


# Bounds


@given(st.integers(0, 60))
@settings(max_examples=15)
def test_the_tries_are_bounded_and_what_was_found_by_then_is_good(tries: int) -> None:
    messages = SAMPLES["review-long"]
    fault = find_fault(messages, SlidingWindow.as_of("1.35.0", 4), SlidingWindow.as_of("1.37.0", 4))
    assert fault is not None
    found = reduced(fault, messages, max_tries=tries)
    assert found.tries <= tries
    holds_all_that_matters(fault, messages, found)


def test_progress_tells_of_every_try_and_may_end_the_search() -> None:
    messages = SAMPLES["plain-chat"]
    fault = find_fault(messages, SlidingWindow.as_of("1.37.0", 0), SlidingWindow.as_of("1.38.0", 0))
    assert fault is not None
    told: list[tuple[int, int, int]] = []
    whole = reduced(fault, messages, progress=lambda *numbers: told.append(numbers))
    assert [tries for tries, _, _ in told] == list(range(whole.tries))
    assert [left for _, left, _ in told] == sorted((left for _, left, _ in told), reverse=True)

    def stop(tries: int, left: int, length: int) -> None:
        if tries == 2:
            raise Enough

    ended = reduced(fault, messages, progress=stop)
    assert (ended.tries, ended.finished) == (2, False)
    holds_all_that_matters(fault, messages, ended)


def test_where_nothing_is_wrong_nothing_is_reduced() -> None:
    with pytest.raises(ValueError, match="nothing is wrong"):
        minimize(review(), lambda messages: False)


# Texts


def test_texts_stay_as_they_are_where_that_is_asked() -> None:
    messages = SAMPLES["review-long"]
    fault = find_fault(messages, SlidingWindow.as_of("1.35.0", 4), SlidingWindow.as_of("1.37.0", 4))
    assert fault is not None
    found = reduced(fault, messages, keep_text=True)
    assert found.has_words
    for message, origin in zip(found.messages, found.origins, strict=True):
        assert set(_texts((message,))) <= set(_texts((messages[origin],)))


def test_a_length_that_matters_is_found_to_the_character() -> None:
    messages = (user("q"), *tool_chain(3, "log line\n" * 200), assistant("done"))
    found = minimize(messages, lambda some: any(shorten_result(text) for text in _texts(some)))
    assert characters(found.messages) == 401


def test_a_text_that_matters_by_its_words_stays_and_that_is_told() -> None:
    messages = (user("the magic word"), assistant("so what"))
    found = minimize(messages, lambda some: "magic" in json.dumps(some))
    assert found.has_words
    assert "magic" in json.dumps(found.messages)


def _texts(messages: Conversation) -> list[str]:
    return [slot.text for message in messages for slot in text_slots(message)]


@given(texts())
def test_filler_keeps_length_blankness_and_the_marker(text: str) -> None:
    for each in (text, text.replace("x", " "), cut(text * 500, 200), " \n"):
        plain = filler(each)
        assert len(plain) == len(each)
        assert (MARKER_GUARD in plain) == (MARKER_GUARD in each)
        assert bool(plain.strip()) == bool(each.strip())
        assert bool(short_filler(each).strip()) == bool(each.strip())
        assert filler(plain) == plain


@given(conversations())
def test_filler_keeps_the_shape_of_a_conversation(messages: Conversation) -> None:
    for short in (False, True):
        plain = without_words(messages, short)
        assert len(plain) == len(messages)
        assert without_words(plain, short) == plain
        for index, (before, after) in enumerate(zip(messages, plain, strict=True)):
            kinds = [block_kind(block) for block in blocks(before) if isinstance(block, dict)]
            assert [block_kind(block) for block in blocks(after)] == kinds
            assert _same(tool_use_ids(before)) == _same(tool_use_ids(after))
            assert _same(tool_result_ids(before)) == _same(tool_result_ids(after))
            assert is_pinned(plain, index) == is_pinned(messages, index)


def _same(ids: tuple[str, ...]) -> list[list[bool]]:
    return [[one == other for one in ids] for other in ids]


SECRET = "Rumpelstilzchen"
"""Planted everywhere that a session has room for words."""


def planted() -> Conversation:
    tool = {"toolUseId": f"id {SECRET}", "name": SECRET, "input": {SECRET: [SECRET]}, SECRET: 1}
    result = {
        "toolUseId": f"id {SECRET}",
        "status": SECRET,
        "content": [
            {"text": SECRET * 60},
            {"json": {SECRET: SECRET}},
            {"image": {"format": SECRET, "source": {"bytes": SECRET.encode()}}},
            {"document": {"name": SECRET, "source": {"location": {"uri": SECRET}}}},
        ],
    }
    said: list[dict[str, Any]] = [
        {"text": SECRET, SECRET: SECRET},
        {"reasoningContent": {"reasoningText": {"text": SECRET, "signature": SECRET}}},
        {"guardContent": {"text": {"text": SECRET}}},
        {"citationsContent": {"content": [{"text": SECRET}], "citations": [{"title": SECRET}]}},
        {SECRET: SECRET},
        {"toolUse": tool},
    ]
    first: Any = {
        "role": "user",
        "content": [{"text": SECRET}],
        "metadata": {"custom": {"note": SECRET}},
        SECRET: SECRET,
    }
    return (
        first,
        {"role": "assistant", "content": said},
        {"role": "user", "content": [{"toolResult": result}]},
        {"role": SECRET, "content": [{"text": "x"}]},
    )


@pytest.mark.parametrize("short", [False, True])
def test_no_word_of_the_session_is_left_in_filler(short: bool) -> None:
    assert SECRET not in repr(without_words(planted(), short))


def test_no_word_of_the_session_is_left_in_what_was_reduced() -> None:
    messages = (*planted()[:3], *planted()[1:3], *planted()[1:3])
    fault = find_fault(messages, SlidingWindow.as_of("1.35.0", 4), SlidingWindow.as_of("1.37.0", 4))
    assert fault is not None
    assert SECRET not in repr(reduced(fault, messages))
