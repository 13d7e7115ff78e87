"""Editions: a folder for each tag, and links from older editions to the newest."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from commands import build, editions, handouts
from playwright.sync_api import Browser, ViewportSize
from repository import ROOT, set_addresses, small_book
from site_browser import DESK, PHONE, SIDEWAYS, Traffic, axe, ready
from site_links import broken
from site_server import Server, serving

MAKEFILE = """\
book:
\tmkdir -p _build/html
\techo "$(EDITION) $(MAKELEVEL) $$PYTHONPATH" > _build/html/index.html
\techo "$(EDITION)" >> "$(LOG)"
"""


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.org"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet")
    (folder / "Makefile").write_text(MAKEFILE)
    git(folder, "add", "Makefile")
    git(folder, "commit", "--quiet", "--message", "A book")
    return folder


def test_versions_sort_numerically(repository: Path) -> None:
    for tag in ("0.10.0", "v0.9.1", "0.9.0", "draft", "1.0-rc", "v2", "0.2"):
        git(repository, "tag", tag)
    assert editions.tags(repository) == ["0.2", "0.9.0", "v0.9.1", "0.10.0"]


def test_a_folder_without_a_repository_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        editions.tags(tmp_path)


def test_a_tag_is_built_once_from_its_own_sources(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, kept = tmp_path / "log", tmp_path / "kept"
    monkeypatch.setenv("LOG", str(log))
    # Set the environment that an outer `make -n` passes on: the build must ignore it.
    for name, value in {"MAKELEVEL": "1", "MAKEFLAGS": "n", "PYTHONPATH": "elsewhere"}.items():
        monkeypatch.setenv(name, value)
    git(repository, "tag", "0.1.0")
    # The working tree's Makefile, which would fail, is not used.
    (repository / "Makefile").write_text("book:\n\tfalse\n")
    first = editions.built(repository, "0.1.0", kept)
    assert (first / "index.html").read_text().split() == ["0.1.0", "0"]
    assert editions.built(repository, "0.1.0", kept) == first
    assert log.read_text().split() == ["0.1.0"]
    (repository / "Makefile").write_text(f"# moved\n{MAKEFILE}")
    git(repository, "commit", "--quiet", "--all", "--message", "Another book")
    git(repository, "tag", "--force", "0.1.0")
    moved = editions.built(repository, "0.1.0", kept)
    assert [path.name for path in kept.iterdir()] == [moved.name] != [first.name]
    assert log.read_text().split() == ["0.1.0", "0.1.0"]


def test_a_failed_build_of_a_tag_leaves_no_files(repository: Path, tmp_path: Path) -> None:
    (repository / "Makefile").write_text("book:\n\tfalse\n")
    git(repository, "commit", "--quiet", "--all", "--message", "No book")
    git(repository, "tag", "0.1.0")
    with pytest.raises(subprocess.CalledProcessError):
        editions.built(repository, "0.1.0", tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


def test_a_failed_build_is_reported_in_one_line_with_its_tag(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(editions, "ROOT", repository)
    (repository / "Makefile").write_text("book:\n\tfalse\n")
    git(repository, "commit", "--quiet", "--all", "--message", "No book")
    git(repository, "tag", "0.1.0")
    assert editions.main() == 1
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "edition 0.1.0 was not built: see the messages above\n")
    assert not (repository / "_build" / "public").exists()


def test_the_edition_of_a_tag_is_collected_with_the_site(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LOG", os.devnull)
    monkeypatch.setattr(editions, "ROOT", repository)
    put(repository / "_build/html", "index.html")
    git(repository, "tag", "0.1.0")
    assert editions.main() == 0
    public = repository / "_build/public"
    # Standard output has only the folder: messages of the builds go to standard error.
    assert capfd.readouterr().out == f"{public}\n"
    assert (public / "index.html").read_text() == PAGE
    assert (public / "0.1.0/index.html").read_text().split()[0] == "0.1.0"


def test_setting_an_edition_rebuilds_pages_and_handouts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(build.PYODIDE, "")
    before = build.state(ROOT)["python"], handouts.digest_of(ROOT)
    monkeypatch.setenv("EDITION", "0.1.0")
    after = build.state(ROOT)["python"], handouts.digest_of(ROOT)
    assert [old == new for old, new in zip(before, after, strict=True)] == [False, False]


PAGE = '<body><main id="main-content" class="a"><h1>A page</h1></main></body>'


def put(folder: Path, *names: str, text: str = PAGE) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def collected(tmp_path: Path) -> Path:
    site = put(tmp_path / "site", "index.html")
    old = put(tmp_path / "old", "index.html", "a/b/deep.html", "a/gone.html", "404.html")
    put(old, "slides/deck.html", text="<body>A slide</body>")
    new = put(tmp_path / "new", "index.html", "a/b/deep.html")
    editions.collect(site, {"0.1.0": old, "0.2.0": new}, tmp_path / "public")
    return tmp_path / "public"


def test_each_edition_is_in_its_folder_and_the_site_at_the_top(collected: Path) -> None:
    assert sorted(path.name for path in collected.iterdir()) == ["0.1.0", "0.2.0", "index.html"]
    for name in ("index.html", "0.2.0/index.html", "0.2.0/a/b/deep.html", "0.1.0/404.html"):
        assert (collected / name).read_text() == PAGE
    assert (collected / "0.1.0/slides/deck.html").read_text() == "<body>A slide</body>"


@pytest.mark.parametrize(
    ("name", "address", "words"),
    [
        ("index.html", "../0.2.0/index.html", "The same page in edition 0.2.0, the newest"),
        ("a/b/deep.html", "../../../0.2.0/a/b/deep.html", "The same page in edition 0.2.0"),
        ("a/gone.html", "../../0.2.0/index.html", "edition 0.2.0, the newest, which has no such"),
    ],
)
def test_pages_of_older_editions_link_to_the_newest(
    collected: Path, name: str, address: str, words: str
) -> None:
    text = (collected / "0.1.0" / name).read_text()
    before, _, rest = text.partition("<aside")
    banner, _, after = rest.partition("</aside>")
    assert before + after == PAGE.replace("><h1", ">\n<h1")
    assert "This is edition 0.1.0." in banner
    assert f'<a href="{address}">' in banner
    assert words in banner
    assert (collected / "0.1.0" / name).parent.joinpath(address).resolve().is_file()


def test_without_tags_only_the_site_is_collected(tmp_path: Path) -> None:
    site = put(tmp_path / "site", "index.html")
    put(tmp_path / "public", "left.html")
    editions.collect(site, {}, tmp_path / "public")
    assert [path.name for path in (tmp_path / "public").iterdir()] == ["index.html"]


def test_an_error_while_collecting_keeps_the_old_files(tmp_path: Path) -> None:
    site, public = tmp_path / "html", tmp_path / "public"
    for folder in (site, public):
        folder.mkdir()
        (folder / "index.html").write_text(folder.name)
    with pytest.raises(FileNotFoundError):
        editions.collect(site, {"0.1.0": tmp_path / "missing"}, public)
    with pytest.raises(FileNotFoundError):
        editions.collect(tmp_path / "missing", {}, public)
    assert (public / "index.html").read_text() == "public"
    editions.collect(site, {}, public)
    assert (public / "index.html").read_text() == "html"


def test_an_edition_whose_copying_was_interrupted_is_built_again(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    git(repository, "tag", "0.1.0")
    plain = shutil.copytree

    def stopped(source: Path, target: Path) -> None:
        plain(source, target)
        raise KeyboardInterrupt

    monkeypatch.setattr(shutil, "copytree", stopped)
    with pytest.raises(KeyboardInterrupt):
        editions.built(repository, "0.1.0", tmp_path / "kept")
    monkeypatch.setattr(shutil, "copytree", plain)
    editions.built(repository, "0.1.0", tmp_path / "kept")
    assert (tmp_path / "log").read_text() == "0.1.0\n0.1.0\n"


def test_a_tag_named_like_a_folder_of_the_site_is_refused(tmp_path: Path) -> None:
    site = put(tmp_path / "site", "0.1.0/index.html")
    with pytest.raises(FileExistsError, match=r"'0\.1\.0', and a tag of that name"):
        editions.collect(site, {"0.1.0": site}, tmp_path / "public")


# Browser tests of two editions, served under a path. The newer one lacks a page.


@dataclass(frozen=True)
class Course:
    """Published course with two editions.

    The page `stays` is in both, `goes` only in the older one.
    """

    folder: Path
    stays: str
    goes: str


@pytest.fixture(scope="module")
def of_the_site(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Make both editions from pages of the shared test site."""
    folder = tmp_path_factory.mktemp("of-the-site")
    stays, goes = "chapters/time.html", "chapters/privacy.html"
    old, newest = folder / "old", folder / "newest"
    for edition in (old, newest):
        (edition / "chapters").mkdir(parents=True)
        for name in ("_images", "_static"):
            (edition / name).symlink_to(site / name)
        for name in ("index.html", stays, goes):
            shutil.copy(site / name, edition / name)
    (newest / goes).unlink()
    editions.collect(newest, {"0.1.0": old, "0.2.0": newest}, folder / "public")
    return Course(folder / "public", stays, goes)


@pytest.fixture(scope="module")
def of_two_builds(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Build two small books, each with the settings of its tag's edition."""
    folder = tmp_path_factory.mktemp("of-two-builds")
    found = {}
    for tag, *pages in (("0.1.0", "page", "other"), ("0.2.0", "page")):
        (folder / tag).mkdir()
        book = small_book(folder / tag, *pages)
        set_addresses(book.folder / "_config.yml", "https://example.org/course", "")
        for name in pages:
            book.write(f"\n# A page named {name}\n\nA text.\n", name)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("EDITION", tag)
            done = book.build()
        assert done.returncode == 0, done.stderr
        found[tag] = book.folder / "_build/html"
    editions.collect(found["0.2.0"], found, folder / "public")
    return Course(folder / "public", "chapters/page.html", "chapters/other.html")


@pytest.fixture(
    scope="module", params=["of_the_site", pytest.param("of_two_builds", marks=pytest.mark.long)]
)
def course(request: pytest.FixtureRequest) -> Course:
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def server(course: Course) -> Iterator[Server]:
    with serving(course.folder, "/course") as server:
        yield server


@pytest.mark.long
def test_an_edition_has_its_own_address_and_no_feed_or_sitemap(of_two_builds: Course) -> None:
    for tag in ("0.1.0", "0.2.0"):
        page = (of_two_builds.folder / tag / of_two_builds.stays).read_text(encoding="utf-8")
        own = f"https://example.org/course/{tag}/{of_two_builds.stays}"
        assert f'<link rel="canonical" href="{own}"' in page
        assert not list((of_two_builds.folder / tag).glob("*.xml"))
    assert broken(of_two_builds.folder / "0.2.0", "https://example.org/course/0.2.0") == []
    found = broken(of_two_builds.folder / "0.1.0", "https://example.org/course/0.1.0")
    assert found == [
        f"chapters/{name}.html: <a> ../../0.2.0/{page}: outside of the site"
        for name, page in (("other", "index.html"), ("page", "chapters/page.html"))
    ] + [
        f"{name}.html: <a> ../0.2.0/{name}.html: outside of the site"
        for name in ("genindex", "index", "search")
    ]


@pytest.mark.long
@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_the_banner_is_visible_and_links_to_the_newest_edition(
    browser: Browser, server: Server, course: Course, size: ViewportSize
) -> None:
    desk = size == DESK
    name, leads_to = (course.stays, course.stays) if desk else (course.goes, "index.html")
    context = browser.new_context(viewport=size, color_scheme="light" if desk else "dark")
    traffic = Traffic().listen(context)
    page = context.new_page()
    ready(page, f"{server.origin}/0.1.0/{name}")
    assert page.locator(".edition").inner_text().startswith("This is edition 0.1.0.")
    assert axe(page, ".edition") == []
    assert page.evaluate(SIDEWAYS) <= 0
    page.locator(".edition a").click()
    page.wait_for_url(f"{server.origin}/0.2.0/{leads_to}")
    assert page.locator(".edition").count() == 0
    assert traffic.wrong == []
    context.close()
