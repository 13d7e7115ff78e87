"""The book's build, on small books: what it shows, refuses and recomputes."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
import rendered
from book_extension import pages, values
from bs4 import BeautifulSoup
from docutils.utils import new_document
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from repository import HEADER, ROOT, Book, small_book
from series import series
from site_links import html_files

PAGE = """
# {while}`answer > 8000` A page with {eval}`answer`

```{code-cell} ipython3
answer = 8756
width = 1.5
word = "heard"
```

A reference: {ref}`heading`.

A text {eval}`word`.
Plain: {eval}`answer`, text: {eval}`f"{width:.1f} m"`, over
a line: {eval}`answer +
1`.

| name | value |
|------|-------|
| cell | {eval}`answer + 2` |
| {while}`answer` row | {eval}`answer + 2` |

(heading)=
## {while}`True` A **heading**

- {while}`width
  < 2` An item.

::::{admonition} {while}`True` Title {eval}`answer + 3`
{while}`width > 1`
In a panel {eval}`answer + 4`.

:::{dropdown} Summary {eval}`answer + 5`
Folded {eval}`answer + 6`.
:::
::::

As it stands: `` {eval}`nothing` ``

```text
{eval}`nothing`
```

```{code-cell} ipython3
---
mystnb:
  image: {alt: A line that rises.}
  figure: {caption: "{while}`later > 1` Later {eval}`later`", name: fig-line}
---
import matplotlib.pyplot as plt

later = answer + 7
plt.gca().plot([0, 1], color="#0b5fa5");
```

```{code-cell} ipython3
---
mystnb:
  image: {alt: The same line once more.}
---
plt.gca().plot([0, 1], color="#0b5fa5");
```

The same text, {eval}`word`.
"""


def text_of(html: str) -> str:
    article = html[html.index("<article") : html.index("</article>")]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", article))


CELL = "\n```{code-cell} ipython3\n%s\n```\n"
PLOT = "import matplotlib.pyplot as plt\nplt.gca();"
WARNS = {
    "a cross reference": ("{ref}`nowhere`", "nowhere"),
    "a link to a heading": ("[there](#no-heading)", "no-heading"),
    "a citation": ("{cite}`nobody1900`", "nobody1900"),
    "a name in code": ("{py:func}`no_such_function`", "no_such_function"),
    "an unknown role": ("{rolex}`a`", "rolex"),
    "a figure without a text": (CELL % PLOT, "mystnb.image.alt"),
    "a warning in a cell": (CELL % "import warnings; warnings.warn('odd')", "stderr"),
    "a false premise": ("{while}`1 > 2` A sentence.", "premise {while}`1 > 2` does not hold"),
    "a premise that fails": (
        "{while}`absent` A sentence.",
        "premise {while}`absent` fails with NameError: name 'absent' is not defined",
    ),
    "a premise within a sentence": (
        "Some {while}`2 > 1` words.",
        "{while}`2 > 1` must stand alone",
    ),
    "two premises": ("{while}`True` {while}`3 > 2` Words.", "{while}`3 > 2` must stand alone"),
    "a premise within a row": (
        "| a | b |\n|---|---|\n| c | {while}`4 > 3` d |",
        "{while}`4 > 3` must stand alone",
    ),
}
RAISES = {
    "a cell": (CELL % "ok = 1\n1 / 0", r"chapters/page\.md:16: a cell failed: ZeroDivisionError"),
    "a name": ("\nThis\nis {eval}`nobody`.\n", r"page\.md:16: {eval}`nobody`: NameError"),
    "a value": ("\n{eval}`1 / 3`\n", r"page\.md:15: {eval}`1 / 3`: TypeError: .*format it"),
    "a truth value": ("\n{eval}`1 > 0`\n", r"page\.md:15: .*TypeError: the value is True \(bool\)"),
    "a value that changes": (
        CELL % "n = 1" + "\n{eval}`n`\n" + CELL % "n = 2" + "\nNow {eval}`n`.\n",
        "{eval}`n`: was '1' further up on this page and is '2' here",
    ),
    "a premise that changes": (
        CELL % "n = 1" + "\n{while}`n < 2` A.\n" + CELL % "n = 2" + "\n{while}`n < 2` B.\n",
        r"page\.md:19: {while}`n < 2`: holds further up on this page and does not hold here",
    ),
}


# Tests of one small book, built twice: unchanged, and with a sentence changed.

PEAK = (
    CELL % "import rooflib as rl\nv5e = rl.chip('TPU v5e')"
    + "\n# Peak\n\nPeak {eval}`f\"{v5e.peaks['bf16']:.4g}\"`.\n"
)
STAMP = "\n# Stamp\n" + CELL % "import time\nstamp = f'{time.time_ns()}'" + "\nAt {eval}`stamp`.\n"


@dataclass(frozen=True)
class Built:
    """The output of a build, and the HTML of each page."""

    folder: Path
    printed: str
    html: dict[str, str]


@dataclass(frozen=True)
class Builds:
    first: Built
    another_sentence: Built


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> Builds:
    names = ("works", "page", "maths", "stamp")
    book = small_book(tmp_path_factory.mktemp("book"), *names)

    def built() -> Built:
        run = book.build()
        assert run.returncode == 0, run.stderr
        return Built(book.folder, run.stdout, {name: book.html(name) for name in names})

    # Put the cell above the title: values in a heading must be computed before it.
    top, rest = PAGE.split("\n\n", 1)
    cell, body = re.match(r"(```\{code-cell.*?```\n)(.*)", rest, re.DOTALL).groups()
    book.write(f"\n{cell}{top}\n{body}")
    book.write("\n# Maths\n\n$x^2$\n\n$$y$$\n\n$$z$$ (last)\n\nSee {eq}`last`.\n", "maths")
    book.write(STAMP + "Said by {cite:p}`wulf1995`.\n", "stamp")
    book.write("\n# Works\n\n{cite:t}`williams2009`\n\n```{bibliography}\n```\n", "works")
    first = built()
    another = STAMP.replace("At", "Exactly at") + "Said by {cite:p}`wulf1995,amdahl1967`.\n"
    book.write(another, "stamp")
    return Builds(first, built())


def multiply_bf16_peak(catalog: Path, chip: str, factor: float) -> None:
    figure = re.compile(rf'(name = "{chip}".*?peak\.bf16 = {{ printed = )([\d.e+]+)', re.DOTALL)
    text, found = figure.subn(
        lambda m: f"{m[1]}{factor * float(m[2])}", catalog.read_text(), count=1
    )
    assert found == 1, f"{catalog.name} has no bf16 peak of {chip}"
    catalog.write_text(text)


def test_only_labeled_formulas_are_numbered(builds: Builds) -> None:
    plain, numbered = BeautifulSoup(builds.first.html["maths"], "html.parser")("div", "math")
    assert plain.get_text().split() == ["y"]
    assert numbered.get_text().split() == ["z(1)#"]
    assert "See (1)." in text_of(builds.first.html["maths"])


def test_values_appear_everywhere_in_prose(builds: Builds) -> None:
    index = builds.first.folder / "_build" / "html" / "index.html"
    assert builds.first.printed == f"{index}\n"
    html = builds.first.html["page"]
    seen = text_of(html)
    for expected in (
        "A page with 8,756",
        "Plain: 8,756, text: 1.5 m, over a line: 8,757.",
        "cell 8,758",
        "Title 8,759",
        "In a panel 8,760",
        "Summary 8,761",
        "Folded 8,762",
        "Later 8,763",
        "A text heard.",
        "The same text, heard.",
        # Conditions of {while} roles leave no trace in prose or in a reference to a heading.
        "A reference: A heading.",
        "cell 8,758 row 8,758",
        "An item.",
    ):
        assert expected in seen
    assert seen.count("{eval}`nothing`") == 2
    assert "_page_values" not in html
    assert "while" not in seen
    # Prose with a {while} role but no values has an empty span by which scripts find it.
    plain = re.sub(r"(?<=<h\d) [^>]*", "", html).replace('<span class="premise"></span>', "")
    for begins in ("<h1>A page", "<p>row", "<h2>A <strong>", "<p>An item", "<p>In a panel"):
        assert begins in plain, begins

    figure = re.search(r"<figure[^>]*>(.*?)</figure>", html, re.DOTALL)[1]
    assert 'role="img" aria-label="A line that rises."' in figure
    assert "var(--c-0b5fa5, #0b5fa5)" in figure
    assert "<style" not in figure
    assert "<?xml" not in html
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    # Figures are inside the page, not in image files.
    assert not (index.parent / "_images").exists()


def test_a_site_loads_nothing_from_other_hosts(builds: Builds) -> None:
    site = builds.first.folder / "_build" / "html"
    found = html_files(site)
    assert len(found) >= 5
    for page in found:
        html = page.read_text(encoding="utf-8")
        for address in re.findall(r'<(?:script|link|img|iframe)[^>]*(?:src|href)="([^"]+)"', html):
            assert not address.startswith(("http:", "https:", "//")), (page.name, address)
            local = page.parent / address.split("?")[0].split("#")[0]
            assert local.exists(), (page.name, address)


def test_changed_prose_does_not_rerun_cells(builds: Builds) -> None:
    stamp = re.search(r"At (\d+)", text_of(builds.first.html["stamp"]))[1]
    assert f"Exactly at {stamp}." in text_of(builds.another_sentence.html["stamp"])


def test_a_cited_work_is_listed_once_after_a_rebuild(builds: Builds) -> None:
    # text_of leaves out the tooltips of links, so titles in them aren't counted.
    listed = text_of(builds.another_sentence.html["works"])
    for title in ("Roofline:", "Hitting the", "Validity of"):
        assert listed.count(title) == 1


@pytest.mark.long
def test_a_changed_number_of_the_chip_catalog_appears_in_the_page(book: Book) -> None:
    seen = []
    for factor in (1, 2):
        multiply_bf16_peak(book.folder / "rooflib" / "hardware.toml", "TPU v5e", factor)
        book.page.write_text(HEADER + PEAK, encoding="utf-8")
        assert book.build().returncode == 0
        seen.append(float(re.search(r"Peak (\S+)\.", text_of(book.html()))[1]))
    assert seen[1] == 2 * seen[0]


# What is refused.


@series(1, 2)
def test_every_warning_is_reported_and_the_build_fails_every_time(book: Book, count: int) -> None:
    book.write("\n# Page\n\n" + "\n\n".join(text for text, _ in WARNS.values()) + "\n")
    book.write("\n# A page outside of the contents\n", "stray")
    # Sphinx caches pages and would not repeat its warnings; a second build must still fail.
    for _ in range(count):
        run = book.build()
        assert run.returncode == 1
        for what, (_, message) in WARNS.items():
            assert re.search(f"page\\.md:\\d+: .*{message}", run.stderr), (what, run.stderr)
        assert "stray.md" in run.stderr


@pytest.mark.long
def test_a_failing_page_fails_the_build_and_reports_the_line(book: Book) -> None:
    text, message = RAISES["a name"]
    book.write("\n# Page\n" + text)
    run = book.build()
    assert run.returncode == 1
    assert re.search(message, run.stderr), run.stderr


@pytest.mark.parametrize("what", RAISES)
def test_failing_cells_and_values_are_reported_with_their_line(what: str) -> None:
    """Run each page in a real kernel, as the build does."""
    text, message = RAISES[what]
    page = f"{HEADER}\n# Page\n{text}"
    with pytest.raises(CellExecutionError) as failure:
        NotebookClient(values.read_page(page, []), kernel_name="python3").execute()
    assert re.search(message, pages.where_and_why("chapters/page.md", page, failure.value))


def test_a_page_without_the_header_is_refused() -> None:
    parser = pages.PageParser()
    parser.env = SimpleNamespace(docname="page", doc2path=lambda name, base: f"chapters/{name}.md")
    with pytest.raises(
        pages.PageError, match=r"chapters/page\.md:1: the jupytext header is missing"
    ):
        parser.parse("# Page\n", new_document("chapters/page.md"))


# Tests of the whole book with a changed catalog of chips.

ABOUT = re.compile(r"""v5e\.(ridge\(\)|peaks\[["']bf16)""")


def test_values_in_pages_follow_the_chip_catalog(tmp_path: Path) -> None:
    """Pages that mention this chip's bf16 peak compute it, so they change."""
    shutil.copytree(ROOT / "rooflib", tmp_path / "rooflib")
    multiply_bf16_peak(tmp_path / "rooflib" / "hardware.toml", "TPU v5e", 2)
    about = [
        f"chapters/{page.stem}"
        for page in sorted((ROOT / "chapters").glob("*.md"))
        if ABOUT.search(page.read_text(encoding="utf-8"))
    ]
    assert len(about) > 3
    about = about[::2]  # every second page; a long test builds all
    code = (
        "import json, rendered, sys; print(json.dumps([rendered.parts(p) for p in sys.argv[1:]]))"
    )
    paths = [tmp_path, *(ROOT / name for name in ("kit", "site", "tests/support"))]
    run = subprocess.run(
        [sys.executable, "-c", code, *about],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    for page, changed in zip(about, json.loads(run.stdout.splitlines()[-1]), strict=True):
        assert changed != json.loads(json.dumps(rendered.parts(page))), page


COMPUTED = re.compile(r'<span class="computed">(.*?)</span>', re.DOTALL)


def computed(html: Path) -> dict[str, list[str]]:
    """Return the computed values that each page of a built book shows."""
    found = [html / "index.html", *html.glob("chapters/*.html"), *html.glob("exercises/*/*.html")]
    return {
        p.relative_to(html).as_posix(): COMPUTED.findall(p.read_text(encoding="utf-8"))
        for p in found
    }


@pytest.mark.long
def test_the_whole_book_is_built_with_another_catalog(site: Path, tmp_path: Path) -> None:
    built = ("_build", ".venv", "my-work", ".git", "__pycache__")
    shutil.copytree(ROOT, tmp_path / "book", ignore=shutil.ignore_patterns(*built))
    book = Book(tmp_path / "book")
    # A small change: with twice the peak, {while} conditions would be false and fail the build.
    multiply_bf16_peak(book.folder / "rooflib" / "hardware.toml", "TPU v5e", 1.1)
    run = book.build()
    assert run.returncode == 0, run.stderr
    before, after = computed(site), computed(book.folder / "_build" / "html")
    assert before.keys() == after.keys()
    moved = {page for page in before if before[page] != after[page]}
    assert {
        f"chapters/{page.stem}.html"
        for page in (ROOT / "chapters").glob("*.md")
        if ABOUT.search(page.read_text(encoding="utf-8"))
    } <= moved
