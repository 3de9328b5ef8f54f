"""The explorer for people who do not see it, or use no mouse: axe-core in both themes, and all of it by keyboard."""

from typing import NamedTuple

import pytest
from playwright.sync_api import Locator, expect

from tests.browser import axe
from tests.browser.conftest import OpenNotebook

SOURCE = [
    "import ctxlab\n"
    "from ctxlab.samples import sample_sessions\n"
    'ctxlab.Explorer(sample_sessions()["review-2173"], release="1.35.0", window_size=4, budget=200)'
]
TABS = ("Why", "Rounds", "Message", "Invariants", "Compare", "Tune", "Views", "Take away")


class Stop(NamedTuple):
    """An element that has the keyboard: what it is, its name, and the line around it."""

    tag: str
    name: str
    outline: str


@pytest.fixture(scope="module", params=["light", "dark"])
def explorer(open_notebook: OpenNotebook, request: pytest.FixtureRequest) -> Locator:
    page = open_notebook(f"accessible-{request.param}", theme=request.param, height=1900, source=SOURCE)
    explorer = page.locator(".ctxlab")
    expect(explorer.locator(".ctxlab-figure[data-drawn]")).to_be_visible(timeout=60_000)
    return explorer


def open_tab(explorer: Locator, name: str) -> None:
    explorer.get_by_role("tab", name=name, exact=True).click()
    expect(explorer.get_by_role("tab", name=name, exact=True)).to_have_attribute("aria-selected", "true")
    # The tab is open before what is in it is drawn.
    expect(
        explorer.locator(".lm-TabPanel-stackedPanel > :visible, .widget-tab-contents > :visible").first
    ).not_to_be_empty()


def where(explorer: Locator) -> Stop | None:
    """Return the element that has the keyboard, None outside the explorer."""
    found = explorer.evaluate(
        """(explorer) => {
          const at = document.activeElement;
          if (!explorer.contains(at)) return null;
          const style = getComputedStyle(at);
          const labels = [...(at.labels ?? [])].map((label) => label.innerText).join(" ");
          const name = labels || at.getAttribute("aria-label") || at.innerText || at.title || "";
          // A radio button is drawn by its label.
          const drawn = style.opacity === "0" ? getComputedStyle(at.nextElementSibling) : style;
          return [at.tagName, name.trim(), `${drawn.outlineStyle} ${drawn.outlineWidth}`];
        }"""
    )
    return None if found is None else Stop(*found)


def by_keyboard(explorer: Locator) -> list[Stop]:
    """Return where the Tab key leads, from the first control of the explorer to the last."""
    explorer.locator("select").first.focus()
    found: list[Stop] = []
    while (at := where(explorer)) is not None:
        found.append(at)
        assert len(found) < 200, f"the Tab key leads nowhere else: {found[-5:]}"
        explorer.page.keyboard.press("Tab")
    return found


def controls(explorer: Locator) -> int:
    """Return how many controls the Tab key has to reach: of radio buttons that belong together one."""
    others = ":is(button, select, input:not([type=radio], [type=file])):visible:enabled, summary:visible"
    groups = explorer.evaluate(
        """(explorer) => {
          const radios = [...explorer.querySelectorAll("input[type=radio]")].filter((one) => one.checkVisibility());
          return new Set(radios.map((one) => one.name)).size;
        }"""
    )
    return explorer.locator(others).count() + int(groups)


def test_a_contrast_that_is_too_low_would_be_found(explorer: Locator) -> None:
    explorer.evaluate(
        """(explorer) => {
          const faint = document.createElement("p");
          faint.textContent = "can hardly be read";
          faint.style = "color: #808080; background: #8a8a8a";
          faint.id = "faint";
          explorer.append(faint);
        }"""
    )
    try:
        assert [found for found in axe.findings(explorer.page, ".ctxlab") if "color-contrast" in found]
    finally:
        explorer.evaluate("() => document.getElementById('faint').remove()")


@pytest.mark.parametrize("tab", TABS)
def test_axe_finds_nothing_serious(explorer: Locator, tab: str) -> None:
    open_tab(explorer, tab)
    if tab == "Take away":
        explorer.get_by_role("button", name="Table", exact=True).click()
        explorer.get_by_role("button", name="Make it").click()
        expect(explorer.locator(".ctx-offer h3")).to_contain_text("trace.csv")
    assert axe.findings(explorer.page, ".ctxlab") == []


@pytest.mark.parametrize("tab", TABS)
def test_the_tab_key_reaches_everything_with_a_name_and_a_line_around_it(explorer: Locator, tab: str) -> None:
    open_tab(explorer, tab)
    count = controls(explorer)
    stops = by_keyboard(explorer)
    while (now := controls(explorer)) != count:  # more of the tab was drawn meanwhile
        count, stops = now, by_keyboard(explorer)
    assert [stop for stop in stops if len(stop.name) < 2] == []
    assert [stop for stop in stops if stop.outline.startswith("none") or stop.outline.endswith(" 0px")] == []
    assert sum(stop.tag in ("BUTTON", "SELECT", "INPUT", "SUMMARY") for stop in stops) == count


def heights(explorer: Locator) -> tuple[int, ...]:
    """Return how far down the picture, the tabs and the table of a tab are, in pixels."""
    boxes = (explorer.locator(place).first.bounding_box() for place in (".ctxlab-figure", ".lm-TabBar", ".ctxlab-rows"))
    return tuple(round(box["y"]) for box in boxes if box is not None)


@pytest.mark.parametrize("width", [1280, 1230, 1040, 760])
def test_nothing_jumps_while_the_steps_are_played(explorer: Locator, width: int) -> None:
    page = explorer.page
    page.set_viewport_size({"width": width, "height": 1900})
    open_tab(explorer, "Why")
    policy = explorer.get_by_label("Policy", exact=True)
    policy.select_option("summarizing")
    expect(explorer.locator(".ctxlab-story")).to_contain_text("Summarizing")
    explorer.get_by_role("button", name="|◀ Start").click()
    on = explorer.get_by_role("button", name="Step ▶")
    step = explorer.get_by_role("slider", name="Step")
    expect(step).to_have_value("0")
    last = int(step.get_attribute("max") or "0")
    assert last > 0
    before = heights(explorer)
    page.wait_for_timeout(500)
    while (now := heights(explorer)) != before:  # the window has another width: not all of it is drawn in it yet
        before = now
        page.wait_for_timeout(500)
    places = set()
    for number in range(last + 1):
        expect(step).to_have_value(str(number))
        places.add(heights(explorer))
        if number < last:
            on.click()
    policy.select_option("sliding window")
    expect(explorer.locator(".ctxlab-story")).not_to_contain_text("Summarizing")
    page.set_viewport_size({"width": 1280, "height": 1900})
    assert len(places) == 1
    assert len(before) == 3


def test_a_finding_is_made_and_taken_away_by_keyboard_alone(explorer: Locator) -> None:
    page = explorer.page
    keys = page.keyboard
    budget = explorer.get_by_role("slider", name="Token budget").first
    budget.focus()
    number = explorer.get_by_role("spinbutton", name="Token budget, exactly").first
    before = number.input_value()
    keys.press("ArrowRight")
    expect(number).not_to_have_value(before)
    explorer.locator(".ctxlab-figure").focus()
    keys.press("Home")
    keys.press("ArrowRight")
    keys.press("ArrowRight")
    focus = explorer.get_by_role("spinbutton", name="Message in focus")
    expect(focus).to_have_value("2")
    expect(explorer.locator(".ctxlab-tip")).to_contain_text("2")
    open_tab(explorer, "Views")
    explorer.get_by_role("tab", selected=True).focus()
    keys.press("ArrowRight")
    keys.press("Enter")
    expect(explorer.get_by_role("tab", name="Take away", exact=True)).to_have_attribute("aria-selected", "true")
    kinds = explorer.get_by_role("button", name="Reduced session", exact=True)
    kinds.focus()
    keys.press("Enter")
    explorer.get_by_role("button", name="Make it").focus()
    keys.press("Enter")
    expect(explorer.locator(".ctx-offer h3")).to_contain_text(".json")
    explorer.get_by_role("button", name="Download").focus()
    with page.expect_download() as download:
        keys.press("Enter")
    assert download.value.suggested_filename.endswith(".json")
    # Keys that mean something to the notebook have done nothing there.
    expect(page.locator(".jp-Cell")).to_have_count(1)
