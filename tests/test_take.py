"""`ctxlab take`: what it writes, that it never overwrites, its exit codes, and that it says what to do next."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ctxlab.cli import main
from ctxlab.commands import take
from ctxlab.samples import sample_sessions
from ctxlab.sessions import load
from ctxlab.takeaway import artifacts, trace_from_json
from ctxlab.takeaway.proof import Proof, Run
from tests.builders import tool_chain, user

SEED = str(sample_sessions()["review-2173"])
STUCK = ("--wrong", "1.35.0", "--right", "1.37.0", "--window-size", "4")
NAME = "test_sliding_window_is_not_stuck_on_overflow.py"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to write into, where nobody has fetched a release."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def taken(*arguments: str) -> int:
    return main(["take", SEED, *arguments])


def test_a_test_is_written_under_its_own_name(elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert taken(*STUCK, "--no-prove") == 0
    assert [file.name for file in elsewhere.iterdir()] == [NAME]
    assert (elsewhere / NAME).read_text().startswith('"""Fails with strands-agents 1.35.0, passes with 1.37.0.')
    said = capsys.readouterr().out
    assert f"Wrote {NAME}." in said
    assert "Reduced from 8 messages to 5 messages." in said
    assert "No word of the session is left" in said


@pytest.mark.parametrize("output", [(), ("-o", "."), ("-o", NAME)])
def test_what_is_there_is_never_overwritten_without_force(
    elsewhere: Path, capsys: pytest.CaptureFixture[str], output: tuple[str, ...]
) -> None:
    (elsewhere / NAME).write_text("mine")
    assert taken(*STUCK, "--no-prove", *output) == 2
    assert (elsewhere / NAME).read_text() == "mine"
    assert "--force overwrites it" in capsys.readouterr().err
    assert taken(*STUCK, "--no-prove", *output, "--force") == 0
    assert (elsewhere / NAME).read_text() != "mine"
    assert [file.name for file in elsewhere.iterdir()] == [NAME]


def test_a_link_is_not_written_through(elsewhere: Path) -> None:
    (elsewhere / NAME).symlink_to(elsewhere / "nowhere")
    assert taken(*STUCK, "--no-prove") == 2
    assert not (elsewhere / "nowhere").exists()


def test_it_can_be_printed_with_all_else_beside_it(capsys: pytest.CaptureFixture[str], elsewhere: Path) -> None:
    assert taken(*STUCK, "--no-prove", "-o", "-") == 0
    printed = capsys.readouterr()
    assert printed.out.startswith('"""Fails with')
    assert "Reduced from" in printed.err
    assert not list(elsewhere.iterdir())


def test_the_session_is_taken_whole_or_reduced(elsewhere: Path) -> None:
    assert taken("--what", "session", "-o", "whole.json") == 0
    assert taken("--what", "session", *STUCK, "-o", "part.json") == 0
    assert len(load(elsewhere / "whole.json").messages) == 8
    assert len(load(elsewhere / "part.json").messages) == 5


def test_the_trace_and_its_table_are_taken(elsewhere: Path) -> None:
    options = ("--as-of", "1.37.0", "--window-size", "4", "--budget", "200")
    assert taken("--what", "trace", *options, "-o", "trace.json") == 0
    assert taken("--what", "table", *options, "-o", "trace.csv") == 0
    trace = trace_from_json((elsewhere / "trace.json").read_text())
    assert (trace.outcome, len(trace.final)) == ("fits", 3)
    assert len((elsewhere / "trace.csv").read_text().splitlines()) == len(trace.edits) + 1
    assert taken("--what", "trace", *options, "--policy", "careful", "-o", "careful.json") == 0
    assert '"name": "careful"' in (elsewhere / "careful.json").read_text()


def test_the_page_is_taken_and_says_what_the_trace_says(elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--what", "page", "--as-of", "1.35.0", "--window-size", "4", "--budget", "200")
    assert taken(*options) == 0
    (file,) = elsewhere.iterdir()
    assert file.name == "review-2173-reviewer-1.35.0.html"
    page = file.read_text(encoding="utf-8")
    assert "Does not fit, and gets stuck." in page
    assert "with a budget of 200" in page
    said = capsys.readouterr().out
    assert f"Wrote {file.name}." in said
    assert "8 messages, 0 edits in 0 rounds." in said
    assert taken(*options) == 2
    # Another release does not ask for its place.
    assert taken(*options, "--as-of", "1.37.0") == 0
    assert taken(*options, "--force") == 0
    assert file.read_text(encoding="utf-8") == page


def test_the_release_that_does_it_right_is_looked_for(elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for budget in ((), ("--budget", "200")):
        options = ("--wrong", "1.35.0", "--window-size", "4", "--no-prove", "--force", *budget)
        assert taken(*options) == 0
        assert (elsewhere / NAME).read_text().startswith('"""Fails with strands-agents 1.35.0, passes with 1.37.0.')
        assert "is stuck" in capsys.readouterr().out


def test_none_asks_for_no_release_that_does_it_right(elsewhere: Path) -> None:
    session = elsewhere / "given.json"
    session.write_text(json.dumps([user("go"), *tool_chain(6, "x" * 900)]))
    options = ("--wrong", "1.37.0", "--window-size", "4", "--no-prove", "-o", "test.py", "--right", "none")
    assert main(["take", str(session), *options]) == 0
    assert (elsewhere / "test.py").read_text().startswith('"""Fails with strands-agents 1.37.0.')


def test_where_nothing_is_wrong_it_says_which_release_is(elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right = ("--wrong", "1.62.0", "--window-size", "4", "--call", "overflow", "--expect", "no-error", "--no-prove")
    assert taken(*right) == 1
    said = capsys.readouterr().err
    assert "Strands 1.62.0 does nothing wrong here" in said
    found = re.search(r"Try it with (--wrong \S+ --right \S+)\.", said)
    assert found
    # As it says.
    assert taken(*found[1].split(), "--window-size", "4", "--no-prove") == 0


@pytest.mark.parametrize("what", ["session", "trace", "page"])
def test_a_session_can_leave_without_any_of_its_words(
    elsewhere: Path, capsys: pytest.CaptureFixture[str], what: str
) -> None:
    session = elsewhere / "given.json"
    session.write_text(json.dumps([user("ask Quixote"), *tool_chain(3, "Quixote says 12")]))
    arguments = ["take", str(session), "--no-words", "--what", what, "-o", "taken"]
    assert main(arguments) == 0
    assert "Quixote" not in (elsewhere / "taken").read_text()
    assert "xxx xxxxxxx" in (elsewhere / "taken").read_text() or what == "page"
    assert "Redacted: all words: 4 texts replaced." in capsys.readouterr().out
    for other in ("--no-redact", "--keep-text"):
        assert main([*arguments, "--force", other]) == 2
        assert f"{other} exclude each other" in capsys.readouterr().err


@pytest.mark.parametrize("what", ["test", "session", "trace", "page"])
def test_what_leaves_is_redacted_unless_that_is_not_wanted(
    elsewhere: Path, capsys: pytest.CaptureFixture[str], what: str
) -> None:
    said = "ask rosalind@example.org or Otto"
    session = elsewhere / "given.json"
    session.write_text(json.dumps([user(said), *tool_chain(3, said)]))
    arguments = ["take", str(session), *STUCK, "--keep-text", "--no-prove", "--what", what, "-o"]
    assert main([*arguments, "redacted", "--name", "otto"]) == 0
    told = capsys.readouterr().out
    assert "ask xxxxxxxx@xxxxxxx.xxx or xxxx" in (elsewhere / "redacted").read_text()
    assert "Redacted: e-mail address: " in told
    assert "rosalind" not in told
    assert main([*arguments, "plain", "--no-redact"]) == 0
    assert said in (elsewhere / "plain").read_text()
    assert "Nothing was redacted" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ((), 2, "--wrong 1.35.0"),
        (("--wrong", "1.99.0"), 2, "1.99.0"),
        (("--wrong", "careful"), 2, "must be a release"),
        (("--policy", "careful", *STUCK), 2, "must be a release"),
        ((*STUCK, "-o", "no/such/folder/x.py"), 2, "no/such"),
        (("--wrong", "1.35.0", "--expect", "no-error", "--right", "none"), 2, "needs a right policy"),
        (("--wrong", "1.35.0", "--right", "1.36.0"), 1, "ctxlab inspect"),
        ((*STUCK, "--budget", "1,000,000", "--call", "overflow"), 1, "smaller --budget"),
        (("--view", "no such view", *STUCK), 2, "no such view"),
        (("--what", "trace", "--counter", "no such counter"), 2, "no such counter"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    capsys: pytest.CaptureFixture[str], elsewhere: Path, arguments: tuple[str, ...], code: int, says: str
) -> None:
    assert taken(*arguments, "--no-prove") == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert says in printed.err
    assert len(printed.err.splitlines()) == 1
    assert not list(elsewhere.iterdir())


@pytest.mark.parametrize(
    ("proof", "asked", "code"),
    [
        (Proof((Run("1.35.0", "fails", "fails"), Run("1.37.0", "passes", "passes"))), (), 0),
        (Proof((Run("1.35.0", "fails", "passes"),)), (), 1),
        (Proof((Run("1.35.0", "fails", "breaks", "it broke"),)), (), 1),
        (Proof((), ("it was not run",)), (), 0),
        (Proof((), ("it was not run",)), ("--prove",), 1),
        (Proof((Run("1.35.0", "fails", "fails"),), ("the other was not",)), ("--prove",), 1),
    ],
)
def test_a_proof_that_fails_or_was_asked_for_and_is_missing_decides_the_exit_code(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    proof: Proof,
    asked: tuple[str, ...],
    code: int,
) -> None:
    monkeypatch.setattr(artifacts, "prove", lambda *arguments: proof)
    assert taken(*STUCK, *asked) == code
    said = capsys.readouterr().out
    assert all(f"Proof: {sentence}." in said for sentence in proof.sentences)


def test_what_takes_longer_than_a_second_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    times = iter(range(0, 100_000, 3))
    monkeypatch.setattr(take, "monotonic", lambda: float(next(times)))
    assert taken(*STUCK, "--no-prove", "--seconds", "90000") == 0
    assert "messages and" in capsys.readouterr().err


def test_a_search_without_time_takes_what_it_has(capsys: pytest.CaptureFixture[str]) -> None:
    assert taken(*STUCK, "--no-prove", "--seconds", "0") == 0
    assert "The search was ended early" in capsys.readouterr().out


def test_a_hostile_file_name_is_shown_inert(elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name: Any = "\x1b[31mred\u202e.py"
    assert taken(*STUCK, "--no-prove", "-o", name) == 0
    assert taken(*STUCK, "--no-prove", "-o", name) == 2
    printed = capsys.readouterr()
    assert "\x1b" not in printed.out + printed.err
    assert "\u202e" not in printed.out + printed.err
