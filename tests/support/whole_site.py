"""Builds the whole site for the tests: `python tests/support/whole_site.py`."""

import subprocess
import sys
from pathlib import Path

from repository import ROOT, Book

sys.path.append(str(ROOT / "site"))

from browser.pyodide import files as pyodide_files


def build_site(book: Book) -> subprocess.CompletedProcess[str]:
    """Build a book whose pages can run Python, without downloading Pyodide."""
    return book.build(files_of_python())


def files_of_python() -> Path:
    """Return the folder of Pyodide's files, or of empty ones.

    The files are real if an earlier build cached them. Short tests never load these files, but
    pages have Run buttons only if they exist.
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
