"""Open the explorer as a page of its own, without a notebook, on this computer alone.

The page is served by Voilà, in this process; see `_app_server`. What it shows is decided in `_app_page`, in the
kernel that each page gets.
"""

import argparse
import os
import socket
import sys
from pathlib import Path

from ctxlab.commands._arguments import port
from ctxlab.samples import sample_sessions

_EPILOG = """\
The address holds a token that lets its owner in, so keep it to yourself. Ctrl-C ends the page and everything behind it.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `ctxlab app`."""
    parser.epilog = _EPILOG
    parser.add_argument(
        "file",
        nargs="?",
        type=Path,
        metavar="FILE",
        help="a session: a file, or a folder of the SDK (default: a sample)",
    )
    parser.add_argument("--format", help="read the file as this format instead of finding out")
    parser.add_argument("--port", type=port, default=0, help="the port to serve on (default: a free one)")
    parser.add_argument("--no-browser", action="store_true", help="print the address instead of opening a browser")
    parser.add_argument(
        "--theme", choices=("auto", "light", "dark"), default="auto", help="default: what the browser prefers"
    )


def run(args: argparse.Namespace) -> int:
    """Read the session once, serve the page until stopped. Exit code 2: it cannot be read, or the port not be had."""
    import ctxlab

    file = args.file or next(iter(sample_sessions().values()))
    try:
        # Each page reads it anew, in a kernel of its own; what is wrong with it is better said here, and at once.
        name = ctxlab.load(file, format=args.format).name
    except (ValueError, OSError) as error:
        print(f"ctxlab app: {error}", file=sys.stderr)
        return 2
    try:
        listening = socket.create_server(("127.0.0.1", args.port))
    except OSError as error:
        print(f"ctxlab app: cannot serve on port {args.port}: {os.strerror(error.errno or 0)}", file=sys.stderr)
        return 2
    from ctxlab.commands._app_server import serve

    serve(listening, str(file), args.format, name, args.theme, open_browser=not args.no_browser)
    return 0
