"""Pages in another language lead to the exercises' notebooks in that language."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from book_extension.languages.handouts import link_translated
from commands.handouts import wheels
from docutils import nodes
from repository import ROOT
from sphinx.addnodes import download_reference

HERE = "exercises/one/one"
RELEASED = "../../_build/course/release/one/one.ipynb"
TRANSLATED = "../../_build/course/release-zh_CN/one/one.ipynb"


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
        ("zh_CN", "../../_build/course/exercises.zip", "../../_build/course/exercises.zip"),
    ],
)
def test_downloads_lead_to_the_notebook_in_the_language_of_the_page(
    tmp_path: Path, language: str, target: str, expected: str
) -> None:
    file = tmp_path / "exercises" / "one" / TRANSLATED
    (tmp_path / "exercises" / "one").mkdir(parents=True)
    file.resolve().parent.mkdir(parents=True)
    file.resolve().touch()
    assert linked(tmp_path, language, target) == expected


def test_wheels_and_releases_have_all_languages() -> None:
    assert [*wheels.translations(ROOT)] == ["zh_CN"]
    (folder,) = wheels.translations(ROOT).values()
    assert folder / "checks.po" in wheels.sources(ROOT)
