"""`ctxlab convert`: what it writes and says, and its exit codes."""

from pathlib import Path

import pytest

from ctxlab.cli import main
from ctxlab.samples import sample_sessions
from ctxlab.sessions import load

SEED = sample_sessions()["review-2173"]


def test_a_session_is_written_in_another_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "list.json"
    assert main(["convert", str(SEED), str(out), "--to", "messages"]) == 0
    assert load(out).messages == load(SEED).messages
    assert "messages of" in capsys.readouterr().out


def test_what_is_lost_is_said_and_exits_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "chat.json"
    assert main(["convert", str(sample_sessions()["pins"]), str(out), "--to", "openai-chat"]) == 1
    assert "lost: messages[0]: metadata of a message" in capsys.readouterr().out
    assert load(out, "openai-chat").messages


def test_another_view_can_be_written(tmp_path: Path) -> None:
    out = tmp_path / "stored.json"
    seed = sample_sessions()["summarized"]
    assert main(["convert", str(seed), str(out), "--to", "messages", "--view", "stored"]) == 0
    assert load(out).messages == load(seed).views["stored"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["no such file", "out"], "no such file or folder"),
        ([str(SEED), "."], "is there already"),
        ([str(SEED), "no such folder/out"], "cannot be written: No such file or directory"),
        ([str(SEED), "out", "--view", "none"], "no view 'none'"),
        ([str(SEED), "out", "--format", "none"], "no format 'none'"),
    ],
)
def test_what_cannot_be_done_exits_with_2_and_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["convert", *arguments, "--to", "messages"]) == 2
    printed = capsys.readouterr()
    assert words in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""
    assert list(tmp_path.iterdir()) == []
