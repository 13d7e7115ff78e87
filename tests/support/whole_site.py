"""The whole site as the tests see it: `python tests/support/whole_site.py` builds it."""

import subprocess
import sys
from pathlib import Path

from repository import ROOT, Book

sys.path.append(str(ROOT / "site"))

from browser.pyodide import files as pyodide_files


def build_site(book: Book) -> subprocess.CompletedProcess[str]:
    """Build a book with buttons for Python, and ask no other host for Pyodide."""
    return book.build(_files_of_python())


def _files_of_python() -> Path:
    """Return Pyodide's files if an earlier build has got them, else empty ones.

    Short tests open none of them, but pages have their buttons only where there are files.
    """
    cached = pyodide_files.cache()
    if not pyodide_files.missing(cached) and pyodide_files.how_made(cached):
        return cached
    folder = ROOT / "_build" / "no-python"
    folder.mkdir(parents=True, exist_ok=True)
    for name in {*pyodide_files.SERVED, *pyodide_files.wanted()}:
        (folder / name).touch()
    return folder


if __name__ == "__main__":
    done = build_site(Book(ROOT))
    sys.stderr.write(done.stderr)
    sys.exit(done.returncode)
