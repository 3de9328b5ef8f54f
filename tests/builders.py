"""Messages in a word: `user("hi")`, `tool_use("1")`, `tool_result("1", "text")`, as Strands stores them."""

from typing import Any

from ctxlab.messages import Block, Conversation, Message

Items = str | list[Block]


def message(role: str, *content: Block) -> Message:
    """A message of any role with these blocks."""
    return {"role": role, "content": list(content)}


def user(*texts: str) -> Message:
    """A user message with one text block a text."""
    return message("user", *({"text": text} for text in texts))


def assistant(*texts: str) -> Message:
    """An assistant message with one text block a text."""
    return message("assistant", *({"text": text} for text in texts))


def use_block(tool_id: str, name: str = "get", input: Any = None) -> Block:
    """A toolUse block."""
    return {"toolUse": {"toolUseId": tool_id, "name": name, "input": {} if input is None else input}}


def result_block(tool_id: str, content: Items = "ok", status: str = "success") -> Block:
    """A toolResult block: a text, or items such as ``{"text": …}``, ``{"json": …}``, ``{"image": …}``."""
    items: list[Block] = [{"text": content}] if isinstance(content, str) else content
    return {"toolResult": {"toolUseId": tool_id, "status": status, "content": items}}


def tool_use(*tool_ids: str, text: str | None = None, name: str = "get", input: Any = None) -> Message:
    """An assistant message that calls a tool, several in parallel with several ids, with ``text`` said before."""
    said: list[Block] = [] if text is None else [{"text": text}]
    return message("assistant", *said, *(use_block(tool_id, name, input) for tool_id in tool_ids))


def tool_result(tool_id: str, content: Items = "ok", status: str = "success") -> Message:
    """A user message that answers one toolUse."""
    return message("user", result_block(tool_id, content, status))


def tool_results(**contents: Items) -> Message:
    """A user message that answers several parallel toolUses: ``tool_results(a="…", b="…")``."""
    return message("user", *(result_block(tool_id, content) for tool_id, content in contents.items()))


def image(data: bytes = b"\x89PNG\r\n", format: str = "png") -> Block:
    """An image block with its bytes; also an item of a tool result."""
    return {"image": {"format": format, "source": {"bytes": data}}}


def pinned(original: Message) -> Message:
    """The message with ``metadata.custom.pinned`` set (#2196)."""
    return {**original, "metadata": {"custom": {"pinned": True}}}


def tool_chain(count: int, content: Items = "ok", first: int = 1) -> Conversation:
    """``count`` tool pairs in a row, with the ids "1", "2", …"""
    ids = [str(number) for number in range(first, first + count)]
    return tuple(part for tool_id in ids for part in (tool_use(tool_id), tool_result(tool_id, content)))


def review(texts: Items = "diff", pairs: int = 3) -> Conversation:
    """The tool-heavy review of #2173: one question, tool pairs, one answer. Eight messages with three pairs."""
    return (user("Please review the change."), *tool_chain(pairs, texts), assistant("Looks good."))
