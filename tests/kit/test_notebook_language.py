"""The language of a notebook, whatever its metadata and cells contain."""

from typing import Any

import pytest

from roofkit.notebook_language import language_of

CASES = 'from roofkit.check import cases\n\ncases("""\npacked\n""", "zh_CN")\n'


def notebook(about: Any, *sources: str | list[str]) -> dict[str, Any]:
    return {"metadata": {"exercise": about}, "cells": [{"source": source} for source in sources]}


@pytest.mark.parametrize("code", ["zh_CN", "de", "fil"])
def test_the_language_is_read_from_the_metadata(code: str) -> None:
    assert language_of({"metadata": {"exercise": {"language": code}}}) == code
    assert language_of(notebook({"language": code}, CASES)) == code


@pytest.mark.parametrize(
    "about",
    [None, {}, ["language"], "zh_CN", {"language": None}]
    + [{"language": code} for code in (7, ["zh_CN"], "zh_cn", "chinese", "../zh_CN", "zh_CN ")],
)
def test_without_valid_metadata_the_language_is_read_from_the_cases_cell(about: Any) -> None:
    assert language_of(notebook(about)) == "en"
    assert language_of(notebook(about, "1 + 1", CASES)) == "zh_CN"
    assert language_of(notebook(about, "\n" + CASES)) == "zh_CN"
    assert language_of(notebook(about, CASES.splitlines(keepends=True))) == "zh_CN"


def test_no_language_is_read_from_other_cells() -> None:
    english = CASES.replace(', "zh_CN"', "")
    other = CASES.replace("roofkit.check", "other.check")
    assert language_of({"cells": []}) == language_of({"metadata": {}}) == "en"
    assert language_of(notebook({}, english, other, "")) == "en"
    assert language_of(notebook({}, english, CASES)) == "zh_CN"
