"""The book's build, on small books: what it shows, what it refuses, what it computes anew."""

import re
import shutil
from pathlib import Path

import handouts
import pytest
from repository import ROOT, Book

PAGE = """
# A page with {eval}`answer`

```{code-cell} ipython3
answer = 8756
width = 1.5
```

Plain: {eval}`answer`, text: {eval}`f"{width:.1f} m"`, over
a line: {eval}`answer +
1`.

| name | value |
|------|-------|
| cell | {eval}`answer + 2` |

::::{admonition} Title {eval}`answer + 3`
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
  figure: {caption: "Later {eval}`later`", name: fig-line}
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
"""


def text_of(html: str) -> str:
    article = html[html.index("<article") : html.index("</article>")]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", article))


def test_values_appear_wherever_prose_can_stand(book: Book) -> None:
    # A heading is read before the cell below it, so its value must exist further up.
    top, rest = PAGE.split("\n\n", 1)
    cell, body = re.match(r"(```\{code-cell.*?```\n)(.*)", rest, re.DOTALL).groups()
    book.write(f"\n{cell}{top}\n{body}")
    run = book.build()
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[-1] == str(book.folder / "_build/html/index.html")
    html = book.html()
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
    ):
        assert expected in seen
    assert seen.count("{eval}`nothing`") == 2
    assert "_page_values" not in html

    figure = re.search(r"<figure[^>]*>(.*?)</figure>", html, re.DOTALL)[1]
    assert 'role="img" aria-label="A line that rises."' in figure
    assert "var(--c-0b5fa5, #0b5fa5)" in figure
    assert "<style" not in figure
    assert "<?xml" not in html
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))


def test_a_site_loads_nothing_from_elsewhere(book: Book) -> None:
    book.write("\n# Page\n\n$x^2$\n")
    assert book.build().returncode == 0
    pages = [
        book.folder / "_build/html/index.html",
        *(book.folder / "_build/html/chapters").glob("*"),
    ]
    for page in pages:
        html = page.read_text(encoding="utf-8")
        for address in re.findall(r'<(?:script|link|img|iframe)[^>]*(?:src|href)="([^"]+)"', html):
            assert not address.startswith(("http:", "https:", "//")), (page.name, address)
            local = page.parent / address.split("?")[0].split("#")[0]
            assert local.exists(), (page.name, address)


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
}
RAISES = {
    "a cell": (CELL % "ok = 1\n1 / 0", r"chapters/page\.md:16: a cell failed: ZeroDivisionError"),
    "a name": ("\nThis\nis {eval}`nobody`.\n", r"page\.md:16: {eval}`nobody`: NameError"),
    "a value": ("\n{eval}`1 / 3`\n", r"page\.md:15: {eval}`1 / 3`: TypeError: .*format it"),
    "a value that changes": (
        CELL % "n = 1" + "\n{eval}`n`\n" + CELL % "n = 2" + "\nNow {eval}`n`.\n",
        "{eval}`n`: was '1' further up on this page and is '2' here",
    ),
}


def test_each_warning_fails_the_build_every_time(book: Book) -> None:
    book.write("\n# Page\n\n" + "\n\n".join(text for text, _ in WARNS.values()) + "\n")
    # Sphinx reads a page once and warns once; a second build must not look fine.
    for _ in range(2):
        run = book.build()
        assert run.returncode == 1
        for what, (_, message) in WARNS.items():
            assert re.search(f"page\\.md:\\d+: .*{message}", run.stderr), (what, run.stderr)


@pytest.mark.parametrize("what", RAISES)
def test_a_failing_cell_fails_the_build_and_says_where(book: Book, what: str) -> None:
    text, message = RAISES[what]
    book.write("\n# Page\n" + text)
    run = book.build()
    assert run.returncode == 1
    assert re.search(message, run.stderr), run.stderr


def test_a_page_without_the_header_fails(book: Book) -> None:
    book.page.write_text("# Page\n")
    run = book.build()
    assert run.returncode == 1
    assert "chapters/page.md:1: the jupytext header is missing" in run.stderr


def test_a_page_outside_the_contents_fails(book: Book) -> None:
    book.write("\n# Page\n")
    (book.page.parent / "stray.md").write_text(book.page.read_text())
    run = book.build()
    assert run.returncode == 1
    assert "stray.md" in run.stderr


def test_a_figure_of_the_catalogue_travels_into_the_sentence(book: Book) -> None:
    cell = "import rooflib as rl\nv5e = rl.chip('TPU v5e')"
    book.write(CELL % cell + "\n# Page\n\nPeak {eval}`f\"{v5e.peaks['bf16']:.4g}\"`.\n")
    run = book.build()
    assert run.returncode == 0, run.stderr
    before = float(re.search(r"Peak (\S+)\.", text_of(book.html()))[1])

    double_bf16_peak(book.folder / "rooflib" / "hardware.toml", "TPU v5e")
    run = book.build()
    assert run.returncode == 0, run.stderr
    after = float(re.search(r"Peak (\S+)\.", text_of(book.html()))[1])
    assert after == 2 * before


def double_bf16_peak(catalogue: Path, chip: str) -> None:
    figure = re.compile(rf'(name = "{chip}".*?peak\.bf16 = {{ printed = )([\d.e+]+)', re.DOTALL)
    text, found = figure.subn(lambda m: f"{m[1]}{2 * float(m[2])}", catalogue.read_text(), count=1)
    assert found == 1, f"{catalogue.name} has no bf16 peak of {chip}"
    catalogue.write_text(text)


def test_prose_changes_without_running_the_cells_again(book: Book) -> None:
    text = (
        "\n# Page\n" + CELL % "import time\nstamp = f'{time.time_ns()}'" + "\nAt {eval}`stamp`.\n"
    )
    book.write(text)
    assert book.build().returncode == 0
    first = re.search(r"At (\d+)", text_of(book.html()))[1]
    book.write(text.replace("At", "Exactly at"))
    assert book.build().returncode == 0
    assert f"Exactly at {first}." in text_of(book.html())


COMPUTED = re.compile(r'<span class="computed">(.*?)</span>', re.DOTALL)
PAGES = ("index.md", "chapters", "exercises", "references.bib", "_config.yml", "_toc.yml")


def computed(book: Path) -> dict[str, list[str]]:
    """What each page of a built book shows as a computed value."""
    html = book / "_build" / "html"
    pages = [html / "index.html", *html.glob("chapters/*.html"), *html.glob("exercises/*/*.html")]
    return {p.stem: COMPUTED.findall(p.read_text(encoding="utf-8")) for p in pages}


def test_the_book_builds_and_follows_its_catalogue(site: Path, tmp_path: Path) -> None:
    assert (site / "index.html").is_file()
    changed = Book(tmp_path)
    for name in PAGES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tmp_path / name)
        elif (ROOT / name).exists():
            shutil.copy(ROOT / name, tmp_path)
    for name in ("rooflib", "kit", "site", "grading"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in ("requirements.txt", *handouts.BESIDE):
        shutil.copy(ROOT / name, tmp_path)
    double_bf16_peak(tmp_path / "rooflib" / "hardware.toml", "TPU v5e")
    run = changed.build()
    assert run.returncode == 0, run.stderr

    before, after = computed(ROOT), computed(tmp_path)
    assert before.keys() == after.keys()
    moved = {page for page in before if before[page] != after[page]}
    # Whatever a page says of this chip's bf16 peak is computed, so every such page moves.
    about = {
        page.stem
        for page in (ROOT / "chapters").glob("*.md")
        if re.search(r"""v5e\.(ridge\(\)|peaks\[["']bf16)""", page.read_text(encoding="utf-8"))
    }
    assert about
    assert about <= moved
