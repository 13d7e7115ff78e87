"""Shared fixtures: small books, the built site, a browser, a release."""

import gc
import os
import random
import signal
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from repository import ROOT, Book, alone, hand_over, published_book, small_book
from site_browser import MISSING, chromium, started
from site_server import Server, serving
from whole_site import build_site

# The slowest files, which start first so that no worker is still running one when the others have
# finished. The first builds the site; next come files that need not wait for the site.
LONGEST = (
    "test_site.py",
    "test_hostile.py",
    "test_validate_button.py",
    "test_grading_values.py",
    "test_hostile_cells.py",
    "test_grading_course.py",
    "test_translated_site.py",
    "test_week_orders.py",
    "test_types.py",
    "test_submissions.py",
    "test_figures.py",
    "test_edits.py",
    "test_boxes.py",
    "test_grading_kernel.py",
    "test_live_hands.py",
    "test_copies.py",
    "test_plots.py",
    "test_records.py",
    "test_grading_same.py",
    "test_languages.py",
    "test_lab.py",
    "test_scene.py",
    "test_one_line.py",
    "test_page_python.py",
    "test_exercise_page.py",
    "test_edition.py",
    "test_lab_prose.py",
    "test_book.py",
    "test_guesses.py",
    "test_live.py",
    "test_browser_roof.py",
    "test_ways.py",
    "test_pdf.py",
    "test_slides.py",
    "test_warm_start.py",
    "test_page_blocks.py",
)

GC_THRESHOLD = 20_000  # new objects between two garbage collections, as in `site build`
# The path at which tests publish the site below its host.
PUBLISHED = "/course"
# Fixtures of tests that load pages in a browser, or print them.
IN_A_BROWSER = {"browser", "pdf"}
ADDRESSES = (f"https://example.org{PUBLISHED}", "https://github.com/example/course")


def pytest_configure(config: pytest.Config) -> None:
    """Accept Ctrl-C, and collect garbage less often.

    Shells start background jobs with SIGINT ignored, and children inherit it. Python's default
    threshold for collecting garbage takes a twentieth of the time.
    """
    gc.set_threshold(GC_THRESHOLD)
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if config.args == ["tests"]:
        config.args = shuffled(os.environ.get("PYTEST_XDIST_WORKER", ""))


def shuffled(worker: str) -> list[str]:
    """Return all test files, shuffled differently for each worker.

    In a fresh clone, the first to read a file compiles it. In the same order, all workers would
    compile each file at the same time.
    """
    files = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("tests/*/test_*.py"))
    random.Random(worker).shuffle(files)
    return files


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None, object, object]:
    """Put the slowest files first, and keep the order of tests within a file.

    In between, pytest puts tests with the same address of the site together. Which come first
    depends on the order of the files, and workers must agree. So the files are sorted before, too.
    """
    items.sort(key=lambda item: item.path)
    result = yield
    place = {name: index for index, name in enumerate(LONGEST)}
    items.sort(key=lambda item: (place.get(item.path.name, len(place)), item.path))
    return result


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect tests without garbage collection, which takes an eighth of that time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Exempt the collected tests and their modules from garbage collection.

    Otherwise each full collection visits them, and forks of this process copy the pages that it
    writes to: gradings in a fork took seven times as long. Garbage stays, too: there is little, and
    looking for it takes half a second.
    """
    gc.freeze()


@pytest.fixture(autouse=True)
def _no_figures_left() -> Iterator[None]:
    """Close a test's figures, so that the next test starts without any."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


@pytest.fixture
def book(tmp_path: Path) -> Book:
    """Return a small book with our configuration and its own copy of rooflib."""
    return small_book(tmp_path)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run the site's browser tests at the top and, as long tests, below a path."""
    asked = set(metafunc.fixturenames)
    if "site" in asked and asked & IN_A_BROWSER:
        published = pytest.param(PUBLISHED, marks=pytest.mark.long)
        both = {"argvalues": [None, published], "ids": ["top", "below"]}
        # Parametrize indirectly: `site` depends on the fixture `below` in tests without a browser,
        # too, so pytest sets up `site` again when the value changes.
        metafunc.parametrize("below", **both, indirect=True, scope="session")


@pytest.fixture(scope="session")
def below(request: pytest.FixtureRequest) -> str:
    """Return the URL path of the site; "" is the root of its host.

    A build without an address uses "".
    """
    return getattr(request, "param", None) or ""


@pytest.fixture(scope="session")
def site(below: str) -> Path:
    """Build the whole site, once per test run, and return its folder.

    Processes of a test run share one build: even an unchanged build rewrites its style sheets, and
    a browser could load a half-written one.
    """
    with alone(ROOT / "_build" / "lock"):
        book = published_book(ROOT / "_build" / "published", *ADDRESSES) if below else Book(ROOT)
        folder = book.folder / "_build" / "html"
        this_run, built = os.environ.get("PYTEST_XDIST_TESTRUNUID"), folder.parent / "built-for"
        if this_run and built.exists() and built.read_text(encoding="utf-8") == this_run:
            return folder
        if not (folder / "_static").exists():
            hand_over(book.folder)
        run = build_site(book)
        if run.returncode == 0 and this_run:
            built.write_text(this_run, encoding="utf-8")
    if run.returncode != 0:
        pytest.fail(f"the book was not built:\n{run.stderr[-2000:]}", pytrace=False)
    assert run.stdout.splitlines()[-1] == str(folder / "index.html")
    return folder


@pytest.fixture(scope="module")
def server(site: Path, below: str) -> Iterator[Server]:
    """Serve the site."""
    with serving(site, below) as server:
        yield server


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Start one browser for all tests.

    Fail the tests that need it if none is installed.
    """
    found = chromium()
    if found is None:
        pytest.fail(MISSING, pytrace=False)
    with started(found) as browser:
        yield browser


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a course folder with all exercises released, for all workers to copy.

    It has no seed, so each copy draws its own.
    """

    def make(folder: Path) -> None:
        from grading.course import Course  # takes a second to import
        from grading.records.seed import FOLDER

        Course(folder).release()
        (folder / FOLDER / "seed").unlink()

    return made_for_all(tmp_path_factory, "release", make)


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with our packages' wheels and index; don't change it."""
    from commands.handouts import wheels  # takes half a second to import

    return made_for_all(tmp_path_factory, "wheels", lambda folder: wheels.build(ROOT, folder))


def made_for_all(
    tmp_path_factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]
) -> Path:
    """Return a folder that the first worker to ask for it makes."""
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    folder = base / f"{name}-for-all"
    with alone(folder.with_suffix(".lock")):
        if not folder.exists():
            unfinished = folder.with_suffix(".unfinished")
            make(unfinished)
            unfinished.rename(folder)
    return folder
