"""A start of Python that the browser keeps: the next page goes on from it, or starts anew."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from page_reader import (
    EDITOR,
    KEPT,
    SLOW,
    a_run,
    bar,
    built_with,
    change_cell,
    first_run,
    press,
    shown_values,
    write,
)
from playwright.sync_api import Browser, BrowserContext, Page
from pyodide_server import serving_pyodide
from site_browser import DESK, ready
from site_server import Server

pytestmark = pytest.mark.long

AS_BUILT = "Done. All values in the text are as they were built."
# Two starts of Python add different numbers to each hash; what goes on from a start adds its own.
WHO = "import random; print(hash('roofline'), random.random())"
# What a reader may ask for, and no page has loaded.
OTHERS = """import io
from fractions import Fraction
import numpy as np
import numpy.fft, numpy.linalg, numpy.ma, numpy.polynomial, numpy.random
import matplotlib.pyplot as plt
from mpl_toolkits.mplot3d import Axes3D
from PIL import Image
figure, axes = plt.subplots()
axes.contourf(np.random.default_rng(1).random((4, 4)))
axes.set_title(r"$\\frac{1}{3}$")
figure.savefig(file := io.BytesIO())
plt.close(figure)
print(Image.open(file).size, np.fft.fft([1, 2]).real, np.linalg.inv(np.eye(2) * 2)[0, 0])
print(np.array([2**40]).dtype, Fraction(1, 3))
"""
# What is kept, changed by an expression of (content, headers).
CHANGE = """async (changed) => {
  const shelf = await caches.open("roofline-python");
  const address = (await shelf.keys()).find(({ url }) => url.endsWith("/start")).url;
  const answer = await shelf.match(address);
  const content = new Uint8Array(await answer.arrayBuffer());
  const headers = Object.fromEntries(answer.headers);
  await shelf.put(address, eval(changed)(content, headers));
}"""


@pytest.fixture(scope="module")
def server(site: Path, below: str) -> Iterator[Server]:
    with serving_pyodide(site, below) as server:
        yield server


@pytest.fixture(scope="module")
def context(browser: Browser, server: Server) -> Iterator[BrowserContext]:
    """A browser that has run a page, whose start it keeps."""
    context = browser.new_context(viewport=DESK)
    context.set_default_timeout(SLOW)
    page = opened(context, server, "time")
    page.locator(KEPT).wait_for(state="attached")
    page.close()
    yield context
    context.close()


def opened(context: BrowserContext, server: Server, chapter: str) -> Page:
    page = context.new_page()
    first_run(page, f"{server.origin}/chapters/{chapter}.html")
    assert bar(page) == AS_BUILT
    return page


def said(page: Page, code: str) -> str:
    write(page.locator(EDITOR).first, code)
    with a_run(page):
        page.keyboard.press("Control+Enter")
    return page.locator(".given-stdout, .given-error").last.inner_text().strip()


def who(context: BrowserContext, server: Server) -> tuple[str, str]:
    page = opened(context, server, "introduction")
    one, other = said(page, WHO).split()
    page.close()
    return one, other


def test_pages_go_on_from_one_start_and_share_no_chance(
    context: BrowserContext, server: Server
) -> None:
    server.sent.clear()
    one, other = who(context, server), who(context, server)
    assert one[0] == other[0]
    assert one[1] != other[1]
    assert not [sent.path for sent in server.sent if sent.path.endswith((".zip", ".wasm"))]


def test_another_chapter_follows_a_change_as_if_it_were_built_with_it(
    context: BrowserContext, server: Server, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONOPTIMIZE", "1")
    old, new = "D, F = 4096, 16384", "D, F = 1024, 4096"
    page = opened(context, server, "matmul")
    change_cell(page, old, new)
    assert press(page).startswith("Done. ")
    known, _ = built_with("chapters/matmul", old, new)
    shown = shown_values(page, site, "chapters/matmul")
    assert {name: text for name, text in shown.items() if name in known} == known
    page.close()


def test_what_no_page_has_loaded_is_there(context: BrowserContext, server: Server) -> None:
    page = opened(context, server, "introduction")
    assert said(page, OTHERS) == "(640, 480) [ 3. -1.] 0.5\nint64 1/3"
    page.close()


@pytest.mark.parametrize(
    "changed",
    [
        "(content, headers) => new Response(content.slice(9), { headers })",
        "(content, headers) => new Response(content.fill(0, 0, 100), { headers })",
        "(content) => new Response(content)",
        # One library is asked for at another place.
        """(content, headers) => {
          const last = content.length - headers["roofline-facts"];
          const facts = JSON.parse(new TextDecoder().decode(content.subarray(last)));
          facts.libraries[3].first += 1;
          const text = new TextEncoder().encode(JSON.stringify(facts));
          headers["roofline-facts"] = text.length;
          return new Response(new Blob([content.subarray(0, last), text]), { headers });
        }""",
    ],
    ids=["shorter", "overwritten", "of another browser", "moved"],
)
def test_a_start_that_is_not_whole_is_not_used(
    context: BrowserContext, server: Server, changed: str
) -> None:
    before, _ = who(context, server)
    page = context.new_page()
    ready(page, f"{server.origin}/chapters/introduction.html")
    page.evaluate(CHANGE, changed)
    page.close()
    page = opened(context, server, "introduction")
    page.locator(KEPT).wait_for(state="attached")
    after, _ = said(page, WHO).split()
    assert after != before
    page.close()
    assert who(context, server)[0] == after
