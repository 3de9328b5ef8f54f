"""Laws of loading: whatever lies on disk, a session or one clear error comes out, and the disk stays as it was."""

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from ctxlab.messages import KINDS, Conversation
from ctxlab.sessions import Session, SessionFormatError, load
from ctxlab.sessions.registry import OWN
from tests.builders import review
from tests.strategies import well_formed_conversations

FORMATS = tuple(reader.name for reader in OWN)

# Words that the readers look for, so that random structure gets past the detector.
KEYS = st.sampled_from([
    *KINDS, "role", "content", "messages", "message", "metadata", "toolUseId", "name", "input", "type", "parts", "json",
    "redact_message", "message_id", "scope", "schema_version", "data", "modelId", "source", "bytes", "usage", "system",
    "inputTokens", "custom", "pinned", "__bytes_encoded__", "conversation_manager_state", "removed_message_count",
    "summary_message", "agent_id", "__name__", "created_at", "status", "id", "parts", "kind", "tool_calls", "function",
    "arguments", "call_id", "output", "payload", "timestamp", "uuid", "parentUuid", "isSidechain", "eval", "samples",
    "attributes", "events", "attachments", "kwargs", "lc", "image", "url", "cache_control", "traj", "input",
])  # fmt: skip
WORDS = st.sampled_from([
    "user", "assistant", "1.0", "tool", "system", "model", "text", "tool_use", "tool_result", "message",
    "function_call", "function_call_output", "response_item", "compacted", "human", "ai", "thinking", "image",
    "compact_boundary",
])  # fmt: skip
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), WORDS)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(max_size=3), inner, max_size=5)
)
BLOCKS = st.dictionaries(st.sampled_from(KINDS), VALUES, min_size=1, max_size=2)
RESULTS = st.fixed_dictionaries({}, optional={"toolUseId": VALUES, "content": st.lists(VALUES | BLOCKS) | VALUES})
TOOL_BLOCKS = st.fixed_dictionaries({"toolResult": RESULTS})
CONTENTS = st.lists(BLOCKS | TOOL_BLOCKS | VALUES) | VALUES
MESSAGES = st.fixed_dictionaries(
    {"role": WORDS | VALUES, "content": CONTENTS},
    optional={"metadata": VALUES, "tracking_id": VALUES, "redact_message": VALUES},
)
LISTS = st.lists(MESSAGES | VALUES, max_size=5)
DOCUMENTS = st.one_of(
    VALUES,
    LISTS,
    st.fixed_dictionaries({"messages": LISTS}, optional={"modelId": VALUES, "system": VALUES}),
    st.fixed_dictionaries({
        "scope": st.just("agent"),
        "schema_version": st.sampled_from(["1.0", "2.0"]),
        "data": st.fixed_dictionaries({"messages": LISTS}, optional={"conversation_manager_state": VALUES}),
    }),
)  # fmt: skip


def opened(path: Path, format: str | None = None) -> Session | None:
    """Load and hold the session against the promise; None where it was refused."""
    session = loaded(path, format)
    if isinstance(session, SessionFormatError):
        refusal = session
        assert path.name in str(refusal)
        assert refusal.reason
        return None
    for messages in session.views.values():
        keeps_the_promise(messages)
    assert len(session.notes) < 60
    assert all("\n" not in str(note) and str(note).isprintable() for note in session.notes)
    assert session.reported_input_tokens is not None
    return session


def loaded(path: Path, format: str | None) -> Session | SessionFormatError:
    try:
        return load(path, format)
    except SessionFormatError as refusal:
        return refusal


def keeps_the_promise(messages: Conversation) -> None:
    for message in messages:
        assert isinstance(message, dict)
        assert isinstance(message["role"], str)
        assert isinstance(message["content"], list)
        assert isinstance(message.get("metadata", {}), dict)
        for block in message["content"]:
            keeps_the_promise_of_a_block(block)


def keeps_the_promise_of_a_block(block: Any) -> None:
    assert isinstance(block, dict)
    for key in set(KINDS) & block.keys():
        assert isinstance(block[key], str if key == "text" else dict)
    for kind in ("toolUse", "toolResult"):
        assert isinstance(block.get(kind, {}).get("toolUseId", ""), str)
    if "toolResult" in block:
        assert isinstance(block["toolResult"]["content"], list)
        for item in block["toolResult"]["content"]:
            keeps_the_promise_of_a_block(item)


def stored(value: Any) -> str:
    """JSON as Strands stores it, with bytes encoded."""
    return json.dumps(
        value, default=lambda data: {"__bytes_encoded__": True, "data": base64.b64encode(data).decode()}
    )  # fmt: skip


def write_folder(
    storage: Path, messages: Conversation | list[Any], state: Any = None, agent: str = "default", session: str = "s"
) -> Path:
    """Write messages as a FileSessionManager does, numbered from 0; ``state`` is the conversation manager's."""
    state = {"__name__": "SlidingWindowConversationManager", "removed_message_count": 0} if state is None else state
    folder = storage / f"session_{session}"
    inside = folder / "agents" / f"agent_{agent}"
    (inside / "messages").mkdir(parents=True)
    (folder / "session.json").write_text(json.dumps({"session_id": session, "session_type": "AGENT"}))
    (inside / "agent.json").write_text(stored({"agent_id": agent, "conversation_manager_state": state}))
    for number, message in enumerate(messages):
        record = {"message": message, "message_id": number, "redact_message": None}
        (inside / "messages" / f"message_{number}.json").write_text(stored(record))
    return folder


def everything_below(folder: Path) -> Mapping[str, tuple[int, bytes]]:
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"") for path in folder.rglob("*")
    }


@given(st.binary(max_size=200), st.sampled_from((None, *FORMATS)))
@example(b"", None)
@example(b"\xef\xbb\xbf", None)
@example(b"\xff\xfe[\x00", None)
@example(b"\x00", None)
def test_any_bytes_give_a_session_or_one_clear_error(data: bytes, format: str | None) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder, "session.json")
        file.write_bytes(data)
        opened(file, format)
        assert file.read_bytes() == data


@given(st.data())
def test_a_damaged_file_gives_a_session_or_one_clear_error(data: st.DataObject) -> None:
    whole = data.draw(st.sampled_from([
        stored(review()), stored({"messages": review()}), "\n".join(map(stored, review())),
    ])).encode()  # fmt: skip
    start = data.draw(st.integers(0, len(whole)))
    stop = data.draw(st.integers(start, min(len(whole), start + 20)))
    damaged = whole[:start] + data.draw(st.binary(max_size=10)) + whole[stop:]
    with TemporaryDirectory() as folder:
        file = Path(folder, "session.json")
        file.write_bytes(damaged)
        opened(file)


@given(DOCUMENTS, st.sampled_from((None, *FORMATS)))
@example([{"role": [], "content": ""}], None)
def test_any_json_gives_a_session_of_the_promised_shape_or_one_clear_error(document: Any, format: str | None) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder, "session.json")
        file.write_text(json.dumps(document))
        opened(file, format)


@given(st.lists(MESSAGES | VALUES, max_size=5), st.sampled_from((None, "jsonl")))
def test_any_json_lines_give_a_session_of_the_promised_shape_or_one_clear_error(
    lines: list[Any], format: str | None
) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder, "session.jsonl")
        file.write_text("\n".join(map(json.dumps, lines)))
        opened(file, format)


@given(st.lists(MESSAGES | VALUES, max_size=4), VALUES, VALUES)
def test_a_folder_of_any_json_gives_a_session_or_one_clear_error_and_stays_as_it_was(
    messages: list[Any], state: Any, session_file: Any
) -> None:
    with TemporaryDirectory() as folder:
        session = write_folder(Path(folder), messages, state)
        (session / "session.json").write_text(json.dumps(session_file))
        before = everything_below(Path(folder))
        opened(session)
        opened(Path(folder), "strands-session")
        assert everything_below(Path(folder)) == before


@given(well_formed_conversations(pins=True))
def test_a_written_folder_loads_back_equal(messages: Conversation) -> None:
    with TemporaryDirectory() as folder:
        session = load(write_folder(Path(folder), messages))
        assert session.messages == messages
        assert session.views == {"live": messages, "stored": messages}
        assert not [note for note in session.notes if note.kind != "read"]


@given(well_formed_conversations(pins=True), st.sampled_from(["list", "request", "lines", "wrapped", "snapshot"]))
def test_a_written_file_loads_back_equal(messages: Conversation, layout: str) -> None:
    text = {
        "list": lambda: stored(messages),
        "request": lambda: stored({"messages": messages}),
        "lines": lambda: "".join(stored(message) + "\r\n" for message in messages),
        "wrapped": lambda: "\n".join(stored({"message": message}) for message in messages),
        "snapshot": lambda: stored({"scope": "agent", "schema_version": "1.0", "data": {"messages": messages}}),
    }[layout]()
    with TemporaryDirectory() as folder:
        file = Path(folder, "session.json")
        file.write_text(text)
        session = load(file)
        assert session.messages == messages
        assert not [note for note in session.notes if note.kind != "read"]


@given(well_formed_conversations(), st.integers(-3, 30))
def test_live_and_stored_differ_by_what_was_removed_from_the_front(messages: Conversation, removed: int) -> None:
    state = {"__name__": "SlidingWindowConversationManager", "removed_message_count": removed}
    with TemporaryDirectory() as folder:
        session = load(write_folder(Path(folder), messages, state))
        assert session.views["stored"] == messages
        assert session.views["live"] == messages[removed:]
        assert session.removed_message_count == removed
