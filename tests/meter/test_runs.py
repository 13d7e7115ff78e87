"""Tests of runs: chips, operations under roofs, files, and the command line."""

import csv
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from fake_machine import DATE, HOST, FakeMachine
from hypothesis import given, settings
from hypothesis import strategies as st

import rooflib as rl
import roofmeter
from rooflib.units import breakable
from roofmeter import Figure, Run, Sample
from roofmeter import __main__ as command
from roofmeter.store import load_run

LIBRARIES = {"rooflib": "0", "python": "3", "numpy": "2", "blas": "made up 1", "script": "0" * 64}
PROTOCOL = {"timer": "a sundial", "data": "made up"}


def figure(key: str, unit: str, amount: float, seconds: float, **more) -> Figure:
    samples = tuple(Sample(seconds * slower, 1, 1.0) for slower in (1, 1.01, 1.02))
    return Figure(key, f"made-up {key}", unit, amount, 2, samples, **more)


def a_run(*figures: Figure, **more) -> Run:
    """Return a run: 100 and 50 GFLOP/s (fp32, fp64), 20 and 30 GB/s (read, update).

    It has figures for three sizes of caches, too.
    """
    roofs = [
        figure("peak fp32", "FLOP/s", 1e9, 0.01),
        figure("peak fp64", "FLOP/s", 1e9, 0.02),
        figure("read", "B/s", 2e9, 0.1, footprint=1e9),
        figure("update", "B/s", 3e9, 0.1, footprint=1e9),
        figure("call", "s", 1, 1e-6),
        figure("cache 65536", "B/s", 2e9, 0.01, footprint=65536.0),
        figure("cache 1048576", "B/s", 1e9, 0.01, footprint=2.0**20),
        figure("cache 16777216", "B/s", 2.1e8, 0.01, footprint=2.0**24),
    ]
    found = {each.key: each for each in [*roofs, *figures]}
    usual = {"host": HOST, "date": DATE, "seconds": 30.0, "threads": 2, "libraries": LIBRARIES}
    usual |= {"protocol": PROTOCOL}
    return Run(figures=found, **{**usual, **more})


def operation_figure(seconds: float, roof: str = "read", footprint: float = 1e9) -> Figure:
    """Return the measured time of an operation of 1 GFLOP and 1 GB.

    The roofs of `a_run` give 10 ms to compute, 50 ms to read and 33 ms to update.
    """
    sizes = {"flops": 1e9, "bytes": 1e9, "compute": "fp32"}
    more = {"operation": "operation", "sizes": sizes, "roof": roof, "footprint": footprint}
    return figure("some", "s", 1, seconds, **more)


POSITIONS = [
    (0.0490, 1e9, "above the roof", "fewer bytes moved than were counted"),
    (0.0490, 2**24, "above the roof", "fewer bytes moved than were counted"),
    (0.0490, 2**24 - 1, "above the roof", "a cache holds its bytes"),
    (0.0491, 1e9, "on the roof", ""),
    (0.0500, 1e9, "on the roof", ""),
    (0.0501, 1e9, "between the bounds", ""),
    (0.0600, 1e9, "between the bounds", ""),
    (0.0601, 1e9, "slower than both", ""),
]


@pytest.mark.parametrize(("seconds", "footprint", "position", "reason"), POSITIONS)
def test_operations_are_classified_by_their_time_relative_to_their_bounds(
    seconds, footprint, position, reason
):
    # The slowest sample takes 1.02 times the best. The upper bound of 60.001 ms includes a call.
    run = a_run(operation_figure(seconds, footprint=footprint))
    found = run.operations["some"]
    assert (found.position, found.reason) == (position, reason)
    told = f"{position}: {reason}" if reason else position
    assert run.operations_table.columns["position"] == [told]
    assert found.ratios == pytest.approx((seconds / 0.05, 1.02 * seconds / 0.05))
    ratios = dict.fromkeys(f"{ratio:.3g}" for ratio in found.ratios)
    assert run.operations_table.columns["÷ lower"] == [" to ".join(ratios)]
    assert found.ratio == found.ratios[0]
    assert float(found.bounds.upper) == pytest.approx(0.060001)


def test_operations_are_bounded_by_the_roof_they_name():
    roofs = {"read": 0.05, "update": 1 / 30, "cache 1048576": 0.01, "cache 500000": 0.01}
    roofs |= {"cache 99999999": 0.05}  # larger than every array that was read repeatedly
    for roof, lower in roofs.items():
        assert float(
            a_run(operation_figure(1.0, roof)).operations["some"].bounds.lower
        ) == pytest.approx(lower)


def test_without_a_call_figure_the_launch_overhead_is_zero():
    run = a_run(operation_figure(0.05))
    rest = {key: figure for key, figure in run.figures.items() if key != "call"}
    # The upper bound is 10 ms for the FLOPs plus 50 ms for the bytes.
    (found,) = replace(run, figures=rest).operations.values()
    assert float(found.bounds.upper) == pytest.approx(0.06)


def test_cpu_share_ignores_disturbed_samples():
    samples = [Sample(1.0, 1, own) for own in (0.5, 0.52, 0.6)] + [Sample(1, 1, 0.1, disturbed="x")]
    assert replace(operation_figure(1.0), samples=tuple(samples)).share == 0.52


def test_caches_end_where_reads_reach_memory_speed():
    assert a_run().caches_end == 2**24
    faster = figure("cache 16777216", "B/s", 2.6e8, 0.01, footprint=2.0**24)
    run = a_run(faster)
    assert run.caches_end == 0
    assert "no array was larger than the caches" in run.warnings[-1]
    sizes = (65536.0, 2.0**20, 2.0**24)
    slow = [figure(f"cache {size:.0f}", "B/s", 2e8, 0.01, footprint=size) for size in sizes]
    assert a_run(*slow).caches_end == 65536
    # Missing cache figures cause no warning: numpy 1 cannot measure them.
    rest = {key: value for key, value in run.figures.items() if not key.startswith("cache ")}
    assert replace(run, figures=rest).warnings == []


@pytest.mark.parametrize(("seconds", "told"), [(0.0125, "20%"), (0.0112, "11%"), (0.0089, "12%")])
def test_clock_drift_is_a_warning(seconds, told):
    assert a_run().warnings == []
    changed = a_run(figure("peak again", "FLOP/s", 1e9, seconds))
    assert changed.drift == pytest.approx(0.01 / seconds - 1)
    assert f"{told}: the clock is not steady" in changed.warnings[0]


@pytest.mark.parametrize("seconds", [0.0109, 0.0092])
def test_slight_clock_drift_is_no_warning(seconds):
    assert a_run(figure("peak again", "FLOP/s", 1e9, seconds)).warnings == []


def test_a_measurement_with_unsettled_samples_is_a_warning():
    samples = tuple(Sample(seconds, 1, 1.0) for seconds in (0.1, 0.104, 0.106, 0.2))
    run = a_run(replace(figure("other", "s", 1, 1), samples=samples))
    # The third-best sample takes 6% longer than the best; all lie within 0.1 s, 95% of the median.
    assert run.warnings == ["other: not settled, its samples differ by 95%"]
    settled = replace(run.figures["other"], samples=(*samples, Sample(0.102, 1, 1.0)))
    assert a_run(settled).warnings == []


def test_a_run_is_shown_as_its_table_of_roofs():
    run = a_run(operation_figure(0.05))
    assert run._repr_markdown_() == run.table._repr_markdown_()
    assert [row[0] for row in run.table.rows] == [*run.figures][:-1]
    rows = {row[0]: [breakable(each) for each in row[1:]] for row in run.table.rows}
    best, typical, ends, spread, samples, what = rows["read"]
    assert (best, typical, ends) == ("20 GB/s", "19.8 GB/s", "19.6 GB/s to 20 GB/s")
    assert (spread, samples, what) == ("2%", "3 of 3", "made-up read")


def test_measured_roofs_are_compared_with_a_data_sheet():
    sheet = rl.Chip("on paper", {"fp32": 2e11}, 4e10, 1e9, vector={"fp32": 1, "fp64": 1e11})
    rows = {row[0]: row[1:] for row in a_run().compare_with_sheet(sheet).rows}
    assert set(rows) == {"peak fp32", "peak fp64", "read", "update"}
    # The median takes 1.01 times as long as the best sample.
    assert rows["peak fp32"][:2] == (rl.text(2e11, "FLOP/s"), rl.text(1e11 / 1.01, "FLOP/s"))
    shares = {key: row[-1] for key, row in rows.items()}
    assert shares == {"peak fp32": "50%", "peak fp64": "50%", "read": "50%", "update": "74%"}


def test_the_chip_of_a_run_works_with_the_rest_of_rooflib():
    chip = a_run().chip
    assert chip.ridge("fp32") == pytest.approx(5)
    assert rl.bound(rl.dot(10**6, "fp32"), chip).binding == "HBM"
    assert rl.critical_batch_limit(chip, "fp32") == pytest.approx(10)
    typical = a_run().as_chip("read", of="median")
    assert typical.bandwidth == pytest.approx(2e10 / 1.01)
    assert chip.name == "Made-up CPU, 2026-01-02"
    assert a_run().as_chip("update").name == "Made-up CPU, 2026-01-02, update"
    with pytest.raises(ValueError, match="roof must be one of read, update, cache 65536"):
        a_run().as_chip("written")
    with pytest.raises(ValueError, match="of must be one of best, median; got 'mean'"):
        a_run().as_chip(of="mean")


def test_a_run_that_lacks_one_of_its_roofs_is_rejected():
    run = a_run()
    rest = {key: value for key, value in run.figures.items() if key != "update"}
    with pytest.raises(ValueError, match="no update"):
        replace(run, figures=rest)
    with pytest.raises(ValueError, match="got none, no peak fp32"):
        replace(run, figures={})
    disturbed = replace(run.figures["read"], samples=run.figures["read"].samples[:2])
    with pytest.raises(ValueError, match="no read"):
        replace(run, figures=dict(run.figures) | {"read": disturbed})


def test_unknown_units_and_operations_are_named_in_the_error():
    with pytest.raises(ValueError, match="unit of 'x' must be one of FLOP/s, B/s, s; got 'm'"):
        figure("x", "m", 1, 1)
    with pytest.raises(ValueError, match="operation of 'x' must be one of attention, dot"):
        figure("x", "s", 1, 1, operation="eval", sizes={})
    with pytest.raises(ValueError, match="'read' is a roof, not an operation"):
        _ = a_run().figures["read"].counted


def test_runs_are_compared_figure_by_figure():
    one, other = (
        a_run(operation_figure(0.06)),
        a_run(operation_figure(0.0603), figure("read", "B/s", 1e9, 0.1)),
    )
    for first, second, ratio in ((one, other, "0.5"), (other, one, "2")):
        rows = {row[0]: row[1:] for row in first.compare(second).rows}
        assert rows["read"][2:] == (ratio, "yes")
        assert rows["some"][3] == "no"  # their intervals overlap
        assert len(rows) == 9
    assert len(a_run().compare(one).rows) == len(one.compare(a_run()).rows) == 8


# Files.


@pytest.mark.parametrize(("unit", "expected"), [("s", 0.5), ("B/s", 2)])
def test_the_unit_decides_between_seconds_per_work_and_work_per_second(unit, expected):
    assert max(figure("read", unit, 4, 2).values) == pytest.approx(expected, rel=0.03)


def test_runs_round_trip_through_files(tmp_path):
    # Sizes may include an argument of another operation: "softmax" belongs to "attention".
    odd = replace(operation_figure(0.05), sizes={"flops": 1.0, "softmax": False})
    run = a_run(odd, left_out={"decode": 'with "quotes", a \\ and\na line'})
    run = replace(run, reference_times={"multiply": 0.0012, "read": 0.0034})
    folder = tmp_path / "of a day" / "some-run"
    for _ in range(2):  # the second save overwrites the first
        assert load_run(run.save(folder)) == run
    assert sorted(path.name for path in folder.iterdir()) == ["some-run.csv", "some-run.toml"]
    assert b"\r" not in (folder / "some-run.csv").read_bytes()


@settings(max_examples=40)
@given(st.text(min_size=1), st.floats(1e-9, 1e3), st.floats(0, 1e18))
def test_runs_with_any_text_and_numbers_round_trip_through_files(
    tmp_path_factory, words, seconds, size
):
    sizes = {"flops": size, "bytes": 1, "name": words}
    more = {"operation": "operation", "sizes": sizes, "roof": "read"}
    why = " ".join(words.split())  # reasons in the CSV are single lines
    sample = Sample(seconds, 3, 0.5, 0.25, 0.125, None, pace=(0.008, 0.0123), disturbed=why)
    samples = (sample, replace(sample, waited=None, stolen=0.0625), sample)
    odd = replace(figure("x", "s", 1, seconds, **more), what=words, samples=samples)
    run = a_run(odd, host=replace(HOST, cpu=words, caches={words: size}), left_out={words: words})
    assert load_run(run.save(tmp_path_factory.mktemp("run"))) == run


def test_run_files_can_be_read_without_rooflib(tmp_path):
    folder = a_run(operation_figure(0.05)).save(tmp_path / "some-run")
    head = tomllib.loads((folder / "some-run.toml").read_text())
    assert head["host"]["cpu"] == "Made-up CPU"
    assert head["run"]["date"] == DATE
    assert head["figure"][2]["key"] == "read"
    assert set(head["figure"][2]) == {"key", "what", "unit", "amount", "threads", "footprint"}
    with (folder / "some-run.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["figure"] == "read"]
    peak = next(each for each in head["figure"] if each["key"] == "peak fp32")
    assert "footprint" not in peak
    assert [float(row["seconds"]) for row in rows] == pytest.approx([0.1, 0.101, 0.102])
    # Results are not stored: they could contradict the samples.
    assert not {"best", "median", "spread"} & set(head["figure"][2])


def broken(tmp_path: Path, old: str, new: str, ending: str = "toml") -> Path:
    folder = a_run().save(tmp_path / "run")
    path = folder / f"run.{ending}"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    return folder


def test_invalid_run_files_are_rejected(tmp_path):
    with pytest.raises(ValueError, match=r"folder must hold a run, as empty.toml and .csv"):
        load_run(tmp_path / "empty")
    with pytest.raises(ValueError, match=r"format of run.toml must be 1"):
        load_run(broken(tmp_path, "format = 1", "format = 2"))
    with pytest.raises(ValueError, match=r"figure must be one of run.toml; got 'write'"):
        load_run(broken(tmp_path, "read,", "write,", "csv"))
    for name in LIBRARIES:
        with pytest.raises(ValueError, match=f"libraries of run.toml must name .*: no {name}"):
            load_run(broken(tmp_path, f"\n{name} = ", f"\nno_{name} = "))
    for table, name in (("protocol", "timer"), ("protocol", "data"), ("run", "date")):
        with pytest.raises(ValueError, match=f"{table} of run.toml must name .*: no {name}"):
            load_run(broken(tmp_path, f"\n{name} = ", f"\nno_{name} = "))
    with pytest.raises(ValueError, match=r"host of run.toml must name cpu: no cpu"):
        load_run(broken(tmp_path, '"Made-up CPU"', '""'))


# Command line.


@pytest.fixture
def measured(monkeypatch):
    run = a_run(operation_figure(0.055))
    monkeypatch.setattr(command, "measure", lambda seconds: replace(run, seconds=seconds))
    return run


def test_the_command_line_prints_saves_and_compares(measured, tmp_path, capsys):
    command.main(["--save", str(tmp_path / "one"), "--seconds", "20"])
    shown = capsys.readouterr().out
    name, table, operations = shown.rstrip("\n").split("\n\n")
    assert name.startswith("Made-up CPU, 2026-01-02")
    assert (table, operations) == (str(measured.table), str(measured.operations_table))
    assert "100 GFLOP/s" in shown
    assert "between the bounds" in shown
    assert load_run(tmp_path / "one").seconds == 20
    command.main(["--compare", str(tmp_path / "one"), "--save", str(tmp_path / "two")])
    assert "compared with Made-up CPU" in capsys.readouterr().out
    assert load_run(tmp_path / "two").seconds == 60


def test_the_command_line_ends_with_the_warnings(measured, monkeypatch, capsys):
    run = replace(measured, left_out={"decode": "out of time"})
    monkeypatch.setattr(command, "measure", lambda seconds: run)
    command.main([])
    assert capsys.readouterr().out.endswith("\n\ndecode: left out, out of time\n")


def test_a_busy_machine_prints_one_line_and_exits_with_3(monkeypatch, capsys):

    def refuse(seconds):
        raise roofmeter.TooBusyError("this machine is too busy to be measured: others")

    monkeypatch.setattr(command, "measure", refuse)
    with pytest.raises(SystemExit) as ended:
        command.main([])
    assert ended.value.code == 3
    assert capsys.readouterr().err == "roofmeter: this machine is too busy to be measured: others\n"


@pytest.mark.usefixtures("measured")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--compare", "no/where"], "folder must hold a run, as where.toml"),
        (["--seconds", "soon"], "argument --seconds: invalid float value: 'soon'"),
        (["--sped", "1"], "unrecognized arguments: --sped 1"),
    ],
)
def test_usage_errors_print_one_line_and_exit_with_2(
    measured, monkeypatch, tmp_path, capsys, arguments, message
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        command.main(arguments)
    assert ended.value.code == 2
    shown = capsys.readouterr().err
    assert shown.startswith("roofmeter: ")
    assert message in shown
    assert shown.count("\n") == 1


def test_a_time_limit_of_zero_seconds_is_rejected():
    with pytest.raises(ValueError, match="seconds must be above zero and finite; got 0"):
        roofmeter.measure(0)
    assert FakeMachine().run().seconds > 0
