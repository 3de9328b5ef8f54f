"""How ctxlab's own careful sliding window chooses a cut: the newest release's rule without its known faults.

Ids are compared, a tool pair keeps the nearest plain user message before it as an anchor (#3447), a cut that would
break a rule which the conversation keeps is declined, and a token budget can be met in one go. Shortening texts is
not here, nor when to cut.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sized
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Self

from ctxlab.edits import DropMessages
from ctxlab.invariants import broken_rules
from ctxlab.messages import Conversation, is_pinned
from ctxlab.tokens import TokenCounter
from ctxlab.trimming import Rejection, TrimPoint, TrimRule, candidates, trim_point

STRICT = TrimRule(user_first=True, tool_pair="any role", strict=True)


def search(
    messages: Conversation, start: int, budget: int | None = None, counter: TokenCounter | None = None
) -> DropMessages | None:
    """Return the cut that the careful policy takes at or after ``start``, None where every candidate is declined.

    With a budget in tokens: the first candidate of either kind whose remainder fits; where none does, the
    candidate that would be taken without a budget.
    """
    ground = _Ground.survey(messages, budget, counter)
    points = list(candidates(messages, start, STRICT))
    if budget is not None:
        for point in sorted(points, key=lambda candidate: candidate.index):
            if ground.rejection(point) is None:
                return ground.cut(point, start)
    taken = next((point for point in points if ground.rejection(point, any_size=True) is None), None)
    return ground.cut(taken, start) if taken else None


def trim_points(
    messages: Conversation, start: int, budget: int | None = None, counter: TokenCounter | None = None
) -> tuple[TrimPoint, ...]:
    """Return the careful verdict on every index, with the reason for which `search` declines it."""
    ground = _Ground.survey(messages, budget, counter)
    return tuple(
        TrimPoint(index, None, Rejection.BEFORE_START) if index < start else ground.verdict(index)
        for index in range(len(messages))
    )


def breaks(messages: Conversation, kept: Iterable[int]) -> bool:
    """Say whether keeping only these messages breaks a rule that the whole conversation keeps."""
    return bool(broken_rules(tuple(messages[index] for index in kept)) - broken_rules(messages))


def image_text(image: Any, name_source: bool) -> str:
    """Return the placeholder for an image of a tool result: format and bytes (#1756).

    With ``name_source`` an image that is not held in bytes is named by where it is kept instead of "0 bytes".
    """
    image = image if isinstance(image, dict) else {}
    source = image.get("source")
    source = source if isinstance(source, dict) else {}
    data = source.get("bytes", b"")
    if name_source and not data and source:
        place = source.get("location")
        kept_at = place.get("type") if isinstance(place, dict) else next(iter(source))
        return f"[image: {image.get('format', 'unknown')}, kept at {kept_at}]"
    return f"[image: {image.get('format', 'unknown')}, {len(data) if isinstance(data, Sized) else 0} bytes]"


def _is_plain_user(messages: Conversation, index: int) -> bool:
    return trim_point(messages, index, STRICT).kind == "user"


@dataclass(frozen=True, slots=True)
class _Ground:
    """What the search has to know of a conversation, surveyed once: indices, broken rules and tokens to the end."""

    messages: Conversation
    pinned: list[int]
    plain_users: list[int]
    broken: frozenset[str]
    budget: int | None
    tokens: list[int]
    suffix: list[int]

    @classmethod
    def survey(cls, messages: Conversation, budget: int | None, counter: TokenCounter | None) -> Self:
        indices = range(len(messages))
        tokens = [counter.message(message) for message in messages] if budget is not None and counter else []
        return cls(
            messages,
            [index for index in indices if is_pinned(messages, index)],
            [index for index in indices if _is_plain_user(messages, index)],
            broken_rules(messages),
            budget,
            tokens,
            list(accumulate(reversed(tokens)))[::-1],
        )

    def verdict(self, index: int) -> TrimPoint:
        """Return the verdict on one index, the budget counted in."""
        point = trim_point(self.messages, index, STRICT)
        reason = self.rejection(point) if point.kind else point.reason
        return TrimPoint(index, None, reason) if reason else point

    def rejection(self, point: TrimPoint, any_size: bool = False) -> Rejection | None:
        """Return why a candidate is declined after all; ``any_size`` leaves the budget out."""
        anchor = self.anchor(point)
        if anchor is None and self.needs_anchor(point):
            return Rejection.NO_ANCHOR
        front = self.front(point, anchor)
        if len(front) == point.index:
            return Rejection.NOTHING_DROPPED
        # Behind the seam nothing changes, so the front and the pair that it meets are all that can break.
        seam = (*(self.messages[index] for index in front), *self.messages[point.index : point.index + 2])
        if broken_rules(seam) - self.broken:
            return Rejection.BREAKS_A_RULE
        if self.budget is not None and not any_size:
            remainder = self.suffix[point.index] + sum(self.tokens[index] for index in front)
            return Rejection.OVER_BUDGET if remainder > self.budget else None
        return None

    def needs_anchor(self, point: TrimPoint) -> bool:
        """Say whether a tool pair would come first, or after a pinned message that is no plain user message."""
        pins = self.pinned[: bisect_left(self.pinned, point.index)]
        return point.kind == "tool_pair" and not (pins and _is_plain_user(self.messages, pins[-1]))

    def anchor(self, point: TrimPoint) -> int | None:
        """Return the nearest plain user message before a tool pair that needs one (#3447)."""
        before = bisect_left(self.plain_users, point.index)
        return self.plain_users[before - 1] if before and self.needs_anchor(point) else None

    def front(self, point: TrimPoint, anchor: int | None) -> list[int]:
        """Return the indices before the trim point that stay: the pinned ones and the anchor."""
        pins = self.pinned[: bisect_left(self.pinned, point.index)]
        return pins if anchor is None or anchor in pins else sorted([*pins, anchor])

    def cut(self, point: TrimPoint, start: int) -> DropMessages:
        """Return the edit that cuts at an accepted candidate."""
        anchor = self.anchor(point)
        kept = set(self.front(point, anchor))
        dropped = tuple(index for index in range(point.index) if index not in kept)
        return DropMessages(dropped, point.index, point.kind, start, anchor)
