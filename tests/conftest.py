"""What all tests share: the built site and browsers in which to read it, and a released course."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import firefox as firefoxes
import pytest
from playwright.sync_api import Browser, Page
from reader import Reader
from repository import ROOT, alone
from site_browser import DESK, MISSING, Traffic, chromium, started
from site_server import Server, serving

# Folders in the order in which their tests start: those that need no site come first, and the long
# files before the short ones, so that no worker ends long before the others.
FIRST = ("instructor", "learner", "reader", "author", "rooflib")


def pytest_configure(config: pytest.Config) -> None:
    """Accept Ctrl-C, and run commands as from a shell.

    Shells start background jobs with SIGINT ignored, and children inherit it.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # A person's `make` is no part of `make test`: it would print which folder it enters.
    for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
        os.environ.pop(name, None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    place = {name: number for number, name in enumerate(FIRST)}
    items.sort(key=lambda item: place.get(item.path.parent.name, len(place)))


@pytest.fixture(autouse=True)
def _no_figures_left() -> Iterator[None]:
    """Close a test's Matplotlib figures, so that the next test starts without any."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


# ---- the site


@pytest.fixture(scope="session")
def site() -> Path:
    """Build the site as `make book` does, once for all workers; return its folder.

    Its pages must be able to run Python: without Pyodide, what readers do can't be tested.
    """
    folder = ROOT / "_build" / "html"
    this_run = os.environ.get("PYTEST_XDIST_TESTRUNUID", "")
    built = folder.parent / "built-for"
    with alone(ROOT / "_build" / "lock"):
        if this_run and built.exists() and built.read_text(encoding="utf-8") == this_run:
            return folder
        command = [sys.executable, str(ROOT / "site"), "build"]
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            pytest.fail(f"make book failed:\n{run.stderr[-3000:]}", pytrace=False)
        if not list(folder.glob("_static/python/pyodide-*/pyodide.asm.wasm")):
            pytest.fail(f"pages can't run Python:\n{run.stderr[-3000:]}", pytrace=False)
        built.write_text(this_run, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def server(site: Path) -> Iterator[Server]:
    """Serve the site on loopback."""
    with serving(site) as server:
        yield server


# ---- browsers


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Start one Chromium for all tests of a worker."""
    found = chromium()
    if found is None:
        pytest.fail(MISSING, pytrace=False)
    with started(found) as browser:
        yield browser


@pytest.fixture(scope="session")
def _tab(browser: Browser) -> Iterator[tuple[Page, Traffic]]:
    """Open one tab, in which what is compiled is kept: a page of the site opens in half the time.

    The browser's profile keeps the compiled Pyodide.
    """
    context = browser.new_context(viewport=DESK, reduced_motion="reduce", accept_downloads=True)
    yield context.new_page(), Traffic().listen(context)
    context.close()


@pytest.fixture
def reader(_tab: tuple[Page, Traffic], server: Server) -> Iterator[Reader]:
    """Return a reader with an empty storage.

    At the end, no page may have shown an error in the console, or asked another host for anything.
    A test in which something goes wrong on purpose clears `reader.traffic`.
    """
    page, traffic = _tab
    page.emulate_media(media="null", color_scheme="light")
    page.set_viewport_size(DESK)
    traffic.clear()
    yield Reader(page, server.origin, traffic)
    page.evaluate("location.protocol.startsWith('http') && sessionStorage.clear()")
    outside, wrong = traffic.outside(server.origin), [*traffic.wrong]
    # What follows may end requests, which is no fault.
    for other in page.context.pages:
        if other != page:
            other.close()
    page.unroute_all()
    page.goto("about:blank")
    session = page.context.new_cdp_session(page)
    storage = {"origin": server.origin, "storageTypes": "local_storage"}
    session.send("Storage.clearDataForOrigin", storage)
    session.detach()
    assert outside == []
    assert wrong == []


@pytest.fixture(scope="session")
def firefox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[firefoxes.Firefox]:
    """Start one Firefox for all tests of a worker."""
    found = firefoxes.firefox()
    if found is None:
        pytest.fail(firefoxes.MISSING, pytrace=False)
    with firefoxes.started(found, tmp_path_factory.mktemp("firefox") / "profile") as started_one:
        yield started_one


# ---- a course


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a course folder as `make release` writes it, for tests to copy.

    It has no seed, so each copy draws its own hidden cases.
    """
    import learner  # takes seconds, which tests of rooflib alone don't need

    folder = tmp_path_factory.mktemp("release") / "course"
    leave = shutil.ignore_patterns("seed", "made-from", "*.zip")
    shutil.copytree(learner.release(), folder, ignore=leave)
    return folder
