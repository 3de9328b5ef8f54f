"""Record the sample sessions again: `python sample_sessions/record.py [--out DIR] [NAME…]`.

Runs the real SDK (strands-agents, the release named in recording/studio.py) with a scripted model in place of the
provider. Two runs write the same bytes. Without --out the committed samples are replaced.
"""

import argparse
import logging
import shutil
import sys
from importlib.metadata import version
from pathlib import Path

from recording import chats, incidents, media, migrations, reviews
from recording.studio import RECORDED_WITH, Studio, surroundings

SAMPLES = {**reviews.SAMPLES, **incidents.SAMPLES, **migrations.SAMPLES, **media.SAMPLES, **chats.SAMPLES}


def record(name: str, out: Path) -> Path:
    """Record one sample into out/name, replacing the session that is there, and return that folder."""
    folder = out / name
    shutil.rmtree(folder / f"session_{name}", ignore_errors=True)
    with surroundings(name):
        SAMPLES[name](Studio(name, folder))
    return folder


def main(arguments: list[str] | None = None) -> int:
    """Record the samples that are named, or all of them; return the exit code."""
    parser = argparse.ArgumentParser(description="Record the sample sessions again.")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="folder to write to")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(SAMPLES)}; all if none is given")
    chosen = parser.parse_args(arguments)
    unknown = [name for name in chosen.names if name not in SAMPLES]
    if unknown:
        parser.error(f"no such sample: {', '.join(unknown)}")
    installed = version("strands-agents")
    if installed != RECORDED_WITH:
        parser.error(f"the samples are recorded with strands-agents {RECORDED_WITH}, but {installed} is installed")
    # The SDK logs each overflow that a sample is meant to end in.
    logging.getLogger("strands").setLevel(logging.CRITICAL)
    for name in chosen.names or SAMPLES:
        print(record(name, chosen.out))
    return 0


if __name__ == "__main__":
    sys.exit(main())
