"""Show what a session costs, where it may be cut and why not elsewhere, and what each release does to it.

Exit code 0: it fits or can be made to fit; 1: it gets stuck under the policy asked for; 2: it cannot be read.
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
    from rich.table import Table

    from ctxlab.comparison import Lane, Policy
    from ctxlab.reduction import Trace
    from ctxlab.sessions import Session
    from ctxlab.tokens import Ledger, TokenCounter
    from ctxlab.trimming import TrimPoint

ROWS = 60


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `ctxlab inspect`."""
    add_session(parser)
    add_policy(parser, "what reduces the session", "window", "default: half of the session's")
    parser.add_argument("--as-of", default=NEWEST, metavar="RELEASE", help="release of the SDK (default: %(default)s)")
    parser.add_argument("--all", action="store_true", help=f"list every message, not {ROWS} of them")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")
    parser.add_argument(
        "--html", type=Path, metavar="OUT", help="also write the page of `take --what page`, never over a file"
    )
    words = parser.add_mutually_exclusive_group()
    words.add_argument("--no-redact", action="store_true", help="leave all words on the page as they are")
    words.add_argument(
        "--no-words", action="store_true", help="all words on the page become filler as long as they are"
    )


def run(args: argparse.Namespace) -> int:
    """Load, reduce, print, and return the exit code."""
    import ctxlab
    from ctxlab.comparison import compare, policies
    from ctxlab.figures.policies import verdicts

    try:
        session = session_of(args)
        counter = ctxlab.counter(args.counter)
        policy = policy_of(args, args.as_of)
    except (ValueError, OSError, LookupError) as error:
        print(f"ctxlab inspect: {error}", file=sys.stderr)
        return 2
    ledger = ctxlab.ledger(session.messages, counter)
    budget = ledger.total // 2 if args.budget is None else args.budget
    trace = ctxlab.recover(session.messages, policy, budget, counter)
    asked = policies(args.window_size, not args.no_truncate, args.pin_first)
    lanes = compare(session.messages, asked, budget, counter)
    points = verdicts(session.messages, policy, counter)
    if args.html:
        from ctxlab.report import html_page

        known: dict[str, Any] = {"bill": ledger, "trace": trace, "lanes": lanes, "words": not args.no_words}
        try:
            page = html_page(session, policy, budget, counter, not args.no_redact, **known)
            with args.html.open("x", encoding="utf-8", newline="\n") as out:
                out.write(page.text)
        except ValueError as error:
            print(f"ctxlab inspect: {error}", file=sys.stderr)
            return 2
        except OSError as error:
            print(f"ctxlab inspect: cannot write {str(args.html)!a}: {error.strerror}", file=sys.stderr)
            return 2
    if args.json:
        record = _record(session, ledger, points, policy, trace, lanes, counter)
        print(json.dumps(record, ensure_ascii=True, indent=2))
    else:
        _print(session, ledger, points, policy, trace, lanes, counter, args)
    return 0 if trace.outcome == "fits" else 1


def _record(
    session: "Session",
    ledger: "Ledger",
    points: "tuple[TrimPoint, ...]",
    policy: "Policy",
    trace: "Trace",
    lanes: "tuple[Lane, ...]",
    counter: "TokenCounter",
) -> dict[str, Any]:
    from ctxlab.figures.answer import answer, lane_words, release_ranges

    return {
        "session": {
            "name": session.name,
            "format": session.format,
            "view": session.view,
            "notes": [str(note) for note in session.notes],
        },
        "tokens": {"counter": ledger.counter, "total": ledger.total, "budget": trace.budget},
        "reported": _reported(session, ledger),
        "messages": [
            {
                "index": point.index,
                "role": session.messages[point.index].get("role"),
                "tokens": ledger.per_message[point.index],
                "tokens_from_here": ledger.suffix[point.index],
                "kind": point.kind,
                "reason": point.reason.text if point.reason else None,
            }
            for point in points
        ],
        "policy": {
            "name": policy.name,
            "sentence": str(answer(trace, policy, ledger, points)),
            **_outcome(trace),
            "steps": list(_steps(trace)),
        },
        "ranges": release_ranges(lanes),
        "releases": [{"name": lane.name, "about": lane_words(lane, counter), **_outcome(lane.trace)} for lane in lanes],
    }


def _reported(session: "Session", ledger: "Ledger") -> dict[str, Any]:
    from ctxlab.calibration import calibrate

    found = calibrate(session.reported_input_tokens, ledger)
    calls = [
        {"messages": call.messages, "estimate": call.estimate, "reported": call.reported, "ratio": call.ratio}
        for call in found.calls
    ]
    line = {"growth": found.growth, "fixed": found.fixed, "ratio": found.ratio}
    return {"calls": calls, **line, "sentence": found.sentence}


def _outcome(trace: "Trace") -> dict[str, Any]:
    return {
        "outcome": trace.outcome,
        "error": trace.error,
        "refused_calls": trace.refused_calls,
        "messages_left": len(trace.final),
        "tokens_left": trace.tokens[-1],
    }


def _steps(trace: "Trace") -> Iterator[dict[str, Any]]:
    for round, tokens in zip(trace.rounds, trace.tokens[1:], strict=True):
        yield {"round": round.number, "tokens_after": tokens, "edits": [edit.sentence for edit in round.edits]}


def _print(
    session: "Session",
    ledger: "Ledger",
    points: "tuple[TrimPoint, ...]",
    policy: "Policy",
    trace: "Trace",
    lanes: "tuple[Lane, ...]",
    counter: "TokenCounter",
    args: argparse.Namespace,
) -> None:
    from rich.console import Console

    from ctxlab.figures.answer import answer, release_ranges

    console = Console(highlight=False, markup=False)
    told = answer(trace, policy, ledger, points)
    console.print(f"{session.name}: {len(session.messages):,} messages, {ledger.total:,} tokens ({ledger.counter})")
    console.print(str(told), style="bold red" if told.tone == "stuck" else "bold")
    console.print(release_ranges(lanes))
    default = "half of the session's tokens, as no --budget was given" if args.budget is None else "as given"
    console.print(f"Budget: {trace.budget:,} tokens, {default}.", style="dim")
    for note in session.notes:
        console.print(f"  {note}", style="dim")
    if session.reported_input_tokens:
        _print_reported(console, session, ledger, args.all)
    console.print()
    _print_releases(console, lanes, counter)
    console.print()
    _print_rounds(console, trace, policy, counter, args.all)
    console.print(_candidates(session, ledger, points, trace.budget, args.all))


def _candidates(
    session: "Session", ledger: "Ledger", points: "tuple[TrimPoint, ...]", budget: int, every: bool
) -> "Table":
    from rich.table import Table

    from ctxlab.figures.palette import MARKS

    hidden = 0 if every else max(0, len(points) - ROWS)
    shown = points if not hidden else (*points[: ROWS // 2], *points[-(ROWS // 2) :])
    left_out = f" (showing {len(shown)} of {len(points):,}; --all shows every one)" if hidden else ""
    table = Table(title=f"Where the conversation may start{left_out}", title_justify="left", box=None, pad_edge=False)
    for name, justify in (("message", "right"), ("role", "left"), ("tokens", "right"), ("from here", "right")):
        table.add_column(name, justify=justify, no_wrap=True)  # type: ignore[arg-type]  # the loop widens a literal
    table.add_column("verdict", no_wrap=True)
    table.add_column("why")
    for at, point in enumerate(shown):
        if hidden and at == ROWS // 2:
            table.add_row("…", "", "", "", "", f"{hidden:,} messages are not shown", style="dim")
        rest = ledger.suffix[point.index]
        fits = "fits the budget" if rest <= budget else "above the budget"
        table.add_row(
            str(point.index),
            _plain(str(session.messages[point.index].get("role"))),
            f"{ledger.per_message[point.index]:,}",
            f"{rest:,}",
            MARKS[point.kind].label,
            point.reason.text if point.reason else fits,
            style="dim" if point.kind is None else "bold" if rest <= budget else None,
        )
    return table


def _print_reported(console: "Console", session: "Session", ledger: "Ledger", every: bool) -> None:
    from ctxlab.calibration import calibrate

    found = calibrate(session.reported_input_tokens, ledger)
    console.print(found.sentence)
    shown = found.calls if every or len(found.calls) <= 6 else (*found.calls[:3], *found.calls[-3:])
    hidden = len(shown) < len(found.calls)
    left_out = f" ({len(shown)} of {len(found.calls):,}; --all shows every one)" if hidden else ""
    console.print(f"  {'messages sent':>13}  {'estimated':>9}  {'reported':>9}  ratio{left_out}", style="dim")
    for call in shown:
        ratio = "" if call.ratio is None else f"{call.ratio:.2f}"
        console.print(f"  {call.messages:>13,}  {call.estimate:>9,}  {call.reported:>9,}  {ratio:>5}", style="dim")


def _print_rounds(console: "Console", trace: "Trace", policy: "Policy", counter: "TokenCounter", every: bool) -> None:
    from ctxlab.forecast import forecast

    console.print(f"{policy.name}. {forecast(trace.start, policy, trace.budget, counter, trace).sentence}")
    shown = trace.rounds if every else trace.rounds[:10]
    for round, tokens in zip(shown, trace.tokens[1:], strict=False):
        edits = f"{len(round.edits):,} edit{'s' if len(round.edits) != 1 else ''}"
        console.print(f"Round {round.number}: {edits}, then {tokens:,} tokens.")
        sentences = [edit.sentence for edit in round.edits]
        for sentence in sentences if every else sentences[:3]:
            console.print(f"  {_plain(sentence)}")
        if not every and len(sentences) > 3:
            console.print(f"  … and {len(sentences) - 3:,} more (--all)", style="dim")
    if len(shown) < len(trace.rounds):
        console.print(f"… and {len(trace.rounds) - len(shown):,} more rounds (--all)", style="dim")
    console.print()


def _print_releases(console: "Console", lanes: "tuple[Lane, ...]", counter: "TokenCounter") -> None:
    from ctxlab.figures.answer import lane_words

    width = max(len(lane.name) for lane in lanes)
    console.print(f"{'What each release does to it':<{width + 7}}  {'refused':>7}  {'messages':>8}  {'tokens':>9}")
    console.print(f"{'':<{width + 7}}  {'calls':>7}  {'left':>8}  {'left':>9}")
    for lane in lanes:
        trace = lane.trace
        numbers = f"{trace.refused_calls:>7,}  {len(trace.final):>8,}  {trace.tokens[-1]:>9,}"
        console.print(
            f"{lane.name:<{width}}  {trace.outcome:<5}  {numbers}", style="" if trace.error is None else "red"
        )
        console.print(f"  {lane_words(lane, counter)}", style="dim")


def _plain(text: str) -> str:
    from ctxlab.sessions.session import plain

    return plain(text)
