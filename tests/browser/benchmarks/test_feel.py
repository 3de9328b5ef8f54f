"""How long a person waits in Chromium: for a moved slider, for a click to reach every view, for a session to appear.

Not collected by the default run: `python -m pytest tests/browser/benchmarks -s` prints the figures. The aims are 100 ms
for a move at 100 and 1,000 messages and 250 ms at 10,000, and 1.5 times reading and counting for a session to appear.
Moves are timed by the page itself, from the event to the frame in which everything is drawn.
"""

import json
import statistics
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect
from pytest_benchmark.fixture import BenchmarkFixture

import ctxlab
from ctxlab.messages import Conversation
from ctxlab.tokens import TokenCounter
from ctxlab.vocabularies import encoding, measure
from tests.benchmarks.test_slider import tool_heavy
from tests.browser.conftest import OpenNotebook

SIZES = (100, 1_000, 10_000)
ROUNDS = 30

# Waits until what is drawn holds, looking at each frame, and returns the milliseconds since the event.
UNTIL = """
const until = (holds) => new Promise((resolve, reject) => {
  const began = performance.now();
  const look = () => {
    if (holds()) resolve(performance.now() - began);
    else if (performance.now() - began > 60000) reject(new Error("it was not drawn"));
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
});
const figure = explorer.querySelector(".ctxlab-figure");
"""

MOVE = f"""async (explorer, share) => {{
  {UNTIL}
  const slider = explorer.querySelector(".ctxlab-budget input");
  const before = figure.dataset.drawn;
  slider.value = Math.round(share * slider.max / slider.step) * slider.step;
  slider.dispatchEvent(new Event("input", {{ bubbles: true }}));
  return until(() => figure.dataset.drawn !== before);
}}"""

CLICK = f"""async (explorer, share) => {{
  {UNTIL}
  const numbers = [...explorer.querySelectorAll("input[type=number]")];
  const focus = numbers.find((one) => one.labels[0]?.innerText === "Message in focus");
  const [before, drawn] = [focus.value, figure.dataset.drawn];
  const bounds = figure.querySelector("svg").getBoundingClientRect();
  const [x, y] = [bounds.left + 64 + share * (bounds.width - 78), bounds.top + 100];
  for (const kind of ["mousedown", "mouseup"]) {{
    const pressed = new MouseEvent(kind, {{ bubbles: true, button: 0, clientX: x, clientY: y }});
    figure.querySelector("svg").dispatchEvent(pressed);
  }}
  const [about, row] = [".ctxlab-about", ".ctxlab-rows tr[aria-selected=true]"];
  return until(() => focus.value !== before && figure.dataset.drawn !== drawn
    && explorer.querySelector(row)?.dataset.row === focus.value
    && explorer.querySelector(about).innerText.startsWith(`Message ${{(+focus.value).toLocaleString("en")}} `));
}}"""

OPEN = f"""async (explorer) => {{
  {UNTIL}
  const before = figure.dataset.drawn;
  [...explorer.querySelectorAll("button")].find((one) => one.innerText === "Open").click();
  return until(() => figure.dataset.drawn !== before);
}}"""


@pytest.fixture(scope="module", params=SIZES)
def messages(request: pytest.FixtureRequest) -> Conversation:
    return tool_heavy(request.param)


@pytest.fixture(scope="module")
def file(messages: Conversation, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("feel") / f"{len(messages)}.json"
    path.write_text(json.dumps(messages), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def explorer(file: Path, open_notebook: OpenNotebook) -> Locator:
    page = open_notebook(f"feel-{file.stem}", height=1500, source=[f"import ctxlab\nctxlab.Explorer({str(file)!r})"])
    explorer = page.locator(".ctxlab")
    expect(explorer.locator(".ctxlab-figure[data-drawn]")).to_be_visible(timeout=120_000)
    return explorer


def report(benchmark: BenchmarkFixture, what: str, times: list[float], aim: float) -> None:
    middle, worst = statistics.median(times), max(times)
    benchmark.extra_info.update({"median": middle, "worst": worst, "aim": aim})
    print(f"\n{what}: median {middle:.0f} ms, worst of {len(times)} {worst:.0f} ms, aim {aim:.0f} ms")


def timed(benchmark: BenchmarkFixture, measure: Callable[[float], float]) -> list[float]:
    """Do it ROUNDS times at places spread over the whole, and return what the page measured, in milliseconds."""
    times: list[float] = []
    places = iter([(number * 0.618) % 0.9 + 0.05 for number in range(1, ROUNDS + 3)])

    def once() -> None:
        times.append(measure(next(places)))

    benchmark.pedantic(once, rounds=ROUNDS, warmup_rounds=2)  # type: ignore[no-untyped-call]  # it has no types
    return times[2:]


def aim(messages: Conversation) -> float:
    return 250 if len(messages) > 1_000 else 100


def test_a_slider_move_changes_the_picture(
    benchmark: BenchmarkFixture, explorer: Locator, messages: Conversation
) -> None:
    times = timed(benchmark, lambda share: float(explorer.evaluate(MOVE, share)))
    report(benchmark, f"slider to picture, {len(messages):,} messages", times, aim(messages))


def test_a_click_reaches_every_view(benchmark: BenchmarkFixture, explorer: Locator, messages: Conversation) -> None:
    times = timed(benchmark, lambda share: float(explorer.evaluate(CLICK, share)))
    report(benchmark, f"click to linked views, {len(messages):,} messages", times, aim(messages))


def test_a_session_appears(benchmark: BenchmarkFixture, explorer: Locator, file: Path, messages: Conversation) -> None:
    """From pressing Open to the drawn picture, against reading and counting alone, in this process."""
    path = explorer.get_by_label("Path of a session file or folder")
    times: list[float] = []
    for number in range(5):
        # Each text differs from all before it, so that nothing has been counted yet.
        fresh = file.with_name(f"fresh-{number}-{file.name}")
        fresh.write_text(json.dumps(messages).replace("line ", f"line {number}"), encoding="utf-8")
        path.fill(str(fresh))
        times.append(float(explorer.evaluate(OPEN)))

    def bare() -> int:
        session = ctxlab.load(file)
        # A new counter each round: one that remembers would not count at all.
        return ctxlab.ledger(session.messages, TokenCounter("cl100k_base", measure(encoding("cl100k_base")))).total

    benchmark(bare)
    counting = 1000 * statistics.median(benchmark.stats.stats.data)  # type: ignore[union-attr]  # there since it ran
    report(benchmark, f"session to picture, {len(messages):,} messages", times, 1.5 * counting)
