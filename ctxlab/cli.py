"""The `ctxlab` command: finds the subcommands, reads the arguments, hands over, and answers with an exit code.

A subcommand is one module in `ctxlab/commands` with `configure(parser)` and `run(args) -> int`; the first line of its
docstring is its line in `ctxlab --help`. Only the subcommand that is asked for is imported. No rule and no output of
a subcommand lives here.
"""

import argparse
import ast
import importlib
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Protocol, cast


class Command(Protocol):
    """What a module in `ctxlab/commands` offers.

    A subcommand that passes arguments it does not know on to another program sets the parser default `passed_on`
    and finds them there, as a list of strings; for every other subcommand an unknown argument is an error.
    """

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments of the subcommand."""

    def run(self, args: argparse.Namespace) -> int:
        """Do the work and return the exit code: 0 done, 1 the finding the subcommand looks for, 2 bad input."""


def commands() -> dict[str, str]:
    """The subcommands by name, each with its one-line description, without importing any."""
    folder = Path(__file__).with_name("commands")
    return {file.stem: _first_line(file) for file in sorted(folder.glob("*.py")) if not file.stem.startswith("_")}


def main(argv: Sequence[str] | None = None) -> int:
    """Run `ctxlab` with these arguments (default: the process's own) and return the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    parser = _parser(arguments)
    args, unknown = parser.parse_known_args(arguments)
    if args.subcommand is None:
        parser.print_help()
        return 0
    if unknown and "passed_on" not in args:
        parser.error(f"unrecognized arguments: {' '.join(map(ascii, unknown))}")
    if unknown:
        args.passed_on = [argument for argument in unknown if argument != "--"]
    return _run(_load(args.subcommand), args)


def _parser(arguments: list[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ctxlab",
        description="See what happens to an agent's conversation when it no longer fits its context window.",
    )
    parser.add_argument("--version", action="version", version=f"ctxlab {version('ctxlab')}")
    subparsers = parser.add_subparsers(dest="subcommand", metavar="COMMAND", title="commands")
    for name, description in commands().items():
        subparser = subparsers.add_parser(name, help=description, description=description, allow_abbrev=False)
        if name in arguments[:1]:
            _load(name).configure(subparser)
    return parser


def _run(command: Command, args: argparse.Namespace) -> int:
    try:
        return command.run(args)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader (head, less) has left. Python would complain once more when it flushes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


def _load(name: str) -> Command:
    return cast(Command, importlib.import_module(f"ctxlab.commands.{name}"))


def _first_line(file: Path) -> str:
    docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
    return docstring.splitlines()[0] if docstring else ""
