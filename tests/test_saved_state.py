"""A state passed on: text and file give the same state again, and whatever else is opened is an error in words."""

import base64
import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ctxlab.explorers import Explorer
from ctxlab.explorers.saved import LONGEST, MARK, MOST_COMPARED, PREFIX, Saved, StateError, from_text, to_json, to_text
from ctxlab.explorers.state import Fallback, Policy, PolicyKind, State
from ctxlab.samples import sample_sessions
from ctxlab.sessions import Session
from tests.builders import assistant, review, user

NAMES = st.text(min_size=1, max_size=20)
INDEX = st.integers(0, 10**6)
POLICIES = st.builds(
    Policy,
    kind=st.sampled_from(get_args(PolicyKind)),
    release=st.sampled_from(["1.0.0", "1.34.1", "1.62.0"]),
    window_size=st.integers(0, 10**6),
    should_truncate_results=st.booleans(),
    pin_first=st.integers(0, 10**6),
    aims=st.booleans(),
    summary_ratio=st.floats(0, 1),
    preserve_recent_messages=st.integers(0, 10**6),
    fallback=st.sampled_from(get_args(Fallback)),
    preserve_chars=st.integers(1, 10**6),
)
STATES = st.builds(
    State,
    source=st.builds("{}{}".format, st.sampled_from(["sample:", "session:"]), NAMES),
    view=NAMES,
    budget=st.integers(0, 10**12),
    counter=st.sampled_from(("cl100k_base", "o200k_base", "heuristic")),
    policy=POLICIES,
    stop=st.none() | INDEX,
    focus=INDEX,
    span=st.none() | st.tuples(INDEX, st.integers(1, 100)).map(lambda pair: (pair[0], sum(pair))),
    tab=NAMES,
    compared=st.none() | st.lists(POLICIES, max_size=MOST_COMPARED).map(tuple),
)
SAVED = st.builds(Saved, STATES, INDEX)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)

# Laws


@given(SAVED)
def test_text_and_file_give_the_same_state_again(saved: Saved) -> None:
    assert from_text(to_text(saved)) == saved
    assert from_text(to_json(saved)) == saved


@given(SAVED)
def test_the_text_needs_no_quoting_in_a_url(saved: Saved) -> None:
    assert re.fullmatch(r"[A-Za-z0-9._-]+", to_text(saved))


@given(st.text())
@example("")
@example(PREFIX)
@example(PREFIX + "A")
@example("{" * 15_000)
@example('{"a":' * 3_000)
@example("9" * 15_000)
@example(f'{{"{MARK}": ' + "9" * 5_000 + "}")
def test_any_other_text_is_an_error_in_words(text: str) -> None:
    with pytest.raises(StateError, match=r"state"):
        from_text(text)


@given(SAVED, st.data(), JSON)
def test_a_field_of_another_kind_is_an_error_or_a_state_that_stays_itself(saved: Saved, data: Any, value: Any) -> None:
    record = json.loads(to_json(saved))
    inside = data.draw(st.sampled_from([record, record["policy"]]))
    inside[data.draw(st.sampled_from([*inside, "stop", "compared", "span", "kind", "__class__"]))] = value
    try:
        found = from_text(json.dumps(record))
    except StateError as error:
        said = str(error)
    else:
        said = ""
        assert from_text(to_text(found)) == found
    assert len(said) < 300


BASE = {MARK: 1, "count": 8, "source": "sample:review-2173", "view": "live", "budget": 150}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({MARK: 2}, "version 1, this is 2"),
        ({MARK: True}, "version 1"),
        ({"source": "path:/etc/passwd"}, "source cannot be"),
        ({"budget": -1}, "budget cannot be -1"),
        ({"budget": True}, "budget cannot be True"),
        ({"budget": 1.5}, "budget cannot be 1.5"),
        ({"focus": "0"}, "focus cannot be"),
        ({"span": [5, 5]}, "span cannot be"),
        ({"tab": "x" * 41}, "tab cannot be"),
        ({"view": ""}, "view cannot be"),
        ({"policy": {"kind": "__import__"}}, "kind cannot be"),
        ({"policy": {"release": "1.63.0"}}, "a policy cannot be so: known releases go"),
        ({"compared": [{"window_size": -1}]}, "a policy cannot be so: window_size must be"),
        ({"policy": {"kind": ["release"]}}, "kind cannot be"),
        ({"policy": {"release": "9.9.9"}}, "release cannot be"),
        ({"policy": {"summarize": "os.system"}}, "no field 'summarize'"),
        ({"compared": [{}] * (MOST_COMPARED + 1)}, "compared cannot be"),
        ({"compared": [3]}, "a policy cannot be 3"),
        ({"extra": 1}, "no field 'extra'"),
    ],
)
def test_each_field_is_checked_and_named(change: dict[str, Any], words: str) -> None:
    assert from_text(json.dumps(BASE)).count == 8
    assert from_text(json.dumps({**BASE, "policy": {"kind": "summarizing", "release": "1.63.0"}})).count == 8
    with pytest.raises(StateError, match=re.escape(words)):
        from_text(json.dumps({**BASE, **change}))


@pytest.mark.parametrize("name", [MARK, "count", "source", "view", "budget"])
def test_what_a_state_needs_is_asked_for(name: str) -> None:
    with pytest.raises(StateError, match=name):
        from_text(json.dumps({key: value for key, value in BASE.items() if key != name}))


def test_twice_the_same_field_nan_and_a_flood_are_refused() -> None:
    whole = json.dumps(BASE)
    for text in (whole[:-1] + ', "budget": 7}', whole[:-1] + ', "stop": NaN}', whole + " " * 5 + "x" * LONGEST):
        with pytest.raises(StateError):
            from_text(text)
    later = "ctxlab-state.2." + base64.urlsafe_b64encode(whole.encode()).decode()
    with pytest.raises(StateError, match="version 1"):
        from_text(later)


# The explorer


def seed(**options: Any) -> Explorer:
    return Explorer(
        sample_sessions()["review-2173"], **{"release": "1.35.0", "window_size": 4, "budget": 150, **options}
    )


def test_a_finding_is_passed_on_by_its_text_alone() -> None:
    mine = seed()
    mine.sight.focus.value = 5
    mine.player.start.click()
    mine.tab.selected_index = 4
    mine.tabs[4].widget.wish = {"do": "remove", "lane": 1, "count": 1}
    yours = Explorer(state=mine.state_text)
    assert yours.state == mine.state
    assert yours.summary.story.value == mine.summary.story.value
    assert yours.tab.selected_index == 4


def test_a_file_and_the_text_box_open_the_same(tmp_path: Path) -> None:
    mine, yours = seed(), seed(release="1.62.0", budget=90)
    mine.save_state(tmp_path / "state.json")
    assert (tmp_path / "state.json").read_text() == mine.state_box.file
    yours.state_box.wish = {"text": mine.state_box.text, "count": 1}
    assert yours.state == mine.state
    again = Explorer(state=tmp_path / "state.json")
    assert again.state == mine.state


def test_no_path_leaves_and_none_is_opened(tmp_path: Path) -> None:
    secret = tmp_path / "home-of-somebody"
    secret.mkdir()
    file = secret / "chat.json"
    file.write_text(json.dumps(list(review())))
    mine = Explorer(file, budget=77)
    assert "somebody" not in mine.state_box.file
    with pytest.raises(StateError, match="open that session first"):
        Explorer(state=mine.state_text)
    yours = Explorer(file, state=mine.state_text)
    assert (yours.state.budget, yours.findings.session.name) == (77, mine.findings.session.name)
    yours.budget_bar.number.value = 60
    yours.open_state(mine.state_text)
    assert yours.state.budget == 77


def test_a_state_of_another_session_is_said_and_nothing_changes() -> None:
    mine = Explorer(Session.of((user("hi"), assistant("ok"))))
    yours = seed()
    before = yours.state
    for text in (
        mine.state_text,
        "<script>",
        "ctxlab-state.1.x",
        seed().state_box.file.replace('"count": 8', '"count": 9'),
    ):
        yours.state_box.wish = {"text": text, "count": yours.state_box.wish.get("count", 0) + 1}
        assert "That did not work." in yours.errors.widget.value
        assert "<script" not in yours.errors.widget.value
        assert yours.state == before


def test_a_state_beyond_the_session_shows_what_there_is() -> None:
    record = {**BASE, "focus": 900, "stop": 900, "span": [700, 900], "tab": "No such tab"}
    explorer = Explorer(state=json.dumps(record))
    assert explorer.findings.focus == 7
    assert explorer.tab.selected_index == 0
    assert explorer.errors.widget.value == ""


@pytest.mark.parametrize(
    "change", [{"counter": "no-such-counter"}, {"view": "no-such-view"}, {"source": "sample:none"}]
)
def test_what_is_not_there_is_a_value_error_and_leaves_an_open_explorer_as_it_was(change: dict[str, Any]) -> None:
    text = json.dumps({**BASE, **change})
    with pytest.raises((ValueError, LookupError)):
        Explorer(state=text)
    explorer = seed()
    before = explorer.state
    with pytest.raises((ValueError, LookupError)):
        explorer.open_state(text)
    assert explorer.state == before


def test_a_state_cannot_make_a_vocabulary_be_fetched() -> None:
    text = to_json(Saved(State("sample:pins", "live", 100, counter="gpt2"), 3))
    with pytest.raises(ValueError, match="counter cannot be 'gpt2'"):
        from_text(text)
