"""The repository's root, and small books for tests to build."""

import fcntl
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
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
    """A book in a folder: a small one for tests, or the whole course."""

    folder: Path

    @property
    def page(self) -> Path:
        return self.folder / "chapters" / "page.md"

    def write(self, text: str, page: str = "page") -> None:
        path = self.folder / "chapters" / f"{page}.md"
        path.write_text(HEADER + text, encoding="utf-8")

    def build(self) -> subprocess.CompletedProcess[str]:
        """Build the book without Python in its pages; also translations that are not published."""
        command = [sys.executable, str(ROOT / "site"), "build", str(self.folder)]
        environment = os.environ | {"PAGE_PYTHON": "0", "TRANSLATIONS": "1"}
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)

    def html(self, page: str = "page") -> str:
        path = self.folder / "_build" / "html" / "chapters" / f"{page}.html"
        return path.read_text(encoding="utf-8")


def small_book(folder: Path, *pages: str) -> Book:
    """Make a book with our configuration, its own copy of rooflib, and these pages."""
    for name in ("_config.yml", "references.bib"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "rooflib", folder / "rooflib")
    for name in ("site", "kit"):
        (folder / name).symlink_to(ROOT / name)
    listed = "".join(f"      - file: chapters/{page}\n" for page in pages or ("page",))
    head = "format: jb-book\nroot: index\nparts:\n  - caption: Book\n    chapters:\n"
    (folder / "_toc.yml").write_text(head + listed)
    (folder / "index.md").write_text(HEADER + "\n# A small book\n")
    (folder / "chapters").mkdir()
    return Book(folder)


OTHER_WORDS = "Read more about it."


def with_other_words(folder: Path) -> Path:
    """Copy what grades, with more words about each mistake; return the folder."""
    leave = shutil.ignore_patterns("__pycache__")
    for name in ("grading", "exercises", "rooflib", "kit", "locale", "chapters"):
        shutil.copytree(ROOT / name, folder / name, ignore=leave)
    for name in ("_toc.yml", "_config.yml"):
        shutil.copy(ROOT / name, folder)
    file = folder / "exercises" / "misconceptions.toml"
    text = file.read_text(encoding="utf-8")
    text, count = re.subn(r'^([\w-]+ = ".*)"$', rf'\1 {OTHER_WORDS}"', text, flags=re.MULTILINE)
    assert count
    file.write_text(text, encoding="utf-8")
    return folder


def set_addresses(config: Path, site: str, repository: str) -> None:
    """Set the course's published addresses in a copy of our configuration."""
    text = config.read_text(encoding="utf-8")
    for unset, setting in (('baseurl: ""', site), ('{url: ""', repository)):
        assert text.count(unset) == 1
        text = text.replace(unset, unset.replace('""', f'"{setting}"'))
    config.write_text(text, encoding="utf-8")


@contextmanager
def alone(lock: Path) -> Iterator[None]:
    """Hold an exclusive lock, so that one process at a time runs the block."""
    lock.parent.mkdir(exist_ok=True)
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
