"""Every page of the site in a browser: both languages, on a desk and on a phone, light and dark."""

from pathlib import Path

import pytest
from figure_faults import english
from playwright.sync_api import Browser
from site_links import html_files
from site_server import Server
from site_sweep import LOOKED_AT, PAGES, TRANSLATED, WRITTEN, Sweep
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
    assert sweep.visited["pages"] == len(PAGES[sweep.language])
    assert all(sweep.visited[kind] for kind in LOOKED_AT)


def test_no_page_has_an_error_in_the_console(sweep: Sweep) -> None:
    assert sweep.found["errors"] == []


def test_nothing_is_fetched_from_another_host(sweep: Sweep) -> None:
    assert sweep.found["elsewhere"] == []


def test_nothing_of_pyodide_is_fetched_before_a_press(sweep: Sweep) -> None:
    assert sweep.found["python"] == []


def test_every_style_sheet_picture_and_font_arrives(sweep: Sweep) -> None:
    assert sweep.found["files"] == []


def test_no_page_is_heavy(sweep: Sweep) -> None:
    assert sweep.found["heavy"] == []


def test_assistive_technology_finds_its_way(sweep: Sweep) -> None:
    assert sweep.found["axe"] == []


def test_all_text_has_contrast_in_light_and_dark(sweep: Sweep) -> None:
    assert sweep.found["contrast"] == []


def test_nothing_overflows_on_a_desk_or_a_phone(sweep: Sweep) -> None:
    assert sweep.found["overflow"] == []


def test_controls_and_numbers_of_a_figure_fit_one_screen_of_a_phone(sweep: Sweep) -> None:
    assert sweep.found["tall"] == []


def test_figures_stay_right_when_they_are_moved(sweep: Sweep) -> None:
    """At random settings, numbers are rooflib's, words the page's language, labels apart."""
    assert sweep.found["moved"] == []


def test_formulas_are_rendered_and_fit_a_phone(sweep: Sweep) -> None:
    assert sweep.found["formulas"] == []


def test_every_cell_of_a_table_has_its_heading_on_a_phone(sweep: Sweep) -> None:
    assert sweep.found["headings"] == []


def test_every_picture_has_a_name(sweep: Sweep) -> None:
    assert sweep.found["unnamed"] == []


def test_every_guess_takes_its_right_answer(sweep: Sweep) -> None:
    assert sweep.found["guesses"] == []


def test_no_definition_is_covered_until_i_guess(sweep: Sweep) -> None:
    assert sweep.found["covered"] == []


def test_no_english_is_left_on_translated_pages(sweep: Sweep) -> None:
    """The page of rooflib's functions shows their docstrings, which stay English.

    A page without a catalog is in English, too.
    """
    known = {*WRITTEN} - {*TRANSLATED} | {"chapters/api"}
    found = (line.split(": ", 1) for line in sweep.found["english"])
    assert [one for one in found if one[0] not in known and english(without(one[1]))] == []
