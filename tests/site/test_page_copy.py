"""A page's copy in JupyterLab: names of blocks, captions, what is left out."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from book_extension.contents import pages
from book_extension.prose import Block
from commands.jupyterlab import signatures
from commands.jupyterlab.page_copy import Book, block_data, converted
from commands.jupyterlab.roles import Links
from commands.jupyterlab.sources import Piece, split_options
from commands.jupyterlab.targets import Target, read_targets
from commands.jupyterlab.works import read_works
from repository import HEADER, ROOT


@pytest.mark.parametrize("count", range(12))
def test_a_block_is_named_by_its_first_words_with_an_ellipsis_if_cut(count: int) -> None:
    words = [f"word-{n}" for n in range(count)]
    text = "{while}`a < 2` {eval}`a`\n" + "\n".join(words)
    begins = block_data(Block(0, text, "a < 2", ("a",), ""), {"a": "one"}, str)["begins"]
    shown, cut, rest = begins.partition(" …")
    assert ["one", *words][: len(shown.split())] == shown.split()
    assert (bool(cut), rest) == (len(shown.split()) <= count, "")


BOOK = Book(ROOT)


def links(**titles: str) -> Any:
    labels = {label: Target("page", label, title) for label, title in titles.items()}
    works = {"one": SimpleNamespace(entry="A work.")}
    return Links(SimpleNamespace(labels=labels, works=works), {}, "page")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("titles", "shown"),
    [
        ({"fig": "Fig. 1.2"}, "**Fig. 1.2.** Slow."),
        ({"fig": ""}, "Slow."),  # figures on a page without a chapter number have none
        ({}, "Slow."),
    ],
)
def test_a_caption_begins_with_its_number(titles: dict[str, str], shown: str) -> None:
    caption = Piece("caption", "{while}`a < 2` Slow.", "fig")
    (piece,) = converted(caption, links(**titles), BOOK)
    assert (piece.kind, piece.text, piece.label) == ("markdown", shown, "fig")
    assert [block.premise for block in piece.prose] == ["a < 2"]


def test_answers_to_guesses_are_left_out_of_a_jupyterlab_copy() -> None:
    answer = ":::{answer} more\n{eval}`a`\n:::\n"
    assert list(converted(Piece("markdown", answer), links(), BOOK)) == []
    both = f"{{while}}`a < 2` Before.\n\n{answer}\n:::{{note}}\nA note.\n:::\nAfter.\n"
    (piece,) = converted(Piece("markdown", both, "here"), links(), BOOK)
    assert piece.text == "Before.\n\n\n:::{note}\nA note.\n:::\nAfter."
    assert (piece.label, [block.premise for block in piece.prose]) == ("here", ["a < 2"])


def test_a_bibliography_becomes_a_cell_for_each_work() -> None:
    text = "Works.\n\n```{bibliography}\n```\n"
    pieces = list(converted(Piece("markdown", text, "works"), links(), BOOK))
    assert [(piece.text, piece.label) for piece in pieces] == [
        ("Works.", "works"),
        ("A work.", "work-one"),
    ]


@pytest.mark.parametrize(
    ("lines", "options", "body"),
    [
        ([], {}, ""),
        ([":a: b\n", ":c:\n"], {"a": "b", "c": ""}, ""),
        ([":a: b\n", "text\n", ":c: d\n"], {"a": "b"}, "text\n:c: d\n"),
    ],
)
def test_options_of_a_directive_end_at_the_first_other_line(
    lines: list[str], options: dict[str, str], body: str
) -> None:
    assert split_options(lines) == (options, body)


def test_a_piece_of_a_page_has_a_title_only_if_it_begins_with_a_heading() -> None:
    titles = [Piece("markdown", text).title for text in ("\n## A title \n\ntext", "text\n# No", "")]
    assert titles == ["A title", "", ""]


# Targets of references: works, pages and figures.

WORKS = """
@misc{none, title={Untitled}}
@misc{one, author={{The Team}}, title={A}, year=2024}
@misc{two, author={van Gogh, Vincent and Monet, Claude}, title={B-c (d)}, year=1880}
@misc{three, author={A, B and C, D and E, F}, title={C}, year=2000}
"""


def test_works_are_cited_by_author_and_year(tmp_path: Path) -> None:
    (tmp_path / "works.bib").write_text(WORKS)
    chinese = {"et al.": "等", "{one} and {other}": "{one} 和 {other}"}
    found = read_works(tmp_path / "works.bib", lambda words: chinese[words])
    assert {key: (work.authors, work.year) for key, work in found.items()} == {
        "none": ("", "n.d."),
        "one": ("The Team", "2024"),
        "two": ("van Gogh 和 Monet", "1880"),
        "three": ("A 等", "2000"),
    }
    assert "B-c (d)" in found["two"].entry


FIGURE = """
```{code-cell} ipython3
---
mystnb:
  figure: {caption: "%s", name: %s}
---
1
```
"""


def test_labels_lead_to_titles_and_to_numbers_of_figures(tmp_path: Path) -> None:
    parts = [{"chapters": [{"file": "start"}, {"file": "gone"}]}]
    parts.append(
        {"caption": "Part", "numbered": True, "chapters": [{"file": "one"}, {"file": "two"}]}
    )
    (tmp_path / "_toc.yml").write_text(json.dumps({"root": "index", "parts": parts}))
    cell = "```{code-cell} ipython3\n1\n```\n"
    first, second = (FIGURE % (words, name) for words, name in (("A", "fig-a"), ("B", "fig-b")))
    (tmp_path / "start.md").write_text(f"{HEADER}\nA text.\n{first.replace('fig-a', 'fig-s')}")
    (tmp_path / "one.md").write_text(
        f"{HEADER}\n{cell}\n# One\n{first}{second}\n(here)=\n## Here\n"
    )
    (tmp_path / "two.md").write_text(f"{HEADER}\n# Two\n\n```{{bibliography}}\n```\n")
    listed = [(page.caption, page.number) for page in pages(tmp_path / "_toc.yml")]
    assert listed == [("", ""), ("", ""), ("Part", "1"), ("Part", "2")]
    found = read_targets(tmp_path, lambda page: lambda words: words.replace("Fig. ", "图 "))
    assert found.titles == {"start": "", "one": "One", "two": "Two"}
    assert {label: (t.page, t.label, t.title) for label, t in found.labels.items()} == {
        "fig-s": ("start", "fig-s", ""),
        "fig-a": ("one", "fig-a", "图 1.1"),
        "fig-b": ("one", "fig-b", "图 1.2"),
        "here": ("one", "here", "Here"),
    }
    assert (found.bibliography, found.works) == ("two", {})
    (tmp_path / "references.bib").write_text(WORKS)
    (tmp_path / "two.md").write_text(f"{HEADER}\n# Two\n")
    found = read_targets(tmp_path, lambda _: str)
    assert (found.bibliography, len(found.works)) == ("", 4)


MODULE = """
LIMIT = 3

def plain(a, b=2): ...

def typed(a: int, *, b: str = "x") -> float: ...

class Chip:
    '''A chip.'''
    name: str
    cores: int = 4
    links: dict = field(default_factory=dict)
    notes: str = field(default="no")
    other: int = field(repr=False)

class Wrong(Exception): ...
"""


def test_names_are_listed_with_their_signatures(tmp_path: Path) -> None:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack/__init__.py").write_text(MODULE)
    (tmp_path / "pack/part.py").write_text("def inner(): ...\n")
    directives = """
.. automodule:: pack
.. autofunction:: plain
.. autofunction:: pack::typed
.. autoclass:: Chip
.. autoexception:: Wrong
.. data:: LIMIT

.. automodule:: pack.part
.. autofunction:: pack.part.inner
.. autofunction:: plain
"""
    assert signatures.as_list(directives, tmp_path).splitlines() == [
        "- `plain(a, b=2)`",
        "- `typed(a: int, *, b: str='x') -> float`",
        "- `Chip(name: str, cores: int = 4, links: dict = dict(), notes: str = 'no', other: int)`",
        "- `Wrong()`",
        "- `LIMIT`",
        "- `pack.part.inner()`",
        "- `plain`",
    ]
