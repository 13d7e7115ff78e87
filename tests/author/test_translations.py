"""A translation says what its page says: the same roles, links, formulas, code and numbers."""

import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from babel.messages import Catalog
from book_extension.contents import languages
from book_extension.languages import catalogs
from lab import fresh_course
from parity import differences, wrong_terms
from repository import ROOT

ADDED = "A sentence for which there is no translation."
WRITTEN, CHANGED = "Think of a factory. It can be slow", "Imagine a factory. It can be slow"
EDITION = ROOT / "locale" / "zh_CN"
FOLDER = catalogs.folder(ROOT, "zh_CN")


def settings(name: str) -> dict[str, Any]:
    return tomllib.loads((EDITION / name).read_text(encoding="utf-8"))


TERMS = {term: words for group in settings("terms.toml").values() for term, words in group.items()}
SAME = settings("edition.toml")["same"]
PAGES = {path.relative_to(ROOT).with_suffix("").as_posix() for path in ROOT.glob("*/*.*")}


@pytest.mark.parametrize("name", catalogs.names(FOLDER))
def test_translations_keep_the_parts_and_the_terms(name: str) -> None:
    """Look at current translations only: missing and outdated ones are shown in English."""
    problems = [
        f"{message.id[:60]}: {problem}"
        for message in catalogs.messages(catalogs.read(FOLDER / f"{name}.po", "zh_CN"))
        if catalogs.is_current(message) and message.id not in SAME
        for english, chinese in [(str(message.id), str(message.string))]
        for problem in (
            *differences(english, chinese),
            *wrong_terms(english, chinese, TERMS),
            # Of a page, the names of works stay English; test_every_page.py looks for sentences.
            *(["English"] if english == chinese and name not in PAGES else ()),
        )
    ]
    assert problems == []


def test_links_to_the_previous_and_the_next_page_are_not_exchanged() -> None:
    found = catalogs.messages(catalogs.read(FOLDER / "course.po", "zh_CN"))
    frame = {str(one.id): str(one.string) for one in found}
    assert re.search("[上前]", frame["previous"])
    assert re.search("[下后]", frame["next"])


def test_a_changed_message_keeps_its_translation_beside_its_old_english(tmp_path: Path) -> None:
    """It is outdated until somebody deletes the mark; and a message that has gone is gone."""
    file, said = tmp_path / "page.po", {WRITTEN: "工厂", "A roof.": "屋顶", "Gone.": "没了"}
    old = catalogs.merged(Catalog(locale="zh_CN"), said, "zh_CN")
    for message in catalogs.messages(old):
        message.string = said[str(message.id)]
    for english in ([CHANGED, "A roof.", ADDED], [CHANGED, "A roof.", ADDED], ["A roof.", WRITTEN]):
        catalogs.write(catalogs.merged(old, english, "zh_CN"), file)
        old = catalogs.read(file, "zh_CN")
        found = {
            one.id: (one.string, catalogs.is_current(one), catalogs.previous(one))
            for one in catalogs.messages(old)
        }
        assert list(found) == english
        assert found["A roof."] == ("屋顶", True, "")
        if ADDED in english:
            assert found[CHANGED] == ("工厂", False, WRITTEN)
            assert found[ADDED][:2] == ("", False)
    assert found[WRITTEN][:2] == ("工厂", True), "as it was"


def test_a_language_that_is_not_published_is_built_when_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, published in (("de", "false"), ("zh_CN", "true")):
        (tmp_path / "locale" / name / "LC_MESSAGES").mkdir(parents=True)
        (tmp_path / "locale" / name / "edition.toml").write_text(f"published = {published}")
    built = []
    for asked in ("", "1"):
        monkeypatch.setenv("TRANSLATIONS", asked)
        built.append(languages(tmp_path))
    assert built == [["zh_CN"], ["de", "zh_CN"]]


@pytest.mark.long
def test_a_translator_is_shown_what_is_left_and_from_which_english(tmp_path: Path) -> None:
    """What was left before the test's own change fails it, too: at night and before a release."""
    course = fresh_course(tmp_path / "course")
    command = ["make", "--silent", "translations", "COMPLETE=1"]
    run = subprocess.run(command, cwd=course, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    page = course / "chapters" / "time.md"
    text = page.read_text(encoding="utf-8")
    assert WRITTEN in text
    text = text.replace(WRITTEN, CHANGED)
    page.write_text(f"{text}\n{ADDED}\n", encoding="utf-8")
    other = course / "index.md"
    other.write_text(f"{other.read_text(encoding='utf-8')}\n{ADDED}\n", encoding="utf-8")
    command += ["PAGE=chapters/time"]  # of this page alone
    run = subprocess.run(command, cwd=course, capture_output=True, text=True, check=False)
    assert run.returncode != 0
    assert re.findall(r"time.po:\d+: outdated\n  - .*(?:\n  \+ ).*", run.stdout)
    shown = re.findall(r"^  ([-+]) (.*)$", run.stdout, re.MULTILINE)
    assert [mark for mark, _ in shown] == ["-", "+", "+"]
    for part, (_mark, english) in zip((WRITTEN, CHANGED, ADDED), shown, strict=True):
        assert part in english
