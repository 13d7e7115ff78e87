"""Tests of the cache of values between JupyterLab starts: used while valid."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
from commands.jupyterlab import kept_values

PAGES = {
    "one": [["code", "import rooflib"], ["values", "rooflib.SIZE"]],
    "two": [["code", "n = 2"], ["values", "n", "n + 1"]],
}
VALUES = {"one": {"rooflib.SIZE": "7"}, "two": {"n": "2", "n + 1": "3"}}


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """Create a book with a package whose value a page shows."""
    for name in ("rooflib", "kit/roofkit", "exercises/task"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "rooflib" / "__init__.py").write_text("SIZE = 7\n")
    return tmp_path


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Return a list that records which pages each run computes."""
    runs: list[list[str]] = []
    compute = kept_values.computed

    def counted(book: Path, pages: Any) -> Any:
        runs.append(list(pages))
        return compute(book, pages)

    monkeypatch.setattr(kept_values, "computed", counted)
    return runs


def values(book: Path, pages: Any = PAGES) -> dict[str, dict[str, str]]:
    return {page: v["values"] for page, v in kept_values.kept_or_computed(book, pages).items()}


def test_values_of_unchanged_pages_are_taken_from_the_cache(
    book: Path, ran: list[list[str]]
) -> None:
    assert values(book) == VALUES
    assert values(book) == VALUES
    assert ran == [["one", "two"]]


def test_only_changed_pages_are_run(book: Path, ran: list[list[str]]) -> None:
    values(book)
    changed = PAGES | {"two": [["code", "n = 3"], ["values", "n", "n + 1"]]}
    assert values(book, changed) == VALUES | {"two": {"n": "3", "n + 1": "4"}}
    asked = PAGES | {"two": [["code", "n = 2"], ["values", "n"]]}
    assert values(book, asked) == VALUES | {"two": {"n": "2"}}
    assert ran[1:] == [["two"], ["two"]]


@pytest.mark.parametrize(
    "path",
    [
        "rooflib/__init__.py",
        "rooflib/hardware.toml",
        "kit/roofkit/new.py",
        "exercises/task/task.ipynb",
        "requirements.txt",
    ],
)
def test_changed_dependencies_invalidate_all_pages(
    book: Path, ran: list[list[str]], path: str
) -> None:
    values(book)
    # Change the length, too: Python recognizes changed sources by date (in seconds) and length.
    (book / path).write_text("SIZE = 8  # anew\n")
    shown = "8" if path == "rooflib/__init__.py" else "7"
    assert values(book) == VALUES | {"one": {"rooflib.SIZE": shown}}
    assert ran == [["one", "two"]] * 2


def test_another_python_version_invalidates_all_pages(
    book: Path, ran: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    values(book)
    monkeypatch.setattr(kept_values.sys, "version", "another")
    values(book)
    assert ran == [["one", "two"]] * 2


def test_failed_pages_are_run_again(book: Path, ran: list[list[str]]) -> None:
    (book / "data").mkdir()
    pages = {"one": [["code", f"open({str(book / 'data' / 'text')!r})"], ["values", "'read'"]]}
    assert values(book, pages) == {"one": {}}
    (book / "data" / "text").touch()
    assert values(book, pages) == {"one": {"'read'": "read"}}
    assert ran == [["one"], ["one"]]


@pytest.mark.parametrize("text", ["", "[1]", "{", "\xff"])
def test_a_damaged_cache_is_ignored(book: Path, ran: list[list[str]], text: str) -> None:
    values(book)
    (book / kept_values.FILE).write_bytes(text.encode("latin-1"))
    assert values(book) == VALUES
    assert len(ran) == 2


def test_a_page_whose_code_exits_python_is_an_error(book: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        values(book, {"one": [["code", "import os; os._exit(3)"]]})


def test_no_temporary_files_are_left(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Temporary files must be beside the cache: moves from another disk aren't atomic.
    monkeypatch.setattr(tempfile, "tempdir", str(book / "none"))
    values(book)
    (book / kept_values.FILE).unlink()
    values(book)
    assert [path.name for path in (book / "_build").iterdir()] == [kept_values.FILE.name]
