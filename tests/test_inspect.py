"""`ctxlab inspect`: what it prints, the JSON it gives to programs, and its exit codes."""

import json
from pathlib import Path
from typing import Any

import pytest

from ctxlab.cli import main
from ctxlab.comparison import window_releases
from ctxlab.samples import sample_sessions
from tests.builders import assistant, tool_result, tool_use, user

SEED = str(sample_sessions()["review-2173"])


def inspect_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code = main(["inspect", *arguments, "--json"])
    record: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, record


def written(folder: Path, messages: object) -> str:
    file = folder / "session.json"
    file.write_text(json.dumps(messages), encoding="utf-8")
    return str(file)


def test_a_session_that_gets_stuck_exits_with_1_and_the_sdks_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", SEED, "--window-size", "4", "--as-of", "1.35.0"]) == 1
    assert "Unable to trim conversation context!" in capsys.readouterr().out


def test_the_answer_comes_first_then_the_releases_then_the_messages(capsys: pytest.CaptureFixture[str]) -> None:
    main(["inspect", SEED, "--window-size", "4", "--as-of", "1.35.0", "--budget", "200"])
    shown = " ".join(capsys.readouterr().out.split())
    parts = (
        "Does not fit, and gets stuck.",
        "every message is refused: ",
        "is stuck from 1.35.0 to 1.36.0 (#2087, #2173), and fits from 1.37.0 on (#2174).",
        "What each release does to it",
        "Unable to trim conversation context: no cut is possible, as each of the last 4 messages",
        "It will never fit",
        "Where the conversation may start",
    )
    places = [shown.index(part) for part in parts]
    assert places == sorted(places)
    # Among the first lines.
    assert places[2] < 800


def test_a_session_that_can_be_trimmed_exits_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", SEED, "--window-size", "4", "--as-of", "1.37.0"]) == 0
    assert "cut at message 5" in " ".join(capsys.readouterr().out.split())


def test_a_session_that_fits_needs_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    code, record = inspect_json(capsys, SEED, "--budget", "1,000,000")
    assert (code, record["policy"]["outcome"], record["policy"]["steps"]) == (0, "fits", [])


@pytest.mark.parametrize(
    "arguments",
    [
        ["no such file"],
        [SEED, "--as-of", "1.99.0"],
        [SEED, "--as-of", "1.35.0", "--pin-first", "1"],
        [SEED, "--counter", "no such counter"],
        [SEED, "--view", "no such view"],
        [SEED, "--format", "no such format"],
    ],
)
def test_what_cannot_be_done_exits_with_2_and_one_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert main(["inspect", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert len(printed.err.splitlines()) == 1


def test_the_json_tells_the_story_of_2173_release_by_release(capsys: pytest.CaptureFixture[str]) -> None:
    _, record = inspect_json(capsys, SEED, "--window-size", "4")
    outcomes = {release["name"]: release["outcome"] for release in record["releases"]}
    assert record["policy"]["sentence"].startswith("Does not fit, and is made to fit.")
    assert "is stuck from 1.35.0 to 1.36.0" in record["ranges"]
    assert outcomes["Strands 1.29.0"] == "fits"
    assert outcomes["Strands 1.35.0"] == "stuck"
    assert outcomes["Strands 1.37.0"] == "fits"
    assert [message["kind"] for message in record["messages"]] == [
        "user", "tool_pair", None, "tool_pair", None, "tool_pair", None, None,
    ]  # fmt: skip
    assert all((message["kind"] is None) == (message["reason"] is not None) for message in record["messages"])


def test_the_releases_compared_are_those_whose_window_differs() -> None:
    assert window_releases() == ("1.0.0", "1.29.0", "1.35.0", "1.37.0", "1.38.0", "1.40.0", "1.43.0", "1.44.0")


def test_a_long_session_is_cut_short_on_screen_and_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = written(tmp_path, [user("hi"), assistant("ok")] * 100)
    assert main(["inspect", file]) == 0
    short = capsys.readouterr().out
    assert "showing 60 of 200" in short
    main(["inspect", file, "--all"])
    assert len(capsys.readouterr().out.splitlines()) > len(short.splitlines()) + 130


def test_control_characters_of_a_session_never_reach_the_terminal(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    hostile = "\x1b[2J\x1b]0;owned\x07‮[bold]x[/bold]"
    messages = [
        user(hostile),
        tool_use(hostile, name=hostile),
        tool_result(hostile, [{"image": {"format": hostile, "source": {"bytes": "x"}}}]),
        {**user("x"), "role": hostile},
    ]
    file = tmp_path / "evil.json"
    file.write_text(json.dumps(messages), encoding="utf-8")
    main(["inspect", str(file), "--budget", "1"])
    printed = capsys.readouterr()
    shown = printed.out + printed.err
    assert not any(character in shown for character in "\x1b\x07‮")


def test_the_rounds_of_the_fallback_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = str(sample_sessions()["eighty-blocks"])
    code = main(["inspect", blocks, "--policy", "summarizing", "--as-of", "1.63.0", "--budget", "60000"])
    assert code == 1
    assert "insufficient messages for summarization" in " ".join(capsys.readouterr().out.split())


def test_what_the_provider_reported_is_shown_beside_the_estimate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    usages = [{"usage": {"inputTokens": 900 + 100 * turn}} for turn in range(9)]
    turns = [(user("word " * 50), {**assistant("word " * 50), "metadata": usage}) for usage in usages]
    file = written(tmp_path, [message for turn in turns for message in turn])
    code, record = inspect_json(capsys, file, "--counter", "heuristic", "--budget", "1000")
    calls = record["reported"]["calls"]
    assert [call["messages"] for call in calls] == list(range(1, 18, 2))
    assert [call["reported"] for call in calls] == list(range(900, 1800, 100))
    assert record["reported"]["growth"] == pytest.approx(100 / (calls[1]["estimate"] - calls[0]["estimate"]))
    assert main(["inspect", file, "--counter", "heuristic", "--budget", "1000"]) == code
    printed = capsys.readouterr().out
    assert "The last of 9 reported calls read 1,700 tokens" in " ".join(printed.split())
    assert "(6 of 9; --all shows every one)" in printed


def test_the_page_tells_the_same_as_the_json_and_never_writes_over_a_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "page.html"
    code, record = inspect_json(capsys, SEED, "--window-size", "4", "--as-of", "1.35.0", "--html", str(out))
    page = out.read_text(encoding="utf-8")
    assert code == 1
    assert "Unable to trim conversation context!" in page
    reasons = [message["reason"] for message in record["messages"] if message["reason"]]
    assert reasons
    assert all(reason in page for reason in reasons)
    assert all(release["name"] in page for release in record["releases"])
    assert main(["inspect", SEED, "--html", str(out)]) == 2
    assert out.read_text(encoding="utf-8") == page
    assert "cannot write" in capsys.readouterr().err


def test_the_page_shows_hostile_text_as_text(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script><img src=x onerror=alert(1)>\x1b[2J‮"
    messages = [{**user("hi"), "role": hostile}, *[assistant("ok"), user("go")] * 3]
    main(["inspect", written(tmp_path, messages), "--budget", "1", "--html", str(tmp_path / "page.html")])
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;" in page
    assert not any(raw in page for raw in ("<script>alert", "<img", "\x1b", "‮"))


def test_the_page_is_redacted_unless_that_is_not_wanted(tmp_path: Path) -> None:
    file = written(tmp_path, [user("ask rosalind@example.org"), assistant("ok")])
    main(["inspect", file, "--html", str(tmp_path / "redacted.html")])
    main(["inspect", file, "--html", str(tmp_path / "plain.html"), "--no-redact"])
    assert "rosalind" not in (tmp_path / "redacted.html").read_text(encoding="utf-8")
    assert "rosalind" in (tmp_path / "plain.html").read_text(encoding="utf-8")


def test_the_page_leaves_the_words_out_where_that_is_asked(tmp_path: Path) -> None:
    file = written(tmp_path, [user("ask Quixote"), assistant("ok")])
    main(["inspect", file, "--html", str(tmp_path / "wordless.html"), "--no-words"])
    assert "Quixote" not in (tmp_path / "wordless.html").read_text(encoding="utf-8")


def test_the_verdicts_are_those_of_the_release_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    _, older = inspect_json(capsys, SEED, "--as-of", "1.35.0")
    _, newer = inspect_json(capsys, SEED, "--as-of", "1.37.0")
    assert [message["kind"] for message in older["messages"]].count("tool_pair") == 0
    assert [message["kind"] for message in newer["messages"]].count("tool_pair") == 3


def test_what_the_provider_reported_is_on_the_page(tmp_path: Path) -> None:
    usage = {"usage": {"inputTokens": 123_456, "outputTokens": 1, "totalTokens": 123_457}}
    messages = [user("hi"), {**assistant("ok"), "metadata": usage}]
    main(["inspect", written(tmp_path, messages), "--html", str(tmp_path / "page.html")])
    assert "123,456 tokens" in (tmp_path / "page.html").read_text(encoding="utf-8")
