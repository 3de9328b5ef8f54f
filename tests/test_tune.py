"""`ctxlab tune`: the table, the recommendation, the JSON for programs, and the exit codes."""

import json
from pathlib import Path
from typing import Any

import pytest

from ctxlab.cli import main
from ctxlab.samples import sample_sessions
from tests.strategies import filled

EIGHTY = str(sample_sessions()["eighty-blocks"])
MIDDLE = str(sample_sessions()["mid-sized-results"])
MASS = str(sample_sessions()["tool-input-json"])


def tune_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code = main(["tune", *arguments, "--json"])
    record: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, record


def test_it_prints_a_row_a_value_and_what_it_recommends(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", EIGHTY, "--budget", "60,000", "--most-refused", "7", "--values", "500,2000,5000"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "2,000 7 146,298 (37%) 55,285 (36%) ◀ recommended" in printed
    assert "5,000 never fits 400,000 (100%) 151,783 (100%)" in printed
    assert "2,000 is the largest preserve_chars tried with which the session fits 60,000 tokens in at most 7" in printed
    assert "500 would keep more text, 151,087 characters" in printed


def test_programs_get_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, record = tune_json(capsys, EIGHTY, "--budget", "60000", "--values", "2000", "--most-refused", "7")
    assert code == 0
    assert record["start"] == {"tokens": 151_783, "characters": 400_000}
    assert record["values"] == [
        {
            "preserve_chars": 2000,
            "refused_calls": 7,
            "sessions_that_fit": 1,
            "tokens_left": 55_285,
            "characters_left": 146_298,
        }
    ]
    assert record["recommendation"]["preserve_chars"] == 2000


def test_the_fixed_rule_never_fits_and_that_is_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    code, record = tune_json(capsys, EIGHTY, "--budget", "60000", "--values", "2000", "--rule", "fixed")
    assert (code, record["values"][0]["refused_calls"], record["recommendation"]["preserve_chars"]) == (1, None, None)


def test_several_sessions_are_tuned_together(capsys: pytest.CaptureFixture[str]) -> None:
    code, record = tune_json(capsys, EIGHTY, MIDDLE, "--budget", "50000", "--values", "500,5000")
    assert code == 0
    assert len(record["sessions"]) == 2
    assert [value["sessions_that_fit"] for value in record["values"]] == [2, 0]


def test_where_the_mass_is_no_text_nothing_is_recommended(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", MASS, "--budget", "10000"]) == 1
    assert "the smallest reached is 57,978" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("file", ["no such file", "no\x1b[31m such\u202e file"])
def test_a_file_that_cannot_be_read_is_exit_code_2_and_one_line(capsys: pytest.CaptureFixture[str], file: str) -> None:
    assert main(["tune", file, "--budget", "1000"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert not set(printed.err) & {"\x1b", "\u202e"}


def test_a_hostile_name_is_printed_and_not_acted_upon(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "[bold]\x1b[31m \u202e.json"
    file.write_text(json.dumps([{"role": "user", "content": [{"text": filled("line\n", 9000)}]}]), encoding="utf-8")
    assert main(["tune", str(file), "--budget", "1000", "--values", "500"]) == 0
    printed = capsys.readouterr().out
    assert "[bold]␛[31m \\u202e.json" in printed.replace("\n", "")
    assert not set(printed) & {"\x1b", "\u202e"}


@pytest.mark.parametrize("arguments", [["--budget", "-1"], ["--values", "0"], ["--values", "many"], []])
def test_an_argument_that_cannot_be_is_exit_code_2(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    budget = [] if not arguments or "--budget" in arguments else ["--budget", "10"]
    with pytest.raises(SystemExit, match="2"):
        main(["tune", EIGHTY, *arguments, *budget])
    assert "error:" in capsys.readouterr().err
