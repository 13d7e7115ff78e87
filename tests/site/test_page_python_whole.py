"""Tests of the whole book in Pyodide: every cell, value and submission."""

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import numpy as np
import pytest
from bs4 import BeautifulSoup, Tag
from classroom import Classroom, cell, functions
from numpy.typing import NDArray
from page_reader import (
    SLOW,
    answer_here,
    answers,
    bar,
    built_with,
    change_cell,
    checked,
    downloaded,
    field,
    first_run,
    press,
    put_back,
    said_elsewhere,
    told_values,
    write,
)
from playwright.sync_api import Browser, BrowserContext, Page
from pyodide_server import serving_pyodide
from site_browser import DESK, Traffic
from site_server import Server
from submissions import submissions

from grading.release import exercises

pytestmark = pytest.mark.long

AS_BUILT = "Done. All values in the text are as they were built."
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
# Left out of comparisons: the page offers a hint after two attempts, and also counts attempts of
# submissions tried before.
HINT = re.compile(r"For a stronger hint, run: .*")
# Left out of comparisons: shown when all parts are right, which on the page may include answers of
# submissions tried before.
MORAL = re.compile(r"^All parts are right\. .*", re.DOTALL | re.MULTILINE)
# Tolerance of curves, as a share of the axes: the page has another version of Matplotlib.
CLOSE = 0.005
# Cells not compared: in their built output, the theme shortens a repository's URL.
SHORTENED = {("chapters/hardware", 7)}
# Pages where edits of visible cells affect only right answers to guesses, which keep their built
# values.
ONLY_ANSWERS = {"chapters/machine"}
# Edits, [chapter, old code, new code]: mostly another chip or model, another size or data type.
CHANGES = [
    ("introduction", 'rl.chip("H100 SXM")', 'rl.chip("H200 SXM")'),
    ("introduction", "B=4096, D=8192", "B=8192, D=8192"),
    ("introduction", "N=chips)", 'N=chips, x="fp8")'),
    ("time", 'rl.chip("H100 SXM")', 'rl.chip("A100 80GB SXM")'),
    ("time", "B=128, D=4096", "B=512, D=4096"),
    ("time", 'weights = count * rl.dtype("bf16")', 'weights = count * rl.dtype("int8")'),
    ("intensity", 'rl.chip("TPU v5e")', 'rl.chip("TPU v6e")'),
    ("intensity", "short = rl.dot(4)", "short = rl.dot(5)"),
    ("intensity", 'inputs=2, compute="fp32")', 'inputs=2, x="fp32")'),
    ("roofline", 'rl.chip("TPU v5e")', 'rl.chip("TPU v5p")'),
    ("roofline", "B=64, D=4096", "B=32, D=2048"),
    ("roofline", 'v5e.peak("bf16")', 'v5e.peak("int8")'),
    ("matmul", 'v5e = rl.chip("TPU v5e")', 'v5e = rl.chip("TPU v6e")'),
    ("matmul", "D, F = 4096, 16384", "D, F = 1024, 4096"),
    ("matmul", 'w="int4"', 'w="int8"'),
    ("chips", 'rl.chip("TPU v5e")', 'rl.chip("TPU v6e")'),
    ("chips", "sharded_matmul(4096, 1024, 8192, N=2)", "sharded_matmul(4096, 2048, 8192, N=2)"),
    ("chips", "rl.matmul(4096, 1024, 8192)", 'rl.matmul(4096, 1024, 8192, x="int8")'),
    ("attention", "(m.step, m.chip,", '(m.step, "H200 SXM",'),
    ("attention", "decode(B, S=8192)", "decode(B, S=4096)"),
    ("attention", "decode(B, S=8192)", 'decode(B, S=8192, kv="int8")'),
    ("hardware", 'sheet["H100 SXM", "link NVLink"]', 'sheet["B200", "link NVLink"]'),
    ("hardware", "old_v5e = 1600", "old_v5e = 1800"),
    ("hardware", "card_gbit = 100", "card_gbit = 400"),
    ("homework", 'rl.model("Llama 3 70B")', 'rl.model("Llama 3 8B")'),
    ("homework", "B=4096, D=1024, F=4096", "B=4096, D=2048, F=4096"),
    ("homework", '**sizes, x="bf16"', '**sizes, x="int8"'),
    ("summary", 'v5e = rl.chip("TPU v5e")', 'v5e = rl.chip("TPU v5p")'),
    ("summary", "B=96, D=4096", "B=192, D=2048"),
    ("summary", "B=96, D=4096, F=16384", 'B=96, D=4096, F=16384, w="int8"'),
    ("machine", "register_bits = 2, 256", "register_bits = 2, 128"),
    ("machine", "cores, clock = 4, 3e9", "cores, clock = 8, 4e9"),
    ("machine", 'F=4096, x="fp32"', 'F=4096, x="fp64"'),
    ("own-model", 'rl.Serving(mine, "H100 SXM", B=16', 'rl.Serving(mine, "H200 SXM", B=16'),
    ("own-model", "mine.decode(B=16, S=8192)", "mine.decode(B=16, S=4096)"),
    ("own-model", "mine.decode(B=16, S=8192)", 'mine.decode(B=16, S=8192, w="int8")'),
]


@pytest.fixture(scope="module")
def server(site: Path, below: str) -> Iterator[Server]:
    with serving_pyodide(site, below) as server:
        yield server


@pytest.fixture(scope="module")
def traffic() -> Traffic:
    """Record the requests and errors of all pages in this file."""
    return Traffic()


@pytest.fixture(scope="module")
def context(browser: Browser, traffic: Traffic) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport=DESK, color_scheme="light", accept_downloads=True)
    context.set_default_timeout(SLOW)
    traffic.listen(context)
    yield context
    context.close()


CHAPTERS = list(dict.fromkeys(chapter for chapter, *_ in CHANGES))


@pytest.fixture(scope="module", params=CHAPTERS)
def chapter(
    request: pytest.FixtureRequest, context: BrowserContext, server: Server
) -> Iterator[tuple[str, Page]]:
    """Open a chapter and run it; yield its name and page.

    Python starts once per chapter.
    """
    name = f"chapters/{request.param}"
    page = context.new_page()
    first_run(page, f"{server.origin}/{name}.html")
    yield name, page
    page.close()


def test_the_tested_edits_cover_all_pages_with_cells(site: Path) -> None:
    found = {path.name.removesuffix(".steps.json") for path in site.rglob("*.steps.json")}
    assert found == set(CHAPTERS)


# ---- cells


Curve = NDArray[np.float64]


def drawn(svg: Tag) -> list[Curve]:
    """Return the curves and points of a figure, in fractions of the axes' size."""
    boxes = {}
    for clip in svg.select("clippath"):
        rectangle = clip.select_one("rect")
        if rectangle:
            sides = [float(str(rectangle[key])) for key in ("x", "y", "width", "height")]
            boxes[f"url(#{clip['id']})"] = np.array(sides)
    found = []
    for element in svg.select("[clip-path]"):
        box = boxes[str(element["clip-path"])]
        numbers: list[float] = []
        for part in [element, *element.select("path, use")]:
            if part.name == "path":
                numbers += map(float, NUMBER.findall(str(part.get("d", ""))))
            elif part.name == "use":
                numbers += [float(str(part[key])) for key in ("x", "y") if part.has_attr(key)]
        found.append((np.array(numbers).reshape(-1, 2) - box[:2]) / box[2:])
    return found


def apart(curve: Curve, other: Curve) -> float:
    """Return the largest distance of the points of `curve` from the polyline `other`."""
    starts, steps = other, np.diff(other, axis=0, append=other[-1:])
    lengths = np.maximum((steps**2).sum(axis=1), 1e-30)
    away = curve[:, None] - starts
    along = np.clip((away * steps).sum(axis=2) / lengths, 0, 1)
    nearest = np.linalg.norm(away - along[..., None] * steps, axis=2).min(axis=1)
    return float(nearest.max())


def words(text: str) -> list[str]:
    return BeautifulSoup(text, "html.parser").get_text(" ").split()


def labels(svg: Tag) -> list[str]:
    """Return a figure's texts without spaces.

    Matplotlib's versions split formulas differently.
    """
    return sorted("".join(text.get_text().split()) for text in svg.select("text"))


def compare(built: Tag, outputs: list[dict[str, str]]) -> None:
    """Compare a cell's outputs with those of the built page."""
    figures = [figure.extract() for figure in built.select("svg.figure")]
    for caption in built.select("figcaption"):
        caption.extract()
    given = [out for out in outputs if out["kind"] != "svg"]
    texts = [
        word
        for out in given
        for word in (words(out["text"]) if out["kind"] == "html" else out["text"].split())
    ]
    assert texts == built.get_text(" ").split()
    drawings = [out["text"] for out in outputs if out["kind"] == "svg"]
    for figure, drawing in zip(figures, drawings, strict=True):
        shown = BeautifulSoup(drawing, "html.parser")
        assert labels(shown) == labels(figure)
        for one, other in zip(drawn(shown), drawn(figure), strict=True):
            assert max(apart(one, other), apart(other, one)) < CLOSE


def test_outputs_in_the_page_match_the_build(chapter: tuple[str, Page], site: Path) -> None:
    name, page = chapter
    soup = BeautifulSoup((site / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
    cells = soup.select(".bd-article div.cell")
    assert bar(page) == AS_BUILT
    ran = {one["cell"]: one["outputs"] for one in page.evaluate("window.ran")}
    buttons = [place for place, one in enumerate(cells) if one.select_one(".cell_input")]
    assert set(buttons) <= set(ran)
    count = 0
    for place, outputs in ran.items():
        if place is None or (name, place) in SHORTENED:
            continue
        built = cells[place].select_one(".cell_output")
        assert built is not None or not outputs
        if built is not None:
            compare(built, outputs)
        count += len(outputs)
    print(name, len(buttons), "cells,", count, "outputs")


# ---- values


def test_values_match_a_page_built_with_each_change(
    chapter: tuple[str, Page], site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compare values after each edit in CHANGES with a page built with the same edit.

    Most edits set another chip or model, size, or data type.
    """
    # Skip the authors' assertions, which hold for their own chips and sizes.
    monkeypatch.setenv("PYTHONOPTIMIZE", "1")
    name, page = chapter
    before = told_values(page, site, name)
    different, moved = [], 0
    for _, old, new in (change for change in CHANGES if f"chapters/{change[0]}" == name):
        change_cell(page, old, new)
        said = press(page)
        known, error = built_with(name, old, new)
        told = told_values(page, site, name)
        compared = [key for key in known if key in told]
        # Right answers to guesses keep their built values, so they aren't compared.
        assert set(known) - set(compared) <= answers(site, name)
        apart = {key: (told[key], known[key]) for key in compared if told[key] != known[key]}
        if apart or (error == "") != said.startswith("Done. "):
            different.append((new, said, error, apart))
        # If a cell fails, the build has only the values above it.
        assert error or set(told) <= set(known)
        changed = sum(text != before[key] for key, text in told.items())
        moved += changed
        print(name, new, len(known), "values,", changed, "changed,", error)
        put_back(page)
        assert told_values(page, site, name) == before
    assert different == []
    assert bool(moved) == (name not in ONLY_ANSWERS)


# ---- submissions

# Submissions whose functions keep results between calls. A page defines all functions again before
# each check, a notebook only once, so the numbers of right cases may differ.
STATEFUL = {"wrong_kept_for_the_width"}
CASES = re.compile(r"\d+ of \d+ published cases")


@pytest.mark.parametrize("name", exercises.names())
def test_submissions_get_the_same_messages_and_points_as_in_a_notebook(
    context: BrowserContext,
    server: Server,
    below: str,
    release: Path,
    tmp_path: Path,
    name: str,
) -> None:
    """Enter all submissions of an exercise into one page; grade the downloads."""
    room = Classroom(tmp_path / "course", release)
    parts = list(functions(name))
    page = context.new_page()
    answer_here(page, f"{server.origin}/exercises/{name}/{name}.html")
    different = []
    for submission in submissions(name):
        by_hand = room.solved(name, submission.name)
        for part in parts:
            write(field(page, part), str(cell(by_hand, f"{part}-solution").source))
        expected = said_elsewhere(by_hand)
        for part in parts:
            said = MORAL.sub("", HINT.sub("", checked(page, part)))
            told = MORAL.sub("", expected[f"{part}-solution"] + expected[part])
            if submission.name in STATEFUL:
                said, told = CASES.sub("", said), CASES.sub("", told)
            if said.split() != told.split():
                different.append((submission.name, part, said, told))
        taken = nbformat.read(downloaded(page, tmp_path), as_version=4)
        # Downloads from a published site contain its address; the classroom's notebooks don't.
        if not below and taken != by_hand:
            different.append((submission.name, "download", "", ""))
        room.hand_in(submission.name, name, taken)
    page.close()
    room.course.grade()
    for submission in submissions(name):
        graded = room.graded(submission.name, name).metadata.rooflib.parts
        without = {part["key"] for part in graded if part["points"] != part["of"]}
        if without != set(submission.expected):
            different.append((submission.name, "points", str(without), str(submission.expected)))
    print(name, len(submissions(name)), "submissions,", len(parts), "parts")
    assert different == []


def test_no_requests_to_other_hosts_and_no_errors(traffic: Traffic, server: Server) -> None:
    assert traffic.outside(server.origin) == []
    assert traffic.wrong == []
