"""What a person takes away from what the explorer shows: one call into `takeaway`, for what is chosen.

The policy shown is the one that is wrong; which one does it right is looked for where nobody says. No widget lives
here, and no rule.
"""

from dataclasses import dataclass
from typing import Literal

from ctxlab.comparison import Policy as Manager
from ctxlab.explorers.findings import Findings
from ctxlab.explorers.state import Policy
from ctxlab.explorers.work import Stopped
from ctxlab.faults import MAX_CALLS
from ctxlab.report import html_page
from ctxlab.rights import Right, alternatives, fault_between, find_right, find_wrong
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
from ctxlab.tokens import HEURISTIC

What = Literal["test", "page", "reduced", "session", "trace", "table"]

FIND = "find"
"""The choice of a right policy that is left to be looked for."""

ALONE = "alone"
"""The choice to have no right policy: what was whole must be broken."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is wanted. ``right`` is a release, "careful", "proportional", `FIND` or `ALONE`.

    With ``prove`` a failing test is run on the releases, and those that are not there yet are fetched. Without
    ``words`` every text of a page, a whole session or a trace becomes filler.
    """

    what: What = "test"
    right: str = FIND
    keep_text: bool = False
    redacted: bool = True
    names: tuple[str, ...] = ()
    prove: bool = True
    words: bool = True


def take(findings: Findings, wish: Wish) -> Artifact:
    """Return what is wanted. Raises NoFault and ValueError in words."""
    run, trace = findings.run, findings.trace
    words = (wish.redacted, wish.names)

    def redacting(done: int, of: int) -> None:
        findings.progress("Redacting", done, of)

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
            words=wish.words,
        )
    if wish.what == "session":
        return whole_session(findings.session, *words, wish.words, redacting)
    if wish.what == "trace":
        return trace_record(trace, run.manager, findings.session.name, *words, wish.words, redacting)
    if wish.what == "table":
        return trace_table(trace)
    right, call, max_calls = _right(findings, wish.right)
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
            findings.state.policy.manager(0, findings.counter),
            right,
            call=call,
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


def rights(policy: Policy) -> dict[str, Manager]:
    """Return the policies that may do right what the chosen one does wrong, by the names that a `Wish` knows."""
    return alternatives(policy.manager(0, HEURISTIC))


def _right(findings: Findings, choice: str) -> Right:
    """Return the policy that does it right, and how many calls to look at: under the budget, or else as many as can be.

    Where it is looked for and there is none, what was whole and is broken will have to do.
    """
    policy, refused = findings.state.policy, findings.trace.refused_calls
    wrong = policy.manager(0, findings.counter)
    if choice == ALONE:
        return Right(None, None, MAX_CALLS)
    if choice == FIND:
        return find_right(findings.messages, wrong, (refused, MAX_CALLS), progress=findings.progress)
    right = alternatives(wrong)[choice]
    found = fault_between(findings.messages, wrong, right, limit=refused)
    return Right(right, None, refused if found else MAX_CALLS)


def _elsewhere(findings: Findings) -> str:
    """Say which release does wrong what the policy shown does right, if there is one: that is the one to choose."""
    fault = find_wrong(findings.messages, findings.run.manager, findings.progress)
    if fault is not None:
        return f"{fault.sentence} Choose {fault.wrong.name} as the policy above, and make it again."
    return "The tab Compare shows what other policies do to this session."
