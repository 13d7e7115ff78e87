"""Tests of the Chinese catalogs: nothing lost or added; terms and style."""

import tomllib
from collections.abc import Callable
from typing import Any

import pytest
from babel.messages import Message
from book_extension.languages import catalogs
from parity import differences, style, wrong_terms
from repository import ROOT

EDITION = ROOT / "locale" / "zh_CN"
FOLDER = catalogs.folder(ROOT, "zh_CN")
NAMES = catalogs.names(FOLDER)


def settings(name: str) -> dict[str, Any]:
    return tomllib.loads((EDITION / name).read_text(encoding="utf-8"))


TERMS = {term: words for group in settings("terms.toml").values() for term, words in group.items()}
FINISHED: list[str] = settings("edition.toml")["finished"]
SAME: list[str] = settings("edition.toml")["same"]


def messages(name: str) -> list[Message]:
    return list(catalogs.messages(catalogs.read(FOLDER / f"{name}.po", "zh_CN")))


def problems(name: str, check: Callable[[str, str], list[str]]) -> list[str]:
    """Return the problems that `check` finds in a catalog's current translations."""
    return [
        f"{message.id[:60]}: {problem}"
        for message in messages(name)
        if catalogs.is_current(message) and message.id not in SAME
        for problem in check(str(message.id), str(message.string))
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_translation_keeps_roles_links_formulas_code_and_numbers(name: str) -> None:
    assert problems(name, differences) == []


@pytest.mark.parametrize("name", NAMES)
def test_translations_use_the_terms_and_the_style_of_the_chinese_edition(name: str) -> None:
    assert problems(name, lambda english, chinese: wrong_terms(english, chinese, TERMS)) == []
    assert problems(name, lambda _, chinese: style(chinese)) == []


@pytest.mark.parametrize("name", NAMES)
def test_no_translation_equals_its_source(name: str) -> None:
    assert [m.id for m in messages(name) if m.id == m.string and m.id not in SAME] == []


@pytest.mark.parametrize("name", ["course", "checks", "grading", "lab", "notebooks", *FINISHED])
def test_finished_catalogs_have_no_missing_or_outdated_translations(name: str) -> None:
    state = catalogs.progress(catalogs.read(FOLDER / f"{name}.po", "zh_CN"))
    assert state.total > 10
    assert (state.missing, state.outdated) == ((), ())


@pytest.mark.parametrize(
    ("english", "chinese", "said"),
    [
        ("{eval}`a` of {eval}`b`", "{eval}`b` 中的 {eval}`b`", "roles"),
        ("{while}`a < b` Less.", "少。", "roles"),
        ("see {ref}`there <here>`", "见{ref}`那里 <hier>`", "roles"),
        ("a {term}`chip`", "一块芯片", "roles"),
        ("said {cite:t}`author2020`", "有人说过", "roles"),
        ("[a page](https://a.example/b)", "[页面](https://a.example/c)", "links"),
        ('see <a href="a.html">a</a>', '见 <a href="b.html">甲</a>', "tags"),
        ("$a + b$ bytes", "$a$ 字节", "formulas"),
        ("run `make book`", "运行 `make site`", "code"),
        ("in 2 steps of 3.5", "分两步，每步 3.5", "numbers"),
        ("read in May 2026", "读于 2026 年 6 月", "numbers"),
        ("%d minutes, {hours}", "%d 分钟", "placeholders"),
    ],
)
def test_a_lost_or_changed_role_link_or_number_is_found(
    english: str, chinese: str, said: str
) -> None:
    assert [line.split(":")[0] for line in differences(english, chinese)] == [said]


def test_roles_in_translations_may_have_another_order_and_other_titles() -> None:
    english = "{eval}`a` of the {term}`FLOPs <FLOP>` take {eval}`b`, see {ref}`there <here>`."
    chinese = "见{ref}`这里 <here>`：{eval}`b` 里有 {eval}`a` 的 {term}`FLOP`。"
    assert differences(english, chinese) == []


@pytest.mark.parametrize(
    ("chinese", "said"),
    [
        ("一块 芯片", "a space between Chinese characters"),
        ("芯片,内存", "half-width punctuation"),
        ("一块H100", "no space between Chinese and Latin"),
        ("要{eval}`a` 秒", "no space between Chinese and Latin"),
        ("芯片 ，内存", "a space beside full-width punctuation"),
        ("您的芯片", "您 instead of 你"),
        ("'芯片'", "straight quotes"),
        ("芯片——内存", "a dash"),
    ],
)
def test_a_violation_of_the_chinese_style_is_found(chinese: str, said: str) -> None:
    assert [line.split(": ")[0] for line in style(chinese)] == [said]
    assert style('见<a href="a.html">这里</a>。') == []
    assert style("一块 H100 要 {eval}`a` 秒；见{ref}`这里 <here>`（{cite:p}`b`）。") == []


def test_a_wrong_translation_of_a_term_is_found() -> None:
    terms = {"lower bound": ["下界"]}
    assert wrong_terms("Two lower bounds.", "两个下限。", terms) == ["lower bound: none of 下界"]
    assert wrong_terms("The {term}`lower bound`.", "{term}`下界 <lower bound>`。", terms) == []
    assert wrong_terms("A lower boundary.", "较低的边界。", terms) == []
