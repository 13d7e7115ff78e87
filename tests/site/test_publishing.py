"""Tests of a published course's addresses, links, feed and sitemap.

An unpublished course has none of them.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock
from urllib.parse import parse_qs, unquote, urlsplit
from xml.etree import ElementTree

import pytest
import yaml
from book_extension import contents, publishing
from book_extension.publishing import changes
from book_extension.publishing.addresses import AddressError, Addresses, read
from docutils import nodes
from playwright.sync_api import Browser, Page
from repository import ROOT, Book, set_addresses, small_book
from site_browser import DESK, PHONE, SETTLED, SIDEWAYS, STICKING_OUT, Traffic, axe, ready
from site_links import broken, html_files, parsed
from site_server import Server, serving
from sphinx import addnodes
from sphinx.config import Config
from sphinx.errors import ConfigError

SITE = "https://example.org/course"
REPOSITORY = "https://github.com/example/course"
PAGE = """
# A page

```{code-cell} ipython3
print("seen")
```

## The first & only section

A text.
"""
TOC = "format: jb-book\nroot: index\nparts:\n- caption: Part\n  numbered: true\n  chapters:\n"


def setting(folder: Path, repository: str = "", site: str = "") -> Path:
    """Write a _config.yml with these addresses; return its path."""
    text = yaml.safe_dump({"repository": {"url": repository}, "html": {"baseurl": site}})
    (folder / "_config.yml").write_text(text)
    return folder / "_config.yml"


# Settings.


def test_no_addresses_are_known_by_default() -> None:
    assert read(ROOT / "_config.yml") == Addresses(branch="main")


def test_url_settings_may_be_missing(tmp_path: Path) -> None:
    (tmp_path / "_config.yml").write_text("title: A book\nhtml:\n")
    assert read(tmp_path / "_config.yml") == Addresses(branch="main")


def test_trailing_slash_and_git_suffix_are_ignored(tmp_path: Path) -> None:
    found = read(setting(tmp_path, f"{REPOSITORY}.git", f"{SITE}/"))
    assert (found.repository, found.course, found.site) == (REPOSITORY, SITE, SITE)


@pytest.mark.parametrize(
    ("repository", "site", "named"),
    [
        ("", "example.org/course", "html.baseurl"),
        ("", "http://example.org", "html.baseurl"),
        ("", f"{SITE}?page=1", "html.baseurl"),
        ("git@github.com:example/course", "", "repository.url"),
        ("https://github.com/example", "", "repository.url"),
        ("https://example.org/some/code", "", "repository.url"),
    ],
)
def test_invalid_addresses_are_refused_with_the_allowed_format(
    tmp_path: Path, repository: str, site: str, named: str
) -> None:
    with pytest.raises(AddressError) as error:
        read(setting(tmp_path, repository, site))
    said = str(error.value)
    assert said.startswith(
        f"{named} in _config.yml is {repository or site!r}; allowed is an address"
    )
    assert "\n" not in said


def test_an_editions_addresses_have_its_folder_and_its_tag(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = setting(tmp_path, REPOSITORY, SITE)
    monkeypatch.setenv("EDITION", "0.2.0")
    found = read(config)
    assert found.site == f"{SITE}/0.2.0"
    assert found.source("index.md") == f"{REPOSITORY}/blob/0.2.0/index.md"
    assert found.edit("index.md") == ""
    assert "/example/course/0.2.0?" in found.binder("0.ipynb")
    monkeypatch.setenv("EDITION", "../up")
    with pytest.raises(AddressError, match=r"^EDITION is '\.\./up'; allowed is a tag"):
        read(config)


@pytest.mark.parametrize(
    ("repository", "source", "form", "binder"),
    [
        (REPOSITORY, "blob/main", "issues/new", "gh/example/course"),
        ("https://gitlab.com/a/b/c", "-/blob/main", "-/issues/new", "gl/a%2Fb%2Fc"),
        (
            "https://gitlab.example.org/a/b",
            "-/blob/main",
            "-/issues/new",
            "git/https%3A%2F%2Fgitlab.example.org%2Fa%2Fb",
        ),
    ],
)
def test_link_formats_depend_on_the_host(
    repository: str, source: str, form: str, binder: str
) -> None:
    at = Addresses(SITE, repository, "main")
    assert at.source("chapters/a b.md") == f"{repository}/{source}/chapters/a%20b.md"
    assert at.edit("a.md") == at.source("a.md").replace("/blob/", "/edit/")
    report = urlsplit(at.report("A & B", "one\ntwo + three"))
    assert report.geturl().startswith(f"{repository}/{form}?")
    assert list(parse_qs(report.query).values()) == [["A & B"], ["one\ntwo + three"]]
    assert at.binder("chapters/1-a.ipynb") == (
        f"https://mybinder.org/v2/{binder}/main?urlpath=lab/tree/chapters/1-a.ipynb"
    )


def test_slashes_in_branch_names_are_escaped_for_binder() -> None:
    assert "/course/a%2Fb?urlpath=" in Addresses(SITE, REPOSITORY, "a/b").binder("0.ipynb")


# Feed and sitemap.

LOG = """# Changes

## Unreleased

- Not yet.

## 0.2.0, 2027-01-02

- Counts `a < b`.

## 0.1.0, 2026-11-21

- The first edition.
"""
ATOM = {"a": changes.ATOM}


def test_the_feed_has_an_entry_for_each_dated_edition() -> None:
    top = ElementTree.fromstring(changes.feed(LOG, "A & B", "Somebody", SITE, "changes.xml"))
    assert top.findtext("a:updated", namespaces=ATOM) == "2027-01-02T00:00:00Z"
    assert top.findtext("a:author/a:name", namespaces=ATOM) == "Somebody"
    titles = [entry.findtext("a:title", namespaces=ATOM) for entry in top.iterfind("a:entry", ATOM)]
    assert titles == ["A & B 0.2.0", "A & B 0.1.0"]
    identities = [e.text for e in top.iter(f"{{{changes.ATOM}}}id")]
    assert len(set(identities)) == len(identities) == 3
    content = top.findtext("a:entry/a:content", namespaces=ATOM)
    assert content is not None
    assert "<li>Counts <code>a &lt; b</code>.</li>" in content
    assert changes.feed("# Changes\n", "A", "B", SITE, "changes.xml") == ""


def test_the_changelog_of_the_course_is_parsed() -> None:
    log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    dated = re.findall(r"^## .*\d{4}-\d\d-\d\d", log, re.MULTILINE)
    assert len(changes.editions(log)) == len(dated) > 0


# Tests of built books: without addresses, without the publishing extension, and published.


def made(folder: Path, site: str = "", repository: str = "", without: str = "") -> Book:
    folder.mkdir()
    book = small_book(folder)
    (folder / "_toc.yml").write_text(f"{TOC}  - file: chapters/page\n")
    shutil.copy(ROOT / "CHANGELOG.md", folder)
    book.write(PAGE)
    config = folder / "_config.yml"
    set_addresses(config, site, repository)
    text = config.read_text(encoding="utf-8")
    assert without in text
    config.write_text(text.replace(without, ""), encoding="utf-8")
    done = book.build()
    assert done.returncode == 0, done.stderr
    return book


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Book:
    return made(tmp_path_factory.mktemp("published") / "book", SITE, REPOSITORY)


def files(book: Book) -> dict[str, bytes]:
    top = book.folder / "_build" / "html"
    found = {p.relative_to(top).as_posix(): p.read_bytes() for p in top.rglob("*") if p.is_file()}
    # Ignore Sphinx's hash of the settings: it covers the list of extensions, which differs.
    del found[".buildinfo"]
    return found


@pytest.mark.long
def test_without_addresses_the_publishing_extension_changes_nothing(tmp_path: Path) -> None:
    unset = files(made(tmp_path / "unset"))
    without = files(made(tmp_path / "without", without="      - book_extension.publishing\n"))
    assert set(unset) == set(without)
    assert [name for name in unset if unset[name] != without[name]] == []


def test_without_addresses_pages_have_no_publishing_links(site: Path) -> None:
    top = {path.name for path in site.iterdir()}
    assert not top & {publishing.FEED, publishing.SITEMAP}
    assert not list(site.glob("_static/page-links*"))
    said = re.compile(r'page-links|rel="canonical"|application/atom|og:url|<base')
    for page in html_files(site):
        assert not said.search(page.read_text(encoding="utf-8")), page.name


def test_all_links_of_a_published_book_resolve(published: Book) -> None:
    assert broken(published.folder / "_build" / "html", SITE) == []


# Builds the whole course for a path below its host; browser tests can run on it, too.
below_a_path = pytest.mark.parametrize(
    "below", [urlsplit(SITE).path], indirect=True, scope="session"
)


def test_all_calls_that_serve_the_site_have_below_as_an_argument() -> None:
    """Tests run a second time with the site below a path: they must serve it there."""
    text = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("tests/*/test_*.py"))
    places = re.findall(r"(?:serving\w*|served)\(site\b.*?\)", text)
    assert len(places) > 3
    assert [place for place in places if not place.endswith("(site, below)")] == []


@pytest.mark.long
@below_a_path
def test_all_links_of_the_published_course_resolve(site: Path) -> None:
    assert broken(site, SITE) == []


@pytest.mark.long
@below_a_path
def test_menu_links_of_the_published_course_have_targets(site: Path) -> None:
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    written = {"index", *re.findall(r"'file': '([^']+)'", str(toc))}
    copies = set(contents.names(ROOT / "_toc.yml").values())
    missing = []
    for name in written:
        links = page_links(site / f"{name}.html")
        sources = [links[kind].partition("/main/")[2] for kind in ("source", "edit")]
        missing += [name for path in sources if not (ROOT / path).is_file()]
        if "colab" in links:
            notebook = unquote(urlsplit(links["colab"]).fragment.removeprefix("fileId="))
            missing += [name] * (not (site / notebook.removeprefix(f"{SITE}/")).is_file())
        if "binder" in links:
            missing += [name] * (links["binder"].partition("?urlpath=lab/tree/")[2] not in copies)
        assert {"report", "source", "edit"} <= set(links)
    assert missing == []
    # Only pages with a notebook to download can be opened in Colab.
    opened = {name for name in written if "colab" in page_links(site / f"{name}.html")}
    notebooks = "a[download][href$='.ipynb']"
    assert opened == {name for name in written if parsed(site / f"{name}.html").select(notebooks)}
    assert {"chapters/time", "exercises/attention/attention"} <= opened
    listed = ElementTree.parse(site / publishing.SITEMAP).iter()
    pages = [f"{folder}{name}.html" for folder in ("", "zh/") for name in written]
    assert {e.text for e in listed if e.tag.endswith("loc")} == {
        f"{SITE}/{page}" for page in pages if (site / page).is_file()
    }


def page_links(page: Path) -> dict[str, str]:
    """Return kind → address of the links in a published page's menu."""
    return {str(a["data-kind"]): str(a["href"]) for a in parsed(page).select(".page-links a")}


def test_every_page_but_the_404_page_has_its_canonical_address(published: Book) -> None:
    top = published.folder / "_build" / "html"
    for path in html_files(top):
        name, soup = path.relative_to(top).as_posix(), parsed(path)
        (canonical,) = soup.select("link[rel=canonical]") or [{"href": None}]
        assert canonical["href"] == (None if name == "404.html" else f"{SITE}/{name}")
    head = parsed(top / "chapters/page.html")
    styles = [
        Path(str(link["href"]).split("?")[0]).name for link in head.select("link[rel=stylesheet]")
    ]
    # The order matters: later style sheets override earlier ones.
    assert styles[-2:] == ["course.css", "page-links.css"]
    for name in ("og:image", "og:url"):
        (content,) = [tag["content"] for tag in head.select(f"meta[property='{name}']")]
        assert (top / str(content).removeprefix(f"{SITE}/")).is_file()
    assert parsed(top / "404.html").select("base")[0]["href"] == "/course/"


def test_the_sitemap_lists_all_pages_and_pages_link_to_the_feed(published: Book) -> None:
    top = published.folder / "_build" / "html"
    listed = [e.text for e in ElementTree.parse(top / "sitemap.xml").iter() if e.tag[-3:] == "loc"]
    assert listed == [f"{SITE}/chapters/page.html", f"{SITE}/index.html"]
    (link,) = parsed(top / "chapters/page.html").select("link[type='application/atom+xml']")
    assert link["href"] == f"{SITE}/changes.xml"
    feed = ElementTree.parse(top / "changes.xml")
    assert [e.attrib["href"] for e in feed.iterfind("a:link[@rel='self']", ATOM)] == [link["href"]]


def test_pages_link_to_their_notebook_and_source(published: Book) -> None:
    links = page_links(published.folder / "_build/html/chapters/page.html")
    assert list(links) == ["colab", "binder", "source", "edit", "report"]
    notebook = unquote(urlsplit(links["colab"]).fragment.removeprefix("fileId="))
    assert (published.folder / "_build/html" / notebook.removeprefix(f"{SITE}/")).is_file()
    assert links["binder"].endswith("/main?urlpath=lab/tree/chapters/1-page.ipynb")
    for kind in ("source", "edit"):
        path = links[kind].partition("/main/")[2]
        assert path == "chapters/page.md"
        assert (published.folder / path).read_text(encoding="utf-8").endswith(PAGE)
    asked = parse_qs(urlsplit(links["report"]).query)
    assert asked["title"] == ["Mistake: A page"]
    assert f"Page: {SITE}/chapters/page.html\nSection: \n" in asked["body"][0]


def test_an_invalid_address_stops_the_build(tmp_path: Path) -> None:
    setting(tmp_path, site="here")
    app = SimpleNamespace(srcdir=tmp_path)
    with pytest.raises(ConfigError, match=r"html\.baseurl in _config\.yml is 'here'; allowed is"):
        publishing.take_addresses(app, Config())  # type: ignore[arg-type]


def test_an_edition_uses_its_own_address_and_writes_no_feed_or_sitemap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITION", "0.1.0")
    setting(tmp_path, site=SITE)
    shutil.copy(ROOT / "CHANGELOG.md", tmp_path)
    left = [tmp_path / publishing.SITEMAP, tmp_path / publishing.FEED]
    for path in left:
        path.touch()
    app = Mock(srcdir=tmp_path, outdir=tmp_path, builder=Mock(format="html"))
    config = SimpleNamespace(html_static_path=[])
    publishing.take_addresses(app, config)  # type: ignore[arg-type]
    assert config.html_baseurl == f"{SITE}/0.1.0"
    publishing.write_lists(app, None)
    assert [path for path in left if path.exists()] == []


@pytest.mark.parametrize("has_log", [True, False])
@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_only_english_builds_write_a_sitemap_and_with_a_change_log_a_feed(
    tmp_path: Path, has_log: bool, language: str
) -> None:
    setting(tmp_path, site=SITE)
    (tmp_path / "locale/zh_CN/LC_MESSAGES").mkdir(parents=True)
    if has_log:
        (tmp_path / "CHANGELOG.md").write_text("## 0.1.0, 2026-01-02\n\nA *change*.\n")
    app = Mock(srcdir=tmp_path, outdir=tmp_path, builder=Mock(format="html"))
    app.config = SimpleNamespace(html_title="A book", author="Somebody", language=language)
    app.config.html_static_path = []
    app.env.found_docs = ["index"]
    app.builder.get_target_uri = "{}.html".format
    publishing.take_addresses(app, app.config)  # type: ignore[arg-type]
    publishing.write_lists(app, None)
    if language != "en":
        assert not list(tmp_path.glob("*.xml"))
        return
    addresses = [e.text for e in ElementTree.parse(tmp_path / "sitemap.xml").iter() if e.text]
    assert [a for a in addresses if a.strip()] == [f"{SITE}/index.html", f"{SITE}/zh/index.html"]
    assert (tmp_path / "changes.xml").exists() == has_log
    # A failed build writes neither the sitemap nor the feed.
    (tmp_path / "sitemap.xml").unlink()
    publishing.write_lists(app, ValueError())
    assert not (tmp_path / "sitemap.xml").exists()


def test_each_build_reads_the_addresses_again(tmp_path: Path) -> None:
    found = []
    for site in (SITE, "https://example.com"):
        config = SimpleNamespace(html_static_path=[])
        setting(tmp_path, site=site)
        publishing.take_addresses(Mock(srcdir=tmp_path), config)  # type: ignore[arg-type]
        found.append(config.html_baseurl)
    assert found == [SITE, "https://example.com"]


@pytest.mark.parametrize(
    ("given", "has_menu"),
    [({}, False), ({"site": SITE}, True), ({"repository": REPOSITORY}, True)],
)
def test_pages_get_the_menu_if_either_address_is_known(
    tmp_path: Path, given: dict[str, str], has_menu: bool
) -> None:
    setting(tmp_path, **given)
    app = Mock(srcdir=tmp_path)
    config = SimpleNamespace(html_static_path=[])
    publishing.take_addresses(app, config)  # type: ignore[arg-type]
    assert app.add_js_file.called == app.add_css_file.called == has_menu
    assert bool(config.html_static_path) == has_menu


def test_the_download_of_an_exercises_notebook_is_found() -> None:
    document = nodes.section()
    document += addnodes.download_reference("", "", filename="12/exercises.zip")
    assert publishing.handed_out(document) == ""  # type: ignore[arg-type]
    document += addnodes.download_reference("", "", filename="34/one.ipynb")
    assert publishing.handed_out(document) == "_downloads/34/one.ipynb"  # type: ignore[arg-type]


# Browser tests of a book that is served under a URL path.


@pytest.fixture(scope="module")
def server(published: Book) -> Iterator[Server]:
    with serving(published.folder / "_build" / "html", "/course") as server:
        yield server


@pytest.fixture(params=[pytest.param(DESK, marks=pytest.mark.long), PHONE], ids=["desk", "phone"])
def page(browser: Browser, server: Server, request: pytest.FixtureRequest) -> Iterator[Page]:
    context = browser.new_context(viewport=request.param, color_scheme="dark")
    traffic = Traffic().listen(context)
    page = context.new_page()
    ready(page, f"{server.origin}/chapters/page.html")
    yield page
    assert traffic.wrong == []
    assert traffic.outside(server.origin) == []
    context.close()


MENU = ".page-links"
FORM = f"{MENU} [data-kind=report]"


def test_the_menu_opens_is_accessible_and_closes(page: Page) -> None:
    summary, last = page.locator(f"{MENU} summary"), page.locator(f"{MENU} a").last
    summary.focus()
    page.keyboard.press("Enter")
    last.wait_for()
    page.evaluate(SETTLED)
    assert axe(page) == []
    assert page.evaluate(SIDEWAYS) <= 0
    assert page.evaluate(STICKING_OUT) == []
    last.focus()
    page.keyboard.press("ArrowUp")
    assert last.is_visible()
    page.keyboard.press("Escape")
    last.wait_for(state="hidden")
    assert summary.evaluate("(s) => s === document.activeElement")
    summary.click()
    last.wait_for()
    page.locator("main h1").first.click()
    last.wait_for(state="hidden")


def test_a_mistake_report_names_the_current_section(page: Page) -> None:
    # Make the page long enough to scroll the section to the top.
    page.evaluate("document.querySelector('main h2').style.marginBottom = '200vh'")
    page.evaluate("document.querySelector('main h2').scrollIntoView({behavior: 'instant'})")
    page.locator(".bd-toc-nav a[aria-current]").wait_for(state="attached")
    # Click by script: Playwright's click would first scroll to the bar's unscrolled position.
    page.evaluate("(menu) => document.querySelector(`${menu} summary`).click()", MENU)
    # The menu's toggle event comes slightly after it is visible.
    page.wait_for_function("(f) => document.querySelector(f).href.includes('%23')", arg=FORM)
    report = page.locator(FORM)
    asked = parse_qs(urlsplit(str(report.get_attribute("href"))).query)
    assert asked["title"] == ["Mistake: A page"]
    section = "Section: 1.1. The first & only section (#the-first-only-section)\n"
    assert asked["body"][0].endswith(f"Page: {SITE}/chapters/page.html\n{section}")


def test_pages_without_a_menu_or_a_report_link_have_no_errors(page: Page, server: Server) -> None:
    """The `page` fixture checks for errors; without a repository, no report is offered."""
    ready(page, f"{server.origin}/genindex.html")
    assert page.locator(MENU).count() == 0
    without = re.sub(r"<a [^>]*data-kind=\"?report.*?</a>", "", page_html(server), flags=re.S)
    page.route("**/chapters/page.html", lambda route: route.fulfill(body=without))
    ready(page, f"{server.origin}/chapters/page.html")
    assert page.locator(FORM).count() == 0
    page.locator(f"{MENU} summary").click()
    page.locator(f"{MENU} a").last.wait_for()


def page_html(server: Server) -> str:
    return (server.folder / "chapters/page.html").read_text(encoding="utf-8")
