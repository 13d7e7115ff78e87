"""Tests that stored runs record where, when and how they were taken."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_machine import FakeMachine
from run_schema import problems

import roofmeter
from roofmeter import store
from roofmeter.host import Host
from roofmeter.protocol import measure_plan

FOLDERS = sorted(store.RUNS_FOLDER.glob("*/"))
HOST = Host("Made-up CPU", 4, 2, 8e9, "Paper 1.0, sheet")


def fake_run() -> roofmeter.Run:
    """Return a run on simulated clocks, as `measure` produces it."""
    machine = FakeMachine()
    return measure_plan(
        HOST, machine.work(0.01), machine.plan(), 60.0, lambda share, what: None, machine
    )


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> Path:
    """Return a folder that contains one saved simulated run."""
    folder, run = tmp_path_factory.mktemp("runs"), fake_run()
    run.save(folder / f"made-up-cpu-{run.date:%Y-%m-%d}")
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


def test_new_runs_have_the_same_sampling_parameters_as_stored_runs(kept):
    """Require equal parameters: otherwise the figures could not be compared."""
    (new,) = (roofmeter.load_run(folder) for folder in kept.iterdir())
    for run in map(roofmeter.load_run, FOLDERS):
        assert {name: new.protocol[name] for name in run.protocol} == run.protocol


def test_new_runs_pass_the_provenance_checks(kept):
    assert [problems(folder) for folder in kept.iterdir()] == [[]]


def test_every_run_in_the_folder_is_loaded(kept, monkeypatch):
    assert set(roofmeter.runs()) == {folder.name for folder in FOLDERS}
    monkeypatch.setattr(store, "RUNS_FOLDER", kept)
    store.runs.cache_clear()
    try:
        assert set(roofmeter.runs()) == {folder.name for folder in kept.iterdir()}
    finally:
        monkeypatch.undo()
        store.runs.cache_clear()


BREAKS = [
    ("toml", "script = ", "no_script = ", "it has the script's hash"),
    ("toml", "rooflib = ", "no_rooflib = ", "it names its libraries"),
    ("toml", "blas = ", "no_blas = ", "it names its libraries"),
    ("toml", "block = ", "no_block = ", "it says how it was taken"),
    ("toml", '"Made-up CPU"', '"Another"', "its folder is named after its machine"),
    ("toml", "date = 20", "date = 19", "its date is no placeholder"),
    ("toml", "+00:00", "", "its date has a time zone"),
    ("toml", '"Made-up CPU"', '""', "it names the processor"),
    ("toml", 'key = "read"', 'key = "red"', "its CSV has the figures of its TOML"),
    ("toml", "[left_out]", "[left_out]\nread = 1", "what was left out is no figure"),
    ("csv", "\nread,", "\nreal,", "its CSV has the figures of its TOML"),
    ("csv", ",others,", ",weight,", "its CSV has the columns of a run"),
]


@pytest.mark.parametrize(("ending", "old", "new", "problem"), BREAKS)
def test_missing_or_wrong_parts_of_a_run_are_reported(kept, tmp_path, ending, old, new, problem):
    (source,) = kept.iterdir()
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
    (source,) = kept.iterdir()
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
