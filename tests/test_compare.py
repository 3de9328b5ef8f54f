"""Policies side by side in the explorer: what the lanes say, where they part, what a wish from the page does."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxlab.checks import check_trace
from ctxlab.comparison import Policy
from ctxlab.explorers import Explorer
from ctxlab.explorers.compare import MOST, CompareTab, lane_name, others
from ctxlab.explorers.comparing import Comparing
from ctxlab.explorers.findings import Run
from ctxlab.explorers.state import Policy as Choice
from ctxlab.figures.difference import Side, first_difference
from ctxlab.figures.grouping import Groups
from ctxlab.figures.history import history
from ctxlab.figures.lanes import lanes, truncates
from ctxlab.figures.matrix import LETTERS
from ctxlab.invariants import verdict, verdicts
from ctxlab.messages import Conversation
from ctxlab.providers import providers
from ctxlab.recovery import recover
from ctxlab.replay import origins
from ctxlab.samples import sample_sessions
from ctxlab.sessions import Session
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import Summarizing
from ctxlab.tokens import ledger
from ctxlab.vocabularies import counter
from tests.builders import assistant, tool_chain, user
from tests.strategies import conversations, managers, well_formed_conversations

HEURISTIC = counter("heuristic")
POLICIES: tuple[Policy, ...] = (
    SlidingWindow.as_of("1.34.1", 3),
    SlidingWindow.as_of("1.35.0", 3),
    SlidingWindow.as_of("1.62.0", 3),
    SlidingWindow.careful(3),
    Summarizing.as_of("1.62.0", 0.5, 1),
    Summarizing(0.5, 1),
)


def side(messages: Conversation, policy: Policy, budget: int) -> Side:
    trace = recover(messages, policy, budget, HEURISTIC)
    return Side(policy.name, policy, trace, history(trace, ledger(messages, HEURISTIC)).places)


# Where they part


@settings(max_examples=40)
@given(well_formed_conversations(max_turns=6), st.sampled_from(POLICIES), st.sampled_from(POLICIES), st.integers(0, 60))
def test_policies_part_exactly_where_their_edits_do(
    messages: Conversation, one: Policy, other: Policy, budget: int
) -> None:
    mine, theirs = side(messages, one, budget), side(messages, other, budget)
    found = first_difference(mine, theirs)
    if mine.trace.edits == theirs.trace.edits:
        assert found.message is None
        assert found.text.startswith("Does the same")
        return
    assert found.message is not None
    assert 0 <= found.message < len(messages)
    number = int(found.text.split("at edit ")[1].split(":")[0].replace(",", "")) - 1
    assert mine.trace.edits[:number] == theirs.trace.edits[:number]
    assert mine.trace.edits[number : number + 1] != theirs.trace.edits[number : number + 1]
    assert one.name in found.text
    assert other.name in found.text


# The tab


def compared(**options: Any) -> tuple[Explorer, CompareTab]:
    given: dict[str, Any] = {"release": "1.37.0", "window_size": 4, "budget": 150, **options}
    explorer = Explorer(sample_sessions()["review-2173"], **given)
    number = [tab.name for tab in explorer.tabs].index("Compare")
    explorer.tab.selected_index = number
    return explorer, explorer.tabs[number]


def strips(tab: CompareTab) -> dict[str, Any]:
    return {strip["name"]: strip for strip in json.loads(tab.widget.record)["strips"]}


def wish(tab: CompareTab, do: str, lane: str = "") -> None:
    tab.widget.wish = {"do": do, "lane": lane, "count": tab.widget.wish.get("count", 0) + 1}


def test_the_lanes_tell_the_story_of_2173_with_the_policys_own_reason() -> None:
    explorer, tab = compared()
    found = strips(tab)
    assert next(iter(found)) == "Strands 1.37.0, window 4"
    stuck = found["Strands 1.35.0, window 4"]
    assert stuck["outcome"] == "stuck"
    point = SlidingWindow.as_of("1.35.0", 4).trim_points(explorer.findings.messages)[5]
    assert point.reason is not None
    assert f"Strands 1.35.0 refuses message 5: {point.reason.text}." in stuck["difference"]
    assert stuck["where"] == 5
    assert found["Strands 1.34.1, window 4"]["difference"] == "Does the same as Strands 1.37.0."


def test_a_lane_counts_what_its_trace_counts() -> None:
    explorer, tab = compared()
    for name, strip in strips(tab).items():
        policies = (explorer.state.policy, *others(explorer.state.policy, None))
        policy = next(one for one in policies if lane_name(one) == name)
        trace = recover(explorer.findings.messages, policy.manager(150, counter()), 150, counter())
        told = (strip["outcome"], strip["rounds"], strip["calls"], strip["tokens"], strip["left"])
        assert told == (trace.outcome, len(trace.rounds), trace.refused_calls, trace.tokens[-1], len(trace.final))


def test_nothing_is_compared_before_the_tab_is_open() -> None:
    explorer = Explorer(sample_sessions()["review-2173"])
    tab = next(tab for tab in explorer.tabs if tab.name == "Compare")
    assert tab.widget.record == ""


def test_lanes_are_found_once_and_a_move_of_the_focus_sends_no_record(monkeypatch: Any) -> None:
    explorer, tab = compared()
    sent: list[str] = []
    tab.widget.observe(lambda change: sent.append(change.name), "record")
    explorer.sight.focus.value = 3
    assert tab.widget.focus == 3
    assert sent == []
    explorer.budget_bar.number.value = 160
    explorer.budget_bar.number.value = 150
    for once in ("Checking", "Known", "first_difference", "lane_strip", "origins"):
        monkeypatch.setattr(f"ctxlab.explorers.comparing.{once}", None)  # calling it again would fail
    explorer.budget_bar.number.value = 160
    assert explorer.errors.widget.value == ""
    assert sent == ["record"] * 3


@settings(max_examples=25)
@given(st.one_of(conversations(), well_formed_conversations(pins=True)), managers(), st.lists(st.integers(0, 400)))
def test_what_is_kept_from_one_budget_to_the_next_is_what_would_be_found_anew(
    messages: Conversation, policy: Policy, budgets: list[int]
) -> None:
    bill = ledger(messages, HEURISTIC)
    full = recover(messages, policy, 0, HEURISTIC)
    run = Run(policy, full, history(full, bill), ())
    kept, bars = Comparing(messages, bill), Groups.bars(0, len(messages))
    for budget in budgets:
        lane = kept.lane(run, "", budget, lambda *_: None)
        trace = full.under(budget)
        assert lane.trace == trace
        assert lane.verdicts == verdicts(trace.final)
        assert lane.told.breaches == check_trace(trace, truncates(policy))
        anew = lanes(messages, budget, HEURISTIC, iter([("", policy)]))["strips"][0]
        assert kept.strip(lane, bars) == anew


def test_the_table_says_of_each_lane_what_each_provider_makes_of_it() -> None:
    explorer, tab = compared()
    record = json.loads(tab.widget.record)
    names = [column["name"] for column in record["columns"]]
    assert names == list(providers())
    start = explorer.findings.messages
    states = [start]
    for policy in (explorer.state.policy, *others(explorer.state.policy, None)):
        states.append(recover(start, policy.manager(150, counter()), 150, counter()).final)
    found = ["".join(LETTERS[one.status] for one in verdicts(state)) for state in states]
    assert [row["states"] for row in record["rows"]] == found
    assert [row["head"] for row in record["rows"]] == ["as it is", *(strip["brief"] for strip in record["strips"])]


def test_a_cell_tells_the_broken_rule_the_words_and_the_message_to_go_to() -> None:
    explorer, tab = compared()
    record = json.loads(tab.widget.record)
    key = next(row["key"] for row in record["rows"] if row["head"] == "Strands 1.34.1")
    tab.widget.selected = [key, "gemini"]
    trace = recover(explorer.findings.messages, SlidingWindow.as_of("1.34.1", 4), 150, counter())
    told = verdict(trace.final, "gemini")
    assert told.status == "refused"
    details = tab.widget.details
    assert details[0]["kind"] == "refused"
    assert told.violations[0].rule in details[2]["text"]
    assert [one["text"] for one in details if one["kind"] == "answer"] == list(told.texts[:3])
    (at,) = {one["message"] for one in details if "message" in one}
    assert at == origins(trace.edits, len(trace.start))[told.violations[0].index]


def test_comparing_says_how_far_it_is_and_can_be_stopped() -> None:
    explorer, tab = compared()
    told: list[tuple[str, int, int]] = []
    explorer.finder.progress = lambda *what: told.append(what)
    explorer.budget_bar.number.value = 40
    lines = [what for what, _, _ in told if what.startswith("Comparing")]
    assert set(lines) <= {f"Comparing {lane.run.manager.name}" for _, lane in tab._lanes}
    assert len(set(lines)) > 3

    class Enough(Exception):  # noqa: N818  it is a wish
        pass

    def stop(*_: object) -> None:
        raise Enough

    before = tab.widget.record
    explorer.finder.progress = stop
    with pytest.raises(Enough):
        tab.show(explorer.finder(replace(explorer.state, budget=1)))
    assert tab.widget.record == before
    explorer.finder.progress = lambda *_: None
    tab.show(explorer.finder(replace(explorer.state, budget=1)))
    assert json.loads(tab.widget.record)["budget"] == 1


def test_a_click_in_a_lane_puts_that_message_in_focus() -> None:
    explorer, tab = compared()
    tab.widget.focus = 6
    assert explorer.state.focus == 6
    assert explorer.timeline.canvas.now["focus"] == 6


def test_a_policy_is_kept_removed_and_chosen() -> None:
    explorer, tab = compared()
    usual = list(strips(tab))
    wish(tab, "keep")
    explorer.policy_bar.window.value = 2
    names = list(strips(tab))
    assert names[:2] == ["Strands 1.37.0, window 2", "Strands 1.37.0, window 4"]
    wish(tab, "show", names[1])
    assert explorer.state.policy.window_size == 4
    assert list(strips(tab))[:2] == ["Strands 1.37.0, window 4", "Strands 1.37.0, window 2"]
    wish(tab, "remove", "Strands 1.37.0, window 2")
    assert "Strands 1.37.0, window 2" not in strips(tab)
    wish(tab, "reset")
    assert list(strips(tab)) == usual


def test_a_wish_for_a_lane_that_is_not_there_changes_nothing() -> None:
    explorer, tab = compared()
    before = explorer.state
    chosen, beside, *_ = strips(tab)
    for do, lane in (("remove", "?"), ("remove", ""), ("remove", chosen), ("show", chosen), ("nonsense", beside)):
        wish(tab, do, lane)
    assert explorer.state == before


def test_a_lane_that_is_removed_or_chosen_by_two_presses_takes_no_other_lane_along() -> None:
    _, tab = compared()
    chosen, first, second, *rest = strips(tab)
    for _ in range(2):
        wish(tab, "remove", first)
    assert list(strips(tab)) == [chosen, second, *rest]
    for _ in range(2):
        wish(tab, "show", second)
    assert list(strips(tab)) == [second, chosen, *rest]


def test_there_are_never_more_lanes_than_can_be_seen() -> None:
    explorer, tab = compared()
    for window in range(5, 5 + 2 * MOST):
        explorer.policy_bar.window.value = window
        wish(tab, "keep")
    assert len(strips(tab)) <= MOST + 1


def test_different_parameters_have_different_names() -> None:
    choices = [
        Choice(kind, release, window, truncates, pins, aims, ratio, recent, fallback, chars)
        for kind in ("release", "careful", "summarizing")
        for release in ("1.37.0", "1.62.0")
        for window in (3, 4)
        for truncates in (True, False)
        for pins in (0, 2)
        for aims in (True, False)
        for ratio in (0.3, 0.5)
        for recent in (2, 10)
        for fallback in ("fixed", "none")
        for chars in (100, 200)
    ]
    managers: dict[str, Any] = {}
    for choice in choices:
        manager = choice.manager(7, HEURISTIC)
        assert managers.setdefault(lane_name(choice), manager) == manager


def test_a_range_in_sight_is_the_range_of_the_lanes() -> None:
    messages = (user("Go."), *tool_chain(500, "x" * 50), assistant("ok"))
    explorer = Explorer(Session.of(messages))
    tab = next(tab for tab in explorer.tabs if tab.name == "Compare")
    explorer.tab.selected_index = explorer.tabs.index(tab)
    whole = json.loads(tab.widget.record)
    assert whole["size"] == 5
    assert "in 201 groups of 5" in whole["sight"]
    explorer.timeline.canvas.span = [100, 160]
    near = json.loads(tab.widget.record)
    assert (near["first"], near["size"], len(near["bars"])) == (100, 1, 60)
    assert {len(strip["fates"]) for strip in near["strips"]} == {60}


def test_which_release_broke_it_and_which_one_mended_it_is_said_in_a_sentence() -> None:
    explorer = Explorer(sample_sessions()["review-2173"], release="1.35.0", window_size=4, budget=150)
    explorer.store.change(tab="Compare")
    record = json.loads(next(tab for tab in explorer.tabs if tab.name == "Compare").widget.record)
    assert "stuck from 1.35.0 to 1.36.0" in record["ranges"]
    assert "fits from 1.37.0 on (#2174)" in record["ranges"]
    explorer.store.change_policy(kind="summarizing")
    assert json.loads(next(tab for tab in explorer.tabs if tab.name == "Compare").widget.record)["ranges"] == ""
