"""The tabs of the explorer as a person meets them: one selection in all of them, policies side by side, a state passed on.

One page for all of it. Sizes and themes of the whole are looked at elsewhere.
"""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenNotebook

expect.set_options(timeout=20_000)

SOURCE = ['import ctxlab\nctxlab.Explorer(policy="summarizing", budget=1500, preserve_recent_messages=2)']


@pytest.fixture(scope="module")
def errors() -> list[str]:
    """What scripts of the page have raised."""
    return []


@pytest.fixture(scope="module")
def explorer(open_notebook: OpenNotebook, errors: list[str]) -> Locator:
    page = open_notebook("tabs", height=1700, source=SOURCE)
    page.on("pageerror", lambda error: errors.append(str(error)))
    explorer = page.locator(".ctxlab")
    expect(explorer.locator(".ctxlab-figure[data-drawn]")).to_be_visible(timeout=60_000)
    return explorer


def open_tab(explorer: Locator, name: str) -> None:
    explorer.get_by_role("tab", name=name, exact=True).click()


def focus(explorer: Locator) -> Locator:
    return explorer.get_by_role("spinbutton", name="Message in focus")


def test_the_rounds_open_at_the_step_that_is_shown(explorer: Locator) -> None:
    open_tab(explorer, "Rounds")
    slider = explorer.locator(".ctx-rounds input[type=range]").first
    expect(slider).to_be_visible()
    last = slider.get_attribute("max") or ""
    expect(slider).to_have_value(last)
    explorer.get_by_role("button", name="Show the session before any edit").or_(
        explorer.get_by_role("button", name="|◀ Start")
    ).first.click()
    expect(slider).to_have_value("0")


def test_no_script_of_the_page_has_failed(errors: list[str], explorer: Locator) -> None:
    assert errors == []
