"""Broken, hostile and ambiguous input, a case a sentence: what is read is noted, what is not is one clear error."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from ctxlab.sessions import Note, Session, SessionFormatError, load
from tests.builders import assistant, message, pinned, review, tool_result, tool_use, user
from tests.conftest import need
from tests.test_sessions_laws import stored, write_folder

HELLO = user("hello")


def written(folder: Path, content: str | bytes, name: str = "session.json") -> Path:
    file = folder / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def of(folder: Path, *messages: Any) -> Session:
    return load(written(folder, stored([*messages, HELLO])))


def refusal(path: str | Path, **options: Any) -> str:
    with pytest.raises(SessionFormatError) as raised:
        load(path, **options)
    return str(raised.value)


def noted(session: Session, *words: str) -> Note:
    return next(note for note in session.notes if all(word in str(note) for word in words))


# Text: encodings, line ends, what JSON does not allow.


def test_a_byte_order_mark_is_left_out_and_noted(tmp_path: Path) -> None:
    session = load(written(tmp_path, b"\xef\xbb\xbf" + stored(review()).encode()))
    assert session.messages == review()
    assert noted(session, "utf-8-sig").kind == "repaired"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_other_unicode_encodings_are_read_and_noted(tmp_path: Path, encoding: str) -> None:
    session = load(written(tmp_path, stored(review("对话 🧵")).encode(encoding)))
    assert session.messages == review("对话 🧵")
    assert noted(session, "read as utf-")


def test_another_encoding_is_refused_with_the_line_and_the_byte(tmp_path: Path) -> None:
    words = refusal(written(tmp_path, '[\n{"role": "user", "content": "对话"}]'.encode("gbk")))
    assert "line 2" in words
    assert "byte 0xb6 at offset" in words
    assert "iconv" in words


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file is empty"),
        (b" \r\n ", "the file is empty"),
        (b"\x00\x00\x00\x00\x00\x00", "empty"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "byte 0x89"),
        (b"SQLite format 3\x00rest", "an SQLite database"),
        (b"PK\x03\x04rest", "a zip archive"),
        (b"\x1f\x8brest", "a gzip file"),
        (b"not json", "line 1, column 1: not JSON"),
        (b'[\n{"role": "user",\n "content": [}]', "line 3, column 14"),
        (b"[]", "no format that ctxlab reads"),
        (b"3", "Its top: number"),
        (b'{"a\\u001b[31m": 1}', "Its top: {'a\\x1b[31m': number}"),
        (b"[" * 10_000 + b"]" * 10_000, "nested deeper than 200 levels"),
        (b'{"a":' * 10_000 + b"1" + b"}" * 10_000, "nested deeper than 200 levels"),
        (b"[" * 300 + b"]" * 300, "nested deeper than 200 levels"),
        (b"[" * 100_000, "top level: nested deeper than 200 levels"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(tmp_path: Path, content: bytes, words: str) -> None:
    assert words in refusal(written(tmp_path, content))


def test_a_refusal_names_file_place_reason_and_what_to_do_next(tmp_path: Path) -> None:
    file = written(tmp_path, '{"messages": [{"content": [{"toolUse": {}}]}, {"kind": "tool", "parts": []}]}')
    with pytest.raises(SessionFormatError) as raised:
        load(file)
    assert (raised.value.path, raised.value.where) == (str(file), "top level")
    assert "messages[1] has 'kind' and 'parts', as pydantic-ai messages have" in raised.value.reason
    assert "Formats read: strands-session" in raised.value.advice
    assert isinstance(raised.value, ValueError)
    assert str(raised.value).startswith(f"{file}: top level: ")


def test_nan_is_kept_as_a_number_and_noted(tmp_path: Path) -> None:
    session = load(written(tmp_path, stored([tool_use("1", input={"a": float("nan"), "b": float("-inf")}), HELLO])))
    read = session.messages[0]["content"][0]["toolUse"]["input"]
    assert read["a"] != read["a"]
    assert read["b"] == float("-inf")
    assert "(2 times, the first here)" in noted(session, "NaN").text


def test_half_a_surrogate_pair_is_replaced_and_whole_pairs_are_kept(tmp_path: Path) -> None:
    session = load(
        written(tmp_path, r'[{"role": "user", "content": [{"text": "a\ud83e b\ud83e\uddf5", "k\udc00": 1}]}]')
    )
    assert session.messages[0]["content"] == [{"text": "a� b🧵", "k�": 1}]
    assert noted(session, "surrogate").kind == "repaired"


def test_a_key_given_twice_counts_last_and_is_noted(tmp_path: Path) -> None:
    session = load(written(tmp_path, '[{"role": "assistant", "role": "user", "content": [{"text": "x"}]}]'))
    assert session.messages == (user("x"),)
    assert noted(session, "twice", "'role'")


def test_an_integer_too_long_for_python_is_kept_as_text(tmp_path: Path) -> None:
    digits = "9" * 5000
    text = '[{"role": "user", "content": [{"text": "x"}], "big": 10, "small": 7}]'.replace("10", digits)
    session = load(written(tmp_path, text))
    read: Any = session.messages[0]
    assert (read["big"], read["small"]) == (digits, 7)
    assert noted(session, "more digits")


def test_raw_control_characters_in_strings_are_read_and_noted(tmp_path: Path) -> None:
    session = load(written(tmp_path, '[{"role": "user", "content": [{"text": "a\nb\x00\x1b[31m"}]}]'))
    assert session.messages == (user("a\nb\x00\x1b[31m"),)
    assert noted(session, "not strict JSON")


def test_encoded_bytes_are_decoded_and_broken_ones_are_left_and_noted(tmp_path: Path) -> None:
    good = {"__bytes_encoded__": True, "data": "aGk="}
    bad = {"__bytes_encoded__": True, "data": "x"}
    session = of(
        tmp_path, message("user", {"other": good}, {"other": bad}, {"other": {**good, "__bytes_encoded__": 1}})
    )
    assert [block["other"] for block in session.messages[0]["content"]] == [
        b"hi",
        bad,
        {**good, "__bytes_encoded__": 1},
    ]
    assert noted(session, "not base64")


def test_base64_text_of_a_picture_is_decoded_so_that_sizes_are_those_of_the_picture(tmp_path: Path) -> None:
    session = of(tmp_path, message("user", {"image": {"format": "png", "source": {"bytes": "aGk="}}}))
    assert session.messages[0]["content"][0]["image"]["source"]["bytes"] == b"hi"


# JSON lines.


def test_a_last_line_cut_off_is_left_out_and_noted(tmp_path: Path) -> None:
    whole = "\r\n".join(stored(each) for each in review())
    session = load(written(tmp_path, whole.encode()[:-9], "talk.jsonl"))
    assert session.messages == review()[:-1]
    assert str(noted(session, "cut off")).startswith("skipped: line 8 ")


def test_a_last_line_cut_off_inside_a_character_is_left_out(tmp_path: Path) -> None:
    session = load(written(tmp_path, stored(HELLO).encode() + b'\n{"role": "user", "content": "\xe5\xaf', "talk.jsonl"))
    assert session.messages == (HELLO,)
    assert noted(session, "inside a character")


def test_a_broken_line_and_lines_without_a_message_are_left_out_and_counted(tmp_path: Path) -> None:
    lines = [stored(HELLO), "", '{"role"', '{"note": 1}', "7", "null", stored(assistant("ok"))]
    session = load(written(tmp_path, "\n".join(lines), "talk.jsonl"))
    assert session.messages == (HELLO, assistant("ok"))
    assert noted(session, "not JSON").where.startswith("line 3")
    assert "(3 times, the first here)" in noted(session, "line 4", "holds no message").text


def test_lines_wrapped_as_stored_messages_are_unwrapped_and_redacted(tmp_path: Path) -> None:
    lines = [{"message": HELLO, "message_id": 0}, {"message": HELLO, "redact_message": user("[gone]"), "message_id": 1}]
    session = load(written(tmp_path, "\n".join(map(stored, lines)), "talk.jsonl"))
    assert session.messages == (HELLO, user("[gone]"))
    assert session.format == "jsonl"


def test_a_separator_inside_a_string_does_not_end_a_line(tmp_path: Path) -> None:
    lines = [json.dumps(user(f"a{chr(0x2028)}b{chr(0x85)}c"), ensure_ascii=False), stored(HELLO)]
    assert len(load(written(tmp_path, "\n".join(lines))).messages) == 2


# Messages: what is repaired.


@pytest.mark.parametrize(
    ("content", "blocks", "words"),
    [
        (None, [], "content that is null"),
        ("hi", [{"text": "hi"}], "content that is a string"),
        ({"text": "hi"}, [{"text": "hi"}], "content that is one object"),
        (7, [], "content that is a number"),
        (["hi", None, 7], [{"text": "hi"}], "a string in a content list"),
        ([None], [], "null in place of a block"),
        ([{"text": None, "cachePoint": {}}], [{"cachePoint": {}}], "text that is null"),
        ([{"text": 7}], [{"text": "7"}], "a number"),
        ([{"toolUse": None}], [], "toolUse that is null"),
        ([{"toolUse": {"toolUseId": 5, "name": "n"}}], [{"toolUse": {"toolUseId": "5", "name": "n"}}], "toolUseId"),
        ([{"toolUse": {"toolUseId": [], "name": "n"}}], [{"toolUse": {"name": "n"}}], "toolUseId that is a list"),
        ([{"toolUse": {}}], [{"toolUse": {}}], "without toolUseId"),
        ([{"unknown": 1}], [{"unknown": 1}], ""),
    ],
)  # fmt: skip
def test_content_of_another_shape_is_repaired_and_noted(tmp_path: Path, content: Any, blocks: Any, words: str) -> None:
    session = of(tmp_path, {"role": "user", "content": content})
    assert session.messages[0]["content"] == blocks
    assert not words or noted(session, words).where.startswith("messages[0]")


@pytest.mark.parametrize(
    ("content", "items"),
    [
        (None, []),
        ("out", [{"text": "out"}]),
        ({"text": "out"}, [{"text": "out"}]),
        ({"rows": 3}, [{"json": {"rows": 3}}]),
        (3, [{"json": 3}]),
        (["out", 3, None, [1], {"text": "out"}], [{"text": "out"}, {"json": 3}, {"json": [1]}, {"text": "out"}]),
    ],
)
def test_tool_results_of_another_shape_are_repaired(tmp_path: Path, content: Any, items: Any) -> None:
    result = {"toolUseId": "1", "status": "success", "content": content}
    session = of(tmp_path, message("user", {"toolResult": result}))
    assert session.messages[0]["content"] == [{"toolResult": {**result, "content": items}}]
    assert any(note.kind == "repaired" for note in session.notes)


def test_missing_content_and_roles_and_null_metadata_are_repaired_and_foreign_roles_kept(tmp_path: Path) -> None:
    session = of(
        tmp_path, {"role": "user"}, {"content": []}, {"role": 5, "content": []}, {**message("critic"), "metadata": None}
    )  # fmt: skip
    assert session.messages[:-1] == (message("user"), message("unknown"), message("unknown"), message("critic"))
    assert noted(session, "content that is missing").where == "messages[0]"
    assert "(2 times" in noted(session, "no role").text
    assert noted(session, "neither user nor assistant", "'critic'").kind == "read"
    assert noted(session, "metadata that is null").where == "messages[3]"


def test_ten_thousand_of_one_fault_are_one_note_with_a_count_and_the_first_place(tmp_path: Path) -> None:
    session = of(tmp_path, HELLO, *[{"role": f"role {number}", "content": None} for number in range(10_000)])
    assert len(session.messages) == 10_002
    assert len(session.notes) == 4
    assert noted(session, "content that is null").where == "messages[1]"
    assert "(10000 times, the first here)" in noted(session, "content that is null").text


def test_unknown_keys_survive(tmp_path: Path) -> None:
    odd = {
        "role": "user",
        "content": [{"text": "x", "mine": [1]}],
        "tracking_id": "t",
        "metadata": {"custom": {"a": None}},
    }
    assert of(tmp_path, odd).messages[0] == odd


def test_a_hostile_file_name_does_not_reach_the_terminal(tmp_path: Path) -> None:
    name = "\x1b[31m\n\u202e.json"
    folder = write_folder(tmp_path, review())
    written(folder / "agents" / "agent_default" / "messages", "{}", name)
    assert str(noted(load(folder), "no message_N.json")).isprintable()
    assert refusal(written(tmp_path, "{", name)).isprintable()


def test_a_note_is_one_line_without_control_or_bidi_characters(tmp_path: Path) -> None:
    session = of(tmp_path, message("\x1b[31m\n\u202e"))
    note = str(noted(session, "neither user nor assistant"))
    assert note.isprintable()


# Which format it is.


@pytest.mark.parametrize(
    ("document", "format"),
    [
        ([{"role": "system", "content": "be nice"}, {"role": "user", "content": "hi"}], "openai-chat"),
        ([{"role": "user", "content": "hi"}, {"role": "assistant", "content": None, "tool_calls": []}], "openai-chat"),
        ([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://a"}}]}], "openai-chat"),
        ([{"role": "assistant", "content": [{"type": "tool_use", "id": "1"}]}], "anthropic"),
        ({"system": "be nice", "messages": [{"role": "user", "content": "hi"}]}, "anthropic"),
        ([{"role": "user", "content": [{"type": "input_text", "text": "hi"}]}], "openai-responses"),
        ({"model": "m", "input": [{"role": "user", "content": "hi"}]}, "openai-responses"),
        ([{"role": "user", "parts": [{"text": "hi"}]}], "gemini"),
        ([{"role": "user", "parts": [{"type": "text", "content": "hi"}]}], "otel"),
        ([{"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "hi"}]}], "pydantic-ai"),
        ([{"type": "human", "data": {"content": "hi"}}], "langchain"),
    ],
)
def test_each_format_is_known_by_its_own_signs_and_never_read_as_converse(
    tmp_path: Path, document: Any, format: str
) -> None:
    session = load(written(tmp_path, json.dumps(document)))
    assert session.format == format
    assert session.messages[-1]["role"] in ("user", "assistant")


@pytest.mark.parametrize(
    "document",
    [
        [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
        {"model": "m", "messages": [{"role": "user", "content": "hi"}]},
        [{"role": "assistant", "content": [{"type": "tool_use", "id": "1"}], "tool_calls": []}],
    ],
)
def test_what_two_formats_fit_is_not_guessed_but_refused_until_one_is_named(tmp_path: Path, document: Any) -> None:
    file = written(tmp_path, json.dumps(document))
    words = refusal(file)
    assert "2 formats fit" in words
    assert "format='anthropic' or format='openai-chat'" in words
    assert load(file, format="anthropic").detected.rule == "format='anthropic' was given"
    assert load(file, format="openai-chat").messages


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"resourceSpans": []}, "an OpenTelemetry export"),
        ({"schema_version": "ATIF-v1.8", "steps": []}, "an ATIF trajectory"),
        ([{"protocol_version": "1", "type": "metadata"}], "a Kimi session"),
        ({"environment": "main", "trajectory": [], "history": []}, "a SWE-agent trajectory"),
    ],
)
def test_a_format_that_is_not_read_is_refused_by_its_name(tmp_path: Path, document: Any, words: str) -> None:
    assert words in refusal(written(tmp_path, json.dumps(document)))


def test_one_foreign_block_among_thousands_is_enough_to_refuse(tmp_path: Path) -> None:
    late = {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "n", "input": {}}]}
    assert "messages[2000].content[0]" in refusal(written(tmp_path, stored([HELLO] * 2000 + [late])))


def test_plain_text_that_fits_several_formats_is_read_but_only_as_possible(tmp_path: Path) -> None:
    session = load(written(tmp_path, '[{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ok"}]'))
    assert session.messages == (user("hi"), assistant("ok"))
    assert session.detected.certainty == "possible"
    assert noted(session, "possible, not certain")


def test_a_named_format_overrides_the_detector(tmp_path: Path) -> None:
    file = written(tmp_path, '[{"role": "system", "content": "be nice"}]')
    session = load(file, format="messages")
    assert session.messages == (message("system", {"text": "be nice"}),)
    assert "format='messages' was given" in str(session.detected)
    assert "the format needs an object with a list 'messages'" in refusal(file, format="converse")
    with pytest.raises(ValueError, match="no format 'converze'; there is 'strands-session'"):
        load(file, format="converze")


def test_a_request_says_that_its_system_prompt_and_tools_are_not_counted(tmp_path: Path) -> None:
    request = {"modelId": "m", "system": [{"text": "be nice"}], "toolConfig": {"tools": []}, "messages": [HELLO]}
    session = load(written(tmp_path, stored(request)))
    assert session.format == "converse"
    assert noted(session, "'system' is there, but is no message")
    assert noted(session, "'toolConfig' is there, but is no message")


def test_lines_in_the_envelope_of_another_tool_are_refused_whatever_is_inside(tmp_path: Path) -> None:
    lines = [{"type": "turn", "message": HELLO}, {"type": "turn", "message": assistant("ok")}]
    assert "no format that ctxlab reads" in refusal(written(tmp_path, "\n".join(map(stored, lines))))


# Folders.


def snapshot(*messages: Any, **more: Any) -> str:
    return stored(
        {"scope": "agent", "schema_version": "1.0", "created_at": "now", "data": {"messages": messages}, **more}
    )


def write_snapshots(folder: Path, count: int) -> Path:
    """Write a snapshots folder with a latest one of ``count`` messages and a history that grows towards it."""
    history = folder / "immutable_history"
    history.mkdir(parents=True)
    (folder / "snapshot_latest.json").write_text(snapshot(*[HELLO] * count))
    for number in range(1, count + 1):
        (history / f"snapshot_{number:04}.json").write_text(snapshot(*[HELLO] * number))
    return folder


def test_of_a_long_history_the_newest_fifty_snapshots_are_views(tmp_path: Path) -> None:
    session = load(write_snapshots(tmp_path, 53))
    assert list(session.views)[:3] == ["live", "history 53", "history 52"]
    assert list(session.views)[-1] == "history 4"
    assert len(session.views["history 4"]) == 4
    assert noted(session, "an older snapshot", "snapshot_0001.json", "(3 times").kind == "skipped"


def test_a_broken_snapshot_of_the_history_is_left_out(tmp_path: Path) -> None:
    folder = write_snapshots(tmp_path, 3)
    (folder / "immutable_history" / "snapshot_0002.json").write_text("{")
    session = load(folder)
    assert list(session.views) == ["live", "history 3", "history 1"]
    assert noted(session, "snapshot_0002.json").kind == "skipped"


def test_a_snapshot_of_another_version_is_read_and_one_of_a_graph_is_refused(tmp_path: Path) -> None:
    session = load(written(tmp_path, snapshot(HELLO, schema_version="2.0")))
    assert session.messages == (HELLO,)
    assert noted(session, "another version", "2.0")
    assert "no format" in refusal(
        written(tmp_path, stored({"scope": "multiAgent", "schema_version": "1.0", "data": {}}))
    )


def test_a_folder_that_two_formats_fit_is_refused_until_one_is_named(tmp_path: Path) -> None:
    write_folder(tmp_path, review())
    write_snapshots(tmp_path / "session" / "s" / "scopes" / "agent" / "a" / "snapshots", 1)
    words = refusal(tmp_path)
    assert "2 formats fit" in words
    assert "format='strands-session' or format='strands-snapshot'" in words
    assert load(tmp_path, format="strands-session").messages == review()
    assert load(tmp_path, format="strands-snapshot").messages == (HELLO,)


def test_messages_are_ordered_by_number_and_gaps_are_legal_and_noted(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, [user(str(number)) for number in range(12)])
    messages = folder / "agents" / "agent_default" / "messages"
    (messages / "message_3.json").unlink()
    session = load(folder)
    assert [each["content"][0]["text"] for each in session.messages] == [str(n) for n in range(12) if n != 3]
    assert noted(session, "a gap", "after message_2.json")


def test_what_lies_beside_the_messages_is_noted_and_not_read(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, review())
    messages = folder / "agents" / "agent_default" / "messages"
    (messages / ".strands_abc.tmp").write_text("{")
    (messages / "message_x.json").write_text("{}")
    (messages / "message_99.json").mkdir()
    session = load(folder)
    assert session.messages == review()
    assert noted(session, ".strands_abc.tmp", "temporary").kind == "skipped"
    assert noted(session, "message_x.json").kind == "skipped"
    assert noted(session, "message_99.json", "not a regular file").kind == "skipped"


def test_a_broken_message_file_is_left_out_but_still_counts_as_removed(tmp_path: Path) -> None:
    state = {"__name__": "SlidingWindowConversationManager", "removed_message_count": 2}
    folder = write_folder(tmp_path, review(), state)
    (folder / "agents" / "agent_default" / "messages" / "message_0.json").write_text('{"mess')
    session = load(folder)
    assert session.messages == review()[2:]
    assert session.views["stored"] == review()[1:]
    assert noted(session, "message_0.json", "the SDK refuses to restore").kind == "skipped"


def test_a_folder_without_one_readable_message_is_refused_with_the_first_reason(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, [HELLO])
    (folder / "agents" / "agent_default" / "messages" / "message_0.json").write_text('{"mess')
    words = refusal(folder)
    assert "message_0.json: line 1, column 2: not JSON" in words


@pytest.mark.parametrize("content", [None, "{", "[]", '{"conversation_manager_state": {"removed_message_count": "3"}}'])
def test_without_a_removed_count_only_what_is_stored_is_shown(tmp_path: Path, content: str | None) -> None:
    folder = write_folder(tmp_path, review())
    agent = folder / "agents" / "agent_default" / "agent.json"
    agent.unlink()
    if content is not None:
        agent.write_text(content)
    session = load(folder)
    assert list(session.views) == ["stored"]
    assert session.messages == review()
    assert noted(session, "only what is stored is shown")


def test_a_live_view_without_messages_gives_way_to_what_is_stored(tmp_path: Path) -> None:
    state = {"__name__": "SlidingWindowConversationManager", "removed_message_count": 50}
    session = load(write_folder(tmp_path, review(), state))
    assert session.view == "stored"
    assert session.views["live"] == ()
    assert noted(session, "does not fit the 8 stored messages", "(50)")


def test_a_summary_goes_first_only_with_a_manager_that_restores_it(tmp_path: Path) -> None:
    summary = user("what was said")
    for manager, live in (
        ("SummarizingConversationManager", (summary, *review()[6:])),
        ("NullConversationManager", review()[6:]),
    ):
        state = {"__name__": manager, "removed_message_count": 6, "summary_message": summary}
        session = load(write_folder(tmp_path / manager, review(), state))
        assert session.messages == live
        assert session.manager == manager


def test_pins_and_a_removed_count_together_are_warned_of(tmp_path: Path) -> None:
    state = {"__name__": "SlidingWindowConversationManager", "removed_message_count": 2}
    session = load(write_folder(tmp_path, [pinned(HELLO), *review()], state))
    assert noted(session, "#4027")


def test_tool_blocks_without_partner_in_the_live_view_are_said_to_be_rewritten_at_restore(tmp_path: Path) -> None:
    state = {"__name__": "SlidingWindowConversationManager", "removed_message_count": 2}
    session = load(write_folder(tmp_path, [HELLO, tool_use("1"), tool_result("1"), assistant("ok")], state))
    assert noted(session, "live messages[0]", "the SDK rewrites them")


def test_of_several_agents_the_one_with_the_most_messages_is_shown_and_the_others_are_views(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, [HELLO], agent="a-small")
    write_folder(tmp_path / "other", review(), agent="big")
    (tmp_path / "other" / "session_s" / "agents" / "agent_big").rename(folder / "agents" / "agent_big")
    session = load(folder)
    assert session.agent_id == "big"
    assert list(session.views) == ["live", "stored", "a-small: live", "a-small: stored"]
    assert noted(session, "2 agents", "big (8), a-small (1)")
    other = session.with_view("a-small: stored")
    assert (other.agent_id, other.messages) == ("a-small", (HELLO,))
    assert other.notes[1:] == session.notes[1:]
    assert load(folder / "agents" / "agent_a-small").messages == (HELLO,)
    with pytest.raises(ValueError, match="no view 'tiny'"):
        session.with_view("tiny")


def test_a_storage_folder_of_several_sessions_is_refused_with_their_names(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_folder(tmp_path, review(), session=name)
    words = refusal(tmp_path)
    assert "2 sessions are in here: session_a, session_b" in words
    assert "Give one of them" in words


def test_a_folder_that_is_no_session_and_one_without_messages_are_refused(tmp_path: Path) -> None:
    assert "no session that ctxlab reads is in this folder" in refusal(tmp_path)
    assert "holds no messages" in refusal(write_folder(tmp_path, []))


def test_a_path_that_is_not_there_or_empty_is_refused(tmp_path: Path) -> None:
    assert "there is no such file or folder" in refusal(tmp_path / "nowhere")
    assert "the path is empty" in refusal("")
    assert "cannot be read" in refusal("a\0b")


def test_links_inside_a_session_are_not_followed(tmp_path: Path) -> None:
    secret = written(tmp_path, stored({"message": user("secret")}), "secret.json")
    folder = write_folder(tmp_path, review())
    (folder / "agents" / "agent_default" / "messages" / "message_99.json").symlink_to(secret)
    session = load(folder)
    assert session.messages == review()
    assert noted(session, "message_99.json", "symbolic link").kind == "skipped"


@pytest.mark.parametrize("linked", ["agents", "agents/agent_default", "agents/agent_default/messages", "agent.json"])
def test_linked_folders_and_agent_files_inside_a_session_are_not_followed(tmp_path: Path, linked: str) -> None:
    folder = write_folder(tmp_path / "real", review())
    place = folder / (f"agents/agent_default/{linked}" if linked == "agent.json" else linked)
    outside = tmp_path / "outside"
    place.rename(outside)
    place.symlink_to(outside)
    if linked == "agent.json":
        assert noted(load(folder), "symbolic link").kind == "skipped"
    else:
        assert "symbolic link" in refusal(folder) or "no messages" in refusal(folder)


def test_a_link_that_a_person_names_is_followed(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "real", review())
    (tmp_path / "link").symlink_to(folder / "agents" / "agent_default" / "messages")
    session = load(tmp_path / "link")
    assert session.messages == review()
    assert session.name == "s (default)"


def test_pipes_and_devices_are_refused_without_waiting(tmp_path: Path) -> None:
    need(hasattr(os, "mkfifo"), "this system has no pipes in its file system")
    os.mkfifo(tmp_path / "pipe")
    assert "not a regular file" in refusal(tmp_path / "pipe")
    assert "not a regular file" in refusal("/dev/zero")


def test_what_the_system_refuses_to_open_is_refused_in_its_words(tmp_path: Path) -> None:
    file = written(tmp_path, stored(review()))
    assert "cannot be read: Not a directory" in refusal(file / "inside")
    assert "cannot be read: File name too long" in refusal(tmp_path / ("x" * 300))


def test_a_session_can_be_made_of_messages_in_memory() -> None:
    session = Session.of(review(), "my talk")
    assert (session.name, session.messages, session.view) == ("my talk", review(), "messages")
    assert session.path is None
