"""What every test may ask for. A test that lacks something from outside skips with a reason, but fails under CI."""

import os
from collections.abc import Callable, Generator, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.sdk.released import ReleasedSdk
from tests.sdk.wheels import WheelError

PROJECT = Path(__file__).parents[1]

# Examples are drawn anew at each run while developing, and the same ones under CI, so that a red run can be repeated.
# --hypothesis-profile=ctxlab-thorough looks much longer.
settings.register_profile("ctxlab", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ctxlab-ci", parent=settings.get_profile("ctxlab"), derandomize=True)
settings.register_profile("ctxlab-thorough", parent=settings.get_profile("ctxlab"), max_examples=1000)
settings.load_profile("ctxlab-ci" if os.environ.get("CI") else "ctxlab")


def need(condition: object, reason: str) -> None:
    """Go on only if ``condition`` holds: without it the test skips with ``reason``, and fails where CI is set."""
    if not condition:
        if os.environ.get("CI"):
            pytest.fail(f"under CI this must not be missing: {reason}", pytrace=False)
        pytest.skip(reason)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let no test skip under CI, however it asks for that: what is missing there must be installed there."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("CI"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} skipped, and under CI nothing may: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of recorded sessions and cases beside the project."""
    folder = PROJECT.parent / "shared"
    need(folder.is_dir(), "../shared, where recorded sessions are kept, is not there")
    return folder


@pytest.fixture(scope="session")
def released() -> Iterator[Callable[[str], ReleasedSdk]]:
    """The released SDKs, each started when it is first asked for: ``released("1.35.0")``."""
    running: dict[str, ReleasedSdk] = {}
    missing: list[str] = []

    def sdk(version: str) -> ReleasedSdk:
        need(find_spec("strands"), "the SDK's own dependencies are not installed: pip install 'ctxlab[strands]'")
        if version not in running:
            # One wheel that cannot be fetched is enough: without a network each would take its time to fail.
            need(not missing, "".join(missing))
            try:
                running[version] = ReleasedSdk(version)
            except WheelError as error:
                missing.append(f"the wheel of strands-agents {version} cannot be had: {error}")
                need(False, missing[0])
        return running[version]

    yield sdk
    for worker in running.values():
        worker.close()
