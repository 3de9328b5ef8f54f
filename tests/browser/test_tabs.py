"""The tabs of the explorer as a person meets them: one selection, policies side by side, a state passed on.

One page for all of it. Sizes and themes of the whole are looked at elsewhere.
"""

from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import OpenNotebook

SOURCE = ['import ctxlab\nctxlab.Explorer(policy="summarizing", budget=1500, preserve_recent_messages=2)']


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


def compared(explorer: Locator, message: int) -> None:
    """Expect that the lanes tell about a message. What stands behind its number tells 2 from 20."""
    expect(explorer.locator(".ctx-compare > .about")).to_contain_text(f"message {message} ·")


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


def test_a_lane_a_bar_and_every_other_view_are_one_selection(explorer: Locator) -> None:
    open_tab(explorer, "Compare")
    lanes = explorer.locator(".ctx-compare .lane")
    expect(lanes).not_to_have_count(0)
    expect(lanes.first).to_contain_text("Summarizing 1.62.0")
    picture = lanes.nth(1).locator("svg")
    bounds = picture.bounding_box()
    assert bounds is not None
    picture.click(position={"x": bounds["width"] * 0.99, "y": 30})
    last = focus(explorer).get_attribute("max") or ""
    expect(focus(explorer)).to_have_value(last)
    compared(explorer, int(last))
    explorer.locator(".ctx-compare").focus()
    explorer.page.keyboard.press("Home")
    expect(focus(explorer)).to_have_value("0")
    expect(explorer.locator(".ctxlab-about")).to_contain_text("Message 0 ·")
    open_tab(explorer, "Why")
    explorer.locator(".ctxlab-rows tbody tr").nth(4).click()
    open_tab(explorer, "Compare")
    compared(explorer, 4)


APART = """() => {
  const root = document.querySelector(".ctxlab");
  const centre = (node) => ((box) => (box.left + box.right) / 2)(node.getBoundingClientRect());
  const above = centre(root.querySelector(".ctxlab-figure path.focus"));
  return [...root.querySelectorAll(".ctx-compare .band")].map((band) => centre(band) - above);
}"""
"""How far the message in focus is in each lane from where the timeline has it, in pixels."""


@pytest.mark.parametrize("width", [1280, 700])
def test_a_message_is_at_the_same_place_in_the_timeline_and_in_every_lane(explorer: Locator, width: int) -> None:
    open_tab(explorer, "Compare")
    page = explorer.page
    page.set_viewport_size({"width": width, "height": 1700})
    lanes = explorer.locator(".ctx-compare .lane svg")
    last = int(focus(explorer).get_attribute("max") or "0")
    for span in ((0, last), (2, last - 1)):
        for name, value in zip(("Show from", "to"), span, strict=True):
            place = explorer.get_by_role("spinbutton", name=name, exact=True)
            place.fill(str(value))
            place.press("Enter")
        # Only once the lanes are drawn in this range is a click on one a click on a message of it.
        shown = f"{last + 1} messages" if span == (0, last) else f"messages {span[0]} to {span[1]} of {last + 1}"
        expect(explorer.locator(".ctx-compare > .bar")).to_contain_text(f"Showing {shown}, a bar each.")
        for index in (span[0], (span[0] + span[1]) // 2, span[1]):
            focus(explorer).fill(str(index))
            focus(explorer).press("Enter")
            compared(explorer, index)
            page.wait_for_function(f"() => ({APART})().every((apart) => Math.abs(apart) < 1.5)")
            apart = page.evaluate(APART)
            assert len(apart) == lanes.count()
            # A click at that place in a lane is a click on that message.
            band, lane = lanes.first.locator(".band").bounding_box(), lanes.first.bounding_box()
            assert band is not None
            assert lane is not None
            other = span[0] if index != span[0] else span[1]
            focus(explorer).fill(str(other))
            focus(explorer).press("Enter")
            compared(explorer, other)
            lanes.first.click(position={"x": band["x"] + band["width"] / 2 - lane["x"], "y": 30})
            expect(focus(explorer)).to_have_value(str(index))
    explorer.get_by_role("button", name="All", exact=True).click()
    page.set_viewport_size({"width": 1280, "height": 1700})


def test_a_cell_of_the_table_says_why_and_puts_the_message_in_focus(explorer: Locator) -> None:
    open_tab(explorer, "Compare")
    cells = explorer.locator(".ctx-compare td.cell")
    rows = explorer.locator(".ctx-compare .ctx-matrix tbody tr")
    expect(rows.first).to_contain_text("as it is")
    assert rows.count() == explorer.locator(".ctx-compare .lane").count() + 1
    cells.first.click()
    explorer.page.keyboard.press("ArrowDown")
    expect(rows.nth(1).locator("td.cell").first).to_be_focused()
    refused = explorer.locator(".ctx-compare td.cell.refused").first
    label = refused.get_attribute("aria-label") or ""
    refused.click()
    details = explorer.locator(".ctx-compare .details")
    expect(details).to_contain_text("refuses it")
    expect(details).to_contain_text("Breach:")
    assert label.endswith("refused")
    go = details.get_by_role("button", name="Go to message").first
    wanted = (go.text_content() or "").removeprefix("Go to message ")
    go.click()
    expect(focus(explorer)).to_have_value(wanted)


def test_a_lane_is_chosen_and_the_old_policy_stays_beside_it(explorer: Locator) -> None:
    open_tab(explorer, "Compare")
    lanes = explorer.locator(".ctx-compare .lane")
    lanes.filter(has_text="Strands 1.35.0").get_by_role("button", name="Choose").click()
    expect(lanes.first).to_contain_text("Strands 1.35.0")
    expect(explorer.get_by_label("Policy", exact=True)).to_have_value("sliding window")
    expect(lanes.filter(has_text="Summarizing 1.62.0")).to_have_count(1)
    explorer.get_by_role("button", name="Usual lanes").click()
    expect(explorer.get_by_role("button", name="Usual lanes")).to_be_disabled()


def test_the_other_half_of_a_tool_pair_is_one_press_away_and_so_is_the_way_back(explorer: Locator) -> None:
    open_tab(explorer, "Message")
    focus(explorer).fill("1")
    focus(explorer).press("Enter")
    explorer.get_by_role("button", name="answer in message 2").click()
    expect(focus(explorer)).to_have_value("2")
    explorer.get_by_role("button", name="call in message 1").click()
    expect(focus(explorer)).to_have_value("1")
    explorer.get_by_role("button", name="answer in message 2").click()
    expect(focus(explorer)).to_have_value("2")
    explorer.get_by_role("button", name="back to message 1").press("Enter")
    expect(focus(explorer)).to_have_value("1")
    expect(explorer.get_by_text("What becomes of this message")).to_be_visible()
    explorer.get_by_role("button", name="Raw JSON").click()
    expect(explorer.locator(".ctxlab-block pre").last).to_contain_text('"toolUse": {')


def test_a_state_is_saved_and_opened_again_and_nonsense_is_refused(explorer: Locator, tmp_path: Path) -> None:
    open_tab(explorer, "Why")
    focus(explorer).fill("3")
    focus(explorer).press("Enter")
    expect(explorer.locator(".ctxlab-about")).to_contain_text("Message 3 ·")
    with explorer.page.expect_download() as saved:
        explorer.get_by_role("button", name="Save state").click()
    file = tmp_path / "state.json"
    saved.value.save_as(file)
    focus(explorer).fill("0")
    focus(explorer).press("Enter")
    expect(explorer.locator(".ctxlab-about")).to_contain_text("Message 0 ·")
    explorer.get_by_role("button", name="Open state").click()
    explorer.get_by_label("State file to open").set_input_files(file)
    expect(focus(explorer)).to_have_value("3")
    explorer.get_by_label("State to open").fill("<img src=x onerror=alert(1)>")
    explorer.get_by_label("State to open").press("Enter")
    expect(explorer.locator(".ctxlab-error")).to_contain_text("a state begins with ctxlab-state.1.")
    expect(focus(explorer)).to_have_value("3")
    explorer.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    explorer.get_by_role("button", name="Copy state").click()
    expect(explorer.locator(".ctxlab-state")).to_contain_text("Copied")
    copied = explorer.page.evaluate("navigator.clipboard.readText()")
    focus(explorer).fill("1")
    focus(explorer).press("Enter")
    expect(explorer.locator(".ctxlab-about")).to_contain_text("Message 1 ·")
    explorer.get_by_label("State to open").fill(copied)
    explorer.get_by_label("State to open").press("Enter")
    expect(focus(explorer)).to_have_value("3")


def test_no_script_of_the_page_has_failed(errors: list[str], explorer: Locator) -> None:
    assert errors == []
