"""Rules of single providers beyond the six: asked only where a profile states them.

They keep a verdict honest: a conversation that breaks none of the six may still be refused. What is *not* judged
anywhere is whether the conversation ends well: it is history, and the next prompt or toolResult is still to come.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from ctxlab.invariants.rules import Violation, quoted
from ctxlab.invariants.turns import ToolBlock, View, role_of
from ctxlab.messages import block_kind, blocks


@dataclass(frozen=True, slots=True)
class Limits:
    """What the provider-only rules measure against: the form of a tool id, and block kinds that are not taken."""

    id_pattern: str = ""
    unsupported: frozenset[str] = field(default_factory=frozenset)


def not_empty(view: View, limits: Limits) -> Iterator[Violation]:
    """Yield a breach, at index 0, where there is no message at all."""
    if not view.messages:
        yield Violation("not-empty", 0, "there is no message")


def known_roles(view: View, limits: Limits) -> Iterator[Violation]:
    """Yield each message whose role is neither user nor assistant."""
    for index, message in enumerate(view.messages):
        role = role_of(message)
        if role not in ("user", "assistant"):
            yield Violation("known-roles", index, f"a message of role {quoted(role)}")


def ids_unique(view: View, limits: Limits) -> Iterator[Violation]:
    """Yield each toolUse or toolResult whose id was already used in the same turn."""
    for turn in view.turns:
        for blocks_of_kind, kind in ((turn.uses, "toolUse"), (turn.results, "toolResult")):
            if len(blocks_of_kind) > 1:
                yield from _repeats(blocks_of_kind, kind)


def _repeats(tool_blocks: tuple[ToolBlock, ...], kind: str) -> Iterator[Violation]:
    seen = set()
    for message, block, identifier in tool_blocks:
        if identifier in seen:
            case = "use" if kind == "toolUse" else "result"
            yield Violation("ids-unique", message, f"a second {kind} with id {quoted(identifier)}", block, case)
        seen.add(identifier)


def id_form(view: View, limits: Limits) -> Iterator[Violation]:
    """Yield each toolUse whose id does not have the form that the provider demands."""
    form = _compiled(limits.id_pattern)
    for turn in view.turns:
        for message, block, identifier in turn.uses:
            if not form.fullmatch(identifier):
                yield Violation("id-form", message, f"id {quoted(identifier)} is not {limits.id_pattern}", block)


def result_first(view: View, limits: Limits) -> Iterator[Violation]:
    """Yield each toolResult with other content before it in its turn."""
    for turn in view.turns:
        if turn.results:
            other = False
            for message, at, block in view.blocks_of(turn):
                if "toolResult" not in block:
                    other = True
                elif other:
                    yield Violation("result-first", message, "a toolResult after other content", at)
                    break


def result_alone(view: View, limits: Limits) -> Iterator[Violation]:
    """Yield each turn in which toolResults stand with other content."""
    for turn in view.turns:
        if turn.results:
            with_results = {message for message, _, _ in turn.results}
            for message, at, block in view.blocks_of(turn):
                if "toolResult" not in block and "cachePoint" not in block:
                    case = "same-message" if message in with_results else "merged"
                    detail = f"{block_kind(block)} in the same turn as a toolResult"
                    yield Violation("result-alone", message, detail, at, case)
                    break


def use_last(view: View, limits: Limits) -> Iterator[Violation]:
    """Yield each text that stands after a toolUse in its turn."""
    for turn in view.turns:
        if turn.uses:
            used = False
            for message, at, block in view.blocks_of(turn):
                if "toolUse" in block:
                    used = True
                elif used and "text" in block:
                    yield Violation("use-last", message, "text after a toolUse", at)
                    break


def use_alone(view: View, limits: Limits) -> Iterator[Violation]:
    """Yield each turn in which a toolUse stands with text."""
    for turn in view.turns:
        if turn.uses:
            for message, at, block in view.blocks_of(turn):
                if "text" in block:
                    yield Violation("use-alone", message, "text in the same turn as a toolUse", at)
                    break


def document_with_text(view: View, limits: Limits) -> Iterator[Violation]:
    """Yield each document whose message holds no text."""
    for index, message in enumerate(view.messages):
        kinds = [block_kind(block) for block in blocks(message)]
        if "document" in kinds and "text" not in kinds:
            at = kinds.index("document")
            yield Violation("document-with-text", index, "a document without a text in its message", at)


def supported_blocks(view: View, limits: Limits) -> Iterator[Violation]:
    """Yield each block of a kind that cannot be sent to the provider."""
    for index, message in enumerate(view.messages):
        for at, block in enumerate(blocks(message)):
            if isinstance(block, dict) and not limits.unsupported.isdisjoint(block):
                detail = f"a {block_kind(block)} block cannot be sent"
                yield Violation("supported-blocks", index, detail, at)


@lru_cache(maxsize=32)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


SENTENCES: Mapping[str, str] = {
    "not-empty": "there is at least one message",
    "known-roles": "roles are user and assistant only",
    "ids-unique": "no two toolUses, and no two toolResults, of one turn share an id",
    "id-form": "toolUseIds have the form that the provider demands",
    "result-first": "toolResults come before any other content of their turn",
    "result-alone": "toolResults share their turn with nothing else",
    "use-last": "no text follows a toolUse in its turn",
    "use-alone": "a toolUse shares its turn with no text",
    "document-with-text": "a message with a document also holds a text",
    "supported-blocks": "only kinds of block that can be sent to the provider",
}
"""One sentence for each rule that only some providers have."""

CHECKS = {
    "not-empty": not_empty,
    "known-roles": known_roles,
    "ids-unique": ids_unique,
    "id-form": id_form,
    "result-first": result_first,
    "result-alone": result_alone,
    "use-last": use_last,
    "use-alone": use_alone,
    "document-with-text": document_with_text,
    "supported-blocks": supported_blocks,
}
