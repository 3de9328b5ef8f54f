"""The explorer without a browser: what its controls are set to, what it then says, and where an error is shown.

The widgets are looked at by the values that they send to the front end; what becomes of these is tested in a browser.
"""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import ctxlab
from ctxlab.explorers import Explorer
from ctxlab.explorers.sources import Sources
from ctxlab.explorers.state import State, Store
from ctxlab.explorers.summary import Progress
from ctxlab.explorers.work import PATIENCE
from ctxlab.messages import Conversation
from ctxlab.samples import sample_sessions
from ctxlab.sessions import Session, SessionFormatError
from ctxlab.truncation import Truncation
from tests.builders import assistant, pinned, review, tool_chain, user

BUDGET = 150


def seed(release: str = "1.37.0", **options: Any) -> Explorer:
    """The explorer on the recorded session of #2173, with window 4."""
    chosen: dict[str, Any] = {"window_size": 4, "budget": BUDGET, **options}
    return Explorer(sample_sessions()["review-2173"], release=release, **chosen)


def on(messages: Conversation, **options: Any) -> Explorer:
    return Explorer(Session.of(messages), **options)


def tab(explorer: Explorer, name: str) -> Any:
    """Open a tab."""
    number = [one.name for one in explorer.tabs].index(name)
    explorer.tab.selected_index = number
    return explorer.tabs[number]


def said(explorer: Explorer) -> str:
    """The sentence at the top."""
    return str(explorer.summary.story.value)


def error(explorer: Explorer) -> str:
    return str(explorer.errors.widget.value)


def step_said(explorer: Explorer) -> str:
    return str(explorer.player.said.value)


# ---- the story of #2173


def test_the_story_of_2173_is_told_by_switching_the_release() -> None:
    explorer = seed("1.34.1")
    assert "cuts at message 5: 3 messages" in said(explorer)
    explorer.policy_bar.release.value = "1.35.0"
    assert "gets stuck" in said(explorer)
    assert "“Unable to trim conversation context!”" in said(explorer)
    explorer.policy_bar.release.value = "1.37.0"
    assert "cuts at message 5: 3 messages" in said(explorer)
    assert explorer.timeline.canvas.now["cut"] == 5
    assert explorer.findings.trace.final[0]["role"] == "assistant"


def test_the_release_says_what_changed_in_it_and_its_number() -> None:
    assert "#2174" in seed("1.37.0").policy_bar.about.value
    assert "1.34.1 is as 1.29.0" in seed("1.34.1").policy_bar.about.value


# ---- budget


def test_moving_the_slider_moves_the_budget_and_nothing_of_the_picture() -> None:
    explorer = seed()
    sent: list[str] = []
    explorer.timeline.canvas.observe(lambda change: sent.append(change.name), "picture")
    explorer.budget_bar.slider.value = 300
    assert explorer.state.budget == 300
    assert "Fits." in said(explorer)
    assert explorer.timeline.canvas.now["budget"] == 300
    assert explorer.timeline.canvas.now["gaps"] == []
    assert sent == []


def test_a_budget_beyond_the_slider_is_kept_exactly() -> None:
    explorer = seed()
    explorer.budget_bar.number.value = 1_000_000
    assert explorer.state.budget == 1_000_000
    assert explorer.budget_bar.slider.value == explorer.budget_bar.slider.max
    assert "above this picture" in explorer.timeline.canvas.now["budget_label"]


def test_presets_offer_the_context_windows_of_providers() -> None:
    explorer = seed()
    sizes = {size: label for label, size in explorer.budget_bar.preset.options}
    assert "Claude" in sizes[200_000]
    explorer.budget_bar.preset.value = 200_000
    assert explorer.state.budget == 200_000


def test_the_tokens_come_from_the_counter_that_is_chosen() -> None:
    explorer = seed()
    explorer.budget_bar.counter.value = "heuristic"
    heuristic = ctxlab.ledger(explorer.findings.messages, ctxlab.counter("heuristic")).total
    assert f"{heuristic:,} tokens" in said(explorer)


# ---- policy


def test_pin_first_is_off_where_the_release_has_no_pins() -> None:
    explorer = seed("1.42.0")
    assert explorer.policy_bar.pins.disabled
    explorer.policy_bar.release.value = "1.43.0"
    assert not explorer.policy_bar.pins.disabled
    explorer.policy_bar.pins.value = 1
    assert explorer.findings.moment.gaps == ((1, 5),)
    assert explorer.timeline.canvas.picture["pinned"] == [0]


def test_the_careful_policy_has_its_own_parameters() -> None:
    explorer = seed()
    assert explorer.policy_bar.aims.layout.display == "none"
    explorer.policy_bar.kind.value = "careful"
    assert explorer.policy_bar.aims.layout.display is None
    assert explorer.policy_bar.release.layout.display == "none"
    assert explorer.findings.policy_name == "The careful policy"


def test_a_careful_policy_that_aims_cuts_where_the_remainder_fits() -> None:
    messages = (user("Go."), *tool_chain(30, "x" * 300), assistant("ok"), user("more"), assistant("yes"))
    explorer = on(messages, policy="careful", window_size=60, should_truncate_results=False, budget=1000)
    explorer.policy_bar.aims.value = True
    assert explorer.findings.trace.outcome == "fits"
    assert explorer.findings.trace.refused_calls == 1
    explorer.budget_bar.number.value = 500
    assert explorer.findings.trace.outcome == "fits"
    assert explorer.findings.trace.tokens[-1] <= 500


# ---- summarizing


def summarizing(**options: Any) -> Explorer:
    messages = (user("Go."), *tool_chain(20, "x" * 900), assistant("ok"), user("more"), assistant("yes"))
    return on(messages, **{"policy": "summarizing", "budget": 1500, **options})


def test_a_summary_is_shown_as_a_stand_in_for_which_no_model_was_asked() -> None:
    explorer = summarizing()
    assert "Summarizing as of Strands 1.62.0 puts a stand-in summary (no model was asked)" in said(explorer)
    cut = explorer.findings.moment.cut
    assert cut is not None
    assert f"up to message {cut.index}" in said(explorer)
    assert "stand-in summary" in explorer.timeline.canvas.now["cut_label"]
    assert (explorer.timeline.canvas.now["cut"], explorer.timeline.canvas.now["start"]) == (cut.index, -1)
    explorer.player.start.click()
    explorer.player.step.click()
    assert "no model was asked" in step_said(explorer)


def test_the_places_to_split_are_those_at_which_summarizing_may_split() -> None:
    explorer = summarizing()
    accepted = [point.index for point in explorer.findings.run.points if point.kind]
    for cut in explorer.findings.history.cuts:
        assert cut.index in accepted
    assert {row[5] for row in explorer.tabs[0].widget.rows} == {"● any role", "× refused"}


def test_the_fallback_truncates_by_the_rule_that_is_chosen() -> None:
    explorer = on((user("x" * 9000), assistant("ok")), policy="summarizing", budget=500)
    assert "Cannot summarize: insufficient messages" in said(explorer)
    explorer.policy_bar.fallback.value = "proportional"
    assert "proportional fallback shortens 2 texts" in said(explorer)
    explorer.policy_bar.chars.value = 400
    assert getattr(explorer.findings.run.manager, "truncation", None) == Truncation(400, "proportional")
    explorer.policy_bar.fallback.value = "none"
    assert explorer.policy_bar.chars.disabled
    assert "gets stuck" in said(explorer)


def test_leaving_summarizing_leaves_the_release_that_only_it_knows() -> None:
    explorer = summarizing()
    explorer.policy_bar.release.value = "1.63.0"
    assert explorer.findings.run.manager.release == "1.63.0"
    explorer.policy_bar.kind.value = "release"
    assert error(explorer) == ""
    assert explorer.state.policy.release == "1.62.0"


def test_a_policy_shows_its_own_parameters_only() -> None:
    bar = summarizing().policy_bar
    assert {control.layout.display for control in (bar.ratio, bar.recent, bar.fallback, bar.release)} == {None}
    assert {control.layout.display for control in (bar.window, bar.truncate, bar.aims)} == {"none"}
    bar.kind.value = "careful"
    assert {control.layout.display for control in (bar.ratio, bar.recent, bar.fallback, bar.release)} == {"none"}


# ---- playing


def test_steps_go_on_and_back_and_say_what_they_did() -> None:
    explorer = on((user("Go."), *tool_chain(4, "x" * 900), assistant("ok")), window_size=4, budget=100)
    player = explorer.player
    player.start.click()
    assert "nothing has been done yet" in step_said(explorer)
    assert explorer.findings.moment.edit == 0
    player.step.click()
    assert "is cut from 900" in step_said(explorer)
    assert explorer.timeline.canvas.now["lost"] != []
    player.step.click()
    assert "The conversation is cut at message" in step_said(explorer)
    player.back.click()
    assert "is cut from 900" in step_said(explorer)
    player.end.click()
    assert explorer.state.stop is None


def test_where_a_policy_is_stuck_the_last_step_is_the_sdks_own_error() -> None:
    explorer = seed("1.35.0")
    explorer.player.start.click()
    explorer.player.step.click()
    assert "raises “Unable to trim conversation context!”" in step_said(explorer)
    assert explorer.player.step.disabled


def test_rounds_are_jumped_over_as_a_whole() -> None:
    messages = (user("Go."), *tool_chain(4, [{"text": "x" * 900}, {"text": "y" * 900}]), assistant("ok"))
    explorer = on(messages, window_size=4, budget=100)
    explorer.player.start.click()
    explorer.player.round.click()
    assert explorer.findings.stop == 2
    explorer.player.round_back.click()
    assert explorer.findings.stop == 0


def test_playing_asks_for_the_next_step_only_after_the_last_is_shown() -> None:
    explorer = on((user("Go."), *tool_chain(4, "x" * 900), assistant("ok")), window_size=4, budget=100)
    last, ticker = explorer.findings.last_stop, explorer.player.ticker
    explorer.player.play.click()
    assert explorer.findings.stop == 0
    stops = []
    while ticker.playing:
        ticker.asked = ticker.shown + 1
        assert ticker.shown == ticker.asked
        stops.append(explorer.findings.stop)
    assert stops == list(range(1, last + 1))
    assert explorer.player.play.description == "▶ Play"


def test_a_later_cut_names_its_message_as_the_timeline_counts() -> None:
    messages = (user("Go."), *tool_chain(10, "x" * 900), assistant("ok"))
    explorer = on(messages, window_size=6, budget=100)
    assert "cuts 2 times, last at message" in said(explorer)
    assert "of the timeline.)" in step_said(explorer)
    first = explorer.findings.trace.final[0]
    assert messages[explorer.timeline.canvas.now["cut"]] is first


# ---- one selection, one range


def test_a_click_on_the_picture_moves_every_view_to_that_message() -> None:
    explorer = seed()
    explorer.timeline.canvas.focus = 6
    assert explorer.sight.focus.value == 6
    assert explorer.tabs[0].widget.selected == 6
    assert "Message 6 · user · toolResult" in explorer.sight.said.value
    assert "answers message 5" in tab(explorer, "Message").body.value


def test_a_row_of_the_table_moves_the_focus_too() -> None:
    explorer = seed()
    explorer.tabs[0].widget.selected = 3
    assert explorer.state.focus == 3
    assert explorer.timeline.canvas.now["focus"] == 3


def test_the_table_holds_every_index_with_verdict_and_reason() -> None:
    explorer = seed("1.35.0")
    rows = explorer.tabs[0].widget.rows
    assert [row[1] for row in rows] == [str(index) for index in range(8)]
    for row, point in zip(rows, explorer.findings.subject.points, strict=True):
        assert row[5].startswith("×" if point.kind is None else "▲")
        assert point.reason is None or row[6] == point.reason.text


def test_a_long_table_is_sent_a_page_at_a_time_and_follows_the_focus() -> None:
    explorer = on((user("Go."), *tool_chain(500, "x" * 50)))
    table = explorer.tabs[0].widget
    assert (len(table.rows), table.total) == (20, 1001)
    explorer.sight.focus.value = 700
    assert table.first <= 700 < table.first + len(table.rows)
    assert table.rows[700 - table.first][1] == "700"


def test_a_drag_zooms_in_and_the_focus_takes_the_range_along() -> None:
    explorer = on((user("Go."), *tool_chain(500, "x" * 50)))
    assert "in 201 groups of 5" in explorer.sight.shown.value
    explorer.timeline.canvas.span = [100, 160]
    assert (explorer.timeline.canvas.picture["first"], explorer.timeline.canvas.picture["size"]) == (100, 1)
    assert explorer.state.focus == 100
    explorer.sight.focus.value = 300
    assert explorer.state.span == (241, 301)
    explorer.sight.all.click()
    assert explorer.timeline.canvas.picture["size"] == 5


# ---- rounds and tuning follow, and lead

TRUNCATES = (user("Go."), *tool_chain(4, "x" * 900), assistant("ok"))


def test_the_rounds_are_at_the_step_and_the_message_of_the_explorer() -> None:
    explorer = on(TRUNCATES, window_size=4, budget=100)
    player = tab(explorer, "Rounds").player
    assert player.position == explorer.findings.last_edit > 2
    explorer.player.start.click()
    explorer.player.step.click()
    explorer.timeline.canvas.focus = 3
    assert (player.position, player.message) == (1, 3)
    player.position, player.message = 2, 5
    assert (explorer.findings.stop, explorer.state.focus) == (2, 5)
    assert explorer.timeline.canvas.now["focus"] == 5
    player.position = explorer.findings.last_edit
    assert explorer.state.stop is None
    explorer.policy_bar.kind.value = "summarizing"
    assert player.position == explorer.findings.last_edit
    assert json.loads(player.record)["outcome"] == explorer.findings.trace.outcome


def test_a_tile_out_of_sight_takes_the_range_along() -> None:
    explorer = on(TRUNCATES, window_size=4, budget=100)
    tab(explorer, "Rounds")
    explorer.timeline.canvas.span = [0, 3]
    tab(explorer, "Rounds").player.message = 6
    assert explorer.state.span == (4, 7)


def test_what_is_tuned_goes_into_the_policy_and_back() -> None:
    explorer = on((user("x" * 9000), assistant("ok")), budget=500)
    tune = tab(explorer, "Tune")
    first = tune.tuner
    assert first.budget == 500
    first.budget = 700
    assert explorer.state.budget == 700
    first.preserve_chars = 300
    tune.take.click()
    policy = explorer.state.policy
    assert (policy.kind, policy.fallback, policy.preserve_chars) == ("summarizing", "proportional", 300)
    assert "shortens" in said(explorer)
    explorer.policy_bar.chars.value = 700
    assert tune.tuner.preserve_chars == 700
    explorer.budget_bar.counter.value = "heuristic"
    assert tune.tuner.counter.name == "heuristic"
    assert error(explorer) == ""


# ---- sessions


def test_another_sample_starts_from_its_own_half() -> None:
    explorer = seed()
    explorer.session_bar.session.value = "sample:review-long"
    assert explorer.findings.session.name.startswith("review-long")
    assert explorer.state.budget == explorer.findings.ledger.total // 2
    assert explorer.budget_bar.slider.value <= explorer.budget_bar.slider.max
    assert (explorer.state.focus, explorer.state.stop, explorer.state.span) == (0, None, None)


def test_a_budget_that_was_typed_holds_for_the_next_session_and_one_that_was_dragged_does_not() -> None:
    explorer = seed()
    explorer.budget_bar.number.value = 1234
    explorer.session_bar.session.value = "sample:review-long"
    assert explorer.state.budget == 1234
    explorer.budget_bar.slider.value = explorer.budget_bar.slider.max // 3
    explorer.session_bar.session.value = "sample:pins"
    assert explorer.state.budget == explorer.findings.ledger.total // 2
    explorer.budget_bar.preset.value = 128_000
    explorer.session_bar.session.value = "sample:review-long"
    assert explorer.state.budget == 128_000


@pytest.mark.parametrize("around", ['"{}"', "'{}'", "  {}  "])
def test_a_path_may_come_with_quotes_or_spaces_around_it(tmp_path: Path, around: str) -> None:
    explorer = seed()
    explorer.session_bar.path.ask(around.format(session_file(tmp_path, review())))
    assert error(explorer) == ""
    assert len(explorer.findings.messages) == 8


def test_a_path_that_is_relative_says_where_it_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    explorer = seed()
    explorer.session_bar.path.ask("nowhere.json")
    assert str(tmp_path) in error(explorer)
    explorer.session_bar.path.ask("")
    assert "type the path" in error(explorer)


def test_an_upload_that_cannot_be_read_is_told_of_by_its_own_name() -> None:
    explorer = seed()
    with pytest.raises(SessionFormatError, match=r"^broken\.json"):
        explorer.sources.upload("broken.json", b'{"role": ')


def test_what_is_stored_and_what_is_live_can_both_be_shown() -> None:
    explorer = Explorer(sample_sessions()["pins"])
    live = len(explorer.findings.messages)
    explorer.session_bar.view.value = "stored"
    assert len(explorer.findings.messages) > live
    assert error(explorer) == ""


def session_file(folder: Path, messages: Conversation, name: str = "mine.json") -> Path:
    file = folder / name
    file.write_text(json.dumps(list(messages)), encoding="utf-8")
    return file


def test_a_path_is_opened_and_read_again_when_it_has_changed(tmp_path: Path) -> None:
    file = session_file(tmp_path, review())
    explorer = seed()
    explorer.session_bar.path.ask(str(file))
    assert len(explorer.findings.messages) == 8
    session_file(tmp_path, review()[:4])
    explorer.session_bar.path.ask(str(file))
    assert len(explorer.findings.messages) == 4
    assert "4 messages" in said(explorer)


EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


def uploaded(name: str, content: bytes) -> tuple[dict[str, Any], ...]:
    return ({"name": name, "type": "", "size": len(content), "content": memoryview(content), "last_modified": EPOCH},)


def test_an_upload_is_read_and_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    explorer = seed()
    explorer.session_bar.upload.value = uploaded("../../mine.json", json.dumps(list(review())).encode())
    assert error(explorer) == ""
    assert explorer.state.source == "upload:mine.json"
    assert list(tmp_path.iterdir()) == []


def test_a_sample_that_is_given_by_its_path_is_that_sample() -> None:
    assert seed().state.source == "sample:review-2173"


def test_a_session_of_every_sample_can_be_explored() -> None:
    explorer = seed()
    for source, name in ((f"sample:{name}", name) for name in sample_sessions()):
        explorer.session_bar.session.value = source
        assert error(explorer) == "", name
        assert explorer.state.source == source


def test_recorded_sessions_can_be_explored_under_every_policy(shared: Path) -> None:
    explored = 0
    for file in sorted((shared / "sessions").iterdir()):
        try:
            explorer = Explorer(file, window_size=20)
        except ctxlab.SessionFormatError:
            continue
        explored += 1
        for _, release in explorer.policy_bar.release.options:
            explorer.policy_bar.release.value = release
        explorer.policy_bar.kind.value = "careful"
        explorer.player.start.click()
        tab(explorer, "Message")
        assert error(explorer) == "", file.name
    assert explored >= 5


# ---- what goes wrong is shown


def test_a_file_that_cannot_be_read_is_said_and_the_session_stays() -> None:
    explorer = seed()
    before = explorer.state
    explorer.session_bar.path.ask("/nowhere/<img src=x>.json")
    assert "That did not work." in error(explorer)
    assert "<img" not in error(explorer)
    assert explorer.state == before
    explorer.budget_bar.slider.value = 200
    assert error(explorer) == ""


def test_a_parameter_that_cannot_be_is_said_and_the_control_goes_back() -> None:
    explorer = seed("1.62.0")
    explorer.policy_bar.window.value = -1
    assert "non-negative" in error(explorer)
    assert explorer.policy_bar.window.value == 4


def test_a_number_beyond_what_its_box_takes_is_taken_as_the_nearest_that_it_does() -> None:
    explorer = seed()
    explorer.sight.focus.value = 99
    assert (explorer.sight.focus.value, explorer.state.focus) == (7, 7)
    explorer.budget_bar.number.value = -1
    assert (explorer.budget_bar.number.value, explorer.state.budget) == (0, 0)
    assert type(explorer.policy_bar.ratio.value) is float
    explorer.policy_bar.ratio.value = 1.5
    assert (explorer.policy_bar.ratio.value, explorer.state.policy.summary_ratio) == (1, 1)


def test_an_error_in_the_code_is_shown_with_its_place_and_never_swallowed() -> None:
    explorer = seed()
    explorer.finder.sources = Sources()  # which does not know what was opened
    broken: Callable[[Any], None] = explorer.guarded(lambda _: explorer.store.change(budget=[]))
    broken(None)
    assert "An error in ctxlab: TypeError" in error(explorer)
    assert "Where it comes from" in error(explorer)


def test_a_session_without_messages_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match="no message"):
        on(())


def test_progress_appears_only_for_what_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    progress, seconds = Progress(), [0.0]
    monkeypatch.setattr("time.monotonic", lambda: seconds[0])
    progress.begin()
    progress.report("Counting tokens", 1, 10)
    assert progress.widget.layout.display == "none"
    seconds[0] = PATIENCE + 0.1
    progress.report("Counting tokens", 5, 10)
    assert progress.widget.layout.display is None
    assert progress.bar.value == 50
    progress.end()
    assert progress.widget.layout.display == "none"


# ---- hostile text

HOSTILE = "<img src=x onerror=alert(1)><script>x</script>[a](javascript:x)\x1b[31m\u202e"


def every_value(explorer: Explorer) -> str:
    """All HTML that the explorer holds."""
    places = (explorer.summary.story, explorer.summary.notes, explorer.player.said, explorer.sight.said)
    more = (explorer.sight.shown, explorer.timeline.legend, explorer.errors.widget)
    message = tab(explorer, "Message")
    message.raw.value = True
    return "".join(place.value for place in (*places, *more, message.body, message.json))


def test_hostile_session_text_is_inert_wherever_it_is_shown() -> None:
    messages = (user(HOSTILE), *tool_chain(2, HOSTILE), {"role": HOSTILE, "content": [{"text": HOSTILE}]})
    explorer = Explorer(Session.of(messages, HOSTILE))  # type: ignore[arg-type]  # a role that is none, on purpose
    tab(explorer, "Message")
    for index in range(len(messages)):
        explorer.sight.focus.value = index
        shown = every_value(explorer)
        assert "<img" not in shown
        assert "<script" not in shown
        assert not set("\x1b\u202e") & set(shown)


# ---- the store


def test_a_state_that_cannot_be_shown_is_taken_back() -> None:
    store = Store(State("sample:x", "live", 100))
    shown: list[int] = []

    def watcher(state: State) -> None:
        shown.append(state.budget)
        if state.budget < 0:
            raise ValueError("negative")

    store.watch(watcher)
    with pytest.raises(ValueError, match="negative"):
        store.change(budget=-1)
    assert store.state.budget == 100
    assert shown == [-1, 100]


def test_what_widgets_report_while_a_change_is_shown_is_no_wish() -> None:
    store = Store(State("sample:x", "live", 100))
    store.watch(lambda state: store.change(budget=state.budget + 1))
    store.change(budget=200)
    assert store.state.budget == 200


def test_pins_of_the_session_itself_are_shown() -> None:
    explorer = on((pinned(user("Keep me.")), assistant("ok"), user("more"), assistant("yes")), window_size=2)
    assert explorer.timeline.canvas.picture["pinned"] == [0]
    assert "pinned" in explorer.sight.said.value


def test_what_the_provider_reported_stands_beside_the_estimate() -> None:
    usage = {"usage": {"inputTokens": 123_456, "outputTokens": 1, "totalTokens": 123_457}}
    explorer = Explorer(Session.of((user("hi"), {**assistant("ok"), "metadata": usage}, user("go on"))))
    assert "123,456 tokens" in explorer.summary.notes.value
