"""Real summaries: what a policy is given to summarize with, so that the agent's own model writes the summary.

How a summary is asked for is the SDK's business and stays there; what is summarized is the policy's.
"""

from typing import Any

from strands.agent.conversation_manager import SummarizingConversationManager
from strands.types import content as sdk_content

from ctxlab.messages import Conversation, Message


class Summarizer:
    """A function from the summarized messages to the summary's text; the message that the SDK made of it is kept."""

    def __init__(self, sdk: SummarizingConversationManager, agent: Any) -> None:
        self._sdk = sdk
        self._agent = agent
        self._made: dict[str, Message] = {}

    def __call__(self, summarized: Conversation) -> str:
        """Ask the model. Raises whatever the model or the SDK raises."""
        asked: Any = list(summarized)
        made: Any = self._sdk._generate_summary(asked, self._agent)
        text = "\n\n".join(block["text"] for block in made["content"] if isinstance(block.get("text"), str))
        self._made[text] = made
        return text

    def message(self, summary: Message) -> Message:
        """Return the SDK's own message for a summary of the policy, with all its blocks, in the role that it asks."""
        text = summary["content"][0]["text"]
        return {**self._made.get(text, summary), "role": summary["role"]}


def with_tracking_id(message: Message) -> Message:
    """Give a message that was not added the usual way the id that releases which know one would have given it."""
    ensure = getattr(sdk_content, "_ensure_tracking_id", None)
    if ensure is not None:
        ensure(message)
    return message
