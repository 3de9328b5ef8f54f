"""Check that a session, and what a policy makes of it, keeps the invariants and is accepted by a provider.

For pipelines. Exit code 0: nothing is wrong; 1: a rule is broken, a provider refuses, or nobody knows whether it does
(--allow-unknown lets that pass); 2: it cannot be read.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxlab.commands._arguments import add_policy, add_session, policy_of, session_of
from ctxlab.releases import NEWEST

if TYPE_CHECKING:
    from rich.console import Console

    from ctxlab.audit import Audit, Finding
    from ctxlab.comparison import Policy
    from ctxlab.invariants import Verdict
    from ctxlab.sessions import Session

ROWS = 40
SIGNS = {"accepted": "✓ accepted", "refused": "× refused", "unknown": "? unknown"}
STYLES = {"accepted": "green", "refused": "bold red", "unknown": "yellow"}
LEVELS = {"refused": "error", "unknown": "warning"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `ctxlab check`."""
    from ctxlab.providers import providers

    add_session(parser)
    parser.add_argument(
        "--provider",
        action="append",
        choices=tuple(providers()),
        metavar="P",
        help=f"ask this provider instead of the rules alone; may be repeated. One of {', '.join(providers())}",
    )
    parser.add_argument("--allow-unknown", action="store_true", help="exit with 0 where only unknown answers are left")
    what = "also check what this policy makes of the session, on overflow and in routine management"
    add_policy(parser, what, None, "default: half of the session's")
    parser.add_argument("--as-of", default=NEWEST, metavar="RELEASE", help="release of the SDK (default: %(default)s)")
    parser.add_argument("--all", action="store_true", help=f"list every finding, not {ROWS} of them")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="print one JSON object instead")
    shown.add_argument("--github", action="store_true", help="print annotations for GitHub Actions instead")


def run(args: argparse.Namespace) -> int:
    """Load, check, print, and return the exit code."""
    import ctxlab
    from ctxlab.audit import audit

    try:
        session = session_of(args)
        counter = ctxlab.counter(args.counter) if args.policy else None
        policy = policy_of(args, args.as_of) if args.policy else None
        total = ctxlab.ledger(session.messages, counter).total if counter else 0
        budget = total // 2 if args.budget is None else args.budget
        found = audit(session.messages, args.provider or (), policy, budget, counter)
    except (ValueError, OSError, LookupError) as error:
        _unreadable(error, args)
        return 2
    if args.json:
        print(json.dumps(_record(session, found, policy), ensure_ascii=True, indent=2))
    elif args.github:
        print("\n".join(_annotations(args.file, found, session)))
    else:
        _print(session, found, policy, args)
    fine = found.status == "accepted" or (found.status == "unknown" and args.allow_unknown)
    return 0 if fine and found.recovers else 1


def _unreadable(error: Exception, args: argparse.Namespace) -> None:
    from ctxlab.escaping import one_line

    if args.github:
        print(_annotation("error", args.file, "cannot be checked", str(error)))
    print(f"ctxlab check: {one_line(str(error))}", file=sys.stderr)


# JSON


def _record(session: "Session", found: "Audit", policy: "Policy | None") -> dict[str, Any]:
    record: dict[str, Any] = {
        "session": {
            "name": session.name,
            "format": session.format,
            "view": session.view,
            "messages": len(session.messages),
            "notes": [str(note) for note in session.notes],
        },
        "status": found.status,
        "providers": [
            {
                "provider": verdict.provider,
                "before": verdict.status,
                "after": found.after[at].status if found.after else None,
                "answers": list((found.after[at] if found.after else verdict).texts),
            }
            for at, verdict in enumerate(found.before)
        ],
        "findings": [_finding(finding) for finding in found.findings],
        "repairs": [{"provider": repair.provider, "steps": list(repair.steps)} for repair in found.repairs],
        "policy": None,
    }
    if policy is not None and found.trace is not None:
        record["policy"] = {
            "name": policy.name,
            "budget": found.trace.budget,
            "counter": found.trace.counter,
            "outcome": found.trace.outcome,
            "error": found.trace.error,
            "rounds": len(found.trace.rounds),
            "messages_left": len(found.trace.final),
            "tokens_left": found.trace.tokens[-1],
            "routine_error": found.routine_error,
        }
    return record


def _finding(finding: "Finding") -> dict[str, Any]:
    cell = finding.cell
    evidence = cell.evidence if cell else None
    return {
        "stage": finding.stage,
        "provider": finding.provider or None,
        "status": finding.status,
        "rule": finding.violation.rule,
        "case": finding.violation.case or None,
        "message": finding.message,
        "block": finding.violation.block,
        "round": finding.round,
        "detail": finding.violation.detail,
        "answer": (cell.error_text or None) if cell else None,
        "certainty": cell.certainty if cell else None,
        "source": evidence.source if evidence else None,
        "sentence": finding.sentence,
    }


# GitHub


def _annotations(file: Path, found: "Audit", session: "Session") -> Iterator[str]:
    for finding in found.findings:
        title = f"{finding.violation.rule} {finding.stage}"
        yield _annotation(LEVELS[finding.status], file, title, finding.sentence)
    if found.trace is not None and found.trace.error:
        yield _annotation("error", file, found.trace.outcome, found.trace.error)
    yield _one_line(f"ctxlab check: {session.name}: {_count(found)}")


def _annotation(level: str, file: Path, title: str, message: str) -> str:
    """Return a workflow command; a line of it ends at its end, whatever is in the texts."""
    return f"::{level} file={_property(str(file))},title={_property(f'ctxlab: {title}')}::{_data(message)}"


def _data(text: str) -> str:
    # The percent sign first: it begins the escapes of the others.
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return _one_line(escaped)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


# People


def _print(session: "Session", found: "Audit", policy: "Policy | None", args: argparse.Namespace) -> None:
    from rich.console import Console

    console = Console(highlight=False, markup=False)
    heading = f"Checked {session.name}: {len(session.messages):,} messages, read as {session.format}"
    # Soft wrap: a line that begins with what a session says could be taken for a command of a workflow.
    console.print(_one_line(heading), soft_wrap=True)
    for note in session.notes:
        console.print(f"  {note}", style="dim", soft_wrap=True)
    if policy is not None and found.trace is not None:
        trace = found.trace
        left = f"{_plural(len(trace.final), 'message')} and {_plural(trace.tokens[-1], 'token')} left"
        calls = f"{trace.outcome} after {_plural(trace.refused_calls, 'refused call')}"
        said = f": {trace.error}" if trace.error else ""
        console.print(f"{policy.name}, budget {_plural(trace.budget, 'token')}: {calls}, {left}{said}")
        if found.routine_error:
            console.print(f"Routine management raises: {found.routine_error}")
    console.print()
    _print_findings(console, found, args.all)
    console.print()
    _print_verdicts(console, found)
    console.print()
    hint = "; --allow-unknown lets it pass" if found.status == "unknown" and not args.allow_unknown else ""
    console.print(f"{SIGNS[found.status].split()[0]} {_count(found)}{hint}", style=STYLES[found.status])
    if found.trace is not None and not found.recovers:
        console.print(f"× it does not fit: {found.trace.outcome}, {found.trace.error}", style=STYLES["refused"])


def _print_findings(console: "Console", found: "Audit", every: bool) -> None:
    shown = found.findings if every else found.findings[:ROWS]
    stage = None
    for finding in shown:
        if finding.stage != stage:
            stage = finding.stage
            console.print(f"{stage.capitalize()}", style="bold")
        sign = SIGNS[finding.status].split()[0]
        line = f"  {sign} {finding.violation.rule}: {_one_line(finding.sentence)}"
        console.print(line, style=STYLES[finding.status], soft_wrap=True)
    if len(shown) < len(found.findings):
        console.print(f"… and {len(found.findings) - len(shown):,} more (--all)", style="dim")


def _print_verdicts(console: "Console", found: "Audit") -> None:
    from ctxlab.providers import providers

    labels = providers()
    title = "What each provider makes of it"
    width = max(len(title), *(len(labels[verdict.provider]) for verdict in found.before))
    heads = ("as it is", "at the end") if found.after else ("as it is",)
    console.print(f"{title:<{width}}  {'  '.join(f'{head:<10}' for head in heads)}".rstrip(), style="bold")
    for at, before in enumerate(found.before):
        states = [before, *found.after[at : at + 1]]
        signs = "  ".join(f"{SIGNS[state.status]:<10}" for state in states)
        console.print(f"{labels[before.provider]:<{width}}  {signs}".rstrip(), style=STYLES[_worst(states)])
    proposals: dict[str, list[str]] = {}
    for repair in found.repairs:
        proposals.setdefault(repair.sentence, []).append(labels[repair.provider])
    for sentence, names in proposals.items():
        whose = "all of them" if len(names) > 3 and len(names) == len(_minding(found)) else "; ".join(names)
        console.print()
        console.print(f"To be accepted by {whose}:", style="bold", soft_wrap=True)
        console.print(f"  {_one_line(sentence)}", soft_wrap=True)


def _minding(found: "Audit") -> "list[Verdict]":
    return [verdict for verdict in found.after or found.before if verdict.status != "accepted"]


def _worst(states: "list[Verdict]") -> str:
    found = {state.status for state in states}
    return "refused" if "refused" in found else "unknown" if "unknown" in found else "accepted"


def _count(found: "Audit") -> str:
    refused = sum(finding.status == "refused" for finding in found.findings)
    unknown = len(found.findings) - refused
    if not found.findings:
        return "nothing is wrong"
    parts = [_plural(refused, "violation")] if refused else []
    parts += [f"{_plural(unknown, 'breach', 'es')} of which nobody knows whether the provider minds"] if unknown else []
    return ", ".join(parts)


def _plural(count: int, noun: str, ending: str = "s") -> str:
    return f"{count:,} {noun}{'' if count == 1 else ending}"


def _one_line(text: str) -> str:
    from ctxlab.escaping import one_line

    return one_line(text)
