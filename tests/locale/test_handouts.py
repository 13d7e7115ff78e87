"""Pages in another language lead to the exercises' notebooks in that language."""

import json
import re
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from book_extension.languages import markdown
from book_extension.languages.handouts import link_translated
from commands import handouts
from commands.handouts import wheels
from docutils import nodes
from repository import ROOT
from sphinx.addnodes import download_reference

HERE = "exercises/one/one"
RELEASED = "../../_build/course/release/one/one.ipynb"
TRANSLATED = "../../_build/course/release-zh_CN/one/one.ipynb"
ARCHIVE = "../../_build/course/exercises.zip"


def linked(book: Path, language: str, target: str) -> str:
    """Return the target of a download on a page in this language."""
    document: Any = nodes.paragraph()
    link = download_reference(reftarget=target)
    document += link
    app: Any = SimpleNamespace(
        config=SimpleNamespace(language=language),
        srcdir=book,
        env=SimpleNamespace(docname=HERE),
    )
    link_translated(app, document)
    return str(link["reftarget"])


@pytest.mark.parametrize(
    ("language", "target", "expected"),
    [
        ("zh_CN", RELEASED, TRANSLATED),
        ("en", RELEASED, RELEASED),
        ("zh_CN", RELEASED.replace("one", "two"), RELEASED.replace("one", "two")),
        ("zh_CN", ARCHIVE, "../../_build/course/zh_CN/exercises.zip"),
        ("en", ARCHIVE, ARCHIVE),
        ("fr", ARCHIVE, ARCHIVE),
    ],
)
def test_downloads_lead_to_the_files_in_the_language_of_the_page(
    tmp_path: Path, language: str, target: str, expected: str
) -> None:
    folder = tmp_path / "exercises" / "one"
    folder.mkdir(parents=True)
    for there in (TRANSLATED, ARCHIVE.replace("course/", "course/zh_CN/")):
        file = (folder / there).resolve()
        file.parent.mkdir(parents=True)
        file.touch()
    assert linked(tmp_path, language, target) == expected


def test_wheels_are_built_from_the_translations_of_the_checks() -> None:
    assert [*wheels.translations(ROOT)] == ["zh_CN"]
    (folder,) = wheels.translations(ROOT).values()
    assert folder / "checks.po" in wheels.sources(ROOT)


def test_the_archive_of_a_language_has_its_notebooks_and_readme() -> None:
    course = handouts.released(ROOT).parent
    languages, readmes = [], []
    for archive in (course / "exercises.zip", course / "zh_CN" / "exercises.zip"):
        with zipfile.ZipFile(archive) as files:
            names = sorted(files.namelist())
            books = [json.loads(files.read(name)) for name in names if name.endswith(".ipynb")]
            readmes.append(files.read("exercises/README.md").decode())
        languages.append({book["metadata"]["exercise"].get("language") for book in books})
        assert len(books) == 9
    assert languages == [{None}, {"zh_CN"}]
    english, chinese = readmes
    assert "# The exercises of" in english
    assert [
        one for one in markdown.messages(chinese) if not re.search("[\u4e00-\u9fff]", one)
    ] == []
    code = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
    assert sorted(code.findall(chinese)) == sorted(code.findall(english))
