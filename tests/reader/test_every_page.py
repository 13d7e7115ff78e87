"""Every page of the site in a browser: both languages, on a desk and on a phone, light and dark."""

from pathlib import Path

import pytest
from figure_faults import english
from playwright.sync_api import Browser
from site_links import html_files
from site_server import Server
from site_sweep import PAGES, TRANSLATED, WRITTEN, Sweep
from untranslated import without

THOROUGH = [pytest.param(f"{language}, all", marks=pytest.mark.long) for language in PAGES]


@pytest.fixture(scope="module", params=[*PAGES, *THOROUGH])
def sweep(request: pytest.FixtureRequest, browser: Browser, server: Server) -> Sweep:
    """Visit all pages of a language, one after another in one window."""
    context = browser.new_context(reduced_motion="reduce")
    language, _, more = request.param.partition(", ")
    sweep = Sweep(context.new_page(), server, language, thorough=bool(more))
    for name in PAGES[language]:
        sweep.visit(name)
    context.close()
    return sweep


def test_every_page_was_visited(sweep: Sweep, site: Path) -> None:
    folder = site if sweep.language == "en" else site / sweep.language
    built = {p.relative_to(folder).with_suffix("").as_posix() for p in html_files(folder)}
    # The index page for pip isn't part of the book.
    assert built - {"wheels/index"} == set(PAGES[sweep.language])


# Kind of what the visits note → what no page may have.
FAULTS = {
    "errors": "an error in the console, or a style sheet, picture or font that does not arrive",
    "elsewhere": "anything from another host",
    "python": "anything of Pyodide before a press",
    "heavy": "more bytes than load in a second",
    "axe": "what assistive technology can't find its way in",
    "contrast": "text without contrast, in light or dark",
    "overflow": "anything that overflows on a desk or a phone",
    "moved": "a figure that is wrong when it is moved: numbers, words, labels on each other",
    "formulas": "a formula that is not rendered, or does not fit a phone",
    "headings": "a cell of a table without its heading on a phone",
    "keys": "a box that scrolls sideways, and that no key reaches",
    "unnamed": "a picture without a name",
    "guesses": "a guess that does not take its right answer",
    "covered": "a definition that is covered until I guess",
}


@pytest.mark.parametrize("kind", FAULTS, ids=FAULTS.values())
def test_no_page_has(sweep: Sweep, kind: str) -> None:
    assert sweep.found[kind] == []


def test_no_english_is_left_on_translated_pages(sweep: Sweep) -> None:
    """The page of rooflib's functions shows their docstrings, which stay English.

    A page without a catalog is in English, too.
    """
    known = {*WRITTEN} - {*TRANSLATED} | {"chapters/api"}
    found = (line.split(": ", 1) for line in sweep.found["english"])
    assert [one for one in found if one[0] not in known and english(without(one[1]))] == []
