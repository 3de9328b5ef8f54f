"""What can be checked without running ctxlab: mypy in strict mode and ruff are clean, and whatever they are told to
let pass says why.
"""

import re
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
SOURCES = sorted(file for name in ("ctxlab", "tests", "sample_sessions") for file in (PROJECT / name).rglob("*.py"))

WITHOUT_REASON = re.compile(r"#\s*(noqa(:\s*[A-Z0-9, ]+)?|type:\s*ignore(\[[\w, -]+\])?)\s*$")


def clean(*command: str) -> None:
    answer = subprocess.run([sys.executable, "-m", *command], cwd=PROJECT, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_mypy_finds_nothing_in_the_package_and_the_tests() -> None:
    clean("mypy")


def test_ruff_finds_nothing() -> None:
    clean("ruff", "check")


@pytest.mark.parametrize("source", SOURCES, ids=lambda file: str(file.relative_to(PROJECT)))
def test_every_finding_that_is_let_pass_has_a_reason(source: Path) -> None:
    with tokenize.open(source) as lines:
        comments = [token for token in tokenize.generate_tokens(lines.readline) if token.type == tokenize.COMMENT]
    bare = [f"line {token.start[0]}: {token.string}" for token in comments if WITHOUT_REASON.search(token.string)]
    assert not bare, "say why, in the same comment"
