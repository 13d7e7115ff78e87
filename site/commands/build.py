"""Build the book: ``python site build [folder]``.

The command prints the path of index.html at the end.
"""

import argparse
import gc
import io
import json
import logging
import os
import shutil
import sys
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import redirect_stderr
from multiprocessing import get_context
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from book_extension import contents, exercise_pages
from browser.pyodide import files as pyodide_files

from commands.inputs import digest
from roofkit import words

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
    """Return hashes of a build's inputs, and the modification times of its output.

    parse: of what Sphinx would not notice; if it changed, all pages are parsed again. write: of
    what each page has or names; if it changed, all pages are written again.
    """
    html, python = book / "_build" / "html", os.environ[PYODIDE]
    made = [python, pyodide_files.how_made(Path(python))]
    packages = [book / name for name in PACKED]
    return {
        "parse": digest(book, [book / "_toc.yml", book / "site"], *contents.variables()),
        "write": digest(book, packages, *made, *contents.languages(book)),
        "pages": digest(book, sources(book), sys.version),
        "output": {str(p.relative_to(html)): p.stat().st_mtime_ns for p in html.rglob("*")},
    }


def sources(book: Path) -> list[Path]:
    """Return the files and folders that pages and notebooks are made from."""
    top = [path for path in book.iterdir() if path.is_file()]
    return [*top, *(book / name for name in FOLDERS), ROOT / "requirements.txt"]


def code_digest(book: Path) -> str:
    """Return a hash of the files that the results of cells depend on.

    It covers our packages, data, the lock and the exercises. MyST-NB caches executed pages by their
    own code alone. With this hash in the cache's path, a changed number in the catalog reruns all
    pages, and changed prose none.
    """
    packages = [path for name in ("rooflib", "kit") for path in (book / name).rglob("*")]
    files = [path for path in packages if path.suffix in (".py", ".toml", ".json")]
    # Hash only the facts that pages show (minutes, difficulty): rerunning pages takes long.
    facts = map(exercise_pages.top, exercise_pages.files(book))
    return digest(book, [*files, ROOT / "requirements.txt"], *facts)


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


def run_pages(book: Path) -> Path:
    """Make what pages include, run their cells and return the outputs' folder."""
    from commands import executed_pages, handouts

    output = book / "_build"
    caches = output / ".jupyter_cache"
    cache = caches / code_digest(book)
    if caches.is_dir():
        for old in set(caches.iterdir()) - {cache}:
            shutil.rmtree(old)
    prepare_kernels(book, output / "ipython")
    os.environ["ROOFKIT_LIVE"] = "page"  # figures as HTML; browser.figures sets this variable, too
    with ThreadPoolExecutor(1) as pool:
        made = pool.submit(handouts.released, book)  # which Sphinx reads, and no cell
        executed_pages.fill_cache(book, cache)
        made.result()
    return cache


def in_language(book: Path, language: "Language", output: Path) -> dict[str, object]:
    """Return Sphinx's settings for a language.

    Sphinx finds the words of pages in their catalogs, which it compiles beside them, and those of
    templates and code in a file of its own name.
    """
    if not language.folder:
        return {}
    code, catalogs = language.code, Path(contents.LANGUAGES, language.code, "LC_MESSAGES")
    of_code = output / catalogs / "sphinx.mo"
    of_code.parent.mkdir(parents=True, exist_ok=True)
    of_code.write_bytes(words.compile_catalogs(book / catalogs))
    return {
        "language": code,
        "locale_dirs": [str(folder / contents.LANGUAGES) for folder in (book, output)],
        "gettext_compact": False,
    }


def build_pages(
    book: Path, target: Path, cache: Path, settings: Mapping[str, object] = NONE, **options: object
) -> bool:
    """Build the pages with Sphinx from cells that have been run; return whether that succeeded.

    settings: of Sphinx, in addition. The environment is kept in the folder `.doctrees` beside
    `target`.
    """
    from jupyter_book.sphinx import build_sphinx

    gc.set_threshold(GC_THRESHOLD)
    status: int = build_sphinx(
        book,
        target,
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
    return status == 0


def build_language(
    book: Path, language: "Language", cache: Path, parse_all: bool, write_all: bool
) -> tuple[bool, str]:
    """Build pages and slides in a language; return whether that succeeded, and Sphinx's messages.

    Runs in a process of its own, beside the other languages.
    """
    from commands import slides

    with redirect_stderr(io.StringIO()) as said:
        output = output_of(book, language)
        settings = in_language(book, language, output)
        how = {"freshenv": parse_all, "force_all": parse_all or write_all}
        done = build_pages(book, output / "html", cache, settings, **how)
        done = done and slides.build(book, output, cache, settings)
    return done, said.getvalue()


def output_of(book: Path, language: "Language") -> Path:
    """Return the folder of a language's site and of what Sphinx keeps of it."""
    return book / "_build" / (language.code if language.folder else "")


def build(book: Path) -> bool:
    """Build the book in a folder into ``_build/html``; return whether that succeeded."""
    stamp = book / "_build" / "built-from.json"
    with ThreadPoolExecutor(1) as pool:
        files = pool.submit(page_python)
        cache = None if stamp.exists() else run_pages(book)  # while the files arrive
        os.environ[PYODIDE] = files.result()
    built = json.loads(stamp.read_text(encoding="utf-8")) if stamp.exists() else {}
    now = state(book)
    if built == now:
        return True
    stamp.unlink(missing_ok=True)  # after a failure, all pages are parsed again, and warn again
    cache = cache or run_pages(book)
    # Import late: the check above is much faster than these imports.
    from book_extension.languages import TRANSLATIONS, of_book

    from commands import handouts

    changed = [built.get(part) != now[part] for part in ("parse", "write")]
    languages = of_book(book)
    with ProcessPoolExecutor(len(languages), get_context("spawn")) as processes:
        tasks = [
            processes.submit(build_language, book, language, cache, *changed)
            for language in languages
        ]
        results = [task.result() for task in tasks]
    for succeeded, said in results:
        sys.stderr.write(said)
        if not succeeded:  # a translation repeats what is wrong with the original
            return False
    html = book / "_build" / "html"
    # Sphinx itself would copy downloads such as wheels only after a page has changed.
    shutil.rmtree(html / "wheels", ignore_errors=True)
    if (served := book / handouts.SERVED).exists():
        shutil.copytree(served, html, dirs_exist_ok=True)
    for language in TRANSLATIONS:
        shutil.rmtree(html / language.folder, ignore_errors=True)
        if language in languages:
            made, leave = output_of(book, language), shutil.ignore_patterns(*OF_ORIGINAL)
            shutil.copytree(made / "html", html / language.folder, ignore=leave)
    stamp.write_text(json.dumps(now | {"output": state(book)["output"]}), encoding="utf-8")
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("book", nargs="?", type=Path, default=ROOT)
    book = parser.parse_args().book.resolve()
    if not build(book):
        print("the book was not built: see the messages above", file=sys.stderr)
        return 1
    print(book / "_build" / "html" / "index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
