"""The tuner in JupyterLab: the line moves without the kernel, answers follow the dials, and trying can be stopped."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenNotebook

SOURCE = [
    "from ctxlab.explorers import Tuner\nfrom ctxlab.samples import sample_sessions",
    "tuner = Tuner(sample_sessions()['eighty-blocks'], budget=60_000, most_refused=7)\ntuner",
]


@pytest.fixture(scope="module")
def page(open_notebook: OpenNotebook) -> Page:
    return open_notebook("tuner", source=SOURCE, height=1300)


@pytest.fixture
def tuner(page: Page) -> Locator:
    """The tuner when all is tried, under the proportional rule."""
    tuner = page.locator(".ctx-tuner")
    expect(tuner).to_be_visible(timeout=60_000)
    tuner.get_by_role("radio", name="proportional").check()
    expect(tuner.locator(".progress")).to_be_hidden(timeout=60_000)
    return tuner


def drag(locator: Locator, start: float, end: float) -> None:
    """Drag over a part of an element's width, at its middle."""
    box = locator.bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    mouse = locator.page.mouse
    mouse.move(box["x"] + box["width"] * start, y)
    mouse.down()
    mouse.move(box["x"] + box["width"] * end, y, steps=8)
    mouse.up()


def test_dragging_preserve_chars_changes_the_curve_and_what_is_said(tuner: Locator) -> None:
    said, curve = tuner.locator(".now"), tuner.locator("svg.curve .line")
    before = said.text_content(), curve.get_attribute("points"), tuner.get_attribute("data-value")
    drag(tuner.get_by_label("preserve_chars", exact=True), 0.7, 0.2)
    after = said.text_content(), curve.get_attribute("points"), tuner.get_attribute("data-value")
    assert all(one != other for one, other in zip(before, after, strict=True))


def test_the_line_can_be_dragged_in_a_picture(tuner: Locator) -> None:
    line = tuner.locator("svg.calls .cursor")
    drag(tuner.locator("svg.calls"), 0.3, 0.8)
    value, place = int(tuner.get_attribute("data-value") or 0), line.get_attribute("x1")
    drag(tuner.locator("svg.heat"), 0.8, 0.4)
    assert int(tuner.get_attribute("data-value") or 0) < value
    assert line.get_attribute("x1") != place
    assert tuner.locator("svg.sizes .cursor").get_attribute("x1") == line.get_attribute("x1")


def test_another_budget_is_another_recommendation(tuner: Locator) -> None:
    before = tuner.get_attribute("data-best")
    budget = tuner.get_by_label("Token budget, exactly")
    budget.fill("40000")
    budget.press("Enter")
    expect(tuner).not_to_have_attribute("data-best", before or "")
    expect(tuner.locator(".state")).to_contain_text("40,000 tokens")
    tuner.get_by_role("button", name="take it").click()
    assert tuner.get_attribute("data-value") == tuner.get_attribute("data-best")
    expect(tuner.locator(".now")).to_contain_text("That is the recommended value.")
    budget.fill("60000")
    budget.press("Enter")
    expect(tuner).to_have_attribute("data-best", before or "")


def test_the_fixed_rule_has_a_dead_zone(tuner: Locator) -> None:
    tuner.get_by_label("preserve_chars, exactly").fill("2000")
    tuner.get_by_label("preserve_chars, exactly").press("Enter")
    expect(tuner.locator(".beside")).to_contain_text("2,001 to 6,000 characters: 80 of 80 texts")
    tuner.get_by_role("radio", name="fixed").check()
    expect(tuner.locator(".now")).to_contain_text("never fits")
    expect(tuner.locator(".progress")).to_be_hidden(timeout=60_000)
    assert float(tuner.locator("svg.sizes .zone").get_attribute("width") or 0) > 20


def test_every_value_is_in_a_table(tuner: Locator) -> None:
    tuner.locator("summary").click()
    tried = tuner.locator("svg.calls .point, svg.calls .never").count()
    assert tried > 60
    expect(tuner.locator("tbody tr")).to_have_count(tried)
    tuner.locator("summary").click()


def test_keys_move_the_line(tuner: Locator) -> None:
    slider = tuner.get_by_label("preserve_chars", exact=True)
    slider.press("Home")
    assert tuner.get_attribute("data-value") == "50"
    slider.press("ArrowRight")
    assert int(tuner.get_attribute("data-value") or 0) > 50


def test_what_the_dials_show_can_be_set_from_the_notebook(open_notebook: OpenNotebook) -> None:
    page = open_notebook(
        "tuner-set", source=[*SOURCE, "tuner.finish(); tuner.preserve_chars = 777; tuner.budget = 40_000"]
    )
    tuner = page.locator(".ctx-tuner")
    expect(tuner).to_be_visible(timeout=60_000)
    expect(tuner).to_have_attribute("data-value", "777")
    expect(tuner.locator(".state")).to_contain_text("40,000 tokens")


def test_of_several_sessions_each_line_has_its_name(open_notebook: OpenNotebook) -> None:
    source = [SOURCE[0], "s = sample_sessions()\nTuner(s['eighty-blocks'], s['giant-block'], budget=50_000)"]
    tuner = open_notebook("tuner-two", source=source).locator(".ctx-tuner")
    names = tuner.locator("svg.curve .line-name")
    expect(names).to_have_text(["eighty-blocks (incidents)", "giant-block (incidents)"], timeout=60_000)
    expect(tuner.locator("svg.curve")).to_have_attribute("aria-label", re.compile("giant-block .incidents. 5"))


def test_trying_shows_progress_and_can_be_stopped(open_notebook: OpenNotebook) -> None:
    source = [
        "from ctxlab.explorers import Tuner",
        "lines = [f'line {n} of the log, {n * 7919 % 10007} items\\n' for n in range(200_000)]",
        "texts = [''.join(lines[n * 200 : n * 200 + 200]) for n in range(1000)]",
        "tuner = Tuner([{'role': 'user', 'content': [{'text': text} for text in texts]}])\ntuner",
    ]
    page = open_notebook("tuner-slow", source=source)
    tuner = page.locator(".ctx-tuner")
    expect(tuner).to_be_visible(timeout=120_000)
    tuner.get_by_role("button", name="stop").click()
    expect(tuner.locator(".progress")).to_be_hidden(timeout=60_000)
    tried = tuner.locator("svg.calls .point, svg.calls .never").count()
    assert 0 < tried < 60
    expect(tuner.locator(".now")).to_contain_text("preserve_chars")
