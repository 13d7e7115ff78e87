"""Tests that the privacy page names all stored data and all packages."""

from __future__ import annotations

import functools
import hashlib
import re
from importlib import metadata
from pathlib import Path

from book_extension import fonts, licenses
from browser.pyodide import files as pyodide_files
from browser.python import editor_bundle
from playwright.sync_api import Browser, Page
from repository import ROOT
from site_browser import DESK, Traffic, ready
from site_links import parsed
from site_server import Server

SOURCE = (ROOT / licenses.PAGE).read_text(encoding="utf-8")
KEPT = SOURCE.partition("(privacy-kept)=")[2].partition("(privacy-elsewhere)=")[0]
NAMES = set(re.findall(r"`([\w-]+)`", KEPT))
# Scripts in the site that no page loads.
IDLE = {"design-tabs.js", "bootstrap.js", "fontawesome.js"}


# Stored data.


def stored(script: str) -> set[str]:
    """Return the literal keys that a script passes to a browser storage's setItem."""
    return set(re.findall(r"Storage\.setItem\(\s*[\"']([\w-]+)", script))


def test_storage_keys_in_scripts_are_named_on_the_privacy_page(site: Path) -> None:
    found = set()
    for path in [*site.rglob("*.js"), *site.glob("*.html")]:
        if path.name not in IDLE:
            found |= stored(path.read_text(encoding="utf-8", errors="replace"))
    # Readers' browsers never keep these keys: those of version banners and the slides' scroll view,
    # which the site doesn't use, and a test key, which is removed at once.
    unused = {"pst_banner_pref", "reveal-scroll-top", "reveal-scroll-origin", "test"}
    assert {"mode", "theme"} <= found
    assert found - unused <= NAMES


RECORD = """
  window.kept = JSON.parse(sessionStorage.getItem("-recorded") ?? "[]");
  const own = Storage.prototype.setItem;
  Storage.prototype.setItem = function (name, value) {
    window.kept.push(name);
    own.call(sessionStorage, "-recorded", JSON.stringify(window.kept));
    own.call(this, name, value);
  };
"""


def use(page: Page, origin: str) -> None:
    """Use what stores data: a reading route, theme, own chip, search; skip the guesses."""
    ready(page, f"{origin}/index.html")
    page.locator(".ways input").last.check()
    ready(page, f"{origin}/chapters/roofline.html")
    page.locator(".theme-switch-button").first.click()
    page.locator(".live-own summary").first.click()
    page.locator("[data-own=peak]").first.fill("500")
    page.wait_for_function("localStorage.getItem('roofline-my-own-chip')")
    ready(page, f"{origin}/search.html?q=ridge")
    page.locator("#search-results li a").first.click()
    page.wait_for_load_state()


def test_the_privacy_page_names_the_data_that_the_site_stores(
    browser: Browser, server: Server
) -> None:
    context = browser.new_context(viewport=DESK)
    context.add_init_script(RECORD)
    traffic = Traffic().listen(context)
    page = context.new_page()
    # Reading a page stores only the keys in the first row of the privacy page's table.
    ready(page, f"{server.origin}/chapters/time.html", covered=True)
    assert set(page.evaluate("window.kept")) == {"mode", "theme"}
    use(page, server.origin)
    kept = {name.split(":")[0] for name in page.evaluate("window.kept")}
    lasting = {"mode", "theme", "roofline-my-own-chip", "roofline-guess", "roofline-way"}
    assert {*lasting, "sphinx_highlight_terms"} <= kept <= NAMES
    assert context.cookies() == []
    assert page.evaluate("document.cookie") == ""
    assert traffic.outside(server.origin) == []
    left = {name.split(":")[0] for name in page.evaluate("Object.keys(localStorage)")}
    assert left <= lasting
    context.close()


# Packages in the site.


PROGRAMS = {".js", ".css", ".wasm", ".zip", ".whl"}
FONTS = {".woff", ".woff2", ".ttf", ".otf", ".eot"}
KINDS = {*PROGRAMS, *FONTS, ".png", ".svg", ".txt"}
# Generated file → the package that generates it.
MADE = {
    "basic.css": "sphinx",
    "documentation_options.js": "sphinx",
    "language_data.js": "sphinx",
    "copybutton.js": "sphinx-copybutton",
    "pygments.css": "pygments",
}
# Our own files that only the build creates, so no source file has their names.
OURS = {
    "browser-roof.js",
    "course.zip",
    "exercises.zip",
    "searchindex.js",
    "terms.js",
    "words.js",
    "words-zh_CN.zip",
}
# Files for Python in the pages, tested in test_made_of.py.
PYTHON = {*pyodide_files.SERVED, editor_bundle.SCRIPT}


@functools.cache
def owners(site: Path) -> dict[Path, set[str]]:
    """Map each non-empty served file to the packages with an identical file."""
    served = [path for path in site.rglob("*") if path.is_file() and path.stat().st_size]
    sizes = {path.stat().st_size for path in served}
    having: dict[bytes, set[str]] = {}
    for package in metadata.distributions():
        name = license_name(package.metadata["Name"])
        files = (
            Path(str(package.locate_file(f))) for f in package.files or [] if f.suffix in KINDS
        )
        for path in files:
            if path.is_file() and path.stat().st_size in sizes:
                having.setdefault(digest(path), set()).add(name)
    return {path: having.get(digest(path), set()) for path in served}


def shipped(site: Path) -> set[str]:
    """Return the packages that are the only source of some file in the site.

    A file that several packages have, such as an icon font, doesn't count; another test makes sure
    that one of them is named.
    """
    return {name for names in owners(site).values() if len(names) == 1 for name in names}


def digest(path: Path) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest()


def license_name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_privacy_page_names_the_packages_of_served_files(site: Path) -> None:
    found = shipped(site)
    assert {"sphinx", "sphinx-book-theme", "sphinx-revealjs"} <= found
    assert found <= set(licenses.NAMED.findall(SOURCE))


@functools.cache
def cut_fonts() -> dict[str, Path]:
    """Map each package to its font of which the site serves a subset."""
    cut = {path for path, _ in fonts.sources()}
    return {
        license_name(package.metadata["Name"]): path
        for package in metadata.distributions()
        for file in package.files or []
        if file.suffix == ".ttf" and (path := Path(str(package.locate_file(file)))) in cut
    }


def test_every_served_program_and_font_has_a_named_origin(site: Path) -> None:
    named = set(licenses.NAMED.findall(SOURCE))
    assert set(MADE.values()) <= named
    sources = [*(ROOT / "site").rglob("*"), *(ROOT / "kit" / "roofkit" / "figures").rglob("*")]
    ours = {path.name for path in sources if path.is_file()} | OURS
    ours |= {path.name for path in (site / "wheels").glob("roof*.whl")}
    cut = {f"{path.stem}.woff" for path, _ in fonts.sources()}
    known = ours | set(MADE) | PYTHON | cut
    left = [
        path.relative_to(site).as_posix()
        for path, names in owners(site).items()
        if path.suffix in PROGRAMS | FONTS and not names & named and path.name not in known
    ]
    assert left == []


def test_the_license_table_lists_packages_that_files_are_generated_from() -> None:
    made = {*cut_fonts(), "pygments"}
    assert len(made) == 4
    assert made <= set(licenses.NAMED.findall(SOURCE))


def test_the_license_table_shows_a_fonts_license_if_its_package_has_another() -> None:
    for name, font in cut_fonts().items():
        assert "SIL Open Font License" in licenses.font_notice(font)
        own = "OFL" not in str(metadata.distribution(name).metadata["License"])
        assert own == (f'font_license("{name}")' in SOURCE)


def test_each_row_shows_license_and_version_of_the_package_that_it_names() -> None:
    row = re.compile(r"^\| .+ \| (\{eval\}`.+`) \| ([\w-]+) \| (\{eval\}`.+`) \|$", re.MULTILINE)
    rows = row.findall(SOURCE)
    assert len(rows) == len(set(licenses.NAMED.findall(SOURCE))) > 10
    for license, name, version in rows:
        asked = f'package("{name}")'
        assert version == f"{{eval}}`{asked}.version`"
        assert license in (f"{{eval}}`{asked}.license`", f'{{eval}}`font_license("{name}")`')


def test_the_privacy_page_shows_the_installed_versions_of_packages(site: Path) -> None:
    table = parsed(site / "chapters/privacy.html").select("table")[-2]
    for row in table.select("tbody tr"):
        _, license, name, version = (cell.get_text(" ", strip=True) for cell in row.select("td"))
        assert version.endswith(metadata.version(name.split()[-1]))
        assert "not said" not in license


def test_the_license_file_has_the_packages_texts(site: Path) -> None:
    text = (site / licenses.FILE).read_text(encoding="utf-8")
    for name in dict.fromkeys(licenses.NAMED.findall(SOURCE)):
        package = metadata.distribution(name)
        assert f"\n{package.metadata['Name']} {package.version}\n" in text
    for words in (
        "SIL OPEN FONT LICENSE",
        "The STIX Fonts Project Authors",
        "Redistribution and use in source",
        "Apache License",
    ):
        assert words in text
    # Licenses of code bundled inside a package are included.
    assert re.search(r"^pydata_sphinx_theme/\S+/fontawesome/\S+LICENSE\.txt$", text, re.MULTILINE)
    assert "def " not in text


def test_license_files_are_recognized_by_name() -> None:
    for name in ("LICENSE", "LICENCE.txt", "license.md", "COPYING", "OFL.txt", "octicon_LICENSE"):
        assert licenses.TEXT.search(name)
    for name in ("licenses", "unlicensed.txt", "noticed.txt", "profl.txt"):
        assert not licenses.TEXT.search(name), name
