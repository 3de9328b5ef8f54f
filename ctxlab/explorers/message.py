"""The tab "Message": the blocks of the message in focus as inert text, with tokens and the partner of a tool call."""

from collections.abc import Iterator

from ctxlab.escaping import html
from ctxlab.explorers.findings import Findings
from ctxlab.explorers.view import set_value, text
from ctxlab.figures.palette import COLOURS
from ctxlab.figures.words import title
from ctxlab.messages import Block, block_kind, blocks, result_items, tool_pairs

SHOWN = 4000
"""Characters of a block that are shown."""


class MessageView:
    """The message in focus."""

    name = "Message"

    def __init__(self) -> None:
        self.widget = text()

    def show(self, findings: Findings) -> None:
        """Show the blocks of the message in focus, as they were at the start."""
        if findings.messages:
            set_value(self.widget, value="".join(_message(findings)))


def _message(findings: Findings) -> Iterator[str]:
    index = findings.focus
    message = findings.messages[index]
    yield f"<b>{html(title(findings.subject, index))}</b>"
    near = findings.messages[max(0, index - 1) : index + 2]
    for pair in tool_pairs(near):
        use, result = pair.use + max(0, index - 1), pair.result + max(0, index - 1)
        if index == use:
            yield f" · answered in message {result:,}"
        elif index == result:
            yield f" · answers message {use:,}"
    for block, tokens in zip(blocks(message), findings.ledger.per_block[index], strict=True):
        yield _block(block, tokens, str(message.get("role")))


def _block(block: Block, tokens: int, role: str) -> str:
    kind = block_kind(block)
    colour = COLOURS.get(f"{role} text" if kind == "text" else kind, COLOURS["other"])
    body = "\n".join(_texts(block))
    more = f"\n… {len(body) - SHOWN:,} more characters" if len(body) > SHOWN else ""
    return (
        f'<div class="ctxlab-block" style="border-color:{colour}">{html(kind)}, {tokens:,} tokens'
        f"<pre>{html(body[:SHOWN])}{html(more)}</pre></div>"
    )


def _texts(block: Block) -> Iterator[str]:
    kind = block_kind(block)
    if kind == "text":
        yield str(block["text"])
    elif kind == "toolUse":
        use = block["toolUse"]
        yield f"{use.get('name')} ({use.get('toolUseId')})" if isinstance(use, dict) else str(use)
        if isinstance(use, dict):
            yield str(use.get("input"))
    elif kind == "toolResult":
        result = block["toolResult"]
        if isinstance(result, dict):
            yield f"({result.get('toolUseId')}, {result.get('status')})"
        for item in result_items(block):
            yield str(item["text"]) if isinstance(item, dict) and "text" in item else _brief(item)
    else:
        yield _brief(block)


def _brief(value: object) -> str:
    """Return a value as text; bytes are only counted."""
    if isinstance(value, bytes):
        return f"[{len(value):,} bytes]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_brief(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_brief, value)) + "]"
    return str(value)
