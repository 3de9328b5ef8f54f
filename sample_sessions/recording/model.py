"""The model that answers from a script, in place of a provider; it never touches the network.

It has a context window, as a real one has: a conversation that does not fit is refused with the SDK's own overflow
exception, and nothing is taken from the script. Tokens are the SDK's own estimate, and go into the usage it reports.
"""

import json
from collections.abc import AsyncGenerator, AsyncIterable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel
from strands.models.model import Model
from strands.types.content import Messages
from strands.types.exceptions import ContextWindowOverflowException
from strands.types.streaming import StreamEvent
from strands.types.tools import ToolSpec

from .dice import Dice

Output = TypeVar("Output", bound=BaseModel)

_ID_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_SUMMARY_REQUEST = "Please summarize this conversation."


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of a reply; without an id the model makes one up."""

    name: str
    input: dict[str, Any] = field(default_factory=dict)
    id: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of the model: text, tool calls, or both."""

    text: str = ""
    calls: tuple[Call, ...] = ()


def call(name: str, id: str = "", *, say: str = "", **input: Any) -> Reply:
    """Return the reply that calls one tool, with an optional sentence before it."""
    return Reply(say, (Call(name, input, id),))


class ScriptedModel(Model):
    """A model that gives the replies of a script, one a call, and refuses what exceeds its context window (tokens)."""

    def __init__(
        self, seed: str, replies: Iterable[Reply], summaries: Iterable[str] = (), context_window: int | None = None
    ) -> None:
        self._dice = Dice(seed)
        self._replies: Iterator[Reply] = iter(replies)
        self._summaries = iter(summaries)
        self._context_window = context_window

    def update_config(self, **model_config: Any) -> None:
        """Change nothing: a script has no settings."""

    def get_config(self) -> dict[str, Any]:
        """Return the window, from which the SDK derives how full the context is."""
        return {"context_window_limit": self._context_window}

    def structured_output(
        self, output_model: type[Output], prompt: Messages, system_prompt: str | None = None, **kwargs: Any
    ) -> AsyncGenerator[dict[str, Output | Any], None]:
        """Refuse: no sample asks for structured output."""
        raise NotImplementedError("the samples do not use structured output")

    async def stream(
        self,
        messages: Messages,
        tool_specs: list[ToolSpec] | None = None,
        system_prompt: str | None = None,
        **kwargs: Any,
    ) -> AsyncIterable[StreamEvent]:
        """Yield the next reply as a provider streams it, or raise when the conversation does not fit."""
        tokens = await self.count_tokens(messages, tool_specs, system_prompt)
        if self._context_window is not None and tokens > self._context_window:
            raise ContextWindowOverflowException(
                f"prompt is too long: {tokens} tokens > {self._context_window} maximum"
            )
        reply = self._next_reply(messages)
        output_tokens = 4 + (len(reply.text) + sum(len(json.dumps(made.input)) for made in reply.calls)) // 4
        yield {"messageStart": {"role": "assistant"}}
        if reply.text:
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": reply.text}}}
            yield {"contentBlockStop": {}}
        for made in reply.calls:
            identifier = made.id or f"tooluse_{self._dice.token(22, _ID_CHARACTERS)}"
            yield {"contentBlockStart": {"start": {"toolUse": {"name": made.name, "toolUseId": identifier}}}}
            given = json.dumps(made.input, ensure_ascii=False)
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": given}}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if reply.calls else "end_turn"}}
        yield {
            "metadata": {
                "usage": {
                    "inputTokens": tokens,
                    "outputTokens": output_tokens,
                    "totalTokens": tokens + output_tokens,
                },
                "metrics": {"latencyMs": 950 + 11 * output_tokens},
            }
        }

    def _next_reply(self, messages: Messages) -> Reply:
        if messages[-1]["content"] == [{"text": _SUMMARY_REQUEST}]:
            return Reply(next(self._summaries))
        reply = next(self._replies, None)
        if reply is None:
            raise RuntimeError("the script is over, and the agent asks for more")
        return reply
