"""The public face, held against the check that those who rely on it from outside use."""

import subprocess
import sys
from pathlib import Path

from tests.conftest import need


def test_the_public_face_is_complete() -> None:
    check = Path(__file__).parents[2] / "shared" / "check_face.py"
    need(check.is_file(), "the outside check of the public face is not beside this project")
    answer = subprocess.run([sys.executable, str(check)], capture_output=True, text=True, timeout=120)
    assert answer.returncode == 0, answer.stdout + answer.stderr
