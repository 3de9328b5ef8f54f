"""What every test may ask for. A test that lacks something from outside skips with a reason, but fails under CI."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

PROJECT = Path(__file__).parents[1]

# Examples are drawn anew at each run while developing, and the same ones under CI, so that a red run can be repeated.
settings.register_profile("ctxlab", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ctxlab-ci", parent=settings.get_profile("ctxlab"), derandomize=True)
settings.load_profile("ctxlab-ci" if os.environ.get("CI") else "ctxlab")


def need(condition: object, reason: str) -> None:
    """Go on only if ``condition`` holds: without it the test skips with ``reason``, and fails where CI is set."""
    if not condition:
        if os.environ.get("CI"):
            pytest.fail(f"under CI this must not be missing: {reason}", pytrace=False)
        pytest.skip(reason)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of recorded sessions and cases beside the project."""
    folder = PROJECT.parent / "shared"
    need(folder.is_dir(), "../shared, where recorded sessions are kept, is not there")
    return folder
