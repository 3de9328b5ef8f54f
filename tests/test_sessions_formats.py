"""Every format tells the same conversation; and what is particular to one: views, repairs, usage, missing ids."""

import json
from pathlib import Path
from typing import Any

import pytest

from ctxlab.messages import Conversation, tool_pairs, tool_result_ids
from ctxlab.sessions import Session, load
from ctxlab.sessions.registry import OWN
from ctxlab.sessions.turns import usage_of
from tests import wild
from tests.builders import assistant, message, result_block, tool_result, tool_use, use_block, user


def opened(folder: Path, content: bytes | object, format: str | None = None) -> Session:
    file = folder / "session.data"
    file.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return load(file, format)


def text_of(messages: Conversation) -> list[str]:
    return [str(block.get("text", next(iter(block)))) for each in messages for block in each["content"]]


@pytest.mark.parametrize("name", wild.FILES)
def test_every_format_tells_the_same_conversation(tmp_path: Path, name: str) -> None:
    format, content = wild.FILES[name]
    session = opened(tmp_path, content())
    assert (session.format, session.detected.certainty) == (format, "certain")
    plain: list[Any] = [{"role": each["role"], "content": each["content"]} for each in session.messages]
    if format == "gemini":
        # Ids are made up there, and what a tool answered is an object.
        assert [pair.ids for pair in tool_pairs(session.messages)] == [("call-1", "call-2")]
        for each, (_, _, text) in zip(plain[2]["content"], wild.CALLS, strict=True):
            assert each["toolResult"]["content"] == [{"json": {"output": text}}]
        assert plain[::3] == list(wild.CONVERSATION[::3])
    else:
        assert plain == list(wild.CONVERSATION)


def test_the_files_above_are_of_every_format_that_is_read() -> None:
    assert {format for format, _ in wild.FILES.values()} == {reader.name for reader in OWN}


@pytest.mark.parametrize("reader", [reader.name for reader in OWN])
@pytest.mark.parametrize("name", wild.FILES)
def test_a_file_read_as_another_format_is_a_session_or_one_clear_error(tmp_path: Path, reader: str, name: str) -> None:
    from tests.test_sessions_laws import opened as held

    file = tmp_path / "session.data"
    file.write_bytes(wild.FILES[name][1]())
    held(file, reader)


# What requests keep beside their messages.


def test_the_response_beside_a_request_is_a_view_and_its_usage_is_of_the_request(tmp_path: Path) -> None:
    choice = {"message": {"role": "assistant", "content": "fine"}}
    response = {"choices": [choice], "usage": {"prompt_tokens": 50, "completion_tokens": 2, "total_tokens": 52}}
    session = opened(tmp_path, {"model": "m", "messages": wild.chat_messages(), "response": response})
    assert session.reported_input_tokens == ((4, 50),)
    longer = session.with_view("with the response")
    assert longer.messages[:4] == session.messages
    assert longer.messages[4]["content"] == [{"text": "fine"}]
    assert longer.reported_input_tokens == ((4, 50),)


def test_system_messages_stay_and_a_view_is_without_them(tmp_path: Path) -> None:
    session = opened(tmp_path, [{"role": "system", "content": "be nice"}, *wild.chat_messages()])
    assert session.messages[0] == message("system", {"text": "be nice"})
    assert session.views["without system messages"] == wild.CONVERSATION


@pytest.mark.parametrize(
    ("raw", "read"),
    [
        ({"input_tokens": 5, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20}, 125),
        ({"input_tokens": 125, "output_tokens": 3, "total_tokens": 128, "cached_input_tokens": 100}, 125),
        ({"input_tokens": 25, "output_tokens": 3, "total_tokens": 128, "cached_input_tokens": 100}, 125),
        ({"input_tokens": 25, "output_tokens": 3, "total_tokens": 128, "input_tokens_cache_read": 100}, 125),
        ({"prompt_tokens": 125, "completion_tokens": 3, "cache_read_input_tokens": 100}, 125),
        ({"promptTokenCount": 125, "candidatesTokenCount": 3}, 125),
        ({"inputTokens": 125, "outputTokens": 3, "totalTokens": 128}, 125),
        ({"input_tokens": 0, "output_tokens": 0}, None),
        ({"input_tokens": True}, None),
        ({"input_tokens": 10**30}, None),
        ({"output_tokens": 3}, None),
        (None, None),
    ],
)
def test_reported_input_is_all_that_the_model_read(raw: Any, read: int | None) -> None:
    found = usage_of(raw)
    assert (found and found["inputTokens"]) == read


# Calls and answers.


def test_calls_and_answers_without_ids_are_paired_by_name_in_order(tmp_path: Path) -> None:
    contents = [
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": [{"functionCall": {"name": name, "args": {}}} for name in ("a", "b", "a")]},
        {"role": "function", "parts": [{"functionResponse": {"name": n, "response": {}}} for n in ("a", "a", "b")]},
    ]
    session = opened(tmp_path, contents)
    assert tool_result_ids(session.messages[2]) == ("call-1", "call-3", "call-2")


def test_a_call_stored_as_block_and_as_call_is_one_call(tmp_path: Path) -> None:
    call = {"name": "get", "args": {}, "id": "1", "type": "tool_call"}
    block = {"type": "tool_use", "id": "1", "name": "get", "input": {}}
    ai = {"type": "ai", "data": {"content": [{"type": "text", "text": "so"}, block], "tool_calls": [call]}}
    assert opened(tmp_path, [ai]).messages == (tool_use("1", text="so"),)


def test_arguments_that_are_no_json_stay_text_and_empty_ones_are_an_empty_object(tmp_path: Path) -> None:
    calls = [{"id": "1", "function": {"name": "a", "arguments": "{broken"}}, {"id": "2", "function": {"name": "b"}}]
    session = opened(tmp_path, [{"role": "assistant", "content": None, "tool_calls": calls}])
    assert [block["toolUse"]["input"] for block in session.messages[0]["content"]] == ["{broken", {}]
    assert any("arguments that are no JSON" in note.text for note in session.notes)


def test_results_of_the_users_own_tools_are_not_in_the_agents_view(tmp_path: Path) -> None:
    own = {"id": "u1", "name": "look", "arguments": {}, "requestor": "user"}
    raw = [
        {"role": "assistant", "content": "look, please", "tool_calls": None},
        {"role": "user", "content": None, "tool_calls": [own]},
        {"role": "tool", "id": "u1", "content": "on", "requestor": "user"},
        {"role": "user", "content": "it is on", "tool_calls": None},
    ]
    session = opened(tmp_path, {"task_id": "x", "messages": raw})
    assert len(session.messages) == 4
    assert session.views["agent's side"] == (assistant("look, please"), user("it is on"))


# Claude Code.


def envelope(uuid: str, parent: str | None, role: str, text: str, **more: Any) -> dict[str, Any]:
    head = {"uuid": uuid, "parentUuid": parent, "sessionId": "s", "type": role, "isSidechain": False}
    return {**head, "message": {"role": role, "content": text}, **more}


def boundary(uuid: str, before: str) -> dict[str, Any]:
    head = {"type": "system", "subtype": "compact_boundary", "uuid": uuid, "sessionId": "s"}
    return {**head, "parentUuid": None, "logicalParentUuid": before, "compactMetadata": {"trigger": "auto"}}


def test_before_and_after_a_recorded_compaction_are_views(tmp_path: Path) -> None:
    session = opened(tmp_path, wild.lines(
        envelope("1", None, "user", "one"), envelope("2", "1", "assistant", "two"), boundary("b", "2"),
        envelope("3", "b", "user", "what was said", isCompactSummary=True), envelope("4", "3", "assistant", "four"),
    ))  # fmt: skip
    assert {name: text_of(messages) for name, messages in session.views.items()} == {
        "live": ["what was said", "four"],
        "stored": ["one", "two", "what was said", "four"],
        "before compaction 1": ["one", "two"],
    }
    assert session.view == "live"


def test_a_branch_that_was_left_behind_is_not_live(tmp_path: Path) -> None:
    session = opened(tmp_path, wild.lines(
        envelope("1", None, "user", "one"), envelope("2", "1", "assistant", "wrong"),
        envelope("3", "1", "assistant", "right"), envelope("4", "3", "user", "thanks"),
    ))  # fmt: skip
    assert text_of(session.messages) == ["one", "right", "thanks"]
    assert text_of(session.views["every branch"]) == ["one", "wrong", "right", "thanks"]


def test_sidechains_are_views_and_repeated_lines_count_once(tmp_path: Path) -> None:
    main = [envelope("1", None, "user", "one"), envelope("2", "1", "assistant", "two")]
    side = [envelope(f"s{n}", f"s{n - 1}" if n else None, "user", f"side {n}", isSidechain=True) for n in range(2)]
    other = envelope("t", None, "user", "other", isSidechain=True)
    session = opened(tmp_path, wild.lines(*main, *side, *main, other, {"type": "mode", "sessionId": "s"}))
    assert {name: text_of(messages) for name, messages in session.views.items()} == {
        "main thread": ["one", "two"],
        "sidechain 1": ["side 0", "side 1"],
        "sidechain 2": ["other"],
    }
    notes = " ".join(map(str, session.notes))
    assert "a line whose uuid was there before (2 times" in notes
    assert "a line of type 'mode', which is no message" in notes


def test_a_chain_of_parents_in_a_circle_or_out_of_the_file_ends(tmp_path: Path) -> None:
    circle = [envelope("1", "2", "user", "one"), envelope("2", "1", "assistant", "two")]
    assert text_of(opened(tmp_path, wild.lines(*circle)).messages) == ["one", "two"]
    cut = [envelope("8", "7", "user", "before"), envelope("9", "elsewhere", "user", "after")]
    assert text_of(opened(tmp_path, wild.lines(*cut)).messages) == ["before", "after"]


# Codex.


def codex(kind: str, payload: Any) -> dict[str, Any]:
    return {"timestamp": "t", "type": kind, "payload": payload}


def said(role: str, text: str) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}


@pytest.mark.parametrize(
    ("payload", "live"),
    [
        ({"message": "", "replacement_history": [said("user", "kept"), said("user", "sum")]}, ["kept", "sum", "three"]),
        ({"message": "sum"}, ["sum", "three"]),
    ],
)
def test_a_compaction_of_codex_replaces_what_was_live(tmp_path: Path, payload: Any, live: list[str]) -> None:
    items = [codex("response_item", said(role, text)) for role, text in (("user", "one"), ("assistant", "two"))]
    after = codex("response_item", said("user", "three"))
    session = opened(tmp_path, wild.lines(*items, codex("compacted", payload), after))
    assert {name: text_of(messages) for name, messages in session.views.items()} == {
        "live": live,
        "stored": ["one", "two", "three"],
        "before compaction 1": ["one", "two"],
    }
    known = "replacement_history" in payload
    assert known != any("without its replacement" in note.text for note in session.notes)


@pytest.mark.parametrize("early", [True, False])
def test_a_token_count_goes_to_its_answer_whether_it_comes_before_or_after(tmp_path: Path, early: bool) -> None:
    found: list[dict[str, Any]] = []
    for turn in range(3):
        found.append(codex("response_item", said("user", f"question {turn}")))
        usage = {"input_tokens": 100 * (turn + 1), "output_tokens": 1, "total_tokens": 100 * (turn + 1) + 1}
        count = codex("event_msg", {"type": "token_count", "info": {"last_token_usage": usage}})
        answer = codex("response_item", said("assistant", f"answer {turn}"))
        found += [count, answer] if early else [answer, count]
    assert opened(tmp_path, wild.lines(*found)).reported_input_tokens == ((1, 100), (3, 200), (5, 300))


# Inspect.


def test_attachments_are_resolved_once_and_missing_ones_are_kept(tmp_path: Path) -> None:
    first, second = "attachment://" + "a" * 32, "attachment://" + "b" * 32
    texts = {"a" * 32: f"one {second}", "b" * 32: f"two {first}"}
    raw = [{"role": "user", "content": f"see {first} and attachment://{'c' * 32}"}]
    log = {"eval": {}, "samples": [{"id": 1, "messages": raw, "attachments": texts}]}
    session = opened(tmp_path, log)
    assert text_of(session.messages) == [f"see one {second} and attachment://{'c' * 32}"]
    assert any("an attachment that is not there" in note.text for note in session.notes)


def test_each_sample_is_a_view_and_the_longest_is_shown(tmp_path: Path) -> None:
    asked, answered = {"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}
    short = {"id": "a", "epoch": 1, "messages": [asked]}
    long = {"id": "a", "epoch": 2, "messages": [asked, answered]}
    session = opened(tmp_path, {"eval": {}, "samples": [short, long, 7]})
    assert list(session.views) == ["sample a epoch 1", "sample a epoch 2", "samples[2]"]
    assert session.view == "sample a epoch 2"


# OpenTelemetry.


def span(number: int, **attributes: Any) -> dict[str, Any]:
    named = {key.replace("__", "."): value for key, value in attributes.items()}
    return {"trace_id": "t", "span_id": str(number), "start_time": number, "attributes": named}


def spoken(*texts: str) -> str:
    return json.dumps([{"role": "user", "parts": [{"type": "text", "content": text}]} for text in texts])


def test_a_span_that_holds_less_than_the_one_before_makes_a_view_of_what_was_there(tmp_path: Path) -> None:
    histories = [("a",), ("a", "b"), ("a", "b", "c"), ("c", "d")]
    session = opened(tmp_path, [
        span(at, gen_ai__conversation__id="x", gen_ai__input__messages=spoken(*texts))
        for at, texts in enumerate(histories)
    ])  # fmt: skip
    assert {name: text_of(messages) for name, messages in session.views.items()} == {
        "conversation": ["c", "d"],
        "conversation, before eviction 1": ["a", "b", "c"],
    }


def test_events_of_the_older_conventions_are_read_as_strands_emits_them(tmp_path: Path) -> None:
    def event(name: str, **attributes: Any) -> dict[str, Any]:
        return {"name": name, "attributes": attributes}

    events = [
        event("gen_ai.user.message", content=json.dumps([{"text": "hi"}])),
        event("gen_ai.assistant.message", content=json.dumps([use_block("1")])),
        event("gen_ai.tool.message", content=json.dumps([result_block("1")]), id="1"),
        event("gen_ai.choice", message=json.dumps([{"text": "ok"}]), finish_reason="end_turn"),
    ]
    session = opened(tmp_path, [{"span_id": "1", "attributes": {}, "events": events}])
    assert session.messages == (user("hi"), tool_use("1"), tool_result("1"), assistant("ok"))
