"""A format of somebody else: an installed package with an entry point adds it, and cannot break what is there."""

import json
from pathlib import Path

import pytest

from ctxlab.messages import blocks
from ctxlab.sessions import SessionFormatError, load
from tests.builders import user

PLUGIN = Path(__file__).with_name("plugin")
HEADER = {"type": "session", "id": "1", "timestamp": "2026-01-01T00:00:00Z"}
LINES = [
    {"type": "message", "message": {"role": "user", "content": [{"type": "text", "text": "hi"}]}},
    {"type": "message", "message": {"role": "assistant", "content": [{"type": "toolCall", "id": "1", "name": "read"}]}},
    {"type": "message", "message": {"role": "toolResult", "toolCallId": "1", "content": "ok", "isError": True}},
]


def written(folder: Path, *lines: object) -> Path:
    file = folder / "talk.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    return file


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, code: str, target: str = "READER") -> None:
    """Put a distribution with one module and one reader on the path, as pip would."""
    (folder / f"{name}.py").write_text(code)
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[ctxlab.readers]\n{name} = {name}:{target}\n")
    monkeypatch.syspath_prepend(str(folder))


def test_without_the_plug_in_the_format_is_refused_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(SessionFormatError, match="it looks like a Pi session"):
        load(written(tmp_path, HEADER, *LINES))


def test_with_the_plug_in_the_format_is_found_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PLUGIN))
    session = load(written(tmp_path, HEADER, *LINES))
    assert (session.format, session.detected.certainty) == ("pi", "certain")
    assert [each["content"] for each in session.messages] == [
        [{"text": "hi"}],
        [{"toolUse": {"toolUseId": "1", "name": "read", "input": {}}}],
        [{"toolResult": {"toolUseId": "1", "status": "error", "content": [{"text": "ok"}]}}],
    ]


def test_a_recorded_pi_session_has_the_counts_of_its_index(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PLUGIN))
    session = load(shared / "sessions" / "pi__large_session_excerpt156.jsonl")
    kinds = [kind for message in session.messages for block in blocks(message) for kind in block]
    # The index counts 154 lines; the results of parallel calls, in 82 of them, are one message each time.
    assert (len(session.messages), kinds.count("toolUse"), kinds.count("toolResult")) == (147, 91, 75)


def test_the_readme_shows_this_very_plug_in_and_it_has_twenty_lines_or_so() -> None:
    code = (PLUGIN / "ctxlab_pi.py").read_text()
    assert code in (PLUGIN.parents[1] / "README.md").read_text()
    assert len([line for line in code.splitlines() if line.strip()]) <= 22


def test_a_plug_in_that_cannot_be_imported_is_left_out_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, "gone_reader", "import not_there_at_all")
    with pytest.warns(UserWarning, match="'gone_reader:READER' is left out: ModuleNotFoundError"):
        assert load(written(tmp_path, user("hi"), user("ho"))).format == "jsonl"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("READER = 'a string'", "it is no ctxlab.sessions.Reader"),
        ("from ctxlab.sessions.lines import LINES as READER", "there is a format 'jsonl'"),
    ],
)
def test_a_plug_in_that_is_no_reader_or_takes_a_name_is_left_out_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, words: str
) -> None:
    install(tmp_path, monkeypatch, f"odd_reader_{len(words)}", code)
    with pytest.warns(UserWarning, match=words):
        assert load(written(tmp_path, user("hi"), user("ho"))).messages == (user("hi"), user("ho"))


BROKEN = """
from ctxlab.sessions import Claim, Reader, Reading, View
def recognise(source):
    {recognise}
def read(source):
    {read}
READER = Reader("{name}", "broken", recognise, read)
"""


def test_a_detector_that_fails_is_passed_over_and_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = BROKEN.format(name="shy", recognise="raise KeyError('type')", read="pass")
    install(tmp_path, monkeypatch, "shy_reader", code)
    session = load(written(tmp_path, user("hi"), user("ho")))
    assert session.format == "jsonl"
    assert any("the detector of 'shy' failed" in note.text and "KeyError" in note.where for note in session.notes)


def test_a_reader_that_fails_is_one_clear_error_that_keeps_its_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = BROKEN.format(name="clumsy", recognise="return Claim('mine', 'certain')", read="return {}['messages']")
    install(tmp_path, monkeypatch, "clumsy_reader", code)
    with pytest.raises(SessionFormatError, match="the reader 'clumsy' failed: KeyError: 'messages'") as raised:
        load(written(tmp_path, HEADER, *LINES))
    assert isinstance(raised.value.__cause__, KeyError)


def test_messages_of_a_plug_in_are_brought_into_the_promised_shape(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = "View(({'role': 'user', 'content': 'hi'}, None, {'content': [7]}), 'all')"
    read = f"return Reading('odd', {{'messages': {view}}}, 'another')"
    code = BROKEN.format(name="odd", recognise="return Claim('mine', 'certain')", read=read)
    install(tmp_path, monkeypatch, "shapeless_reader", code)
    session = load(written(tmp_path, HEADER))
    assert list(session.messages) == [user("hi"), {"role": "unknown", "content": []}]
    assert session.view == "messages"
