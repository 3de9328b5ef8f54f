"""`Known`: a conversation whose breaches are known, so that what a reduction makes of it is judged by what differs.

The rules are those of the catalogue, asked about the turns around each place at which the two conversations part; the
rest was told before. A test holds the outcome against asking about everything. No rule is stated here.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from ctxlab.invariants.catalogue import CONVERSATION_RULES
from ctxlab.invariants.judging import UNLIMITED, Case, Verdict, broken_cases, in_order, judged, verdict, violations
from ctxlab.invariants.parting import Alike, Parts, parted, partings
from ctxlab.invariants.provider_rules import CHECKS, Limits
from ctxlab.invariants.rules import Violation
from ctxlab.invariants.turns import Gap, Merging, View, look, paired
from ctxlab.messages import Conversation, Message
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
        self._places: dict[int, int] = {}
        self._alike: Alike = {}
        self._views: dict[Merging, View] = {}
        self._breaches: dict[tuple[Merging, str, Limits], tuple[Violation, ...]] = {}

    def places(self, state: Conversation) -> list[int | None]:
        """Return where each message of a state is in the conversation that is known, None for a new or changed one."""
        if not self._places:
            self._places = {id(message): index for index, message in enumerate(self.messages)}
        return [self._places.get(id(message)) for message in state]

    def verdicts(
        self, state: Conversation, origins: Sequence[int | None], asked: Iterable[str] = ()
    ) -> tuple[Verdict, ...]:
        """Return what each provider (all, where none is named) makes of ``state``, as `verdict` does.

        ``origins`` says where each of its messages was in the conversation that is known, None for a new one. Raises
        ValueError for an unknown provider.
        """
        if not state:
            return tuple(verdict(state, name) for name in tuple(asked) or providers())
        parting = list(partings(self.messages, state, origins, self._alike))
        parts: dict[Merging, Parts] = {}
        found = []
        for name in tuple(asked) or providers():
            profiled = profile(name)
            if profiled.merges not in parts:
                parts[profiled.merges] = parted(state, origins, parting, profiled.merges)
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
        return in_order(
            list(self._six(parted(state, origins, partings(self.messages, state, origins, self._alike), "none")))
        )

    def breaks(self, state: Conversation, same: int, case: Case) -> bool:
        """Say whether a case is among the `broken_cases` of ``state``, whose last ``same`` messages are those here."""
        if not state:
            return case in broken_cases(state)
        merging, rule, name = case
        front, shift = len(state) - same, len(self.messages) - len(state)
        parting = range(front + 1) if front or shift else ()
        parts = parted(state, range(shift, len(self.messages)), parting, merging)
        if rule in PAIRING:
            return any(breach.case == name for breach in CONVERSATION_RULES[rule].check(self._pairs(parts)))
        limits = Limits() if rule in CONVERSATION_RULES else UNLIMITED
        both = chain(self._in_runs(parts, rule, limits), _in_windows(parts, rule, limits))
        return any(breach.case == name for breach, _ in both)

    def _found(self, parts: Parts, asked: Profile) -> Iterator[Violation]:
        yield from self._six(parts)
        limits = Limits(asked.id_pattern, asked.unsupported)
        for name in CHECKS:
            if name in asked.cells:
                yield from self._local(parts, name, limits if name in LIMITED else Limits())

    def _six(self, parts: Parts) -> Iterator[Violation]:
        pairs = self._pairs(parts)
        for rule in CONVERSATION_RULES.values():
            if rule.id in PAIRING:
                yield from rule.check(pairs)
            else:
                yield from self._local(parts, rule.id, Limits())

    def _local(self, parts: Parts, rule: str, limits: Limits) -> list[Violation]:
        key = (rule, limits)
        if key not in parts.found:
            both = chain(_in_windows(parts, rule, limits), self._in_runs(parts, rule, limits))
            parts.found[key] = [_shifted(breach, by) if by else breach for breach, by in both]
        return parts.found[key]

    def _in_runs(self, parts: Parts, rule: str, limits: Limits) -> Iterator[tuple[Violation, int]]:
        """Yield the breaches that are known, and by how much each is shifted."""
        told = self._known(parts.merging, rule, limits)
        for run in parts.runs:
            first, last = (bisect_left(told, at + run.shift, key=_place) for at in (run.start, run.stop))
            for breach in islice(told, first, last):
                yield breach, -run.shift

    def _pairs(self, parts: Parts) -> View:
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


def _in_windows(parts: Parts, rule: str, limits: Limits) -> Iterator[tuple[Violation, int]]:
    """Yield the breaches in what is looked at, and by how much each is shifted."""
    for window in parts.windows:
        for breach in _check(window.view, rule, limits):
            if window.start <= breach.index + window.first < window.stop:
                yield breach, window.first


def _place(breach: Violation) -> int:
    return breach.index


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
