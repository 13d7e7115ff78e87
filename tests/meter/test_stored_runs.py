"""Every stored run says where, when and how it was taken; nothing else gets into the book."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from made_up_machine import Machine
from paper_torch import PaperNvml, PaperTorch
from run_schema import problems

import roofmeter
from roofmeter import store
from roofmeter.accelerator import survey
from roofmeter.accelerator.torch_backend import made
from roofmeter.accelerator.workloads import Sizes
from roofmeter.host import Host
from roofmeter.protocol import take
from roofmeter.readings import Moment

FOLDERS = sorted(store.STORED.glob("*/"))
HOST = Host("Made-up CPU", 4, 2, 8e9, system="Paper 1.0, sheet")
SIZES = Sizes((32,), (4,), 64, 2**10, 2.0**12, (1, 16), (2, 64), (4, 2, 8))
WINDOWS = survey.Windows(0.01, 2, 0.3, 0.6, 0.7, 1)


def on_paper() -> roofmeter.Run:
    """A run of the processor whose clocks are made up, as `measure` writes it."""
    machine = Machine()
    return take(HOST, machine.work(0.01), machine.plan(), 60.0, lambda share, what: None, machine)


def on_paper_gpu() -> roofmeter.Run:
    """A run of the device that nobody built, as `measure_accelerator` writes it."""
    with pytest.MonkeyPatch.context() as patch:
        torch = PaperTorch()
        patch.setitem(sys.modules, "pynvml", PaperNvml(torch))
        return survey.survey(
            made(torch, "cuda"),
            HOST,
            SIZES,
            WINDOWS,
            1e9,
            lambda share, what: None,
            lambda: Moment(torch.now, 0.0),
            torch.rest,
        )


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> Path:
    """A folder of stored runs, as rooflib has one: a processor and a device."""
    folder = tmp_path_factory.mktemp("runs")
    for run, name in ((on_paper(), "made-up-cpu"), (on_paper_gpu(), "gpu")):
        run.save(folder / f"{name}-{run.date:%Y-%m-%d}")
    return folder


def test_every_stored_run_says_where_when_and_how_it_was_taken():
    found = {folder.name: problems(folder) for folder in FOLDERS}
    assert not {name: said for name, said in found.items() if said}


def test_every_stored_run_makes_figures_and_a_chip(kept):
    for folder in [*FOLDERS, *kept.iterdir()]:
        run = roofmeter.load_run(folder)
        assert 1 <= run.threads == run.host.granted <= run.host.present
        for each in run.figures.values():
            assert 0 < each.interval[0] <= each.median <= each.interval[1]
        assert run.chip.bandwidth > 0


def test_what_the_measurements_write_is_a_run_that_may_be_stored(kept):
    assert [problems(folder) for folder in sorted(kept.iterdir())] == [[], []]


def test_the_stored_runs_are_all_that_lie_in_the_folder(kept, monkeypatch):
    assert set(roofmeter.runs()) == {folder.name for folder in FOLDERS}
    monkeypatch.setattr(store, "STORED", kept)
    store.runs.cache_clear()
    try:
        names = list(roofmeter.runs())
        assert set(names) == {folder.name for folder in kept.iterdir()}
        # The chapter's machine is the first one, and no accelerator.
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
def test_each_part_that_is_missing_is_named(kept, tmp_path, ending, old, new, problem):
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


def test_two_samples_are_no_figure_and_a_third_file_no_part_of_a_run(kept, tmp_path):
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
