"""The six rules about one conversation (algorithms, section 5), one small check each.

A check reads a View and yields every breach. Which provider enforces which case is not known here.
"""

from collections.abc import Iterator

from ctxlab.invariants.rules import Violation, quoted
from ctxlab.invariants.turns import View, role_of
from ctxlab.messages import block_kind, blocks


def starts_with_user(view: View) -> Iterator[Violation]:
    """Yield a breach where the first message is not a user message; an empty conversation starts with nobody."""
    if not view.turns or view.turns[0].role == "user":
        return
    first = view.turns[0]
    kinds = [block_kind(block) for _, _, block in view.blocks_of(first)]
    case = "text-first" if "toolUse" not in kinds else "call-first" if kinds[0] == "toolUse" else "text-and-call-first"
    yield Violation(
        "starts-with-user", 0, f"the conversation starts with {_a(role_of(view.messages[0]))} message", case=case
    )


def no_orphan_result(view: View) -> Iterator[Violation]:
    """Yield each toolResult that answers no toolUse of the message just before it."""
    why = {
        "no-call-before": "the message just before has no toolUse",
        "asked-earlier": "its toolUse stands further up, not in the message just before",
        "surplus": "that toolUse has its toolResult already",
        "unasked": "no toolUse of the message just before has that id",
        "other-id": "no toolUse of the message just before has that id",
    }
    for (message, block, identifier), case in view.unasked:
        yield Violation(
            "no-orphan-result", message, f"toolResult {quoted(identifier)} answers nothing: {why[case]}", block, case
        )


def no_orphan_use(view: View) -> Iterator[Violation]:
    """Yield each toolUse that the very next message does not answer; one in the last message is pending."""
    why = {
        "unanswered": "is not answered in the next message",
        "answered-later": "is answered further down, not in the next message",
        "short": "shares its id with another toolUse, and the next message has too few toolResults for it",
        "other-id": "is not answered: the next message answers another id",
    }
    for (message, block, identifier), case in view.unanswered:
        yield Violation("no-orphan-use", message, f"toolUse {quoted(identifier)} {why[case]}", block, case)


def ids_match(view: View) -> Iterator[Violation]:
    """Yield each message of toolResults whose ids are not, as a multiset, those of the toolUses before it."""
    for at, missing, surplus, case in view.mismatches:
        parts = [
            f"{word} {_ids(ids)}" for word, ids in (("no toolResult for", missing), ("no toolUse for", surplus)) if ids
        ]
        yield Violation("ids-match", at.message, "; ".join(parts), at.block, case)


def roles_alternate(view: View) -> Iterator[Violation]:
    """Yield each message that has the role of the message before it."""
    before = None
    for index, message in enumerate(view.messages):
        role = role_of(message)
        if role == before:
            case = role if role in ("user", "assistant") else "other"
            yield Violation(
                "roles-alternate",
                index,
                f"a second message in a row {f'of role {quoted(role)}' if role else 'without role'}",
                case=case,
            )
        before = role


def legal_blocks(view: View) -> Iterator[Violation]:
    """Yield each block that its message's role must not hold, each blank text, each message without content."""
    last = len(view.messages) - 1
    for index, message in enumerate(view.messages):
        role = role_of(message)
        content = blocks(message)
        if not content:
            whose = "user" if role != "assistant" else "assistant" if index < last else "final-assistant"
            what = "content is text, not blocks" if isinstance(message.get("content"), str) else "no content"
            yield Violation("legal-blocks", index, f"{_a(role)} message with {what}", case=f"empty-{whose}")
        for at, block in enumerate(content):
            if not isinstance(block, dict):
                yield Violation("legal-blocks", index, "a block that is not an object", at, "not-a-block")
                continue
            # A block may have several keys, and each of them may be wrong.
            if role == "user" and "toolUse" in block:
                yield Violation("legal-blocks", index, "a toolUse in a user message", at, "use-in-user")
            if role == "user" and "reasoningContent" in block:
                yield Violation("legal-blocks", index, "reasoningContent in a user message", at, "reasoning-in-user")
            if role == "assistant" and "toolResult" in block:
                yield Violation(
                    "legal-blocks", index, "a toolResult in an assistant message", at, "result-in-assistant"
                )
            if "text" in block:
                text = block["text"]
                if not text:
                    yield Violation("legal-blocks", index, "an empty text", at, "empty-text")
                elif isinstance(text, str) and text.isspace():
                    yield Violation("legal-blocks", index, "a text of white space only", at, "whitespace-text")


def _a(role: str) -> str:
    return "an assistant" if role == "assistant" else f"a {role}" if role == "user" else f"a {quoted(role)}"


def _ids(identifiers: tuple[str, ...]) -> str:
    shown = ", ".join(quoted(identifier) for identifier in identifiers[:4])
    return shown if len(identifiers) <= 4 else f"{shown} and {len(identifiers) - 4:,} more"
