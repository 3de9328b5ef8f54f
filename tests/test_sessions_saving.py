"""Saving: what is saved loads back the same, or the list of losses says what does not. Nothing is overwritten."""

import json
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxlab.messages import Block, Conversation, Message
from ctxlab.sessions import Session, load, save
from ctxlab.sessions.saving import FORMATS
from tests.builders import (
    assistant,
    image,
    message,
    pinned,
    result_block,
    review,
    tool_result,
    tool_use,
    use_block,
    user,
)
from tests.conftest import need
from tests.strategies import conversations, texts, well_formed_conversations

LOSSLESS = ("messages", "strands-session")
NOT_CHAT = {"messages", "converse", "anthropic"}
PICTURE = b"\x89PNG\r\n\x1a\n-not-really"


def saved(messages: Any, format: str) -> tuple[Conversation, tuple[str, ...]]:
    """What loads back, and the losses in words."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "talk.json" if format != "strands-session" else "storage")
        losses = save(messages, path, format)
        return load(path, format).messages, tuple(str(loss) for loss in losses)


@given(well_formed_conversations(pins=True), st.sampled_from(LOSSLESS))
def test_the_formats_of_strands_hold_every_well_formed_conversation(messages: Conversation, format: str) -> None:
    again, losses = saved(messages, format)
    assert again == messages
    assert losses == ()


@settings(max_examples=50)
@given(conversations(max_turns=3), st.sampled_from(FORMATS))
def test_where_no_loss_is_told_the_same_conversation_loads_back(messages: Conversation, format: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "talk.json" if format != "strands-session" else "storage")
        losses = save(messages, path, format)
        if not losses and messages:
            assert load(path, format).messages == messages
        # Saving what was loaded changes nothing more, or says so.
        if messages:
            first = load(path, format)
            second = Path(folder, "again.json" if format != "strands-session" else "again")
            more = save(first, second, format)
            if not more:
                assert load(second, format).messages == first.messages


@st.composite
def plain_conversations(draw: st.DrawFn) -> Conversation:
    """Conversations of what every vendor has: texts, calls with objects, results of one text, pictures of the user."""
    spoken = texts().filter(bool)
    made: list[Message] = []
    for turn in range(draw(st.integers(1, 4))):
        picture = [image(PICTURE, draw(st.sampled_from(["png", "jpeg", "gif"])))] if draw(st.booleans()) else []
        made.append(message("user", {"text": draw(spoken)}, *picture))
        ids = [f"{turn}-{call}" for call in range(draw(st.integers(0, 3)))]
        if ids:
            arguments = draw(st.dictionaries(st.text(max_size=5), st.text(max_size=9) | st.integers() | st.none()))
            calls = [use_block(each, input=arguments) for each in ids]
            made.append(message("assistant", {"text": draw(spoken)}, *calls))
            made.append(message("user", *(result_block(each, draw(spoken)) for each in ids)))
        made.append(assistant(draw(spoken)))
    return tuple(made)


@given(plain_conversations(), st.sampled_from(FORMATS))
def test_what_every_vendor_has_is_held_by_every_format(messages: Conversation, format: str) -> None:
    again, losses = saved(messages, format)
    assert again == messages
    assert losses == ()


@settings(max_examples=50)
@given(plain_conversations(), st.lists(st.sampled_from(FORMATS), min_size=2, max_size=4))
def test_a_conversation_goes_through_several_formats_and_stays_what_it_was(
    messages: Conversation, formats: list[str]
) -> None:
    for format in formats:
        again, losses = saved(messages, format)
        assert (again, losses) == (messages, ())


@pytest.mark.parametrize(
    ("block", "held"),
    [
        ({"reasoningContent": {"reasoningText": {"text": "so", "signature": "s1g"}}}, NOT_CHAT),
        ({"reasoningContent": {"redactedContent": b"sealed"}}, NOT_CHAT),
        (image(PICTURE), set(FORMATS)),
        ({"image": {"format": "png", "source": {"url": "https://a.org/b.png"}}}, set(FORMATS)),
        ({"document": {"format": "pdf", "name": "r", "source": {"bytes": b"%PDF"}}}, set(FORMATS)),
        ({"document": {"format": "docx", "name": "r", "source": {"bytes": b"PK"}}}, set(FORMATS)),
        ({"cachePoint": {"type": "default"}}, NOT_CHAT),
        ({"video": {"format": "mp4", "source": {"bytes": b"v"}}}, {"messages", "converse"}),
        ({"server_tool_use": {"id": "1", "name": "search"}}, {"messages", "anthropic"}),
        ({"text": "cited", "citations": [{"url": "a"}]}, NOT_CHAT),
        (result_block("1", [{"json": {"a": 1}}]), {"messages", "converse"}),
        (result_block("1", [image(PICTURE), {"text": "x"}]), NOT_CHAT),
        (result_block("1", "x", status="error"), NOT_CHAT),
        (result_block("1", []), set(FORMATS)),
        (use_block("1", input="free text"), set(FORMATS)),
        (use_block("1", input='{"a": 1}'), {"messages", "converse", "openai-chat"}),
        (use_block("1", input={"raw": b"bytes"}), {"messages"}),
    ],
)
def test_each_kind_of_block_is_held_or_told_as_lost(block: Block, held: set[str]) -> None:
    role = "assistant" if {"toolUse", "reasoningContent", "server_tool_use"} & block.keys() else "user"
    first = [] if "toolResult" in block else [{"text": "here: "}]
    messages = (user("hi"), message(role, *first, block), assistant("ok"))
    for format in FORMATS:
        again, losses = saved(messages, format)
        assert (again == messages) == (losses == ())
        assert (losses == ()) == (format in held or format == "strands-session"), (format, losses)


def test_losses_say_what_and_where() -> None:
    said = message("assistant", use_block("1"), {"text": "after"})
    talk = (pinned(user("hi")), said, tool_result("1", status="error"))
    _, losses = saved(talk, "openai-chat")
    assert losses == (
        "lost: messages[0]: metadata of a message",
        "lost: messages[1]: the order of calls and what is said between them",
        "lost: messages[2]: that a tool failed",
    )
    _, losses = saved((message("system", {"text": "be nice"}), user("hi")), "anthropic")
    assert "a system message, written as 'system'" in losses[0]


def test_what_openai_and_anthropic_read_is_what_their_own_packages_accept(tmp_path: Path) -> None:
    from anthropic.types import MessageParam
    from openai.types.chat import ChatCompletionMessageParam
    from pydantic import TypeAdapter

    answers = message("user", result_block("1"), result_block("2"))
    talk = (user("hi"), tool_use("1", "2", text="look"), answers, assistant("ok"))
    for format, model in (("anthropic", MessageParam), ("openai-chat", ChatCompletionMessageParam)):
        save(talk, tmp_path / format, format)
        written = json.loads((tmp_path / format).read_text())["messages"]
        adapter: TypeAdapter[Any] = TypeAdapter(list[model])  # type: ignore[valid-type]  # a type chosen at run time
        assert len(adapter.validate_python(written)) == (4 if format == "anthropic" else 5)


def test_a_saved_folder_is_restored_by_the_sdk(tmp_path: Path) -> None:
    need(find_spec("strands"), "strands-agents is not installed")
    from strands import Agent
    from strands.session.file_session_manager import FileSessionManager

    talk = (user("hi"), *review()[1:7], message("user", {"text": "and this?"}, image(PICTURE)))
    save(Session.of(talk, "my talk"), tmp_path / "storage", "strands-session")
    manager = FileSessionManager("my-talk", storage_dir=str(tmp_path / "storage"))
    assert Agent(agent_id="default", session_manager=manager, callback_handler=None).messages == list(talk)


@pytest.mark.parametrize("format", FORMATS)
def test_nothing_that_is_there_is_overwritten(tmp_path: Path, format: str) -> None:
    path = tmp_path / "session_talk"
    save(review(), path, format)
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    with pytest.raises(FileExistsError):
        save([user("other")], path, format)
    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before


def test_a_link_to_nowhere_is_something_too(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileExistsError):
        save(review(), tmp_path / "link", "messages")
    assert not (tmp_path / "nowhere").exists()


def test_an_unknown_format_and_values_that_json_cannot_hold_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no format 'yaml' to write; there is 'messages'"):
        save(review(), tmp_path / "a", "yaml")
    for format in FORMATS:
        with pytest.raises(ValueError, match="what JSON cannot"):
            save([tool_use("1", input={"when": {1, 2}})], tmp_path / "b", format)
    assert list(tmp_path.iterdir()) == []


def test_half_a_surrogate_pair_and_data_that_looks_like_bytes_are_told(tmp_path: Path) -> None:
    for format in FORMATS:
        _, losses = saved([user("a\ud83e"), assistant("b")], format)
        assert "half of a surrogate pair" in losses[0]
    _, losses = saved([tool_use("1", input={"__bytes_encoded__": True, "data": "aGk="})], "messages")
    assert "looks like encoded bytes" in losses[0]


@pytest.mark.parametrize("format", FORMATS)
def test_recorded_sessions_are_saved_with_every_loss_told(shared: Path, format: str) -> None:
    for name in ("claude_code__dk", "codex__", "tau_bench__", "langchain__", "strands__ron", "derived_converse__pi"):
        messages = load(next(shared.glob(f"sessions/{name}*"))).messages
        again, losses = saved(messages, format)
        assert losses or again == messages
        if format in LOSSLESS:
            assert losses == ()
