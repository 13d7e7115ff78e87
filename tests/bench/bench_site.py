"""`make bench-site`: comparison of the site with a stock Jupyter Book build.

The stock build has the same sources, lock file, and settings for parsing and execution, but none of
our extensions. So its prose lacks computed values ({eval} roles), its live figures are widgets
without a kernel, and it fetches MathJax, RequireJS and widgets from other sites. Requests to other
sites are blocked here, so they add no bytes and no time; stock's figures are lower bounds.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from playwright.sync_api import Browser
from site_browser import DESK, MISSING, READY, SETTLED, UNFOLD, Traffic, axe, chromium, started
from site_links import html_files
from site_server import Server, serving

ROOT = Path(__file__).resolve().parents[2]
LOADS, BUILDS = 3, 3
MAX_PAGE_BYTES = 1_200_000  # compressed; see tests/support/site_sweep.py
MAX_PROSE_SECONDS, MAX_NO_OP_SECONDS = 6.0, 4.0  # limits on two cores
EDITED = "chapters/time.md"

LEGEND = """\
A reader's first visit, page by page: kB compressed (raw), requests, ms from the start of navigation
to the first figure (median of {loads}), violations that axe finds in both themes together.
{cores} cores. Stock leaves out the {values} values that the prose computes.
"""
BUILDS_LEGEND = """
Seconds to build: clean once; the others as median of {builds} (fastest to slowest).
"""
# Files for the exercise pages, prepared before Sphinx runs; the stock build gets copies of ours.
PREPARED = ("course", "solutions")

# Records the time in ms at which the article's first picture is loaded and laid out.
FIRST_FIGURE = """
requestAnimationFrame(function look() {
  for (const picture of document.querySelectorAll("article img, article svg")) {
    const { width, height } = picture.getBoundingClientRect();
    if (width >= 100 && height >= 50 && (picture.complete ?? true)) {
      window.firstFigure = performance.now();
      return;
    }
  }
  requestAnimationFrame(look);
});
"""


@dataclass
class Measured:
    """Measurements of a page on a reader's first visit."""

    raw: int = 0
    packed: int = 0
    requests: int = 0
    blocked: int = 0
    violations: int = 0
    figure: list[float] = field(default_factory=list)

    def cells(self) -> list[str]:
        blocked = f" + {self.blocked} blocked" if self.blocked else ""
        figure = f"{statistics.median(self.figure):.0f}" if self.figure else "–"
        kilobytes = f"{self.packed / 1e3:,.0f} ({self.raw / 1e3:,.0f})"
        return [kilobytes, f"{self.requests}{blocked}", figure, str(self.violations)]


def copies(folder: Path) -> tuple[Path, Path]:
    """Copy the repository twice: unchanged, and configured as a stock book."""
    ours, stock = folder / "ours", folder / "stock"
    leave = shutil.ignore_patterns(".*", "_build", "my-work", "__pycache__", "*.egg-info")
    for copy in (ours, stock):
        shutil.copytree(ROOT, copy, ignore=leave)
    settings = yaml.safe_load((stock / "_config.yml").read_text(encoding="utf-8"))
    sphinx = settings["sphinx"]
    sphinx["extra_extensions"] = ["sphinxcontrib.bibtex"]
    del sphinx["local_extensions"]
    for name in [name for name in sphinx["config"] if name.startswith("html_")]:
        del sphinx["config"][name]
    (stock / "_config.yml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    return ours, stock


def command(book: Path) -> list[str]:
    if book.name == "ours":
        return [sys.executable, str(book / "site"), "build"]
    return [str(Path(sys.executable).parent / "jupyter-book"), "build", str(book)]


def seconds_to_build(book: Path) -> float:
    paths = os.pathsep.join(filter(None, [str(book), os.environ.get("PYTHONPATH")]))
    start = time.perf_counter()
    run = subprocess.run(
        command(book), env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True
    )
    took = time.perf_counter() - start
    if run.returncode != 0:
        sys.exit(f"{book.name} was not built:\n{run.stdout[-2000:]}\n{run.stderr[-2000:]}")
    return took


def clean(book: Path, beside: Path) -> None:
    shutil.rmtree(book / "_build", ignore_errors=True)
    for name in PREPARED:
        made = beside / "_build" / name
        if made.is_dir() and book != beside:
            shutil.copytree(made, book / "_build" / name)


def timed_builds(books: tuple[Path, Path]) -> dict[str, list[list[float]]]:
    """Time each kind of build, alternating ours and stock.

    Clean builds run only once, because they take long.
    """
    took: dict[str, list[list[float]]] = {kind: [[], []] for kind in ("clean", "prose", "no-op")}
    for kind in ("clean", *("prose", "no-op") * BUILDS):
        for at, book in enumerate(books):
            if kind == "clean":
                clean(book, beside=books[0])
            elif kind == "prose":
                page = book / EDITED
                text = page.read_text(encoding="utf-8")
                page.write_text(f"{text}\nOne more sentence.\n", encoding="utf-8")
            took[kind][at].append(seconds_to_build(book))
    return took


def measure(browser: Browser, server: Server, name: str, at: Measured, first: bool) -> None:
    context = browser.new_context(viewport=DESK, color_scheme="light")
    context.add_init_script(FIRST_FIGURE)
    traffic = Traffic().listen(context)
    server.sent.clear()
    page = context.new_page()
    page.goto(f"{server.origin}/{name}")
    page.evaluate(READY)
    page.wait_for_load_state("networkidle")
    figure = page.evaluate("window.firstFigure")
    if figure is not None:
        at.figure.append(figure)
    if first:
        at.raw = sum(answer.raw for answer in server.sent)
        at.packed = server.transferred()
        at.requests = len(server.sent)
        at.blocked = len(traffic.outside(server.origin))
        page.evaluate(UNFOLD)
        for theme in ("light", "dark"):
            page.evaluate("(theme) => { document.documentElement.dataset.theme = theme }", theme)
            page.evaluate(SETTLED)
            at.violations += len(axe(page))
    context.close()


def measured(path: str, books: tuple[Path, Path]) -> dict[str, list[Measured]]:
    """Measure every page of both sites, alternately."""
    sites = [book / "_build" / "html" for book in books]
    names = [page.relative_to(sites[0]).as_posix() for page in html_files(sites[0])]
    pages = {name: [Measured(), Measured()] for name in names}
    with ExitStack() as stack:
        servers = [stack.enter_context(serving(site)) for site in sites]
        browser = stack.enter_context(started(path))
        for load in range(LOADS):
            for name in names:
                for server, at in zip(servers, pages[name], strict=True):
                    if (server.folder / name).exists():
                        measure(browser, server, name, at, first=load == 0)
    return pages


def values_in_prose(book: Path) -> int:
    """Count the {eval} roles in the sources, which only our build computes."""
    pages = (book / "index.md", *book.glob("chapters/*.md"), *book.glob("exercises/*.md"))
    return sum(page.read_text(encoding="utf-8").count("{eval}`") for page in pages)


def table(head: list[str], rows: list[list[str]]) -> Iterator[str]:
    rule = ["---"] + ["---:"] * (len(head) - 1)
    for row in (head, rule, *rows):
        yield f"| {' | '.join(row)} |"


def main() -> int:
    path = chromium()
    if path is None:
        print(MISSING, file=sys.stderr)
        return 1
    cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder:
        books = copies(Path(folder))
        builds = timed_builds(books)
        pages = measured(path, books)
        values = values_in_prose(books[1])

    print(LEGEND.format(loads=LOADS, cores=cores, values=values))
    what = ["kB", "requests", "figure", "axe"]
    head = ["page", *what, *(f"stock {name}" for name in what)]
    rows = [[name, *ours.cells(), *stock.cells()] for name, (ours, stock) in pages.items()]
    print(*table(head, rows), sep="\n")

    print(BUILDS_LEGEND.format(builds=BUILDS))
    rows = [[kind, *map(spread, both)] for kind, both in builds.items()]
    print(*table(["build", "ours", "stock"], rows), sep="\n")
    return held(pages, builds)


def spread(took: list[float]) -> str:
    if len(took) == 1:
        return f"{took[0]:.1f}"
    return f"{statistics.median(took):.1f} ({min(took):.1f} to {max(took):.1f})"


def held(pages: dict[str, list[Measured]], builds: dict[str, list[list[float]]]) -> int:
    """Print each page and build that misses a goal; return 1 if any does."""
    misses = [
        f"{name}: {ours.packed:,} bytes, stock {stock.packed:,}, at most {MAX_PAGE_BYTES:,}"
        for name, (ours, stock) in pages.items()
        if ours.packed > MAX_PAGE_BYTES or (stock.packed and ours.packed >= stock.packed)
    ]
    misses += [
        f"{name}: axe finds {ours.violations}"
        for name, (ours, _) in pages.items()
        if ours.violations
    ]
    for kind, limit in (("prose", MAX_PROSE_SECONDS), ("no-op", MAX_NO_OP_SECONDS)):
        took = statistics.median(builds[kind][0])
        if took > limit:
            misses.append(f"{kind}: {took:.1f} s, at most {limit:.0f}")
    print(
        "",
        *(misses or ["every page and every build is within its budget, and below stock"]),
        sep="\n",
    )
    return int(bool(misses))


if __name__ == "__main__":
    sys.exit(main())
