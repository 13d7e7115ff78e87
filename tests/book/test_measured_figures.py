"""All measured numbers in the book come from stored runs with provenance."""

from __future__ import annotations

import ast
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_run import fake_run
from myst_nb.core.read import read_myst_markdown_notebook
from myst_parser.config.main import MdParserConfig
from repository import ROOT

import rooflib as rl
from roofmeter import store

PAGES = [ROOT / "index.md", *ROOT.glob("chapters/*.md"), *ROOT.glob("slides/*.md")]
# Names that could give a cell measured numbers without a stored run: by measuring, by constructing
# results, or by I/O.
FORBIDDEN = {
    "measure", "load_run", "Run", "Figure", "Sample", "Host", "MeasuredOperation",
    "open", "read_text", "read_csv", "loadtxt", "genfromtxt", "load", "loads",
    "perf_counter",
}  # fmt: skip
OTHER_DATA = {"csv", "json", "tomllib", "time", "timeit", "pathlib", "importlib", "pandas"}
CHAPTER = ROOT / "chapters/machine.md"
NAME = re.findall(r'roofmeter\.runs\(\)\["(.*)"\]', CHAPTER.read_text(encoding="utf-8"))[0]
SHOWN = re.compile(r"^(?!.*÷).*(?:best|typical|measured|reached|loaded)")
"""Headings of columns with measured values, except ratios, which may agree by chance."""


def cells(page: Path) -> list[str]:
    found = read_myst_markdown_notebook(page.read_text(encoding="utf-8"), config=MdParserConfig())
    return [cell.source for cell in found.cells if cell.cell_type == "code"]


def other_sources(source: str) -> Iterator[str]:
    """Yield a cell's names that could give measured numbers without a stored run."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name.split(".")[0] in OTHER_DATA)
        elif isinstance(node, ast.ImportFrom):
            names = [each.name for each in node.names]
            if node.module.split(".")[0] in OTHER_DATA:
                yield node.module
            # Pages may import only constants from roofmeter.
            if node.module.startswith("roofmeter"):
                yield from (name for name in names if not name.isupper())
            yield from (name for name in names if name in FORBIDDEN)
        elif isinstance(node, ast.Attribute) and node.attr in FORBIDDEN:
            yield node.attr
        elif isinstance(node, ast.Name) and node.id in FORBIDDEN:
            yield node.id


def test_pages_take_measured_numbers_only_from_stored_runs():
    assert len(PAGES) > 10
    found = {page.name: list(other_sources(cell)) for page in PAGES for cell in cells(page)}
    assert not {name: used for name, used in found.items() if used}


@pytest.mark.parametrize(
    "cell",
    [
        "run = roofmeter.measure()",
        "run = roofmeter.load_run('elsewhere')",
        "from roofmeter import Figure",
        "from roofmeter import protocol",
        "rows = open('samples.csv').read()",
        "import csv",
        "from pathlib import Path",
        "start = time.perf_counter()",
        "roofmeter.run.Run(host, date)",
    ],
)
def test_sources_of_measured_numbers_other_than_stored_runs_are_found(cell):
    assert list(other_sources(cell))


@pytest.fixture
def stored(monkeypatch, tmp_path):
    """Return a function that replaces the stored runs by a fake run, made from a seed."""

    def put(seed: int) -> Path:
        folder = tmp_path / f"runs-{seed}"
        fake_run(seed).save(folder / NAME)
        monkeypatch.setattr(store, "RUNS_FOLDER", folder)
        store.runs.cache_clear()
        return folder

    yield put
    monkeypatch.undo()
    store.runs.cache_clear()


def shown() -> list[rl.Table]:
    """Run the chapter with the current stored runs; return the tables it shows."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.use("agg")
    world: dict[str, object] = {}
    tables = []
    for source in cells(CHAPTER):
        parsed = ast.parse(source)
        last = parsed.body.pop() if isinstance(parsed.body[-1], ast.Expr) else None
        exec(compile(parsed, "machine.md", "exec"), world)
        if last:
            value = eval(compile(ast.Expression(last.value), "machine.md", "eval"), world)
            tables += [value] if isinstance(value, rl.Table) else []
    plt.close("all")
    return tables


def test_measured_numbers_in_the_chapters_tables_change_with_the_run(stored):
    worlds = []
    for seed in (1, 2):
        stored(seed)
        worlds.append(shown())
    columns = 0
    for one, other in zip(*worlds, strict=True):
        for at, heading in enumerate(one.columns):
            if SHOWN.search(heading):
                columns += 1
                for a, b in zip(one.rows, other.rows, strict=True):
                    assert a[at] != b[at] or a[at] == "–", f"{heading}: {a}"
    assert columns >= 6


@pytest.mark.parametrize("missing", ["script", "blas", "timer", "date", "cpu"])
def test_a_run_without_provenance_fails_the_page(stored, missing):
    path = stored(1) / f"{NAME}/{NAME}.toml"
    said = path.read_text()
    assert f"\n{missing} = " in said
    path.write_text(said.replace(f"\n{missing} = ", f"\nno_{missing} = "))
    with pytest.raises((ValueError, TypeError), match=missing):
        shown()


def test_a_missing_measurement_run_fails_the_page(stored):
    shutil.rmtree(stored(1))
    with pytest.raises(KeyError, match=NAME):
        shown()
