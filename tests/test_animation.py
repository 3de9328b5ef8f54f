"""The animator's record: what it says of every tile at every step is what the trace did, and texts stay bounded."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ctxlab
from ctxlab.fallback import characters
from ctxlab.figures.animation import LONGEST, MOST_TILES, REASONS, SHORTEST, TEXT_BUDGET, animation, to_json
from ctxlab.figures.narration import beside, narrate, risk
from ctxlab.figures.tiles import Fate
from ctxlab.messages import Conversation, text_slots
from ctxlab.recovery import recover
from ctxlab.reduction import Trace
from ctxlab.samples import sample_sessions
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import INSUFFICIENT, Summarizing
from ctxlab.truncation import PassedOver, Truncation, marker
from ctxlab.vocabularies import counter
from tests.builders import message, pinned, review, tool_use, user
from tests.strategies import conversations, filled, managers

HEURISTIC = counter("heuristic")
PROPORTIONAL = Summarizing(truncation=Truncation(2000, "proportional"))
EIGHTY = (user(*(filled(f"line {number} of the log\n", 5000) for number in range(80))),)

Manager = SlidingWindow | Summarizing


def recorded(messages: Conversation, manager: Manager, budget: int = 0, **options: Any) -> tuple[Trace, dict[str, Any]]:
    """A trace and its record, as the browser gets it."""
    trace = recover(messages, manager, budget, HEURISTIC)
    truncation = manager.truncation if isinstance(manager, Summarizing) else None
    record = animation(trace, HEURISTIC, truncation, narrate(trace, truncation), **options)
    parsed: dict[str, Any] = json.loads(to_json(record))
    return trace, parsed


def final(record: dict[str, Any]) -> list[str]:
    """The texts on the board after the last step, in reading order, put together from the record alone."""
    tiles = record["tiles"]
    last = {change[1]: change for change in record["changes"]}
    texts = []
    for tile, text in enumerate(tiles["text"]):
        whole = "".join(part for _, part in tiles["excerpt"][tile])
        if tile not in last:
            if text and not tiles["born"][tile]:
                texts.append(whole)
            continue
        _, _, fate, head, tail, middle = last[tile][:6]
        if fate in (Fate.BORN, Fate.PINNED) and head + tail >= len(whole):
            texts.append(whole)
        elif fate < Fate.DROPPED:
            texts.append(whole[:head] + record["middles"][middle] + whole[len(whole) - tail :])
    return texts


@given(conversations(), managers(), st.integers(0, 3000))
def test_head_middle_and_tail_of_every_tile_are_the_text_that_is_left(
    messages: Conversation, manager: Manager, budget: int
) -> None:
    # Texts of up to 8,000 characters are sent in part; shorter than the least that is sent they come whole.
    short = tuple(_shortened(message) for message in messages)
    trace, record = recorded(short, manager, budget)
    assert sorted(final(record)) == sorted(slot.text for message in trace.final for slot in text_slots(message))


def _shortened(message: Any) -> Any:
    if isinstance(message, dict):
        return {key: _shortened(value) for key, value in message.items()}
    if isinstance(message, list):
        return [_shortened(value) for value in message]
    return message[:LONGEST] if isinstance(message, str) else message


@given(conversations(), managers(), st.integers(0, 3000))
def test_the_running_totals_are_those_of_the_trace(messages: Conversation, manager: Manager, budget: int) -> None:
    trace, record = recorded(messages, manager, budget)
    ends = record["rounds"]["end"]
    assert [record["steps"]["tokens"][end] for end in ends] == list(trace.tokens)
    assert [record["steps"]["characters"][end] for end in ends] == list(characters(trace))
    assert ends[-1] == len(trace.edits) == len(record["steps"]["round"])


@given(conversations(), managers())
def test_changes_come_in_order_and_touch_tiles_that_there_are(messages: Conversation, manager: Manager) -> None:
    _, record = recorded(messages, manager)
    steps = [change[0] for change in record["changes"]]
    assert steps == sorted(steps)
    tiles, groups = record["tiles"], record["groups"]
    assert all(0 <= change[1] < len(tiles["length"]) for change in record["changes"])
    assert tiles["group"] == sorted(tiles["group"])
    assert [at for at in groups["message"] if at >= 0] == list(range(len(messages)))


@given(conversations(), managers())
def test_an_excerpt_is_part_of_the_text_where_it_says(messages: Conversation, manager: Manager) -> None:
    _, record = recorded(messages, manager)
    tiles, groups = record["tiles"], record["groups"]
    slots = {
        (slot.message, slot.block, -1 if slot.item is None else slot.item): slot.text
        for index, message in enumerate(messages)
        for slot in text_slots(message, index)
    }
    for tile, excerpt in enumerate(tiles["excerpt"]):
        message = groups["message"][tiles["group"][tile]]
        if tiles["text"][tile] and message >= 0:
            text = slots[message, tiles["block"][tile], tiles["item"][tile]]
            assert all(text[start : start + len(part)] == part for start, part in excerpt)
            assert len(text) == tiles["length"][tile]


@pytest.mark.parametrize("name", sample_sessions())
@pytest.mark.parametrize("rule", ["fixed", "proportional", "collapse"])
def test_every_sample_session_can_be_recorded(name: str, rule: Any) -> None:
    messages = ctxlab.load(sample_sessions()[name]).messages
    trace, record = recorded(messages, Summarizing(truncation=Truncation(1000, rule)))
    assert len(record["rounds"]["words"]) == len(trace.rounds) + 1


# What is sent


def test_the_eighty_blocks_are_127_changes_in_rounds_of_1_2_4() -> None:
    _, record = recorded(EIGHTY, PROPORTIONAL, 40_000)
    assert len(record["changes"]) == 127
    assert record["rounds"]["limit"] == [1, 2, 4, 8, 16, 32, 64]
    assert record["rounds"]["end"] == [0, 1, 3, 7, 15, 31, 63, 127]
    assert record["changes"][0][3:7] == [1250, 1250, 0, 2549]
    assert record["middles"][0] == marker(2500)
    assert record["rounds"]["words"][5] == "The 16 largest blocks are cut to 1,250 + 1,250 characters."
    assert record["rounds"]["after"][5].startswith("31 of 80 are cut so far. 324,019 of 400,000 characters left;")


def test_long_texts_are_sent_in_part_with_both_sides_of_every_cut() -> None:
    _, record = recorded((user(filled("abcdefghij", 1_000_000)),), PROPORTIONAL, 100)
    excerpt = record["tiles"]["excerpt"][0]
    assert sum(len(part) for _, part in excerpt) <= LONGEST
    edges = {change[3] for change in record["changes"]}
    assert all(any(start < edge < start + len(part) for start, part in excerpt) for edge in edges)


def test_many_texts_share_the_room_for_text() -> None:
    messages = tuple(user(filled(f"{number} ", 5000)) for number in range(3000))
    manager = Summarizing(preserve_recent_messages=3000, truncation=Truncation(2000, "proportional"))
    _, record = recorded(messages, manager, 1_000_000)
    sent = sum(len(part) for excerpt in record["tiles"]["excerpt"] for _, part in excerpt)
    assert sent <= max(TEXT_BUDGET, SHORTEST * 3000)


def test_beyond_the_most_tiles_the_smallest_share_some_and_that_is_counted() -> None:
    blocks = [filled(f"{number} ", 10 + 7 * (number % 50)) for number in range(300)]
    trace, record = recorded((user(*blocks),), Summarizing(truncation=Truncation(50)), most_tiles=100)
    tiles = record["tiles"]
    assert len(tiles["count"]) <= 100
    assert sum(tiles["count"]) == 300
    assert record["hidden"] == sum(count for count in tiles["count"] if count > 1)
    assert sum(tiles["length"]) == sum(map(len, blocks))
    assert record["steps"]["characters"][-1] == list(characters(trace))[-1]


def test_ten_thousand_blocks_have_a_tile_each() -> None:
    assert MOST_TILES >= 10_000


def test_a_record_can_stand_in_a_script_element_and_has_a_sign_for_what_nobody_sees() -> None:
    hostile = "</script><!-- \x1b[31m \u202e \u2028 \ud800 end"
    messages = ({"role": hostile, "content": [{"text": hostile}]},)
    trace = recover(messages, PROPORTIONAL, 0, HEURISTIC)  # type: ignore[arg-type]  # a role as no session should have
    text = to_json(animation(trace, HEURISTIC, PROPORTIONAL.truncation, narrate(trace)))
    assert "<" not in text
    assert "\u2028" not in text
    text.encode("utf-8")
    record = json.loads(text)
    assert record["signs"]["\x1b"] == "␛"
    assert record["signs"]["\u202e"] == "\\u202e"
    assert "\x1b" not in record["groups"]["role"][0]


def test_every_tile_says_why_a_round_would_pass_it_over() -> None:
    messages = (user("x" * 5000, "y" * 100), pinned(user("z" * 9000)), tool_use("1", input={"q": "w" * 3000}))
    _, record = recorded(messages, PROPORTIONAL, 10**9)
    reasons = [REASONS[why] if why >= 0 else None for why in record["tiles"]["why"]]
    assert reasons == [None, PassedOver.SHORT, PassedOver.PINNED, None]
    assert record["tiles"]["text"] == [1, 1, 1, 0]


def test_a_counter_other_than_the_traces_is_refused() -> None:
    trace = recover(EIGHTY, PROPORTIONAL, 0, HEURISTIC)
    with pytest.raises(ValueError, match="counted with 'heuristic'"):
        animation(trace, counter())


# Words


def test_beside_the_proposed_rule_stands_what_1_63_0_does() -> None:
    said = beside(EIGHTY, PROPORTIONAL, 40_000, HEURISTIC)
    assert said == (
        f"Under the fixed rule of 1.63.0: no block is longer than 6,000 characters, 0 cut, stuck: “{INSUFFICIENT}”."
    )
    fixed = Summarizing.as_of("1.63.0")
    assert beside(EIGHTY, fixed, 40_000, HEURISTIC).endswith("#5791: fits after 7 refused calls.")


def test_beside_a_conversation_that_fits_stands_nothing() -> None:
    assert beside((user("hi"),), PROPORTIONAL, 100, HEURISTIC) == ""


def test_collapsing_says_what_it_removes_and_why_that_is_riskier() -> None:
    messages = (user("go"), tool_use("a", "b", "c"), message("user", *_results("abc")))
    trace = recover(messages, Summarizing(truncation=Truncation(500, "collapse")), 0, HEURISTIC)
    assert risk(trace).startswith(
        "Collapsing removes 2 blocks, 2 of them inside tool results, and leaves 2 tool results without content"
    )
    assert risk(recover(EIGHTY, PROPORTIONAL, 0, HEURISTIC)) == ""


def _results(ids: str) -> list[dict[str, Any]]:
    return [
        {"toolResult": {"toolUseId": name, "status": "success", "content": [{"text": name * 2000}]}} for name in ids
    ]


def test_a_session_that_fits_says_so_at_the_start() -> None:
    _, record = recorded(review(), SlidingWindow(), 10_000)
    assert record["rounds"]["lead"] == ["Start."]
    assert "within the budget of 10,000" in record["rounds"]["words"][0]
