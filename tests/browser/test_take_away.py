"""What a maintainer takes away from the explorer: each is downloaded, opened again, and does what it was made for."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas
import pytest
from playwright.sync_api import Browser, Locator, expect

import ctxlab
from ctxlab.explorers.take_tab import KINDS
from ctxlab.samples import sample_sessions
from ctxlab.takeaway import trace_from_json
from tests.browser.conftest import OpenNotebook
from tests.conftest import need
from tests.sdk.wheels import WheelError, unpacked

SOURCE = [
    "import ctxlab\n"
    "from ctxlab.samples import sample_sessions\n"
    'ctxlab.Explorer(sample_sessions()["review-long"], release="1.35.0", window_size=4)'
]


@pytest.fixture(scope="module")
def explorer(open_notebook: OpenNotebook, errors: list[str]) -> Locator:
    page = open_notebook("take-away", height=1900, source=SOURCE)
    page.on("pageerror", lambda error: errors.append(str(error)))
    explorer = page.locator(".ctxlab")
    expect(explorer.locator(".ctxlab-figure[data-drawn]")).to_be_visible(timeout=60_000)
    explorer.get_by_role("tab", name="Take away", exact=True).click()
    return explorer


def taken(explorer: Locator, kind: str, folder: Path) -> Path:
    """Make it, download it, and return the file, under the name that was proposed."""
    explorer.get_by_role("button", name=kind, exact=True).click()
    # Only once the kernel has heard of the kind is what was made of it before in its place.
    expect(explorer.get_by_text(next(about for label, _, about in KINDS if label == kind))).to_be_visible()
    offer = explorer.locator(".ctx-offer")
    before = offer.locator("h3").inner_text() if offer.locator("h3").count() else ""
    explorer.get_by_role("button", name="Make it").click()
    # A proof starts pytest three times.
    expect(offer.locator("h3")).not_to_have_text(before, timeout=240_000)
    with explorer.page.expect_download() as download:
        offer.get_by_role("button", name="Download").click()
    file = folder / download.value.suggested_filename
    download.value.save_as(file)
    return file


def outcome(test: Path, release: str) -> str:
    """Run a test file with a released SDK, as a maintainer would, and return pytest's last line."""
    try:
        sdk = unpacked(release)
    except WheelError as error:
        need(False, f"the wheel of strands-agents {release} cannot be had: {error}")
        raise
    quiet = {**os.environ, "PYTHONPATH": str(sdk), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, str(test)]
    return subprocess.run(command, cwd=test.parent, env=quiet, capture_output=True, text=True).stdout.splitlines()[-1]


def test_the_failing_test_fails_on_1_35_0_and_passes_on_1_37_0(explorer: Locator, tmp_path: Path) -> None:
    file = taken(explorer, "Failing test", tmp_path)
    runs = explorer.locator(".ctx-offer li.good")
    expect(runs.filter(has_text="1.35.0: fails, as it should")).to_have_count(1)
    expect(runs.filter(has_text="1.37.0: passes, as it should")).to_have_count(1)
    assert "1 failed" in outcome(file, "1.35.0")
    assert "1 passed" in outcome(file, "1.37.0")


def test_the_sessions_can_be_loaded_again(explorer: Locator, tmp_path: Path) -> None:
    whole = ctxlab.load(taken(explorer, "Whole session", tmp_path))
    reduced = ctxlab.load(taken(explorer, "Reduced session", tmp_path))
    assert len(whole.messages) == 65
    assert len(reduced.messages) <= 65 // 10


def test_the_trace_and_its_table_tell_the_same(explorer: Locator, tmp_path: Path) -> None:
    trace = trace_from_json(taken(explorer, "Trace", tmp_path).read_text(encoding="utf-8"))
    table = pandas.read_csv(taken(explorer, "Table", tmp_path))
    assert trace.outcome == "stuck"
    assert len(table) == len(trace.edits)
    assert list(table.columns) == list(trace.to_frame().columns)


def test_the_page_opens_with_the_network_off(explorer: Locator, browser: Browser, tmp_path: Path) -> None:
    file = taken(explorer, "Page", tmp_path)
    assert file.stat().st_size < 6_000_000
    with browser.new_context(offline=True) as context:
        page = context.new_page()
        raised: list[str] = []
        page.on("pageerror", lambda error: raised.append(str(error)))
        page.on("console", lambda line: raised.append(line.text) if line.type == "error" else None)
        page.goto(file.as_uri())
        expect(page.locator("body")).to_contain_text("Unable to trim conversation context!")
        expect(page.locator("svg").first).to_be_visible()
        assert raised == []


def test_secrets_stay_here(explorer: Locator, tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    hostile = "<img src=x onerror=alert(1)>"
    file = tmp_path / "secret.json"
    messages = [{"role": "user", "content": [{"text": f"{hostile} use {secret} as ada@example.org"}]}]
    file.write_text(json.dumps(messages), encoding="utf-8")
    explorer.get_by_label("Path of a session file or folder").fill(str(file))
    explorer.get_by_role("button", name="Open", exact=True).click()
    expect(explorer.locator(".ctxlab-story")).to_contain_text("1 message")
    for kind in ("Whole session", "Trace", "Page"):
        text = taken(explorer, kind, tmp_path).read_text(encoding="utf-8")
        assert secret not in text
        assert "ada@" not in text
        expect(explorer.locator(".ctx-offer")).to_contain_text("Replaced before it leaves")
    assert hostile not in text, "the page must not hold it as markup"


def test_what_was_made_before_the_budget_moved_says_so(explorer: Locator) -> None:
    explorer.get_by_role("spinbutton", name="Token budget, exactly").first.fill("7")
    explorer.page.keyboard.press("Enter")
    expect(explorer.locator(".ctx-offer .stale")).to_contain_text("make it again")


def test_a_long_count_shows_how_far_it_is_and_can_be_stopped(explorer: Locator, tmp_path: Path) -> None:
    file = tmp_path / "long.json"
    texts = (f"{number} {number * 7919 % 1009} words that nobody counted before " * 60 for number in range(12_000))
    messages = [{"role": ("user", "assistant")[at % 2], "content": [{"text": text}]} for at, text in enumerate(texts)]
    file.write_text(json.dumps(messages), encoding="utf-8")
    story = explorer.locator(".ctxlab-story").inner_text()
    explorer.get_by_label("Path of a session file or folder").fill(str(file))
    explorer.get_by_role("button", name="Open", exact=True).click()
    progress = explorer.locator(".ctxlab-progress")
    expect(progress).to_contain_text("Counting tokens")
    progress.get_by_role("button", name="Stop").click()
    expect(explorer.locator(".ctxlab-told")).to_contain_text("Stopped")
    expect(progress).to_be_hidden()
    assert explorer.locator(".ctxlab-story").inner_text() == story


def test_a_file_of_more_than_ten_megabytes_can_be_uploaded(explorer: Locator, tmp_path: Path) -> None:
    # Tornado ends a connection whose message is longer than that, unless it is told otherwise.
    file = tmp_path / "large.json"
    file.write_text(f'[{{"role": "user", "content": [{{"text": "hello"}}]}}{" " * 12_000_000}]', encoding="utf-8")
    with explorer.page.expect_file_chooser() as chooser:
        explorer.get_by_role("button", name="Upload").click()
    chooser.value.set_files(file)
    expect(explorer.get_by_label("Session", exact=True)).to_have_value("large.json (uploaded)")
    expect(explorer.locator(".ctxlab-story")).to_contain_text("1 message")


def test_no_script_has_raised_anything(errors: list[str]) -> None:
    assert errors == []


def test_the_sample_is_as_it_was() -> None:
    assert len(ctxlab.load(sample_sessions()["review-long"]).messages) == 65
