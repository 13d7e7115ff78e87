"""A page's copy in JupyterLab: names of blocks, captions, what is left out."""

from types import SimpleNamespace
from typing import Any

import pytest
from book_extension.prose import Block
from commands.jupyterlab.page_copy import Book, block_data, converted
from commands.jupyterlab.roles import Links
from commands.jupyterlab.sources import Piece, split_options
from commands.jupyterlab.targets import Target
from repository import ROOT


@pytest.mark.parametrize("count", range(12))
def test_a_block_is_named_by_its_first_words_and_marked_if_they_are_not_all(count: int) -> None:
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
        ({"fig": ""}, "Slow."),  # on a page without a number
        ({}, "Slow."),
    ],
)
def test_a_caption_begins_with_its_number(titles: dict[str, str], shown: str) -> None:
    caption = Piece("caption", "{while}`a < 2` Slow.", "fig")
    (piece,) = converted(caption, links(**titles), BOOK)
    assert (piece.kind, piece.text, piece.label) == ("markdown", shown, "fig")
    assert [block.premise for block in piece.prose] == ["a < 2"]


def test_what_only_the_site_has_is_left_out_of_a_copy() -> None:
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
def test_options_come_before_the_body(lines: list[str], options: dict[str, str], body: str) -> None:
    assert split_options(lines) == (options, body)


def test_only_a_heading_gives_a_piece_a_title() -> None:
    titles = [Piece("markdown", text).title for text in ("\n## A title \n\ntext", "text\n# No", "")]
    assert titles == ["A title", "", ""]
