"""What a maintainer may expect of a conversation manager, as small functions that stand alone.

The source of each goes as it is into a failing test, so that what ctxlab predicts is what the test asserts. They know
no ctxlab, import nothing, and take lists of messages as Strands stores them, before and after the manager was called.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Call = Literal["overflow", "routine"]
"""``overflow``: reduce_context with an error, as often as the model refused; ``routine``: apply_management, once."""


def fits_the_window(after: list[dict[str, Any]], window_size: int) -> bool:
    """No more messages are left than the window has room for."""
    return len(after) <= window_size


def keeps_what_stays(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> bool:
    """A message either goes as a whole or stays as it was."""
    contents = [message["content"] for message in before]
    return all(message["content"] in contents for message in after)


def starts_with_user(after: list[dict[str, Any]]) -> bool:
    """The first message is a user message."""
    return not after or after[0]["role"] == "user"


def has_no_orphan_result(after: list[dict[str, Any]]) -> bool:
    """Every toolResult answers a toolUse of the message just before it."""
    asked: list[Any] = []
    for message in after:
        answers = [block["toolResult"].get("toolUseId") for block in message["content"] if "toolResult" in block]
        if any(answers.count(answer) > asked.count(answer) for answer in answers):
            return False
        asked = [block["toolUse"].get("toolUseId") for block in message["content"] if "toolUse" in block]
    return True


def has_no_orphan_use(after: list[dict[str, Any]]) -> bool:
    """Every toolUse is answered in the very next message, unless it is in the last one."""
    for index, message in enumerate(after[:-1]):
        following = after[index + 1]
        asked = [block["toolUse"].get("toolUseId") for block in message["content"] if "toolUse" in block]
        answers = [block["toolResult"].get("toolUseId") for block in following["content"] if "toolResult" in block]
        if any(asked.count(use) > answers.count(use) for use in asked):
            return False
    return True


def alternates_roles(after: list[dict[str, Any]]) -> bool:
    """No two messages in a row have the same role."""
    return all(message["role"] != after[index]["role"] for index, message in enumerate(after[1:]))


def keeps_pinned(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> bool:
    """Every pinned message is still there, as it was."""
    contents = [message["content"] for message in after]
    customs = [((message.get("metadata") or {}).get("custom") or {}, message) for message in before]
    return all(message["content"] in contents for custom, message in customs if custom.get("pinned") is True)


def gets_shorter(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> bool:
    """There is less text than before."""

    def length(messages: list[dict[str, Any]]) -> int:
        blocks = [block for message in messages for block in message["content"]]
        items = [item for block in blocks if "toolResult" in block for item in block["toolResult"]["content"]]
        return sum(len(part["text"]) for part in blocks + items if "text" in part)

    return length(after) < length(before)


def cuts_results_before_it_drops(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> bool:
    """No message is dropped while a long tool result is left that could have been cut."""
    blocks = [block for message in after for block in message["content"]]
    items = [item for block in blocks if "toolResult" in block for item in block["toolResult"]["content"]]
    texts = [item["text"] for item in items if "text" in item]
    uncut = [text for text in texts if len(text) > 447 and "... [truncated:" not in text]
    return len(after) == len(before) or not uncut


@dataclass(frozen=True, slots=True)
class Expectation:
    """One thing to expect: its id for people and options, what breaking it means in words, and after which calls.

    ``check`` is None for the two that need no function: that the call raises nothing, and that all is exactly as the
    right release leaves it. ``alone`` says that it can be asked without a right release to compare with.
    """

    id: str
    broken: str
    numbers: str
    calls: tuple[Call, ...]
    check: Callable[..., bool] | None = None
    alone: bool = True

    def holds(self, before: list[Any], after: list[Any], window_size: int | None) -> bool:
        """Say whether the check holds; only for an expectation that has one."""
        assert self.check is not None
        given = {"before": before, "after": after, "window_size": window_size}
        return self.check(**{name: given[name] for name in parameters(self.check)})


def parameters(check: Callable[..., bool]) -> tuple[str, ...]:
    """Return the names of a check's parameters, in order: some of before, after and window_size."""
    code = check.__code__
    return code.co_varnames[: code.co_argcount]


BOTH: tuple[Call, ...] = ("overflow", "routine")

EXPECTATIONS: dict[str, Expectation] = {
    expectation.id: expectation
    for expectation in (
        Expectation("no-error", "is stuck: it raises", "#2173", BOTH, alone=False),
        Expectation(
            "routine-keeps-content",
            "cuts what it keeps, although nothing overflowed",
            "#702, #2239",
            ("routine",),
            keeps_what_stays,
        ),
        Expectation(
            "fits-window", "leaves more messages than the window", "#2173, #2208", ("routine",), fits_the_window
        ),
        Expectation(
            "starts-with-user",
            "leaves a conversation that starts with the assistant",
            "#2085, #2087",
            BOTH,
            starts_with_user,
        ),
        Expectation(
            "no-orphan-result", "leaves a toolResult without its toolUse", "#120, #2087", BOTH, has_no_orphan_result
        ),
        Expectation(
            "no-orphan-use", "leaves a toolUse without its toolResult", "#2087, #1123", BOTH, has_no_orphan_use
        ),
        Expectation("pins-kept", "drops a pinned message", "#2196", BOTH, keeps_pinned),
        Expectation(
            "roles-alternate", "leaves two messages of one role in a row", "#3447, #1223", BOTH, alternates_roles
        ),
        Expectation("strictly-smaller", "leaves as much text as before, or more", "#1756", ("overflow",), gets_shorter),
        Expectation(
            "largest-first",
            "drops messages while a long tool result is left uncut",
            "#4341",
            ("overflow",),
            cuts_results_before_it_drops,
        ),
        Expectation("same-result", "leaves something else", "", BOTH, alone=False),
    )
}
"""Everything that a failing test can assert, the gravest first."""
