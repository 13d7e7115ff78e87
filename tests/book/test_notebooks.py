"""Every chapter runs as a notebook from top to bottom, as in JupyterLab."""

import shutil
import subprocess
import sys
from pathlib import Path

import jupytext
import nbformat
import pytest
from book_extension.values import PAGE_SETUP
from commands import lab
from nbformat import NotebookNode
from repository import HEADER, ROOT

CHAPTERS = sorted((ROOT / "chapters").glob("*.md"))


def run_notebooks(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run every notebook below a folder with nbval.

    A cell that raises an error fails.
    """
    command = [sys.executable, "-m", "pytest", "-q", "--nbval-lax", "--nbval-current-env"]
    return subprocess.run([*command, str(folder)], cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda p: p.stem)
def test_a_chapter_notebook_matches_what_the_build_ran(
    site: Path, copies: Path, chapter: Path
) -> None:
    """Comparing the cells is enough: the build runs them, and fails if one fails."""
    executed = site.parent / "jupyter_execute" / "chapters" / f"{chapter.stem}.ipynb"
    run = [cell.source for cell in code(nbformat.read(executed, as_version=4)) if not hidden(cell)]
    copy = nbformat.read(copies / f"{chapter.stem}.ipynb", as_version=4)
    assert [cell.source for cell in code(copy)] == run


def code(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def hidden(cell: NotebookNode) -> bool:
    return cell.source == PAGE_SETUP or cell.source.startswith("_page_values(")


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the chapters' notebooks as readers get them."""
    folder = tmp_path_factory.mktemp("chapters")
    for chapter in CHAPTERS:
        nbformat.write(lab.chapter_notebook(chapter), folder / f"{chapter.stem}.ipynb")
    return folder


# In JupyterLab live figures are widgets, unlike in pages. So short runs include one chapter with a
# live figure.
@pytest.mark.parametrize(
    "chapter",
    [
        pytest.param(chapter, marks=[] if chapter.stem == "time" else pytest.mark.long)
        for chapter in CHAPTERS
    ],
    ids=lambda p: p.stem,
)
def test_a_chapter_runs_as_a_notebook(copies: Path, tmp_path: Path, chapter: Path) -> None:
    copy = shutil.copy(copies / f"{chapter.stem}.ipynb", tmp_path)
    has_code = bool(code(nbformat.read(copy, as_version=4)))
    run = run_notebooks(tmp_path)
    # Exit status 5: pytest collected no tests.
    assert run.returncode == (0 if has_code else 5), run.stdout


@pytest.mark.long
@pytest.mark.parametrize("page", ["index", *(f"chapters/{chapter.stem}" for chapter in CHAPTERS)])
def test_a_downloaded_notebook_runs_on_its_own(site: Path, tmp_path: Path, page: str) -> None:
    offered = site / f"{page}.ipynb"
    if offered.exists():
        shutil.copy(offered, tmp_path)
    run = run_notebooks(tmp_path)
    # Exit status 5: pytest collected no tests.
    assert run.returncode == (0 if offered.exists() else 5), run.stdout


@pytest.mark.long
def test_a_broken_chapter_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(HEADER + "\n```{code-cell} ipython3\n1 / 0\n```\n")
    (tmp_path / "notebooks").mkdir()
    page = lab.chapter_notebook(tmp_path / "page.md")
    nbformat.write(page, tmp_path / "notebooks" / "page.ipynb")
    run = run_notebooks(tmp_path / "notebooks")
    assert run.returncode == 1
    assert "ZeroDivisionError" in run.stdout


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda p: p.stem)
def test_no_code_cell_of_a_chapter_is_lost_in_conversion(chapter: Path) -> None:
    text = chapter.read_text(encoding="utf-8")
    cells = jupytext.reads(text, fmt="md:myst").cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    assert len(code) == sum(line.startswith("```{code-cell}") for line in text.splitlines())
