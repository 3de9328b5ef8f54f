"""What is taken away: tests that the real SDK fails and passes as foreseen, text that cannot become code, traces that
can be replayed. The released SDKs are run from their wheels."""

import ast
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ctxlab.comparison import Policy
from ctxlab.expectations import EXPECTATIONS
from ctxlab.faults import MAX_CALLS, Fault, find_fault, is_released, options
from ctxlab.messages import Conversation
from ctxlab.minimize import minimize
from ctxlab.recovery import recover
from ctxlab.samples import sample_sessions
from ctxlab.sessions import Session, load
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import Summarizing
from ctxlab.takeaway import (
    Artifact,
    NoFault,
    TraceFormatError,
    artifacts,
    failing_test,
    proof,
    proven,
    reduced_session,
    trace_from_json,
    trace_record,
    trace_table,
    trace_to_json,
    whole_session,
)
from ctxlab.takeaway.literals import literal
from ctxlab.takeaway.proof import installed_release, prove, what_is_missing
from ctxlab.takeaway.pytest_file import pytest_file
from ctxlab.truncation import Truncation
from ctxlab.vocabularies import counter
from tests.builders import assistant, image, review, tool_chain, tool_result, tool_use, user
from tests.conftest import need
from tests.faulty import summarizing_pairs, window_pairs
from tests.sdk.encoding import decode
from tests.sdk.released import Case, ReleasedSdk, Step
from tests.sdk.wheels import WheelError, unpacked
from tests.strategies import conversations, managers

HEURISTIC = counter("heuristic")
SAMPLES = {name: load(folder).views["stored"] for name, folder in sample_sessions().items()}
STUCK = (SlidingWindow.as_of("1.35.0", 4), SlidingWindow.as_of("1.37.0", 4))

HOSTILE = (
    '"""\nimport os\nos.abort()\n"""',
    "'''",
    "\\",
    "\\'",
    '\\"',
    "'\"'\"",
    "{} {0} %s",
    "\x00\x1b[31m\r\n",
    "\u202eevil\u2028",
    "\ud83e",
    "🧵",
    "# type: ignore",
    "<script>alert(1)</script>",
    "\\N{BULLET}\\u0041\\x41",
)


def faults() -> Iterator[tuple[Fault, Conversation]]:
    """Every fault of the sample sessions under one pair of policies after the other, reduced."""
    for messages in SAMPLES.values():
        pairs = [pair for window in (0, 4) for pair in window_pairs(window)]
        for wrong, right in (*pairs, *summarizing_pairs()):
            fault = find_fault(messages, wrong, right)
            if fault is not None:
                found = minimize(messages, fault.fairly(messages), max_tries=300)
                yield replace(fault, calls=fault.shows(found.messages) or 1), found.messages


@pytest.fixture(scope="module")
def reduced() -> list[tuple[Fault, Conversation]]:
    return list(faults())


def folder_of(release: str) -> Path:
    """The folder of a release, fetched where it is not there."""
    try:
        return unpacked(release)
    except WheelError as error:
        need(False, f"the wheel of strands-agents {release} cannot be had: {error}")
        raise


# The real SDK


@pytest.mark.parametrize(
    ("name", "wrong", "right", "asked", "expected"),
    [
        ("review-long", STUCK[0], STUCK[1], {}, "no-error"),
        (
            "summarized",
            SlidingWindow.as_of("1.38.0", 8),
            SlidingWindow.as_of("1.40.0", 8),
            {"keep_text": True},
            "routine-keeps-content",
        ),
        (
            "plain-chat",
            SlidingWindow.as_of("1.37.0", 0),
            SlidingWindow.as_of("1.38.0", 0),
            {"call": "routine"},
            "fits-window",
        ),
    ],
    ids=["2173", "702", "2208"],
)
def test_a_failing_test_fails_on_the_wrong_release_and_passes_on_the_right_one(
    name: str, wrong: Policy, right: Policy, asked: Any, expected: str
) -> None:
    found = failing_test(SAMPLES[name], wrong, right, **asked)
    assert found.fault is not None
    assert found.fault.expectation.id == expected
    proof = prove(found.text, found.fault.expectation, {wrong.release: "fails", right.release: "passes"}, folder_of)
    assert proof.holds, proof
    assert not proof.missing


def test_every_fault_of_the_samples_is_one_of_the_real_manager(
    reduced: list[tuple[Fault, Conversation]], released: Callable[[str], ReleasedSdk]
) -> None:
    asked: dict[str, list[tuple[Fault, bool, Conversation]]] = {}
    for fault, messages in reduced:
        asked.setdefault(fault.wrong.release, []).append((fault, True, messages))
        if fault.right is not None and is_released(fault.right):
            asked.setdefault(fault.right.release, []).append((fault, False, messages))
    seen = 0
    for release, questions in asked.items():
        answers = released(release).answers([case(fault, messages) for fault, _, messages in questions])
        for (fault, is_wrong, messages), answer in zip(questions, answers, strict=True):
            last = answer.states[-1]
            broken = breaks(fault, messages, decode(last.messages), last.error)
            assert broken == is_wrong, (release, fault.sentence, messages)
            seen += 1
    assert seen > 100


def case(fault: Fault, messages: Conversation) -> Case:
    given = {name: value for name, value in options(fault.wrong).items() if value is not None}
    step: Step = "overflow" if fault.call == "overflow" else "manage"
    return Case("sliding" if "window_size" in given else "summarizing", given, list(messages), (step,) * fault.calls)


def breaks(fault: Fault, before: Conversation, after: list[Any], error: object) -> bool:
    if fault.expectation.check is None:
        if fault.expectation.id == "no-error":
            return error is not None
        return bool(contents(after) != expected(fault, before))
    window = fault.wrong.window_size if isinstance(fault.wrong, SlidingWindow) else None
    return error is None and not fault.expectation.holds(list(before), after, window)


def expected(fault: Fault, messages: Conversation) -> list[Any]:
    found: list[Any] = values(pytest_file(fault, messages))["EXPECTED"]
    return found


def contents(messages: list[Any]) -> list[Any]:
    return [{"role": message["role"], "content": message["content"]} for message in messages]


def values(source: str) -> dict[str, Any]:
    """The constants of a generated file, evaluated without anything to call."""
    named = [node for node in ast.parse(source).body if isinstance(node, ast.Assign)]
    return {
        target.id: eval(compile(ast.Expression(node.value), "constants", "eval"), {"__builtins__": {}, "float": float})
        for node in named
        for target in node.targets
        if isinstance(target, ast.Name)
    }


# What counts as a proof


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def test_it():\n    assert False\n", "fails"),
        ("def test_it():\n    pass\n", "passes"),
        ("def test_it():\n    raise KeyError('elsewhere')\n", "breaks"),
        ("import nothing_of_that_name\n", "breaks"),
        ("x = 1\n", "breaks"),
    ],
)
def test_only_a_test_that_fails_for_its_own_reason_proves_anything(text: str, found: str, tmp_path: Path) -> None:
    (tmp_path / "strands").mkdir()
    (tmp_path / "strands" / "__init__.py").write_text("")
    need(installed_release(), "strands-agents is not installed")
    proof = prove(text, EXPECTATIONS["starts-with-user"], {"1.35.0": "fails"}, lambda _: tmp_path)
    assert [run.found for run in proof.runs] == [found]
    assert proof.holds == (found == "fails")


def test_without_a_run_there_is_no_proof(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(artifacts, "installed_release", lambda: None)
    found = proven(failing_test(review(), *STUCK))
    assert found.proof is not None
    assert not found.proof.holds
    assert [sentence.split(":")[0] for sentence in found.proof.missing] == [
        "strands-agents 1.35.0",
        "strands-agents 1.37.0",
    ]


def test_what_has_to_be_installed_is_told_as_a_command_for_this_very_python(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "executable", "/with a blank/bin/python")
    monkeypatch.setattr(proof, "find_spec", lambda name: None)
    assert what_is_missing() == "'/with a blank/bin/python' -m pip install strands-agents pytest"
    made = failing_test(review(), *STUCK)
    told = proven(made).proof
    assert told is not None
    assert "'/with a blank/bin/python' -m pip install strands-agents pytest" in told.missing[0]
    # So it is where a release alone is lacking.
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(artifacts, "installed_release", lambda: None)
    monkeypatch.setattr(sys, "executable", "/with a blank/bin/python")
    lacking = proven(made).proof
    assert lacking is not None
    assert "or '/with a blank/bin/python' -m pip install strands-agents==1.35.0)" in lacking.missing[0]


def test_only_a_test_can_be_proven() -> None:
    with pytest.raises(ValueError, match="only a failing test"):
        proven(whole_session(review()))


# The file


def test_the_files_are_formatted_and_without_a_finding(
    reduced: list[tuple[Fault, Conversation]], tmp_path: Path
) -> None:
    for number, (fault, messages) in enumerate(reduced):
        (tmp_path / f"test_{number}.py").write_text(pytest_file(fault, messages), encoding="utf-8")
    hostile = failing_test(hostile_session(), *STUCK, keep_text=True, redacted=False)
    (tmp_path / "test_hostile.py").write_text(hostile.text, encoding="utf-8")
    wrong = Summarizing.as_of("1.62.0", 0.34, 2, pin_first=12)
    right = Summarizing(0.34, 2, pin_first=12)
    (tmp_path / "test_options.py").write_text(failing_test((user("x" * 7000),), wrong, right).text, encoding="utf-8")
    ruff = [sys.executable, "-m", "ruff"]
    style = ["--isolated", "--line-length", "120", str(tmp_path)]
    formatted = subprocess.run([*ruff, "format", "--diff", *style], capture_output=True, text=True)
    assert formatted.returncode == 0, formatted.stdout[:2000]
    rules = ["--select", "B,E,F,G,I,UP", "--ignore", "E501"]
    checked = subprocess.run([*ruff, "check", *rules, *style], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout[:2000]


def test_a_file_stands_alone(reduced: list[tuple[Fault, Conversation]]) -> None:
    for fault, messages in reduced:
        source = pytest_file(fault, messages)
        imported = {
            node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.Import | ast.ImportFrom)
        }
        assert {str(name).split(".")[0] for name in imported} <= {"copy", "types", "typing", "strands"}
        assert "ctxlab." not in source
        assert values(source)["MESSAGES"] == list(messages)


def hostile_session() -> Conversation:
    texts = "".join(HOSTILE)
    chain = tool_chain(3, texts)
    named = tool_use(HOSTILE[0], name=HOSTILE[0], input={text: text for text in HOSTILE}, text=texts)
    answer = tool_result(HOSTILE[0], [{"text": text} for text in HOSTILE])
    return (user(*HOSTILE), named, answer, *chain)


def test_hostile_text_stays_inside_its_quotes() -> None:
    messages = hostile_session()
    found = failing_test(Session.of(messages, HOSTILE[0]), *STUCK, keep_text=True, redacted=False)
    module = ast.parse(found.text)
    assert found.reduced is not None
    assert values(found.text)["MESSAGES"] == list(found.reduced.messages)
    kinds = [type(node).__name__ for node in module.body]
    assert kinds == ["Expr", "Import", "ImportFrom", "ImportFrom", "ImportFrom", "Assign", "FunctionDef"]
    assert found.text.isascii()
    assert not [letter for letter in found.text if not letter.isprintable() and letter != "\n"]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False)
    | st.binary(max_size=60)
    | st.text(max_size=60)
    | st.sampled_from(HOSTILE)
    | st.builds(
        lambda letter, times: letter * times, st.sampled_from(["x", "\\", '"', "'", "\n", "🧵"]), st.integers(1, 99)
    ),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
@example(10**5000)
@example(float("-inf"))
@example("\\" * 39 + "'" + '"' * 41 + "x")
def test_a_literal_is_the_value(value: Any) -> None:
    assert values(f"value = {literal(value)}")["value"] == value


def test_a_value_that_is_none_of_json_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be written"):
        literal(object())


def test_messages_nested_too_deeply_for_python_are_refused() -> None:
    deep: Any = "x"
    for _ in range(400):
        deep = [deep]
    messages = (user("q"), *((tool_use("1", input=deep), tool_result("1")) * 3))
    with pytest.raises(ValueError, match="nested too deeply"):
        failing_test(messages, *STUCK, keep_text=True)
    assert failing_test(messages, *STUCK).text.isascii()


# Words


def secret_session() -> Conversation:
    said = "I am rosalind@example.org, see /home/rosalind/notes, key ghp_" + "A1b2" * 9
    return (user(said), *tool_chain(3, said), assistant(said))


def test_no_word_leaves_unless_that_is_asked() -> None:
    for made in (failing_test, reduced_session):
        found = made(secret_session(), *STUCK)
        assert "rosalind" not in found.text
        assert "ghp_" not in found.text
        assert found.redaction is None
        assert not found.reduced or not found.reduced.has_words


def test_words_that_are_kept_are_redacted_unless_that_is_not_wanted() -> None:
    for made in (failing_test, reduced_session):
        found = made(secret_session(), *STUCK, keep_text=True, names=("notes",))
        assert "rosalind" not in found.text
        assert "notes" not in found.text
        assert "I am xxxxxxxx@xxxxxxx.xxx, see /home/xxxxxxxx/xxxxx" in found.text
        assert found.redaction is not None
        assert {each.kind for each in found.redaction.replacements} >= {"e-mail address", "home path", "GitHub token"}
        plain = made(secret_session(), *STUCK, keep_text=True, redacted=False)
        assert "rosalind@example.org" in plain.text
        assert plain.redaction is None


def test_a_whole_session_and_a_trace_are_redacted_too() -> None:
    trace = recover(secret_session(), STUCK[1], 100, HEURISTIC)
    for found in (whole_session(secret_session()), trace_record(trace, STUCK[1], "of /home/rosalind/x")):
        assert "rosalind" not in found.text
        assert found.redaction is not None
        assert found.redaction.count
    assert "rosalind" in whole_session(secret_session(), redacted=False).text
    assert "rosalind" not in trace_table(trace).text


def test_a_whole_session_and_a_trace_can_leave_without_any_word() -> None:
    trace = recover(secret_session(), STUCK[1], 100, HEURISTIC)
    # Whatever is said of redacting: who wants no words wants no secrets either.
    for redacted in (True, False):
        for found in (
            whole_session(secret_session(), redacted, words=False),
            trace_record(trace, STUCK[1], redacted=redacted, words=False),
        ):
            assert not any(word in found.text for word in ("I am", "rosalind", "see", "ghp"))
            assert found.redaction is not None
            assert found.redaction.sentences[0] == "all words: 5 texts replaced"
    assert trace_from_json(trace_record(trace, STUCK[1], words=False).text).tokens == trace.tokens


def test_a_session_that_was_taken_loads_and_shows_the_same(tmp_path: Path) -> None:
    whole = SAMPLES["images"]
    policies = SlidingWindow.as_of("1.38.0", 4), SlidingWindow.as_of("1.40.0", 4)
    part = reduced_session(whole, *policies, keep_text=True)
    assert part.reduced is not None
    for found, messages in ((part, part.reduced.messages), (whole_session(whole), whole)):
        (tmp_path / "taken.json").write_text(found.text, encoding="utf-8")
        assert load(tmp_path / "taken.json").messages == messages
        assert find_fault(messages, *policies) is not None


# What cannot be had


def test_where_nothing_is_wrong_there_is_nothing_to_take() -> None:
    with pytest.raises(NoFault, match=r"does nothing wrong that Strands 1\.36\.0 does right"):
        failing_test(review(), STUCK[0], SlidingWindow.as_of("1.36.0", 4))
    with pytest.raises(NoFault, match="without a release that does it right"):
        failing_test((user("q"),), SlidingWindow.as_of("1.62.0"))


def test_a_shape_that_the_sdk_does_not_store_is_refused() -> None:
    broken: Any = ({"role": "user", "content": "just text"},)
    with pytest.raises(ValueError, match="message 0 is not of the shape"):
        failing_test(broken, *STUCK)


def test_a_fault_that_no_release_does_right_names_none() -> None:
    messages = (user("q"), *tool_chain(2, "x"), *tool_chain(1, "x" * 900, 9))
    found = failing_test(
        messages, SlidingWindow.as_of("1.62.0", 4), SlidingWindow.careful(4), expectation="largest-first"
    )
    assert found.text.startswith('"""Fails with strands-agents 1.62.0, and no release is known that passes.')


def test_a_budget_limits_how_far_the_search_for_a_fault_goes() -> None:
    with pytest.raises(NoFault):
        failing_test(SAMPLES["review-long"], *STUCK, max_calls=1)
    assert failing_test(SAMPLES["review-long"], *STUCK, max_calls=MAX_CALLS).fault is not None


# Traces


@given(conversations(), managers())
@settings(max_examples=60)
def test_a_trace_survives_being_written_and_read(messages: Conversation, policy: Policy) -> None:
    trace = recover(messages, policy, 0, HEURISTIC)
    text = trace_to_json(trace, policy, "a session")
    assert text.isascii()
    again = trace_from_json(text)
    assert again == trace
    assert list(again.states()) == list(trace.states())


def test_the_schema_of_a_trace_is_this() -> None:
    policy = SlidingWindow.as_of("1.43.0", 4, pin_first=1)
    messages = (user("q"), tool_use("1"), tool_result("1", [{"text": "x" * 500}, image()]), *tool_chain(3))
    record = json.loads(trace_to_json(recover(messages, policy, 0, HEURISTIC), policy, "name"))
    assert list(record) == [
        *("format", "version", "session", "policy", "counter", "budget", "outcome", "error", "refused_calls"),
        *("tokens", "start", "rounds"),
    ]
    assert (record["format"], record["version"]) == ("ctxlab-trace", 1)
    assert list(record["rounds"][0]) == ["number", "warning", "notes", "edits"]
    edits = {edit["edit"]: edit for round in record["rounds"] for edit in round["edits"]}
    assert list(edits["pin"]) == ["edit", "messages", "tokens", "sentence"]
    assert list(edits["drop"]) == [
        *("edit", "indices", "trim_point", "kind", "start", "anchor", "tokens", "sentence"),
    ]
    assert edits["truncate"]["tokens"][0] > edits["truncate"]["tokens"][1]
    assert record["start"][2]["content"][0]["toolResult"]["content"][1]["image"]["source"]["bytes"] == {
        "__bytes_encoded__": True,
        "data": "iVBORw0K",
    }


def test_every_kind_of_edit_survives() -> None:
    messages = (user("q"), tool_use("1"), tool_result("1", [{"text": "x" * 9000}, image()]), assistant("x" * 9000))
    policies: list[Policy] = [
        SlidingWindow.as_of("1.0.0", 2),
        SlidingWindow(2, pin_first=1),
        Summarizing(0.5, 0, summarize=lambda _: "short"),
        Summarizing(truncation=Truncation(rule="collapse")),
    ]
    seen = set()
    for policy in policies:
        trace = recover(messages, policy, 0, HEURISTIC)
        assert trace_from_json(trace_to_json(trace)) == trace
        seen |= {type(edit).__name__ for edit in trace.edits}
    assert seen == {
        *("Pin", "TruncateText", "ReplaceImage", "ReplaceResult", "CollapseTexts", "DropMessages", "Summarize"),
    }


WRITTEN = json.loads(trace_to_json(recover(review("x" * 500), SlidingWindow(2, pin_first=1), 0, HEURISTIC)))


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from paths(part, (*path, key))


@given(st.sampled_from(list(paths(WRITTEN))[1:]), st.sampled_from([None, 0, -1, 99, "x", [], {}, [[]], True, 1.5]))
@settings(max_examples=300)
def test_a_damaged_trace_is_a_trace_or_one_clear_error(path: tuple[Any, ...], value: Any) -> None:
    damaged = json.loads(json.dumps(WRITTEN))
    inside = damaged
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    try:
        assert trace_from_json(json.dumps(damaged)).final is not None
    except TraceFormatError as error:
        said = str(error)
    else:
        said = ""
    assert "\n" not in said


@pytest.mark.parametrize("text", ["", "[]", "{}", "[" * 100_000, '{"format": "ctxlab-trace", "version": 2}', "null"])
def test_what_is_no_trace_is_refused(text: str) -> None:
    with pytest.raises(TraceFormatError):
        trace_from_json(text)


def test_the_table_has_a_row_an_edit() -> None:
    trace = recover(review("x" * 500), STUCK[1], 0, HEURISTIC)
    found: Artifact = trace_table(trace)
    assert len(found.text.splitlines()) == len(trace.edits) + 1
    assert found.text.splitlines()[0] == "round,kind,messages,tokens_before,tokens_after,sentence"
