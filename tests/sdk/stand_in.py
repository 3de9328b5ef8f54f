"""A pytest plugin for the SDK's own tests: puts ctxlab's manager in the place of the SDK's two, same constructor.

Loaded with ``-p`` in a process of its own, in which the SDK's source distribution is the one that is tested.
"""

import importlib
from types import SimpleNamespace
from typing import Any

from strands.types.exceptions import ContextWindowOverflowException

from ctxlab.sliding_window import SlidingWindow
from ctxlab.strands.manager import CtxlabConversationManager
from ctxlab.summarizing import Summarizing

MANAGERS = "strands.agent.conversation_manager"


class SlidingWindowConversationManager(CtxlabConversationManager):
    """The sliding window with the SDK's parameters."""

    def __init__(
        self,
        window_size: int = 40,
        should_truncate_results: bool = True,
        *,
        pin_first: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__(SlidingWindow(window_size, should_truncate_results, pin_first), **options)

    def _truncate_tool_results(self, messages: list[Any], index: int) -> bool:
        """Cut one message as an overflow does, and say whether that changed it; the SDK's tests ask for it by name."""
        try:
            self.reduce_context(SimpleNamespace(messages=[messages[index]]), RuntimeError("overflow"))
        except ContextWindowOverflowException:
            return False
        return True


class SummarizingConversationManager(CtxlabConversationManager):
    """The summarizing manager with the SDK's parameters, and without a fallback, as in 1.62.0."""

    def __init__(
        self,
        summary_ratio: float = 0.3,
        preserve_recent_messages: int = 10,
        summarization_agent: Any = None,
        summarization_system_prompt: str | None = None,
        *,
        pin_first: int | None = None,
        proactive_compression: Any = None,
    ) -> None:
        super().__init__(
            Summarizing.as_of("1.62.0", summary_ratio, preserve_recent_messages, pin_first=pin_first),
            proactive_compression=proactive_compression,
            summarization_agent=summarization_agent,
            summarization_system_prompt=summarization_system_prompt,
        )
        # What writes the summaries is the SDK's own, and its tests ask for it by name.
        self._generate_summary = self._summaries._generate_summary


for module, stand_in in (
    ("sliding_window_conversation_manager", SlidingWindowConversationManager),
    ("summarizing_conversation_manager", SummarizingConversationManager),
):
    for name in (MANAGERS, f"{MANAGERS}.{module}"):
        setattr(importlib.import_module(name), stand_in.__name__, stand_in)
