"""The session folder of the Strands FileSessionManager (and a synced copy of an S3 one): what is stored, what is live.

*Stored* is every message on disk. *Live* is what a restart puts together, by the rules of the SDK's
RepositorySessionManager: the first ``removed_message_count`` files are passed over, and the summary of a summarizing
manager goes first. What the SDK rewrites after that is noted, not done.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ctxlab.messages import Conversation, Message, has_pinned_flag, has_tool_result, has_tool_use
from ctxlab.messages import tool_result_ids as result_ids
from ctxlab.messages import tool_use_ids as use_ids
from ctxlab.sessions.disk import size_below
from ctxlab.sessions.jsontext import JsonReader
from ctxlab.sessions.lines import unwrap
from ctxlab.sessions.meter import Meter
from ctxlab.sessions.notebook import NoteBook
from ctxlab.sessions.reader import Reader, Reading
from ctxlab.sessions.session import Claim, SessionFormatError, View, count, plain
from ctxlab.sessions.shape import conversation
from ctxlab.sessions.shape import message as shaped
from ctxlab.sessions.source import Source, read_json
from ctxlab.sessions.strands_tree import AgentFolder, Tree, find_tree, note_leftovers

# These restore nothing but the count; a summary in their state is not theirs.
_WITHOUT_SUMMARY = ("SlidingWindowConversationManager", "NullConversationManager")
# ctxlab's own manager: its state holds the messages that are live otherwise than they are stored.
_KEEPS_FRONT = "CtxlabConversationManager"


@dataclass(frozen=True, slots=True)
class _State:
    """What agent.json says about the conversation; ``removed`` is None where it cannot be known.

    ``front`` goes before what is stored behind the removed ones: a summary, or what ctxlab's own manager keeps there.
    """

    agent_id: str
    manager: str | None = None
    removed: int | None = None
    front: Conversation = ()


def rewritten_at_restore(messages: Sequence[Message]) -> tuple[int, ...]:
    """Return the indices where the SDK rewrites tool blocks when it restores these messages.

    A user message with toolResults after a message without toolUse; and a message with toolUses, not the last, whose
    next message does not answer exactly the same set of ids. Source: 1.62.0, ``_fix_broken_tool_use`` (#859).
    """
    found = []
    for index, message in enumerate(messages):
        orphaned = index == 0 or not has_tool_use(messages[index - 1])
        if (message["role"] == "user" and has_tool_result(message) and orphaned) or (
            index < len(messages) - 1
            and has_tool_use(message)
            and set(use_ids(message)) != set(result_ids(messages[index + 1]))
        ):
            found.append(index)
    return tuple(found)


def _recognise(source: Source) -> Claim | None:
    tree = find_tree(source.place, NoteBook()) if source.folder else None
    return Claim(f"a Strands {tree.kind} folder", "certain") if tree else None


def _read(source: Source) -> Reading:
    tree = find_tree(source.place, source.book) if source.folder else None
    if tree is None:
        missing = "no session_*, agents/agent_* or message_N.json is in here"
        raise SessionFormatError(source.path, "top level", missing, "Give the session folder.")
    agents = sorted((agent for agent in tree.agents if agent.files), key=lambda agent: -len(agent.files))
    if not agents:
        raise SessionFormatError(source.path, "", "the session holds no messages", "Was it ever used?")
    if len(agents) > 1:
        listed = ", ".join(f"{agent.name} ({len(agent.files)})" for agent in agents[:6])
        text = f"{len(agents)} agents are in here; shown first is the one with the most messages, the others are views"
        source.book.add("read", text, listed)
    if source.meter.watched and not source.meter.total:
        source.meter.total = sum(size_below(agent.messages) for agent in agents)
    views: dict[str, View] = {}
    for number, agent in enumerate(agents):
        prefix = f"{plain(agent.name)}: " if number else ""
        try:
            views |= {f"{prefix}{name}": view for name, view in _views(agent, source).items()}
        except SessionFormatError as fault:
            if number == 0:
                raise
            source.book.add("skipped", "another agent whose messages cannot be read", f"{agent.name} ({fault.reason})")
    # A live view without messages would leave nothing to look at.
    first = next((name for name, view in views.items() if view.messages), next(iter(views)))
    return Reading(_name(tree, agents), views, first)


def _views(agent: AgentFolder, source: Source) -> dict[str, View]:
    book = source.book
    note_leftovers(agent, book)
    slots = _slots(agent, book, source.meter)
    stored = tuple(message for message in slots if message is not None)
    state = _state(agent, book)
    about = f"the {count(len(stored), 'message')} on disk"
    everything = View(stored, about, state.agent_id, state.manager, state.removed or 0)
    if state.removed is None:
        return {"stored": everything}
    kept = tuple(message for message in slots[state.removed :] if message is not None)
    live = (*state.front, *kept)
    if state.removed and state.manager != _KEEPS_FRONT and any(map(has_pinned_flag, stored)):
        text = "pins with messages removed: a restart counts from the front, so it may not be what was live (#4027)"
        book.add("read", text, agent.name)
    for index in rewritten_at_restore(live):
        text = "tool blocks without their partner: the SDK rewrites them when it restores this; shown as stored"
        book.add("read", text, f"live messages[{index}]")
    about = _about_live(len(stored), len(kept), state)
    return {"live": View(live, about, state.agent_id, state.manager, state.removed), "stored": everything}


def _about_live(stored: int, kept: int, state: _State) -> str:
    if state.manager == _KEEPS_FRONT:
        return f"what a restart restores: {count(len(state.front), 'message')} as it was live, and {kept} as stored"
    behind = " behind the summary" if state.front else ""
    part = "all of it" if kept == stored else f"the last {kept} of {count(stored, 'stored message')}"
    return f"what a restart restores: {part}{behind}; texts that were cut in memory only are whole here (#5690)"


def _slots(agent: AgentFolder, book: NoteBook, meter: Meter) -> list[Message | None]:
    """Read every message file; None keeps the place of one that cannot be read, for the SDK counts files."""
    parser = JsonReader(book)
    slots: list[Message | None] = []
    first_fault: SessionFormatError | None = None
    for _, name in agent.files:
        try:
            stored = read_json(agent.messages / name, parser, book, name, meter)
            slots.append(shaped(unwrap(stored, name, book), name, book))
        except SessionFormatError as fault:
            first_fault = first_fault or fault
            text = "a message file that cannot be read, left out; the SDK refuses to restore this session"
            book.add("skipped", text, f"{name} ({fault.reason})")
            slots.append(None)
    if all(slot is None for slot in slots):
        raise first_fault or SessionFormatError(agent.messages, "", "none of its files holds a message")
    return slots


def _state(agent: AgentFolder, book: NoteBook) -> _State:
    unknown = "so how many messages were removed is not known; only what is stored is shown"
    try:
        record = read_json(agent.folder / "agent.json", JsonReader(book), book, "agent.json")
    except SessionFormatError as fault:
        book.add("skipped", f"agent.json cannot be read, {unknown}", f"{agent.name} ({fault.reason})")
        return _State(agent.name)
    found = record if isinstance(record, dict) else {}
    agent_id = found["agent_id"] if isinstance(found.get("agent_id"), str) else agent.name
    state = found.get("conversation_manager_state")
    if not isinstance(state, dict):
        book.add("read", f"no conversation_manager_state, {unknown}", "agent.json")
        return _State(agent_id)
    manager = state["__name__"] if isinstance(state.get("__name__"), str) else None
    removed = state.get("removed_message_count")
    if not isinstance(removed, int):
        book.add("read", f"no removed_message_count, {unknown}", "agent.json")
        return _State(agent_id, manager)
    if not 0 <= removed <= len(agent.files):
        text = f"removed_message_count does not fit the {len(agent.files)} stored messages; applied as the SDK does"
        book.add("read", text, f"agent.json ({str(removed)[:40]})")
    return _State(agent_id, manager, removed, _front(state, manager, book))


def _front(state: dict[str, Any], manager: str | None, book: NoteBook) -> Conversation:
    if manager == _KEEPS_FRONT and isinstance(state.get("front"), list):
        return conversation(((f"agent.json front[{index}]", raw) for index, raw in enumerate(state["front"])), book)
    raw = state.get("summary_message")
    if not raw:
        return ()
    where = "agent.json summary_message"
    if manager in _WITHOUT_SUMMARY:
        book.add("skipped", "a summary that this conversation manager does not restore", where)
        return ()
    return conversation([(where, raw)], book)


def _name(tree: Tree, agents: Sequence[AgentFolder]) -> str:
    session = tree.session.resolve().name.removeprefix("session_") if tree.session else agents[0].folder.resolve().name
    return f"{session} ({agents[0].name})" if tree.session else session


FOLDER = Reader("strands-session", "a Strands FileSessionManager folder", _recognise, _read)
