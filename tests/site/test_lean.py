"""Style sheets and scripts of the site lose their comments and nothing else."""

import re
from pathlib import Path

import pytest
from book_extension.lean import OURS, without_comments
from playwright.sync_api import Browser
from repository import ROOT

SOURCES = {
    path.name: path
    for folder in (
        *("site/static", "site/live_figures", "site/publishing/static"),
        *("site/page_python", "site/guesses"),
    )
    for path in (ROOT / folder).iterdir()
    if path.name in OURS
}
RULES = "(text) => { const s = new CSSStyleSheet(); s.replaceSync(text);"
RULES += " return [...s.cssRules].map((rule) => rule.cssText); }"


def test_every_rule_of_a_style_sheet_stays(browser: Browser) -> None:
    page = browser.new_page()
    for name in ("course.css", "live.css", "page-links.css", "page-python.css"):
        full = SOURCES[name].read_text(encoding="utf-8")
        short = without_comments(full, ".css")
        assert len(short) < 0.95 * len(full)
        assert "/*" not in short
        assert page.evaluate(RULES, short) == page.evaluate(RULES, full) != []
    page.close()


@pytest.mark.parametrize("name", [name for name in SOURCES if name.endswith(".js")])
def test_a_script_loses_whole_lines_that_are_comments(name: str) -> None:
    full = SOURCES[name].read_text(encoding="utf-8").splitlines()
    short = without_comments("\n".join(full), ".js").splitlines()
    assert short == [line for line in full if not line.strip().startswith("//")]
    # Else such a line might be part of a text.
    assert not [text for text in re.findall(r"`[^`]*`", "\n".join(full)) if "\n" in text]


def test_the_site_has_them_without(site: Path) -> None:
    served = [name for name in OURS if not name.startswith("page-links")]  # of published courses
    for name in served:
        assert not re.search(r"^\s*//|/\*", (site / "_static" / name).read_text(), re.MULTILINE)


@pytest.mark.parametrize("page", ["chapters/learners", "chapters/time", "index"])
def test_the_notes_at_terms_are_loaded_where_a_term_is(site: Path, page: str) -> None:
    html = (site / f"{page}.html").read_text(encoding="utf-8")
    assert ("term-notes.js" in html) == ("std-term" in html)
