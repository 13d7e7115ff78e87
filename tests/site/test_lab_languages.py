"""The language of `make lab`: asked for once, remembered, and that of exercises and titles."""

from pathlib import Path

import pytest
from book_extension.languages import ORIGINAL, chosen
from commands import lab
from nbformat.v4 import new_markdown_cell, new_notebook
from repository import ROOT

CHINESE = chosen("zh_CN")


def test_the_language_is_remembered_until_another_is_asked_for(tmp_path: Path) -> None:
    assert lab.remembered(tmp_path, None) is ORIGINAL
    assert lab.remembered(tmp_path, "zh_CN") is CHINESE
    assert lab.remembered(tmp_path, None) is CHINESE
    assert lab.remembered(tmp_path, "en") is ORIGINAL
    assert lab.remembered(tmp_path, None) is ORIGINAL


def test_an_unknown_language_is_reported_and_not_remembered(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no language xx; there are en, zh_CN"):
        lab.remembered(tmp_path, "xx")
    assert lab.remembered(tmp_path, None) is ORIGINAL


def test_the_language_is_no_option_of_jupyterlab() -> None:
    assert lab.asked(["--language", "zh_CN", "--port=1"]) == ("zh_CN", ["--port=1"])
    assert lab.asked(["--no-browser", "--lang=x"]) == (None, ["--no-browser", "--lang=x"])


def test_exercises_are_those_in_the_language(tmp_path: Path) -> None:
    release = tmp_path / "release"
    assert lab.exercises_in(release, CHINESE) == release
    translated = tmp_path / "release-zh_CN"
    translated.mkdir()
    assert lab.exercises_in(release, CHINESE) == translated
    assert lab.exercises_in(release, ORIGINAL) == release


def test_titles_are_those_of_the_translated_pages() -> None:
    def notebook(title: str) -> object:
        return new_notebook(cells=[new_markdown_cell(f"# {title}\n")])

    pages = {"chapters/intensity": notebook("Arithmetic intensity"), "chapters/api": notebook("A")}
    translate = lab.translation(ROOT, CHINESE, pages)
    assert translate("Arithmetic intensity") == "算术强度"
    assert translate("Exercises") == "练习"
    assert translate("A") == "A"
    original = lab.translation(ROOT, ORIGINAL, pages)
    assert original("Arithmetic intensity") == "Arithmetic intensity"


def test_kernels_inherit_the_language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(lab.os, "environ", {})
    monkeypatch.setattr(lab, "WORK", tmp_path)
    monkeypatch.setattr(lab.handouts, "released", lambda _: tmp_path / "release")
    monkeypatch.setattr(lab, "prepare", lambda *_: lab.Report())
    monkeypatch.setattr(lab.os, "execv", lambda *_: seen.append(lab.os.environ.get(lab.VARIABLE)))
    lab.main([])
    lab.main(["--language=zh_CN"])
    lab.os.environ.clear()
    lab.main([])
    lab.main(["--language=en"])
    lab.os.environ.clear()
    lab.main([])
    assert seen == [None, "zh_CN", "zh_CN", "en", None]
