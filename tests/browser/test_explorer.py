"""Notebook 01 as a person meets it: run all, drag the slider, switch the release, play the steps, use the keyboard.

One page for all of it; each test sets what it needs. Then the page at its narrowest, in both themes: nothing clipped.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import FloatRect, Locator, Page, expect

from ctxlab.samples import sample_sessions
from ctxlab.sessions import load
from tests.browser.conftest import OpenNotebook
from tests.builders import tool_result, tool_use, user

FIRST = "01_step_through_a_failing_session"


@pytest.fixture(scope="module")
def page(open_notebook: OpenNotebook, errors: list[str]) -> Page:
    page = open_notebook(FIRST, height=1500)
    page.on("pageerror", lambda error: errors.append(str(error)))
    expect(page.locator(".ctxlab-figure[data-drawn]")).to_be_visible(timeout=60_000)
    page.locator(".ctxlab").scroll_into_view_if_needed()
    return page


@pytest.fixture
def explorer(page: Page) -> Locator:
    """The explorer on the session of #2173 under 1.37.0, window 4, 150 tokens."""
    explorer = page.locator(".ctxlab")
    choose(explorer, "Session", "sample: review-2173")
    expect(story(explorer)).to_contain_text("8 messages, 297 tokens")
    number(explorer, "Token budget, exactly", 150)
    expect(story(explorer)).to_contain_text("budget 150")
    choose(explorer, "as of Strands", re.compile(r"^1\.37\.0"))
    number(explorer, "window_size", 4)
    expect(story(explorer)).to_contain_text("Strands 1.37.0 cuts at message 5")
    return explorer


def choose(explorer: Locator, label: str, option: str | re.Pattern[str]) -> None:
    control = explorer.get_by_label(label, exact=True)
    words = control.locator("option").filter(has_text=option).first.text_content()
    control.select_option(label=(words or "").strip())


def number(explorer: Locator, label: str, value: int) -> None:
    control = explorer.get_by_label(label, exact=True)
    control.fill(str(value))
    control.press("Enter")


def story(explorer: Locator) -> Locator:
    return explorer.locator(".ctxlab-story")


def figure(explorer: Locator) -> Locator:
    return explorer.locator(".ctxlab-figure")


def step_said(explorer: Locator) -> Locator:
    return explorer.locator(".ctxlab-step")


def focus(explorer: Locator) -> Locator:
    return explorer.get_by_role("spinbutton", name="Message in focus")


def box(place: Locator) -> FloatRect:
    bounds = place.bounding_box()
    assert bounds is not None
    return bounds


def drag(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    page.mouse.move(*start)
    page.mouse.down()
    for part in range(1, 9):
        page.mouse.move(start[0] + (end[0] - start[0]) * part / 8, start[1] + (end[1] - start[1]) * part / 8)
    page.mouse.up()


def inside(explorer: Locator, across: float, down: float) -> tuple[float, float]:
    """A place in the picture: parts of its width and height."""
    figure(explorer).scroll_into_view_if_needed()
    bounds = box(figure(explorer).locator("svg"))
    return bounds["x"] + across * bounds["width"], bounds["y"] + down * bounds["height"]


# ---- the slider


def test_dragging_the_budget_moves_line_sentence_and_marks(page: Page, explorer: Locator) -> None:
    expect(explorer.locator(".marks .fits[data-word='tool pair']")).not_to_have_count(0)
    slider = box(explorer.locator(".ctxlab-budget input[type=range]"))
    middle = slider["y"] + slider["height"] / 2
    thumb = slider["x"] + 8 + (slider["width"] - 16) * 150 / 342
    drag(page, (thumb, middle), (slider["x"] + slider["width"] - 2, middle))
    expect(story(explorer)).to_contain_text("Fits.")
    expect(explorer.locator("path.cut")).to_have_count(0)
    expect(explorer.locator(".marks .over")).to_have_count(0)
    drag(page, (slider["x"] + slider["width"] - 8, middle), (slider["x"] + 2, middle))
    expect(story(explorer)).to_contain_text("budget 0,")
    expect(explorer.locator(".marks .fits")).to_have_count(0)
    expect(explorer.locator(".budget-label")).to_have_text("budget 0")


def test_a_late_answer_leaves_alone_what_is_being_typed(page: Page, explorer: Locator) -> None:
    exact = explorer.get_by_label("Token budget, exactly", exact=True)
    exact.click(click_count=3)
    page.keyboard.type("12")
    # The slider moves without taking the keyboard away: its answer comes while the number is half typed.
    explorer.get_by_label("Token budget", exact=True).evaluate(
        "(slider) => { slider.value = 149; slider.dispatchEvent(new Event('input')); }"
    )
    expect(story(explorer)).to_contain_text("budget 149")
    expect(explorer.locator(".budget-label")).to_have_text("budget 149")
    expect(exact).to_have_value("12")
    page.keyboard.type("3")
    page.keyboard.press("Enter")
    expect(story(explorer)).to_contain_text("budget 123")
    expect(exact).to_have_value("123")


def test_a_number_box_that_was_emptied_shows_what_holds(page: Page, explorer: Locator) -> None:
    window = explorer.get_by_label("window_size", exact=True)
    window.fill("")
    window.press("Tab")
    expect(window).to_have_value("4")


def test_the_budget_moves_by_the_keyboard_too(page: Page, explorer: Locator) -> None:
    slider = explorer.get_by_label("Token budget", exact=True)
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(story(explorer)).to_contain_text("budget 151")
    expect(slider).to_have_attribute("aria-valuetext", "151 tokens")
    expect(explorer.locator(".budget-label")).to_have_text("budget 151")


# ---- the releases


def test_switching_the_release_tells_the_story_of_2173(explorer: Locator) -> None:
    choose(explorer, "as of Strands", re.compile(r"^1\.34\.1"))
    expect(story(explorer)).to_contain_text("Strands 1.34.1 cuts at message 5: 3 messages")
    choose(explorer, "as of Strands", re.compile(r"^1\.35\.0"))
    expect(story(explorer)).to_contain_text("gets stuck")
    expect(story(explorer)).to_contain_text("“Unable to trim conversation context!”")
    expect(explorer.locator("path.cut")).to_have_count(0)
    choose(explorer, "as of Strands", re.compile(r"^1\.37\.0"))
    expect(explorer.locator(".label.cut")).to_contain_text("cut at 5: 5 messages")
    expect(explorer.locator("path.going")).to_have_count(1)
    expect(explorer).to_contain_text("#2174")


# ---- playing


def test_the_steps_are_played_to_the_end_and_gone_back(explorer: Locator) -> None:
    choose(explorer, "Session", "sample: review-long")
    expect(story(explorer)).to_contain_text("65 messages")
    number(explorer, "window_size", 20)
    number(explorer, "Token budget, exactly", 2000)
    expect(story(explorer)).to_contain_text("budget 2,000")
    explorer.get_by_label("Speed").select_option("fast")
    explorer.get_by_role("button", name="Start").click()
    expect(step_said(explorer)).to_contain_text("nothing has been done yet")
    expect(explorer.locator("path.going")).to_have_count(0)
    explorer.get_by_role("button", name="Play").click()
    expect(explorer.get_by_role("button", name="Pause")).to_be_visible()
    expect(explorer.get_by_role("button", name="Play")).to_be_visible(timeout=30_000)
    expect(explorer.get_by_role("button", name="Step")).to_be_disabled()
    expect(step_said(explorer)).to_contain_text("1,878 tokens are left")
    last = step_said(explorer).inner_text()
    explorer.get_by_role("button", name="Back").click()
    expect(step_said(explorer)).not_to_have_text(last)
    explorer.get_by_role("button", name="Step").click()
    expect(step_said(explorer)).to_have_text(last)


def test_a_truncated_message_shows_what_was_cut_away(explorer: Locator) -> None:
    choose(explorer, "Session", "sample: review-long")
    expect(story(explorer)).to_contain_text("65 messages")
    explorer.get_by_role("button", name="Start").click()
    expect(explorer.locator("path.away")).to_have_count(0)
    explorer.get_by_role("button", name="Step").click()
    expect(step_said(explorer)).to_contain_text("is cut from")
    expect(explorer.locator("path.away")).to_have_count(1)


def test_where_it_is_stuck_the_last_step_has_the_sdks_words(explorer: Locator) -> None:
    choose(explorer, "as of Strands", re.compile(r"^1\.35\.0"))
    explorer.get_by_role("button", name="Start").click()
    expect(step_said(explorer)).to_contain_text("nothing has been done yet")
    explorer.get_by_role("button", name="Step").click()
    expect(step_said(explorer)).to_contain_text("Stuck. Strands 1.35.0 raises “Unable to trim conversation context!”")


# ---- why


def test_pointing_at_a_refused_message_says_why(page: Page, explorer: Locator) -> None:
    page.mouse.move(*inside(explorer, 0.58, 0.75))
    tip = explorer.locator(".ctxlab-tip")
    expect(tip).to_contain_text("message 4 · user · toolResult")
    expect(tip).to_contain_text("× refused: its toolUse would be cut away")
    page.mouse.move(0, 0)
    expect(tip).to_be_hidden()


def test_arrow_keys_move_the_focus_and_every_view_follows(page: Page, explorer: Locator) -> None:
    number(explorer, "Message in focus", 2)
    expect(explorer.locator(".ctxlab-about")).to_contain_text("Message 2 ·")
    figure(explorer).focus()
    page.keyboard.press("ArrowRight")
    expect(explorer.locator(".ctxlab-about")).to_contain_text("Message 3 · assistant · toolUse")
    expect(explorer.locator(".ctxlab-tip")).to_contain_text(
        "◆ tool pair: it could start here, but the search starts at 4"
    )
    expect(explorer.locator("tr[aria-selected=true] td").first).to_have_text("3")
    page.keyboard.press("End")
    expect(focus(explorer)).to_have_value("7")
    # The answer to a key shows the words again: the last one has to be there before they are put away.
    expect(explorer.locator(".ctxlab-tip")).to_contain_text("Message 7 ·")
    page.keyboard.press("Escape")
    expect(explorer.locator(".ctxlab-tip")).to_be_hidden()


def test_a_row_a_bar_and_the_message_view_are_one_selection(page: Page, explorer: Locator) -> None:
    explorer.locator(".ctxlab-rows tbody tr").nth(6).click()
    expect(focus(explorer)).to_have_value("6")
    explorer.get_by_role("tab", name="Message").click()
    expect(explorer).to_contain_text("answers message 5")
    page.mouse.click(*inside(explorer, 0.1, 0.3))
    expect(focus(explorer)).to_have_value("0")
    expect(explorer.locator(".ctxlab-block pre")).to_have_count(1)
    explorer.get_by_role("tab", name="Why").click()
    expect(explorer.locator("tr[aria-selected=true] td").first).to_have_text("0")


def test_a_row_is_chosen_also_where_a_step_is_drawn_between_press_and_release(page: Page, explorer: Locator) -> None:
    number(explorer, "Message in focus", 7)
    expect(explorer.locator("tr[aria-selected=true] td").first).to_have_text("7")
    explorer.get_by_role("button", name="Start").click()
    expect(step_said(explorer)).to_contain_text("nothing has been done yet")
    row = explorer.locator(".ctxlab-rows tbody tr").nth(2)
    expect(row).not_to_contain_text("goes")
    row.hover()
    page.mouse.down()
    explorer.get_by_role("button", name="Step").press("Enter")
    expect(row).to_contain_text("goes")
    page.mouse.up()
    expect(focus(explorer)).to_have_value("2")


def test_pages_asked_for_faster_than_they_come_all_count(explorer: Locator) -> None:
    choose(explorer, "Session", "sample: plain-chat")
    pages = explorer.locator(".ctxlab-rows nav").first
    expect(pages).to_contain_text("of 80 messages: 0 to 19")
    pages.get_by_role("button", name="later").evaluate("(button) => { for (const _ of [1, 2, 3]) button.click(); }")
    expect(pages).to_contain_text("of 80 messages: 60 to 79")
    pages.get_by_role("button", name="earlier").evaluate("(button) => { for (const _ of [1, 2]) button.click(); }")
    expect(pages).to_contain_text("of 80 messages: 20 to 39")


# ---- long sessions


def test_a_thousand_messages_are_grouped_said_so_and_zoomed_into(page: Page, explorer: Locator) -> None:
    choose(explorer, "Session", "sample: thousand-messages")
    # The views of the session before are offered until this one is read.
    expect(explorer.get_by_label("Messages", exact=True)).to_contain_text("stored: 1,")
    choose(explorer, "Messages", re.compile("^stored"))
    expect(explorer).to_contain_text(re.compile(r"Showing 1,\d{3} messages in \d+ groups of \d"))
    drag(page, inside(explorer, 0.4, 0.3), inside(explorer, 0.5, 0.3))
    expect(explorer).to_contain_text(re.compile(r"Showing messages \d+ to \d+ of 1,\d{3}, a bar each"))
    explorer.get_by_role("button", name="All", exact=True).click()
    expect(explorer).to_contain_text("Tokens per group of")


# ---- opening


def test_a_path_that_leads_nowhere_is_said_in_place(page: Page, explorer: Locator) -> None:
    path = explorer.get_by_label("Path of a session file or folder")
    path.fill("/nowhere/session.json")
    page.keyboard.press("Enter")
    expect(explorer.locator(".ctxlab-error")).to_contain_text("there is no such file or folder")
    expect(story(explorer)).to_contain_text("cuts at message 5")


HOSTILE = (
    "<img src=x onerror=\"document.title='acted upon'\"><script>document.title='acted upon'</script> "
    "[link](javascript:alert(1)) \x1b[31mred \u202eright to left"
)


def test_an_uploaded_hostile_session_is_shown_as_text(page: Page, explorer: Locator, tmp_path: Path) -> None:
    messages: list[Any] = [user(HOSTILE), tool_use("1", name=HOSTILE), tool_result("1", HOSTILE), user("and?")]
    file = tmp_path / "hostile.json"
    file.write_text(json.dumps(messages), encoding="utf-8")
    with page.expect_file_chooser() as chooser:
        explorer.get_by_role("button", name="Upload").click()
    chooser.value.set_files(file)
    expect(story(explorer)).to_contain_text("4 messages")
    explorer.get_by_role("tab", name="Message").click()
    expect(explorer.locator(".ctxlab-block pre").first).to_contain_text("<img src=x onerror=")
    expect(explorer.locator(".ctxlab-block pre").first).to_contain_text("␛[31mred \\u202eright to left")
    for index in range(4):
        number(explorer, "Message in focus", index)
        expect(explorer.locator(".ctxlab-about")).to_contain_text(f"Message {index} ·")
        assert explorer.locator("img, script, a[href^=javascript]").count() == 0
    assert "acted upon" not in page.title()
    explorer.get_by_role("tab", name="Why").click()


# ---- names, sizes, themes

NAMELESS = """root => [...root.querySelectorAll('button, input, select, [role=slider], [tabindex="0"]')]
  .filter(one => one.offsetParent && !one.labels?.length && !one.textContent.trim()
    && !one.getAttribute('aria-label') && !one.title && one.type !== 'file')
  .map(one => one.outerHTML.slice(0, 200))"""

OUTSIDE = """root => {
  const page = root.getBoundingClientRect();
  const found = [];
  const wider = root.scrollWidth - root.clientWidth;
  if (wider > 1) found.push(`wider than its place by ${wider}`);
  for (const one of root.querySelectorAll('svg text, button, select, input, .widget-label, .ctxlab-story')) {
    const box = one.getBoundingClientRect();
    if (!box.width || one.closest('.ctxlab-rows')) continue;
    const name = one.textContent || one.outerHTML.slice(0, 80);
    if (box.left < page.left - 1 || box.right > page.right + 1) found.push(`outside: ${name}`);
    if (one.matches('button, .widget-label') && one.scrollWidth > one.clientWidth + 1) found.push(`cut off: ${name}`);
  }
  return found;
}"""

OVERLAPPING = """root => {
  const texts = [...root.querySelectorAll('.ctxlab-figure svg text')].filter(one => one.textContent);
  const boxes = texts.map(one => one.getBoundingClientRect());
  const found = [];
  boxes.forEach((a, i) => boxes.forEach((b, j) => {
    if (i < j && a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2) {
      found.push(`${texts[i].textContent} / ${texts[j].textContent}`);
    }
  }));
  return found;
}"""


def test_keys_pressed_on_a_control_are_no_commands_of_the_notebook(page: Page, explorer: Locator) -> None:
    cells = page.locator(".jp-Notebook .jp-Cell")
    before = cells.count()
    explorer.get_by_role("button", name="Start").focus()
    page.keyboard.press("d")
    page.keyboard.press("d")
    page.keyboard.press("b")
    explorer.get_by_role("button", name="Start").focus()
    expect(cells).to_have_count(before)


def test_every_control_has_a_name(explorer: Locator) -> None:
    assert explorer.evaluate(NAMELESS) == []


def test_the_picture_has_an_alternative_in_words(explorer: Locator) -> None:
    expect(figure(explorer)).to_have_attribute("aria-label", re.compile("Timeline of 8 messages.*cuts at message 5"))


def test_it_is_still_there_after_scrolling_away_and_back(page: Page, explorer: Locator) -> None:
    page.locator(".jp-Cell").first.scroll_into_view_if_needed()
    page.mouse.wheel(0, -20_000)
    expect(page.get_by_role("heading", name="Why can this session not be trimmed?")).to_be_in_viewport()
    figure(explorer).scroll_into_view_if_needed()
    expect(explorer.locator(".bars path")).not_to_have_count(0)
    number(explorer, "Token budget, exactly", 300)
    expect(explorer.locator(".budget-label")).to_have_text("budget 300")


def test_no_script_of_the_page_has_failed(errors: list[str], explorer: Locator) -> None:
    assert errors == []


SAMPLES = ("review-2173", "review-long", "pins", "images", "chinese-emoji")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_is_cut_off_or_overlaps_at_900_pixels(open_notebook: OpenNotebook, theme: str) -> None:
    source = ["import ctxlab\nctxlab.Explorer(window_size=8)"]
    page = open_notebook(f"narrow-{theme}", theme=theme, width=900, height=1600, source=source)
    explorer = page.locator(".ctxlab")
    expect(page.locator("body")).to_have_attribute("data-jp-theme-light", "true" if theme == "light" else "false")
    for name in SAMPLES:
        choose(explorer, "Session", f"sample: {name}")
        count = len(load(sample_sessions()[name]).messages)
        expect(story(explorer)).to_contain_text(f"{count} messages", timeout=60_000)
        for budget in (0, 100, 700, 3000, 29_000):
            number(explorer, "Token budget, exactly", budget)
            expect(explorer.locator(".budget-label")).to_contain_text(f"budget {budget:,}")
            assert explorer.evaluate(OVERLAPPING) == [], (name, budget)
        assert explorer.evaluate(OUTSIDE) == [], name
    assert is_light(explorer.locator(".ctxlab-figure .title").first) == (theme == "dark")
    assert is_light(explorer.locator(".ctxlab-story").first) == (theme == "dark")


def is_light(text: Locator) -> bool:
    """Say whether text is written in a light colour."""
    colour = text.evaluate("one => getComputedStyle(one)[one.tagName === 'text' ? 'fill' : 'color']")
    return min(int(channel) for channel in re.findall(r"\d+", colour)[:3]) > 150
