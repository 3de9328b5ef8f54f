"""Which messages of an agent stand in its session as they are, so that a restart can load exactly what was live.

The SDK's session managers store a message once, when it is added, and a restart loads the conversation manager's
messages followed by all that are stored from an offset on. So whatever is live and not as stored (cut, pinned,
summarized, or behind such a message) goes into the manager's state: `front`. The originals stay where they were stored,
and one atomic write of the agent's state makes a whole reduction durable.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ctxlab.messages import Message, has_pinned_flag


class Stored(NamedTuple):
    """A message with what it was when it was stored. Whoever cuts a message gives it another content list."""

    message: Message
    content: object
    pinned: bool

    @classmethod
    def of(cls, message: Message) -> "Stored":
        """Take down what a message is now."""
        return cls(message, message.get("content"), has_pinned_flag(message))

    def is_as_stored(self, message: Message) -> bool:
        """Say whether a message is still the same, with the same content and pin."""
        return (
            message is self.message
            and message.get("content") is self.content
            and has_pinned_flag(message) is self.pinned
        )


class Standing:
    """How many messages are ``stored``, and the newest of them that are still live as they were stored."""

    def __init__(self, stored: int, live: Sequence[Message]) -> None:
        """Begin with ``live`` messages that are the last of ``stored`` ones."""
        self.stored = stored
        self._tail = [Stored.of(message) for message in live]
        self._last: Message | None = live[-1] if live else None

    def added(self, message: Message) -> None:
        """Take in that a message was added to the conversation and stored."""
        self.stored += 1
        self._tail.append(Stored.of(message))
        self._last = message

    def is_adding(self, live: Sequence[Message]) -> bool:
        """Say whether the newest live message is one that `added` was not told of yet."""
        return bool(live) and live[-1] is not self._last

    def front(self, live: Sequence[Message], leave_one: bool = False) -> tuple[list[Message], int]:
        """Return the live messages that a restart must be given, and how many stored ones it is to pass over.

        The two together are the conversation: front + stored[passed over:]. With ``leave_one`` at least one stored
        message is not passed over, even if it is no longer live as it was stored.
        """
        same = 0
        for message, stored in zip(reversed(live), reversed(self._tail), strict=False):
            if not stored.is_as_stored(message):
                break
            same += 1
        self._tail = self._tail[len(self._tail) - same :]
        self._last = live[-1] if live else None
        left = same or int(leave_one and self.stored > 0)
        return list(live[: len(live) - left]), self.stored - left


class SessionStore:
    """What a restart must know of the SDK's repository session managers, which they have no public way to say."""

    def __init__(self, agent: Any) -> None:
        self._manager = getattr(agent, "_session_manager", None)
        self._agent_id = getattr(agent, "agent_id", None)
        latest = getattr(self._manager, "_latest_agent_message", None)
        self._latest: dict[Any, Any] | None = latest if isinstance(latest, dict) else None

    @property
    def keeps_messages(self) -> bool:
        """Whether the agent has a session manager that keeps messages one by one."""
        return hasattr(self._manager, "session_repository")

    @property
    def can_pass_over_all(self) -> bool:
        """Whether a restart may pass over every stored message: see `loaded`."""
        return not self.keeps_messages or self._latest is not None

    def loaded(self, passed_over: int) -> tuple[int, list[Message]]:
        """Return how many messages are stored, and those that a restart loads after passing over some.

        A session manager that passed over all of them takes the session for empty, and would write the next message
        over the first one. So it is told which one is the newest.
        """
        held = getattr(self._manager, "_held_records", {}).get(self._agent_id)
        records = self._records(passed_over) if held is None else held
        if records or not passed_over:
            return passed_over + len(records), [record.to_message() for record in records]
        last = self._records(passed_over - 1)
        known = last or self._records(0)
        if known and self._latest is not None:
            self._latest[self._agent_id] = known[-1]
        return passed_over if last else len(known), []

    def _records(self, offset: int) -> list[Any]:
        manager: Any = self._manager
        return list(manager.session_repository.list_messages(manager.session_id, self._agent_id, offset=offset))
