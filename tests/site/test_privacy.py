"""The page about privacy and licenses says all that the site keeps, and of whom it is made."""

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
# Scripts that are there and that no page loads.
IDLE = {"design-tabs.js", "bootstrap.js", "fontawesome.js"}


# What is kept.


def stored(script: str) -> set[str]:
    """The names under which a script keeps something, where they stand as they are."""
    return set(re.findall(r"Storage\.setItem\(\s*[\"']([\w-]+)", script))


def test_what_scripts_keep_by_name_stands_on_the_page(site: Path) -> None:
    found = set()
    for path in [*site.rglob("*.js"), *site.glob("*.html")]:
        if path.name not in IDLE:
            found |= stored(path.read_text(encoding="utf-8", errors="replace"))
    # For banners of versions, for a view of slides as one scroll, and a trial that is taken back.
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
    """Switch the theme, type a chip of one's own, search, open what was found, and go on."""
    ready(page, f"{origin}/chapters/roofline.html")
    page.locator(".theme-switch-button").first.click()
    page.locator(".live-own summary").first.click()
    page.locator("[data-own=peak]").first.fill("500")
    page.wait_for_function("localStorage.getItem('roofline-my-own-chip')")
    ready(page, f"{origin}/search.html?q=ridge")
    page.locator("#search-results li a").first.click()
    page.wait_for_load_state()


def test_what_a_reader_leaves_in_the_browser_stands_on_the_page(
    browser: Browser, server: Server
) -> None:
    context = browser.new_context(viewport=DESK)
    context.add_init_script(RECORD)
    traffic = Traffic().listen(context)
    page = context.new_page()
    # Who only reads leaves what the first row says.
    ready(page, f"{server.origin}/chapters/time.html")
    assert set(page.evaluate("window.kept")) == {"mode", "theme"}
    use(page, server.origin)
    kept = {name.split(":")[0] for name in page.evaluate("window.kept")}
    assert {"mode", "theme", "roofline-my-own-chip", "sphinx_highlight_terms"} <= kept <= NAMES
    assert context.cookies() == []
    assert page.evaluate("document.cookie") == ""
    assert traffic.outside(server.origin) == []
    left = set(page.evaluate("Object.keys(localStorage)"))
    assert left <= {"mode", "theme", "roofline-my-own-chip"}
    context.close()


# Of whom the site is made.


PROGRAMS = {".js", ".css", ".wasm", ".zip", ".whl"}
FONTS = {".woff", ".woff2", ".ttf", ".otf", ".eot"}
KINDS = {*PROGRAMS, *FONTS, ".png", ".svg", ".txt"}
# A file that a package's template or a cut gives, and the package.
MADE = {
    "basic.css": "sphinx",
    "documentation_options.js": "sphinx",
    "language_data.js": "sphinx",
    "copybutton.js": "sphinx-copybutton",
    "pygments.css": "pygments",
}
# What is ours under a name that it has in the site alone.
OURS = {"browser-roof.js", "course.zip", "exercises.zip", "searchindex.js", "terms.js"}
# Their parts have a test file of their own.
PYTHON = {*pyodide_files.SERVED, editor_bundle.SCRIPT}


@functools.cache
def owners(site: Path) -> dict[Path, set[str]]:
    """The packages that have a served file as it is, for each file that is not empty."""
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
    """The packages of which a file lies in the site as it is.

    A file that several packages have, such as a font of icons, counts for none: that it comes from
    one of them is tested by its name.
    """
    return {name for names in owners(site).values() if len(names) == 1 for name in names}


def digest(path: Path) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest()


def license_name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_package_of_which_a_file_is_served_is_named(site: Path) -> None:
    found = shipped(site)
    assert {"sphinx", "sphinx-book-theme", "sphinx-revealjs"} <= found
    assert found <= set(licenses.NAMED.findall(SOURCE))


@functools.cache
def cut_fonts() -> dict[str, Path]:
    """Package → one of the fonts that the site cuts out of it."""
    cut = {path for path, _ in fonts.sources()}
    return {
        license_name(package.metadata["Name"]): path
        for package in metadata.distributions()
        for file in package.files or []
        if file.suffix == ".ttf" and (path := Path(str(package.locate_file(file)))) in cut
    }


def test_no_program_and_no_font_is_served_of_which_nobody_is_named(site: Path) -> None:
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


def test_what_is_made_from_packages_is_named_too() -> None:
    made = {*cut_fonts(), "pygments"}
    assert len(made) == 4
    assert made <= set(licenses.NAMED.findall(SOURCE))


def test_the_license_of_a_font_is_named_where_its_package_has_another() -> None:
    for name, font in cut_fonts().items():
        assert "SIL Open Font License" in licenses.font_notice(font)
        own = "OFL" not in str(metadata.distribution(name).metadata["License"])
        assert own == (f'font_license("{name}")' in SOURCE)


def test_a_row_names_the_package_that_it_asks() -> None:
    row = re.compile(r"^\| .+ \| (\{eval\}`.+`) \| ([\w-]+) \| (\{eval\}`.+`) \|$", re.MULTILINE)
    rows = row.findall(SOURCE)
    assert len(rows) == len(set(licenses.NAMED.findall(SOURCE))) > 10
    for license, name, version in rows:
        asked = f'package("{name}")'
        assert version == f"{{eval}}`{asked}.version`"
        assert license in (f"{{eval}}`{asked}.license`", f'{{eval}}`font_license("{name}")`')


def test_the_page_shows_what_is_installed(site: Path) -> None:
    table = parsed(site / "chapters/privacy.html").select("table")[-2]
    for row in table.select("tbody tr"):
        _, license, name, version = (cell.get_text(" ", strip=True) for cell in row.select("td"))
        assert version.endswith(metadata.version(name.split()[-1]))
        assert "not said" not in license


def test_the_texts_are_those_of_the_packages(site: Path) -> None:
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
    # What a package has put beside the parts that it carries itself.
    assert re.search(r"^pydata_sphinx_theme/\S+/fontawesome/\S+LICENSE\.txt$", text, re.MULTILINE)
    assert "def " not in text


def test_a_license_file_is_known_by_its_name() -> None:
    for name in ("LICENSE", "LICENCE.txt", "license.md", "COPYING", "OFL.txt", "octicon_LICENSE"):
        assert licenses.TEXT.search(name)
    for name in ("licenses", "unlicensed.txt", "noticed.txt", "profl.txt"):
        assert not licenses.TEXT.search(name), name
