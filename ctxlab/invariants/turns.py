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
    unanswered: list[_Loose] = []
    unasked: list[_Loose] = []
    mismatched: list[tuple[ToolBlock, list[_Loose], list[_Loose], str]] = []
    still_open: dict[str, deque[_Loose]] = defaultdict(deque)
    for position, turn in enumerate(turns):
        uses = turns[position - 1].uses if position else ()
        results = turn.results
        if not uses and not results:
            continue
        asked = {use.id for use in uses}
        answered = {result.id for result in results}
        same_number = len(uses) == len(results)
        extra = [_Loose(result, _result_case(result, asked, same_number)) for result in _without_partner(results, uses)]
        for result in extra:
            waiting = still_open[result.at.id]
            if waiting:
                waiting.popleft().case = "answered-later"
                result.case = "asked-earlier"
        missing = [_Loose(use, _use_case(use, answered, same_number)) for use in _without_partner(uses, results)]
        for use in missing:
            still_open[use.at.id].append(use)
        unasked += extra
        unanswered += missing
        if uses and results and (missing or extra):
            number = "ids" if same_number else "fewer" if len(results) < len(uses) else "more"
            mismatched.append((results[0], missing, extra, number))
    return View(
        messages,
        turns,
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
    may_grow = False  # may the next message join the turn?
    for index, message in enumerate(messages):
        own_role = role_of(message)
        if not (may_grow and own_role == role):
            if index:
                turns.append(Turn(role, start, index, tuple(uses), tuple(results)))
            start, role, uses, results = index, own_role, [], []
        if has_tool_use(message):
            uses += _tool_blocks(message, index, "toolUse", tool_use_ids(message))
        own_results: tuple[ToolBlock, ...] = ()
        if has_tool_result(message):
            own_results = _tool_blocks(message, index, "toolResult", tool_result_ids(message))
            results += own_results
        may_grow = merging == "same-role" or (
            merging == "results" and role == "user" and 0 < len(own_results) == len(blocks(message))
        )
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
