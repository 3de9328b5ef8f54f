"""Edits as data: what each one does to a conversation, what it leaves alone, and how it explains itself."""

from copy import deepcopy
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxlab.edits import (
    CollapseTexts,
    DropMessages,
    Edit,
    EditKind,
    Pin,
    ReplaceImage,
    ReplaceResult,
    Summarize,
    TokenChange,
    TruncateText,
    edit_kind,
    touched,
)
from ctxlab.messages import Block, Conversation, has_pinned_flag, is_pinned
from ctxlab.reduction import ContextWindowOverflow, Round
from ctxlab.replay import apply, survivors
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import Summarizing
from ctxlab.truncation import Truncation
from tests.builders import (
    assistant,
    image,
    message,
    pinned,
    result_block,
    review,
    tool_result,
    tool_use,
    user,
)
from tests.strategies import conversations, managers

SUMMARY = user("[summary]")

EXAMPLES: dict[EditKind, tuple[Edit, str]] = {
    "pin": (Pin((0, 1)), "Messages 0 to 1 become pinned."),
    "truncate": (
        TruncateText(2, 0, 0, "x" * 5000, "y" * 448, 200, 4600),
        "A text in message 2 is cut from 5,000 to 448 characters: 200 stay at each end.",
    ),
    "replace image": (
        ReplaceImage(2, 0, 0, image(), "[image: png, 6 bytes]"),
        "An image in a tool result of message 2 becomes the text [image: png, 6 bytes].",
    ),
    "replace result": (
        ReplaceResult(2, 0, result_block("1"), result_block("1", "The tool result was too large!", "error")),
        "A tool result of message 2 is thrown away: it becomes an error that says it was too large.",
    ),
    "collapse": (
        CollapseTexts(2, (0, 0), ((0, 1), (1, None)), 9000, "preview", 200),
        "All text of message 2, 9,000 characters, becomes one preview of 7; 2 blocks are removed, 1 of them inside "
        "tool results.",
    ),
    "drop": (
        DropMessages((0, 1, 2), 3, "tool_pair", 3),
        "The conversation is cut at message 3, a tool pair: 3 messages before it are dropped.",
    ),
    "summarize": (
        Summarize((0, 1), 2, SUMMARY),
        "2 of the oldest 2 messages become one summary (a stand-in of 9 characters; no model was asked).",
    ),
}


def test_every_kind_of_edit_has_an_example_here() -> None:
    assert EXAMPLES.keys() == set(get_args(EditKind))


@pytest.mark.parametrize("kind", EXAMPLES)
def test_an_edit_explains_itself_in_a_sentence(kind: EditKind) -> None:
    edit, sentence = EXAMPLES[kind]
    assert edit_kind(edit) == kind
    assert edit.sentence == sentence


def test_a_text_that_grows_or_stays_as_long_is_called_out() -> None:
    grown = TruncateText(2, 0, 0, "x" * 401, "y" * 446, 200, 1)
    same = TruncateText(2, 0, 0, "x" * 447, "y" * 447, 200, 47)
    assert grown.sentence.endswith("With the marker it grows, and that still counts as progress.")
    assert same.sentence.endswith("With the marker it is as long as before, and that still counts as progress.")


def test_the_rank_of_a_text_in_its_round_is_told() -> None:
    edit = TruncateText(2, 0, None, "x" * 5000, "y" * 2549, 1250, 2500, rank=3, qualifying=80)
    assert "message 2, number 3 of 80 by length, is cut" in edit.sentence


def test_an_anchor_and_a_window_of_no_messages_are_told() -> None:
    assert DropMessages((1, 2), 3, "tool_pair", 3, anchor=0).sentence.endswith(
        "Message 0 stays before it as the anchor."
    )
    cleared = DropMessages((0,), 1, None, 0)
    assert cleared.sentence == "The window is 0 messages: 1 message that is not pinned is dropped."


def test_what_tokens_an_edit_saves_is_negative() -> None:
    assert TokenChange(before=100, after=30).difference == -70


# What an edit does


def test_pinning_keeps_the_other_metadata() -> None:
    metadata = {"usage": {"inputTokens": 5}, "custom": {"colour": "red"}}
    (after,) = apply(({**user("hi"), "metadata": metadata},), Pin((0,)))
    assert after["metadata"] == {"usage": {"inputTokens": 5}, "custom": {"colour": "red", "pinned": True}}


@pytest.mark.parametrize("metadata", [None, "odd", {"custom": None}])
def test_pinning_goes_on_where_metadata_is_odd(metadata: object) -> None:
    odd = {**user("hi"), "metadata": metadata}
    assert has_pinned_flag(apply((odd,), Pin((0,)))[0])  # type: ignore[arg-type] # odd on purpose


def test_truncating_an_item_leaves_the_items_and_blocks_beside_it_alone() -> None:
    items: list[Block] = [{"text": "x" * 900}, {"json": {"rows": 3}}]
    before = message("user", result_block("1", items, "error"), {"text": "and this"})
    (after,) = apply((before,), TruncateText(0, 0, 0, "x" * 900, "short", 200, 500))
    shortened: list[Block] = [{"text": "short"}, items[1]]
    assert after == message("user", result_block("1", shortened, "error"), {"text": "and this"})


def test_truncating_a_text_of_a_message_keeps_what_else_its_block_holds() -> None:
    (after,) = apply((message("user", {"text": "long", "note": 1}),), TruncateText(0, 0, None, "long", "l", 1, 3))
    assert after["content"] == [{"text": "l", "note": 1}]


def test_replacing_an_image_leaves_its_caption() -> None:
    edit = ReplaceImage(0, 0, 0, image(), "[image: png, 6 bytes]")
    (after,) = apply((tool_result("1", [image(), {"text": "caption"}]),), edit)
    assert after == tool_result("1", [{"text": "[image: png, 6 bytes]"}, {"text": "caption"}])


def test_dropping_keeps_the_anchor_and_the_pinned_messages_in_order() -> None:
    after = apply(review(), DropMessages((1, 2, 4), 5, "tool_pair", 4, anchor=0))
    assert after == (review()[0], review()[3], *review()[5:])


def test_a_summary_stands_behind_the_pinned_messages_of_its_range() -> None:
    messages = (user("a"), pinned(assistant("b")), user("c"), assistant("d"))
    edit = Summarize((0, 2), 3, SUMMARY)
    assert apply(messages, edit) == (messages[1], SUMMARY, messages[3])
    assert list(survivors(edit, 4)) == [1, None, 3]


def test_collapsing_removes_blocks_also_inside_tool_results_and_keeps_the_results() -> None:
    before = message("user", {"text": "question"}, result_block("1", [{"text": "a" * 900}, {"json": {}}]))
    edit = CollapseTexts(0, (0, None), ((1, 0),), 908, "preview", 10)
    assert apply((before,), edit) == (message("user", {"text": "preview"}, result_block("1", [{"json": {}}])),)


def test_collapse_takes_the_message_with_the_most_text_and_makes_one_preview_of_it() -> None:
    messages = (user("q" * 50), tool_use("1"), tool_result("1", [{"text": "a" * 40}, {"text": "b" * 40}]))
    truncation = Truncation(10, "collapse")
    (edit,) = Summarizing(preserve_recent_messages=10, truncation=truncation).reduce(messages).edits
    assert isinstance(edit, CollapseTexts)
    assert (edit.message, edit.before, edit.first, edit.removed) == (2, 81, (0, 0), ((0, 1),))
    assert edit.after.startswith("a" * 10)
    assert edit.after.endswith("b" * 10)


# Laws


def edits_of(messages: Conversation, manager: SlidingWindow | Summarizing, overflow: bool) -> Round:
    try:
        return manager.reduce(messages, overflow)
    except ContextWindowOverflow as refusal:
        return refusal.round or Round(1, messages)


@given(conversations(), managers(), st.booleans())
def test_every_message_afterwards_is_accounted_for(
    messages: Conversation, manager: SlidingWindow | Summarizing, overflow: bool
) -> None:
    for edit in edits_of(messages, manager, overflow).edits:
        after = apply(messages, edit)
        kept = survivors(edit, len(messages))
        assert len(kept) == len(after)
        gone = set(range(len(messages))) - {index for index in kept if index is not None}
        assert gone == (set(touched(edit)) if isinstance(edit, DropMessages | Summarize) else set())
        messages = after


@given(conversations(), managers(), st.booleans())
def test_an_edit_carries_what_was_there_before_it(
    messages: Conversation, manager: SlidingWindow | Summarizing, overflow: bool
) -> None:
    for edit in edits_of(messages, manager, overflow).edits:
        if isinstance(edit, TruncateText | ReplaceImage | ReplaceResult):
            block = messages[edit.message]["content"][edit.block]
            if isinstance(edit, ReplaceResult):
                assert edit.before == block
            else:
                part = block if edit.item is None else block["toolResult"]["content"][edit.item]
                assert edit.before == (part["text"] if isinstance(edit, TruncateText) else part)
        messages = apply(messages, edit)


@given(conversations(), st.data())
def test_applying_an_edit_mutates_nothing(messages: Conversation, data: st.DataObject) -> None:
    manager = data.draw(managers())
    before = deepcopy(messages)
    for edit in edits_of(messages, manager, overflow=True).edits:
        apply(messages, edit)
        break
    assert messages == before


@given(conversations())
def test_a_pin_pins_the_partner_of_a_tool_message_too(messages: Conversation) -> None:
    if messages:
        after = apply(messages, Pin((0,)))
        assert is_pinned(after, 0)
        for index in range(1, len(messages)):
            assert is_pinned(after, index) >= is_pinned(messages, index)
