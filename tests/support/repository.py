"""The repository's root, and small books to build and break."""

import subprocess
import sys
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
