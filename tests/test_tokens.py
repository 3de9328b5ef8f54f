"""Tokens add up, each text is tokenized once, and the estimate is that of the released SDK."""

import copy
import json
import math
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import pairwise
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxlab.messages import Conversation, Message, block_kind, blocks
from ctxlab.tokens import COST_KINDS, HEURISTIC, TokenCounter, ledger
from ctxlab.vocabularies import RECIPES, counter, encoding
from tests.builders import assistant, image, message, review, tool_result, tool_use, user
from tests.conftest import need
from tests.strategies import TEXTS, conversations

JSON_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20), st.binary(max_size=3)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
"""Mostly JSON, with now and then something in it that JSON cannot hold."""

WORDS = st.one_of(st.sampled_from(TEXTS), st.text(max_size=40), st.sampled_from(["<|endoftext|>", "\ud800", ""]))


def optional(**keys: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A dict that has any of these keys, also none."""
    return st.fixed_dictionaries({}, optional=keys)


ITEMS = optional(text=WORDS, json=JSON_VALUES, image=st.just({"format": "png", "source": {"bytes": b"\x89"}}))
SOUND_BLOCKS = st.one_of(
    optional(text=WORDS),
    optional(toolUse=optional(toolUseId=st.just("1"), name=WORDS, input=JSON_VALUES)),
    optional(toolResult=optional(toolUseId=st.just("1"), content=st.lists(ITEMS, max_size=3))),
    optional(
        reasoningContent=optional(reasoningText=optional(text=WORDS, signature=WORDS), redactedContent=st.just(b"\x00"))
    ),
    optional(guardContent=optional(text=optional(text=WORDS, qualifiers=st.just(["query"])), image=st.just({}))),
    optional(
        citationsContent=optional(
            content=st.lists(optional(text=WORDS, json=JSON_VALUES), max_size=3), citations=st.just([{}])
        )
    ),
    st.sampled_from(
        [{"cachePoint": {"type": "default"}}, image(), {"document": {"name": "a"}}, {"video": {}}, {"x": 1}]
    ),
)
"""Blocks that the SDK can count, the odd ones as well."""

BLOCKS = st.one_of(SOUND_BLOCKS, st.builds(lambda one, two: {**one, **two}, SOUND_BLOCKS, SOUND_BLOCKS))
MESSAGES = st.builds(
    lambda role, content: message(role, *content), st.sampled_from(["user", "assistant"]), st.lists(BLOCKS, max_size=4)
)

JUNK: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.integers(), st.binary(max_size=3), st.text(max_size=5), st.just(object())),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("text", "toolUse", "toolResult", "name", "input", "content", "json", "reasoningContent"),
                    *("reasoningText", "guardContent", "citationsContent", "image"),
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
"""What is not a block: any type at any place that a block has."""


class Spy:
    """A measure that writes down what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, text: str) -> int:
        self.asked.append(text)
        return len(text)


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from strings(part)


@pytest.fixture(scope="module")
def sdk() -> Any:
    """The SDK's module with its own estimate."""
    need(find_spec("strands"), "strands-agents is not installed (pip install ctxlab[strands])")
    from strands.models import model

    return model


# The laws of a ledger


@given(conversations())
def test_a_total_is_the_sum_of_its_messages_and_of_their_blocks(messages: Conversation) -> None:
    counted = ledger(messages, HEURISTIC)
    assert counted.total == sum(counted.per_message) == sum(map(sum, counted.per_block))
    assert counted.per_message == tuple(map(sum, counted.per_block)) == tuple(map(sum, counted.kinds))
    assert counted.per_message == tuple(map(HEURISTIC.message, messages))
    assert counted.per_block == tuple(tuple(map(HEURISTIC.block, blocks(part))) for part in messages)


@given(conversations())
def test_a_suffix_falls_by_what_each_message_costs(messages: Conversation) -> None:
    counted = ledger(messages, HEURISTIC)
    assert len(counted.suffix) == len(messages)
    ends = (*counted.suffix, 0)
    assert ends[0] == counted.total
    assert tuple(here - after for here, after in pairwise(ends)) == counted.per_message


@given(conversations())
def test_counting_leaves_the_conversation_as_it_was(messages: Conversation) -> None:
    before = copy.deepcopy(messages)
    ledger(messages, HEURISTIC)
    assert messages == before


@given(conversations(), st.data())
def test_a_ledger_after_an_exchange_is_the_ledger_of_the_new_conversation(messages: Conversation, data: Any) -> None:
    if messages:
        at = data.draw(st.integers(0, len(messages) - 1))
        new = data.draw(MESSAGES)
        changed = (*messages[:at], new, *messages[at + 1 :])
        assert ledger(messages, HEURISTIC).replaced(at, new, HEURISTIC) == ledger(changed, HEURISTIC)


@given(conversations(), st.data())
def test_a_ledger_of_what_is_kept_is_the_ledger_of_the_shorter_conversation(messages: Conversation, data: Any) -> None:
    kept = [at for at in range(len(messages)) if data.draw(st.booleans())]
    assert ledger(messages, HEURISTIC).kept(kept) == ledger([messages[at] for at in kept], HEURISTIC)


def test_an_exchanged_message_is_the_only_one_that_is_counted() -> None:
    spy = Spy()
    own = TokenCounter("spy", spy)
    counted = ledger(review("a long diff"), own)
    spy.asked.clear()
    counted.replaced(2, tool_result("1", "cut"), own)
    assert spy.asked == ["cut"]


def test_a_ledger_is_not_continued_with_another_counter() -> None:
    with pytest.raises(ValueError, match="'heuristic' cannot be continued with 'other'"):
        ledger((user("hi"),), HEURISTIC).replaced(0, user("ho"), TokenCounter("other", len))


def test_an_empty_conversation_costs_nothing() -> None:
    counted = ledger((), HEURISTIC)
    assert (counted.total, counted.suffix, counted.to_frame().shape) == (0, (), (0, 6))


def test_tokens_are_shown_by_kind() -> None:
    messages = (
        message("user", {"text": "a" * 4}, image()),
        message("assistant", {"reasoningContent": {"reasoningText": {"text": "b" * 8}}}, {"text": "c" * 12}),
        tool_use("1", name="d" * 16),
        tool_result("1", "e" * 20),
        message("assistant", {"guardContent": {"text": {"text": "f" * 24}}}),
        message("system", {"text": "g" * 28}),
    )
    rows = [dict(zip(COST_KINDS, row, strict=True)) for row in ledger(messages, HEURISTIC).kinds]
    assert [{kind: tokens for kind, tokens in row.items() if tokens} for row in rows] == [
        {"user text": 1},
        {"reasoning": 2, "assistant text": 3},
        {"toolUse": 5},
        {"toolResult": 5},
        {"other": 6},
        {"other": 7},
    ]


@given(conversations())
@settings(max_examples=30)
def test_a_frame_has_one_row_a_block(messages: Conversation) -> None:
    counted = ledger(messages, HEURISTIC)
    frame = counted.to_frame()
    assert list(frame.columns) == ["message", "role", "block", "kind", "characters", "tokens"]
    assert list(zip(frame["message"], frame["block"], frame["kind"], strict=True)) == [
        (at, number, block_kind(block)) for at, part in enumerate(messages) for number, block in enumerate(blocks(part))
    ]
    assert frame["tokens"].sum() == counted.total


def test_a_frame_tells_the_characters_that_were_counted() -> None:
    frame = ledger((tool_use("1", name="get", input={"q": "语"}), tool_result("1", "four")), HEURISTIC).to_frame()
    assert list(frame["characters"]) == [len("get") + len('{"q": "\\u8bed"}'), 4]


# Each text once


@given(conversations())
def test_each_distinct_text_is_tokenized_once(messages: Conversation) -> None:
    spy = Spy()
    own = TokenCounter("spy", spy)
    first = ledger(messages, own)
    assert len(spy.asked) == len(set(spy.asked))
    assert own.tokenized == sum(map(len, spy.asked))
    asked = len(spy.asked)
    assert ledger(copy.deepcopy(messages), own) == first
    assert len(spy.asked) == asked


@given(st.lists(WORDS, max_size=20))
def test_remembering_changes_no_count(texts: list[str]) -> None:
    own = TokenCounter("spy", lambda text: len(text) + 1)
    assert [own.text(text) for text in texts * 2] == [len(text) + 1 for text in texts * 2]


def test_texts_and_json_are_not_mixed_up_where_they_are_measured_differently() -> None:
    own = TokenCounter("two", lambda text: 1, lambda text: 2)
    assert [own.text("{}"), own.json({}), own.text("{}"), own.json({})] == [1, 2, 1, 2]


def test_a_text_whose_count_failed_is_counted_at_the_next_try() -> None:
    failures = iter([True, False])

    def measure(text: str) -> int:
        if next(failures):
            raise KeyboardInterrupt
        return len(text)

    own = TokenCounter("interrupted", measure)
    with pytest.raises(KeyboardInterrupt):
        own.text("hello")
    assert own.text("hello") == 5


# Progress


def reports(messages: Conversation, own: TokenCounter) -> list[tuple[int, int]]:
    told: list[tuple[int, int]] = []
    ledger(messages, own, lambda done, total: told.append((done, total)))
    return told


def test_progress_is_told_as_texts_are_tokenized_and_ends_with_all() -> None:
    messages = tuple(user(f"{number:100000}") for number in range(20))
    own = TokenCounter("length", len)
    told = reports(messages, own)
    assert told[-1] == (20, 20)
    assert 6 <= len(told) <= 8, "two million characters, a report for every quarter of a million"
    assert told == sorted(set(told))
    assert reports(messages, own) == [(20, 20)], "what is known takes no time"


def test_progress_is_told_once_for_a_small_or_empty_conversation() -> None:
    assert reports(review(), HEURISTIC) == [(8, 8)]
    assert reports((), HEURISTIC) == [(0, 0)]


def test_progress_may_stop_the_count_and_what_was_counted_stays_known() -> None:
    class StoppedError(Exception):
        pass

    def stop(done: int, total: int) -> None:
        raise StoppedError

    messages = tuple(user(f"{number:100000}") for number in range(20))
    spy = Spy()
    own = TokenCounter("spy", spy)
    with pytest.raises(StoppedError):
        ledger(messages, own, stop)
    assert 0 < len(spy.asked) < 20
    assert ledger(messages, own).total == 2_000_000
    assert len(spy.asked) == 20


# What is not a block


@given(st.lists(JUNK, max_size=4), JUNK)
@settings(max_examples=500)
def test_nothing_at_a_block_s_place_can_stop_a_count(content: list[Any], role: Any) -> None:
    counted = ledger((cast(Message, {"role": role, "content": content}),), HEURISTIC)
    assert len(counted.per_block[0]) == len(content)
    assert counted.total >= 0
    assert counted.to_frame().shape[0] == len(content)


@pytest.mark.parametrize("content", [None, "text", 3, {"text": "hi"}])
def test_content_that_is_no_list_costs_nothing(content: Any) -> None:
    assert HEURISTIC.message(cast(Message, {"role": "user", "content": content})) == 0


def test_json_that_cannot_be_written_costs_nothing() -> None:
    circle: list[Any] = []
    circle.append(circle)
    deep: list[Any] = []
    for _ in range(200_000):
        deep = [deep]
    values = [b"bytes", {"a": {1, 2}}, circle, deep, object(), 10**5000]
    assert [counter().json(value) for value in values] == [0] * len(values)
    while deep:  # Taken apart by hand: freeing so deep a nest at once is work for the interpreter's stack.
        deep = deep.pop()


def test_media_cost_nothing() -> None:
    for media in (image(b"\x00" * 10_000), {"document": {"name": "report"}}, {"video": {"format": "mp4"}}):
        assert counter().block(media) == 0


# The SDK's estimate


@given(st.lists(MESSAGES, max_size=6))
@settings(max_examples=2000)
def test_the_heuristic_is_the_sdk_s_own_estimate(sdk: Any, messages: list[Message]) -> None:
    assert ledger(messages, HEURISTIC).total == sdk._estimate_tokens_with_heuristic(messages)


@given(conversations())
@settings(max_examples=500)
def test_the_heuristic_is_the_sdk_s_own_estimate_wherever_the_sdk_can_count(sdk: Any, messages: Conversation) -> None:
    try:
        expected = sdk._estimate_tokens_with_heuristic(messages)
    except (TypeError, KeyError, AttributeError):
        return
    assert ledger(messages, HEURISTIC).total == expected


@pytest.mark.parametrize("name", list(RECIPES))
@given(block=BLOCKS)
@settings(max_examples=500)
def test_an_encoding_counts_the_parts_that_the_sdk_counts(sdk: Any, name: str, block: dict[str, Any]) -> None:
    vocabulary = counter(name)
    assert vocabulary.block(block) == sdk._count_content_block_tokens(block, vocabulary.text, vocabulary.json)


def test_the_estimate_rounds_up_every_text() -> None:
    for length in range(12):
        assert HEURISTIC.text("x" * length) == math.ceil(length / 4)
    assert HEURISTIC.json({"a": 1}) == math.ceil(len('{"a": 1}') / 2)


# tiktoken's own counts


@pytest.fixture(scope="module", params=list(RECIPES))
def pair(request: pytest.FixtureRequest) -> tuple[TokenCounter, Callable[[str], list[int]]]:
    """A counter, and the encoding's own function from a text to tokens."""
    return counter(request.param), encoding(request.param).encode_ordinary


Pair = tuple[TokenCounter, Callable[[str], list[int]]]


@given(text=WORDS)
@settings(max_examples=500)
def test_a_text_costs_what_tiktoken_says(pair: Pair, text: str) -> None:
    own, encode = pair
    assert own.text(text) == len(encode(text))


@given(value=JSON_VALUES)
def test_json_costs_what_tiktoken_says_of_its_text(pair: Pair, value: Any) -> None:
    own, encode = pair
    try:
        serialized = json.dumps(value)
    except TypeError:
        serialized = ""
    assert own.json(value) == len(encode(serialized))


def test_a_special_token_in_a_session_is_text_like_any_other(pair: Pair) -> None:
    own, _ = pair
    assert own.text("<|endoftext|>") > 1


def test_chinese_costs_far_more_than_the_estimate_says() -> None:
    chinese = assistant("对话历史已经超出模型的上下文窗口,需要裁剪最早的消息。")
    assert counter().message(chinese) > 2 * HEURISTIC.message(chinese)


def test_every_recorded_text_costs_what_tiktoken_says(pair: Pair, shared: Any) -> None:
    own, encode = pair
    session = json.loads((shared / "sessions" / "derived_converse__pi_large_session.json").read_text(encoding="utf-8"))
    texts = list(strings(session))
    assert len(texts) > 100
    assert [own.text(text) for text in texts] == [len(encode(text)) for text in texts]
