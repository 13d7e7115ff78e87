"""Parallel runs of the cells of several pages, before Sphinx reads them.

MyST-NB takes the results from its cache. It runs a page again whose cell failed, so that the error
names the file and the line.
"""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import yaml
from book_extension.exercise_pages import markdown_of
from book_extension.values import read_page
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn, JupyterCacheAbstract
from nbclient import execute
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from commands import forked_kernels

CELL_SECONDS = 60  # as in _config.yml


def fill_cache(book: Path, folder: Path) -> None:
    """Run each page and deck that the cache lacks, and cache its outputs."""
    cache = get_cache(folder)
    todo = [(path, page) for path, page in read_pages(book) if not is_cached(cache, page)]
    if not todo:
        return
    with forked_kernels.forks(book), ThreadPoolExecutor(os.cpu_count()) as pool:
        for (path, page), succeeded in zip(todo, pool.map(run, todo), strict=True):
            if succeeded:
                bundle = CacheBundleIn(page, str(path), data={})
                cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)


def read_pages(book: Path) -> Iterator[tuple[Path, NotebookNode]]:
    """Yield each page as the notebook that MyST-NB would run."""
    config = yaml.safe_load((book / "_config.yml").read_text(encoding="utf-8"))
    extensions = sorted(config["parse"]["myst_enable_extensions"])
    for pattern in ("index.md", "chapters/*.md", "exercises/*.py", "slides/*.md"):
        for path in sorted(book.glob(pattern)):
            try:
                page = read_page(markdown_of(path), extensions)
            except Exception:  # Sphinx will report the error with file and line
                continue
            yield path, page


def is_cached(cache: JupyterCacheAbstract, page: NotebookNode) -> bool:
    try:
        cache.match_cache_notebook(page)
    except KeyError:
        return False
    return True


def run(task: tuple[Path, NotebookNode]) -> bool:
    """Run a page's cells in place; return whether all succeeded."""
    path, page = task
    if not any(cell.cell_type == "code" for cell in page.cells):
        return True  # so that the page is cached: else MyST-NB would start a kernel for it
    try:
        # Recorded times would change the cells' metadata, and with it the page's key in the cache.
        execute(page, cwd=str(path.parent), timeout=CELL_SECONDS, record_timing=False)
    except (CellExecutionError, CellTimeoutError, DeadKernelError):
        return False
    return True
