"""A whole check of one session as one record: the conversation, what a policy makes of it, and all on the way there.

The rules live in `ctxlab.invariants`, and where their facts come from in `ctxlab.checks`; here they are asked, one
provider after another, and each answer is kept with its evidence. Unknown stays unknown. Nothing is printed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ctxlab.checks import check_routine, check_trace
from ctxlab.comparison import Policy
from ctxlab.invariants import REDUCTION_RULES, Verdict, Violation, verdict, violations
from ctxlab.messages import Conversation, Message
from ctxlab.providers import Cell, Status, profile, providers
from ctxlab.recovery import recover
from ctxlab.reduction import ContextWindowOverflow, Trace
from ctxlab.repairs import Repair, repair
from ctxlab.replay import origins
from ctxlab.sliding_window import SlidingWindow
from ctxlab.tokens import TokenCounter

Stage = Literal["as it is", "on overflow", "at the end", "in routine"]
"""Where something was found: in the conversation; by an edit or a round of the trace; in what the trace leaves; in what
routine management does."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One breach: at which stage, of which rule, at which message as counted at the start (None: a new message).

    ``provider`` is the one that was asked, ``""`` where the rules themselves were. ``status`` is "refused" or "unknown"
    for a provider, and "refused" for a rule. ``cell`` holds the provider's answer and the evidence for it. ``round`` is
    None outside of a trace.
    """

    stage: Stage
    provider: str
    status: Status
    violation: Violation
    message: int | None
    round: int | None = None
    cell: Cell | None = None

    @property
    def sentence(self) -> str:
        """The breach in words, with what the provider would answer where that is known."""
        where = "a new message" if self.message is None else f"message {self.message:,}"
        round = f"round {self.round:,}, " if self.round is not None else ""
        said = f"{round}{where}: {self.violation.detail}."
        if self.status == "unknown":
            return f"{said} Nobody has found out whether {_label(self.provider)} minds."
        if self.cell and self.cell.error_text:
            return f"{said} {_label(self.provider)} answers: “{self.cell.error_text}” ({self.cell.certainty})"
        if self.cell:
            return f"{said} {_label(self.provider)} refuses it, in words that are not known ({self.cell.certainty})."
        return said


@dataclass(frozen=True, slots=True)
class Audit:
    """All that was found. ``before`` and ``after`` are verdicts, one each of ``asked``.

    ``after`` is () without a policy. ``repairs`` are proposals for the last state. ``routine_error`` is what routine
    management raised.
    """

    asked: tuple[str, ...]
    before: tuple[Verdict, ...]
    after: tuple[Verdict, ...]
    findings: tuple[Finding, ...]
    repairs: tuple[Repair, ...]
    trace: Trace | None = None
    routine_error: str | None = None

    @property
    def status(self) -> Status:
        """The worst of all findings; "accepted" only where nothing was found."""
        found = {finding.status for finding in self.findings}
        return "refused" if "refused" in found else "unknown" if "unknown" in found else "accepted"

    @property
    def recovers(self) -> bool:
        """Whether the policy makes the conversation fit: True without a policy, too."""
        return self.trace is None or self.trace.outcome == "fits"


def audit(
    messages: Sequence[Message],
    asked: Sequence[str] = (),
    policy: Policy | None = None,
    budget: int = 0,
    counter: TokenCounter | None = None,
) -> Audit:
    """Check a conversation, and with a policy also what an overflow under ``budget`` tokens and routine management do.

    Without providers the rules themselves are asked, and the verdicts are those of every provider. A policy needs a
    ``counter``. What a reduction is blamed for is what its input did not break. Raises ValueError for an unknown
    provider and for a policy without a counter.
    """
    start = tuple(messages)
    targets = tuple(dict.fromkeys(asked))
    named = targets or tuple(providers())
    before = tuple(verdict(start, provider) for provider in named)
    findings = list(_in_conversation(start, targets))
    if policy is None:
        return Audit(named, before, (), tuple(findings), _proposals(start, named, ()))
    if counter is None:
        raise ValueError(f"a policy needs a counter to count with, got policy {policy!r} and no counter")
    trace = recover(start, policy, budget, counter)
    findings += _in_trace(trace, policy, targets)
    error = None
    try:
        findings += _in_routine(start, policy, targets)
    except ContextWindowOverflow as refusal:
        error = str(refusal)
    after = tuple(verdict(trace.final, provider) for provider in named)
    return Audit(named, before, after, tuple(findings), _proposals(trace.final, named, cut_off(trace)), trace, error)


def cut_off(trace: Trace) -> Conversation:
    """Return what stood before the conversation that a trace leaves: where its repair may find an anchor (#3447)."""
    places = origins(trace.edits, len(trace.start))
    return trace.start[: next((origin for origin in places if origin is not None), len(trace.start))]


def _in_conversation(messages: Conversation, targets: Sequence[str]) -> Iterator[Finding]:
    if not targets:
        for breach in violations(messages):
            yield Finding("as it is", "", "refused", breach, breach.index)
    for provider in targets:
        for judgement in verdict(messages, provider).judgements:
            breach, cell = judgement.violation, judgement.cell
            yield Finding("as it is", provider, cell.status, breach, breach.index, cell=cell)


def _in_trace(trace: Trace, policy: Policy, targets: Sequence[str]) -> Iterator[Finding]:
    truncates = policy.should_truncate_results if isinstance(policy, SlidingWindow) else True
    for number, provider in enumerate(targets or ("",)):
        for breach in check_trace(trace, truncates, provider or None):
            conversation = breach.violation.rule not in REDUCTION_RULES
            if conversation or number == 0:  # a rule about reductions knows no provider: it is told once
                cell = _cell(provider, breach.violation) if conversation else None
                asked = provider if conversation else ""
                yield Finding("on overflow", asked, "refused", breach.violation, breach.origin, breach.round, cell)
    places = origins(trace.edits, len(trace.start))
    for provider in targets:
        yield from _new("at the end", trace.start, trace.final, places, provider, "unknown")


def _in_routine(start: Conversation, policy: Policy, targets: Sequence[str]) -> Iterator[Finding]:
    done = policy.manage(start)
    places = origins(done.edits, len(start))
    for breach in check_routine(start, done) if done.edits else ():
        if breach.rule in REDUCTION_RULES:
            yield Finding("in routine", "", "refused", breach, breach.index)
        elif not targets:
            yield Finding("in routine", "", "refused", breach, _at(places, breach))
    for provider in targets:
        yield from _new("in routine", start, done.messages, places, provider)


def _new(
    stage: Stage,
    before: Conversation,
    after: Conversation,
    places: Sequence[int | None],
    provider: str,
    only: Status | None = None,
) -> Iterator[Finding]:
    """Yield what a provider minds, or may mind, of the state after, of rules for which the state before was fine."""
    old = {(judgement.violation.rule, judgement.cell.status) for judgement in verdict(before, provider).judgements}
    for judgement in verdict(after, provider).judgements:
        breach, cell = judgement.violation, judgement.cell
        if (breach.rule, cell.status) not in old and only in (None, cell.status):
            yield Finding(stage, provider, cell.status, breach, _at(places, breach), cell=cell)


def _at(places: Sequence[int | None], breach: Violation) -> int | None:
    return places[breach.index] if breach.index < len(places) else None


def _proposals(state: Conversation, named: Sequence[str], cut_off: Conversation) -> tuple[Repair, ...]:
    proposals = (repair(state, provider, cut_off) for provider in named)
    return tuple(proposal for proposal in proposals if proposal is not None)


def _cell(provider: str, breach: Violation) -> Cell | None:
    return profile(provider).cell(breach.rule, breach.case) if provider else None


def _label(provider: str) -> str:
    return providers()[provider]
