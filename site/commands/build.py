"""Build the book: ``python site build [folder]``.

The command prints the path of index.html at the end. ``--python FOLDER`` takes Python for the pages
from there and downloads nothing.
"""

import argparse
import gc
import hashlib
import json
import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from book_extension import contents, exercise_pages
from browser.pyodide import files as pyodide_files

if TYPE_CHECKING:
    from book_extension.languages import Language

ROOT = Path(__file__).resolve().parents[2]
# Folders that pages are made from, besides the files at the top.
FOLDERS = ("chapters", "exercises", "grading", "kit", "locale", "rooflib", "slides")
PACKED = ("exercises", "kit", "locale", "rooflib")  # folders of what the pages' Python imports
# What only the original has: Python for pages in all languages, and files at the top of its site.
OF_ORIGINAL = ("python", "licenses.txt", "404.html", "objects.inv", ".buildinfo")
NONE: Mapping[str, object] = MappingProxyType({})
PYODIDE = "ROOFLINE_PYODIDE"  # environment variable with Pyodide's folder
# New objects between two garbage collections. With Python's 700, a build spends a third of its CPU
# time looking for garbage among the documents that it keeps.
GC_THRESHOLD = 20_000


def page_python() -> str:
    """Return Pyodide's folder, downloaded if needed; "" if unavailable.

    Print why it is unavailable, unless PAGE_PYTHON is 0.
    """
    if os.environ.get("PAGE_PYTHON") == "0":
        return ""
    try:
        return str(pyodide_files.make(pyodide_files.obtain(pyodide_files.cache())))
    except pyodide_files.NotObtained as error:
        print(f"built without Python in the pages ({error})", file=sys.stderr)
        return ""


def state(book: Path) -> dict[str, object]:
    """Return hashes of a build's inputs, and the modification times of its output."""
    html = book / "_build" / "html"
    return {
        "python": [sys.version, *contents.variables()],
        "page python": os.environ[PYODIDE],
        "library": pyodide_files.how_made(Path(os.environ[PYODIDE])),
        "languages": contents.languages(book),
        "pages": digest(book, [*sources(book), ROOT / "requirements.txt"]),
        "packages": digest(book, [path for name in PACKED for path in (book / name).rglob("*")]),
        "site": digest(book, [book / "_toc.yml", *(book / "site").rglob("*")]),
        "output": {str(p.relative_to(html)): p.stat().st_mtime_ns for p in html.rglob("*")},
    }


def sources(book: Path) -> list[Path]:
    """Return the files that pages and notebooks are made from."""
    return [*book.iterdir(), *(path for name in FOLDERS for path in (book / name).rglob("*"))]


def digest(book: Path, files: Iterable[Path]) -> str:
    """Return a hash of files' names and contents."""
    total = hashlib.sha256()
    for path in sorted(files):
        if path.is_file() and not {"__pycache__", ".ipynb_checkpoints"} & set(path.parts):
            total.update(os.path.relpath(path, book).encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()


def code_digest(book: Path) -> str:
    """Return a hash of the files that the results of cells depend on.

    It covers our packages, data, the lock and the exercises. MyST-NB caches executed pages by their
    own code alone. With this hash in the cache's path, a changed number in the catalog reruns all
    pages, and changed prose none.
    """
    packages = [path for name in ("rooflib", "kit") for path in (book / name).rglob("*")]
    files = [path for path in packages if path.suffix in (".py", ".toml")]
    digest = hashlib.sha256()
    for path in [*sorted(files), ROOT / "requirements.txt"]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    for path in exercise_pages.files(book):
        # Hash only the facts that pages show (minutes, difficulty): rerunning pages takes long.
        digest.update(f"{path.name}\0{exercise_pages.top(path)}\0".encode())
    return digest.hexdigest()


def prepare_kernels(book: Path, profile: Path) -> None:
    """Give kernels this book's packages, without the user's IPython configuration."""
    paths = [str(book), str(book / "kit"), os.environ.get("PYTHONPATH")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    os.environ["IPYTHONDIR"] = str(profile)
    settings = profile / "profile_default" / "ipython_kernel_config.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    # Hide each kernel's warning that it uses TCP: the connections stay on this machine. A kernel
    # runs several pages, each of which counts its cells from 1: a history would complain.
    quiet = {"IPKernelApp": {"log_level": logging.ERROR}, "HistoryManager": {"enabled": False}}
    settings.write_text(json.dumps(quiet))


def must_download() -> bool:
    return os.environ.get("PAGE_PYTHON") != "0" and bool(
        pyodide_files.missing(pyodide_files.cache())
    )


def run_pages(book: Path) -> Path:
    """Make what pages include, run their cells and return the outputs' folder."""
    from commands import executed_pages, handouts

    output = book / "_build"
    caches = output / ".jupyter_cache"
    cache = caches / code_digest(book)
    if caches.is_dir():
        for old in set(caches.iterdir()) - {cache}:
            shutil.rmtree(old)
    handouts.prepare(book)
    prepare_kernels(book, output / "ipython")
    os.environ["ROOFKIT_LIVE"] = "page"  # figures as HTML; browser.figures sets this variable, too
    executed_pages.fill_cache(book, cache)
    return cache


def build_pages(
    book: Path, html: Path, cache: Path, settings: Mapping[str, object] = NONE, **options: object
) -> int:
    """Build the pages with Sphinx from cells that have been run.

    Return 0 if that succeeded.

    settings: of Sphinx, in addition. The environment is kept in the folder `.doctrees` beside
    `html`.
    """
    from jupyter_book.sphinx import build_sphinx

    status: int = build_sphinx(
        book,
        html,
        noconfig=True,
        path_config=book / "_config.yml",
        confoverrides={
            "external_toc_path": str(book / "_toc.yml"),
            "latex_individualpages": False,
            "nb_execution_cache_path": str(cache),
            "nitpicky": True,
            **settings,
        },
        warningiserror=True,
        keep_going=True,
        quiet=True,
        **options,
    )
    return status


def build(book: Path, python: Path | None = None) -> bool:
    """Build the book in a folder into ``_build/html``; return whether that succeeded.

    python: the folder of Pyodide's files; None: download them if needed.
    """
    with ThreadPoolExecutor(1) as pool:
        files = pool.submit(page_python) if python is None else None
        if files and must_download():
            run_pages(book)  # while the files arrive
        os.environ[PYODIDE] = files.result() if files else str(python)
    output = book / "_build"
    stamp = output / "built-from.json"
    built = json.loads(stamp.read_text(encoding="utf-8")) if stamp.exists() else {}
    now = state(book)
    if built == now:
        return True
    stamp.unlink(missing_ok=True)
    environment = output / ".doctrees" / "environment.pickle"
    # Sphinx caches parsed pages. It does not notice a change in our extensions, and its page of
    # contents still lists a page that has gone.
    fresh = built.get("site") != now["site"]
    if fresh:
        environment.unlink(missing_ok=True)
    cache = run_pages(book)
    # Import late: the check above is much faster than these imports.
    from commands import handouts, slides

    # So do languages, whether pages have Python, and packages, which change its address.
    affecting = ("library", "languages", "packages", "page python")
    force_all = fresh or any(built.get(part) != now[part] for part in affecting)
    options = ["--fresh"] * fresh + ["--force-all"] * force_all
    translations = start_translations(book, cache, *options)
    status = build_pages(book, output / "html", cache, force_all=force_all)
    if status == 0:
        serve(book / handouts.SERVED, output / "html")
        complete = slides.build(book, cache)
    else:
        # Sphinx warns only while parsing a page: drop the cache, or a retry shows no warning.
        environment.unlink(missing_ok=True)
        complete = False
    # Wait for the translations even if the original failed, but then hide their warnings: they
    # repeat the original's.
    if not finish_translations(book, translations, report=status == 0) or not complete:
        return False
    stamp.write_text(json.dumps(now | {"output": state(book)["output"]}), encoding="utf-8")
    return True


def start_translations(
    book: Path, cache: Path, *options: str
) -> "dict[Language, subprocess.Popen[str]]":
    """Start to build the translations from the same executed cells, each in its own process."""
    from book_extension.languages import ORIGINAL, of_book

    return {
        language: subprocess.Popen(
            [sys.executable, ROOT / "site", "translated", language.code, book, cache, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for language in of_book(book)
        if language is not ORIGINAL
    }


def finish_translations(
    book: Path, started: "dict[Language, subprocess.Popen[str]]", *, report: bool
) -> bool:
    """Wait for the translations; return whether all succeeded.

    report: print what the builds print, and put the translations into the site.
    """
    from book_extension.languages import TRANSLATIONS

    printed = [process.communicate()[0] for process in started.values()]
    succeeded = not any(process.returncode for process in started.values())
    if report:
        sys.stderr.write("".join(printed))
    for language in TRANSLATIONS if report and succeeded else ():
        target = book / "_build" / "html" / language.folder
        shutil.rmtree(target, ignore_errors=True)
        if language in started:
            made = book / "_build" / language.code / "html"
            shutil.copytree(made, target, ignore=shutil.ignore_patterns(*OF_ORIGINAL))
    return succeeded


def serve(files: Path, html: Path) -> None:
    """Copy downloads such as wheels next to the pages, and remove older wheels.

    Sphinx itself would copy them only after a page has changed.
    """
    shutil.rmtree(html / "wheels", ignore_errors=True)
    if files.exists():
        shutil.copytree(files, html, dirs_exist_ok=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("book", nargs="?", type=Path, default=ROOT)
    parser.add_argument("--python", type=Path, help="where the files of Python for pages lie")
    told = parser.parse_args()
    book = told.book.resolve()
    gc.set_threshold(GC_THRESHOLD)
    if not build(book, told.python):
        print("the book was not built: see the messages above", file=sys.stderr)
        return 1
    print(book / "_build" / "html" / "index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
