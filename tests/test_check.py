"""`ctxlab check`: exit codes, the JSON for programs, annotations that no text breaks out of, and the audit behind."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ctxlab
from ctxlab.audit import Audit, audit, cut_off
from ctxlab.checks import check_trace
from ctxlab.cli import main
from ctxlab.commands.check import _annotation
from ctxlab.invariants import REDUCTION_RULES, verdict, verdicts, violations
from ctxlab.messages import Conversation
from ctxlab.providers import providers
from ctxlab.samples import sample_sessions
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import Summarizing
from ctxlab.vocabularies import counter
from tests.builders import assistant, image, message, review, tool_result, tool_use, user
from tests.strategies import conversations

SEED = str(sample_sessions()["review-2173"])
MISMATCHED = str(sample_sessions()["mismatched-pair"])
HEURISTIC = counter("heuristic")
NAMES = list(providers())
HOSTILE = "\x1b[2J\x1b]0;owned\x07\u202e[bold]x[/bold]\r\n::error::owned"


def written(folder: Path, *messages: object, name: str = "session.json") -> str:
    file = folder / name
    file.write_text(json.dumps(messages), encoding="utf-8")
    return str(file)


def check_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code = main(["check", *arguments, "--json"])
    record: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, record


# Exit codes


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([SEED], 0),
        ([SEED, "--provider", "gemini", "--provider", "bedrock-nova"], 0),
        ([MISMATCHED], 1),
        ([MISMATCHED, "--provider", "bedrock-claude"], 1),
        ([MISMATCHED, "--provider", "ollama"], 0),
        ([MISMATCHED, "--provider", "gemini"], 1),
        ([MISMATCHED, "--provider", "gemini", "--allow-unknown"], 0),
        ([MISMATCHED, "--provider", "gemini", "--provider", "bedrock-claude", "--allow-unknown"], 1),
        ([SEED, "--policy", "window", "--window-size", "4"], 1),
        ([SEED, "--policy", "window", "--window-size", "4", "--provider", "anthropic"], 0),
        ([SEED, "--policy", "window", "--window-size", "4", "--provider", "bedrock-nova"], 1),
        ([SEED, "--policy", "careful", "--window-size", "4", "--provider", "bedrock-nova"], 0),
        ([SEED, "--policy", "window", "--window-size", "4", "--as-of", "1.35.0"], 1),
        (["no such file"], 2),
        ([SEED, "--policy", "window", "--as-of", "1.99.0"], 2),
        ([SEED, "--policy", "window", "--counter", "no such counter"], 2),
        ([SEED, "--view", "no such view"], 2),
        ([SEED, "--format", "no such format"], 2),
    ],
)
@pytest.mark.parametrize("output", [[], ["--json"], ["--github"]])
def test_the_exit_code_says_what_was_found_whatever_is_printed(
    capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, output: list[str]
) -> None:
    assert main(["check", *arguments, *output]) == code
    printed = capsys.readouterr()
    assert printed.out or code == 2
    assert len(printed.err.splitlines()) == (code == 2)


def test_a_provider_that_nobody_knows_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["check", SEED, "--provider", "bedrok"])
    assert stop.value.code == 2
    assert "bedrock-claude" in capsys.readouterr().err


# What is printed


def test_unknown_is_printed_as_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", MISMATCHED, "--provider", "gemini", "--allow-unknown"])
    shown = capsys.readouterr().out
    assert "? unknown" in shown
    assert "Nobody has found out whether Gemini minds" in shown
    assert "✓" not in shown


def test_the_providers_own_words_and_how_they_are_known_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", SEED, "--policy", "window", "--window-size", "4", "--provider", "gemini"])
    shown = capsys.readouterr().out
    assert "Please ensure that function call turn comes immediately after a user turn" in shown
    assert "(live)" in shown
    assert "Keep message 0, the last plain user message before the cut, as the anchor (#3447)." in shown


def test_the_json_says_before_after_and_where(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--provider", "bedrock-nova", "--provider", "anthropic"]
    code, record = check_json(capsys, SEED, *asked, "--policy", "window", "--window-size", "4", "--as-of", "1.37.0")
    assert code == 1
    states = [(row["provider"], row["before"], row["after"]) for row in record["providers"]]
    assert states == [("bedrock-nova", "accepted", "refused"), ("anthropic", "accepted", "accepted")]
    assert {(row["stage"], row["rule"], row["message"]) for row in record["findings"]} == {
        ("on overflow", "starts-with-user", 5),
        ("in routine", "starts-with-user", 5),
    }
    assert all(row["answer"] and row["certainty"] and row["source"] for row in record["findings"])
    assert [row["provider"] for row in record["repairs"]] == ["bedrock-nova"]
    assert record["policy"]["outcome"] == "fits"


def test_routine_management_that_cuts_results_is_found(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = written(tmp_path, *review("x" * 900))
    arguments = [file, "--policy", "window", "--window-size", "4", "--budget", "1000000"]
    _, record = check_json(capsys, *arguments, "--as-of", "1.37.0")
    assert [row["rule"] for row in record["findings"]] == ["routine-keeps-content"]
    _, record = check_json(capsys, *arguments, "--as-of", "1.40.0")
    assert "routine-keeps-content" not in [row["rule"] for row in record["findings"]]


def test_a_long_list_is_cut_short_and_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = written(tmp_path, *[user("hi")] * 100)
    assert main(["check", file]) == 1
    short = capsys.readouterr().out
    assert "59 more (--all)" in short
    main(["check", file, "--all"])
    assert len(capsys.readouterr().out.splitlines()) == len(short.splitlines()) + 58


def hostile_file(folder: Path) -> str:
    messages = (
        user(HOSTILE),
        tool_use(HOSTILE, name=HOSTILE),
        tool_result("other " + HOSTILE, [image()]) | {"content": tool_result("other " + HOSTILE)["content"]},
        {**user("x"), "role": HOSTILE},
        message("assistant"),
    )
    return written(folder, *messages, name="::error::evil\u202e.json")


@pytest.mark.parametrize("output", [[], ["--json"], ["--github"]])
@pytest.mark.parametrize("policy", [[], ["--policy", "window", "--window-size", "2", "--budget", "1"]])
def test_control_characters_never_reach_the_terminal_and_no_line_is_a_command_of_the_session(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, output: list[str], policy: list[str]
) -> None:
    assert main(["check", hostile_file(tmp_path), *policy, *output]) == 1
    printed = capsys.readouterr()
    shown = printed.out + printed.err
    assert not any(character in shown for character in "\x1b\x07\u202e\r")
    commands = [line for line in shown.splitlines() if line.lstrip().startswith("::")]
    if "--github" in output:
        assert commands
        assert all(re.match(r"::(error|warning|notice) file=[^,:]*,title=[^,:]*::", line) for line in commands)
    else:
        assert not commands


# Annotations


def unescaped(text: str) -> str:
    """What a runner of GitHub Actions makes of an escaped text."""
    for escape, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(escape, character)
    return text


PRINTABLE = st.text(st.sampled_from("ab %,:;=\n\r0AD25C"), max_size=20)


@given(PRINTABLE, PRINTABLE, PRINTABLE)
def test_an_annotation_is_one_line_that_reads_back_as_it_was(file: str, title: str, text: str) -> None:
    line = _annotation("error", Path("f" + file), title, text)
    assert len(line.splitlines()) == 1
    parsed = re.fullmatch(r"::error file=([^,:]*),title=([^,:]*)::(.*)", line)
    assert parsed is not None
    assert [unescaped(part) for part in parsed.groups()] == [str(Path("f" + file)), f"ctxlab: {title}", text]


def test_each_finding_has_its_annotation_and_unknown_is_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", MISMATCHED, "--provider", "gemini", "--provider", "anthropic", "--github"])
    levels = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line.startswith("::")]
    found = audit_of(MISMATCHED, "gemini", "anthropic")
    assert levels == [{"refused": "::error", "unknown": "::warning"}[finding.status] for finding in found.findings]
    assert set(levels) == {"::error", "::warning"}


def audit_of(path: str, *asked: str) -> Audit:
    return audit(ctxlab.load(path).messages, asked)


# The audit


@given(conversations(), st.lists(st.sampled_from(NAMES), max_size=3))
def test_an_audit_of_a_conversation_is_its_violations_and_verdicts(messages: Conversation, asked: list[str]) -> None:
    found = audit(messages, asked)
    if not asked:
        assert tuple(finding.violation for finding in found.findings) == violations(messages)
        assert found.before == verdicts(messages)
    for name in asked:
        told = [finding.violation for finding in found.findings if finding.provider == name]
        assert told == [judgement.violation for judgement in verdict(messages, name).judgements]
    statuses = {finding.status for finding in found.findings}
    assert (found.status == "accepted") == (not found.findings)
    assert (found.status == "unknown") == (statuses == {"unknown"})


@given(conversations(), st.sampled_from(["", *NAMES]), st.sampled_from(["1.28.0", "1.37.0", "1.62.0", "careful"]))
def test_an_audit_of_a_reduction_is_the_check_of_its_trace(messages: Conversation, name: str, release: str) -> None:
    careful = release == "careful"
    policy = SlidingWindow.careful(3) if careful else SlidingWindow.as_of(release, 3)
    found = audit(messages, [name] if name else [], policy, 5, HEURISTIC)
    assert found.trace is not None
    told = [(f.round, f.violation, f.message) for f in found.findings if f.stage == "on overflow"]
    checked = check_trace(found.trace, provider=name or None)
    assert told == [(breach.round, breach.violation, breach.origin) for breach in checked]
    assert found.after == tuple(verdict(found.trace.final, asked) for asked in found.asked)
    for finding in found.findings:
        assert finding.message is None or 0 <= finding.message < max(1, len(messages))
        assert finding.provider in ("", name)
        assert (finding.cell is None) == (not finding.provider)
        if finding.violation.rule in REDUCTION_RULES:
            assert finding.provider == ""


def test_routine_management_that_raises_is_told_and_is_no_violation() -> None:
    tools = review()[1:7]
    found = audit(tools, (), SlidingWindow.as_of("1.0.0", 1, False), 10**6, HEURISTIC)
    assert found.routine_error == "Unable to trim conversation context!"
    assert not [finding for finding in found.findings if finding.stage == "in routine"]


def test_summarizing_can_be_audited() -> None:
    chat = (user("q"), assistant("ok")) * 10
    found = audit(chat, ("strict-template",), Summarizing.as_of("1.0.0", preserve_recent_messages=2), 5, HEURISTIC)
    # Up to 1.6.x a summary has the role of the assistant.
    assert ("on overflow", "starts-with-user", None) in [
        (finding.stage, finding.violation.rule, finding.message) for finding in found.findings
    ]


def test_what_was_cut_off_is_all_before_the_first_message_that_stays() -> None:
    found = audit(review(), (), SlidingWindow.as_of("1.37.0", 4), 10, HEURISTIC)
    assert found.trace is not None
    assert cut_off(found.trace) == review()[: len(review()) - len(found.trace.final)]


def test_a_policy_without_a_counter_is_an_error() -> None:
    with pytest.raises(ValueError, match="needs a counter"):
        audit(review(), (), SlidingWindow())
