"""A copy of the course that is put on the web: addresses, links to its sources, editions."""

import re
import shutil
import subprocess
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit
from xml.etree import ElementTree

import pytest
from learner import solutions
from repository import ROOT, Book, set_addresses, small_book
from site_links import broken, html_files, parsed

SITE, REPOSITORY = "https://example.org/course", "https://github.com/example/course"
PAGE = "\n# A page\n\n```{code-cell} ipython3\n1 + 1\n```\n\n"
PAGE += "(place)=\n## A section\n\n{ref}`place`, {doc}`/index`, {repository}`a copy <README.md>`\n"


def book_at(folder: Path, site: str, repository: str = REPOSITORY) -> Book:
    folder.mkdir()
    book = small_book(folder)
    book.write(PAGE)
    set_addresses(folder / "_config.yml", site, repository)
    return book


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Book:
    book = book_at(tmp_path_factory.mktemp("published") / "book", SITE)
    (book.folder / "locale" / "zh_CN" / "LC_MESSAGES").mkdir(parents=True)
    done = book.build()
    assert done.returncode == 0, done.stderr
    return book


def links_of(book: Book, name: str = "chapters/page") -> dict[str, str]:
    page = parsed(book.folder / "_build" / "html" / f"{name}.html")
    return {str(a["data-kind"]): str(a["href"]) for a in page.select(".page-links a")}


def test_pages_know_their_address_and_every_link_resolves(published: Book) -> None:
    top = published.folder / "_build" / "html"
    assert broken(top, SITE) == []
    for path in html_files(top):
        name, page = path.relative_to(top).as_posix(), parsed(path)
        canonical = [link["href"] for link in page.select("link[rel=canonical]")]
        assert canonical == ([] if name == "404.html" else [f"{SITE}/{name}"])
    listed = {entry[0].text for entry in ElementTree.parse(top / "sitemap.xml").getroot()}
    for name in ("index.html", "chapters/page.html", "zh/index.html", "zh/chapters/page.html"):
        page = parsed(top / name)
        assert [told["content"] for told in page.select("[property='og:url']")] == [
            f"{SITE}/{name}"
        ]
        others = {str(link["hreflang"]): link["href"] for link in page.select("link[hreflang]")}
        own = name.removeprefix("zh/")
        assert others == {"en": f"{SITE}/{own}", "zh-CN": f"{SITE}/zh/{own}"}
        assert f"{SITE}/{name}" in listed


def test_a_page_leads_to_its_notebook_its_source_and_a_report_of_mistakes(published: Book) -> None:
    top = published.folder / "_build" / "html"
    for folder in ("", "zh/"):
        page = f"{folder}chapters/page"
        links = links_of(published, page)
        opened = f"{SITE}/{page}.ipynb"
        assert unquote(urlsplit(links["colab"]).fragment) == f"fileId={opened}"
        assert links["source"] == f"{REPOSITORY}/blob/main/chapters/page.md"
        assert links["edit"] == f"{REPOSITORY}/edit/main/chapters/page.md"
        binder = urlsplit(links["binder"])
        assert binder.path == "/v2/gh/example/course/main"
        assert parse_qs(binder.query)["urlpath"] == ["lab/tree/chapters/0-page.ipynb"]
        text = (top / f"{page}.ipynb").read_text(encoding="utf-8")
        assert f"({SITE}/{page}.html#place)" in text
        assert f"({SITE}/{folder}index.html)" in text
        in_text = [a["href"] for a in parsed(top / f"{page}.html").select("article a[href]")]
        assert f"{REPOSITORY}/blob/main/README.md" in in_text
        asked = parse_qs(urlsplit(links["report"]).query)
        assert f"{SITE}/{page}.html" in asked["body"][0]


def test_an_address_that_is_none_stops_the_next_build(published: Book, tmp_path: Path) -> None:
    book = Book(shutil.copytree(published.folder, tmp_path / "book"))
    config = book.folder / "_config.yml"
    config.write_text(config.read_text(encoding="utf-8").replace(SITE, "here"), encoding="utf-8")
    done = book.build()
    assert done.returncode == 1
    assert re.search(r"html\.baseurl in _config\.yml is 'here'; allowed is", done.stderr)


@pytest.mark.long
def test_a_tag_keeps_its_edition_beside_the_newest_site(tmp_path: Path) -> None:
    clone = tmp_path / "course"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    subprocess.run(["git", "tag", "0.0.1"], cwd=clone, check=True)
    home = clone / "index.md"
    home.write_text(f"{home.read_text(encoding='utf-8')}\nNewer than the tag.\n", encoding="utf-8")
    for step in ("make", "book"), ("env", "SOLUTIONS=1", ".ci/editions"):
        done = subprocess.run(step, cwd=clone, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-3000:]
    public = clone / "_build" / "public"
    newest, edition = (
        (folder / "index.html").read_text(encoding="utf-8") for folder in (public, public / "0.0.1")
    )
    assert "Newer than the tag." in newest
    assert "Newer than the tag." not in edition
    # Solutions are shown on demand only.
    name, here = "attention", []
    lines = re.findall("^ *(return .*)$", "\n".join(solutions(name).values()), re.MULTILINE)
    for folder in (public, public / "0.0.1"):
        text = parsed(folder / "exercises" / f"{name}.html").get_text()
        here.append({line in text for line in lines})
    assert here == [{False}, {True}]
