"""Open the chapters and the exercises in JupyterLab: ``python site/lab.py [its options]``.

A reader works on copies in my-work/ (lab_copies) and begins at a start page (lab_start).
"""

import os
import sys
from pathlib import Path

import handouts
import lab_start
import nbformat
from bundle import NBGRADER
from lab_copies import Report, bring_up_to_date, copy_once
from lab_names import names, pages
from lab_rooms import make_quiet, rooms
from nbformat import NotebookNode
from notebooks.lab_copy import chapter_notebook

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "my-work"
FRESH = (
    "For a fresh copy of a notebook, rename or delete yours and run `make lab` again. "
    "Nothing of yours is overwritten."
)


def notebooks(book: Path, release: Path) -> dict[str, NotebookNode]:
    """Docname → notebook, for each page of the book that a reader can work on, in order."""
    found = {}
    for docname in names(book / "_toc.yml"):
        folder, *_, stem = docname.split("/")
        released = release / stem / f"{stem}.ipynb"
        if folder != "exercises":
            found[docname] = chapter_notebook(book / f"{docname}.md", book)
        elif released.exists():
            found[docname] = nbformat.read(released, as_version=4)
    return found


def prepare(book: Path, work: Path, release: Path) -> Report:
    """Make or update all copies of a book's notebooks, and what stands beside them."""
    supplied = notebooks(book, release)
    named = names(book / "_toc.yml")
    report = bring_up_to_date(supplied, named, work)
    exercises = [work / named[name] for name in supplied if name.startswith("exercises/")]
    copy_nbgrader_config(work, *(path.parent for path in exercises))
    content = lab_start.contents(
        lab_start.title_of(book), pages(book / "_toc.yml"), named, supplied
    )
    lab_start.write(work, content)
    return report


def copy_nbgrader_config(*folders: Path) -> None:
    """Let `nbgrader validate` say what the checks compared, where it is started in these."""
    copy_once(ROOT / NBGRADER, [folder / "nbgrader_config.py" for folder in folders])


def command(folder: Path, *options: str) -> list[str]:
    """What starts JupyterLab on a folder, with our start page and Validate dialog."""
    return [
        *(sys.executable, "-m", "jupyterlab"),
        f"--ServerApp.root_dir={folder}",
        "--ServerApp.jpserver_extensions=roofkit.validate.server=True",
        f"--LabApp.extra_labextensions_path={ROOT / 'kit/roofkit/validate/labextensions'}",
        f"--LabApp.extra_labextensions_path={ROOT / 'site/notebooks/labextensions'}",
        # Looking for language servers starts npm, which writes into HOME.
        "--LanguageServerManager.autodetect=False",
        *options,
    ]


def main(options: list[str]) -> None:
    # Before anything that writes where these say.
    own = WORK / ".jupyter"
    os.environ.update(rooms(own, os.environ, Path.home()))
    try:
        make_quiet(own / "config")
        report = prepare(ROOT, WORK, handouts.released(ROOT))
    except OSError as error:
        sys.exit(cannot_write(error, WORK))
    print(f"my-work: {report.line()}\n{FRESH}", flush=True)
    jupyterlab = command(WORK, *options)
    os.execv(jupyterlab[0], jupyterlab)


def cannot_write(error: OSError, work: Path) -> str:
    """One line about a file or folder that can't be written; the copies' folder by its own name."""
    place = Path(error.filename or work)
    if place.is_relative_to(work):
        place = work
    return (
        f"{place} can't be written: {error.strerror or error}. Make it writable, or move the "
        "course to where you can write, and run `make lab` again."
    )


if __name__ == "__main__":
    main(sys.argv[1:])
