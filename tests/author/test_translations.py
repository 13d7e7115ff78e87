"""A translation says what its page says: the same roles, links, formulas, code and numbers."""

import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from book_extension.languages import catalogs
from lab import fresh_course
from parity import differences, style, wrong_terms
from repository import ROOT

ADDED = "A sentence for which there is no translation."
EDITION = ROOT / "locale" / "zh_CN"
FOLDER = catalogs.folder(ROOT, "zh_CN")


def settings(name: str) -> dict[str, Any]:
    return tomllib.loads((EDITION / name).read_text(encoding="utf-8"))


TERMS = {term: words for group in settings("terms.toml").values() for term, words in group.items()}
SAME = settings("edition.toml")["same"]


@pytest.mark.parametrize("name", catalogs.names(FOLDER))
def test_translations_keep_the_parts_the_terms_and_the_style(name: str) -> None:
    """Look at current translations only: missing and outdated ones are shown in English."""
    problems = [
        f"{message.id[:60]}: {problem}"
        for message in catalogs.messages(catalogs.read(FOLDER / f"{name}.po", "zh_CN"))
        if catalogs.is_current(message) and message.id not in SAME
        for english, chinese in [(str(message.id), str(message.string))]
        for problem in (
            *differences(english, chinese),
            *wrong_terms(english, chinese, TERMS),
            *style(chinese),
        )
    ]
    assert problems == []


@pytest.mark.long
def test_a_translator_is_shown_what_a_page_lacks(tmp_path: Path) -> None:
    course = fresh_course(tmp_path / "course")
    page = course / "chapters" / "time.md"
    text, known = (
        page.read_text(encoding="utf-8"),
        catalogs.read(FOLDER / "chapters/time.po", "zh_CN"),
    )
    old = next(
        str(one.id)
        for one in catalogs.messages(known)
        if catalogs.is_current(one) and f"\n\n{one.id}\n\n" in text
    )
    page.write_text(f"{text.replace(old, f'Now: {old}')}\n{ADDED}\n", encoding="utf-8")
    command = ["make", "--silent", "translations", "PAGE=chapters/time"]
    run = subprocess.run(command, cwd=course, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert re.findall("missing: (.*)", run.stdout) == [ADDED]
    # The translation of what has changed a little is kept, to be looked at.
    assert f"outdated: Now: {old[:30]}" in run.stdout
