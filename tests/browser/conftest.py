"""For the browser tests: `ctxlab lab`, `ctxlab app` and a Chromium, each started once; notebooks opened and run.

With CTXLAB_LATE=1 in the environment everything comes late to each page: the way to find a test that does not wait.
"""

import json
import os
import shutil
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, expect, sync_playwright

from tests.conftest import need
from tests.test_app import App, write_session
from tests.test_lab import TOKEN, Server, started

# A machine that runs other tests too may take its time; what does not come at all fails all the same.
expect.set_options(timeout=30_000)

THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}

OpenNotebook = Callable[..., Page]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium: playwright's own where it was installed, else the system's."""
    with sync_playwright() as playwright:
        own = Path(playwright.chromium.executable_path)
        system = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
        need(own.exists() or system, "there is no Chromium; `playwright install chromium` brings one")
        path = None if own.exists() else system
        try:
            running = playwright.chromium.launch(
                executable_path=path, args=["--no-sandbox", "--force-color-profile=srgb"]
            )
        except Error as error:
            need(False, f"Chromium does not start: {error}")
            raise
        if os.environ.get("CTXLAB_LATE"):
            _come_late(running)
        yield running
        running.close()


def _come_late(browser: Browser) -> None:
    """Have what comes to a page, from a kernel or from the page itself, come late."""
    new_context = browser.new_context

    def late(**options: Any) -> BrowserContext:
        context = new_context(**options)
        context.add_init_script(path=Path(__file__).with_name("late.js"))
        return context

    browser.new_context = late  # type: ignore[method-assign]  # every context of every test


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """JupyterLab as `ctxlab lab` starts it, in a folder of its own."""
    with started(Server(tmp_path_factory.mktemp("browser-lab"), f"--IdentityProvider.token={TOKEN}")) as running:
        yield running


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """The explorer as a page of its own, as `ctxlab app` serves it, on a session with texts that would like to act."""
    home = tmp_path_factory.mktemp("browser-app")
    with started(App(home, write_session(home))) as running:
        yield running


@pytest.fixture(scope="module")
def errors() -> list[str]:
    """What scripts of the page have raised, where a test listens to it."""
    return []


@pytest.fixture(scope="module")
def open_notebook(browser: Browser, lab: Server) -> Iterator[OpenNotebook]:
    """Open a notebook by name and run all of it; ``source`` replaces its cells, ``theme`` is "light" or "dark"."""
    contexts = []

    def opened(
        name: str, *, theme: str = "light", width: int = 1280, height: int = 900, source: list[str] | None = None
    ) -> Page:
        _choose_theme(lab, theme)
        if source is not None:
            _write(lab, name, source)
        context = browser.new_context(viewport={"width": width, "height": height})
        contexts.append(context)
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{lab.port}/doc/tree/notebooks/{name}.ipynb?token={TOKEN}")
        page.locator(".jp-Notebook").wait_for(timeout=60_000)
        # Only once the status bar says so has the notebook a kernel; before, running would ask which one to take.
        page.get_by_text("| Idle").wait_for(timeout=60_000)
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.locator(".lm-Menu-item[data-command='runmenu:run-all']").click()
        return page

    yield opened
    for context in contexts:
        context.close()


def _write(lab: Server, name: str, cells: list[str]) -> None:
    folder = lab.home / "ctxlab-notebooks" / "notebooks"
    content: dict[str, Any] = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        "cells": [
            {
                "cell_type": "code",
                "id": f"c{at}",
                "source": cell,
                "metadata": {},
                "outputs": [],
                "execution_count": None,
            }
            for at, cell in enumerate(cells)
        ],
    }
    (folder / f"{name}.ipynb").write_text(json.dumps(content), encoding="utf-8")


def _choose_theme(lab: Server, theme: str) -> None:
    request = urllib.request.Request(
        f"http://127.0.0.1:{lab.port}/lab/api/settings/@jupyterlab/apputils-extension:themes",
        data=json.dumps({"raw": json.dumps({"theme": THEMES[theme]})}).encode(),
        headers={"Authorization": f"token {TOKEN}", "Content-Type": "application/json"},
        method="PUT",
    )
    urllib.request.urlopen(request, timeout=10).close()
