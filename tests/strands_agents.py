"""Real agents for the tests of `ctxlab.strands`: a scripted model that refuses above its window, and real tools."""

import copy
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ctxlab.messages import Conversation
from tests.conftest import need

if not find_spec("strands"):
    need(False, "strands-agents is not installed (pip install 'ctxlab[strands]')")

from strands import Agent, tool
from strands.session import FileSessionManager

from ctxlab.strands import Reply, ScriptedModel


@tool
def look(lines: int) -> str:
    """Look at the log."""
    return "\n".join(f"line {number}: nothing of note happened here" for number in range(lines))


class Impatient(ScriptedModel):
    """Gives up on an agent that calls again and again: the SDK's managers reduce for ever here and there (#3338)."""

    patience = 12

    async def stream(self, *arguments: Any, **options: Any) -> Any:
        if self.refused >= self.patience:
            raise RuntimeError("called too often")
        async for event in super().stream(*arguments, **options):
            yield event


def looks(*lines: int) -> list[Reply | str]:
    """A script: for each number, a call of the tool that answers with as many lines, and then an answer."""
    return [part for number in lines for part in (Reply(calls=(("look", {"lines": number}),)), "I have seen it.")]


def agent_of(
    manager: Any,
    model: Any,
    messages: Sequence[Any] = (),
    storage: Path | None = None,
    session: Any = None,
    **options: Any,
) -> Any:
    """An agent with the tool, on a file session where a storage folder is given, or on a session manager."""
    if storage is not None:
        session = FileSessionManager("talk", storage_dir=str(storage))
    return Agent(
        model=model,
        conversation_manager=manager,
        session_manager=session,
        messages=copy.deepcopy(list(messages)),
        tools=[look],
        agent_id=options.pop("agent_id", "worker"),
        callback_handler=None,
        **options,
    )


def tried(agent: Any, prompt: Any) -> tuple[str, str] | None:
    """Give the agent a prompt; return the kind and the words of the error that it ends in, if it does."""
    try:
        agent(prompt)
    except Exception as error:
        return type(error).__name__, str(error)
    return None


def seen(messages: Iterable[Any]) -> list[Any]:
    """What of messages must be the same: role, content and pin. Ids and measured times differ from run to run."""
    return [
        (message["role"], message["content"], message.get("metadata", {}).get("custom", {}).get("pinned"))
        for message in messages
    ]


def stored_originals(storage: Path) -> list[Any]:
    """The messages of the one session below a folder as they were stored, whatever was made of them later."""
    import json

    from strands.types.session import decode_bytes_values

    files = sorted(storage.rglob("message_*.json"), key=lambda file: int(file.stem.split("_")[1]))
    return [decode_bytes_values(json.loads(file.read_text(encoding="utf-8")))["message"] for file in files]


def tokens_of(messages: Conversation | Sequence[Any]) -> int:
    """What messages cost by the SDK's own estimate."""
    from ctxlab.tokens.counting import HEURISTIC

    return sum(HEURISTIC.message(message) for message in messages)
