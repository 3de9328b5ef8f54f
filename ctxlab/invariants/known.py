"""`Known`: a conversation whose breaches are known, so that what a reduction makes of it is judged by what differs.

The rules are those of the catalogue, asked about the turns around each place at which the two conversations part; the
rest was told before. A test holds the outcome against asking about everything. No rule is stated here.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ctxlab.invariants.catalogue import CONVERSATION_RULES
from ctxlab.invariants.judging import Verdict, in_order, judged, verdict, violations
from ctxlab.invariants.provider_rules import CHECKS, Limits
from ctxlab.invariants.rules import Violation
from ctxlab.invariants.turns import Gap, Merging, View, joins, look, paired, role_of
from ctxlab.messages import Conversation, Message, blocks, tool_result_ids, tool_use_ids
from ctxlab.providers import Profile, profile, providers

PAIRING = ("no-orphan-result", "no-orphan-use", "ids-match")
"""The rules that ask which toolResult answers which toolUse, however far apart; all others look at one turn and the
message before it."""


LIMITED = ("id-form", "supported-blocks")
"""The rules whose breaches depend on a provider's limits."""


class Known:
    """A conversation, looked at once: its turns under each grouping, and the breaches of each rule."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.messages: Conversation = tuple(messages)
        self._views: dict[Merging, View] = {}
        self._breaches: dict[tuple[Merging, str, Limits], tuple[Violation, ...]] = {}

    def verdicts(
        self, state: Conversation, origins: Sequence[int | None], asked: Iterable[str] = ()
    ) -> tuple[Verdict, ...]:
        """Return what each provider (all, where none is named) makes of ``state``, as `verdict` does.

        ``origins`` says where each of its messages was in the conversation that is known, None for a new one. Raises
        ValueError for an unknown provider.
        """
        if not state:
            return tuple(verdict(state, name) for name in tuple(asked) or providers())
        parting = list(self._parting(state, origins))
        parts: dict[Merging, _Parts] = {}
        found = []
        for name in tuple(asked) or providers():
            profiled = profile(name)
            if profiled.merges not in parts:
                parts[profiled.merges] = _parts(state, origins, parting, profiled.merges)
            found.append(judged(profiled, list(self._found(parts[profiled.merges], profiled))))
        return tuple(found)

    def violations(
        self, state: Conversation, origins: Sequence[int | None], provider: str | None = None
    ) -> tuple[Violation, ...]:
        """Return the breaches in ``state``, as `violations` does. Raises ValueError for an unknown provider."""
        if provider is not None:
            return self.verdicts(state, origins, (provider,))[0].violations
        if not state:
            return violations(state)
        return in_order(list(self._six(_parts(state, origins, self._parting(state, origins), "none"))))

    def _parting(self, state: Conversation, origins: Sequence[int | None]) -> Iterator[int]:
        """Yield the places between messages of the state, in order, at which it does not go on as what is known."""
        before: int | None = -1
        for at, (message, origin) in enumerate(zip(state, origins, strict=True)):
            same = origin is not None and looks_alike(self.messages[origin], message)
            if not same or before is None or origin != before + 1:
                yield at
            before = origin if same else None
        if before != len(self.messages) - 1:
            yield len(state)

    def _found(self, parts: "_Parts", asked: Profile) -> Iterator[Violation]:
        yield from self._six(parts)
        limits = Limits(asked.id_pattern, asked.unsupported)
        for name in CHECKS:
            if name in asked.cells:
                yield from self._local(parts, name, limits if name in LIMITED else Limits())

    def _six(self, parts: "_Parts") -> Iterator[Violation]:
        pairs = self._pairs(parts)
        for rule in CONVERSATION_RULES.values():
            if rule.id in PAIRING:
                yield from rule.check(pairs)
            else:
                yield from self._local(parts, rule.id, Limits())

    def _local(self, parts: "_Parts", rule: str, limits: Limits) -> list[Violation]:
        key = (rule, limits)
        if key not in parts.found:
            told = self._known(parts.merging, rule, limits)
            places = [breach.index for breach in told]
            found = [
                _shifted(breach, window.first)
                for window in parts.windows
                for breach in _check(window.view, rule, limits)
                if window.start <= breach.index + window.first < window.stop
            ]
            for run in parts.runs:
                first, last = (bisect_left(places, at + run.shift) for at in (run.start, run.stop))
                kept = told[first:last]
                found += [_shifted(one, -run.shift) for one in kept] if run.shift else kept
            parts.found[key] = found
        return parts.found[key]

    def _pairs(self, parts: "_Parts") -> View:
        if parts.pairs is None:
            gaps = [
                _moved(gap, window.first)
                for window in parts.windows
                for gap in window.view.gaps
                if window.start <= gap.start + window.first < window.stop
            ]
            told = self._view(parts.merging).gaps if parts.runs else ()
            places = [gap.start for gap in told]
            for run in parts.runs:
                first, last = (bisect_left(places, at + run.shift) for at in (run.start, run.stop))
                gaps += [_moved(gap, -run.shift) for gap in told[first:last]]
            parts.pairs = paired(parts.state, (), tuple(sorted(gaps, key=lambda gap: gap.start)))
        return parts.pairs

    def _known(self, merging: Merging, rule: str, limits: Limits) -> tuple[Violation, ...]:
        key = (merging, rule, limits)
        if key not in self._breaches:
            found = _check(self._view(merging), rule, limits)
            self._breaches[key] = tuple(sorted(found, key=lambda breach: breach.index))
        return self._breaches[key]

    def _view(self, merging: Merging) -> View:
        if merging not in self._views:
            self._views[merging] = look(self.messages, merging)
        return self._views[merging]


@dataclass(frozen=True, slots=True)
class _Window:
    """Messages ``[start, stop)`` that are looked at, in a view that begins at ``first`` with the turn before them."""

    start: int
    stop: int
    first: int
    view: View


@dataclass(frozen=True, slots=True)
class _Run:
    """Messages ``[start, stop)`` about which all is known; what is known counts them ``shift`` further on."""

    start: int
    stop: int
    shift: int


@dataclass(slots=True)
class _Parts:
    """A state under one grouping, in parts, and what was found in it so far."""

    state: Conversation
    merging: Merging
    windows: tuple[_Window, ...]
    runs: tuple[_Run, ...]
    found: dict[tuple[str, Limits], list[Violation]]
    pairs: View | None = None


def _parts(state: Conversation, origins: Sequence[int | None], parting: Iterable[int], merging: Merging) -> _Parts:
    """Part a state: a window for the turns at each parting and a turn on both sides, a run for what lies between."""
    windows = [_window(state, start, stop, merging) for start, stop in _regions(state, parting, merging)]
    runs = []
    edges = [0, *(edge for window in windows for edge in (window.start, window.stop)), len(state)]
    for start, stop in zip(edges[::2], edges[1::2], strict=True):
        origin = origins[start] if start < stop else None
        if origin is not None:
            runs.append(_Run(start, stop, origin - start))
    return _Parts(state, merging, tuple(windows), tuple(runs), {})


def _regions(state: Conversation, parting: Iterable[int], merging: Merging) -> Iterator[tuple[int, int]]:
    start = stop = -1
    for at in parting:
        right = _turn_end(state, _turn_end(state, at, merging), merging)
        if start >= 0 and at <= stop:
            stop = max(stop, right)
            continue
        left = _turn_start(state, _turn_start(state, at, merging), merging)
        if start >= 0 and left <= stop:
            stop = max(stop, right)
            continue
        if start >= 0:
            yield start, stop
        start, stop = left, right
    if start >= 0:
        yield start, stop


def _window(state: Conversation, start: int, stop: int, merging: Merging) -> _Window:
    first, last = _turn_start(state, start, merging), _turn_end(state, stop, merging)
    return _Window(start, stop, first, look(state[first:last], merging))


def _turn_start(state: Conversation, at: int, merging: Merging) -> int:
    """Return where the turn of the message before ``at`` starts; 0 where there is none."""
    at = max(0, at - 1)
    while at > 0 and joins(state[at - 1], state[at], merging):
        at -= 1
    return at


def _turn_end(state: Conversation, at: int, merging: Merging) -> int:
    """Return where the turn of the message ``at`` ends; the end where there is none."""
    at = min(len(state), at + 1)
    while 0 < at < len(state) and joins(state[at - 1], state[at], merging):
        at += 1
    return at


def _check(view: View, rule: str, limits: Limits) -> Iterable[Violation]:
    return CONVERSATION_RULES[rule].check(view) if rule in CONVERSATION_RULES else CHECKS[rule](view, limits)


def _shifted(breach: Violation, by: int) -> Violation:
    # There may be thousands of them a cut: `dataclasses.replace` takes six times as long.
    return Violation(breach.rule, breach.index + by, breach.detail, breach.block, breach.case)


def _moved(gap: Gap, by: int) -> Gap:
    if not by:
        return gap
    uses, results = (
        tuple((at._replace(message=at.message + by), case) for at, case in some) for some in (gap.uses, gap.results)
    )
    answers = gap.answers and gap.answers._replace(message=gap.answers.message + by)
    return Gap(gap.start + by, uses, results, answers, gap.number)


def looks_alike(one: Message, other: Message) -> bool:
    """Say whether two messages are the same to every rule about a conversation: role, blocks, ids, blank texts."""
    if one is other:
        return True
    mine, theirs = blocks(one), blocks(other)
    if role_of(one) != role_of(other) or len(mine) != len(theirs):
        return False
    if not mine:
        return one.get("content") == other.get("content")
    if tool_use_ids(one) != tool_use_ids(other) or tool_result_ids(one) != tool_result_ids(other):
        return False
    return all(was is now or _outline(was) == _outline(now) for was, now in zip(mine, theirs, strict=True))


def _outline(block: Any) -> object:
    if not isinstance(block, dict):
        return None
    text = block.get("text")
    return block.keys(), not text, isinstance(text, str) and text.isspace()
