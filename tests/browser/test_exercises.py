"""Exercises, invariants and releases in a browser: a wrong answer teaches, a right one is rewarded, keys are enough.

One narrow page with all of them; each test works on an exercise or a widget of its own.
"""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenNotebook

CELLS = [
    """
import ctxlab, ipywidgets
from ctxlab.exercises import exercise_from
from ctxlab.explorers import Exercises, Invariants, Releases
from ctxlab.samples import sample_sessions
lesson = Exercises()
score = ipywidgets.Label()
told = lambda: " ".join(f"[{at}] {how}" for at, how in enumerate(lesson.progress.values(), 1))
lesson.observe(lambda _: setattr(score, "value", told()), "choices")
display(lesson, score)
""",
    'ctxlab.Explorer(sample_sessions()["review-2173"], release="1.37.0", window_size=4)',
    'Releases(ctxlab.load(sample_sessions()["review-2173"]), window_size=4, budget=150)',
    """
evil = "<img src=x onerror=\\"document.title='owned'\\"><script>document.title='owned'</script>"
text = lambda role: {"role": role, "content": [{"text": evil}]}
use = {"role": "assistant", "content": [{"toolUse": {"toolUseId": evil, "name": evil, "input": {}}}]}
answer = {"toolUseId": "x" + evil, "status": "success", "content": [{"text": evil}]}
result = {"role": "user", "content": [{"toolResult": answer}]}
messages = (text("user"), use, result, text("assistant"), text("user"), text(evil))
display(Exercises(exercise_from(messages, title=evil)), Invariants(messages), Releases(messages, window_size=3))
""",
]


@pytest.fixture(scope="module")
def page(open_notebook: OpenNotebook) -> Page:
    page = open_notebook("exercises", source=CELLS, width=900, height=1400)
    page.locator(".ctx-lesson").nth(1).wait_for(timeout=90_000)
    return page


@pytest.fixture
def shown(page: Page) -> Locator:
    """The lesson of the public exercises."""
    return page.locator(".ctx-lesson").first


def open_exercise(shown: Locator, number: int) -> None:
    shown.get_by_role("tab", name=f"Exercise {number},").click()
    expect(shown.locator("h3")).to_contain_text(f"{number}. ")


def kernel_says(page: Page, words: str) -> None:
    """Expect that the kernel has heard of an exercise's progress."""
    expect(page.locator(".widget-label").filter(has_text="[1]")).to_contain_text(words)


def tile(within: Locator, index: int) -> Locator:
    return within.locator(f'.tile[data-index="{index}"]')


def test_a_wrong_answer_teaches_and_a_right_one_shows_what_the_release_did(page: Page, shown: Locator) -> None:
    open_exercise(shown, 1)
    tile(shown, 3).click()
    feedback = shown.locator(".feedback")
    expect(feedback).to_contain_text("Message 3: Not quite.")
    expect(feedback).to_contain_text("it is not a user message, and it opens no tool pair")
    expect(feedback).to_contain_text("A conversation must start with a user message.")
    expect(shown.locator(".reveal .lane")).to_have_count(0)
    expect(shown.locator(".dot").nth(0)).to_have_class("dot tried")
    expect(tile(shown, 4).locator(".mark")).to_have_text("")
    tile(shown, 4).click()
    expect(feedback).to_contain_text("Message 4: Right.")
    lanes = shown.locator(".reveal .lane")
    expect(lanes).to_have_count(2)
    expect(lanes.nth(0)).to_contain_text("Strands 1.34.1")
    expect(lanes.nth(0)).to_contain_text("× 5 of 13 refuse it")
    expect(lanes.nth(1)).to_contain_text("✓ all 13 accept it")
    lanes.nth(0).locator("summary").click()
    expect(lanes.nth(0).locator(".answers")).to_contain_text("× Bedrock, Nova refuses")
    report = "https://github.com/strands-agents/harness-sdk/issues/2085"
    expect(shown.locator(".reveal a")).to_have_attribute("href", report)
    expect(shown.locator(".dot").nth(0)).to_have_class("dot solved")
    expect(shown.locator(".score")).to_contain_text("Exercise 1 of 13")
    kernel_says(page, "[1] solved")


def test_an_exercise_is_answered_at_the_first_try_with_the_keyboard_alone(page: Page, shown: Locator) -> None:
    open_exercise(shown, 4)
    tile(shown, 0).focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    expect(tile(shown, 5)).to_be_focused()
    page.keyboard.press("Enter")
    expect(shown.locator(".feedback")).to_contain_text("Message 5: Right.")
    expect(tile(shown, 5)).to_be_focused()
    expect(shown.locator(".dot").nth(3)).to_have_class("dot first-try")
    kernel_says(page, "[4] first try")


def test_where_nothing_can_be_cut_saying_so_is_right(page: Page, shown: Locator) -> None:
    open_exercise(shown, 2)
    shown.get_by_role("tab", name="Exercise 2,").focus()
    page.keyboard.press("ArrowRight")
    expect(shown.locator("h3")).to_have_text("3. The call that nobody has answered yet")
    shown.get_by_role("button", name="It cannot be cut").focus()
    page.keyboard.press("Enter")
    expect(shown.locator(".feedback")).to_contain_text("It cannot be cut: Right.")
    kernel_says(page, "[3] first try")


def test_a_solution_can_be_shown_and_the_exercise_tried_again(shown: Locator) -> None:
    open_exercise(shown, 6)
    shown.get_by_role("button", name="Show me").click()
    expect(tile(shown, 3).locator(".mark")).to_have_text("◆ yes")
    expect(shown.locator(".dot").nth(5)).to_have_class("dot shown")
    shown.get_by_role("button", name="Try again").click()
    expect(tile(shown, 3).locator(".mark")).to_have_text("")
    expect(shown.locator(".reveal .lane")).to_have_count(0)


def test_the_matrix_of_the_explorer_answers_by_keyboard(page: Page) -> None:
    page.get_by_role("tab", name="Invariants").click()
    matrix = page.locator(".ctxlab .ctx-matrix")
    expect(matrix.locator(".say")).to_contain_text("refused by 6 of 13 providers, 1 unknown")
    verdict = matrix.locator(".details .verdict")
    matrix.locator('td[data-key="5"][data-name="bedrock-claude"]').focus()
    expect(verdict).to_have_text("✓ Bedrock, Claude: accepts it.")
    page.keyboard.press("ArrowRight")
    expect(verdict).to_have_text("× Bedrock, Nova: refuses it.")
    expect(matrix.locator(".details .answer q")).to_contain_text("A conversation must start with a user message.")
    expect(matrix.locator(".details .repair")).to_contain_text("anchor (#3447)")
    page.keyboard.press("End")
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    expect(verdict).to_have_text("? Cohere: unknown, nobody has found out.")
    matrix.get_by_role("button", name="Cohere").click()
    expect(matrix.locator('td[data-name="cohere"]')).to_have_count(0)


def test_pointing_at_a_message_says_under_which_releases_it_stays(page: Page) -> None:
    lanes = page.locator(".ctx-releases").first
    expect(lanes.locator(".lane svg")).to_have_count(7)
    expect(lanes.locator(".say")).to_contain_text("Stuck: Strands 1.35.0. Without breaking a rule: careful.")
    lanes.focus()
    page.keyboard.press("Home")
    expect(lanes.locator(".about")).to_contain_text("stays under Strands 1.35.0, careful")


def test_markup_in_a_session_stays_text(page: Page) -> None:
    page.locator(".ctx-lesson").nth(1).get_by_role("button", name="Show me").click()
    page.locator(".ctx-releases").nth(1).locator(".lane svg").first.wait_for()
    page.locator(".ctx-matrix td[data-key]").last.focus()
    expect(page.locator(".ctx-lesson").nth(1).locator(".reveal .lane")).to_have_count(2)
    assert page.locator(".ctx img, .ctx script").count() == 0
    assert page.title() != "owned"


@pytest.mark.parametrize("part", [".ctx-lesson", ".ctx-matrix", ".ctx-releases"])
def test_nothing_is_wider_than_a_narrow_page(page: Page, part: str) -> None:
    wide = "parts => parts.filter(part => part.scrollWidth > part.clientWidth + 1).length"
    assert page.locator(part).evaluate_all(wide) == 0
