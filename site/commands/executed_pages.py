"""Parallel runs of the cells of several pages, before Sphinx reads them.

MyST-NB takes the results from its cache. It runs a page again whose cell failed, so that the error
names the file and the line.
"""

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import yaml
from book_extension.exercise_pages import markdown_of
from book_extension.values import read_page
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn, JupyterCacheAbstract
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

CELL_SECONDS = 60  # as in _config.yml
RESET = """%reset -f
import os
os.chdir({folder!r})
del os
get_ipython().execution_count = 1"""


def fill_cache(book: Path, folder: Path) -> None:
    """Run each page and deck that the cache lacks, and cache its outputs."""
    cache = get_cache(folder)
    todo = [(path, page) for path, page in read_pages(book) if not is_cached(cache, page)]
    kernels = Kernels()
    try:
        # One more than cores, since a kernel waits for part of its time.
        with ThreadPoolExecutor((os.cpu_count() or 1) + 1) as pool:
            for (path, page), succeeded in zip(todo, pool.map(kernels.run, todo), strict=True):
                if succeeded:
                    bundle = CacheBundleIn(page, str(path), data={})
                    cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
    finally:
        kernels.end()


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


class Kernels:
    """A kernel for each thread, in which its pages run one after the other.

    Starting one takes over a second of computing, most of it for imports. Names are reset before
    each page; modules stay, with what pages set in them.
    """

    def __init__(self) -> None:
        self.own = threading.local()
        self.started: list[KernelManager] = []

    def run(self, task: tuple[Path, NotebookNode]) -> bool:
        """Run a page's cells in place; return whether all succeeded."""
        path, page = task
        if not any(cell.cell_type == "code" for cell in page.cells):
            return True  # so that the page is cached: else MyST-NB would start a kernel for it
        if not hasattr(self.own, "kernel"):
            self.own.kernel = KernelManager(kernel_name="python3")
            self.own.kernel.start_kernel()
            self.started.append(self.own.kernel)
        fresh = nbformat.v4.new_code_cell(RESET.format(folder=str(path.parent)))
        try:
            for notebook in (nbformat.v4.new_notebook(cells=[fresh]), page):
                # Recorded times would change the cells' metadata, and with it the page's cache key.
                how = {"timeout": CELL_SECONDS, "record_timing": False, "km": self.own.kernel}
                NotebookClient(notebook, **how).execute()
        except (CellExecutionError, CellTimeoutError, DeadKernelError):
            del self.own.kernel  # it may be busy, or dead
            return False
        return True

    def end(self) -> None:
        for kernel in self.started:
            kernel.shutdown_kernel(now=True)
