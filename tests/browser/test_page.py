"""The page of a session as it is met in an issue: a file opened from disk, with the network off and no kernel.

Three sessions: a few messages, a recorded review of 65, and 10,000. Each is opened once; each test sets what it needs.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from ctxlab.comparison import Policy
from ctxlab.messages import Conversation
from ctxlab.report import html_page
from ctxlab.samples import sample_sessions
from ctxlab.sessions import Session, load
from ctxlab.sliding_window import SlidingWindow
from ctxlab.summarizing import Summarizing
from ctxlab.tokens import HEURISTIC, ledger
from tests.browser.axe import findings
from tests.browser.test_explorer import HOSTILE, OUTSIDE, OVERLAPPING, is_light
from tests.builders import assistant, image, message, tool_chain, tool_result, tool_use, user

LONG = 10_000

Open = Callable[..., Page]


class Opened:
    """Pages opened from disk, and all that they asked for or complained about."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self.browser = browser
        self.folder = folder
        self.requests: list[str] = []
        self.complaints: list[str] = []

    def write(self, messages: Conversation, manager: Policy, budget: int | None = None) -> Path:
        half = ledger(messages, HEURISTIC).total // 2
        artifact = html_page(Session.of(messages, "in a test"), manager, half if budget is None else budget, HEURISTIC)
        file = self.folder / f"{len(list(self.folder.iterdir()))}.html"
        file.write_text(artifact.text, encoding="utf-8")
        assert file.stat().st_size < 6_000_000
        return file

    def open(self, file: Path, **options: Any) -> Page:
        context = self.browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        context.set_offline(True)
        page = context.new_page()
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda said: self.complaints.append(said.text))
        page.goto(file.as_uri())
        return page


@pytest.fixture(scope="module")
def opened(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    found = Opened(browser, tmp_path_factory.mktemp("pages"))
    yield found
    for context in browser.contexts:
        context.close()


@pytest.fixture(scope="module")
def small(opened: Opened) -> Page:
    messages = (user("hi " * 40), assistant("ok " * 40), user("go on"))
    return opened.open(opened.write(messages, SlidingWindow(2, should_truncate_results=False)))


@pytest.fixture(scope="module")
def review(opened: Opened) -> Page:
    messages = load(sample_sessions()["review-long"]).messages
    assert len(messages) == 65
    return opened.open(opened.write(messages, SlidingWindow(20), 2_000))


@pytest.fixture(scope="module")
def long(opened: Opened) -> Page:
    turn = (user("and now? " * 9), *tool_chain(4, "line of a log\n" * 40), assistant("done. " * 9))
    return opened.open(opened.write((turn * LONG)[:LONG], SlidingWindow(4_000)))


def figure(page: Page) -> Locator:
    return page.locator(".ctxlab-figure")


def in_focus(page: Page) -> Locator:
    return page.get_by_label("Message in focus", exact=True)


def look(page: Page, index: int) -> None:
    in_focus(page).fill(str(index))
    in_focus(page).press("Enter")


def row(page: Page) -> Locator:
    return page.locator("#candidates tr[aria-selected=true]")


def cell(page: Page) -> Locator:
    return page.locator("#verdicts td[aria-selected=true]")


# ---- it opens


@pytest.mark.parametrize(("name", "count"), [("small", 3), ("review", 65), ("long", LONG)])
def test_a_page_shows_all_its_parts_and_says_of_how_many_messages(
    name: str, count: int, request: pytest.FixtureRequest
) -> None:
    page: Page = request.getfixturevalue(name)
    expect(page.locator("#unscripted")).to_have_count(0)
    expect(page.locator(".ctxlab-story")).to_contain_text(f"{count:,} messages")
    expect(figure(page).locator(".bars path")).not_to_have_count(0)
    expect(figure(page)).to_have_attribute("aria-label", re.compile(f"Timeline of {count:,} messages"))
    expect(page.locator("#candidates tbody tr")).to_have_count(min(count, 20))
    if count > 20:
        expect(page.locator("#candidates nav")).to_contain_text(f"showing 20 of {count:,} messages")
    expect(page.locator("#rounds canvas")).to_be_visible()
    expect(page.locator("#verdicts td.cell")).not_to_have_count(0)
    expect(page.locator("#releases tbody tr")).to_have_count(12)
    # A few thousand elements, however long the session is.
    assert page.evaluate("document.querySelectorAll('*').length") < 2_500


# ---- the timeline


def test_the_steps_are_gone_through_by_keyboard_and_picture_and_words_follow(review: Page) -> None:
    review.get_by_role("button", name="To the first step").focus()
    review.keyboard.press("Enter")
    said = review.locator(".ctxlab-step")
    expect(said).to_contain_text("nothing has been done yet")
    expect(figure(review).locator("path.away, path.going")).to_have_count(0)
    slider = review.get_by_label("Jump to a step")
    slider.focus()
    review.keyboard.press("ArrowRight")
    expect(said).to_contain_text("is cut from")
    expect(figure(review).locator("path.away")).to_have_count(1)
    expect(slider).to_have_attribute("aria-valuetext", re.compile("step 1 of 17, round 1 of 17"))
    review.keyboard.press("End")
    expect(figure(review).locator("path.cut")).to_have_count(1)
    expect(review.get_by_role("button", name="On one step")).to_be_disabled()


def test_of_a_long_session_the_messages_near_the_cut_can_be_seen_one_by_one(long: Page) -> None:
    near = long.get_by_role("button", name=re.compile(r"^messages \d"))
    near.click()
    expect(near).to_have_attribute("aria-pressed", "true")
    expect(figure(long)).to_contain_text("Tokens per message")
    expect(long.locator(".focused .shown")).to_contain_text(", a bar each.")
    bounds = figure(long).locator("svg").bounding_box()
    assert bounds is not None
    long.mouse.click(bounds["x"] + 0.5 * bounds["width"], bounds["y"] + 100)
    assert 5_900 < int(in_focus(long).input_value()) < 6_100
    expect(figure(long).locator("path.focus")).to_have_count(1)
    look(long, 0)
    expect(near).to_have_attribute("aria-pressed", "false")
    expect(figure(long)).to_contain_text("Tokens per group of 40 messages")
    expect(figure(long).locator("path.focus")).to_have_count(1)


def test_every_message_answers_why_on_hover_and_on_focus(review: Page) -> None:
    look(review, 30)
    figure(review).focus()
    review.keyboard.press("ArrowRight")
    tip = review.locator(".ctxlab-tip")
    expect(tip).to_contain_text("Message 31 ·")
    expect(in_focus(review)).to_have_value("31")
    about = review.locator(".ctxlab-about")
    expect(about).to_contain_text("If the conversation started here it would cost")
    for line in about.locator("p").all_inner_texts():
        expect(tip).to_contain_text(line)
    bounds = figure(review).locator("svg").bounding_box()
    assert bounds is not None
    review.mouse.move(bounds["x"] + bounds["width"] * 0.2, bounds["y"] + 300)
    expect(tip).to_contain_text(re.compile(r"message \d+ · .*\n.*tokens?\n.*(refused|tool pair|user message)", re.S))
    expect(tip).to_contain_text("starting here:")
    review.mouse.move(0, 0)
    expect(tip).to_be_hidden()


def test_the_words_are_those_of_the_step_shown(review: Page) -> None:
    look(review, 0)
    review.get_by_label("Jump to a step").press("End")
    expect(row(review).locator("td").last).to_contain_text("goes")
    review.get_by_role("button", name="To the first step").click()
    expect(row(review).locator("td").last).to_have_text("stays")
    expect(review.locator(".ctxlab-about")).to_contain_text("This message stays.")
    review.get_by_role("button", name="To the last step").click()
    expect(row(review).locator("td").last).to_contain_text("goes")


# ---- one selection


def test_a_click_in_the_picture_a_row_a_tile_or_a_cell_is_one_selection(review: Page) -> None:
    bounds = figure(review).locator("svg").bounding_box()
    assert bounds is not None
    review.mouse.click(bounds["x"] + 0.5 * bounds["width"], bounds["y"] + 100)
    here = in_focus(review).input_value()
    assert 25 < int(here) < 40
    expect(row(review).locator("td").first).to_have_text(here)
    expect(cell(review)).to_have_attribute("data-key", here)
    expect(review.locator("#rounds .caption")).to_contain_text(f"message {here} ·")

    review.locator("#candidates tbody tr").nth(3).click()
    there = review.locator("#candidates tbody tr").nth(3).locator("td").first.inner_text()
    assert there != here
    expect(in_focus(review)).to_have_value(there)
    expect(cell(review)).to_have_attribute("data-key", there)

    review.locator("#rounds canvas").click(position={"x": 30, "y": 40})
    expect(in_focus(review)).not_to_have_value(there)
    tile = in_focus(review).input_value()
    expect(review.locator("#rounds .caption")).to_contain_text(f"message {tile} ·")
    expect(row(review).locator("td").first).to_have_text(tile)

    review.locator("#verdicts td.cell[data-key='3'][data-name='gemini']").click()
    expect(in_focus(review)).to_have_value("3")
    expect(review.locator(".ctxlab-about")).to_contain_text("Message 3 ·")
    expect(cell(review)).to_have_attribute("data-name", "gemini")


def test_the_table_goes_to_both_ends_by_keyboard(long: Page) -> None:
    table = long.locator("#candidates table")
    table.focus()
    long.keyboard.press("End")
    expect(row(long).locator("td").first).to_have_text(f"{LONG - 1:,}")
    expect(long.locator("#candidates nav")).to_contain_text(f"9,980 to {LONG - 1:,}")
    long.keyboard.press("Home")
    expect(row(long).locator("td").first).to_have_text("0")
    long.keyboard.press("PageDown")
    expect(row(long).locator("td").first).to_have_text("20")
    expect(long.locator(".ctxlab-about")).to_contain_text("Message 20 ·")
    expect(in_focus(long)).to_have_value("20")


# ---- the rounds


def test_the_rounds_are_played_and_the_timeline_follows(review: Page) -> None:
    review.get_by_role("button", name="Back to the start").click()
    expect(review.locator(".ctxlab-step")).to_contain_text("nothing has been done yet")
    review.get_by_label("Speed").select_option("8")
    review.get_by_role("button", name="Play", exact=True).click()
    expect(review.locator("#rounds .state strong")).to_have_text("Round 17 of 17.", timeout=20_000)
    expect(review.get_by_role("button", name="Play", exact=True)).to_be_visible(timeout=20_000)
    expect(review.locator(".steps .where")).to_have_text("step 17 of 17, round 17 of 17")
    review.get_by_role("button", name="Back one step").click()
    expect(review.locator("#rounds .where")).to_have_text("edit 16 of 17")


def test_the_rounds_of_the_fallback_are_played_block_by_block(opened: Opened) -> None:
    messages = load(sample_sessions()["eighty-blocks"]).messages
    page = opened.open(opened.write(messages, Summarizing(), 40_000))
    rounds = page.locator("#rounds .ctx-rounds")
    last = int(rounds.get_attribute("data-round") or 0)
    assert last > 1
    page.get_by_role("button", name="Back one round").click()
    expect(rounds).to_have_attribute("data-round", str(last - 1))
    expect(page.locator("#rounds mark")).to_have_count(1)


# ---- the verdicts


def test_a_cell_says_why_a_provider_refuses_and_what_would_mend_it(review: Page) -> None:
    cells = review.locator("#verdicts td.cell.refused[data-name='gemini'][data-key='-2']")
    cells.click()
    details = review.locator("#verdicts .details")
    expect(details).to_contain_text("× Gemini: refuses it.")
    expect(details).to_contain_text("To be accepted")
    held = cell(review)
    held.press("ArrowDown")
    expect(cell(review)).not_to_have_attribute("data-key", "-2")
    first = cell(review).get_attribute("data-key")
    cell(review).press("PageDown")
    expect(cell(review)).not_to_have_attribute("data-key", first or "")
    assert review.evaluate("document.activeElement.matches('td[aria-selected=true]')")


# ---- inert


@pytest.mark.parametrize("manager", [SlidingWindow(3), Summarizing(0.5, 2)])
def test_hostile_text_is_shown_as_text(opened: Opened, manager: Policy) -> None:
    evil = f"{HOSTILE}</script><!--\ud800"
    messages = (
        user(evil),
        tool_use(evil, name=evil, input={evil: evil}),
        tool_result(evil, [{"text": evil * 20}, image(format=evil)]),
        message(evil, {"text": evil}),
        user(evil),
        assistant(evil),
    )
    page = opened.open(opened.write(messages, manager))
    for index in range(len(messages)):
        look(page, index)
        expect(page.locator(".ctxlab-about")).to_contain_text(f"Message {index} ·")
        assert page.locator("main :is(img, script, iframe, a, style)").count() == 0
    look(page, 4)
    expect(page.locator("#rounds .text")).to_contain_text("<img src=x onerror=")
    assert "acted upon" not in page.title()


def test_what_gets_into_the_page_all_the_same_is_not_run(opened: Opened) -> None:
    page = opened.open(opened.write((user("hi"),), SlidingWindow(2)))
    heard: list[str] = []
    page.on("console", lambda said: heard.append(said.text))
    page.evaluate(
        """() => {
          document.body.insertAdjacentHTML("beforeend", "<img src='x.png' onerror='document.title = `run`'>");
          const script = document.createElement("script");
          script.textContent = "document.title = 'run'";
          document.body.append(script);
        }"""
    )
    page.wait_for_timeout(200)
    assert page.title() != "run"
    assert any("Content Security Policy" in text for text in heard)
    opened.complaints = [text for text in opened.complaints if text not in heard]
    opened.requests = [url for url in opened.requests if not url.endswith("x.png")]


# ---- looks


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 700])
def test_nothing_is_cut_off_or_overlaps(opened: Opened, scheme: str, width: int) -> None:
    messages = load(sample_sessions()["review-long"]).messages
    file = opened.write(messages, SlidingWindow(20), 2_000)
    page = opened.open(file, viewport={"width": width, "height": 900}, color_scheme=scheme)
    main = page.locator("main")
    expect(figure(page).locator(".bars path")).not_to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("#candidates .place").evaluate("one => one.scrollWidth <= one.clientWidth")
    assert main.evaluate(OVERLAPPING) == []
    assert [said for said in main.evaluate(OUTSIDE) if said.startswith("cut off")] == []
    assert is_light(page.locator(".ctxlab-figure .title").first) == (scheme == "dark")
    assert is_light(page.locator(".ctxlab-story")) == (scheme == "dark")
    assert is_light(page.locator("#releases td").last) == (scheme == "dark")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(opened: Opened, scheme: str) -> None:
    messages = load(sample_sessions()["review-long"]).messages
    page = opened.open(opened.write(messages, SlidingWindow(20), 2_000), color_scheme=scheme)
    page.locator("header details").first.click()
    look(page, 46)
    assert findings(page, "body") == []


def test_the_page_changes_its_theme_with_the_system(small: Page) -> None:
    small.emulate_media(color_scheme="dark")
    expect(small.locator("body")).to_have_attribute("data-jp-theme-light", "false")
    small.emulate_media(color_scheme="light")
    expect(small.locator("body")).to_have_attribute("data-jp-theme-light", "true")


def test_with_scripts_off_it_can_still_be_read(opened: Opened) -> None:
    messages = load(sample_sessions()["review-long"]).messages
    page = opened.open(opened.write(messages, SlidingWindow(20), 2_000), java_script_enabled=False)
    expect(page.locator("#unscripted")).to_be_visible()
    expect(page.locator(".ctxlab-story")).to_contain_text("65 messages")
    expect(page.locator("#candidates tbody tr")).to_have_count(20)
    expect(page.locator("#verdicts tbody tr")).to_have_count(13)
    expect(page.locator("#rounds li")).not_to_have_count(0)


def test_no_page_has_asked_for_anything_but_itself_or_complained(opened: Opened) -> None:
    assert opened.requests
    assert {url for url in opened.requests if not re.fullmatch(rf"{opened.folder.as_uri()}/\d+\.html", url)} == set()
    assert opened.complaints == []
