"""Tests of a fifth of the edits of `tests/book/test_edits.py`, with Pyodide.

After each edit every block on the page must show what the same machinery decides natively: the
same values, or the printed ones with a note that has the same new values.
"""

import json
import multiprocessing
import random
import re
import resource
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import matplotlib as mpl
import pytest
from edited_pages import Displayed, Edit, EditedPage, Outcome, outcomes
from edited_pages.page import Code
from page_reader import EDITOR, SLOW, WRITTEN, first_run, press, write
from playwright.sync_api import Browser, BrowserContext, Page
from pyodide_server import serving_pyodide
from repository import ROOT
from site_browser import DESK
from site_server import Server

pytestmark = pytest.mark.long

SHARE = 5  # one edit in this many is tried
MAX_BYTES = 4 * 2**30  # memory limit of the native Python
# Errors that depend on the machine: its time and memory limits end a cell.
LIMITS = ("TimeoutError", "MemoryError", "_ArrayMemoryError")
FLOAT = re.compile(r"\d+\.\d+(?:e[+-]?\d+)?")
NO_VALUE = "(no value)"

# Keeps each block's elements of values and {while} conditions, since a run may remove some from the
# page. Returns how many elements belong to no block.
PLACES = """(counts) => {
  const places = [...document.querySelectorAll(".bd-article :is(.computed, .premise)")];
  window.blocks = counts.map((count) => places.splice(0, count));
  return places.length;
}"""
# Returns, for each block: the texts of its values, whether each is marked as changed, its note, and
# whether all values are marked as stale.
SHOWN = """() => {
  const around = "p, h1, h2, h3, h4, h5, h6, figcaption, caption, dt, summary, " +
    ".sd-card-title, li, dd, td, th, div";
  const note = (place) => {
    const row = place.closest("tr");
    if (row) return row.querySelector(".as-printed");
    const text = place.parentElement.closest(around);
    const after = text.nextElementSibling;
    return text.querySelector(":scope > .as-printed") ??
      (/^H\\d$/.test(text.tagName) && after?.matches(".as-printed") ? after : null);
  };
  return window.blocks.map((places) => {
    const values = places.filter((place) => place.matches(".computed"));
    return [
      values.map((place) => place.textContent),
      values.map((place) => place.matches(".changed")),
      note(places[0])?.textContent ?? "",
      places.every((place) => place.matches(".stale")),
    ];
  });
}"""
TEXT = "() => document.querySelector('.bd-article').textContent"


@pytest.fixture(scope="module")
def server(site: Path, below: str) -> Iterator[Server]:
    with serving_pyodide(site, below) as server:
        yield server


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport=DESK, color_scheme="light")
    context.set_default_timeout(SLOW)
    yield context
    context.close()


# ---- without a browser


def drawn(page: EditedPage, half: int) -> list[Edit]:
    """Return half of a page's randomly chosen edits, from the last cell to the first.

    Each edit reruns the cells below it.
    """
    made = random.Random(page.name).sample(page.edits, -(-len(page.edits) // SHARE))
    return sorted(made[half::2], key=lambda edit: edit.step, reverse=True)


def limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
    mpl.use("agg")


def native(name: str, half: int) -> list[tuple[str, str, str, Outcome]]:
    """Return (code, edited code, edit, outcome) for half of a page's random edits."""
    page = EditedPage(name)
    made = drawn(page, half)
    found = []
    for edit, outcome in zip(made, outcomes(page, made), strict=True):
        code = page.steps[edit.step]
        assert isinstance(code, Code)
        found.append((code.source, edit.apply(code.source), str(edit), outcome))
    return found


def in_a_process(name: str, half: int) -> list[tuple[str, str, str, Outcome]]:
    fork = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(1, fork, limit_memory) as pool:
        return pool.submit(native, name, half).result()


# ---- in the page


class EditedInBrowser:
    """A page in which Python runs, and whose cells are edited one at a time."""

    def __init__(self, page: Page, address: str, data: dict[str, list[dict[str, object]]]) -> None:
        self.page = page
        first_run(page, address)
        counts = [len(block["shown"]) for block in data["blocks"]]  # type: ignore[arg-type]
        assert page.evaluate(PLACES, counts) == 0
        # Leave out answers to guesses, which keep their built values.
        self.numbers = [n for step in data["steps"] for n in step.get("blocks", ())]  # type: ignore[attr-defined]
        self.editors = page.locator(EDITOR)
        self.built = [
            str(code) for code in self.editors.evaluate_all(f"(all) => all.map({WRITTEN})")
        ]
        self.edited: int | None = None

    def edit(self, built: str, code: str) -> str:
        """Edit and run a cell, with all others unedited; return the page's message."""
        place = self.built.index(built.rstrip("\n"))
        if self.edited not in (None, place):
            write(self.editors.nth(self.edited), self.built[self.edited])
        self.edited = place
        write(self.editors.nth(place), code.rstrip("\n"))
        return press(self.page)

    def displayed(self) -> list[Displayed]:
        all_blocks = [
            Displayed(tuple(texts), tuple(changed), note, stale)
            for texts, changed, note, stale in self.page.evaluate(SHOWN)
        ]
        return [all_blocks[number] for number in self.numbers]


def plain(message: str) -> str:
    """Return a message with single spaces and numbers of at most 10 digits.

    Spaces and the last bits of powers may differ between the machines.
    """
    words = " ".join(message.split())
    return FLOAT.sub(lambda number: f"{float(number[0]):.10g}", words)


def different(said: str, shown: list[Displayed], expected: Outcome) -> Iterator[str]:
    """Yield each difference between the page and the outcome in native Python."""
    error = plain(expected.error)
    if said.startswith("Done. ") != (error == "") or error not in plain(said):
        yield f"it says {said!r}, natively {expected.error!r}"
    for number, (one, other) in enumerate(zip(shown, expected.blocks, strict=True)):
        if one != other:
            yield f"block {number}: {one}, natively {other}"


NAMES = [
    path.relative_to(ROOT).with_suffix("").as_posix()
    for path in sorted(ROOT.glob("chapters/*.md"))
    if "{code-cell}" in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", NAMES)
def test_blocks_in_the_page_match_the_outcome_in_native_python(
    context: BrowserContext, server: Server, site: Path, below: str, name: str
) -> None:
    """Check half the edits with the site at its host's root, half below a path."""
    steps = site / f"{name}.steps.json"
    expected = in_a_process(name, int(bool(below)))
    assert steps.exists() or not expected
    if not expected:
        return
    page = EditedInBrowser(
        context.new_page(),
        f"{server.origin}/{name}.html",
        json.loads(steps.read_text(encoding="utf-8")),
    )
    found, count = [], Counter[str]()
    for built, code, edit, outcome in expected:
        if outcome.error.split(":")[0] in LIMITS:
            count["over a limit"] += 1
            continue
        said = page.edit(built, code)
        count["edits"] += 1
        count["failed cells"] += bool(outcome.error)
        count["following"] += outcome.following
        count["as printed"] += outcome.as_printed
        problems = list(different(said, page.displayed(), outcome))
        if NO_VALUE in page.page.evaluate(TEXT):
            problems.append(f"it shows {NO_VALUE}")
        found += [f"{edit}: {problem}" for problem in problems]
    print(name, dict(count))
    assert not found, "\n".join(found[:20])
