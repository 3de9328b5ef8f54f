"""Where a conversation may start after a trim, where it may split for a summary, and why not elsewhere.

A predicate answers with a reason: the very `Rejection` that the search used is what a person is shown.
Which rule a release follows is data (`TrimRule`). No rounds are counted here and nothing is cut.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from ctxlab.messages import (
    Message,
    blocks,
    has_tool_result,
    has_tool_use,
    tool_result_ids,
    tool_use_ids,
)

TrimKind = Literal["user", "tool_pair", "any"]
"""``user``: a plain user message. ``tool_pair``: a toolUse answered by the next message. ``any``: neither, but
accepted by a release that does not look at the role (up to 1.34.1)."""


class Rejection(Enum):
    """Why a conversation may not start, or split, at an index; the value is a sentence fit to show a person."""

    BEFORE_START = "it is before the start of the search"
    ORPHAN_RESULT = "its toolUse would be cut away"
    NOT_USER = "it is not a user message, and it opens no tool pair"
    UNANSWERED_USE = "its toolUse is not answered in the next message"
    ANSWERED_BY_ASSISTANT = "its toolUse is answered in a message that is not a user message"
    USER_TOOL_PAIR = "it is a user message with a toolUse, which opens no tool pair in this release"
    USE_WITHOUT_FALLBACK = "it is not a user message; this release has no fallback to a tool pair (#2173)"
    IDS_DIFFER = "the toolUseIds of its calls and of the answers differ"
    NOTHING_SAID = "it has no text or other content of its own to start from"
    NO_ANCHOR = "no plain user message stands before this tool pair to be kept as its anchor (#3447)"
    BREAKS_A_RULE = "what would stay breaks a rule that the conversation does not break now"
    NOTHING_DROPPED = "every message before it is pinned or kept, so nothing would go"
    OVER_BUDGET = "what would stay is still above the token budget"

    @property
    def text(self) -> str:
        """The reason as a clause that completes "refused: …"."""
        return self.value


CODES: dict[TrimKind | None, int] = {"user": ord("u"), "tool_pair": ord("p"), "any": ord("a"), None: ord("-")}
"""One byte a kind, for `kind_codes`."""


@dataclass(frozen=True, slots=True)
class TrimPoint:
    """The verdict on one index: ``kind`` where a conversation may start there, else the ``reason`` why not."""

    index: int
    kind: TrimKind | None
    reason: Rejection | None = None


@dataclass(frozen=True, slots=True)
class TrimRule:
    """What a release asks of a trim point.

    ``user_first`` is the rule of 1.35.0 (#2087): a user message without toolResult; without it the role is not
    looked at and a toolUse in the last message passes. ``tool_pair`` adds the fallback of #2174, where the
    first message of the pair may be of any role or (1.37.0 to 1.43.0) of any but user. ``strict`` is ctxlab's
    own: ids are compared as multisets and a message must have something to say.
    """

    user_first: bool = True
    tool_pair: Literal["none", "not user", "any role"] = "any role"
    strict: bool = False


NEWEST = TrimRule()
"""The rule of 1.44.0 and later."""


def trim_points(messages: Sequence[Message], start: int = 0, rule: TrimRule = NEWEST) -> tuple[TrimPoint, ...]:
    """Return one verdict an index: may the conversation start there after a trim (#2174), and if not, why.

    Indices before ``start`` are refused as such. A kind does not mean that the index is taken: see `preferred`.
    """
    return tuple(
        TrimPoint(index, None, Rejection.BEFORE_START) if index < start else trim_point(messages, index, rule)
        for index in range(len(messages))
    )


def trim_point(messages: Sequence[Message], index: int, rule: TrimRule = NEWEST) -> TrimPoint:
    """Return the verdict on one index, whatever comes before it."""
    message = messages[index]
    following = messages[index + 1] if index + 1 < len(messages) else None
    if rule.user_first:
        rejection = _user_rejection(message, following, rule)
        if rejection is None:
            return TrimPoint(index, "user")
        pair_rejection = _pair_rejection(message, following, rule)
        if pair_rejection is None:
            return TrimPoint(index, "tool_pair")
        return TrimPoint(index, None, pair_rejection if has_tool_use(message) else rejection)
    rejection = _any_role_rejection(message, following)
    if rejection is not None:
        return TrimPoint(index, None, rejection)
    if has_tool_use(message):
        return TrimPoint(index, "tool_pair" if following is not None else "any")
    return TrimPoint(index, "user" if message.get("role") == "user" else "any")


def rejection(messages: Sequence[Message], index: int, rule: TrimRule = NEWEST) -> Rejection | None:
    """Return None where the conversation may start at ``index``, else why not."""
    return trim_point(messages, index, rule).reason


def kind_codes(messages: Sequence[Message], rule: TrimRule = NEWEST) -> bytes:
    """Return the kind of every index as one byte: ``u`` user, ``p`` tool pair, ``a`` any, ``-`` refused.

    A conversation of ten thousand messages is searched in microseconds this way, round after round.
    """
    return kind_codes_of(trim_point(messages, index, rule) for index in range(len(messages)))


def kind_codes_of(points: Iterable[TrimPoint]) -> bytes:
    """Return the kinds of trim points as `kind_codes` writes them."""
    return bytes(CODES[point.kind] for point in points)


def preferred(codes: bytes, start: int, rule: TrimRule = NEWEST) -> Iterator[int]:
    """Yield the trim points at or after ``start`` in the order in which the rule prefers them.

    With ``user_first`` every plain user message comes before every tool pair, however late it is.
    """
    # Before 1.38.0 a negative window_size starts the search behind the end.
    start = min(start, len(codes))
    if not rule.user_first:
        yield from (index for index in range(start, len(codes)) if codes[index] != CODES[None])
        return
    for kind in ("user", "tool_pair"):
        index = codes.find(CODES[kind], start)
        while index >= 0:
            yield index
            index = codes.find(CODES[kind], index + 1)


def search(messages: Sequence[Message], start: int, rule: TrimRule = NEWEST) -> TrimPoint | None:
    """Return the trim point that the rule takes at or after ``start``, None where there is none."""
    index = next(preferred(kind_codes(messages, rule), start, rule), None)
    return None if index is None else trim_point(messages, index, rule)


def split_rejection(messages: Sequence[Message], index: int) -> Rejection | None:
    """Return None where the oldest ``index`` messages may be summarized, else why the split walks on.

    The rule of every release: the first message that stays has no toolResult, and a toolUse only if the next
    message answers it; in the last message a toolUse passes, and the role is not looked at.
    """
    return _any_role_rejection(messages[index], messages[index + 1] if index + 1 < len(messages) else None)


def split_point(messages: Sequence[Message], start: int) -> int | None:
    """Walk forward from ``start`` to the first index with no `split_rejection`; None where the walk leaves the end.

    A split behind the last message stays where it is: everything is summarized.
    """
    if start == len(messages):
        return start
    return next((index for index in range(start, len(messages)) if split_rejection(messages, index) is None), None)


def _user_rejection(message: Message, following: Message | None, rule: TrimRule) -> Rejection | None:
    if message.get("role") != "user":
        if has_tool_result(message) and not has_tool_use(message):
            return Rejection.ORPHAN_RESULT
        return Rejection.NOT_USER
    if has_tool_result(message):
        return Rejection.ORPHAN_RESULT
    if has_tool_use(message) and not (following and has_tool_result(following)):
        return Rejection.UNANSWERED_USE
    if rule.strict:
        if has_tool_use(message):
            return Rejection.NOT_USER
        if not says_something(message):
            return Rejection.NOTHING_SAID
    return None


def _pair_rejection(message: Message, following: Message | None, rule: TrimRule) -> Rejection | None:
    if not has_tool_use(message):
        return Rejection.NOT_USER
    if rule.tool_pair == "none":
        return Rejection.USE_WITHOUT_FALLBACK
    if rule.tool_pair == "not user" and message.get("role") == "user":
        return Rejection.USER_TOOL_PAIR
    if following is None or not has_tool_result(following):
        return Rejection.UNANSWERED_USE
    if following.get("role") != "user":
        return Rejection.ANSWERED_BY_ASSISTANT
    if rule.strict:
        if has_tool_result(message):
            return Rejection.ORPHAN_RESULT
        if message.get("role") != "assistant":
            return Rejection.NOT_USER
        if Counter(tool_use_ids(message)) != Counter(tool_result_ids(following)):
            return Rejection.IDS_DIFFER
    return None


def _any_role_rejection(message: Message, following: Message | None) -> Rejection | None:
    if has_tool_result(message):
        return Rejection.ORPHAN_RESULT
    if has_tool_use(message) and following is not None and not has_tool_result(following):
        return Rejection.UNANSWERED_USE
    return None


def says_something(message: Message) -> bool:
    """Say whether a message holds more than blank text and cache points."""
    return any(
        bool(str(block["text"]).strip()) if "text" in block else "cachePoint" not in block
        for block in blocks(message)
        if isinstance(block, dict)
    )
