"""Write a session in another format, and say what that format cannot hold. Nothing is overwritten.

Exit code 0: all is held; 1: something is lost, and was said; 2: it cannot be read or written.
"""

import argparse
import sys
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `ctxlab convert`."""
    from ctxlab.sessions.saving import FORMATS

    parser.add_argument("file", type=Path, metavar="FILE", help="a session: a file, a folder or an archive")
    parser.add_argument("out", type=Path, metavar="OUT", help="the file, or for strands-session the folder, to make")
    parser.add_argument("--to", required=True, choices=FORMATS, metavar="FORMAT", help=f"one of {', '.join(FORMATS)}")
    parser.add_argument("--format", help="read the file as this format instead of finding out")
    parser.add_argument("--view", help="which view of the session to write (inspect shows their names)")


def run(args: argparse.Namespace) -> int:
    """Load, save, print what was lost, and return the exit code."""
    from ctxlab.sessions import load, save
    from ctxlab.sessions.session import plain

    try:
        session = load(args.file, format=args.format)
        session = session.with_view(args.view) if args.view else session
        losses = save(session, args.out, args.to)
    except FileExistsError as fault:
        print(plain(f"ctxlab convert: {fault.filename} is there already. Choose another name."), file=sys.stderr)
        return 2
    except OSError as fault:
        print(plain(f"ctxlab convert: {args.out} cannot be written: {fault.strerror}."), file=sys.stderr)
        return 2
    except ValueError as fault:
        print(plain(f"ctxlab convert: {fault}"), file=sys.stderr)
        return 2
    print(plain(f"{len(session.messages):,} messages of {session.name} ({session.format}) written to {args.out}."))
    for loss in losses:
        print(f"  {loss}")
    return 1 if losses else 0
