"""`ctxlab app` in a browser: the explorer on a session from a file, as a page of its own, in Voilà.

One page for most of it; what a page must not do to another is tried with a second one.
"""

import re
import time
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from ctxlab.takeaway import trace_from_json
from tests.browser import axe
from tests.browser.test_explorer import box, choose, figure, focus, number, story
from tests.browser.test_tabs import open_tab
from tests.browser.test_take_away import taken
from tests.test_app import HOSTILE_TEXT, App


@pytest.fixture(scope="module")
def errors() -> list[str]:
    """What scripts of the pages have raised, what the console called an error, and what was fetched elsewhere."""
    return []


SEEN = """
window.seen = new Set();
const look = () => {
  for (const element of document.querySelectorAll("#loading, .jp-OutputArea-output"))
    for (const text of ["Opening", "Loading widget"])
      if (element.textContent.includes(text) && element.checkVisibility({ opacityProperty: true })) seen.add(text);
  setTimeout(look, 5);
};
look();
"""
"""Notes which of these texts a person has seen."""


def opened(browser: Browser, app: App, errors: list[str]) -> Page:
    """A new page in a browser that has never been here, with the explorer drawn."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda told: errors.append(told.text) if told.type == "error" else None)
    page.on("request", lambda sent: None if is_here(sent.url, app) else errors.append(f"asked for {sent.url}"))
    page.add_init_script(SEEN)
    page.goto(app.address, wait_until="commit")
    expect(page.get_by_role("status").filter(has_text="Opening")).to_be_visible()
    ready(page)
    return page


def is_here(url: str, app: App) -> bool:
    return url.startswith((f"http://127.0.0.1:{app.port}/", "data:", "blob:"))


def ready(page: Page) -> Locator:
    explorer = page.locator(".ctxlab")
    expect(figure(explorer).and_(page.locator("[data-drawn]"))).to_be_visible(timeout=60_000)
    return explorer


@pytest.fixture(scope="module")
def page(browser: Browser, app: App, errors: list[str]) -> Page:
    return opened(browser, app, errors)


@pytest.fixture
def explorer(page: Page) -> Locator:
    """The explorer on the whole session under 1.37.0, with room for two thirds of it."""
    explorer = page.locator(".ctxlab")
    choose(explorer, "as of Strands", re.compile(r"^1\.37\.0"))
    number(explorer, "window_size", 40)
    number(explorer, "Token budget, exactly", 1500)
    expect(story(explorer)).to_contain_text("budget 1,500")
    return explorer


def test_until_the_explorer_is_drawn_the_page_says_what_it_opens(page: Page, explorer: Locator) -> None:
    assert page.evaluate("[...seen]") == ["Opening"]
    expect(page.locator("#loading")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_the_theme_that_the_browser_prefers(
    page: Page, explorer: Locator, scheme: Literal["light", "dark"]
) -> None:
    page.emulate_media(color_scheme=scheme)
    for tab in ("Why", "Message", "Invariants", "Compare", "Take away"):
        open_tab(explorer, tab)
        assert axe.findings(page, ".ctxlab") == [], tab


def test_the_session_of_the_file_is_shown_and_nothing_else(page: Page, explorer: Locator) -> None:
    expect(story(explorer)).to_contain_text("16 messages")
    expect(explorer).to_have_count(1)
    assert "show()" not in page.locator("body").inner_text()
    assert page.title().endswith(" · ctxlab")


def test_the_token_is_not_left_in_the_address(page: Page, app: App) -> None:
    address, _, state = page.url.partition("#")
    assert address == f"http://127.0.0.1:{app.port}/"
    assert app.token not in state


def test_moving_the_budget_changes_the_picture(page: Page, explorer: Locator) -> None:
    before = figure(explorer).inner_html()
    slider = explorer.get_by_role("slider", name="Token budget")
    slider.focus()
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    moved = 1500 - 5 * int(slider.get_attribute("step") or 0)
    assert moved < 1500
    # The next test types a budget: no answer to a move may still be on its way.
    expect(story(explorer)).to_contain_text(f"budget {moved:,}")
    expect(figure(explorer).locator(".budget-label")).to_have_text(f"budget {moved:,}")
    assert figure(explorer).inner_html() != before


def test_a_click_in_the_timeline_changes_the_tab_below(page: Page, explorer: Locator) -> None:
    open_tab(explorer, "Message")
    shown = explorer.locator(".ctxlab-block").first
    for message in (0, 15):
        focus(explorer).fill(str(message))
        focus(explorer).press("Enter")
    expect(shown).to_contain_text("Nothing.")
    picture = box(figure(explorer))
    page.mouse.click(picture["x"] + picture["width"] * 0.09, picture["y"] + 150)
    expect(focus(explorer)).to_have_value("0")
    expect(shown).to_contain_text("Please look.")


def test_compare_opens_and_shows_a_lane_a_policy(explorer: Locator) -> None:
    open_tab(explorer, "Compare")
    lanes = explorer.locator(".ctx-compare .lane")
    expect(lanes).not_to_have_count(0)
    assert lanes.count() >= 2
    expect(lanes.nth(1).locator("svg")).to_be_visible()


def test_what_a_session_says_is_text_and_is_not_acted_upon(page: Page, explorer: Locator) -> None:
    number(explorer, "Message in focus", 0)
    open_tab(explorer, "Message")
    expect(explorer.locator(".ctxlab-block").first).to_contain_text(HOSTILE_TEXT[:60])
    assert explorer.locator("img, script, a[href^=javascript]").count() == 0
    assert "acted upon" not in page.title()


def test_what_is_taken_away_is_downloaded(explorer: Locator, tmp_path: Path) -> None:
    open_tab(explorer, "Take away")
    trace = trace_from_json(taken(explorer, "Trace", tmp_path).read_text(encoding="utf-8"))
    assert trace.budget == 1500


def test_two_pages_do_not_disturb_one_another_and_closing_one_ends_its_kernel(
    browser: Browser, app: App, errors: list[str], page: Page, explorer: Locator
) -> None:
    other = opened(browser, app, errors)
    theirs = other.locator(".ctxlab")
    number(theirs, "Token budget, exactly", 900)
    expect(story(theirs)).to_contain_text("budget 900")
    expect(story(explorer)).to_contain_text("budget 1,500")
    assert kernel_of(other) != kernel_of(page)
    address = f"http://127.0.0.1:{app.port}/api/kernels/{kernel_of(other)}"
    assert page.request.get(address).ok
    other.close(run_before_unload=True)
    deadline = time.monotonic() + 20
    while page.request.get(address).status != 404 and time.monotonic() < deadline:
        time.sleep(0.2)
    assert page.request.get(address).status == 404
    number(explorer, "Token budget, exactly", 1400)
    expect(story(explorer)).to_contain_text("budget 1,400")


def kernel_of(page: Page) -> str:
    return str(page.evaluate("JSON.parse(document.getElementById('jupyter-config-data').textContent).kernelId"))


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_the_theme_is_the_one_the_browser_prefers_also_when_it_changes(
    page: Page, explorer: Locator, scheme: Literal["dark", "light"]
) -> None:
    page.emulate_media(color_scheme=scheme)
    expect(page.locator("body")).to_have_attribute("data-jp-theme-light", "false" if scheme == "dark" else "true")
    paper, ink = (brightness(page, name) for name in ("backgroundColor", "color"))
    assert (paper < ink) == (scheme == "dark")
    assert abs(paper - ink) > 150


def brightness(page: Page, name: str) -> float:
    """How bright a color of the page is, 0 to 255: its background, or the ink of the explorer."""
    place = "main" if name == "backgroundColor" else ".ctxlab-story"
    color = page.locator(place).evaluate(f"place => getComputedStyle(place).{name}")
    red, green, blue = map(float, re.findall(r"[\d.]+", color)[:3])
    return (red + green + blue) / 3


@pytest.mark.parametrize("width", [700, 1280])
def test_the_page_is_as_wide_as_the_window_and_scrolls_by_itself(page: Page, explorer: Locator, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    expect(figure(explorer)).to_be_in_viewport()
    page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=width)
    assert box(explorer)["width"] > width - 40
    page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
    expect(explorer.get_by_role("button", name="Copy state")).to_be_in_viewport()
    page.evaluate("window.scrollTo(0, 0)")


def test_a_reload_shows_it_again(page: Page, errors: list[str]) -> None:
    before = kernel_of(page)
    explorer = ready(page)
    focus(explorer).fill("3")
    focus(explorer).press("Enter")
    open_tab(explorer, "Why")
    expect(explorer.locator(".ctxlab-about")).to_contain_text("Message 3 ·")
    page.wait_for_timeout(500)
    before_tab = page.url
    open_tab(explorer, "Message")
    # The address follows once the kernel has heard of the tab: a reload before that would show the one before.
    expect(page).not_to_have_url(before_tab)
    expect(page).to_have_url(re.compile("#ctxlab-state"))
    address = page.url
    page.reload(wait_until="commit")
    explorer = ready(page)
    expect(story(explorer)).to_contain_text("16 messages")
    expect(focus(explorer)).to_have_value("3")
    expect(explorer.get_by_role("tab", name="Message", exact=True)).to_have_attribute("aria-selected", "true")
    assert kernel_of(page) != before
    # What stands in an address came from anywhere: what is no state is said, and nothing else happens.
    page.goto("about:blank")
    page.goto(address[: address.index("#")] + "#ctxlab-state.1.broken", wait_until="commit")
    explorer = ready(page)
    expect(explorer.locator(".ctxlab-error")).to_contain_text("state")
    expect(story(explorer)).to_contain_text("16 messages")


def test_nothing_has_failed_and_nothing_was_asked_of_another_server(page: Page, errors: list[str]) -> None:
    assert not errors
