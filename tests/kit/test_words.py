"""Words in the reader's language: the compiled catalogs, and rooflib's tables."""

import gettext
import io
from collections.abc import Iterator
from pathlib import Path

import pytest

import rooflib as rl
from roofkit import words
from rooflib import table

HEADER = 'msgid ""\nmsgstr ""\n"Language: zh_CN\\n"\n"Content-Type: text/plain; charset=utf-8\\n"\n'
CODE = """
msgid "ridge"
msgstr "脊点"

msgid "still English"
msgstr ""
"""
PAGE = """
msgid "ridge"
msgstr "山脊"

msgid "many chips"
msgstr "许多芯片"

#, fuzzy
msgid "few chips"
msgstr "几块"

msgid "see {ref}`here`"
msgstr "见{ref}`这里 <here>`"

msgid "A sentence of a page, which is far too long for a heading or a cell of a table."
msgstr "一句话。"
"""


@pytest.fixture
def compiled(tmp_path: Path) -> gettext.GNUTranslations:
    folder = tmp_path / "zh_CN" / "LC_MESSAGES"
    (folder / "chapters").mkdir(parents=True)
    (folder / "checks.po").write_text(HEADER + CODE, encoding="utf-8")
    (folder / "chapters" / "page.po").write_text(HEADER + PAGE, encoding="utf-8")
    return gettext.GNUTranslations(io.BytesIO(words.compile_catalogs(folder)))


@pytest.fixture
def in_chinese(
    compiled: gettext.GNUTranslations, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    monkeypatch.setattr(words, "translations", lambda _: compiled)
    monkeypatch.setattr(table, "translate", table.translate)
    with words.spoken("en"):
        words.use("zh_CN")
        yield


def test_translations_of_table_words_and_of_code_share_a_compiled_catalog(
    compiled: gettext.GNUTranslations,
) -> None:
    assert compiled.gettext("ridge") == "脊点"
    assert compiled.gettext("many chips") == "许多芯片"
    assert compiled.gettext("still English") == "still English"
    long = "A sentence of a page, which is far too long for a heading or a cell of a table."
    for message in ("few chips", "see {ref}`here`", long):
        assert compiled.gettext(message) == message


def test_catalogs_are_compiled_again_only_if_they_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "zh_CN" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    (folder / "checks.po").write_text(HEADER + CODE, encoding="utf-8")
    monkeypatch.setattr(words, "KEPT", tmp_path / "not there yet" / "kept")
    compiled = words.compile_once(folder)
    assert compiled == words.compile_catalogs(folder)
    with monkeypatch.context() as patch:
        patch.setattr(words, "compile_catalogs", lambda _: pytest.fail("compiled again"))
        assert words.compile_once(folder) == compiled
    (folder / "checks.po").write_text(HEADER + CODE.replace("脊点", "山脊"), encoding="utf-8")
    assert words.compile_once(folder) == words.compile_catalogs(folder) != compiled
    (kept,) = words.KEPT.iterdir()
    assert kept.read_bytes() == words.compile_catalogs(folder)


@pytest.mark.usefixtures("in_chinese")
def test_a_table_shows_headings_and_cells_in_the_language_in_force() -> None:
    shown = rl.Table({"": ["many chips", "other chips"], "ridge": ["1", "20"]})._repr_markdown_()
    assert shown.splitlines() == [
        "|  | 脊点 |",
        "| :-- | --: |",
        "| 许多芯片 | 1 |",
        "| other chips | 20 |",
    ]
    with words.spoken("en"):
        assert (
            "| many chips | 1 |" in rl.Table({"": ["many chips"], "ridge": ["1"]})._repr_markdown_()
        )
