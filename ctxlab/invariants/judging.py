"""Asking the rules: every breach in a conversation, what a provider makes of it, and what a reduction broke.

A verdict is about a conversation as history: whether it ends well is not judged, the next message is still to come.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import get_args

from ctxlab.invariants.catalogue import CONVERSATION_RULES, REDUCTION_RULES
from ctxlab.invariants.provider_rules import CHECKS, Limits
from ctxlab.invariants.reductions import Reduction
from ctxlab.invariants.rules import Violation
from ctxlab.invariants.turns import Merging, View, joins, look
from ctxlab.messages import Message
from ctxlab.providers import Cell, Profile, Status, profile, providers

Case = tuple[Merging, str, str]
"""Something that a provider could mind: the grouping under which it does, the rule, the case of its breach."""

UNLIMITED = Limits(".*")
"""The limits of a provider that takes any id and any block."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """One breach, and what the provider does about it on which evidence."""

    violation: Violation
    cell: Cell


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a provider makes of a conversation: accepted, refused, or unknown where nobody has found out.

    ``judgements`` are all breaches that the provider may mind, refused ones first.
    """

    provider: str
    status: Status
    judgements: tuple[Judgement, ...]

    @property
    def violations(self) -> tuple[Violation, ...]:
        """The breaches for which the provider refuses."""
        return self._of("refused")

    @property
    def undecided(self) -> tuple[Violation, ...]:
        """The breaches of which it is not known whether the provider minds."""
        return self._of("unknown")

    @property
    def texts(self) -> tuple[str, ...]:
        """What the provider would answer, each text once; empty where its words are not known."""
        texts = (judgement.cell.error_text for judgement in self.judgements)
        return tuple(dict.fromkeys(text for text in texts if text))

    def _of(self, status: Status) -> tuple[Violation, ...]:
        return tuple(judgement.violation for judgement in self.judgements if judgement.cell.status == status)


def violations(messages: Sequence[Message], provider: str | None = None) -> tuple[Violation, ...]:
    """Return every breach of the six rules about one conversation, or of those that a provider is known to enforce.

    With a provider, neighbouring messages are merged first where it does so, its own further rules count too, and
    what is not known about it is left out: `verdict` shows that. Breaches come in message order. Raises ValueError
    for an unknown provider.
    """
    if provider is not None:
        return verdict(messages, provider).violations
    view = look(messages)
    return in_order([breach for rule in CONVERSATION_RULES.values() for breach in rule.check(view)])


def verdict(messages: Sequence[Message], provider: str) -> Verdict:
    """Say what a provider makes of a conversation. Raises ValueError for an unknown provider.

    A toolUse in the last message is pending and minded by nobody.
    """
    asked = profile(provider)
    return judged(asked, _breaches(messages, asked))


def judged(asked: Profile, breaches: Sequence[Violation]) -> Verdict:
    """Return what a provider makes of breaches, rule by rule in the order of the catalogue and its own further ones."""
    # There may be thousands of them, of a few cases.
    cells = {case: asked.cell(*case) for case in {(breach.rule, breach.case) for breach in breaches}}
    both = ((breach, cells[breach.rule, breach.case]) for breach in breaches)
    found = [Judgement(breach, cell) for breach, cell in both if cell.status != "accepted"]
    minded = sorted(found, key=lambda judgement: judgement.violation.index)
    refused = [judgement for judgement in minded if judgement.cell.status == "refused"]
    unknown = [judgement for judgement in minded if judgement.cell.status == "unknown"]
    return Verdict(asked.name, "refused" if refused else "unknown" if unknown else "accepted", (*refused, *unknown))


def verdicts(messages: Sequence[Message]) -> tuple[Verdict, ...]:
    """Return the verdict of every provider, in the order of `providers()`."""
    return tuple(verdict(messages, provider) for provider in providers())


def broken_rules(messages: Sequence[Message], head: int | None = None) -> frozenset[str]:
    """Return the ids of those of the six rules that the conversation breaks; each is left at its first breach.

    ``head`` looks at the first so many messages only, in the light of the one after them.
    """
    view = look(messages if head is None else messages[: head + 1])
    return frozenset(
        rule.id
        for rule in CONVERSATION_RULES.values()
        if any(head is None or breach.index < head for breach in rule.check(view))
    )


def broken_cases(messages: Sequence[Message]) -> frozenset[Case]:
    """Return all that any provider could mind: grouping, rule and case of each breach, rules of single providers too.

    A conversation whose broken cases are all among those of another is refused by no provider for a new reason; how
    ids are formed and which blocks can be sent is left out, since no reduction changes that.
    """
    found: set[Case] = set()
    alone = _cases(look(messages))
    for merging in get_args(Merging):
        # Where nothing is merged, every grouping finds the same.
        merges = any(joins(*both, merging) for both in pairwise(messages))
        found |= {(merging, *case) for case in (_cases(look(messages, merging)) if merges else alone)}
    return frozenset(found)


def _cases(view: View) -> set[tuple[str, str]]:
    """Return rule and case of each breach in a view."""
    found = {(breach.rule, breach.case) for rule in CONVERSATION_RULES.values() for breach in rule.check(view)}
    return found | {(breach.rule, breach.case) for check in CHECKS.values() for breach in check(view, UNLIMITED)}


def reduction_violations(reduction: Reduction) -> tuple[Violation, ...]:
    """Return every breach of the eight rules about a reduction, in message order."""
    return in_order([breach for rule in REDUCTION_RULES.values() for breach in rule.check(reduction)])


def new_violations(
    before: Sequence[Message], after: Sequence[Message], provider: str | None = None
) -> tuple[Violation, ...]:
    """Return the breaches in ``after`` of those rules that ``before`` did not break."""
    old = {breach.rule for breach in violations(before, provider)}
    return tuple(breach for breach in violations(after, provider) if breach.rule not in old)


def _breaches(messages: Sequence[Message], asked: Profile) -> list[Violation]:
    view: View = look(messages, asked.merges)
    limits = Limits(asked.id_pattern, asked.unsupported)
    six = [breach for rule in CONVERSATION_RULES.values() for breach in rule.check(view)]
    further = [breach for name, check in CHECKS.items() if name in asked.cells for breach in check(view, limits)]
    return six + further


def in_order(breaches: Sequence[Violation]) -> tuple[Violation, ...]:
    """Return breaches in message order."""
    # The sort is stable: at one message, rules stay in their own order.
    return tuple(sorted(breaches, key=lambda breach: breach.index))
