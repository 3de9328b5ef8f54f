"""The SDK around ctxlab's manager: its oldest supported release, and its own tests of its managers, run as they are."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import need
from tests.sdk.wheels import WheelError, source, unpacked

PROJECT = Path(__file__).parents[1]
OLDEST, NEWEST = "1.43.0", "1.62.0"


def clean_environment(*path: Path) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PYTEST", "COV"))}
    return {**kept, "PYTHONPATH": os.pathsep.join(map(str, path)), "PYTHONUTF8": "1"}


def run_tests(*arguments: str, cwd: Path, environment: dict[str, str]) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    answer = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=280)
    return answer.stdout + answer.stderr


def test_the_oldest_supported_release_passes_the_same_tests() -> None:
    need(find_spec("strands"), "strands-agents is not installed")
    try:
        wheel = unpacked(OLDEST)
    except WheelError as error:
        need(False, f"the wheel of strands-agents {OLDEST} cannot be had: {error}")
    script = f"import strands; assert strands.__file__.startswith({str(wheel)!r}), strands.__file__"
    environment = {**clean_environment(wheel), "CTXLAB_FEW_SAMPLES": "1"}
    subprocess.run([sys.executable, "-c", script], env=environment, check=True)
    files = [f"tests/test_strands_{part}.py" for part in ("manager", "sessions", "recorder")]
    # What takes long and does not depend on the release is left out.
    chosen = "not two_real_processes and not (dies and summaries) and not s3 and not any_lines and not tampered"
    chosen += " and not snapshots"  # which that release does not have
    told = run_tests(*files, "-k", chosen, cwd=PROJECT, environment=environment)
    assert re.search(r"^\d+ passed", told, re.MULTILINE), told
    assert "failed" not in told


PRIVATE = "calls a private method of the SDK's class; what that method does is the core's own rule here"
PARAMETERS = "looks at a parameter as an attribute of the manager; here it is one of the policy"
NOT_OURS: dict[str, str] = {
    "test_per_turn_reduces_message_count": PARAMETERS,
    "test_init_default_values": PARAMETERS,
    "test_init_clamps_summary_ratio": PARAMETERS,
    "test_init_with_custom_parameters": PARAMETERS,
    "test_reduce_context_raises_on_summarization_failure": "wants the error logged by the SDK's own module",
    "test_reduce_context_adjustment_returns_zero": PRIVATE,
    "test_adjust_split_point_for_tool_pairs": PRIVATE,
    "test_adjust_split_point_exceeds_message_length": PRIVATE,
    "test_adjust_split_point_equals_message_length": PRIVATE,
    "test_adjust_split_point_no_tool_result_at_split": PRIVATE,
    "test_adjust_split_point_tool_result_without_tool_use": PRIVATE,
    "test_adjust_split_point_tool_result_moves_to_end": PRIVATE,
    "test_adjust_split_point_tool_result_no_forward_position": PRIVATE,
}
"""The SDK's tests that do not apply, and why."""


def test_the_sdks_own_tests_of_its_managers_pass_or_do_not_apply() -> None:
    need(find_spec("strands"), "strands-agents is not installed")
    need(find_spec("moto"), "moto, which the SDK's tests ask for, is not installed")
    try:
        sdist = source(NEWEST)
    except WheelError as error:
        need(False, f"the source distribution of strands-agents {NEWEST} cannot be had: {error}")
    environment = clean_environment(sdist / "src", sdist, PROJECT / "tests" / "sdk")
    files = [f"tests/strands/agent/test_{part}conversation_manager.py" for part in ("", "summarizing_")]
    told = run_tests("-p", "stand_in", "-c", os.devnull, "--rootdir", ".", *files, cwd=sdist, environment=environment)
    failed = set(re.findall(r"^FAILED \S+::(\w+)", told, re.MULTILINE))
    passed = re.search(r"(\d+) passed", told)
    assert passed, told
    assert failed == NOT_OURS.keys(), told
    assert int(passed[1]) >= 90


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
def test_a_supported_release_is_one_that_the_extra_asks_for(version: str) -> None:
    import tomllib

    from packaging.requirements import Requirement

    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    (requirement,) = map(Requirement, project["project"]["optional-dependencies"]["strands"])
    assert requirement.specifier.contains(version)
    assert not requirement.specifier.contains("1.42.0")
