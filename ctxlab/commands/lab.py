"""Open the explorer in JupyterLab, in your own copy of the notebooks and sample sessions.

The copy is made once and never overwritten. JupyterLab runs in this process, on the loopback address and with its
usual token; nothing here reads a session.
"""

import argparse
import hashlib
import os
import sys
from pathlib import Path

from ctxlab.commands._arguments import port
from ctxlab.samples import WorkingCopy, notebooks, working_copy

DEFAULT_FOLDER = "ctxlab-notebooks"

_EPILOG = """\
The folder gets two subfolders, notebooks and sample_sessions. Files that are in it already are never changed, so what
you edit is yours; to get a notebook afresh, rename or delete your copy and start again.
Other arguments are passed on to JupyterLab, for example: ctxlab lab --ServerApp.ip=0.0.0.0
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `ctxlab lab`."""
    parser.epilog = _EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "--dir",
        type=Path,
        default=Path(DEFAULT_FOLDER),
        metavar="FOLDER",
        help="where your copy of the notebooks lives (default: %(default)s)",
    )
    parser.add_argument("--port", type=port, help="the port to serve on (default: 8888, or the next free one)")
    parser.add_argument("--no-browser", action="store_true", help="print the address instead of opening a browser")
    parser.set_defaults(passed_on=[])


def run(args: argparse.Namespace) -> int:
    """Copy what is missing, say what was done, and serve until stopped. Exit code 2: the folder cannot be written."""
    try:
        copy = working_copy(args.dir.expanduser().resolve())
    except OSError as error:
        print(f"ctxlab lab: cannot copy the notebooks to {str(args.dir)!a}: {error.strerror}", file=sys.stderr)
        print("Choose another folder with --dir FOLDER.", file=sys.stderr)
        return 2
    print(_sentence(copy), flush=True)
    return _serve(_jupyter_arguments(args, copy.folder))


def _sentence(copy: WorkingCopy) -> str:
    lines = [f"Your notebooks and sample sessions: {copy.folder}"]
    if copy.copied and (copy.same or copy.kept):
        lines.append(f"Added {len(copy.copied)} files that were missing.")
    if copy.kept:
        names = ", ".join(str(place) for place in copy.kept[:5]) + (", …" if len(copy.kept) > 5 else "")
        lines.append(f"Kept as you left them (they differ from this release's): {names}")
    return "\n".join(lines)


def _jupyter_arguments(args: argparse.Namespace, folder: Path) -> list[str]:
    first = next(iter(notebooks()), None)
    # A workspace of its own, so that tabs of other projects are neither opened here nor lost there. JupyterLab
    # keeps it for the user, wherever it is started, so the tabs of one copy are not those of another.
    workspace = f"ctxlab-{hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]}"
    page = f"/lab/workspaces/{workspace}" + (f"/tree/notebooks/{first}.ipynb" if first else "")
    arguments = [
        f"--ServerApp.root_dir={folder}",
        f"--LabApp.default_url={page}",
        "--log-level=WARN",
    ]
    if args.port is not None:
        arguments += [f"--ServerApp.port={args.port}", "--ServerApp.port_retries=0"]
    if args.no_browser:
        arguments.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        # JupyterLab refuses to run as root without it, and a fresh container has no other user.
        arguments.append("--allow-root")
    return arguments + list(args.passed_on)


def _serve(arguments: list[str]) -> int:
    from jupyterlab.labapp import LabApp

    # A quiet first screen: no question about news, no notice of a newer JupyterLab. These are defaults, so what a user
    # has chosen in JupyterLab's own settings stays chosen.
    quiet = str(Path(__file__).with_name("jupyter_config"))
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, [quiet, os.environ.get("JUPYTER_CONFIG_PATH")]))
    LabApp.launch_instance(arguments)
    return 0
