"""What a person takes away from what the explorer shows: one call into `takeaway`, for what is chosen.

The policy shown is the one that is wrong; which one does it right is looked for where nobody says. No widget lives
here, and no rule.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from ctxlab.comparison import Policy as Manager
from ctxlab.explorers.findings import Findings
from ctxlab.explorers.policy_bar import releases, summary_releases
from ctxlab.explorers.state import Policy
from ctxlab.explorers.work import Stopped
from ctxlab.faults import MAX_CALLS, Fault, find_fault
from ctxlab.releases import NEWEST, parse
from ctxlab.report import html_page
from ctxlab.summarizing import LAST_KNOWN
from ctxlab.takeaway import (
    Artifact,
    Enough,
    NoFault,
    failing_test,
    proven,
    reduced_session,
    trace_record,
    trace_table,
    whole_session,
)

What = Literal["test", "page", "reduced", "session", "trace", "table"]

FIND = "find"
"""The choice of a right policy that is left to be looked for."""

ALONE = "alone"
"""The choice to have no right policy: what was whole must be broken."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is wanted. ``right`` is a release, "careful", "proportional", `FIND` or `ALONE`.

    With ``prove`` a failing test is run on the releases, and those that are not there yet are fetched.
    """

    what: What = "test"
    right: str = FIND
    keep_text: bool = False
    redacted: bool = True
    names: tuple[str, ...] = ()
    prove: bool = True


def take(findings: Findings, wish: Wish) -> Artifact:
    """Return what is wanted. Raises NoFault and ValueError in words."""
    run, trace = findings.run, findings.trace
    words = (wish.redacted, wish.names)
    if wish.what == "page":
        return html_page(
            findings.session,
            run.manager,
            findings.state.budget,
            findings.counter,
            *words,
            progress=findings.progress,
            bill=findings.ledger,
            trace=trace,
        )
    if wish.what == "session":
        return whole_session(findings.session, *words)
    if wish.what == "trace":
        return trace_record(trace, run.manager, findings.session.name, *words)
    if wish.what == "table":
        return trace_table(trace)
    right, max_calls = _right(findings, wish.right)
    before = len(findings.messages)

    def reducing(tries: int, messages: int, characters: int) -> None:
        try:
            findings.progress(f"Reducing, {tries:,} tries, messages left", messages, before)
        except Stopped:
            raise Enough from None  # what was found so far is of use

    make = failing_test if wish.what == "test" else reduced_session
    try:
        made = make(
            findings.session,
            _manager(findings, findings.state.policy),
            right,
            max_calls=max_calls,
            keep_text=wish.keep_text,
            redacted=wish.redacted,
            names=wish.names,
            progress=reducing,
        )
    except NoFault:
        name = run.manager.name
        raise NoFault(f"{name} does nothing wrong here that a test could show. {_elsewhere(findings)}") from None
    if wish.what != "test" or not wish.prove:
        return made
    return proven(made, fetch=True, progress=lambda words: findings.progress(words, 0, 0))


def rights(policy: Policy) -> dict[str, Policy]:
    """Return the policies that may do right what one does wrong: later releases, ctxlab's own, earlier releases."""
    found = list(better(policy))
    own = parse(policy.release)
    earlier = [_as_of(policy, release) for release in _offered(policy) if parse(release) < own]
    return {_name(one): one for one in (*found, *earlier)}


def better(policy: Policy) -> Iterator[Policy]:
    """Yield the policies that were made to do it better: the releases that came later, oldest first, and ctxlab's."""
    own = parse(policy.release)
    yield from (_as_of(policy, release) for release in reversed(_offered(policy)) if parse(release) > own)
    if policy.kind == "summarizing":
        yield replace(policy, release=LAST_KNOWN, fallback="proportional")
    elif policy.kind == "release":
        yield replace(policy, kind="careful", release=NEWEST, aims=False)


def _offered(policy: Policy) -> tuple[str, ...]:
    offered = {"summarizing": summary_releases, "release": releases}.get(policy.kind)
    return offered() if offered else ()


def _as_of(policy: Policy, release: str) -> Policy:
    return replace(policy, release=release, fallback="release")


def _name(policy: Policy) -> str:
    if policy.kind == "careful" or policy.fallback == "proportional":
        return "careful" if policy.kind == "careful" else "proportional"
    return policy.release


def _right(findings: Findings, choice: str) -> tuple[Manager | None, int]:
    """Return the policy that does it right, and how many calls to look at: under the budget, or else as many as can be.

    Where it is looked for and there is none, what was whole and is broken will have to do.
    """
    policy, refused = findings.state.policy, findings.trace.refused_calls
    wrong = findings.run.manager
    if choice == ALONE:
        return None, MAX_CALLS
    if choice != FIND:
        right = _manager(findings, rights(policy)[choice])
        return right, refused if _fault(findings, wrong, right, refused) else MAX_CALLS
    offered = list(better(policy))
    for calls in (refused, MAX_CALLS):
        for number, one in enumerate(offered):
            findings.progress("Looking for a release that does it right", number, len(offered))
            right = _manager(findings, one)
            if _fault(findings, wrong, right, calls):
                return right, calls
    return None, MAX_CALLS


def _elsewhere(findings: Findings) -> str:
    """Say which release does wrong what the policy shown does right, if there is one: that is the one to choose."""
    policy, right = findings.state.policy, findings.run.manager
    offered = [release for release in _offered(policy) if release != policy.release]
    for number, release in enumerate(offered):
        findings.progress("Looking for a release that does it wrong", number, len(offered))
        fault = _fault(findings, _manager(findings, _as_of(policy, release)), right, MAX_CALLS)
        if fault is not None and fault.expectation.id != "same-result":
            return f"{fault.sentence} Choose {fault.wrong.name} as the policy above, and make it again."
    return "The tab Compare shows what other policies do to this session."


def _fault(findings: Findings, wrong: Manager, right: Manager, calls: int) -> Fault | None:
    try:
        return find_fault(findings.messages, wrong, right, max_calls=calls) if calls else None
    except ValueError:  # with these parameters the two cannot be told apart by their release alone
        return None


def _manager(findings: Findings, policy: Policy) -> Manager:
    return policy.manager(0, findings.counter)
