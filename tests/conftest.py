"""Fixtures that several test files share: small books, the built site, a browser."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from repository import ROOT, Book, small_book
from site_browser import MISSING, chromium, started


@pytest.fixture
def book(tmp_path: Path) -> Book:
    """A book that builds, with this repository's configuration and its own copy of rooflib."""
    return small_book(tmp_path)


@contextmanager
def alone(lock: Path) -> Iterator[None]:
    """Wait until no other process of the test run is in here."""
    lock.parent.mkdir(exist_ok=True)
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the whole site: the first process builds it, the others find nothing to do."""
    with alone(ROOT / "_build" / "lock"):
        run = Book(ROOT).build()
    if run.returncode != 0:
        pytest.fail(f"the book was not built:\n{run.stderr[-2000:]}", pytrace=False)
    folder = ROOT / "_build" / "html"
    assert run.stdout.splitlines()[-1] == str(folder / "index.html")
    return folder


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests; a test that needs it fails where the machine has none."""
    found = chromium()
    if found is None:
        pytest.fail(MISSING, pytrace=False)
    with started(found) as browser:
        yield browser
