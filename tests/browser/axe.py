"""axe-core from the npm registry, checked against its published hash, and run on a part of a page."""

import base64
import hashlib
import io
import tarfile
import tempfile
import time
import urllib.request
from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from tests.conftest import need

VERSION = "4.14.1"
SHA512 = "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="
CACHE = Path(__file__).parents[2] / ".cache" / "axe" / f"axe-{VERSION}.min.js"
SERIOUS = ("serious", "critical")
PATIENCE = 5.0
"""Seconds for a page to be drawn in full: what is half drawn has no names yet."""


@cache
def script() -> str:
    """Return axe-core, fetched once and kept."""
    if not CACHE.is_file():
        packed = _fetched(f"https://registry.npmjs.org/axe-core/-/axe-core-{VERSION}.tgz")
        assert base64.b64encode(hashlib.sha512(packed).digest()).decode() == SHA512
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            file = archive.extractfile("package/axe.min.js")
            assert file is not None
            CACHE.parent.mkdir(parents=True, exist_ok=True)
            # Renamed only when complete: other tests may be fetching it at the same time.
            with tempfile.NamedTemporaryFile(dir=CACHE.parent, delete=False) as whole:
                whole.write(file.read())
            Path(whole.name).replace(CACHE)
    return CACHE.read_text(encoding="utf-8")


def findings(page: Page, place: str) -> list[str]:
    """Return the serious and critical findings in the elements of a CSS selector, each in a line with where it is.

    Where there are any, those that are still there some seconds later.
    """
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(script())
    # JupyterLab's body is 0 pixels high, and axe takes what stands out of it for hidden: it would judge no contrast.
    page.evaluate("() => { for (const e of [document.documentElement, document.body]) e.style.minHeight = '100vh'; }")
    deadline = time.monotonic() + PATIENCE
    while (found := _judged(page, place)) and time.monotonic() < deadline:
        page.wait_for_timeout(200)
    return found


def _judged(page: Page, place: str) -> list[str]:
    found: list[dict[str, Any]] = page.evaluate(
        "async (place) => (await axe.run(place, { resultTypes: ['violations'] })).violations", place
    )
    return [
        f"{one['id']} ({one['impact']}): {node['target'][-1]}: {' '.join(node['failureSummary'].split())[:300]}"
        for one in found
        if one["impact"] in SERIOUS
        for node in one["nodes"]
    ]


def _fetched(address: str) -> bytes:
    for wait in (1, 5, None):
        try:
            with urllib.request.urlopen(address, timeout=60) as answer:
                return bytes(answer.read())
        except OSError as error:
            if wait is None:
                need(False, f"axe-core cannot be fetched: {error}")
            else:
                time.sleep(wait)
    raise AssertionError
