"""Tests of formulas as MathML: complete, or an error if not convertible."""

import html
import re

import pytest
from book_extension.maths import UnknownFormula, mathml
from bs4 import BeautifulSoup, Tag


def math(tex: str, display: str = "block") -> Tag:
    found = BeautifulSoup(mathml(tex, display), "html.parser").math
    assert found
    return found


def letters(tag: Tag) -> str:
    return re.sub(r"\s", "", tag.get_text())


def rows(tag: Tag) -> list[list[str]]:
    return [[letters(cell) for cell in row.find_all("mtd")] for row in tag.find_all("mtr")]


def test_fractions_indices_and_roots_become_elements() -> None:
    found = math(r"T_\text{math} \ge \frac{2BDF}{C} + \sqrt{N}")
    assert letters(found) == "Tmath≥2BDFC+N"
    assert [letters(part) for part in found.mfrac.find_all("mrow", recursive=False)] == [
        "2BDF",
        "C",
    ]
    assert letters(found.msub) == "Tmath"
    assert letters(found.msqrt) == "N"


@pytest.mark.parametrize("display", ["inline", "block"])
def test_the_display_attribute_is_inline_or_block(display: str) -> None:
    assert math("x", display)["display"] == display


def test_aligned_rows_have_two_columns() -> None:
    found = math("\\begin{aligned}\nI &= 2 \\\\[0.8em]\n&> 3\n\\end{aligned}")
    assert rows(found) == [["I", "=2"], ["", ">3"]]


@pytest.mark.parametrize(
    "tex", [r"\begin{gathered} a = 1 \\[2ex] b = 2 \end{gathered}", r"a = 1 \\ b = 2"]
)
def test_formula_rows_without_alignment_are_kept(tex: str) -> None:
    assert ["".join(cells) for cells in rows(math(tex))] == ["a=1", "b=2"]


def test_html_special_characters_are_escaped() -> None:
    made = mathml("a < b", "inline")
    assert "&lt;" in made or "&#x0003C;" in made
    assert letters(math("a < b")) == "a<b"
    assert html.unescape(made).count("<mi>") == 2


@pytest.mark.parametrize("tex", [r"\unheardof{x}", r"a &= b"])
def test_formulas_that_cannot_be_converted_are_named(tex: str) -> None:
    with pytest.raises(UnknownFormula, match=re.escape(repr(tex))):
        mathml(tex, "inline")
