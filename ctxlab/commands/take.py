"""Take something away from a session: a failing test, the reduced session, the trace, its table, or an HTML page.

Exit code 0: written, and proven where that was to be done; 1: nothing goes wrong, or the proof fails; 2: bad input, or
the file is there already.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from ctxlab.commands._arguments import add_policy, add_session, policy_of, session_of
from ctxlab.releases import NEWEST

if TYPE_CHECKING:
    from ctxlab.comparison import Policy
    from ctxlab.expectations import Call
    from ctxlab.rights import Right
    from ctxlab.sessions import Session
    from ctxlab.takeaway import Artifact

SECONDS = 60


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `ctxlab take`."""
    from ctxlab.expectations import EXPECTATIONS

    add_session(parser)
    parser.add_argument(
        "--what",
        choices=("test", "session", "trace", "table", "page"),
        default="test",
        help="test: a pytest file that fails on the wrong release and passes on the right one; session: Strands JSON, "
        "reduced where --wrong is given; trace: JSON; table: CSV; page: one HTML file of it all, to be attached to an "
        "issue (default: %(default)s)",
    )
    parser.add_argument("-o", "--output", type=Path, metavar="OUT", help="file or folder to write to; - prints it")
    parser.add_argument("--force", action="store_true", help="overwrite the file if it is there already")

    fault = parser.add_argument_group("what goes wrong")
    fault.add_argument("--wrong", metavar="RELEASE", help="the release that is wrong, such as 1.35.0")
    fault.add_argument(
        "--right",
        metavar="RELEASE",
        help="the release that is right; or 'careful' (ctxlab's own), 'proportional' (#5791), 'none' to do without "
        "(default: it is looked for, later releases first)",
    )
    fault.add_argument("--call", choices=("overflow", "routine"), help="when it goes wrong (default: both are tried)")
    fault.add_argument(
        "--expect", choices=tuple(EXPECTATIONS), metavar="WHAT", help=f"what is broken: {', '.join(EXPECTATIONS)}"
    )

    policy = parser.add_argument_group("policy")
    add_policy(policy, "what reduces the session", "window", "trace, table and page: default half of the session's")
    policy.add_argument(
        "--as-of", metavar="RELEASE", help=f"release for trace, table and page (default: --wrong, or {NEWEST})"
    )

    words = parser.add_argument_group("words")
    words.add_argument("--keep-text", action="store_true", help="keep the words of the session instead of filler")
    words.add_argument(
        "--redact",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="replace keys, tokens, e-mail addresses, users in home paths and --name (default: yes)",
    )
    words.add_argument(
        "--no-words", action="store_true", help="session, trace and page: all words become filler as long as they are"
    )
    words.add_argument("--name", action="append", default=[], metavar="NAME", help="redact this name too; repeatable")

    proof = parser.add_argument_group("proof")
    proof.add_argument(
        "--prove",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="run the test on both releases, fetching them with pip; --no-prove does not run it "
        "(default: on what is installed or was fetched before)",
    )
    proof.add_argument("--seconds", type=float, default=SECONDS, help="time for reducing (default: %(default)s)")


def run(args: argparse.Namespace) -> int:
    """Load, make, prove, write, and return the exit code."""
    from ctxlab.takeaway import NoFault, proven

    say = Progress()
    try:
        session = session_of(args)
        if args.output is not None and not args.force:
            _refuse_to_overwrite(args.output)  # before any work is done
        artifact = _made(session, args, say)
        target = _target(args.output, artifact.name)
        if not args.force:
            _refuse_to_overwrite(target)
    except NoFault as answer:
        say.done()
        return _failed(answer, 1)
    except (ValueError, OSError, LookupError) as error:
        say.done()
        return _failed(error, 2)
    if args.what == "test" and args.prove is not False:
        artifact = proven(artifact, bool(args.prove), say.step)
    say.done()
    try:
        _write(artifact, target, args.force)
    except OSError as error:
        return _failed(error, 2)
    holds = _tell(artifact, target, args)
    return 0 if holds else 1


class Progress:
    """Says on standard error what is being done, from the first second on; rarely where that is no terminal."""

    def __init__(self) -> None:
        self.started = monotonic()
        self.last = self.started
        self.shown = False
        self.terminal = sys.stderr.isatty()

    def step(self, text: str) -> None:
        """Show what is being done now."""
        now = monotonic()
        if now - self.started < 1 or now - self.last < (0.2 if self.terminal else 5):
            return
        self.last = now
        self.shown = True
        print(
            f"\r\x1b[K{text}" if self.terminal else text, end="" if self.terminal else "\n", file=sys.stderr, flush=True
        )

    def counted(self, what: str, done: int, of: int) -> None:
        """Show what is being done now, and how far it is."""
        self.step(f"{what}: {done:,} of {of:,}")

    def done(self) -> None:
        """Clear the line."""
        if self.shown and self.terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _made(session: "Session", args: argparse.Namespace, say: Progress) -> "Artifact":
    import ctxlab
    from ctxlab.takeaway import NoFault, failing_test, reduced_session, trace_record, trace_table, whole_session

    _check_words(args)
    if args.what == "session" and args.wrong is None:
        return whole_session(session, args.redact, args.name, not args.no_words)
    if args.what in ("trace", "table", "page"):
        policy = policy_of(args, args.as_of or args.wrong or NEWEST)
        counter = ctxlab.counter(args.counter)
        budget = _budget(session, args)
        if args.what == "page":
            from ctxlab.report import html_page

            return html_page(
                session, policy, budget, counter, args.redact, args.name, say.counted, words=not args.no_words
            )

        def saved(tokens: int, of: int) -> None:
            say.step(f"reducing: {tokens:,} of {of:,} tokens saved")

        trace = ctxlab.recover(session.messages, policy, budget, counter, progress=saved)
        if args.what == "table":
            return trace_table(trace)
        return trace_record(trace, policy, session.name, args.redact, args.name, not args.no_words)
    if args.wrong is None:
        raise ValueError("say which release is wrong, such as --wrong 1.35.0; --right says which is right, if you know")
    wrong = policy_of(args, args.wrong)
    right, call, max_calls = _right(session, wrong, args, say)
    make = failing_test if args.what == "test" else reduced_session
    try:
        return make(
            session,
            wrong,
            right,
            call=call,
            expectation=args.expect,
            max_calls=max_calls,
            keep_text=args.keep_text,
            redacted=args.redact,
            names=args.name,
            progress=_until(args.seconds, say),
        )
    except NoFault:
        if args.right is not None:
            raise
        raise NoFault(_elsewhere(session, wrong, args, say)) from None


def _right(session: "Session", wrong: "Policy", args: argparse.Namespace, say: Progress) -> "Right":
    """Return the policy that does it right, the call, and how many are looked at: under a budget those refused."""
    from ctxlab.expectations import EXPECTATIONS
    from ctxlab.rights import CALLS, Right, find_right
    from ctxlab.takeaway import NoFault

    call, max_calls = _calls(session, wrong, args)
    if args.right == "none":
        return Right(None, call, max_calls)
    if args.right is not None:
        return Right(policy_of(args, args.right), call, max_calls)
    calls = CALLS if call is None else (call,)
    found = find_right(session.messages, wrong, (max_calls,), calls, args.expect, say.counted)
    if found.policy is None and args.expect is not None and not EXPECTATIONS[args.expect].alone:
        raise NoFault(_elsewhere(session, wrong, args, say))
    return found


def _elsewhere(session: "Session", right: "Policy", args: argparse.Namespace, say: Progress) -> str:
    """Say that nothing is wrong, and which release does wrong what this one does right, if there is one."""
    from ctxlab.rights import find_wrong

    said = f"{right.name} does nothing wrong here that a test could show."
    fault = find_wrong(session.messages, right, say.counted)
    if fault is None:
        return f"{said} Try other options, or see with `ctxlab inspect` what each release does to it."
    without = " and without --budget" if args.budget is not None else ""
    return f"{said} {fault.sentence} Try it with --wrong {fault.wrong.release} --right {right.release}{without}."


def _check_words(args: argparse.Namespace) -> None:
    if args.no_words and not args.redact:
        raise ValueError("--no-words and --no-redact exclude each other: choose one of them")
    if args.no_words and args.keep_text:
        raise ValueError("--no-words and --keep-text exclude each other: choose one of them")


def _budget(session: "Session", args: argparse.Namespace) -> int:
    import ctxlab

    if args.budget is not None:
        return int(args.budget)
    return ctxlab.ledger(session.messages, ctxlab.counter(args.counter)).total // 2


def _calls(session: "Session", wrong: "Policy", args: argparse.Namespace) -> tuple["Call | None", int]:
    """Return when it may go wrong, and after how many calls: under a budget as many as are refused."""
    import ctxlab
    from ctxlab.faults import MAX_CALLS
    from ctxlab.takeaway import NoFault

    if args.budget is None:
        return args.call, MAX_CALLS
    trace = ctxlab.recover(session.messages, wrong, args.budget, ctxlab.counter(args.counter), MAX_CALLS)
    if trace.refused_calls:
        return args.call, trace.refused_calls
    if args.call == "overflow":
        raise NoFault(f"the session fits {args.budget:,} tokens, so that no call is refused. Try a smaller --budget.")
    return "routine", 1


def _until(seconds: float, say: Progress) -> Callable[[int, int, int], None]:
    from ctxlab.takeaway import Enough

    end = monotonic() + seconds

    def progress(tries: int, messages: int, characters: int) -> None:
        if monotonic() > end:
            raise Enough
        say.step(f"reducing: {tries:,} tries, {messages:,} messages and {characters:,} characters left")

    return progress


def _target(output: Path | None, name: str) -> Path | None:
    """Return the file to write to; None for standard output."""
    if output is not None and str(output) == "-":
        return None
    if output is None or output.is_dir():
        return (output or Path()) / name
    return output


def _refuse_to_overwrite(target: Path | None) -> None:
    if target is not None and (target.exists() or target.is_symlink()) and not target.is_dir():
        raise FileExistsError(f"{target} is there already; --force overwrites it, and -o names another file")


def _write(artifact: "Artifact", target: Path | None, force: bool) -> None:
    if target is None:
        sys.stdout.write(artifact.text)
    elif not force:
        with target.open("x", encoding="utf-8", newline="\n") as file:
            file.write(artifact.text)
    else:
        # All or nothing: what was there is only gone once the new file is complete.
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(artifact.text)
        Path(name).chmod(0o644)
        Path(name).replace(target)


def _tell(artifact: "Artifact", target: Path | None, args: argparse.Namespace) -> bool:
    """Say what was written, what was replaced and what the proof shows; return whether that is as it should be."""
    from ctxlab.escaping import one_line

    out = sys.stderr if target is None else sys.stdout
    lines = [] if target is None else [f"Wrote {one_line(str(target))}."]
    lines += artifact.about
    if artifact.redaction:
        lines += [f"Redacted: {sentence}." for sentence in artifact.redaction.sentences]
    elif not args.redact and args.what != "table" and (args.keep_text or args.what != "test"):
        lines.append("Nothing was redacted: look through it before you pass it on.")
    proof = artifact.proof
    if proof is not None:
        lines += [f"Proof: {sentence}." for sentence in proof.sentences]
    for line in lines:
        print(one_line(line), file=out)
    if proof is None:
        return True
    if any(run.found != run.wanted for run in proof.runs):
        return False
    return proof.holds and not proof.missing if args.prove else True


def _failed(error: Exception, code: int) -> int:
    from ctxlab.escaping import one_line

    said = error.args[0] if isinstance(error, LookupError) and error.args else error
    print(f"ctxlab take: {one_line(str(said))}", file=sys.stderr)
    return code
