"""A user measures a machine with roofmeter, and reads stored runs."""

import datetime
import json
import os
import re
import statistics
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from repository import ROOT

import rooflib as rl
import roofmeter

RUNS = ROOT / "kit" / "roofmeter" / "runs"
FILES = sorted(RUNS.glob("*/run.json"))
stored = pytest.mark.parametrize("file", FILES, ids=lambda file: file.parent.name)


ROOFMETER = [sys.executable, "-m", "roofmeter"]
HERE: dict[str, Any] = {"cwd": ROOT / "kit", "text": True}
HERE["env"] = {"PYTHONPATH": f"{ROOT}:{ROOT / 'kit'}", "PATH": "/usr/bin:/bin"}


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    words = [*ROOFMETER, *map(str, arguments)]
    return subprocess.run(words, **HERE, capture_output=True, check=False)


def test_all_stored_runs_are_found() -> None:
    assert set(roofmeter.runs()) == {file.parent.name for file in FILES} != set()


@stored
def test_a_stored_run_says_where_when_and_with_what_it_was_taken(file: Path) -> None:
    stored = json.loads(file.read_text(encoding="utf-8"))
    date = datetime.datetime.fromisoformat(stored["date"])
    assert date.tzinfo
    assert file.parent.name.endswith(f"{date:%Y-%m-%d}")
    assert date > datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    assert stored["host"]["cpu"]
    for name in ("rooflib", "python", "numpy", "blas"):
        assert stored["libraries"][name]


@stored
def test_a_stored_runs_figures_are_those_of_its_samples(file: Path) -> None:
    """Rates are amounts over measured times, of samples that nothing disturbed."""
    run = roofmeter.load_run(file)
    stored = json.loads(file.read_text(encoding="utf-8"))["figures"]
    assert [*stored] == [*run.figures]
    for key, figure in run.figures.items():
        samples = stored[key]["samples"]
        seconds = [time / repeats for time, repeats, *disturbed in samples if not any(disturbed)]
        assert len(seconds) >= 3
        assert min(seconds) > 0
        rates = [
            figure.amount / s if figure.unit.endswith("/s") else s / figure.amount for s in seconds
        ]
        assert figure.interval[0] <= figure.median <= figure.interval[1]
        assert min(rates) * (1 - 1e-9) <= figure.median <= max(rates) * (1 + 1e-9)
        assert figure.median == pytest.approx(statistics.median(rates), rel=0.1)


def test_a_run_is_saved_loaded_and_compared(tmp_path: Path) -> None:
    run = roofmeter.load_run(FILES[0])
    run.save(tmp_path / "copy")
    again = roofmeter.load_run(tmp_path / "copy")
    assert str(again.table) == str(run.table)
    assert str(again.operations_table) == str(run.operations_table)
    assert run.chip["fp32"] == again.chip["fp32"]
    assert run.name == f"{run.host.cpu}, {FILES[0].parent.name[-10:]}"
    assert rl.dot(10**6, "fp32").on(run.chip).roof == "HBM"
    assert set(run.compare(again).columns["ratio"]) == {1}


def figure(key: str, unit: str, amount: float, *ms: float, **more: Any) -> roofmeter.Figure:
    """Make a figure with samples of two passes; a fast one was disturbed and doesn't count."""
    samples = [roofmeter.Sample(2 * each / 1000, 2) for each in ms]
    disturbed = roofmeter.Sample(1e-9, 2, "by another program")
    return roofmeter.Figure(key, f"{key} ran", unit, amount, samples=(*samples, disturbed), **more)


DOT = {"operation": "dot", "sizes": {"N": 10**6, "x": "fp32"}}
FIGURES = [
    figure("peak fp32", "FLOP/s", 1e9, 10.4, 10, 10.2),
    figure("peak fp64", "FLOP/s", 1e9, 20, 20, 20),
    figure("read", "B/s", 1e8, 10, 10, 10),
    figure("update", "B/s", 1e8, 8, 16, 8),
    figure("call", "s", 10, 0.01, 0.01, 0.01),
    figure("cache 1000", "B/s", 1e8, 1, 1, 1),
    figure("cache 9000", "B/s", 1e8, 5, 5, 5),
    figure("cache 90000", "B/s", 1e8, 9, 9, 9),
    figure("peak again", "FLOP/s", 1e9, 12, 12, 12),
    figure("sum", "s", 1, 1, 2, 1.2, **DOT, roof="read"),
    figure("near", "s", 1, 1, 1, 1, **DOT, roof="cache 5000"),
]
# Best, typical, range, spread, samples that count.
MEASURED = [
    ("100 GFLOP/s", "98 GFLOP/s", "96.2 GFLOP/s to 100 GFLOP/s", "3.9%"),
    ("50 GFLOP/s", "50 GFLOP/s", "50 GFLOP/s", "0%"),
    ("10 GB/s", "10 GB/s", "10 GB/s", "0%"),
    ("12.5 GB/s", "12.5 GB/s", "6.25 GB/s to 12.5 GB/s", "50%"),
    ("1 µs", "1 µs", "1 µs", "0%"),
    ("100 GB/s", "100 GB/s", "100 GB/s", "0%"),
    ("20 GB/s", "20 GB/s", "20 GB/s", "0%"),
    ("11.1 GB/s", "11.1 GB/s", "11.1 GB/s", "0%"),
    ("83.3 GFLOP/s", "83.3 GFLOP/s", "83.3 GFLOP/s", "0%"),
]
# 2 · 10⁶ - 1 FLOPs of 8 · 10⁶ + 4 bytes: measured, bounds with the FLOPs and a call, and shares.
SUMS = [
    ("0.25", "1 ms to 2 ms", "800 µs", "821 µs", "1.25 to 2.5"),
    ("0.25", "1 ms", "400 µs", "421 µs", "2.5"),
]


def cells(table: rl.Table) -> list[tuple[str, ...]]:
    return [tuple(cell.replace("\N{NO-BREAK SPACE}", " ") for cell in row) for row in table.rows]


def test_what_a_run_says_follows_from_its_samples() -> None:
    stored = roofmeter.load_run(FILES[0])
    host, figures = replace(stored.host, memory=8e9), {each.key: each for each in FIGURES}
    run = replace(stored, host=host, figures=figures, left_out=["copy"])
    ran = [
        (each.key, *row, "3 of 4", each.what)
        for each, row in zip(FIGURES[:-2], MEASURED, strict=True)
    ]
    assert cells(run.table) == ran
    assert cells(run.operations_table) == [
        (each.what, *row) for each, row in zip(FIGURES[-2:], SUMS, strict=True)
    ]
    columns = {**run.table.columns, **run.operations_table.columns}
    named = {"best": 1e11, "typical": 9.804e10, "lower bound": 8e-4, "upper bound": 8.21e-4}
    assert {name: columns[name][0] for name in named} == pytest.approx(named, rel=1e-4)
    assert dict(run.chip.rates) == {"fp32": 1e11, "fp64": 5e10, "HBM": 1e10}
    assert (run.chip.memory, run.as_chip("update")["HBM"]) == (8e9, 1.25e10)
    # The third array is read at memory's speed; the clock fell.
    assert list(run.staircase) == [1000, 9000, 90000]
    assert run.caches_end == 90000
    assert run.drift == pytest.approx(10.2 / 12 - 1)
    left_out, *spread, clock = run.warnings
    assert "copy" in left_out
    assert [each.partition(":")[0] for each in spread] == ["update", "sum"]
    assert "15%" in clock
    assert re.search("100 GFLOP/s.+10 GB/s", repr(run))
    assert re.search("12.5 GB/s.+6.25 GB/s to 12.5 GB/s", repr(figures["update"]))
    cached = replace(run, figures={each.key: each for each in FIGURES[:6]}, left_out=[])
    assert cached.caches_end == 0
    assert [each.partition(":")[0] for each in cached.warnings] == ["update", "read"]
    slow = figure("read", "B/s", 1e8, 20, 21, 22)
    other = replace(run, figures={"read": slow, "call": figures["call"]}, date=datetime.date.max)
    table = run.compare(other)
    assert cells(table) == [("read", "10 GB/s", "4.76 GB/s", "0.476", "yes"),
                            ("call", "1 µs", "1 µs", "1", "no")]  # fmt: skip
    assert [run.name, other.name] == [name.strip() for name in [*table.columns][1:3]]


BROKEN = [
    ('"cpu"', '"no_cpu"', "cpu"),
    ('"libraries"', '"books"', "books"),
    ('"samples"', '"samplers"', "samples"),
    ("{", "", "column"),
]


@pytest.mark.parametrize(("old", "new", "words"), BROKEN)
def test_a_broken_run_is_refused_in_one_line(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    text = FILES[0].read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "broken.json"
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(ValueError, match=words) as error:
        roofmeter.load_run(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--compare", "no/where"), "no/where"),
        (("--save", "pyproject.toml/mine"), "pyproject.toml"),
        (("--seconds", "soon"), "soon"),
        (("--seconds", "0"), "seconds must be above zero"),
        (("--sped", "1"), "--sped"),
    ],
)
def test_a_wrong_argument_is_named(arguments: tuple[str, str], words: str) -> None:
    done = command(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert words in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


# On one core, with a clock that goes on by a tenth of a second at each look: samples agree on any
# machine.
STEADY = """
import itertools, os, runpy, time
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
ticks = itertools.count()
time.perf_counter = lambda: next(ticks) / 10
runpy.run_module("roofmeter", run_name="__main__", alter_sys=True)
"""


def test_a_run_is_measured_printed_compared_and_saved(tmp_path: Path) -> None:
    saved = tmp_path / "new" / "mine"
    words = ["--seconds", "10", "--save", str(saved), "--compare", str(FILES[0])]
    done = subprocess.run([sys.executable, "-c", STEADY, *words], **HERE, capture_output=True)
    assert done.returncode == 0, done.stderr
    run, other = roofmeter.load_run(saved), roofmeter.load_run(FILES[0])
    for shown in (run.name, run.table, run.operations_table, run.compare(other), *run.warnings):
        assert str(shown) in done.stdout
    # A pass of each takes a tenth of a second: the larger matmul, and an array of 1 GiB.
    peak, array = 2 * 3072**3 / 0.1, 2**30 / 0.1
    assert (run.chip["fp32"], run.chip["fp64"]) == pytest.approx((peak, peak))
    both = [run.as_chip(roof)["HBM"] for roof in ("read", "update")]
    assert both == pytest.approx([array, 2 * array], rel=1e-3)
    assert run.figures["call"].best == pytest.approx(0.1)
    assert 10 < run.seconds < 20
    assert "thin 1" in run.left_out
    for each in run.figures.values():
        assert each.what in done.stderr
        assert {sample.repeats for sample in each.samples} == {1}
    assert (run.host.granted, run.host.present) == (1, os.cpu_count())
    assert 1e9 < run.host.memory < 1e14
    listed = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    assert run.host.cpu in listed or "model name" not in listed
    assert abs(datetime.datetime.now(datetime.UTC) - run.date) < datetime.timedelta(hours=1)
    assert all(run.libraries[name] for name in ("rooflib", "python", "blas"))
    assert run.libraries["numpy"] == np.__version__


@pytest.mark.long
def test_this_machine_is_measured_and_saved_or_refused_with_a_reason(tmp_path: Path) -> None:
    done = command("--seconds", 10, "--save", tmp_path / "mine", "--compare", FILES[0])
    if done.returncode == 3:
        reason = done.stderr.splitlines()[-1]
        assert reason.startswith("roofmeter: this machine is too busy")
        return
    assert done.returncode == 0, done.stderr
    run = roofmeter.load_run(tmp_path / "mine")
    other = roofmeter.load_run(FILES[0])
    for shown in (run.table, run.operations_table, run.compare(other), *run.warnings):
        assert str(shown) in done.stdout
    # The same work is counted as ever: a matmul's FLOPs, bytes of arrays that threads share.
    for key, each in run.figures.items():
        same = other.figures.get(key, each)
        if run.host.granted == other.host.granted and same.what == each.what:
            assert replace(each, samples=()) == replace(same, samples=())
    assert 1e8 < run.chip["fp32"] < 1e14
    assert 1e8 < run.chip["HBM"] < 1e13
