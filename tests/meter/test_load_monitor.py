"""Tests of the load monitor: figures are right or rejected, on simulated clocks."""

import itertools
import math
import statistics
from contextlib import nullcontext
from dataclasses import replace

import pytest
from fake_machine import HOST, FakeMachine, Load
from hypothesis import given
from hypothesis import strategies as st

from roofmeter import Figure, Sample, TooBusyError, kernels, load_monitor
from roofmeter.clocks import ClockTimes
from roofmeter.load_monitor import (
    MAX_IDLE_WAIT_SECONDS,
    MAX_SAMPLES,
    MAX_SLOWDOWN,
    MIN_SAMPLE_SECONDS,
    SETTLED_TOLERANCE,
    TARGET_SAMPLES,
    LoadMonitor,
)
from roofmeter.protocol import OPERATION_TARGET_SAMPLES, measure_plan

TRUE_SECONDS = 0.01  # seconds per pass on an idle machine
DISTURBANCES = {
    "waited": Load(slower=2, own=0.5, waited=0.5),
    "hypervisor": Load(slower=1.1, stolen=0.1),
    "other processes": Load(slower=1.3, others=0.25),
}


@pytest.fixture(autouse=True)
def no_sleep(monkeypatch):
    """Replace `sleep` by a function that returns immediately."""
    monkeypatch.setattr(load_monitor.time, "sleep", lambda seconds: None)


def taken(
    machine: FakeMachine, keeps_busy: bool = True, until: float = float("inf")
) -> list[Sample]:
    monitor = LoadMonitor(machine, machine.cores)
    return monitor.take_samples(machine.work(TRUE_SECONDS), 2, keeps_busy, until)


def figure(samples: list[Sample], unit: str = "B/s") -> Figure:
    return Figure("read", "made up", unit, 1e9 if unit == "B/s" else 1, 2, tuple(samples))


def test_an_idle_machine_gives_the_true_rate_with_few_samples():
    samples = taken(FakeMachine())
    assert len(samples) == TARGET_SAMPLES
    assert all(sample.seconds >= MIN_SAMPLE_SECONDS for sample in samples)
    found = figure(samples)
    assert found.best == pytest.approx(1e9 / TRUE_SECONDS)
    assert found.rejection == ""
    assert found.spread == pytest.approx(0, abs=1e-9)
    assert found.settled


@pytest.mark.parametrize("disturbance", DISTURBANCES)
def test_each_disturbance_is_detected_and_named(disturbance):
    samples = taken(FakeMachine(lambda interval: DISTURBANCES[disturbance]))
    assert len(samples) == MAX_SAMPLES
    assert all(disturbance in sample.disturbed for sample in samples)
    assert disturbance in figure(samples).rejection
    with pytest.raises(ValueError, match="'read' has no figure: 0 of 16 samples undisturbed: "):
        _ = figure(samples).best


@pytest.mark.parametrize("disturbance", DISTURBANCES)
def test_disturbed_samples_are_repeated_and_not_counted(disturbance):
    machine = FakeMachine(lambda interval: DISTURBANCES[disturbance] if interval % 2 else Load())
    found = figure(taken(machine))
    assert len(found.samples) > len(found.values) >= TARGET_SAMPLES
    assert found.interval == pytest.approx((1e9 / TRUE_SECONDS, 1e9 / TRUE_SECONDS))


def test_uneven_thread_finish_times_are_not_a_disturbance():
    def slow_cores(interval: int) -> Load:
        return Load(own=0.6)

    def sometimes(interval: int) -> Load:
        return Load(own=0.6 if interval % 2 else 1.0)

    machines = [FakeMachine(slow_cores, without_proc=without) for without in (False, True)]
    for machine in [*machines, FakeMachine(sometimes)]:
        assert not any(sample.disturbed for sample in taken(machine))


LIMITS = [("waited", 0.05), ("others", 0.1), ("stolen", 0.02)]


@pytest.mark.parametrize(("kind", "limit"), LIMITS)
def test_load_is_a_disturbance_only_above_its_limit(kind, limit):
    for share, seen in ((0.98 * limit, False), (1.02 * limit, True)):
        samples = taken(FakeMachine(lambda interval, share=share: Load(**{kind: share})))
        assert {bool(sample.disturbed) for sample in samples} == {seen}
        assert [getattr(sample, kind) for sample in samples] == pytest.approx(
            [share] * len(samples)
        )


@pytest.mark.parametrize(("share", "seen"), [(0.91, False), (0.89, True)])
def test_threads_must_run_for_nine_tenths_of_the_time_if_proc_is_missing(share, seen):
    lazy = Load(own=share)
    machine = FakeMachine(lambda interval: lazy if interval % 2 else Load(), without_proc=True)
    assert {bool(s.disturbed) for s in taken(machine) if s.own < 0.95} == {seen}
    always = FakeMachine(lambda interval: lazy, without_proc=True)
    with pytest.raises(TooBusyError) if seen else nullcontext():
        always.run()


def test_a_sample_exactly_at_the_limits_is_valid():
    ends = (ClockTimes(0.0, 0.0, 0.0, 0.0, 0.0), ClockTimes(1.0, 0.9, 0.05, 0.9, 0.02))
    monitor = LoadMonitor(iter(ends).__next__, 1, references={"cores": print})
    monitor.reference_times.append((1.0,))
    sample = monitor.time_block(lambda repeats: None, 1, 1, keeps_busy=True)
    assert monitor.mark_slow([replace(sample, pace=(MAX_SLOWDOWN,))])[0].disturbed == ""


def test_a_disturbed_sample_keeps_its_first_reason():
    # As on macOS: other processes' time is known, the time that threads waited is not.
    machine = FakeMachine(
        lambda interval: Load(own=0.5, others=0.25) if interval % 2 else Load(own=1.0)
    )
    monitor = LoadMonitor(lambda: replace(machine.at, waited=None), machine.cores)
    samples = monitor.take_samples(machine.work(TRUE_SECONDS), 2, True)
    assert {s.disturbed for s in samples} == {"", "other processes had 25% of the cores"}
    monitor.references["cores"] = print
    monitor.reference_times.append((1.0,))
    (sample,) = monitor.mark_slow([Sample(1, 1, 1.0, pace=(9.0,), disturbed="others")])
    assert sample.disturbed == "others"


def test_shares_are_clamped_between_zero_and_one():
    # Waiting is summed over all threads, and a hypervisor's counter may decrease.
    load = Load(waited=1.5, stolen=-0.5)
    for sample in taken(FakeMachine(lambda interval: load)):
        assert (sample.waited, sample.stolen) == (1.0, 0.0)


def test_a_counter_missing_in_one_of_two_readings_gives_no_share():
    whole, part = ClockTimes(0.0, 0.0, 1.0, 1.0, 1.0), ClockTimes(1.0, 1.0)
    for readings in ((whole, replace(part, wall=1.0)), (part, replace(whole, wall=2.0))):
        sample = LoadMonitor(iter(readings).__next__, 4).time_block(lambda repeats: None, 1, 1)
        assert (sample.waited, sample.others, sample.stolen) == (None, None, None)


@pytest.mark.parametrize("seconds", [1e-6, 0.001, 0.05, 0.07, 0.2])
def test_samples_are_long_enough_and_hardly_longer(seconds):
    machine, tried = FakeMachine(), []
    work = machine.work(seconds)
    monitor = LoadMonitor(machine, machine.cores)
    repeats = monitor.choose_repeats(lambda repeats: tried.append(repeats) or work(repeats))
    shortest = max(1, math.ceil(MIN_SAMPLE_SECONDS / seconds))
    assert shortest <= repeats <= 1.25 * shortest
    # The first passes may be wrongly timed, so `repeats` grows at most twelvefold per step.
    assert tried[0] == 1
    assert all(later <= 12 * earlier for earlier, later in itertools.pairwise(tried))
    assert len(tried) <= 8


def test_a_sample_of_exactly_the_shortest_duration_is_long_enough():
    machine = FakeMachine()
    monitor = LoadMonitor(machine, machine.cores, min_seconds=0.125)
    assert monitor.choose_repeats(machine.work(0.125)) == 1
    assert monitor.choose_repeats(machine.work(0.0625), until=machine.at.wall + 0.0625) == 1


@pytest.mark.parametrize(("share", "idle"), [(0.09, True), (0.11, False)])
def test_a_process_that_uses_less_than_a_tenth_of_a_core_is_idle(monkeypatch, share, idle):
    machine, naps = FakeMachine(), []

    def sleep(seconds: float) -> None:
        naps.append(seconds)
        machine.at = replace(
            machine.at, wall=machine.at.wall + seconds, own=machine.at.own + share * seconds
        )

    monkeypatch.setattr(load_monitor.time, "sleep", sleep)
    LoadMonitor(machine, machine.cores).wait_until_idle()
    assert (len(naps) == 1) == idle
    assert sum(naps) <= MAX_IDLE_WAIT_SECONDS * 1.01


def test_a_run_starts_after_three_undisturbed_samples_in_a_row():
    machine = FakeMachine()
    work, monitor, repeats = machine.work(0.2), LoadMonitor(machine, machine.cores), []
    # Interval 0 serves to choose the number of passes; interval 3 is the third sample.
    machine.load = lambda interval: DISTURBANCES["waited"] if interval == 3 else Load()
    monitor.require_idle(lambda passes: repeats.append(passes) or work(passes), 2)
    assert len(repeats) == 1 + 3 + 3


def test_without_proc_samples_are_judged_by_cpu_share():
    disturbance = DISTURBANCES["waited"]
    quiet = taken(FakeMachine(without_proc=True))
    assert [(s.waited, s.others, s.stolen, s.disturbed) for s in quiet] == [(None,) * 3 + ("",)] * 5
    machine = FakeMachine(
        lambda interval: disturbance if interval % 2 else Load(), without_proc=True
    )
    found = figure(taken(machine))
    assert found.interval == pytest.approx((1e9 / TRUE_SECONDS, 1e9 / TRUE_SECONDS))
    assert {"for only 50%" in sample.disturbed for sample in found.samples} == {True, False}
    varied = FakeMachine(
        lambda interval: disturbance if interval % 2 else Load(), without_proc=True
    )
    assert not any(sample.disturbed for sample in taken(varied, keeps_busy=False))


def test_without_proc_a_busy_machine_is_refused_by_cpu_share():
    with pytest.raises(TooBusyError, match="on a core for only 50%"):
        FakeMachine(lambda interval: DISTURBANCES["waited"], without_proc=True).run()


def test_two_clock_ticks_of_other_load_are_ignored():
    machine = FakeMachine()  # adds two clock ticks of other load per interval
    assert not any(sample.disturbed for sample in taken(machine))
    assert all(sample.others == pytest.approx(0) for sample in taken(machine))


SHARES = st.sampled_from([*DISTURBANCES.values(), Load(), Load()])


@given(st.lists(SHARES, min_size=40, max_size=40))
def test_figures_contain_the_true_value_or_are_rejected(load):
    found = figure(taken(FakeMachine(lambda interval: load[interval % 40])))
    if not found.rejection:
        low, high = found.interval
        assert low <= 1e9 / TRUE_SECONDS * (1 + 1e-9)
        assert high >= 1e9 / TRUE_SECONDS * (1 - 1e-9)
    else:
        with pytest.raises(ValueError, match="has no figure"):
            _ = found.best


@given(st.lists(st.floats(1, 3), min_size=40, max_size=40))
def test_undetected_slowdowns_widen_the_interval_or_leave_the_rate_unsettled(slower):
    machine = FakeMachine(lambda interval: Load(slower=slower[interval % 40]))
    samples = taken(machine)
    found = figure(samples)
    times = sorted(sample.per_pass for sample in samples)
    assert found.interval == pytest.approx((1e9 / times[-1], 1e9 / times[0]))
    assert found.settled == (times[2] <= (1 + SETTLED_TOLERANCE) * times[0])
    assert found.settled or len(samples) == MAX_SAMPLES


def test_sampling_stops_at_the_deadline_and_a_rate_needs_three_samples():
    machine = FakeMachine()
    start = machine.at.wall
    found = figure(taken(machine, until=start + 0.25))
    assert len(found.samples) < 3
    assert "out of time" in found.rejection


@given(st.lists(st.floats(0.001, 10), min_size=3, max_size=9))
def test_best_median_and_spread_come_from_the_samples(times):
    samples = [Sample(time * 7, 7, 1.0) for time in times]
    rate, delay = figure(samples), figure(samples, "s")
    rates = [1e9 / time for time in times]
    assert rate.best == pytest.approx(max(rates))
    assert delay.best == pytest.approx(min(times))
    assert rate.median == pytest.approx(statistics.median(rates))
    assert delay.median == pytest.approx(statistics.median(times))
    spread = (max(rates) - min(rates)) / statistics.median(rates)
    assert rate.spread == pytest.approx(spread)
    assert delay.interval == pytest.approx((min(times), max(times)))


# Slowdowns that only the reference workloads reveal.


def sampled_with_references(machine: FakeMachine) -> tuple[LoadMonitor, list[Sample]]:
    monitor = LoadMonitor(machine, machine.cores, references=machine.references())
    return monitor, monitor.take_samples(machine.work(TRUE_SECONDS), 2, False)


def test_slow_references_invalidate_adjacent_samples():
    # Work intervals repeat as sample, reference, reference; every third such group is slower.
    machine = FakeMachine(lambda interval: Load(slower=1.5 if interval // 3 % 3 == 2 else 1.0))
    monitor, samples = sampled_with_references(machine)
    judged = monitor.mark_slow(samples)
    assert figure(list(judged)).interval == pytest.approx((1e9 / TRUE_SECONDS, 1e9 / TRUE_SECONDS))
    why = {sample.disturbed for sample in judged}
    assert why == {"", "the cores ran at 67% of the usual pace: a busy neighbor or a lower clock"}
    assert all(sample.disturbed for sample in judged if sample.per_pass > 1.1 * TRUE_SECONDS)
    assert not any(sample.disturbed for sample in samples)  # the raw samples stay unmarked


@pytest.mark.parametrize(
    ("slower", "seen"), [(MAX_SLOWDOWN - 0.01, False), (MAX_SLOWDOWN + 0.01, True)]
)
def test_references_may_be_slightly_slower_than_usual(slower, seen):
    machine = FakeMachine()
    monitor, _ = sampled_with_references(machine)
    machine.load = lambda interval: Load(slower=slower)
    late = monitor.take_samples(machine.work(TRUE_SECONDS), 2, False)
    assert {bool(sample.disturbed) for sample in monitor.mark_slow(late[:1])} == {seen}


def test_memory_slowdowns_invalidate_only_samples_with_footprints_over_4_mib():
    monitor = LoadMonitor(FakeMachine(), 4, references={"cores": print, "memory": print})
    monitor.reference_times.extend([(1.0, 2.0)] * 20)
    slow = Sample(1, 1, 1.0, pace=(1.0, 2.0 * MAX_SLOWDOWN + 0.01))
    for footprint, seen in (
        (0.0, False),
        (4 * 2**20, False),
        (4 * 2**20 + 1, True),
    ):
        (sample,) = monitor.mark_slow([slow], kernels.relevant_references(footprint))
        assert bool(sample.disturbed) == seen
    (sample,) = monitor.mark_slow(
        [replace(slow, pace=(MAX_SLOWDOWN + 0.01, 2.0))], kernels.relevant_references(0.0)
    )
    assert "cores ran at 83%" in sample.disturbed


def with_slow_memory(machine, slow):
    """Return references whose memory reads take 1.5 times as long if `slow(turn)`."""
    references, turns = machine.references(), itertools.count(1)
    plain = references["memory"]
    return references | {"memory": lambda repeats: plain(repeats * (3 if slow(next(turns)) else 2))}


def test_a_neighbor_that_slows_memory_does_not_invalidate_peaks():
    machine = FakeMachine()
    references = with_slow_memory(machine, lambda turn: turn % 8 < 4)
    run = machine.run(references=references)
    taken = {key: len(figure.samples) for key, figure in run.figures.items()}
    assert [taken["peak fp32"], taken["call"]] == [TARGET_SAMPLES, OPERATION_TARGET_SAMPLES]
    assert taken["read"] > TARGET_SAMPLES


def test_memory_that_gets_faster_does_not_invalidate_cached_work():
    machine = FakeMachine()
    references = with_slow_memory(machine, lambda turn: turn < 25)
    run = machine.run(references=references)
    assert len(run.figures["peak fp32"].samples) == TARGET_SAMPLES
    assert any(sample.disturbed for sample in run.figures["read"].samples)


def test_usual_reference_time_is_the_slowest_of_the_fastest_tenth():
    monitor = LoadMonitor(FakeMachine(), 4, references={"cores": print, "memory": print})
    # A tenth of 21 times, rounded up, are three; the slowest of the three fastest is 1.02.
    monitor.reference_times.extend((1.0 + n / 100, 1.0 + n / 100) for n in range(21))
    ends = {1.02 * MAX_SLOWDOWN - 0.001: False, 1.02 * MAX_SLOWDOWN + 0.001: True}
    for took, seen in ends.items():
        for pace in ((took, 1.0), (1.0, took)):
            (sample,) = monitor.mark_slow([Sample(1, 1, 1.0, pace=pace)])
            assert bool(sample.disturbed) == seen
    assert "memory ran at 83%" in sample.disturbed


@pytest.mark.parametrize("spin_seconds", [0.0, 0.03, 1000.0])
def test_references_wait_a_limited_time_for_spinning_threads_to_stop(monkeypatch, spin_seconds):
    machine, left = FakeMachine(), []
    monkeypatch.setattr(load_monitor.time, "sleep", machine.sleep)

    def block(repeats: int) -> None:
        machine.work(TRUE_SECONDS)(repeats)
        machine.spin_seconds = spin_seconds  # as OpenBLAS threads do after a matmul

    def reference(repeats: int) -> None:
        left.append(machine.spin_seconds)
        machine.work(TRUE_SECONDS)(repeats)

    start = machine.at.wall
    LoadMonitor(machine, 4, references={"cores": reference}).take_samples(block, 2, False)
    assert left[-1] == (
        0
        if spin_seconds < MAX_IDLE_WAIT_SECONDS
        else pytest.approx(spin_seconds - MAX_IDLE_WAIT_SECONDS)
    )
    assert machine.at.wall - start < 5


def test_a_roof_is_remeasured_if_later_references_run_faster():
    machine = FakeMachine()
    references = with_slow_memory(machine, lambda turn: turn < 50)
    operations = [machine.probe(f"dot {n}", "B/s", 1e9, 0.2, footprint=1e9) for n in range(60)]
    run = machine.run(operations, references=references)
    assert any(sample.disturbed for sample in run.figures["read"].samples)
    assert len(run.figures["read"].values) >= TARGET_SAMPLES
    assert "dot 59" in run.left_out, "the time ran out before all were measured"


@pytest.mark.parametrize(
    ("spin_seconds", "references"), [(0.0, TARGET_SAMPLES + 1), (1000.0, TARGET_SAMPLES // 2 + 2)]
)
def test_references_run_every_second_sample_if_threads_spin_for_long(
    monkeypatch, spin_seconds, references
):
    machine, seen = FakeMachine(), []
    monkeypatch.setattr(load_monitor.time, "sleep", machine.sleep)

    def block(repeats: int) -> None:
        machine.work(TRUE_SECONDS)(repeats)
        machine.spin_seconds = spin_seconds

    def reference(repeats: int) -> None:
        seen.append(repeats)
        machine.work(TRUE_SECONDS)(repeats)

    monitor = LoadMonitor(machine, 4, references={"cores": reference})
    monitor.reference_repeats["cores"] = 1
    samples = monitor.take_samples(block, 2, False)
    assert len(seen) == references
    assert len(samples) in (TARGET_SAMPLES, TARGET_SAMPLES + 1)
    paces = [monitor.reference_times[i : i + 2] for i in range(references - 1)]
    pairs = [max(pair) for pair in paces for _ in range(len(samples) // (references - 1))]
    assert [sample.pace for sample in samples] == pairs


def test_a_roof_is_remeasured_if_the_machine_speeds_up_later():
    machine = FakeMachine()
    machine.load = lambda interval: Load(slower=2.0 if interval < 40 else 1.0)
    run = machine.run(references=machine.references())
    found = run.figures["peak fp32"]
    assert found.interval == pytest.approx((1e11, 1e11))
    assert "usual pace" in found.samples[0].disturbed
    assert run.left_out == {}


def test_a_run_records_the_usual_seconds_per_pass_of_its_references():
    machine = FakeMachine()
    run = machine.run(references={"cores": machine.work(0.001), "memory": machine.work(0.02)})
    assert run.reference_times == pytest.approx({"cores": 0.001, "memory": 0.02})


def test_a_run_states_its_real_duration():
    machine = FakeMachine()
    start = machine.at.wall
    run = machine.run()
    assert run.seconds == pytest.approx(machine.at.wall - start, abs=0.05001)
    assert run.seconds == round(run.seconds, 1)


def test_measurements_during_a_lasting_slowdown_are_left_out():
    machine = FakeMachine()
    *roofs, call = machine.plan()

    def make():
        machine.load = lambda interval: Load(slower=2.0)
        return call.make()

    run = measure_plan(HOST, machine.work(0.01), [*roofs, replace(call, make=make)], 5,
               lambda share, what: None, machine, references=machine.references())  # fmt: skip
    assert set(run.figures) == {"peak fp32", "peak fp64", "read", "update"}
    assert "the cores ran at 50%" in run.left_out["call"]


# Complete runs.


def test_a_run_on_an_idle_machine_has_the_true_roofs():
    run = FakeMachine().run()
    assert run.chip.peaks == pytest.approx({"fp32": 1e11, "fp64": 5e10})
    assert run.chip.bandwidth == pytest.approx(2e10)
    assert run.as_chip("update").bandwidth == pytest.approx(3e10)
    assert run.figures["call"].best == pytest.approx(1e-6)
    assert run.warnings == []


@pytest.mark.parametrize("disturbance", DISTURBANCES)
def test_a_busy_machine_is_refused_within_seconds(disturbance):
    machine = FakeMachine(lambda interval: DISTURBANCES[disturbance])
    start = machine.at.wall
    with pytest.raises(TooBusyError, match=f"too busy to be measured.*{disturbance}"):
        machine.run()
    assert machine.at.wall - start < 5


@pytest.mark.parametrize("disturbance", DISTURBANCES)
def test_a_lasting_disturbance_while_measuring_a_roof_raises_an_error(disturbance):
    machine = FakeMachine()
    *roofs, _ = machine.plan()
    begin = roofs[2]  # reading

    def make():
        machine.load = lambda interval: DISTURBANCES[disturbance]
        return begin.make()

    with pytest.raises(TooBusyError, match=f"read, 0 of .*{disturbance}"):
        taken_by(machine, [*roofs[:2], replace(begin, make=make), roofs[3]])


def taken_by(machine, plan, report=lambda share, what: None):
    return measure_plan(HOST, machine.work(0.01), plan, 60, report, machine)


def test_a_passing_disturbance_delays_a_roof_and_keeps_valid_samples():
    machine = FakeMachine()
    intervals = []

    def load(interval):
        intervals.append(interval)
        # Reading gets two valid samples, then a disturbance that outlasts the attempt.
        return DISTURBANCES["waited"] if 3 <= len(intervals) < 30 else Load()

    *first, read, update, call = machine.plan()

    def make():
        machine.load = load
        return read.make()

    run = taken_by(machine, [*first, replace(read, make=make), update, call])
    found = run.figures["read"]
    assert found.best == pytest.approx(2e10)
    assert len(found.samples) > MAX_SAMPLES  # samples of both attempts
    assert list(run.figures) == [probe.key for probe in machine.plan()]
    assert run.left_out == {}


def test_an_operation_disturbed_throughout_is_left_out_with_a_reason():
    machine = FakeMachine()
    sizes = {"N": 1000, "x": "fp32"}
    probe = machine.probe("dot", "s", 1, 0.01, operation="dot", sizes=sizes, roof="read")

    def make():
        machine.load = lambda interval: DISTURBANCES["waited"]
        return probe.make()

    run = machine.run([replace(probe, make=make)])
    assert "dot" not in run.figures
    assert "waited" in run.left_out["dot"]
    assert any(warning.startswith("dot: left out") for warning in run.warnings)


def test_without_time_left_only_the_roofs_are_measured():
    machine = FakeMachine()
    late = machine.probe("peak again", "FLOP/s", 1e9, 0.01)
    run = machine.run([late], seconds=0.5)
    assert set(run.figures) == {"peak fp32", "peak fp64", "read", "update"}
    assert run.left_out == {"call": "out of time", "peak again": "out of time"}


def test_the_best_of_several_attempts_is_the_measured_peak():
    machine = FakeMachine()
    attempts = [machine.probe("peak fp32", "FLOP/s", amount, 0.01) for amount in (5e8, 2e9, 15e8)]
    assert machine.run(attempts).chip.peak("fp32") == pytest.approx(2e11)


def test_disturbed_attempts_at_a_peak_are_repeated_or_listed_as_left_out():
    for lasts, found in ((30, 2e11), (10**9, 1e11)):
        machine = FakeMachine()
        better = machine.probe("peak fp32", "FLOP/s", 2e9, 0.01)

        disturbance: list[int] = []  # intervals since the attempt began

        def load(interval, disturbance=disturbance, lasts=lasts):
            disturbance.append(interval)
            return DISTURBANCES["waited"] if len(disturbance) < lasts else Load()

        def make(machine=machine, better=better, load=load):
            machine.load = load
            return better.make()

        run = machine.run([replace(better, make=make)])
        assert run.chip.peak("fp32") == pytest.approx(found)
        missing = "peak fp32, made-up peak fp32"
        # The probe "call" comes after all attempts at the roofs, so it is disturbed as well.
        assert set(run.left_out) == (set() if found > 1e11 else {missing, "call"})
        assert all("its threads waited 50%" in why for why in run.left_out.values())


def test_roofs_are_complete_before_operations_start():
    machine, order = FakeMachine(), []
    loads = iter([DISTURBANCES["waited"]] * 60)
    *roofs, read, update, call = machine.plan()

    def recorded(probe, load=None):
        def make():
            order.append(probe.key)
            machine.load = load or (lambda interval: Load())
            return probe.make()

        return replace(probe, make=make)

    slow = recorded(read, lambda interval: next(loads, Load()))
    taken_by(machine, [*map(recorded, roofs), slow, recorded(update), recorded(call)])
    again = order.count("read")
    assert again > 1
    assert order == ["peak fp32", "peak fp64", "read", "update", *["read"] * (again - 1), "call"]


def test_the_fastest_of_several_attempts_is_the_measured_time_of_an_operation():
    machine, sizes = FakeMachine(), {"N": 1000, "x": "fp32"}
    more = {"operation": "dot", "sizes": sizes, "roof": "read"}
    attempts = [machine.probe("dot", "s", 1, seconds, **more) for seconds in (0.03, 0.01, 0.02)]
    assert machine.run(attempts).figures["dot"].best == pytest.approx(0.01)


def test_load_of_other_processes_is_a_share_of_all_cores():
    # The machine has four cores, of which the process may use two: the share is of all four.
    run = FakeMachine(lambda interval: Load(others=0.08)).run()
    assert [sample.others for sample in run.figures["read"].samples] == pytest.approx([0.08] * 5)


@pytest.mark.parametrize("seconds", [60, 1])
def test_progress_is_reported_in_order_as_shares_between_zero_and_one(seconds):
    machine, reports = FakeMachine(), []
    plan = machine.plan()[:4]
    report = lambda share, what: reports.append((share, what))  # noqa: E731
    measure_plan(HOST, machine.work(0.01), plan, seconds, report, machine)
    assert [what for _, what in reports] == [probe.what for probe in plan]
    assert [share for share, _ in reports] == sorted(share for share, _ in reports)
    assert 0 <= reports[0][0] < reports[-1][0] <= 1
    assert (reports[-1][0] == 1) == (seconds == 1)
