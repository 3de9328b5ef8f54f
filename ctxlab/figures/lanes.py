"""One conversation under several policies, laid out by the messages of its start: a lane a policy, a cell a message.

A lane says of each message whether it stays, goes or is shortened, where the policy cut, which rules its reduction
broke and which providers refuse what is left. It is a record for JSON and for figures. Nothing is drawn here.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypedDict

import numpy as np

from ctxlab.checks import Breach, check_routine, check_trace
from ctxlab.comparison import Lane, Policy, compare
from ctxlab.figures.grouping import Groups
from ctxlab.figures.history import History, Ints, history
from ctxlab.figures.matrix import WHOLE, MatrixRow, letters
from ctxlab.figures.words import contents, plural, role
from ctxlab.invariants import CONVERSATION_RULES, Verdict, Violation, verdicts
from ctxlab.messages import Conversation, Message
from ctxlab.providers import providers
from ctxlab.recovery import recover
from ctxlab.reduction import Round
from ctxlab.releases import latest_change
from ctxlab.sliding_window import SlidingWindow
from ctxlab.survey import Survey
from ctxlab.tokens import COST_KINDS, Ledger, TokenCounter, ledger

Occasion = Literal["overflow", "routine"]
"""Why a policy acts: the model refused a call, or it manages the conversation as it does after every turn."""

RELEASES = ("1.28.0", "1.34.1", "1.35.0", "1.37.0", "1.40.0", "1.62.0")
"""Releases that tell the history of #2085, #2087, #2173, #2174 and #3447."""

STORY = {
    "1.28.0": "any message may come first; a result that is too large is thrown away whole",
    "1.34.1": "any message may come first (#2085); results keep their ends (#1756), also when nothing overflows (#702)",
    "1.35.0": "a plain user message must come first (#2087), and where only tools are left nothing can go (#2173)",
    "1.37.0": "where no plain user message is left, a tool pair may come first (#2174), with nothing before it",
    "1.40.0": "results are cut on overflow only (#702)",
    "1.62.0": "messages can be pinned (#2196); a pair still comes first without its question",
    "careful": "ctxlab's own: the pair keeps the nearest question before it as its anchor (#3447)",
}
"""What each of these releases changed, in the terms of that history."""


class Mark(TypedDict):
    """A breach of a rule: at which message of the start (-1: a new message), which rule, in words."""

    message: int
    rule: str
    detail: str


class Answer(TypedDict):
    """What a provider makes of what a lane leaves."""

    label: str
    status: str
    text: str


class Strip(TypedDict):
    """One lane. ``fates`` has a letter a bar: k stays, d goes, c is shortened, m some of each.

    ``shares`` says how much of the tokens of each bar stays, 0 to 100. ``cut`` and ``anchor`` are -1 for none.
    """

    name: str
    about: str
    outcome: str
    sentence: str
    fates: str
    shares: list[int]
    cut: int
    anchor: int
    left: int
    tokens: int
    marks: list[Mark]
    answers: list[Answer]


class Bar(TypedDict):
    """What a column of all lanes stands for: the kind of content that costs most in it and the words about it."""

    kind: str
    words: str
    height: int


class Lanes(TypedDict):
    """The whole picture: ``count`` messages in bars of ``size``, and the strips."""

    occasion: Occasion
    count: int
    size: int
    tokens: int
    budget: int
    bars: list[Bar]
    strips: list[Strip]


@dataclass(frozen=True, slots=True)
class Told:
    """A lane with its history, from which everything about it is looked up; ``last`` edits of it are the lane's.

    ``breaches`` are those that an overflow brings, ``verdicts`` are about the ``left`` messages.
    """

    lane: Lane
    history: History
    last: int
    breaches: tuple[Breach, ...]
    verdicts: tuple[Verdict, ...]
    left: int
    occasion: Occasion = "overflow"


def side_by_side(
    window_size: int = 40,
    releases: Iterable[str] = RELEASES,
    should_truncate_results: bool = True,
    careful: bool = True,
) -> Iterator[tuple[str, Policy]]:
    """Yield the policies to compare with a sentence about each: the releases, then careful unless left out."""
    for version in releases:
        about = STORY.get(version) or latest_change(version).sentence
        yield about, SlidingWindow.as_of(version, window_size, should_truncate_results)
    if careful:
        yield STORY["careful"], SlidingWindow.careful(window_size, should_truncate_results)


def lanes(
    messages: Sequence[Message],
    budget: int,
    counter: TokenCounter,
    policies: Iterator[tuple[str, Policy]],
    occasion: Occasion = "overflow",
) -> Lanes:
    """Play the policies and lay out what each does, message by message.

    On an overflow each recovers under ``budget`` tokens; in routine management each acts once, whatever the budget.
    """
    bill = ledger(messages, counter)
    bars = Groups.bars(0, len(messages))
    played = compare(messages, policies, budget, counter) if occasion == "overflow" else None
    found = played or tuple(_managed(tuple(messages), about, policy, budget, counter) for about, policy in policies)
    costs = cost_table(bill)
    told = [_told(lane, bill, occasion) for lane in found]
    return {
        "occasion": occasion,
        "count": len(messages),
        "size": bars.size,
        "tokens": bill.total,
        "budget": budget,
        "bars": list(column_bars(messages, costs, bars)),
        "strips": [lane_strip(one, costs, bars) for one in told],
    }


def cost_table(bill: Ledger) -> Ints:
    """Return the tokens of a ledger, a row a message, a column a kind of COST_KINDS."""
    return np.array(bill.kinds, dtype=np.int64).reshape(-1, len(COST_KINDS))


def _told(lane: Lane, bill: Ledger, occasion: Occasion) -> Told:
    past = history(lane.trace, bill)
    breaches = check_trace(lane.trace, truncates(lane.policy)) if occasion == "overflow" else ()
    final = lane.trace.final
    return Told(lane, past, len(past.edits), breaches, verdicts(final), len(final), occasion)


def truncates(policy: Policy) -> bool:
    """Say whether a policy may shorten tool results."""
    return policy.should_truncate_results if isinstance(policy, SlidingWindow) else True


class _Routine:
    """A policy that answers as it does in routine management, whatever it is asked."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def reduce(
        self, messages: Conversation, overflow: bool = True, round: int = 1, survey: Survey | None = None
    ) -> Round:
        """Return what routine management does."""
        return self.policy.manage(messages)


def _managed(messages: Conversation, about: str, policy: Policy, budget: int, counter: TokenCounter) -> Lane:
    trace = recover(messages, _Routine(policy), -1, counter, max_rounds=1)
    if trace.outcome == "gave up":  # it has acted once, which is all that it does
        warning = next((round.warning for round in trace.rounds), None)
        trace = replace(trace, outcome="fits", error=warning)
    return Lane(policy.name, about, policy, replace(trace, budget=budget, refused_calls=0))


def column_bars(messages: Sequence[Message], table: Ints, bars: Groups) -> Iterator[Bar]:
    """Yield what each column stands for: the kind that costs most in it, its share of the highest, its words.

    ``table`` is the `cost_table` of the messages.
    """
    costs = bars.sums(table)
    most = max(1, int(costs.sum(axis=1).max(initial=1)))
    for start, end, cost in zip(bars.starts.tolist(), bars.ends.tolist(), costs, strict=True):
        kind = COST_KINDS[int(cost.argmax())]
        tokens = int(cost.sum())
        if end - start == 1:
            what = (
                f"message {start:,} · {role(messages[start])} · {contents(messages[start])} · {plural(tokens, 'token')}"
            )
        else:
            what = f"messages {start:,} to {end - 1:,} · {plural(tokens, 'token')}"
        yield {"kind": kind, "words": what, "height": round(100 * tokens / most)}


def lane_strip(told: Told, table: Ints, bars: Groups) -> Strip:
    """Lay out one lane; ``table`` is the `cost_table` of the messages that its trace starts from."""
    trace, past, last = told.lane.trace, told.history, told.last
    gone = past.gone_at <= last
    lost = past.lost(last).sum(axis=1)
    costs = table.sum(axis=1)
    going = bars.sums(gone.astype(np.int64))
    stays = bars.sums(np.where(gone, 0, costs - lost))
    whole = np.maximum(bars.sums(costs), 1)
    shortened = bars.sums(((lost != 0) & ~gone).astype(np.int64))
    cut = past.cut(last)
    return {
        "name": told.lane.name,
        "about": told.lane.about,
        "outcome": trace.outcome,
        "sentence": _sentence(told),
        "fates": "".join(map(_fate, going.tolist(), shortened.tolist(), bars.sizes.tolist())),
        "shares": np.clip(np.round(100 * stays / whole), 0, 100).astype(int).tolist(),
        "cut": cut.index if cut else -1,
        "anchor": cut.anchor if cut and cut.anchor is not None else -1,
        "left": told.left,
        "tokens": trace.tokens[-1],
        "marks": list(_marks(told)),
        "answers": answers(told.verdicts),
    }


def _fate(going: int, shortened: int, size: int) -> str:
    if going == size:
        return "d"
    return "m" if going else "c" if shortened else "k"


def _sentence(told: Told) -> str:
    trace = told.lane.trace
    kept = f"{plural(told.left, 'message')} and {plural(trace.tokens[-1], 'token')} left"
    calls = f", after {plural(trace.refused_calls, 'refused call')}" if told.occasion == "overflow" else ""
    said = f"“{trace.error}” " if trace.error else ""
    return f"{said}{kept}{calls}"


def _marks(told: Told) -> Iterator[Mark]:
    seen = set()
    for message, found, where in _breaches(told):
        if (found.rule, message) not in seen:
            seen.add((found.rule, message))
            yield {"message": -1 if message is None else message, "rule": found.rule, "detail": found.detail + where}


def _breaches(told: Told) -> Iterator[tuple[int | None, Violation, str]]:
    trace = told.lane.trace
    if told.occasion == "overflow":
        for breach in told.breaches:
            yield breach.origin, breach.violation, f" (round {breach.round:,})" if len(trace.rounds) > 1 else ""
        return
    origins = [step.origins for step in trace.steps()]
    for round in trace.rounds:
        for found in check_routine(trace.start, round):
            reduction = found.rule not in CONVERSATION_RULES
            yield found.index if reduction else origins[-1][found.index], found, ""


def policy_rows(count: int, as_it_is: Sequence[Verdict], lanes: Sequence[tuple[str, Told]]) -> Iterator[MatrixRow]:
    """Yield what providers make of ``count`` messages as they are, then of what each lane leaves: a row each.

    Their keys are WHOLE, WHOLE - 1 and so on; a lane has its name.
    """
    rows = [("as it is", plural(count, "message"), as_it_is)]
    for name, told in lanes:
        outcome = told.lane.trace.outcome
        rows.append((name, f"{outcome}, {plural(told.left, 'message')}", told.verdicts))
    for number, (head, about, found) in enumerate(rows):
        key = WHOLE - number
        yield {
            "key": key, "sign": "", "head": head, "about": about, "candidate": True, "taken": False,
            "states": letters(found),
        }  # fmt: skip


def answers(found: Iterable[Verdict]) -> list[Answer]:
    """Return verdicts as they are shown: the provider's label, the status, the first text that it would answer."""
    labels = providers()
    return [{"label": labels[one.provider], "status": one.status, "text": next(iter(one.texts), "")} for one in found]
