"""Where a sample is recorded: the real Agent, the real FileSessionManager, and the same surroundings each time.

Three things differ between two runs of the SDK: the time of day, the tracking ids of messages, and the time to the
first byte. They are pinned here for as long as a sample is recorded, at the names that the SDK looks them up by, and
restored afterwards. What the SDK writes is not touched.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any
from unittest.mock import patch
from uuid import UUID

from strands import Agent
from strands.agent.conversation_manager import ConversationManager, NullConversationManager
from strands.hooks import HookProvider
from strands.session import FileSessionManager
from strands.types.agent import AgentInput
from strands.types.content import Messages
from strands.types.exceptions import ContextWindowOverflowException

from .dice import Dice
from .model import Reply, ScriptedModel

RECORDED_WITH = "1.62.0"


class _Surroundings:
    """Stands in for `datetime`, `time` and `uuid` in the SDK; every reading of the clock moves it on a little."""

    def __init__(self, seed: str) -> None:
        self._dice = Dice(f"surroundings of {seed}")
        self._now = datetime(2026, 9, 7, 8, 30, tzinfo=UTC)

    def now(self, zone: tzinfo | None = None) -> datetime:
        self._now += timedelta(milliseconds=self._dice.between(40, 900))
        return self._now.astimezone(zone)

    def time(self) -> float:
        return self.now().timestamp()

    def uuid4(self) -> UUID:
        return UUID(self._dice.token(32, "0123456789abcdef"), version=4)


@contextmanager
def surroundings(seed: str) -> Iterator[None]:
    """Pin the clock and the ids that end up in a stored session, derived from the seed."""
    pinned = _Surroundings(seed)
    with (
        patch("strands.types.session.datetime", pinned),
        patch("strands.types.content.uuid", pinned),
        patch("strands.event_loop.streaming.time", pinned),
    ):
        yield


class Studio:
    """Makes agents that store what they do in one folder, under one session id."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self._folder = folder

    def agent(
        self,
        agent_id: str,
        replies: Iterable[Reply],
        *,
        system_prompt: str,
        tools: Sequence[Any] = (),
        manager: ConversationManager | None = None,
        context_window: int | None = None,
        summaries: Iterable[str] = (),
        hooks: Sequence[HookProvider] = (),
        messages: Messages | None = None,
        stored: bool = True,
    ) -> Agent:
        """Return an agent that follows the script; without a manager nothing is ever trimmed."""
        return Agent(
            agent_id=agent_id,
            model=ScriptedModel(f"{self.name}/{agent_id}", replies, summaries, context_window),
            system_prompt=system_prompt,
            tools=list(tools),
            messages=messages,
            conversation_manager=manager or NullConversationManager(),
            session_manager=FileSessionManager(self.name, storage_dir=str(self._folder)) if stored else None,
            hooks=list(hooks),
            callback_handler=None,
        )


def until_it_overflows(agent: Agent, prompt: AgentInput) -> None:
    """Give the agent a prompt that has to end in a context overflow, as the session of a user's report does."""
    try:
        agent(prompt)
    except ContextWindowOverflowException:
        return
    raise RuntimeError("this recording was meant to end in a context overflow, and did not")
