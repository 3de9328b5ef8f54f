"""A model that answers from a script and refuses what exceeds its context window: for trying a policy out offline.

It stands in for a provider in notebooks and tests. Nothing here is needed by a real agent.
"""

import json
from collections.abc import AsyncGenerator, AsyncIterable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from strands.models.model import Model
from strands.types.exceptions import ContextWindowOverflowException

from ctxlab.strands.episode import overhead
from ctxlab.tokens.counting import HEURISTIC, TokenCounter

SUMMARY = "What was said before, in short."


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of the model: text, and the tool calls that it makes as (name, input) pairs."""

    text: str = ""
    calls: tuple[tuple[str, dict[str, Any]], ...] = field(default=())


class ScriptedModel(Model):
    """Gives ``replies`` in turn (a Reply, or a text), one a call that fits into ``context_window`` tokens.

    A call that does not fit raises the SDK's own overflow and takes nothing from the script. When the script is over
    it says "Done.". ``calls`` counts the calls that were answered, ``refused`` those that were not, and
    ``summaries`` the calls that asked for a summary.
    """

    def __init__(
        self,
        replies: Iterable[Reply | str] = (),
        context_window: int | None = None,
        counter: TokenCounter = HEURISTIC,
        summary: str = SUMMARY,
    ) -> None:
        self._replies: Iterator[Reply | str] = iter(replies)
        self._made = 0
        self.context_window = context_window
        self.counter = counter
        self.summary = summary
        self.calls = self.refused = self.summaries = 0

    def update_config(self, **model_config: Any) -> None:
        """Change nothing: a script has no settings."""

    def get_config(self) -> dict[str, Any]:
        """Return the window, from which the SDK derives how full the context is."""
        return {"context_window_limit": self.context_window}

    def structured_output(self, *arguments: Any, **options: Any) -> AsyncGenerator[dict[str, Any], None]:
        """Refuse: a script holds text and tool calls only."""
        raise NotImplementedError("a scripted model gives no structured output")

    async def stream(
        self, messages: Any, tool_specs: Any = None, system_prompt: Any = None, **options: Any
    ) -> AsyncIterable[Any]:
        """Yield the next reply as a provider streams it, or raise the SDK's overflow."""
        if messages and messages[-1]["content"] == [{"text": "Please summarize this conversation."}]:
            self.summaries += 1
            reply: Reply | str = self.summary
        else:
            tokens = sum(self.counter.message(message) for message in messages)
            tokens += overhead(self.counter, system_prompt, tool_specs)
            if self.context_window is not None and tokens > self.context_window:
                self.refused += 1
                raise ContextWindowOverflowException(f"{tokens:,} tokens do not fit into {self.context_window:,}")
            self.calls += 1
            reply = next(self._replies, "Done.")
        reply = Reply(reply) if isinstance(reply, str) else reply
        yield {"messageStart": {"role": "assistant"}}
        if reply.text:
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": reply.text}}}
            yield {"contentBlockStop": {}}
        for name, given in reply.calls:
            self._made += 1
            use = {"toolUse": {"name": name, "toolUseId": f"use-{self._made}"}}
            yield {"contentBlockStart": {"start": use}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(given)}}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if reply.calls else "end_turn"}}
