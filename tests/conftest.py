"""What several test files share: the repository's root and small books to build and break."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from site_browser import MISSING, chromium, started

ROOT = Path(__file__).resolve().parent.parent
HEADER = """\
---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
    format_version: 0.13
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---
"""


@dataclass(frozen=True)
class Book:
    """A book of one page beside the title page, in a folder of its own."""

    folder: Path

    @property
    def page(self) -> Path:
        return self.folder / "chapters" / "page.md"

    def write(self, text: str) -> None:
        self.page.write_text(HEADER + text, encoding="utf-8")

    def build(self) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(ROOT / "site" / "build.py"), str(self.folder)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def html(self) -> str:
        return (self.folder / "_build/html/chapters/page.html").read_text(encoding="utf-8")


@pytest.fixture
def book(tmp_path: Path) -> Book:
    """A book that builds, with this repository's configuration and its own copy of rooflib."""
    shutil.copy(ROOT / "_config.yml", tmp_path)
    shutil.copy(ROOT / "references.bib", tmp_path)
    (tmp_path / "site").symlink_to(ROOT / "site")
    shutil.copytree(ROOT / "rooflib", tmp_path / "rooflib")
    (tmp_path / "_toc.yml").write_text(
        "format: jb-book\nroot: index\nchapters:\n  - file: chapters/page\n"
    )
    (tmp_path / "index.md").write_text(HEADER + "\n# A small book\n")
    (tmp_path / "chapters").mkdir()
    return Book(tmp_path)


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the whole site, built once for all tests."""
    run = Book(ROOT).build()
    if run.returncode != 0:
        pytest.fail(f"the book was not built:\n{run.stderr[-2000:]}", pytrace=False)
    folder = ROOT / "_build" / "html"
    assert run.stdout.splitlines()[-1] == str(folder / "index.html")
    return folder


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests; a test that needs it fails where the machine has none."""
    found = chromium()
    if found is None:
        pytest.fail(MISSING, pytrace=False)
    with started(found) as browser:
        yield browser
