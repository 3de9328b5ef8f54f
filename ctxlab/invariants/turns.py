"""How a provider groups messages before it checks them, and which toolResult answers which toolUse.

A turn is a message, or several where a provider merges neighbours first. Nothing here says what is a breach.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ctxlab.messages import (
    Block,
    Message,
    blocks,
    has_tool_result,
    has_tool_use,
    tool_result_ids,
    tool_use_ids,
)

Merging = Literal["none", "same-role", "results"]
"""What is merged before pairing: nothing, neighbours of the same role, or a message that holds toolResults only with
a user message after it (the results become messages of their own, so nothing stands between them)."""


class ToolBlock(NamedTuple):
    """Where a toolUse or toolResult stands, and its id; a missing id is ``""``."""

    message: int
    block: int
    id: str


@dataclass(frozen=True, slots=True)
class Turn:
    """Neighbouring messages that count as one: their indices ``[start, stop)``, toolUses and toolResults in order."""

    role: str
    start: int
    stop: int
    uses: tuple[ToolBlock, ...]
    results: tuple[ToolBlock, ...]


@dataclass(slots=True)
class _Loose:
    at: ToolBlock
    case: str


class Gap(NamedTuple):
    """What a turn and the one before it leave without a partner, as far as these two alone tell.

    ``start`` is the first message of the later turn, ``answers`` its first toolResult where both have tool blocks,
    and ``number`` says how their numbers compare.
    """

    start: int
    uses: tuple[tuple[ToolBlock, str], ...]
    results: tuple[tuple[ToolBlock, str], ...]
    answers: ToolBlock | None
    number: str


class Unpaired(NamedTuple):
    """A toolUse without its toolResult, or the other way round, and which case of that it is."""

    at: ToolBlock
    case: str


class Mismatch(NamedTuple):
    """A turn whose toolResults are not, as a multiset, the toolUses of the turn before it."""

    at: ToolBlock
    missing: tuple[str, ...]
    surplus: tuple[str, ...]
    case: str


@dataclass(frozen=True, slots=True)
class View:
    """A conversation as a provider groups it, with what is left without a partner."""

    messages: Sequence[Message]
    turns: tuple[Turn, ...]
    gaps: tuple[Gap, ...]
    unanswered: tuple[Unpaired, ...]
    unasked: tuple[Unpaired, ...]
    mismatches: tuple[Mismatch, ...]

    def blocks_of(self, turn: Turn) -> Iterator[tuple[int, int, Block]]:
        """Yield message index, block index and block of a turn; a block that is no dict is left out."""
        for index in range(turn.start, turn.stop):
            for at, block in enumerate(blocks(self.messages[index])):
                if isinstance(block, dict):
                    yield index, at, block


def role_of(message: Message) -> str:
    """Return the role of a message, ``""`` where it has none."""
    role = message.get("role")
    return role if isinstance(role, str) else ""


def look(messages: Sequence[Message], merging: Merging = "none") -> View:
    """Group the messages into turns and pair each toolResult with a toolUse of the turn just before; linear in time.

    Ids are compared as multisets, first come first served. A toolUse in the last turn is pending and never unpaired.
    """
    turns = _turns(messages, merging)
    return paired(messages, turns, tuple(_gaps(turns)))


def joins(before: Message, message: Message, merging: Merging) -> bool:
    """Say whether a message belongs to the turn of the message before it."""
    if role_of(before) != role_of(message) or merging == "none":
        return False
    if merging == "same-role":
        return True
    content = blocks(before)
    return role_of(before) == "user" and len(content) > 0 and len(tool_result_ids(before)) == len(content)


def _gaps(turns: Sequence[Turn]) -> Iterator[Gap]:
    for position, turn in enumerate(turns):
        uses = turns[position - 1].uses if position else ()
        results = turn.results
        if not uses and not results:
            continue
        asked = {use.id for use in uses}
        answered = {result.id for result in results}
        same_number = len(uses) == len(results)
        extra = tuple((one, _result_case(one, asked, same_number)) for one in _without_partner(results, uses))
        missing = tuple((one, _use_case(one, answered, same_number)) for one in _without_partner(uses, results))
        if extra or missing:
            number = "ids" if same_number else "fewer" if len(results) < len(uses) else "more"
            yield Gap(turn.start, missing, extra, results[0] if uses and results else None, number)


def paired(messages: Sequence[Message], turns: tuple[Turn, ...], gaps: tuple[Gap, ...]) -> View:
    """Return a view in which it is known which toolResult answers a toolUse of a turn further up."""
    unanswered: list[_Loose] = []
    unasked: list[_Loose] = []
    mismatched: list[tuple[ToolBlock, list[_Loose], list[_Loose], str]] = []
    still_open: dict[str, deque[_Loose]] = defaultdict(deque)
    for gap in gaps:
        extra = [_Loose(*result) for result in gap.results]
        for result in extra:
            waiting = still_open[result.at.id]
            if waiting:
                waiting.popleft().case = "answered-later"
                result.case = "asked-earlier"
        missing = [_Loose(*use) for use in gap.uses]
        for use in missing:
            still_open[use.at.id].append(use)
        unasked += extra
        unanswered += missing
        if gap.answers is not None:
            mismatched.append((gap.answers, missing, extra, gap.number))
    return View(
        messages,
        turns,
        gaps,
        tuple(Unpaired(use.at, use.case) for use in unanswered),
        tuple(Unpaired(result.at, result.case) for result in unasked),
        # Only now is it known which toolUses find their answer further on.
        tuple(_mismatch(*mismatch) for mismatch in mismatched),
    )


def pending_tool_uses(messages: Sequence[Message]) -> tuple[ToolBlock, ...]:
    """Return the toolUses of the last message: not answered yet, and no breach of any rule (#1123)."""
    return _tool_blocks(messages[-1], len(messages) - 1, "toolUse", tool_use_ids(messages[-1])) if messages else ()


def _turns(messages: Sequence[Message], merging: Merging) -> tuple[Turn, ...]:
    turns: list[Turn] = []
    start, role = 0, ""
    uses: list[ToolBlock] = []
    results: list[ToolBlock] = []
    for index, message in enumerate(messages):
        if not (index and joins(messages[index - 1], message, merging)):
            if index:
                turns.append(Turn(role, start, index, tuple(uses), tuple(results)))
            start, role, uses, results = index, role_of(message), [], []
        if has_tool_use(message):
            uses += _tool_blocks(message, index, "toolUse", tool_use_ids(message))
        if has_tool_result(message):
            results += _tool_blocks(message, index, "toolResult", tool_result_ids(message))
    if messages:
        turns.append(Turn(role, start, len(messages), tuple(uses), tuple(results)))
    return tuple(turns)


def _tool_blocks(message: Message, index: int, kind: str, ids: tuple[str, ...]) -> tuple[ToolBlock, ...]:
    found = (at for at, block in enumerate(blocks(message)) if isinstance(block, dict) and kind in block)
    return tuple(ToolBlock(index, at, identifier) for at, identifier in zip(found, ids, strict=True))


def _without_partner(some: tuple[ToolBlock, ...], others: tuple[ToolBlock, ...]) -> list[ToolBlock]:
    if not others or not some:
        return list(some)
    if len(some) == len(others) == 1:  # by far the most common case
        return [] if some[0].id == others[0].id else list(some)
    left = Counter(other.id for other in others)
    alone = []
    for one in some:
        if left[one.id] > 0:
            left[one.id] -= 1
        else:
            alone.append(one)
    return alone


def _result_case(result: ToolBlock, asked: set[str], same_number: bool) -> str:
    if not asked:
        return "no-call-before"
    if result.id in asked:
        return "surplus"
    return "other-id" if same_number else "unasked"


def _use_case(use: ToolBlock, answered: set[str], same_number: bool) -> str:
    if use.id in answered:
        return "short"
    return "other-id" if same_number else "unanswered"


def _mismatch(at: ToolBlock, missing: list[_Loose], extra: list[_Loose], number: str) -> Mismatch:
    spread = all(use.case == "answered-later" for use in missing) and all(one.case == "asked-earlier" for one in extra)
    return Mismatch(
        at,
        tuple(use.at.id for use in missing),
        tuple(result.at.id for result in extra),
        "spread" if spread else number,
    )
