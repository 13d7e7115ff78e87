"""No measured figure of the book comes from anywhere but a stored run with its provenance."""

from __future__ import annotations

import ast
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fake_run import fake_run
from myst_nb.core.read import read_myst_markdown_notebook
from myst_parser.config.main import MdParserConfig
from repository import ROOT

import rooflib as rl
from roofmeter import store
from roofmeter.device import Device

PAGES = [ROOT / "index.md", *ROOT.glob("chapters/*.md"), *ROOT.glob("slides/*.md")]
# Ways to a figure that is no stored run's: to measure here and now, to make one up, to read a file.
FORBIDDEN = {
    "measure", "measure_accelerator", "load_run", "Run", "Figure", "Sample", "Host",
    "MeasuredOperation",
    "Device", "open", "read_text", "read_csv", "loadtxt", "genfromtxt", "load", "loads",
    "perf_counter",
}  # fmt: skip
OTHER_DATA = {"csv", "json", "tomllib", "time", "timeit", "pathlib", "importlib", "pandas"}
CHAPTER = ROOT / "chapters/machine.md"
NAME = re.findall(r'roofmeter\.runs\(\)\["(.*)"\]', CHAPTER.read_text(encoding="utf-8"))[0]
SHOWN = re.compile(r"^(?!.*÷).*(?:best|typical|measured|reached|loaded)")
"""Headings of columns that show what was measured; ratios of few digits may agree by chance."""


def cells(page: Path) -> list[str]:
    found = read_myst_markdown_notebook(page.read_text(encoding="utf-8"), config=MdParserConfig())
    return [cell.source for cell in found.cells if cell.cell_type == "code"]


def doors(source: str) -> Iterator[str]:
    """What a cell uses that could bring in a figure without a stored run."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name.split(".")[0] in OTHER_DATA)
        elif isinstance(node, ast.ImportFrom):
            names = [each.name for each in node.names]
            if node.module.split(".")[0] in OTHER_DATA:
                yield node.module
            # Of what measures, only constants.
            if node.module.startswith("roofmeter"):
                yield from (name for name in names if not name.isupper())
            yield from (name for name in names if name in FORBIDDEN)
        elif isinstance(node, ast.Attribute) and node.attr in FORBIDDEN:
            yield node.attr
        elif isinstance(node, ast.Name) and node.id in FORBIDDEN:
            yield node.id


def test_pages_take_measured_figures_from_stored_runs_alone():
    assert len(PAGES) > 10
    found = {page.name: list(doors(cell)) for page in PAGES for cell in cells(page)}
    assert not {name: used for name, used in found.items() if used}


@pytest.mark.parametrize(
    "cell",
    [
        "run = roofmeter.measure()",
        "run = roofmeter.measure_accelerator('cuda')",
        "run = roofmeter.load_run('elsewhere')",
        "from roofmeter import Figure",
        "from roofmeter.accelerator import survey",
        "rows = open('samples.csv').read()",
        "import csv",
        "from pathlib import Path",
        "start = time.perf_counter()",
        "roofmeter.run.Run(host, date)",
    ],
)
def test_every_other_door_is_seen(cell):
    assert list(doors(cell))


@pytest.fixture
def stored(monkeypatch, tmp_path):
    """A folder of runs in place of the stored ones: that of a processor, and that of a device."""

    def put(seed: int) -> Path:
        folder = tmp_path / f"runs-{seed}"
        run = fake_run(seed)
        run.save(folder / NAME)
        # A name that has a data sheet, so that the page shows both; the figures are no GPU's.
        device = Device("NVIDIA H200", "cuda", 1e9)
        libraries = {**run.libraries, "library": "made up 1"}
        figures = dict(run.figures)
        figures["peak bf16"] = replace(figures.pop("peak fp32"), key="peak bf16")
        for B in (1, 2):
            sizes = {**figures[f"thin {B}"].sizes, "x": "bf16"}
            figures[f"matmul bf16 128 {B}"] = replace(
                figures[f"thin {B}"], key=f"matmul bf16 128 {B}", sizes=sizes
            )
        figures = {
            key: f
            for key, f in figures.items()
            if key in ("peak bf16", "read", "update") or key.startswith("matmul")
        }
        gpu = replace(run, device=device, figures=figures, libraries=libraries)
        gpu.save(folder / "nvidia-h200-2026-01-02")
        monkeypatch.setattr(store, "RUNS_FOLDER", folder)
        store.runs.cache_clear()
        return folder

    yield put
    monkeypatch.undo()
    store.runs.cache_clear()


def shown() -> list[rl.Table]:
    """The tables that the chapter shows, made from whatever runs are stored now."""
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


def test_every_measured_figure_of_the_chapter_moves_with_the_run(stored):
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
    assert columns >= 7


@pytest.mark.parametrize("missing", ["script", "blas", "timer", "date", "cpu"])
def test_a_run_without_provenance_makes_no_page(stored, missing):
    path = stored(1) / f"{NAME}/{NAME}.toml"
    said = path.read_text()
    assert f"\n{missing} = " in said
    path.write_text(said.replace(f"\n{missing} = ", f"\nno_{missing} = "))
    with pytest.raises((ValueError, TypeError), match=missing):
        shown()


def test_without_a_run_there_is_no_page(stored):
    shutil.rmtree(stored(1))
    with pytest.raises(KeyError, match=NAME):
        shown()
