"""Tests with a bracketed pseudo-translation: all other English is allowlisted."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import bracketed
import pytest
from native_python import serving_native
from playwright.sync_api import Browser, Page
from repository import ROOT
from site_browser import DESK, UNFOLD, put_width, ready
from site_server import Server

import rooflib as rl

# These tests are long: they build the book once more. By default, test_parity.py, test_edition.py
# and test_figure_languages.py look for words without a translation.
pytestmark = pytest.mark.long

ENGLISH = tomllib.loads((ROOT / "tests/locale/english.toml").read_text(encoding="utf-8"))
AREAS = list(ENGLISH["english"])
NAMES = [one.name for one in (*rl.chips(), *rl.models())]
WORDS = {word for words in ENGLISH["words"].values() for word in words}
WORDS |= {word for name in NAMES for word in re.findall(r"[A-Za-z][A-Za-z0-9'’-]+", name)}
PAGES = (
    "index",
    "chapters/time",
    "chapters/glossary",
    "chapters/machine",
    "exercises/int8-matmul/int8-matmul",
    "search",
)


@pytest.fixture(scope="module")
def server(site: Path, below: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("bracketed")
    with serving_native(bracketed.build(site.parents[1], folder), below) as server:
        yield server


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport=DESK)
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("name", PAGES)
def test_all_words_of_a_page_come_from_translated_messages(
    page: Page, server: Server, name: str
) -> None:
    put_width(page, DESK)
    ready(page, f"{server.origin}/{name}.html")
    page.evaluate(UNFOLD)
    assert "〖" in page.inner_text("main")
    assert bracketed.forgotten(page, AREAS, WORDS) == []
