"""Tests that stored runs record where, when and how they were taken."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from fake_machine import FakeMachine
from fake_torch import FakeNvml, FakeTorch
from run_schema import problems

import roofmeter
from roofmeter import store
from roofmeter.accelerator import survey
from roofmeter.accelerator.torch_backend import make_backend
from roofmeter.accelerator.workloads import Sizes
from roofmeter.clocks import ClockTimes
from roofmeter.host import Host
from roofmeter.protocol import measure_plan

FOLDERS = sorted(store.RUNS_FOLDER.glob("*/"))
HOST = Host("Made-up CPU", 4, 2, 8e9, system="Paper 1.0, sheet")
SIZES = Sizes((32,), (4,), 64, 2**10, 2.0**12, (1, 16), (2, 64), (4, 2, 8))
WINDOWS = survey.Windows(0.01, 2, 0.3, 0.6, 0.7, 1)


def fake_cpu_run() -> roofmeter.Run:
    """Return a CPU run on simulated clocks, as `measure` produces it."""
    machine = FakeMachine()
    return measure_plan(
        HOST, machine.work(0.01), machine.plan(), 60.0, lambda share, what: None, machine
    )


def fake_gpu_run() -> roofmeter.Run:
    """Return a run of the fake GPU, as `measure_accelerator` produces it."""
    with pytest.MonkeyPatch.context() as patch:
        torch = FakeTorch()
        patch.setitem(sys.modules, "pynvml", FakeNvml(torch))
        return survey.survey(
            make_backend(torch, "cuda"),
            HOST,
            SIZES,
            WINDOWS,
            1e9,
            lambda share, what: None,
            lambda: ClockTimes(torch.now, 0.0),
            torch.rest,
        )


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> Path:
    """A folder of stored runs: one of a CPU, one of a device."""
    folder = tmp_path_factory.mktemp("runs")
    for run, name in ((fake_cpu_run(), "made-up-cpu"), (fake_gpu_run(), "gpu")):
        run.save(folder / f"{name}-{run.date:%Y-%m-%d}")
    return folder


def test_stored_runs_have_full_provenance():
    found = {folder.name: problems(folder) for folder in FOLDERS}
    assert not {name: said for name, said in found.items() if said}


def test_stored_runs_load_with_figures_and_a_chip(kept):
    for folder in [*FOLDERS, *kept.iterdir()]:
        run = roofmeter.load_run(folder)
        assert 1 <= run.threads == run.host.granted <= run.host.present
        for each in run.figures.values():
            assert 0 < each.interval[0] <= each.median <= each.interval[1]
        assert run.chip.bandwidth > 0


def test_new_runs_pass_the_provenance_checks(kept):
    assert [problems(folder) for folder in sorted(kept.iterdir())] == [[], []]


def test_every_run_in_the_folder_is_loaded(kept, monkeypatch):
    assert set(roofmeter.runs()) == {folder.name for folder in FOLDERS}
    monkeypatch.setattr(store, "RUNS_FOLDER", kept)
    store.runs.cache_clear()
    try:
        names = list(roofmeter.runs())
        assert set(names) == {folder.name for folder in kept.iterdir()}
        # CPU runs come first: the chapter shows the first run.
        assert [bool(run.device) for run in roofmeter.runs().values()] == [False, True]
    finally:
        monkeypatch.undo()
        store.runs.cache_clear()


BREAKS = [
    ("toml", "script = ", "no_script = ", "it has the script's hash"),
    ("toml", "rooflib = ", "no_rooflib = ", "it names its libraries"),
    ("toml", "library = ", "no_library = ", "it names its libraries"),
    ("toml", "block = ", "no_block = ", "it says how it was taken"),
    ("toml", "sensors = ", "no_sensors = ", "it says what its sensors were"),
    ("toml", "driver = ", "no_driver = ", "it names the driver"),
    ("toml", '"Paper GPU"', '"Another"', "its folder is named after its machine"),
    ("toml", "date = 20", "date = 19", "its date is no placeholder"),
    ("toml", "+00:00", "", "its date has a time zone"),
    ("toml", '"Made-up CPU"', '""', "it names the processor"),
    ("toml", 'key = "read"', 'key = "red"', "its CSV has the figures of its TOML"),
    ("toml", "[left_out]", "[left_out]\nread = 1", "what was left out is no figure"),
    ("csv", "\nread,", "\nreal,", "its CSV has the figures of its TOML"),
    ("csv", ",power,", ",weight,", "its CSV has the columns of a run"),
]


@pytest.mark.parametrize(("ending", "old", "new", "problem"), BREAKS)
def test_each_missing_part_is_reported(kept, tmp_path, ending, old, new, problem):
    source = next(folder for folder in kept.iterdir() if folder.name.startswith("gpu"))
    folder = tmp_path / source.name
    folder.mkdir()
    for path in source.iterdir():
        said = path.read_text()
        if path.suffix == f".{ending}":
            assert old in said
            said = said.replace(old, new)
        (folder / path.name).write_text(said)
    assert problem in problems(folder)


def test_too_few_samples_and_extra_files_are_reported(kept, tmp_path):
    source = next(folder for folder in kept.iterdir() if folder.name.startswith("made"))
    folder = tmp_path / source.name
    folder.mkdir()
    for path in source.iterdir():
        lines = path.read_text().splitlines(keepends=True)
        at = [i for i, line in enumerate(lines) if line.startswith("read,")][2:]
        (folder / path.name).write_text("".join(x for i, x in enumerate(lines) if i not in at))
    (folder / "notes.txt").write_text("")
    assert set(problems(folder)) == {
        "a figure has 3 samples or more",
        "it is one TOML and one CSV",
    }
