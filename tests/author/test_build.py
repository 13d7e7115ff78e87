"""An author writes a page and builds the book: what is shown, what is refused, and where."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pypdf import PdfReader
from repository import HEADER, ROOT, Book, small_book
from series import in_part

CELL = "\n```{code-cell} ipython3\n%s\n```\n"
CAPTION = (
    "---\nmystnb:\n  image: {alt: A line.}\n  figure: {name: fig-x, caption: At 12 TB/s.}\n---\n"
)
GUESS = ":::{admonition} Your guess\n:class: tip\nHow long does it take?\n:::\n"
WORK = "@misc{{work, author = {{Doe, Jane}}, title = {{Rates}}, year = {{{}}}}}"
PLOT = "import matplotlib.pyplot as plt\nplt.gca();"

# What an author writes → what the build says after the page's name and the line.
MISTAKES = {
    "a reference to nothing": ("{ref}`nowhere`", "nowhere"),
    "a dead link to a heading": ("[there](#no-heading)", "no-heading"),
    "a dead link to a page": ("[there](no-page.md)", "no-page"),
    "a citation of nobody": ("{cite}`nobody1900`", "nobody1900"),
    "a name that rooflib lacks": ("{py:func}`no_such_function`", "no_such_function"),
    "an unknown role": ("{rolex}`a`", "rolex"),
    "a figure without a text": (CELL % PLOT, "mystnb.image.alt"),
    "a warning in a cell": (CELL % "import warnings; warnings.warn('odd')", "stderr"),
    "a number typed by hand": ("It takes 3.35 ms.", "3.35"),
    "a number typed in a table": ("| chip | ridge |\n|---|---|\n| v5e | 241 |", "241"),
    "a number typed in a formula": ("It is $D > 8756$.", "8756"),
    "a number typed in a caption": (CELL % (CAPTION + PLOT), "12"),
    "a guess that nobody can give": (GUESS, "answer"),
}
# Pages that end the build → what it says after the page's name and the line.
FAILURES = [
    pytest.param(
        f"{HEADER}\n# Page\n" + CELL % "ok = 1\n1 / 0", "ZeroDivisionError", id="a cell that raises"
    ),
    pytest.param(
        f"{HEADER}\n# Page\n\nThis\nis {{eval}}`nobody`.\n", "NameError", id="an unknown value"
    ),
    pytest.param("# Page\n", "the jupytext header is missing", id="no header"),
]
# Text without a number that a cell should compute.
HONEST = """\
It takes {eval}`f"{t * 1e3:.2f} ms"` on a TPU v5e in bf16 or on an H100, as `x = 5` does.

1. See chapter 4 or [the rows](https://example.org/14).
2. $\\frac{2BF}{W}$ and $x_3 = y^{12}$.
"""


DECK = """
# A deck

Some words.

:::{speaker}
:minutes: 50
Say this.
:::

## More

:::{speaker}
:minutes: 15
Say that.
:::
"""


def build(book: Book, **pages: str) -> str:
    """Write pages and build the book; return what it says of mistakes, "" if there are none.

    Where there are none, its last line is the path of the first page.
    """
    for name, text in pages.items():
        book.write(f"\n# {name.capitalize()}\n{text}", name)
    run = book.build()
    assert bool(run.stderr) == bool(run.returncode), run.stderr
    if not run.returncode:
        assert Path(run.stdout.splitlines()[-1]).samefile(book.folder / "_build/html/index.html")
    return run.stderr


def printed(book: Book) -> PdfReader:
    """Print a built book, as `make pdf` does."""
    shutil.copy(ROOT / "CITATION.cff", book.folder)
    command = [sys.executable, str(ROOT / "site"), "pdf", str(book.folder)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return PdfReader(run.stdout.strip())


def test_a_mistake_stops_the_build_and_the_page_and_the_line_are_named(tmp_path: Path) -> None:
    book = small_book(tmp_path)
    said = build(book, page="\n" + "\n\n".join(text for text, _ in MISTAKES.values()) + "\n")
    for what, (_, message) in MISTAKES.items():
        assert re.search(rf"page\.md:\d+: .*{re.escape(message)}", said), (what, said)
    # Sphinx keeps what it read, and must not forget what was wrong with it.
    assert build(book)


@pytest.mark.parametrize(("text", "message"), in_part(FAILURES))
def test_a_page_that_cannot_be_read_or_run_ends_the_build(
    tmp_path: Path, text: str, message: str
) -> None:
    book = small_book(tmp_path)
    book.page.write_text(text, encoding="utf-8")
    said = book.build().stderr
    assert re.search(rf"page\.md:\d+: .*{message}", said), said


def test_an_honest_page_builds_and_what_changes_is_built_again_and_nothing_else(
    tmp_path: Path,
) -> None:
    book, deck = small_book(tmp_path, "one", "two"), tmp_path / "slides" / "roofline.md"
    toc = book.folder / "_toc.yml"
    toc.write_text(toc.read_text().replace("Book\n", "Book\n    numbered: true\n"))
    home = "\n# A small book\n\n```{cards}\n```\n\n```{bibliography}\n```\n"
    (book.folder / "index.md").write_text(HEADER + home)
    deck.parent.mkdir()
    deck.write_text(HEADER + DECK, encoding="utf-8")
    figure = (
        "```{code-cell} ipython3\n---\nmystnb:\n  image: {alt: A line.}\n---\n" + PLOT + "\n```\n"
    )
    one = CELL % "import rooflib as rl\nt, peak = 1e-3, rl.chip('TPU v5e')['bf16']"
    one += HONEST + 'Peak {eval}`f"{peak / 1e12:.0f}"`.\n' + figure
    one += "\nSo says {cite:t}`work`.\n"
    two = CELL % "import time\nnow = f'{time.time_ns()}'" + "\nAt {eval}`now`.\n"
    works = book.folder / "references.bib"
    works.write_text(WORK.format(1998), encoding="utf-8")
    assert build(book, one=one, two=two) == ""
    assert "1.00 ms" in book.html("one")
    html = book.folder / "_build" / "html"
    shown = (html / "slides" / "roofline.html").read_text(encoding="utf-8")
    # The notes say until when.
    assert "Some words" in shown
    assert "0:50" in shown
    assert "1:05" in shown
    first = {path: path.stat().st_mtime_ns for path in html.rglob("*") if path.is_file()}
    assert not [path for path in first if "pyodide" in path.name], "PAGE_PYTHON=0 asks for none"
    assert build(book) == ""
    assert first == {path: path.stat().st_mtime_ns for path in html.rglob("*") if path.is_file()}
    # On paper the contents name the page on which each chapter begins.
    paper = printed(book)
    for mark in paper.outline[-2:]:
        number = paper.get_destination_page_number(mark) + 1
        assert re.search(rf"{mark.title}\W*{number}\b", paper.pages[1].extract_text()), mark
    assert build(book) == ""
    moment = re.search(r"\d{18,}", book.html("two"))
    assert moment
    # A slide alone is built again, too.
    deck.write_text(HEADER + DECK.replace("Some words", "Other words"), encoding="utf-8")
    assert build(book) == ""
    assert "Other words" in (html / "slides" / "roofline.html").read_text(encoding="utf-8")
    # Another sentence writes its page again, but runs no cell again; and another year of a work
    # writes all pages that cite it.
    works.write_text(WORK.format(1999), encoding="utf-8")
    asking = HEADER.replace("---\n", "---\nquestion: How so?\n", 1) + "\n# Two\n" + two
    (book.folder / "chapters" / "two.md").write_text(asking.replace("At", "Exactly at"))
    assert build(book) == ""
    shown = (html / "index.html").read_text(encoding="utf-8")
    assert "How so?" in shown
    assert "Exactly at" in book.html("two")
    assert moment[0] in book.html("two")
    for page in (shown, book.html("one")):
        assert "1999" in page
        assert "1998" not in page
    # A page or a language that has gone leaves nothing behind; a chip with another peak changes
    # the others.
    (book.folder / "chapters" / "two.md").unlink()
    (html / "zh").mkdir()
    toc.write_text(toc.read_text().replace("      - file: chapters/two\n", ""))
    catalog = book.folder / "rooflib" / "chips.toml"
    figure_of = re.compile(r'(name = "TPU v5e".*?peak\.bf16 = \{ printed = )197', re.DOTALL)
    catalog.write_text(
        figure_of.sub(r"\g<1>394", catalog.read_text(encoding="utf-8"), count=1), encoding="utf-8"
    )
    assert re.search(r"Peak\s*(?:<[^>]*>)*197\b", book.html("one"))
    assert build(book) == ""
    assert not (html / "chapters" / "two.html").exists()
    assert not (html / "zh").exists()
    assert re.search(r"Peak\s*(?:<[^>]*>)*394\b", book.html("one"))


def test_drawings_that_changed_came_or_went_are_shown(tmp_path: Path) -> None:
    figure = '<svg class="figure">{}</svg>'
    for name, kinds in {"old": "abcd", "new": "axc"}.items():
        for style in ("palette.css", "course.css"):
            (tmp_path / name / "_static").mkdir(parents=True, exist_ok=True)
            (tmp_path / name / "_static" / style).touch()
        (tmp_path / name / "page.html").write_text("".join(map(figure.format, kinds)))
    command = [sys.executable, str(ROOT / "site"), "drawings", "old", "new", "page.html"]
    subprocess.run(command, cwd=tmp_path, check=True)
    shown = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert re.findall(r"figure&quot;&gt;(.)&lt;", shown) == ["b", "x", "d"]
