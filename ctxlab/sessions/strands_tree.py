"""Where the agents of a Strands FileSessionManager folder are: from the storage, session, agent or messages folder.

Looks at names only; what is inside the files is read by ``strands_folder``.
"""

import re
from dataclasses import dataclass
from itertools import pairwise

from ctxlab.sessions.archive import Place
from ctxlab.sessions.disk import Listing, look
from ctxlab.sessions.notebook import NoteBook
from ctxlab.sessions.session import SessionFormatError

MESSAGE_NAME = "message_{}.json"
MESSAGE_FILE = re.compile(r"message_(\d+)\.json", re.ASCII)
_LINK = "a symbolic link, not followed"


@dataclass(frozen=True, slots=True)
class AgentFolder:
    """One agent: its messages folder, and (number, file name) of its messages in the order of the SDK."""

    folder: Place
    messages: Place
    files: tuple[tuple[int, str], ...]

    @property
    def name(self) -> str:
        """The agent id as the folder name has it."""
        return self.folder.name.removeprefix("agent_")


@dataclass(frozen=True, slots=True)
class Tree:
    """What a path turned out to be ("storage", "session", "agent" or "messages" folder), and the agents in it."""

    kind: str
    session: Place | None
    agents: tuple[AgentFolder, ...]


def find_tree(folder: Place, book: NoteBook) -> Tree | None:
    """Find the agents below, or around, a folder; None where it is no Strands session.

    Raises:
        SessionFormatError: a folder cannot be listed, or is a storage folder of several sessions.
    """
    here = look(folder)
    if any(MESSAGE_FILE.fullmatch(name) for name in here.files):
        # The path may be a link or relative: its real parents are the agent and the session.
        real = folder.resolve()
        return Tree("messages", _session_of(real.parent), (_agent(real.parent, real, book),))
    if "messages" in here.folders and ("agent.json" in here.files or _holds_messages(folder / "messages")):
        return Tree("agent", _session_of(folder.resolve()), (_agent(folder, folder / "messages", book),))
    if "messages" in here.links and "agent.json" in here.files:
        raise _linked(folder / "messages")
    if _is_session(here):
        return Tree("session", folder, _agents(folder, book))
    sessions = [name for name in here.folders if name.startswith("session_") and _is_session(look(folder / name))]
    if len(sessions) > 1:
        listed = ", ".join(sessions[:8]) + (f" and {len(sessions) - 8} more" if len(sessions) > 8 else "")
        raise SessionFormatError(folder, "", f"{len(sessions)} sessions are in here: {listed}", "Give one of them.")
    if sessions:
        return Tree("storage", folder / sessions[0], _agents(folder / sessions[0], book))
    return None


def note_leftovers(agent: AgentFolder, book: NoteBook) -> None:
    """Note what lies in a messages folder beside its messages."""
    here = look(agent.messages)
    for name in here.links:
        book.add("skipped", _LINK, name)
    for name in (*here.folders, *here.others):
        book.add("skipped", "not a regular file", name)
    for name in here.files:
        if name.startswith(".strands_") and name.endswith(".tmp"):
            book.add("skipped", "a temporary file that an interrupted write left behind", name)
        elif not MESSAGE_FILE.fullmatch(name):
            book.add("skipped", "a file that is no message_N.json", name)
    numbers = [number for number, _ in agent.files]
    for before, after in pairwise(numbers):
        if after > before + 1:
            book.add("read", "a gap in the message numbers", f"after {MESSAGE_NAME.format(before)}")
        elif after == before:
            book.add("read", "two files for one message number, both read", MESSAGE_NAME.format(after))
    if numbers and numbers[0] > 0:
        book.add("read", "the first messages are not there", f"starts with {MESSAGE_NAME.format(numbers[0])}")


def _is_session(here: Listing) -> bool:
    return "agents" in here.folders or ("session.json" in here.files and "agents" in here.links)


def _session_of(agent: Place) -> Place | None:
    session = agent.parent.parent
    return session if agent.parent.name == "agents" and session.name.startswith("session_") else None


def _holds_messages(folder: Place) -> bool:
    return any(MESSAGE_FILE.fullmatch(name) for name in look(folder).files)


def _agents(session: Place, book: NoteBook) -> tuple[AgentFolder, ...]:
    here = look(session)
    if "agents" in here.links:
        raise _linked(session / "agents")
    if "multi_agents" in here.folders and look(session / "multi_agents").folders:
        book.add("skipped", "the state of a graph or swarm, which holds no messages", "multi_agents")
    found = []
    below = look(session / "agents")
    for name in below.links:
        book.add("skipped", _LINK, f"agents/{name}")
    for name in below.folders:
        inside = look(session / "agents" / name)
        if "messages" in inside.links:
            book.add("skipped", _LINK, f"agents/{name}/messages")
        elif "messages" in inside.folders:
            found.append(_agent(session / "agents" / name, session / "agents" / name / "messages", book))
        else:
            book.add("skipped", "an agent without a messages folder", f"agents/{name}")
    return tuple(found)


def _agent(folder: Place, messages: Place, book: NoteBook) -> AgentFolder:
    names = (MESSAGE_FILE.fullmatch(name) for name in look(messages).files)
    return AgentFolder(folder, messages, tuple(sorted((int(name[1]), name[0]) for name in names if name)))


def _linked(path: Place) -> SessionFormatError:
    return SessionFormatError(path, "", _LINK, "Load its target by its own path.")
