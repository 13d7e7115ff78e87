"""Pages that run in parallel before Sphinx reads them."""

import os
from contextlib import nullcontext
from pathlib import Path

import nbformat
import pytest
from browser import figures
from commands import executed_pages
from commands.build import prepare_kernels
from jupyter_cache import get_cache
from nbclient.exceptions import CellTimeoutError
from nbformat import NotebookNode
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


def test_pages_that_are_not_cached_run_in_their_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []

    def execute(page: NotebookNode, cwd: str, timeout: float, record_timing: bool) -> None:
        assert not record_timing
        assert os.environ[figures.LANGUAGES] == "zh_CN de"
        code = page.cells[-1]
        ran.append(f"{Path(cwd).name}: {code.source}")
        code.outputs = [nbformat.v4.new_output("stream", text="42\n")]
        kind = "application/vnd.roofline.zh_CN+html"
        data = {"text/html": f"<p>{code.source}", kind: "<p>图"}
        code.outputs.append(nbformat.v4.new_output("display_data", data))
        if "fails" in code.source:
            raise CellTimeoutError

    monkeypatch.setattr(executed_pages, "execute", execute)
    monkeypatch.setattr(executed_pages.forked_kernels, "forks", nullcontext)
    monkeypatch.delenv(figures.LANGUAGES, raising=False)
    book = small_book(tmp_path, "good", "failing")
    for name in ("good", "failing"):
        book.write(f"# {name}\n\n```{{code-cell}}\n{name.replace('ing', 's')}\n```\n", name)
    book.write("---\nno: page", "broken")
    for expected in (["chapters: fails", "chapters: good"], ["chapters: fails"]):
        ran.clear()
        executed_pages.fill_cache(book.folder, book.folder / "cache", ["zh_CN", "de"])
        assert sorted(ran) == expected
        assert figures.LANGUAGES not in os.environ
    cache = get_cache(book.folder / "cache")
    pages = {path.stem: page for path, page in executed_pages.read_pages(book.folder)}
    merged = cache.merge_match_into_notebook(pages["good"])[1]
    first, second = merged.cells[-1].outputs
    assert first.text == "42\n"
    # The cached page has its figures in English; those in other languages are beside the cache.
    assert second.data == {"text/html": "<p>good"}
    place = figures.place(book.folder / "cache", "zh_CN", "<p>good")
    assert place.read_text(encoding="utf-8") == "<p>图"
    # With all pages cached, no kernel is started.
    book.write("# Words\n", "failing")
    executed_pages.fill_cache(book.folder, book.folder / "cache")
    monkeypatch.setattr(executed_pages.forked_kernels, "forks", lambda _: pytest.fail("started"))
    executed_pages.fill_cache(book.folder, book.folder / "cache")


@pytest.mark.long
def test_sphinx_does_not_run_cached_pages(two_pages: Book) -> None:
    (two_pages.folder / "chapters" / "failing.md").unlink()
    toc = two_pages.folder / "_toc.yml"
    toc.write_text(toc.read_text().replace("  - file: chapters/failing\n", ""))
    run = two_pages.build()
    assert run.returncode == 0, run.stderr
    (cache,) = (two_pages.folder / "_build" / ".jupyter_cache").iterdir()
    assert len(get_cache(cache).list_cache_records()) == 2  # the title page and good.md
