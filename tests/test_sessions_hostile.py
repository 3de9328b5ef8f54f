"""Archives, sizes and texts made to hurt: a session or one clear error, soon, and the disk stays as it is."""

import json
import os
import random
import stat
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ctxlab.sessions import Session, SessionFormatError, archive, load
from ctxlab.sessions.formats import attachments
from ctxlab.sessions.jsontext import JsonError, JsonReader
from ctxlab.sessions.notebook import NoteBook
from tests import mutations, wild
from tests.builders import review, user
from tests.conftest import need
from tests.test_sessions_input import noted, refusal, written
from tests.test_sessions_laws import everything_below, stored

AGENT = "session_s/agents/agent_default"
MESSAGE = stored({"message": user("hi"), "message_id": 0})


def zipped(folder: Path, members: dict[str, str | bytes], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    file = folder / "copy.zip"
    with zipfile.ZipFile(file, "w", compression) as packed:
        for name, content in members.items():
            packed.writestr(name, content)
    return file


def unchanged(folder: Path, file: Path) -> Session | str:
    """Load, and hold that nothing in or around the folder was made or changed."""
    before = everything_below(folder)
    try:
        return load(file)
    except SessionFormatError as fault:
        return str(fault)
    finally:
        assert everything_below(folder) == before


# Archives.


def test_a_zipped_copy_is_named_and_read_as_the_folder_is(tmp_path: Path) -> None:
    file = tmp_path / "copy.zip"
    file.write_bytes(wild.zipped_folder())
    session = unchanged(tmp_path, file)
    assert isinstance(session, Session)
    assert (session.name, session.agent_id) == ("talk (default)", "default")
    assert session.views == {"live": wild.CONVERSATION, "stored": wild.CONVERSATION}


@pytest.mark.parametrize(
    "name",
    [
        "../../evil.json",
        "/etc/evil.json",
        "C:\\evil.json",
        "..\\..\\evil.json",
        f"{AGENT}/messages/../../../../evil.json",
        "a/" * 60 + "evil.json",
    ],
)
def test_a_member_whose_name_leads_outside_is_left_out_and_noted(tmp_path: Path, name: str) -> None:
    file = zipped(tmp_path, {name: MESSAGE, f"{AGENT}/messages/message_0.json": MESSAGE})
    session = unchanged(tmp_path, file)
    assert isinstance(session, Session)
    assert session.messages == (user("hi"),)
    assert noted(session, "leads out of the archive").kind == "skipped"


def test_a_link_in_an_archive_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text(stored({"message": user("secret")}))
    file = zipped(tmp_path, {f"{AGENT}/messages/message_0.json": MESSAGE})
    with zipfile.ZipFile(file, "a") as packed:
        link = zipfile.ZipInfo(f"{AGENT}/messages/message_1.json")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        packed.writestr(link, str(tmp_path / "secret.json"))
    session = unchanged(tmp_path, file)
    assert isinstance(session, Session)
    assert session.messages == (user("hi"),)
    assert noted(session, "message_1.json", "symbolic link").kind == "skipped"


def test_a_member_that_bursts_is_refused_before_it_fills_the_memory(tmp_path: Path) -> None:
    content = b'{"message": {"role": "user", "content": "' + b" " * 200_000_000 + b'"}}'
    file = zipped(tmp_path, {f"{AGENT}/messages/message_0.json": content})
    del content
    assert file.stat().st_size < 300_000
    start = time.process_time()
    words = unchanged(tmp_path, file)
    assert "it unpacks to more than 64 MB from" in str(words)
    assert time.process_time() - start < 5


def test_members_that_burst_together_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_UNPACKED", 5_000_000)
    content = stored({"message": user("x" * 1_000_000)})
    names = [f"{AGENT}/messages/message_{number}.json" for number in range(8)]
    session = unchanged(tmp_path, zipped(tmp_path, dict.fromkeys(names, content)))
    assert isinstance(session, Session)
    assert len(session.messages) == 4
    assert noted(session, "message_4.json", "unpacks to more than").kind == "skipped"


def test_an_archive_of_too_many_members_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_DIRECTORY", 1 << 20)
    file = zipped(tmp_path, {f"{number:09}" * 12: "" for number in range(8000)}, zipfile.ZIP_STORED)
    assert "an archive of too many members" in str(unchanged(tmp_path, file))


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({}, "in this zip archive, it is empty"),
        ({"readme.txt": "hi", "docs/a.txt": "b"}, "in this zip archive. Its top: docs/, readme.txt"),
        ({f"{AGENT}/messages/message_0.json": "{"}, "message_0.json: line 1, column 2: not JSON"),
    ],
)
def test_an_archive_without_a_session_is_refused_with_what_is_in_it(
    tmp_path: Path, members: dict[str, str | bytes], words: str
) -> None:
    assert words in str(unchanged(tmp_path, zipped(tmp_path, members)))


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda data: data[: len(data) // 2], "a zip archive that cannot be read"),
        (lambda data: data.replace(b"message_0", b"message_9", 1), "cannot be unpacked"),
        (lambda data: data[:60] + bytes(40) + data[100:], "cannot be unpacked"),
    ],
)
def test_a_damaged_archive_is_one_clear_error(tmp_path: Path, damage: Any, words: str) -> None:
    file = zipped(tmp_path, {f"{AGENT}/messages/message_0.json": MESSAGE})
    file.write_bytes(damage(file.read_bytes()))
    assert words in str(unchanged(tmp_path, file))


def test_an_encrypted_member_and_an_unknown_packing_are_refused(tmp_path: Path) -> None:
    file = zipped(tmp_path, {f"{AGENT}/messages/message_0.json": MESSAGE})
    plain = file.read_bytes()
    directory = plain.index(b"PK\x01\x02")
    for offset, value, words in ((8, 1, "it is encrypted"), (10, 97, "cannot be unpacked")):
        data = bytearray(plain)
        # The flags and the method stand in the member's own head and in the table of contents.
        data[offset - 2] = data[directory + offset] = value
        file.write_bytes(data)
        assert words in str(unchanged(tmp_path, file))


def test_members_packed_as_zstandard_are_read(tmp_path: Path) -> None:
    if sys.version_info < (3, 14):
        from backports.zstd import zipfile as packing
    else:
        import zipfile as packing
    file = tmp_path / "log.eval"
    with packing.ZipFile(file, "w", packing.ZIP_ZSTANDARD) as packed:
        packed.writestr("header.json", "{}")
        packed.writestr("samples/1_epoch_1.json", json.dumps(wild.inspect_sample()))
    assert load(file).messages == wild.CONVERSATION


def test_attachments_that_bring_in_too_much_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attachments, "MAX_RESOLVED", 1_000_000)
    raw = {"role": "user", "content": "attachment://aaaaaaaa " * 2000}
    sample = {"messages": [raw], "attachments": {"a" * 8: "x" * 999}}
    words = refusal(written(tmp_path, json.dumps({"eval": {}, "samples": [sample]})))
    assert "its attachments bring in more than" in words


# Sizes.


def test_a_line_of_a_hundred_megabytes_is_read(tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    with open(file, "wb") as out:
        out.write(stored(user("hi")).encode() + b'\n{"role": "user", "content": [{"text": "')
        for _ in range(100):
            out.write(b"x" * 1_000_000)
        out.write(b'"}]}\n')
    start = time.process_time()
    session = load(file)
    assert len(session.messages[1]["content"][0]["text"]) == 100_000_000
    assert time.process_time() - start < 20


def test_a_hundred_megabytes_of_brackets_are_refused_soon(tmp_path: Path) -> None:
    start = time.process_time()
    assert "nested deeper than 200 levels" in refusal(written(tmp_path, b"[" * 100_000_000))
    assert time.process_time() - start < 20


DEEP = "[" * 10_000 + "]" * 10_000


@pytest.mark.parametrize(
    "content",
    [
        "\n".join([stored(user("hi")), '{"role": "user", "content": ' + DEEP + "}", stored(user("ho"))]),
        json.dumps([{"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "a", "arguments": DEEP}}]}]),
        json.dumps([{"attributes": {"gen_ai.input.messages": DEEP}}]),
        json.dumps({"eval": {}, "samples": [{"messages": [{"role": "user", "content": DEEP}]}]}),
    ],
)
def test_deep_nesting_inside_lines_and_strings_is_a_session_or_one_clear_error(tmp_path: Path, content: str) -> None:
    result = unchanged(tmp_path, written(tmp_path, content))
    assert result.messages if isinstance(result, Session) else result.isprintable()


LONG = {
    "anthropic": lambda n: wild.document([raw for _ in range(n) for raw in wild.anthropic_messages()]),
    "openai-chat": lambda n: wild.document([raw for _ in range(n) for raw in wild.chat_messages()]),
    "gemini": lambda n: wild.document([raw for _ in range(n) for raw in wild.gemini_contents()]),
    "openai-responses": lambda n: wild.document([raw for _ in range(n) for raw in wild.response_items()]),
    "codex": lambda n: wild.lines(*(raw for _ in range(n) for raw in wild.codex_lines())),
    "claude-code": lambda n: wild.lines(*_thread(4 * n)),
    "otel": lambda n: wild.document([raw for _ in range(n) for raw in wild.otel_messages()]),
}


def _thread(count: int) -> list[dict[str, Any]]:
    turns = (("user", "hi"), ("assistant", "ho"))
    return [
        {"uuid": f"{n}", "parentUuid": f"{n - 1}", "type": turns[n % 2][0], "message": {"content": turns[n % 2][1]}}
        for n in range(count)
    ]


@pytest.mark.parametrize("format", LONG)
def test_a_long_session_takes_time_in_proportion_to_its_length(tmp_path: Path, format: str) -> None:
    file = written(tmp_path, LONG[format](3_000))
    start = time.process_time()
    session = load(file)
    # A few tenths of a second; work that grows with the square would take minutes.
    assert time.process_time() - start < 15
    assert session.format == format
    assert len(session.messages) >= 12_000


def test_calls_that_nobody_answers_and_answers_that_nobody_asked_for_take_no_time(tmp_path: Path) -> None:
    calls = [{"role": "model", "parts": [{"functionCall": {"name": f"n{n}", "args": {}}}]} for n in range(20_000)]
    answers = [{"role": "user", "parts": [{"functionResponse": {"name": f"x{n}"}}]} for n in range(20_000)]
    start = time.process_time()
    load(written(tmp_path, json.dumps(calls + answers)))
    assert time.process_time() - start < 15


MEASURE = """
import sys
from ctxlab.sessions import load
def peak():
    # Of this process alone: what getrusage tells starts with the peak of the process that started it.
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
before = peak()
load(sys.argv[1])
print(peak() - before)
"""


@pytest.mark.parametrize("layout", ["lines", "document"])
def test_loading_takes_less_memory_than_four_times_the_file(tmp_path: Path, layout: str) -> None:
    need(sys.platform == "linux", "how much memory a process took is told by /proc on Linux")
    random_ = random.Random(0)
    words = ["window", "holds", "对话", "def run():", "tokens"]
    texts = [" ".join(random_.choices(words, k=2000)) for _ in range(2000)]
    blocks = [{"type": "tool_result", "tool_use_id": "1", "content": text} for text in texts]
    lines = [json.dumps({"role": "user", "content": [block]}, ensure_ascii=False) for block in blocks]
    file = written(tmp_path, "\n".join(lines) if layout == "lines" else f"[{','.join(lines)}]")
    size = file.stat().st_size
    assert size > 20_000_000
    answer = subprocess.run([sys.executable, "-c", MEASURE, str(file)], capture_output=True, text=True, check=True)
    assert size // 2 < int(answer.stdout) < 4 * size


# Progress.


@pytest.mark.parametrize("join", ["\n", ","])
def test_progress_tells_bytes_of_all_bytes_and_ends_with_all(tmp_path: Path, join: str) -> None:
    text = join.join([stored(user("x" * 100_000))] * 60)
    file = written(tmp_path, f"[{text}]" if join == "," else text)
    told: list[tuple[int, int]] = []
    load(file, progress=lambda *bytes_: told.append(bytes_))
    assert len(told) >= 4
    assert told[-1] == (file.stat().st_size, file.stat().st_size)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert {total for _, total in told} == {file.stat().st_size}


def test_a_folder_and_an_archive_tell_their_progress_too(tmp_path: Path) -> None:
    from tests.test_sessions_laws import write_folder

    folder = write_folder(tmp_path, [user(os.urandom(500_000).hex()) for _ in range(8)])
    told: list[tuple[int, int]] = []
    load(folder, progress=lambda *bytes_: told.append(bytes_))
    assert len(told) >= 4
    assert told[-1][0] == told[-1][1] > 8_000_000


def test_loading_can_be_stopped_by_what_the_callback_raises(tmp_path: Path) -> None:
    class StopError(Exception):
        pass

    def stop(done: int, total: int) -> None:
        raise StopError

    file = written(tmp_path, "\n".join([stored(user("x" * 100_000))] * 60))
    with pytest.raises(StopError):
        load(file, progress=stop)
    assert load(file).messages


# Texts.


def test_lines_with_byte_order_mark_carriage_returns_and_nuls_are_read(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbf" + "\r\n".join(map(stored, review("对话"))).encode() + b"\r\n" + b"\0" * 4096
    session = load(written(tmp_path, content))
    assert session.messages == review("对话")
    assert noted(session, "utf-8-sig").kind == "repaired"
    assert noted(session, "NUL bytes").kind == "repaired"


def test_lines_in_another_unicode_encoding_are_read(tmp_path: Path) -> None:
    session = load(written(tmp_path, "\n".join(map(stored, review("对话"))).encode("utf-16")))
    assert (session.messages, session.format) == (review("对话"), "jsonl")
    assert noted(session, "read as utf-16")


def test_a_wrong_encoding_in_a_late_line_is_refused_with_line_and_offset(tmp_path: Path) -> None:
    good = b"\xef\xbb\xbf" + (stored(user("hi")) + "\n").encode() * 2
    words = refusal(written(tmp_path, good + '{"role": "user", "content": "对话"}\n'.encode("gbk") + good))
    at = len(good) + len('{"role": "user", "content": "')
    assert f"line 3: byte 0xb6 at offset {at} is not UTF-8" in words


def noisy_json() -> st.SearchStrategy[bytes]:
    """JSON with what decoders disagree about: keys twice, escapes, surrogates, NaN, long numbers, encoded bytes."""
    # fmt: off
    texts = st.sampled_from([
        '"a"', '"\\u0061"', '"\\ud83e\\uddf5"', '"\\ud83e"', '"é"', '"\\"q\\""', '"\\u0022"', '"a\tb"', '""', '"对话"',
        '"__bytes_encoded__"', '"\\u005f_bytes_encoded__"', '"data"',
    ])
    leaves = st.one_of(texts, st.sampled_from([
        "1", "-0", "1.0", "1e5", "1E400", "NaN", "-Infinity", "9" * 25, "9" * 5000, "true", "null", "01", "0.10",
        '{"__bytes_encoded__": true, "data": "aGk="}', '{"\\u005f_bytes_encoded__": true, "data": "aGk="}',
        '{"__bytes_encoded__": true, "data": "!"}', "[" * 250 + "]" * 250, "[" * 1500, "",
    ]))
    # fmt: on
    pairs = st.lists(st.tuples(texts, leaves), max_size=4)
    objects = pairs.map(lambda found: "{" + ", ".join(f"{key}: {value}" for key, value in found) + "}")
    lists = st.lists(leaves | objects, max_size=4).map(lambda found: "[" + ",".join(found) + "]")
    return (objects | lists | leaves).map(str.encode)


@given(noisy_json() | st.binary(max_size=40))
@example(b'{"a": 1, "a": 2}')
@example(b'{"a": "\\u0022\\u0022", "a": 2}')
def test_the_fast_decoder_has_the_outcome_of_the_exact_one(text: bytes) -> None:
    def outcome(given: str | bytes) -> str:
        book = NoteBook()
        try:
            value = JsonReader(book).parse(given, "here")
        except (JsonError, UnicodeDecodeError) as fault:
            return f"{type(fault).__name__} {fault}"
        return f"{value!r} {book.notes()}"

    try:
        decoded = text.decode()
    except UnicodeDecodeError:
        assert "UnicodeDecodeError" in outcome(text) or "JsonError" in outcome(text)
        return
    assert outcome(text) == outcome(decoded)


# Damaged files of every format.


def test_nothing_but_a_session_or_one_clear_error_comes_out_of_thousands_of_damaged_files(tmp_path: Path) -> None:
    outcomes, faults = mutations.run(4_000, random.randrange(10**9), tmp_path)
    assert faults == []
    assert sum(outcomes.values()) == 4_000
    assert sum(count for outcome, count in outcomes.items() if outcome.startswith("read as")) > 800


def test_a_damaged_archive_of_a_session_is_a_session_or_one_clear_error(tmp_path: Path) -> None:
    random_ = random.Random(1)
    file = tmp_path / "copy.zip"
    for packed in (wild.zipped_folder(), wild.inspect_archive()):
        for _ in range(500):
            data = bytearray(packed)
            for _ in range(random_.randint(1, 4)):
                data[random_.randrange(len(data))] = random_.randrange(256)
            file.write_bytes(data)
            result = unchanged(tmp_path, file)
            assert isinstance(result, Session) or "copy.zip" in result
