"""What several subcommands ask for, and read from their arguments, in the same way."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxlab.comparison import Policy
    from ctxlab.sessions import Session

POLICIES = ("window", "careful", "summarizing")


def add_session(parser: argparse.ArgumentParser) -> None:
    """Declare the session that a command works on."""
    parser.add_argument("file", type=Path, metavar="FILE", help="a session: a file, or a folder of the SDK")
    parser.add_argument("--format", help="read the file as this format instead of finding out")
    parser.add_argument("--view", help="which view of the session; its notes name them")


def session_of(args: argparse.Namespace) -> "Session":
    """Return the session asked for, in the view asked for; raises what `ctxlab.load` and `Session.with_view` raise."""
    import ctxlab

    session = ctxlab.load(args.file, format=args.format)
    return session.with_view(args.view) if args.view else session


def add_policy(parser: argparse._ActionsContainer, what: str, default: str | None, budget: str) -> None:
    """Declare a policy, its parameters, the budget and how tokens are counted; ``what`` and ``budget`` say what for."""
    said = what if default is None else f"{what} (default: {default})"
    parser.add_argument("--policy", choices=POLICIES, default=default, help=said)
    parser.add_argument("--window-size", type=int, default=40, metavar="N", help="messages kept (default: %(default)s)")
    parser.add_argument("--no-truncate", action="store_true", help="leave tool results alone")
    parser.add_argument("--pin-first", type=int, metavar="N", help="pin the first N messages (from 1.43.0)")
    parser.add_argument("--budget", type=token_count, metavar="N", help=f"the token budget ({budget})")
    parser.add_argument("--counter", default="cl100k_base", help="how to count tokens (default: %(default)s)")


def policy_of(args: argparse.Namespace, release: str) -> "Policy":
    """Return the policy asked for, as of a release, which may also be careful or, of summarizing, proportional.

    Raises ValueError for a release that is not known and for parameters that cannot be.
    """
    from ctxlab.sliding_window import SlidingWindow
    from ctxlab.summarizing import Summarizing

    if args.policy == "summarizing":
        if release == "proportional":
            return Summarizing(pin_first=args.pin_first)
        return Summarizing.as_of(release, pin_first=args.pin_first)
    if "careful" in (args.policy, release):
        return SlidingWindow.careful(args.window_size, not args.no_truncate, args.pin_first)
    return SlidingWindow.as_of(release, args.window_size, not args.no_truncate, pin_first=args.pin_first)


def token_count(text: str) -> int:
    """Return a number of tokens as a person writes it, 12,000 or 12_000; what is none becomes a usage error."""
    number = int(text.replace(",", "").replace("_", ""))
    if number < 0:
        raise argparse.ArgumentTypeError(f"a budget is a number of tokens, got {text!r}")
    return number


def port(text: str) -> int:
    """Return the number of a port, 0 for any that is free; what is none becomes a usage error."""
    number = int(text)
    if not 0 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"not a port: {text!r}")
    return number
