"""Tests of the checks' words in another language: sentences and line breaks."""

import textwrap
from collections.abc import Iterator
from typing import Any

import pytest

import roofkit.check
from grading.release.embedding import data
from roofkit.check import CheckFailed, cases, check
from roofkit.check.answers import Answer
from roofkit.check.findings import Findings, number_pairs
from roofkit.check.messages import sentence
from roofkit.check.packing import pack
from roofkit.check.wording import columns, joined, listed, returned, series, tight, wrapped
from roofkit.words import spoken

NAME = "int8-matmul"
CHINESE = "zh_CN"
TEXT = "这一对里两个值都对，但顺序反了（见 `bytes_moved`）。" * 6


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    for kept in ("_failed", "_wrong", "_right", "_passed", "_published", "_languages"):
        monkeypatch.setattr(roofkit.check, kept, type(getattr(roofkit.check, kept))())


@pytest.fixture
def chinese() -> Iterator[None]:
    with spoken(CHINESE):
        yield


def failed(part: str, function: object) -> str:
    with pytest.raises(CheckFailed) as error:
        check(part, function)
    return str(error.value)


def test_messages_are_in_the_language_of_the_notebook(capsys: pytest.CaptureFixture[str]) -> None:
    with spoken(CHINESE):
        packed = data(NAME)
    cases(packed, CHINESE)
    assert failed("operations", lambda B, D, F: B * D * F).startswith("operations：还不对")
    check("operations", lambda B, D, F: 2 * B * D * F)
    assert capsys.readouterr().out.startswith("operations：正确")
    check.hint("operations")
    assert capsys.readouterr().out.startswith("operations：取一个输出元素。")
    with pytest.raises(CheckFailed, match="请先运行所有小题的检查"):
        check.thoughts()


def test_messages_without_published_cases_are_in_the_language_in_force(
    capsys: pytest.CaptureFixture[str], chinese: None
) -> None:
    check.thoughts()
    assert capsys.readouterr().out.startswith("这个练习没有可以对照的内容")
    check.solution()
    assert capsys.readouterr().out.startswith("课程的这份副本里没有解法")


def test_messages_of_a_notebook_without_a_language_use_the_one_in_force() -> None:
    cases(data(NAME))
    wrong = "A multiply-add is counted as one operation"
    assert wrong in failed("operations", lambda B, D, F: B * D * F)
    with spoken(CHINESE):
        said = failed("operations", lambda B, D, F: B * D * F)
    assert "一次乘加算成了一次运算" in said
    assert wrong not in said


def test_changed_data_are_reported_in_the_language_of_the_notebook() -> None:
    with pytest.raises(CheckFailed, match="检查用的数据改动过"):
        cases("changed", CHINESE)
    with pytest.raises(CheckFailed, match="the data of this check were changed"):
        cases("changed")


def test_a_language_without_a_catalog_is_english() -> None:
    cases(pack({"part": {"hint": "Think."}}), "xx")
    with pytest.raises(CheckFailed, match=r"First run the checks of all parts. Left: part\."):
        check.solution()


@pytest.mark.usefixtures("chinese")
def test_chinese_lines_fit_and_break_only_where_allowed() -> None:
    lines = wrapped(TEXT, 40).split("\n")
    assert "".join(lines).replace(" ", "") == TEXT.replace(" ", "")
    assert max(map(columns, lines)) <= 42  # punctuation may stick out
    assert min(map(columns, lines[:-1])) > 20
    assert not any(line.startswith(tuple("，。；：？！、）”")) for line in lines)
    assert not any(line.endswith(tuple("（“")) for line in lines)
    assert all(line.count("`") % 2 == 0 for line in lines)


def test_english_lines_are_wrapped_like_textwrap_does() -> None:
    text = "The two values of the pair are the right ones in the wrong order. " * 4
    assert wrapped(text) == textwrap.fill(text, 80, break_on_hyphens=False)
    assert tight("一 二") == "一 二"
    assert not any(line.endswith("-") for line in wrapped("a-bcdefghij " * 20).split("\n"))


def test_chinese_characters_and_punctuation_take_two_columns() -> None:
    assert [columns(text) for text in ("ab", "一二", "，", "B 一")] == [2, 4, 2, 4]


@pytest.mark.usefixtures("chinese")
def test_spaces_between_chinese_characters_are_removed() -> None:
    assert tight("是 一个数 吗？ 对 B = 2，值 3 和 一。") == "是一个数吗？对 B = 2，值 3 和一。"


@pytest.mark.usefixtures("chinese")
def test_names_and_sentences_are_joined_with_chinese_punctuation() -> None:
    assert listed(["A", "B"]) == "A 和 B"
    assert listed(["A", "B", "C"]) == "A、B 和 C"
    assert listed(["A", "B", "C", "D"]) == "A、B、C 等，另外还有 1 个"
    assert series(["A = 1, B = 2", "A = 2, B = 3"]) == "A = 1, B = 2；A = 2, B = 3"
    assert joined(["一。", "二。"]) == "一。二。"
    assert returned({}) == "一个空字典"


@pytest.mark.usefixtures("chinese")
def test_messages_about_problems_end_with_one_full_stop() -> None:
    assert sentence("nan", "", 1.0) == "函数返回了 nan，不是一个数。"
    assert sentence("raised", "KeyError: 'B'", 1.0) == "函数出错停止：KeyError: 'B'。"
    said = sentence("wrong-length", "", [1.0, 2.0])
    assert said == "函数返回的值个数不对。请返回一对数：元组、列表或一维数组。"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([1.0, 3.0], "you returned 1 and 3, which is not it (the first)."),
        ([2.0, 4.0], "you returned 2 and 4, which is not it (the second)."),
        ([1.0, 4.0], "you returned 1 and 4, which is not it (neither of the two)."),
    ],
)
def test_the_wrong_one_of_two_returned_numbers_is_pointed_out(
    value: list[float], said: str
) -> None:
    found = Findings([Answer(value=value)], [[2.0, 3.0]], [False], [{"B": 5}], 1e-9)
    assert next(found.sentences(private=True)) == f"For B = 5 {said}"


def test_findings_are_about_names_if_all_expected_values_are_names() -> None:
    for expected, names in (([["Ash"], []], True), ([[1.5], []], False)):
        assert Findings([], expected, [], [], 1e-9).names == names


@pytest.mark.parametrize(
    ("value", "pairs"),
    [
        ([1, {"a": 2, "b": [3]}], [(1, 10), (2, 20), (3, 30)]),
        ([1, {"a": "two", "b": [3]}], [(1, 10), (3, 30)]),
        ([1, {"a": 2}], [(1, 10)]),
        ([1], []),
    ],
)
def test_returned_numbers_are_paired_with_the_expected_numbers(
    value: Any, pairs: list[Any]
) -> None:
    assert list(number_pairs(value, [10, {"a": 20, "b": [30]}])) == pairs
