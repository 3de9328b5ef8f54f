"""Messages under construction: pieces that a format keeps apart become turns, and answers find their calls.

What readers share is written here once: lines of one turn are joined, answers that follow each other are one message,
ids that are missing are made up and paired in order, and usage is kept as Strands keeps it. No format is known here.
"""

from collections import deque
from collections.abc import Hashable, Sequence
from typing import Any

from ctxlab.messages import Block, Conversation
from ctxlab.sessions.blocks import blocks_of, call_block, result_block
from ctxlab.sessions.notebook import NoteBook
from ctxlab.sessions.session import View, count
from ctxlab.sessions.shape import message as shaped

_ROLES = {"model": "assistant", "ai": "assistant", "human": "user"}


class Turns:
    """Collects one conversation. ``where`` is the place of a piece, for notes; raw content may have any vendor's types.

    A ``turn`` is whatever tells pieces of one assistant turn from those of the next: a message id, a number. Pieces
    with the turn of the last assistant message join it, even if answers have come in between.
    """

    def __init__(self, book: NoteBook) -> None:
        self._book = book
        self._messages: list[dict[str, Any]] = []
        self._places: list[str] = []
        self._turn: Hashable = None
        self._assistant = -1
        self._answers = False
        self._made_up = 0
        self._waiting: dict[str, Any] = {}
        self._queues: dict[Any, deque[str]] = {}
        self.pieces = 0

    def __len__(self) -> int:
        return len(self._messages)

    @property
    def last_role(self) -> str | None:
        """The role of the message that was added last."""
        return self._messages[-1]["role"] if self._messages else None

    def say(
        self, role: Any, content: Any, where: str, turn: Hashable = None, usage: Any = None, join: bool = False
    ) -> None:
        """Add what somebody said: a string, blocks with types of any vendor, or Strands blocks."""
        self.add(role, blocks_of(content, f"{where}.content", self._book), where, turn, usage, join)

    def call(self, call_id: Any, name: Any, arguments: Any, where: str, turn: Hashable = None) -> None:
        """Add a tool call of a turn; arguments may be JSON in a string."""
        self.add("assistant", [call_block(call_id, name, arguments, where, self._book)], where, turn)

    def answer(self, call_id: Any, content: Any, where: str, *, failed: object = False, name: Any = None) -> None:
        """Add the result of a call, to the answers just before; without an id that of the oldest call so named."""
        block = result_block(call_id, content, bool(failed), where, self._book)
        self._paired(block["toolResult"], name, where)
        self.add("user", [block], where, join=True)

    def add(
        self,
        role: Any,
        blocks: list[Block],
        where: str,
        turn: Hashable = None,
        usage: Any = None,
        join: bool = False,
    ) -> None:
        """Add finished blocks; with ``join``, toolResults go to the answers just before."""
        self.pieces += 1
        role = _ROLES.get(role, role) if isinstance(role, str) else role
        answers = bool(blocks) and all(isinstance(block, dict) and "toolResult" in block for block in blocks)
        for block in blocks:
            if isinstance(block, dict) and isinstance(block.get("toolUse"), dict):
                self._identified(block["toolUse"], where)
            if isinstance(block, dict) and isinstance(block.get("toolResult"), dict):
                self._paired(block["toolResult"], None, where)
        if turn is not None and turn == self._turn and role == "assistant":
            message = self._messages[self._assistant]
            message["content"].extend(blocks)
        elif join and answers and self._answers and self.last_role == role:
            self._book.add("read", "answers that follow each other, joined to one message", where)
            message = self._messages[-1]
            message["content"].extend(blocks)
        else:
            message = {"role": role, "content": list(blocks)}
            self._messages.append(message)
            self._places.append(where)
            self._answers = answers
            if role == "assistant":
                self._turn, self._assistant = turn, len(self._messages) - 1
            elif not answers:
                self._turn = None
        self._metadata(message, usage)

    def report(self, usage: Any) -> bool:
        """Put usage on the last assistant message if it has none; say whether it was put there."""
        if self._assistant < 0 or "metadata" in self._messages[self._assistant]:
            return False
        self._metadata(self._messages[self._assistant], usage)
        return True

    def conversation(self) -> Conversation:
        """Return the messages in the promised shape; what had to be repaired is noted."""
        made = (shaped(each, where, self._book) for each, where in zip(self._messages, self._places, strict=True))
        return tuple(each for each in made if each is not None)

    def _metadata(self, message: dict[str, Any], usage: Any) -> None:
        found = usage_of(usage)
        # tau2-bench reports what the simulated user read, which is another model's window.
        if found is not None and message["role"] == "assistant":
            message["metadata"] = {"usage": found}

    def _identified(self, use: dict[str, Any], where: str) -> None:
        call_id = use.get("toolUseId")
        if call_id is None or call_id == "":
            self._made_up += 1
            call_id = use["toolUseId"] = f"call-{self._made_up}"
            self._book.add("repaired", "a call without an id, given one", where)
        if isinstance(call_id, str):
            name = use.get("name") if isinstance(use.get("name"), str) else None
            self._waiting[call_id] = name
            for queue in {name, None}:
                self._queues.setdefault(queue, deque()).append(call_id)

    def _paired(self, result: dict[str, Any], name: Any, where: str) -> None:
        call_id = result.get("toolUseId")
        if call_id is None or call_id == "":
            queue = self._queues.get(name if isinstance(name, str) else None, deque())
            while queue and queue[0] not in self._waiting:
                queue.popleft()
            self._book.add("repaired", "an answer without an id, paired with the oldest call of its name", where)
            call_id = result["toolUseId"] = queue[0] if queue else "unknown"
        if isinstance(call_id, str):
            self._waiting.pop(call_id, None)


def conversation_views(messages: Conversation, about: str, name: str = "messages") -> dict[str, View]:
    """Return the view of a conversation, and one without its system messages, which Strands keeps elsewhere."""
    views = {name: View(messages, f"{about} ({count(len(messages), 'message')})")}
    rest = tuple(message for message in messages if message["role"] not in ("system", "developer"))
    if len(rest) != len(messages):
        other = "without system messages" if name == "messages" else f"{name}, without system messages"
        views[other] = View(rest, f"{about} without system messages, which Strands keeps elsewhere ({len(rest):,})")
    return views


_INPUT = ("inputTokens", "input_tokens", "prompt_tokens", "promptTokenCount", "prompt_token_count")
_OUTPUT = ("outputTokens", "output_tokens", "completion_tokens", "candidatesTokenCount", "candidates_token_count")
_TOTAL = ("totalTokens", "total_tokens", "totalTokenCount", "total_token_count")
# Anthropic counts what the cache served apart, most others count it in; Codex and Inspect have done both.
_APART = ("cache_read_input_tokens", "cache_creation_input_tokens")
_EITHER = ("cached_input_tokens", "input_tokens_cache_read", "input_tokens_cache_write")


def usage_of(raw: Any) -> dict[str, int] | None:
    """Return reported usage as Strands keeps it, None where no input tokens are reported or all are 0.

    Input is all that the model read. Whether the input reported holds what the cache served, the total tells if there
    is one.
    """
    if not isinstance(raw, dict):
        return None
    read, written, total = _number(raw, _INPUT), _number(raw, _OUTPUT) or 0, _number(raw, _TOTAL)
    if read is None:
        return None
    apart = sum(_number(raw, (key,)) or 0 for key in _APART) if "prompt_tokens" not in raw else 0
    cached = apart + sum(_number(raw, (key,)) or 0 for key in _EITHER)
    read += (cached if total == read + cached + written else 0) if total is not None else apart
    return {"inputTokens": read, "outputTokens": written, "totalTokens": read + written} if read else None


def _number(raw: dict[str, Any], keys: Sequence[str]) -> int | None:
    for key in keys:
        found = raw.get(key)
        if isinstance(found, int) and not isinstance(found, bool) and 0 <= found < 1 << 53:
            return found
    return None
