"""Try the whole range of preserve_chars on one or several sessions, and recommend one under a token budget.

Exit code 0: a preserve_chars makes every session fit; 1: none does; 2: a file cannot be read or an argument cannot be.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from ctxlab.truncation import Rule

if TYPE_CHECKING:
    from ctxlab.tuning import Answer, Recommendation, Tuning

ROWS = 24
"""Values of preserve_chars that are tried unless others are asked for."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `ctxlab tune`."""
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="sessions: files, or folders of the SDK")
    parser.add_argument("--budget", type=_number, required=True, metavar="N", help="the token budget of each session")
    parser.add_argument(
        "--rule", choices=get_args(Rule), default="proportional", help="which texts are cut (default: %(default)s)"
    )
    parser.add_argument(
        "--most-refused", type=_number, default=3, metavar="K", help="refused model calls to put up with (default: 3)"
    )
    parser.add_argument(
        "--preserve-recent",
        type=int,
        default=10,
        metavar="N",
        help="messages that summarizing leaves alone; texts are cut where there are no others (default: 10)",
    )
    parser.add_argument("--values", type=_values, metavar="N,N,…", help="values of preserve_chars to try")
    parser.add_argument("--counter", default="cl100k_base", help="how to count tokens (default: %(default)s)")
    parser.add_argument("--format", help="read the files as this format instead of finding out")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")


def run(args: argparse.Namespace) -> int:
    """Load, tune, print, and return the exit code."""
    import ctxlab
    from ctxlab.tuning import preserve_grid, tune

    try:
        sessions = {str(file): ctxlab.load(file, format=args.format).messages for file in args.files}
        counter = ctxlab.counter(args.counter)
        manager = ctxlab.Summarizing(preserve_recent_messages=args.preserve_recent)
        values = args.values or preserve_grid(list(sessions.values()), ROWS)
        tuning = tune(sessions, counter, args.rule, values, manager)
    except (ValueError, OSError, LookupError) as error:
        print(f"ctxlab tune: {error}", file=sys.stderr)
        return 2
    recommendation = tuning.recommend(args.budget, args.most_refused)
    if args.json:
        print(json.dumps(_record(tuning, recommendation, args), ensure_ascii=True, indent=2))
    else:
        _print(tuning, recommendation, args)
    return 1 if recommendation.preserve_chars is None else 0


def _number(text: str) -> int:
    number = int(text.replace(",", "").replace("_", ""))
    if number < 0:
        raise argparse.ArgumentTypeError(f"a number from 0 on is needed, got {text!r}")
    return number


def _values(text: str) -> tuple[int, ...]:
    values = tuple(sorted({int(part) for part in text.split(",")}))
    if values[0] < 1:
        raise argparse.ArgumentTypeError(f"preserve_chars is at least 1, got {text!r}")
    return values


def _record(tuning: "Tuning", recommendation: "Recommendation", args: argparse.Namespace) -> dict[str, Any]:
    return {
        "sessions": list(tuning.sessions),
        "rule": tuning.rule,
        "budget": args.budget,
        "most_refused": args.most_refused,
        "counter": args.counter,
        "start": {"tokens": tuning.start.tokens, "characters": tuning.start.characters},
        "values": [_answer(answer) for answer in tuning.answers(args.budget)],
        "recommendation": {"preserve_chars": recommendation.preserve_chars, "reason": recommendation.reason},
    }


def _answer(answer: "Answer") -> dict[str, Any]:
    return {
        "preserve_chars": answer.preserve_chars,
        "refused_calls": answer.refused_calls,
        "sessions_that_fit": answer.fitting,
        "tokens_left": answer.tokens,
        "characters_left": answer.characters,
    }


def _print(tuning: "Tuning", recommendation: "Recommendation", args: argparse.Namespace) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from ctxlab.escaping import one_line

    console = Console(highlight=False)
    start, count = tuning.start, len(tuning.sessions)
    for name in tuning.sessions:
        console.print(Text(one_line(name)))
    console.print(
        f"{start.tokens:,} tokens and {start.characters:,} characters of text in all; budget {args.budget:,} tokens"
        f"{' each' if count > 1 else ''}; {tuning.rule} rule, tokens by {args.counter}",
        markup=False,
    )
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for title in ("preserve_chars", "refused calls", "characters left", "tokens left"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("")
    for answer in tuning.answers(args.budget):
        best = answer.preserve_chars == recommendation.preserve_chars
        stuck = "never fits" if count == 1 else f"{count - answer.fitting} of {count} never fit"
        table.add_row(
            f"{answer.preserve_chars:,}",
            stuck if answer.refused_calls is None else f"{answer.refused_calls}",
            f"{answer.characters:,} ({_share(answer.characters, start.characters)})",
            f"{answer.tokens:,} ({_share(answer.tokens, start.tokens)})",
            "◀ recommended" if best else "",
            style="bold" if best else None,
        )
    console.print(table)
    console.print(Text(recommendation.reason))


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "–"
