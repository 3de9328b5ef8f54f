"""The animator in JupyterLab: it plays, steps back, is driven by keys, and shows session text without acting on it."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenNotebook

SOURCE = [
    "from ctxlab.explorers import Animator\nfrom ctxlab.samples import sample_sessions",
    "animator = Animator(sample_sessions()['eighty-blocks'], budget=60_000)\nanimator",
]

HOSTILE = (
    "<img src=x onerror=\"document.title='acted upon'\"><script>document.title='acted upon'</script> "
    "[link](javascript:alert(1)) \x1b[31mred\x1b[0m \u202eright to left "
)


@pytest.fixture(scope="module")
def page(open_notebook: OpenNotebook) -> Page:
    return open_notebook("animator", source=SOURCE, height=1300)


@pytest.fixture
def player(page: Page) -> Locator:
    """The player at its start, under the proportional rule and preserve_chars 2000."""
    player = page.locator(".ctx-rounds")
    expect(player).to_be_visible(timeout=60_000)
    dials = page.locator(".dials")
    dials.get_by_role("radio", name="proportional").check()
    dials.get_by_label("preserve_chars, exactly").fill("2000")
    dials.get_by_label("preserve_chars, exactly").press("Enter")
    expect(player.locator(".where")).to_contain_text("of 127")
    player.get_by_label("follow the cut").check()
    player.get_by_label("Back to the start").click()
    return player


def test_it_plays_the_seven_rounds(player: Locator) -> None:
    player.get_by_label("Speed").select_option("2")
    player.get_by_label("Play", exact=True).click()
    expect(player).to_have_attribute("data-round", "4", timeout=10_000)
    expect(player).to_have_attribute("data-step", "127", timeout=30_000)
    expect(player.locator(".state")).to_contain_text("Round 7 of 7. The 64 largest blocks are cut")
    expect(player.locator(".state")).to_contain_text("80 of 80 are cut so far")
    expect(player.locator(".counters .fits")).to_be_visible()
    player.get_by_label("Speed").select_option("1")


def test_a_round_and_a_block_can_be_stepped_on_and_back(player: Locator) -> None:
    for _ in range(3):
        player.get_by_label("On one round").click()
    expect(player).to_have_attribute("data-step", "7")
    player.get_by_label("Back one block").click()
    expect(player).to_have_attribute("data-step", "6")
    expect(player.locator(".counters")).to_contain_text("3 of 4")
    player.get_by_label("Back one round").click()
    expect(player).to_have_attribute("data-step", "3")
    expect(player.locator(".state")).to_contain_text("Round 2 of 7.")


def test_the_block_in_focus_shows_what_stays_and_what_goes(player: Locator) -> None:
    player.get_by_label("On one block").click()
    text = player.locator(".text")
    expect(text.locator("mark")).to_contain_text("[truncated: 2500 chars removed]")
    assert text.locator("del").count() == 2
    expect(player.locator(".caption")).to_contain_text("5,000 → 2,549 characters")
    expect(player.locator(".caption")).to_contain_text("number 1 of 80 by length")


def test_nothing_jumps_while_it_plays(player: Locator) -> None:
    places = []
    player.get_by_label("Speed").select_option("8")
    player.get_by_label("Play", exact=True).click()
    for _ in range(12):
        places.append((player.bounding_box(), player.locator("canvas").bounding_box()))
        player.page.wait_for_timeout(100)
    player.get_by_label("Speed").select_option("1")
    assert all(place == places[0] for place in places)


def test_keys_move_the_focus_and_the_notebook_stays_as_it_is(player: Locator) -> None:
    cells = player.page.locator(".jp-Cell").count()
    tiles = player.locator("canvas")
    tiles.focus()
    for key in ("Home", "ArrowRight", "ArrowRight", "ArrowLeft", "ArrowDown", "b", "d", "d", "x"):
        tiles.press(key)
    assert int(player.get_attribute("data-focus") or 0) > 1
    expect(player.locator(".caption")).to_contain_text("message 0 · user · block")
    assert player.page.locator(".jp-Cell").count() == cells
    slider = player.get_by_label("Jump to an edit")
    slider.press("End")
    expect(player).to_have_attribute("data-step", "127")
    slider.press("ArrowLeft")
    expect(player).to_have_attribute("data-step", "126")


def test_another_rule_is_another_record(player: Locator) -> None:
    dials = player.page.locator(".dials")
    dials.get_by_role("radio", name="fixed").check()
    expect(player.locator(".forecast")).to_contain_text("It will never fit")
    expect(player.locator(".beside")).to_contain_text("fits after 7 refused calls")
    expect(player.locator(".say")).to_have_attribute("data-outcome", "stuck")


def test_dragging_preserve_chars_changes_the_curve(player: Locator) -> None:
    curve = player.locator("svg .curve").first
    before = curve.get_attribute("points")
    slider = player.page.locator(".dials").get_by_label("preserve_chars", exact=True)
    box = slider.bounding_box()
    assert box is not None
    mouse = player.page.mouse
    mouse.move(box["x"] + box["width"] * 0.8, box["y"] + box["height"] / 2)
    mouse.down()
    mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] / 2, steps=8)
    mouse.up()
    expect(player.locator(".where")).not_to_contain_text("of 127")
    expect(curve).not_to_have_attribute("points", before or "")
    expect(player.locator(".forecast")).to_contain_text("It will fit after")


def test_a_parameter_that_cannot_be_is_told_and_changes_nothing(player: Locator) -> None:
    player.page.locator(".dials").get_by_label("Token budget, exactly").fill("-5")
    player.page.locator(".dials").get_by_label("Token budget, exactly").press("Enter")
    expect(player.page.locator(".dials").get_by_label("Token budget, exactly")).to_have_value("0")
    player.page.locator(".dials").get_by_label("Token budget, exactly").fill("60000")
    player.page.locator(".dials").get_by_label("Token budget, exactly").press("Enter")
    expect(player.locator(".where")).to_contain_text("of 127")


def test_session_text_is_shown_and_not_acted_upon(open_notebook: OpenNotebook) -> None:
    source = [
        f"text = {HOSTILE!r}",
        "from ctxlab.explorers import Animator",
        "Animator([{'role': text, 'content': [{'text': text * 60}, {'text': text * 50}]}], budget=500)",
    ]
    page = open_notebook("hostile", source=source, height=1300)
    player = page.locator(".ctx-rounds")
    expect(player).to_be_visible(timeout=60_000)
    player.get_by_label("On one block").click()
    shown = player.locator(".text")
    expect(shown).to_contain_text("<img src=x onerror=")
    expect(shown.locator(".sign").first).to_have_text("␛")
    assert "\u202e" not in (player.text_content() or "")
    assert player.locator("img, script, a").count() == 0
    assert page.title() != "acted upon"


def test_less_motion_is_honoured(open_notebook: OpenNotebook) -> None:
    page = open_notebook("animator-still", source=SOURCE, height=1300)
    page.emulate_media(reduced_motion="reduce")
    player = page.locator(".ctx-rounds")
    expect(player).to_be_visible(timeout=60_000)
    player.get_by_label("Speed").select_option("8")
    player.get_by_label("Play", exact=True).click()
    expect(player).to_have_attribute("data-step", "127", timeout=30_000)
