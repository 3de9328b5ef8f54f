"""How ctxlab's own careful sliding window chooses a cut: the newest release's rule without its known faults.

Ids are compared, a tool pair keeps the nearest plain user message before it as an anchor (#3447), a cut that would
break a rule which the conversation keeps is declined, and a token budget can be met in one go. Shortening texts is
not here, nor when to cut.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sized
from functools import cached_property
from itertools import accumulate
from typing import Any

from ctxlab.edits import DropMessages
from ctxlab.invariants import Case, broken_cases
from ctxlab.messages import Conversation, is_pinned
from ctxlab.survey import Survey
from ctxlab.tokens import TokenCounter
from ctxlab.trimming import CODES, Rejection, TrimPoint, TrimRule, preferred, trim_point

USER, PAIR = CODES["user"], CODES["tool_pair"]
STRICT = TrimRule(user_first=True, tool_pair="any role", strict=True)

TOLD = 250
"""Verdicts between two reports of progress: less than 0.1 s."""

Progress = Callable[[int, int], object]
"""Called with the messages that were looked at and all of them; may raise to stop."""


def search(
    messages: Conversation,
    start: int,
    budget: int | None = None,
    counter: TokenCounter | None = None,
    survey: Survey | None = None,
) -> DropMessages | None:
    """Return the cut that the careful policy takes at or after ``start``, None where every candidate is declined.

    With a budget in tokens: the first candidate of either kind whose remainder fits; where none does, the
    candidate that would be taken without a budget.
    """
    ground = _Ground(messages, survey or Survey(), budget, counter)
    if budget is not None:
        for index in sorted(preferred(ground.codes, start, STRICT)):
            if ground.rejection(index) is None:
                return ground.cut(index, start)
    for index in preferred(ground.codes, start, STRICT):
        if ground.rejection(index, any_size=True) is None:
            return ground.cut(index, start)
    return None


def trim_points(
    messages: Conversation,
    start: int,
    budget: int | None = None,
    counter: TokenCounter | None = None,
    progress: Progress | None = None,
) -> tuple[TrimPoint, ...]:
    """Return the careful verdict on every index, with the reason for which `search` declines it."""
    ground = _Ground(messages, Survey(), budget, counter)
    found = []
    for index in range(len(messages)):
        if progress is not None and index % TOLD == 0:
            progress(index, len(messages))
        found.append(TrimPoint(index, None, Rejection.BEFORE_START) if index < start else ground.verdict(index))
    return tuple(found)


def front(messages: Conversation, index: int, survey: Survey | None = None) -> tuple[int, ...]:
    """Return the messages before a trim point that stay: the pinned ones and the anchor of a tool pair (#3447)."""
    ground = _Ground(messages, survey or Survey(), None, None)
    return tuple(ground.front(index, ground.anchor(index)))


def breaks(messages: Conversation, kept: Iterable[int]) -> bool:
    """Say whether keeping only these messages breaks for some provider what the whole conversation does not."""
    return bool(broken_cases(tuple(messages[index] for index in kept)) - broken_cases(messages))


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


class _Ground:
    """What the search has to know of a conversation, each part found out when it is first asked for."""

    def __init__(
        self, messages: Conversation, survey: Survey, budget: int | None, counter: TokenCounter | None
    ) -> None:
        self.messages = messages
        self.survey = survey
        self.codes = survey.codes(messages, STRICT)
        self.budget = budget
        self.counter = counter
        self._pinned: list[int] = []
        self._surveyed = 0
        self._broken: dict[Case, bool] = {}

    def breaks(self, case: Case) -> bool:
        """Say whether the whole conversation breaks a case already, whoever may mind."""
        if case not in self._broken:
            self._broken[case] = self.survey.breaks(self.messages, case)
        return self._broken[case]

    @cached_property
    def tokens(self) -> list[int]:
        """The tokens of each message."""
        return [self.counter.message(message) for message in self.messages] if self.counter else []

    @cached_property
    def suffix(self) -> list[int]:
        """The tokens from each message to the end."""
        return list(accumulate(reversed(self.tokens)))[::-1]

    def pinned(self, stop: int) -> list[int]:
        """Return the indices of the pinned messages before ``stop``."""
        fresh = range(self._surveyed, stop)
        self._pinned += [index for index in fresh if is_pinned(self.messages, index)]
        self._surveyed = max(self._surveyed, stop)
        return self._pinned[: bisect_left(self._pinned, stop)]

    def verdict(self, index: int) -> TrimPoint:
        """Return the verdict on one index, the budget counted in."""
        point = trim_point(self.messages, index, STRICT)
        reason = self.rejection(index) if point.kind else point.reason
        return TrimPoint(index, None, reason) if reason else point

    def rejection(self, index: int, any_size: bool = False) -> Rejection | None:
        """Return why a candidate is declined after all; ``any_size`` leaves the budget out."""
        anchor = self.anchor(index)
        if anchor is None and self.needs_anchor(index):
            return Rejection.NO_ANCHOR
        front = self.front(index, anchor)
        if len(front) == index:
            return Rejection.NOTHING_DROPPED
        # Behind the seam nothing changes, so the front and the pair that it meets are all that can break.
        seam = (*(self.messages[kept] for kept in front), *self.messages[index : index + 2])
        if not all(map(self.breaks, self.survey.seam(seam))):
            return Rejection.BREAKS_A_RULE
        if self.budget is not None and not any_size:
            remainder = self.suffix[index] + sum(self.tokens[kept] for kept in front)
            return Rejection.OVER_BUDGET if remainder > self.budget else None
        return None

    def needs_anchor(self, index: int) -> bool:
        """Say whether a tool pair would come first, or after a pinned message that is no plain user message."""
        if self.codes[index] != PAIR:
            return False
        pins = self.pinned(index)
        return not (pins and self.codes[pins[-1]] == USER)

    def anchor(self, index: int) -> int | None:
        """Return the nearest plain user message before a tool pair that needs one (#3447)."""
        nearest = self.codes.rfind(USER, 0, index) if self.needs_anchor(index) else -1
        return None if nearest < 0 else nearest

    def front(self, index: int, anchor: int | None) -> list[int]:
        """Return the indices before the trim point that stay: the pinned ones and the anchor."""
        pins = self.pinned(index)
        return pins if anchor is None or anchor in pins else sorted([*pins, anchor])

    def cut(self, index: int, start: int) -> DropMessages:
        """Return the edit that cuts at an accepted candidate."""
        anchor = self.anchor(index)
        kept = set(self.front(index, anchor))
        dropped = tuple(before for before in range(index) if before not in kept)
        return DropMessages(dropped, index, trim_point(self.messages, index, STRICT).kind, start, anchor)
