"""The message inspector: partners of tool calls, what each cut changed, raw JSON, and all of it inert."""

import html
import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxlab.edits import CollapseTexts, Pin, Summarize, TruncateText, touched
from ctxlab.explorers import Explorer
from ctxlab.explorers.message import MessageView
from ctxlab.figures.history import history
from ctxlab.figures.inspection import CHANGED, ENDS, RAW, Partners, block_text, changes, events, parted
from ctxlab.messages import Conversation, text_at, tool_pairs
from ctxlab.recovery import Manager, recover
from ctxlab.reduction import Round, Trace
from ctxlab.replay import changed, survivors
from ctxlab.sessions import Session
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import Summarizing
from ctxlab.tokens import ledger
from ctxlab.truncation import Rule, Truncation, cut
from ctxlab.vocabularies import counter
from tests.builders import assistant, message, tool_chain, tool_result, tool_use, user
from tests.strategies import conversations, managers

HEURISTIC = counter("heuristic")
HOSTILE = "<img src=x onerror=alert(1)><script>x</script>[a](javascript:x)\x1b[31m\u202e"

# Laws


@given(st.text(), st.text(), st.text(), st.text())
def test_a_changed_text_is_put_together_again_from_its_parts(head: str, one: str, other: str, tail: str) -> None:
    before, after = head + one + tail, head + other + tail
    start, removed, added, end = parted(before, after)
    assert start + removed + end == before
    assert start + added + end == after
    assert not (removed and added) or (removed[0] != added[0] and removed[-1] != added[-1])


@given(conversations())
def test_partners_are_mutual_and_know_every_tool_pair(messages: Conversation) -> None:
    known = Partners(messages)
    links = {(index, other) for index in range(len(messages)) for one in known.of(index) for other in one.messages}
    assert links == {(other, index) for index, other in links}
    for pair in tool_pairs(messages):
        if any(pair.ids):
            assert (pair.use, pair.result) in links


@pytest.mark.parametrize("rule", ["fixed", "proportional", "collapse"])
def test_every_cut_of_the_fallback_is_shown_with_its_message(rule: Rule) -> None:
    messages = (user("a" * 3000), assistant("b" * 900), user("c" * 5000))
    trace = recover(messages, Summarizing(truncation=Truncation(200, rule)), 100, HEURISTIC)
    past = history(trace, ledger(messages, HEURISTIC))
    found = [change for index in range(3) for change in changes(past, messages, index, len(past.edits))]
    assert sorted(change.edit for change in found) == list(range(1, len(trace.edits) + 1))
    for change in found:
        edit = trace.edits[change.edit - 1]
        assert change.sentence == edit.sentence
        assert len(change.head + change.removed + change.added + change.tail) <= 2 * ENDS + 2 * CHANGED + 250
        if isinstance(edit, TruncateText) and len(edit.after) <= ENDS:
            assert change.head + change.added + change.tail == edit.after


@settings(max_examples=80)
@given(conversations(), managers(), st.integers(0, 300))
def test_every_edit_is_told_of_the_messages_that_it_touches_and_of_no_other(
    messages: Conversation, policy: Manager, budget: int
) -> None:
    trace = recover(messages, policy, budget, HEURISTIC)
    past = history(trace, ledger(messages, HEURISTIC))
    last = len(trace.edits)
    told: dict[int, set[int]] = {number: set() for number in range(1, last + 1)}
    for index in range(len(messages)):
        for change in changes(past, messages, index, last):
            told[change.edit].add(index)
        for event in events(past, index, last):
            assert event.edit == 0 or event.sentence == trace.edits[event.edit - 1].sentence
            if event.edit and event.what in ("dropped", "summed up"):
                told[event.edit].add(index)
            for change in event.changes:
                told[change.edit].add(index)
    # Which messages of the start are in each message of the running state: a summary holds many, all others one.
    held: list[set[int]] = [{index} for index in range(len(messages))]
    for number, edit in enumerate(trace.edits, 1):
        touched_now = set().union(*(held[index] for index in touched(edit)))
        if not isinstance(edit, Pin):
            assert told[number] == touched_now
        both = survivors(edit, len(held))
        held = [touched_now if index is None else held[index] for index in both]


@given(conversations(), st.integers(20, 300))
def test_what_a_collapse_takes_is_told_text_by_text(messages: Conversation, preserve: int) -> None:
    trace = recover(messages, Summarizing(0.3, 1, truncation=Truncation(preserve, "collapse")), 0, HEURISTIC)
    past = history(trace, ledger(messages, HEURISTIC))
    for index in range(len(messages)):
        state = messages[index]
        for change in changes(past, messages, index, len(trace.edits)):
            edit = trace.edits[change.edit - 1]
            if isinstance(edit, CollapseTexts):
                texts = [text_at(state, *slot) for slot in (edit.first, *edit.removed)]
                assert len("\n".join(texts)) == edit.before
                for text, part in zip(texts, change.texts, strict=True):
                    if len(text) <= ENDS:
                        assert part.head + part.removed + part.tail == text
                assert any(part.removed for part in change.texts)
            else:
                assert change.texts == ()
            state = changed(state, edit)  # type: ignore[arg-type]  # changes are edits in place


# The tab


def inspect(messages: Conversation, focus: int = 0, **options: Any) -> tuple[Explorer, MessageView]:
    given: dict[str, Any] = {"window_size": 4, "budget": 100, **options}
    explorer = Explorer(Session.of(messages), **given)
    names = [tab.name for tab in explorer.tabs]
    explorer.tab.selected_index = names.index("Message")
    explorer.sight.focus.value = focus
    return explorer, explorer.tabs[names.index("Message")]


def offered(view: MessageView) -> list[str]:
    return [one.description for one in view.partners if one.layout.display is None]


def shown(view: MessageView) -> str:
    """The text that a person reads."""
    return html.unescape(re.sub("<[^>]*>", "", view.body.value))


def test_a_partner_is_one_press_away_and_so_is_the_way_back() -> None:
    explorer, view = inspect((user("Go."), *tool_chain(4, "x" * 900), assistant("ok")), 3)
    assert offered(view) == ["answer in message 4"]
    view.partners[0].click()
    assert explorer.state.focus == 4
    assert offered(view) == ["call in message 3"]
    view.partners[0].click()
    assert explorer.state.focus == 3


def test_after_a_jump_there_is_a_way_back_however_many_jumps_there_were() -> None:
    messages = (user("Go."), *tool_chain(4, "x"), assistant("ok"))
    explorer, view = inspect(messages, 3)
    assert view.back.layout.display == "none"
    view.partners[0].click()
    assert (view.back.layout.display, view.back.description) == (None, "◀ back to message 3")
    explorer.sight.focus.value = 5
    assert view.back.description == "◀ back to message 3"
    view.partners[0].click()
    assert view.back.description == "◀ back to message 5"
    view.back.click()
    assert explorer.state.focus == 5
    view.back.click()
    assert explorer.state.focus == 3
    assert view.back.layout.display == "none"


def test_a_message_that_went_into_a_summary_shows_the_summary_and_what_became_of_that() -> None:
    messages = tuple(part for at in range(5) for part in (user(f"question {at} " + "x" * 400), assistant("y" * 300)))
    options = {"policy": "summarizing", "budget": 60, "preserve_recent_messages": 1, "preserve_chars": 100}
    explorer, view = inspect(messages, 0, **options, fallback="proportional")
    edits = explorer.findings.history.edits
    (first, *others) = [number for number, edit in enumerate(edits, 1) if isinstance(edit, Summarize)]
    assert f"Summed up. Edit {first:,}, round 1, done: {edits[first - 1].sentence}" in shown(view)
    for number in (first, *others):
        made = edits[number - 1]
        assert isinstance(made, Summarize)
        assert block_text(made.summary["content"][0])[:80] in shown(view)
    assert others
    assert shown(view).count("Its summary is summed up. Edit") == len(others)
    explorer.player.start.click()
    assert f"Edit {first:,}, round 1, still to come" in shown(view)


def test_a_cut_of_a_summary_is_told_with_the_messages_that_it_stands_for() -> None:
    messages = (user("a" * 500), assistant("b" * 300), user("c" * 700), assistant("ok"))
    summary = user("s" * 900)
    rounds = (
        Round(1, messages, (Summarize((0, 1), 2, summary),)),
        Round(2, messages, (TruncateText(0, 0, None, "s" * 900, cut("s" * 900, 100), 100, 700),)),
    )
    trace = Trace(messages, rounds, "fits", None, 0, 2, (9, 8, 7), "heuristic")
    past = history(trace, ledger(messages, HEURISTIC))
    for index in (0, 1):
        (event,) = events(past, index, 2)
        assert (event.what, event.text) == ("summed up", "s" * 900)
        (change,) = event.changes
        assert (change.edit, change.head, change.tail) == (2, "s" * 100, "s" * 100)
        assert next(iter(events(past, index, 1))).changes == ()
    assert not list(events(past, 2, 2))
    assert not list(changes(past, messages, 2, 2))


def test_a_message_that_is_dropped_pinned_or_kept_as_the_anchor_says_by_which_edit() -> None:
    messages = (user("Go."), *tool_chain(6, "x" * 30), assistant("ok"))
    _, view = inspect(messages, 1, policy="careful", window_size=4, budget=40)
    assert "Dropped. Edit 1, round 1, done: The conversation is cut at message" in shown(view)
    explorer, view = inspect(messages, 0, policy="careful", window_size=4, budget=40)
    assert "Kept as the anchor. Edit 1, round 1, done" in shown(view)
    explorer, view = inspect(messages, 0, window_size=4, budget=40, pin_first=1)
    assert "Pinned. Edit 1, round 1, done: Message 0 becomes pinned." in shown(view)
    explorer.sight.focus.value = len(messages) - 1
    assert "What becomes of this message" not in shown(view)


def test_an_answer_that_is_not_next_is_found_and_said_to_be_astray() -> None:
    messages = (user("Go."), tool_use("1"), user("hm"), tool_result("1", "late"), tool_use("2"), user("and?"))
    explorer, view = inspect(messages, 1)
    assert "answered in message 3, which is not the next one" in shown(view)
    view.partners[0].click()
    assert explorer.state.focus == 3
    assert "answers message 1, which is not the previous one" in shown(view)
    explorer.sight.focus.value = 4
    assert "not answered anywhere" in shown(view)
    assert offered(view) == []


def test_each_cut_marks_the_changed_part_in_signs_and_says_whether_it_is_done() -> None:
    text = "the beginning " + "x" * 900 + " the end"
    explorer, view = inspect((user("Go."), *tool_chain(4, text), assistant("ok")), 2)
    assert "1 cut of this message" in shown(view)
    assert "⟦−" in shown(view)
    assert "⟦+" in shown(view)
    assert "the beginning" in shown(view).split("After, with")[1]
    assert "round 1, done" in shown(view)
    explorer.player.start.click()
    assert "round 1, still to come" in shown(view)
    explorer.sight.focus.value = 0
    assert "cut of this message" not in shown(view)


def test_raw_json_comes_on_demand_and_is_the_message() -> None:
    messages = (user("Go."), *tool_chain(2, "<b>x</b>"), assistant("ok"))
    explorer, view = inspect(messages, 2)
    assert view.json.value == ""
    view.raw.value = True
    found = re.search("<pre[^>]*>(.*)</pre>", view.json.value, re.DOTALL)
    assert found is not None
    assert json.loads(html.unescape(found[1])) == messages[2]
    explorer.sight.focus.value = 3
    assert "toolUse" in view.json.value
    view.raw.value = False
    assert view.json.value == ""


def test_a_message_beyond_all_measure_is_shown_in_part_and_says_so() -> None:
    _, view = inspect(({"role": "user", "content": [{"text": "y" * 5000}] * 500}, assistant("ok")))
    assert "and 440 more blocks" in shown(view)
    view.raw.value = True
    assert "more characters" in view.json.value
    assert len(view.json.value) < 2 * RAW


@pytest.mark.parametrize("policy", ["release", "summarizing", "careful"])
def test_hostile_text_is_inert_in_blocks_cuts_and_json(policy: str) -> None:
    text = HOSTILE * 30
    messages = (
        user(text),
        tool_use(HOSTILE, name=HOSTILE, input={HOSTILE: HOSTILE}),
        tool_result(HOSTILE, text),
        user(text),
        message(HOSTILE, {"text": text}, {HOSTILE: {HOSTILE: HOSTILE}}),
        message("user", {"toolResult": {HOSTILE: HOSTILE, "content": [{HOSTILE: text}]}}),
    )
    explorer, view = inspect(messages, policy=policy, fallback="proportional", preserve_chars=50, release="1.62.0")
    view.raw.value = True
    for index in range(len(messages)):
        explorer.sight.focus.value = index
        told = view.body.value + view.json.value + "".join(offered(view))
        assert "<img" not in told
        assert "<script" not in told
        assert "<a" not in told
        assert not set("\x1b\u202e") & set(told)
    assert explorer.errors.widget.value == ""


def test_an_image_and_a_whole_result_that_go_are_shown_too() -> None:
    image = {"image": {"format": "png", "source": {"bytes": b"x" * 3000}}}
    messages = (user("Go."), tool_use("1"), tool_result("1", [image, {"text": "z" * 900}]), assistant("ok"))
    for manager in (SlidingWindow.as_of("1.62.0", 2), SlidingWindow.as_of("1.28.0", 2)):
        trace = recover(messages, manager, 1, HEURISTIC)
        past = history(trace, ledger(messages, HEURISTIC))
        found = list(changes(past, messages, 2, len(past.edits)))
        assert found
        assert all(change.removed for change in found)
