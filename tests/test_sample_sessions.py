"""The sample sessions are what record.py writes, what their README says, and show what it promises."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from ctxlab.messages import Conversation, is_pinned, tool_result_ids, tool_use_ids
from ctxlab.recovery import Manager, recover
from ctxlab.reduction import Trace
from ctxlab.samples import sample_sessions
from ctxlab.sessions import load
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import Summarizing
from ctxlab.tokens import ledger
from ctxlab.truncation import Truncation
from ctxlab.vocabularies import counter
from tests.conftest import PROJECT, need
from tests.sdk.released import Case, ReleasedSdk, State

SAMPLES = PROJECT / "sample_sessions"
RECORDED_WITH = "1.62.0"
STUCK = "Unable to trim conversation context!"

ROW = re.compile(r"\| `([\w-]+)` \|.*?\| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) kB \|")


def stored(name: str) -> Conversation:
    return load(sample_sessions()[name]).views["stored"]


def recovered(name: str, manager: Manager, budget: int) -> Trace:
    return recover(stored(name), manager, budget=budget, counter=counter())


def overflow(sdk: ReleasedSdk, name: str) -> State:
    case = Case("sliding", {"window_size": 4}, list(stored(name)), ("overflow",))
    (state,) = next(iter(sdk.answers([case]))).states
    return state


def files(folder: Path) -> dict[str, bytes]:
    sessions = (file for name in sample_sessions() for file in (folder / name).rglob("*") if file.is_file())
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in sessions}


def table() -> list[tuple[str, tuple[int, ...]]]:
    rows = ROW.findall((SAMPLES / "README.md").read_text(encoding="utf-8"))
    return [(name, tuple(int(number.replace(",", "")) for number in numbers)) for name, *numbers in rows]


def test_recording_again_writes_the_same_bytes(tmp_path: Path) -> None:
    try:
        installed = version("strands-agents")
    except PackageNotFoundError:
        installed = "none"
    need(installed == RECORDED_WITH, f"recording needs strands-agents {RECORDED_WITH}, installed is {installed}")
    command = [sys.executable, str(SAMPLES / "record.py"), "--out", str(tmp_path)]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert answer.returncode == 0, answer.stderr
    assert {folder.name for folder in tmp_path.iterdir()} == set(sample_sessions())
    assert files(tmp_path) == files(SAMPLES)


def test_the_readme_names_every_sample() -> None:
    assert sorted(name for name, _ in table()) == sorted(sample_sessions()) != []


@pytest.mark.parametrize(("name", "numbers"), table(), ids=lambda value: value if isinstance(value, str) else "")
def test_the_readme_has_the_numbers_of_the_folder(name: str, numbers: tuple[int, ...]) -> None:
    folder = sample_sessions()[name]
    session = load(folder)
    messages = session.views["stored"]
    written = [file for file in folder.rglob("*") if file.is_file()]
    assert len(messages) == len(list(folder.glob("agents/*/messages/message_*.json")))
    assert numbers == (
        len(messages),
        len(session.views["live"]),
        ledger(messages, counter()).total,
        round(sum(file.stat().st_size for file in written) / 1000),
    )


def test_all_samples_together_stay_small() -> None:
    assert sum(len(content) for content in files(SAMPLES).values()) < 6_000_000


def test_no_sample_names_an_address_or_a_host() -> None:
    named = re.compile(rb"[\w.]+@[\w-]+\.\w+|https?://|\b\d{1,3}(\.\d{1,3}){3}\b|AKIA|sk-")
    assert [place for place, content in files(SAMPLES).items() if named.search(content)] == []


@pytest.mark.parametrize("release", ["1.34.1", "1.37.0", "1.62.0"])
def test_a_release_that_can_trim_2173_leaves_the_last_tool_pair(
    released: Callable[[str], ReleasedSdk], release: str
) -> None:
    state = overflow(released(release), "review-2173")
    left = json.loads(state.messages)
    assert state.error is None
    assert state.removed == 5
    assert len(left) == 3
    assert left[0]["content"][0]["toolUse"]["toolUseId"] == "3"


@pytest.mark.parametrize("name", ["review-2173", "eighty-blocks"])
def test_release_1_35_0_is_stuck(released: Callable[[str], ReleasedSdk], name: str) -> None:
    assert overflow(released("1.35.0"), name).error == ("ContextWindowOverflowException", STUCK)


def test_the_long_review_has_one_plain_prompt_and_more_than_thirty_pairs() -> None:
    messages = stored("review-long")
    assert [i for i, m in enumerate(messages) if m["role"] == "user" and not tool_result_ids(m)] == [0]
    assert len(messages) > 60
    stuck = recovered("review-long", SlidingWindow.as_of("1.35.0"), 20_000)
    assert (stuck.outcome, stuck.error) == ("stuck", STUCK)
    assert recovered("review-long", SlidingWindow.as_of("1.37.0"), 20_000).outcome == "fits"


def test_careful_cuts_the_huge_result_where_the_sdk_drops_the_questions_first() -> None:
    newest = recovered("oldest-result-small", SlidingWindow(), 32_000)
    careful = recovered("oldest-result-small", SlidingWindow.careful(), 32_000)
    assert (newest.outcome, len(newest.rounds), len(newest.final)) == ("fits", 3, 3)
    assert (careful.outcome, len(careful.rounds), len(careful.final)) == ("fits", 1, 11)


def test_the_mismatched_pair_is_a_trim_point_of_the_sdk_only() -> None:
    messages = stored("mismatched-pair")
    assert tool_use_ids(messages[5]) != tool_result_ids(messages[6])
    newest = SlidingWindow(window_size=6, should_truncate_results=False).reduce(messages)
    careful = SlidingWindow.careful(window_size=6, should_truncate_results=False).reduce(messages)
    assert newest.messages == messages[5:]
    assert careful.messages == (messages[0], *messages[7:])


def test_a_restart_loses_the_pins() -> None:
    session = load(sample_sessions()["pins"])
    everything, after = session.views["stored"], session.views["live"]
    assert [i for i in range(len(everything)) if is_pinned(everything, i)] == [0, 3, 4, 6]
    assert after == everything[19:]
    assert not any(is_pinned(after, i) for i in range(len(after)))


def test_a_restart_of_the_summarized_session_starts_with_the_summary() -> None:
    after = load(sample_sessions()["summarized"]).views["live"]
    assert after[0]["content"][0]["text"].startswith("## Conversation Summary")
    assert after[1:] == stored("summarized")[37:]


def test_eighty_blocks_have_5000_characters_each_and_only_the_proportional_rule_reaches_them() -> None:
    assert [len(block["text"]) for block in stored("eighty-blocks")[0]["content"]] == [5_000] * 80
    assert recovered("eighty-blocks", Summarizing(truncation=Truncation(rule="fixed")), 64_000).outcome == "stuck"
    trace = recovered("eighty-blocks", Summarizing(truncation=Truncation(rule="proportional")), 64_000)
    assert (trace.outcome, len(trace.rounds)) == ("fits", 7)
    assert all(len(block["text"]) < 5_000 for block in trace.final[0]["content"])


def test_mid_sized_results_lie_in_the_dead_zone_of_the_fixed_rule() -> None:
    blocks = [block for message in stored("mid-sized-results") for block in message["content"]]
    lengths = [len(block["toolResult"]["content"][0]["text"]) for block in blocks if "toolResult" in block]
    assert len(lengths) == 40
    assert (min(lengths), max(lengths)) == (2_355, 5_858)
    assert recovered("mid-sized-results", Summarizing(truncation=Truncation(rule="fixed")), 34_000).outcome == "stuck"
    trace = recovered("mid-sized-results", Summarizing(truncation=Truncation(rule="proportional")), 34_000)
    assert (trace.outcome, len(trace.rounds)) == ("fits", 6)


@pytest.mark.parametrize(
    "truncation", [Truncation(rule="fixed"), Truncation(rule="proportional"), Truncation(rule="collapse")], ids=str
)
def test_no_rule_reaches_tool_input_and_json(truncation: Truncation) -> None:
    assert recovered("tool-input-json", Summarizing(truncation=truncation), 48_000).outcome == "stuck"


def test_one_giant_block_stops_the_sliding_window_and_not_the_truncation() -> None:
    assert recovered("giant-block", SlidingWindow(), 32_000).outcome == "stuck"
    trace = recovered("giant-block", Summarizing(truncation=Truncation(rule="fixed")), 32_000)
    assert (trace.outcome, len(trace.rounds)) == ("fits", 1)
