"""A user measures a machine with roofmeter, and reads stored runs."""

import csv
import datetime
import shutil
import statistics
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from repository import ROOT

import rooflib as rl
import roofmeter

RUNS = ROOT / "kit" / "roofmeter" / "runs"
FOLDERS = sorted(path for path in RUNS.iterdir() if path.is_dir())
stored = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "roofmeter", *map(str, arguments)],
        cwd=ROOT / "kit",
        env={"PYTHONPATH": f"{ROOT}:{ROOT / 'kit'}", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_all_stored_runs_are_found() -> None:
    assert set(roofmeter.runs()) == {folder.name for folder in FOLDERS} != set()


@stored
def test_a_stored_run_says_where_when_and_with_what_it_was_taken(folder: Path) -> None:
    head = tomllib.loads((folder / f"{folder.name}.toml").read_text(encoding="utf-8"))
    assert head["run"]["date"].tzinfo
    assert folder.name.endswith(f"{head['run']['date']:%Y-%m-%d}")
    assert head["run"]["date"] > datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    assert head["host"]["cpu"]
    for name in ("rooflib", "python", "numpy", "blas", "script"):
        assert head["libraries"][name]
    assert {path.suffix for path in folder.iterdir()} == {".toml", ".csv"}


@stored
def test_a_stored_runs_figures_are_those_of_its_samples(folder: Path) -> None:
    """Rates are amounts over measured times, of samples that nothing disturbed."""
    run = roofmeter.load_run(folder)
    with (folder / f"{folder.name}.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["figure"] for row in rows} == set(run.figures)
    for key, figure in run.figures.items():
        own = [row for row in rows if row["figure"] == key and not row["disturbed"]]
        seconds = [float(row["seconds"]) / int(row["repeats"]) for row in own]
        assert len(seconds) >= 3
        assert min(seconds) > 0
        rates = [
            figure.amount / s if figure.unit.endswith("/s") else s / figure.amount for s in seconds
        ]
        assert figure.interval[0] <= figure.median <= figure.interval[1]
        assert min(rates) * (1 - 1e-9) <= figure.median <= max(rates) * (1 + 1e-9)
        assert figure.median == pytest.approx(statistics.median(rates), rel=0.1)


@stored
def test_a_stored_runs_chip_is_a_chip_of_rooflib(folder: Path) -> None:
    run = roofmeter.load_run(folder)
    assert 1 <= run.threads == run.host.granted <= run.host.present
    bound = rl.dot(10**6, "fp32").on(run.chip)
    assert bound.roof == "HBM"
    assert run.chip.ridge("fp32") == pytest.approx(run.chip["fp32"] / run.chip["HBM"])
    # What the operations move and compute is what rooflib counts.
    for operation in run.operations.values():
        if operation.figure.operation == "matmul":
            counted = rl.matmul(**operation.figure.sizes)
            assert operation.bounds.times["compute"] == pytest.approx(
                counted.flops / run.chip["fp32"], rel=0.3
            )
        assert 0 < operation.ratios[0] <= operation.ratios[1]


def test_a_run_is_saved_loaded_and_compared(tmp_path: Path) -> None:
    run = roofmeter.load_run(FOLDERS[0])
    run.save(tmp_path / "copy")
    again = roofmeter.load_run(tmp_path / "copy")
    assert str(again.table) == str(run.table)
    assert str(again.operations_table) == str(run.operations_table)
    assert run.chip["fp32"] == again.chip["fp32"]
    assert set(run.compare(again).columns["apart"]) == {"no"}
    faster = {key: replace(one, amount=10 * one.amount) for key, one in run.figures.items()}
    assert set(run.compare(replace(run, figures=faster)).columns["apart"]) == {"yes"}


BROKEN = [
    ("toml", "format = 1", "format = 99", "format"),
    ("toml", 'cpu = "', 'no_cpu = "', "cpu"),
    ("toml", "[libraries]", "[books]", "libraries"),
    ("csv", "\nread,", "\nreal,", "real"),
]


@pytest.mark.parametrize(("ending", "old", "new", "words"), BROKEN)
def test_a_broken_run_is_refused_in_one_line(
    tmp_path: Path, ending: str, old: str, new: str, words: str
) -> None:
    folder = tmp_path / FOLDERS[0].name
    shutil.copytree(FOLDERS[0], folder)
    path = folder / f"{folder.name}.{ending}"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(ValueError, match=words) as error:
        roofmeter.load_run(folder)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--compare", "no/where"), "no/where"),
        (("--seconds", "soon"), "soon"),
        (("--seconds", "0"), "seconds must be above zero"),
        (("--sped", "1"), "--sped"),
    ],
)
def test_a_wrong_argument_is_named_in_one_line(arguments: tuple[str, str], words: str) -> None:
    done = command(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("roofmeter: ")
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.long
def test_this_machine_is_measured_and_saved_or_refused_with_a_reason(tmp_path: Path) -> None:
    done = command("--seconds", 10, "--save", tmp_path / "mine")
    if done.returncode == 3:
        reason = done.stderr.splitlines()[-1]
        assert reason.startswith("roofmeter: this machine is too busy")
        return
    assert done.returncode == 0, done.stderr
    run = roofmeter.load_run(tmp_path / "mine")
    assert "peak fp32" in done.stdout
    assert 1e8 < run.chip["fp32"] < 1e14
    assert 1e8 < run.chip["HBM"] < 1e13
