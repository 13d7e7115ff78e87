"""Open chapters and exercises in JupyterLab: ``python site lab [its options]``.

A reader works on copies in my-work/ and begins at a start page; see the folder jupyterlab/.
``--language zh_CN`` chooses the language, which is remembered. The first start in a terminal asks.
"""

import argparse
import os
import sys
from pathlib import Path

import nbformat
from book_extension.contents import names, pages
from book_extension.languages import ORIGINAL, Language, chosen, words
from book_extension.languages.code_words import extracted
from nbformat import NotebookNode

from commands import handouts
from commands.handouts.bundle import NBGRADER
from commands.jupyterlab import first_start, start_page
from commands.jupyterlab.copies import Report, bring_up_to_date, copy_once
from commands.jupyterlab.folders import set_defaults, translate_kernels, variables
from commands.jupyterlab.page_copy import chapter_notebook

VARIABLE = "ROOFLINE_LANGUAGE"  # from which kernels take the language; see roofkit.words
ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "my-work"
EXTENSIONS = "kit/roofkit/validate/labextensions"


def notebooks(book: Path, release: Path, language: Language = ORIGINAL) -> dict[str, NotebookNode]:
    """Return each page that a reader can work on, in order: docname → notebook."""
    found = {}
    for docname in names(book / "_toc.yml"):
        folder, *_, stem = docname.split("/")
        released = release / stem / f"{stem}.ipynb"
        if folder != "exercises":
            found[docname] = chapter_notebook(book / f"{docname}.md", book, language)
        elif released.exists():
            found[docname] = nbformat.read(released, as_version=4)
    return found


def prepare(book: Path, work: Path, release: Path, language: Language = ORIGINAL) -> Report:
    """Make or update notebooks' copies and the start page; add nbgrader's settings.

    release: the folder of the exercises, which are in the language.
    """
    supplied = notebooks(book, release, language)
    named = names(book / "_toc.yml")
    report = bring_up_to_date(supplied, named, work)
    exercises = [work / named[name] for name in supplied if name.startswith("exercises/")]
    copy_nbgrader_config(work, *(path.parent for path in exercises))
    content = start_page.contents(
        start_page.title_of(book),
        pages(book / "_toc.yml"),
        named,
        supplied,
        words(book, language),
        extracted(book, [(EXTENSIONS, "**/*.js")]),
    )
    start_page.write(work, content)
    return report


def exercises_in(release: Path, language: Language) -> Path:
    """Return the folder of the released exercises in a language.

    Without a translation it is that of the original.
    """
    translated = release.with_name(f"{release.name}-{language.code}")
    return translated if language is not ORIGINAL and translated.is_dir() else release


def asked(options: list[str]) -> tuple[str | None, list[str]]:
    """Return the value of --language, None without it, and JupyterLab's options."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--language")
    told, others = parser.parse_known_args(options)
    return told.language, others


def copy_nbgrader_config(*folders: Path) -> None:
    """Configure `nbgrader validate` in these folders to exit with 1 if a part is wrong."""
    copy_once(ROOT / NBGRADER, [folder / "nbgrader_config.py" for folder in folders])


def command(folder: Path, *options: str) -> list[str]:
    """Return the command for JupyterLab on a folder.

    It has our start page.
    """
    return [
        *(sys.executable, "-m", "jupyterlab"),
        f"--ServerApp.root_dir={folder}",
        f"--LabApp.extra_labextensions_path={ROOT / EXTENSIONS}",
        f"--LabApp.extra_labextensions_path={ROOT / 'site/commands/jupyterlab/labextensions'}",
        # Looking for language servers starts npm, which writes into HOME.
        "--LanguageServerManager.autodetect=False",
        *options,
    ]


def main(options: list[str]) -> None:
    # Set the variables before anything writes to these folders.
    own = WORK / ".jupyter"
    os.environ.update(variables(own, os.environ, Path.home()))
    code, options = asked(options)
    try:
        language = first_start.language_of(own, chosen(code) if code else None, os.environ)
        set_defaults(own / "config", language)
        translate_kernels(own / "ipython")
        released = exercises_in(handouts.released(ROOT), language)
        report = prepare(ROOT, WORK, released, language)
    except ValueError as error:
        sys.exit(str(error))
    except OSError as error:
        sys.exit(cannot_write(error, WORK))
    except KeyboardInterrupt:  # instead of an answer
        sys.exit(130)
    _ = words(ROOT, language)
    print(f"my-work: {report.line(_)}")
    fresh = _(
        "For a fresh copy of a notebook, rename or delete yours and run `make lab` again. "
        "Nothing of yours is overwritten."
    )
    print(fresh, flush=True)
    os.environ[VARIABLE] = language.code  # kernels and nbgrader's Validate inherit it
    jupyterlab = command(WORK, *options)
    os.execv(jupyterlab[0], jupyterlab)


def cannot_write(error: OSError, work: Path) -> str:
    """Return one line about a path that can't be written.

    For a path below `work`, the line names `work`.
    """
    place = Path(error.filename or work)
    if place.is_relative_to(work):
        place = work
    return (
        f"{place} can't be written: {error.strerror or error}. Make it writable, or move the "
        "course to where you can write, and run `make lab` again."
    )


if __name__ == "__main__":
    main(sys.argv[1:])
