"""Pages that run in parallel before Sphinx reads them."""

import os
from pathlib import Path

import pytest
from commands import executed_pages
from commands.build import prepare_kernels
from jupyter_cache import get_cache
from repository import Book, small_book

GOOD = "```{code-cell} ipython3\nvalue = 6 * 7\nprint(value)\n```\n"
FAILING = "```{code-cell} ipython3\n1 / 0\n```\n"


@pytest.fixture
def two_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Book:
    book = small_book(tmp_path, "good", "failing")
    book.write(f"# Good\n\n{GOOD}\n{{eval}}`value`\n", "good")
    book.write(f"# Failing\n\n{FAILING}", "failing")
    for name in ("PYTHONPATH", "IPYTHONDIR"):
        monkeypatch.setenv(name, os.environ.get(name, ""))
    prepare_kernels(tmp_path, tmp_path / "ipython")
    return book


@pytest.mark.long
def test_outputs_of_successful_pages_are_cached(two_pages: Book) -> None:
    folder = two_pages.folder / "cache"
    executed_pages.fill_cache(two_pages.folder, folder)
    cache = get_cache(folder)
    pages = {path.stem: page for path, page in executed_pages.read_pages(two_pages.folder)}
    assert executed_pages.is_cached(cache, pages["good"])
    assert not executed_pages.is_cached(cache, pages["failing"])
    merged = cache.merge_match_into_notebook(pages["good"])[1]
    texts = [output.get("text") for cell in merged.cells for output in cell.get("outputs", [])]
    assert "42\n" in texts


def test_pages_without_code_are_cached_without_a_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = small_book(tmp_path)
    book.write("# Words\n\nNothing but words.\n")
    monkeypatch.setattr(executed_pages, "execute", lambda *_, **__: pytest.fail("it was run"))
    executed_pages.fill_cache(tmp_path, tmp_path / "cache")
    pages = dict(executed_pages.read_pages(tmp_path))
    assert {path.stem for path in pages} == {"index", "page"}
    cache = get_cache(tmp_path / "cache")
    assert all(executed_pages.is_cached(cache, page) for page in pages.values())


@pytest.mark.long
def test_sphinx_does_not_run_cached_pages(two_pages: Book) -> None:
    (two_pages.folder / "chapters" / "failing.md").unlink()
    toc = two_pages.folder / "_toc.yml"
    toc.write_text(toc.read_text().replace("  - file: chapters/failing\n", ""))
    run = two_pages.build()
    assert run.returncode == 0, run.stderr
    (cache,) = (two_pages.folder / "_build" / ".jupyter_cache").iterdir()
    assert len(get_cache(cache).list_cache_records()) == 2  # the title page and good.md
