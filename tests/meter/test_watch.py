"""A figure comes from a machine that was left alone, or it does not come: on made-up clocks."""

import itertools
import statistics
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up_machine import HOST, Machine, Weather

from roofmeter import Figure, Sample, TooBusyError, kernels
from roofmeter import watch as watch_module
from roofmeter.protocol import DOT_ENOUGH, take
from roofmeter.watch import AT_MOST, BLOCK, CLOSE, ENOUGH, PATIENCE, SLOWER, Watch

TRUE = 0.01  # seconds of a pass, if nobody disturbs it
STORMS = {
    "waited": Weather(slower=2, own=0.5, waited=0.5),
    "hypervisor": Weather(slower=1.1, stolen=0.1),
    "other processes": Weather(slower=1.3, others=0.25),
}


@pytest.fixture(autouse=True)
def nobody_waits(monkeypatch):
    """A nap while nothing of this process runs takes no time."""
    monkeypatch.setattr(watch_module.time, "sleep", lambda seconds: None)


def taken(machine: Machine, keeps_busy: bool = True, until: float = float("inf")) -> list[Sample]:
    watch = Watch(machine, machine.cores)
    return watch.samples(machine.work(TRUE), 2, keeps_busy, until)


def figure(samples: list[Sample], unit: str = "B/s") -> Figure:
    return Figure("read", "made up", unit, 1e9 if unit == "B/s" else 1, 2, tuple(samples))


def test_a_quiet_machine_gives_the_true_figure_and_no_more_samples_than_will_do():
    samples = taken(Machine())
    assert len(samples) == ENOUGH
    assert all(sample.seconds >= BLOCK for sample in samples)
    found = figure(samples)
    assert found.best == pytest.approx(1e9 / TRUE)
    assert found.spread == pytest.approx(0, abs=1e-9)
    assert found.settled


@pytest.mark.parametrize("storm", STORMS)
def test_each_disturbance_is_seen_and_named(storm):
    samples = taken(Machine(lambda stretch: STORMS[storm]))
    assert len(samples) == AT_MOST
    assert all(storm in sample.disturbed for sample in samples)
    assert storm in figure(samples).refused


@pytest.mark.parametrize("storm", STORMS)
def test_what_was_disturbed_is_repeated_and_not_counted(storm):
    # The first stretches find out how many passes fill a block.
    machine = Machine(lambda stretch: STORMS[storm] if stretch % 2 else Weather())
    found = figure(taken(machine))
    assert len(found.samples) > len(found.values) >= ENOUGH
    assert found.interval == pytest.approx((1e9 / TRUE, 1e9 / TRUE))


def test_threads_that_are_not_ready_together_are_not_blamed_for_it():
    def slow_cores(stretch: int) -> Weather:
        return Weather(own=0.6)

    for blind in (False, True):
        samples = taken(Machine(slow_cores, blind=blind))
        assert not any(sample.disturbed for sample in samples)


def test_a_system_that_says_little_is_judged_by_the_share_of_cpu():
    storm = STORMS["waited"]
    quiet = taken(Machine(blind=True))
    assert [(s.waited, s.others, s.stolen, s.disturbed) for s in quiet] == [(None,) * 3 + ("",)] * 5
    machine = Machine(lambda stretch: storm if stretch % 2 else Weather(), blind=True)
    found = figure(taken(machine))
    assert found.interval == pytest.approx((1e9 / TRUE, 1e9 / TRUE))
    assert {"for only 50%" in sample.disturbed for sample in found.samples} == {True, False}
    varied = Machine(lambda stretch: storm if stretch % 2 else Weather(), blind=True)
    assert not any(sample.disturbed for sample in taken(varied, keeps_busy=False))


def test_a_system_that_says_little_is_refused_at_the_start_by_the_share_of_cpu():
    with pytest.raises(TooBusyError, match="on a core for only 50%"):
        Machine(lambda stretch: STORMS["waited"], blind=True).run()


def test_two_ticks_of_the_system_are_an_error_of_reading():
    machine = Machine()  # which adds two ticks to each stretch
    assert not any(sample.disturbed for sample in taken(machine))
    assert all(sample.others == pytest.approx(0) for sample in taken(machine))


SHARES = st.sampled_from([*STORMS.values(), Weather(), Weather()])


@given(st.lists(SHARES, min_size=40, max_size=40))
def test_whatever_comes_a_figure_holds_the_truth_or_is_refused(weather):
    found = figure(taken(Machine(lambda stretch: weather[stretch % 40])))
    if not found.refused:
        low, high = found.interval
        assert low <= 1e9 / TRUE * (1 + 1e-9)
        assert high >= 1e9 / TRUE * (1 - 1e-9)
    else:
        with pytest.raises(ValueError, match="has no figure"):
            _ = found.best


@given(st.lists(st.floats(1, 3), min_size=40, max_size=40))
def test_a_neighbor_that_no_clock_shows_widens_the_interval_or_unsettles(slower):
    machine = Machine(lambda stretch: Weather(slower=slower[stretch % 40]))
    samples = taken(machine)
    found = figure(samples)
    times = sorted(sample.each for sample in samples)
    assert found.interval == pytest.approx((1e9 / times[-1], 1e9 / times[0]))
    assert found.settled == (times[2] <= (1 + CLOSE) * times[0])
    assert found.settled or len(samples) == AT_MOST


def test_the_time_ends_it_and_fewer_than_three_are_no_figure():
    machine = Machine()
    start = machine.at.wall
    found = figure(taken(machine, until=start + 0.25))
    assert len(found.samples) < 3
    assert "time was out" in found.refused


@given(st.lists(st.floats(0.001, 10), min_size=3, max_size=9))
def test_best_median_and_spread_are_those_of_the_samples(times):
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


# What no clock shows, but the gauges do.


def gauged(machine: Machine) -> tuple[Watch, list[Sample]]:
    watch = Watch(machine, machine.cores, gauges=machine.gauges())
    return watch, watch.samples(machine.work(TRUE), 2)


def test_a_neighbor_that_only_a_gauge_shows_disturbs_what_lies_beside_it():
    # Stretches come in threes, of two gauges and a block; in every third three all is slower.
    machine = Machine(lambda stretch: Weather(slower=1.5 if stretch // 3 % 3 == 2 else 1.0))
    watch, samples = gauged(machine)
    judged = watch.judged(samples)
    assert figure(list(judged)).interval == pytest.approx((1e9 / TRUE, 1e9 / TRUE))
    why = {sample.disturbed for sample in judged}
    assert why == {"", "its cores ran at 67% of its usual pace, by a neighbor or a lower clock"}
    assert all(sample.disturbed for sample in judged if sample.each > 1.1 * TRUE)
    assert not any(sample.disturbed for sample in samples)  # the judgement may change


@pytest.mark.parametrize(("slower", "seen"), [(SLOWER - 0.01, False), (SLOWER + 0.01, True)])
def test_a_gauge_may_take_a_little_longer_than_usual(slower, seen):
    machine = Machine()
    watch, _ = gauged(machine)
    machine.weather = lambda stretch: Weather(slower=slower)
    late = watch.samples(machine.work(TRUE), 2)
    assert {bool(sample.disturbed) for sample in watch.judged(late[:1])} == {seen}


def test_a_neighbour_on_the_memory_disturbs_only_what_passes_over_it():
    watch = Watch(Machine(), 4, gauges={"cores": print, "memory": print})
    watch.paces.extend([(1.0, 2.0)] * 20)
    slow = Sample(1, 1, 1.0, pace=(1.0, 2.0 * SLOWER + 0.01))
    for footprint, seen in ((0.0, False), (kernels.CACHED, False), (kernels.CACHED + 1, True)):
        (sample,) = watch.judged([slow], kernels.telling(footprint))
        assert bool(sample.disturbed) == seen
    (sample,) = watch.judged([replace(slow, pace=(SLOWER + 0.01, 2.0))], kernels.telling(0.0))
    assert "cores ran at 83%" in sample.disturbed


def with_slow_memory(machine, slow):
    """The gauges of a machine whose memory takes half as long again at each turn that is `slow`."""
    gauges, turns = machine.gauges(), itertools.count(1)
    plain = gauges["memory"]
    return gauges | {"memory": lambda repeats: plain(repeats * (3 if slow(next(turns)) else 2))}


def test_a_run_beside_a_neighbour_on_the_memory_keeps_its_peaks():
    machine = Machine()
    gauges = with_slow_memory(machine, lambda turn: turn % 8 < 4)
    run = machine.run(gauges=gauges)
    taken = {key: len(figure.samples) for key, figure in run.figures.items()}
    assert [taken["peak fp32"], taken["call"]] == [ENOUGH, DOT_ENOUGH]
    assert taken["read"] > ENOUGH


def test_a_memory_that_becomes_faster_does_not_undo_what_stays_in_the_caches():
    machine = Machine()
    gauges = with_slow_memory(machine, lambda turn: turn < 25)
    run = machine.run(gauges=gauges)
    assert len(run.figures["peak fp32"].samples) == ENOUGH
    assert any(sample.disturbed for sample in run.figures["read"].samples)


def test_usual_is_what_one_gauge_in_ten_reaches():
    watch = Watch(Machine(), 4, gauges={"cores": print, "memory": print})
    watch.paces.extend((1.0 + n / 100, 1.0 + n / 100) for n in range(20))
    ends = {1.01 * SLOWER - 0.001: False, 1.01 * SLOWER + 0.001: True}
    for took, seen in ends.items():
        for pace in ((took, 1.0), (1.0, took)):
            (sample,) = watch.judged([Sample(1, 1, 1.0, pace=pace)])
            assert bool(sample.disturbed) == seen
    assert "memory ran at 83%" in sample.disturbed


@pytest.mark.parametrize("spins", [0.0, 0.03, 1000.0])
def test_a_gauge_waits_until_threads_of_this_process_rest(monkeypatch, spins):
    machine, left = Machine(), []
    monkeypatch.setattr(watch_module.time, "sleep", machine.nap)

    def block(repeats: int) -> None:
        machine.work(TRUE)(repeats)
        machine.spinning = spins  # as OpenBLAS's do after a matmul

    def gauge(repeats: int) -> None:
        left.append(machine.spinning)
        machine.work(TRUE)(repeats)

    start = machine.at.wall
    Watch(machine, 4, gauges={"cores": gauge}).samples(block, 2)
    assert left[-1] == (0 if spins < PATIENCE else pytest.approx(spins - PATIENCE))
    assert machine.at.wall - start < 10


def test_a_roof_is_measured_again_as_soon_as_the_machine_shows_that_it_was_slower():
    machine = Machine()
    gauges = with_slow_memory(machine, lambda turn: turn < 50)
    dots = [machine.probe(f"dot {n}", "B/s", 1e9, 0.2, footprint=1e9) for n in range(60)]
    run = machine.run(dots, gauges=gauges)
    assert any(sample.disturbed for sample in run.figures["read"].samples)
    assert len(run.figures["read"].values) >= ENOUGH
    assert "dot 59" in run.left_out, "the time was out before all were measured"


@pytest.mark.parametrize(("spins", "gauges"), [(0.0, ENOUGH + 1), (1000.0, ENOUGH // 2 + 2)])
def test_gauges_that_must_wait_long_stand_at_every_second_sample(monkeypatch, spins, gauges):
    machine, seen = Machine(), []
    monkeypatch.setattr(watch_module.time, "sleep", machine.nap)

    def block(repeats: int) -> None:
        machine.work(TRUE)(repeats)
        machine.spinning = spins

    def gauge(repeats: int) -> None:
        seen.append(repeats)
        machine.work(TRUE)(repeats)

    watch = Watch(machine, 4, gauges={"cores": gauge})
    watch.passes["cores"] = 1
    samples = watch.samples(block, 2)
    assert len(seen) == gauges
    assert len(samples) in (ENOUGH, ENOUGH + 1)
    paces = [watch.paces[i : i + 2] for i in range(gauges - 1)]
    pairs = [max(pair) for pair in paces for _ in range(len(samples) // (gauges - 1))]
    assert [sample.pace for sample in samples] == pairs


def test_a_machine_that_becomes_faster_is_measured_again_from_its_first_figure_on():
    machine = Machine()
    machine.weather = lambda stretch: Weather(slower=2.0 if stretch < 40 else 1.0)
    run = machine.run(gauges=machine.gauges())
    found = run.figures["peak fp32"]
    assert found.interval == pytest.approx((1e11, 1e11))
    assert "usual pace" in found.samples[0].disturbed
    assert run.left_out == {}


def test_a_machine_that_stays_slower_is_refused_or_leaves_out_what_it_measured_then():
    machine = Machine()
    *roofs, call = machine.plan()

    def make():
        machine.weather = lambda stretch: Weather(slower=2.0)
        return call.make()

    run = take(HOST, machine.work(0.01), [*roofs, replace(call, make=make)], 5,
               lambda share, what: None, machine, gauges=machine.gauges())  # fmt: skip
    assert set(run.figures) == {"peak fp32", "peak fp64", "read", "update"}
    assert "its cores ran at 50%" in run.left_out["call"]


# A whole run.


def test_a_run_on_a_quiet_machine_has_the_true_roofs():
    run = Machine().run()
    assert run.chip.peaks == pytest.approx({"fp32": 1e11, "fp64": 5e10})
    assert run.chip.bandwidth == pytest.approx(2e10)
    assert run.under("update").bandwidth == pytest.approx(3e10)
    assert run.figures["call"].best == pytest.approx(1e-6)
    assert run.warnings == []


@pytest.mark.parametrize("storm", STORMS)
def test_a_busy_machine_is_refused_at_the_start_within_seconds(storm):
    machine = Machine(lambda stretch: STORMS[storm])
    start = machine.at.wall
    with pytest.raises(TooBusyError, match=f"too busy to be measured.*{storm}"):
        machine.run()
    assert machine.at.wall - start < 10


@pytest.mark.parametrize("storm", STORMS)
def test_a_storm_during_a_roof_refuses_the_run(storm):
    machine = Machine()
    *roofs, _ = machine.plan()
    begin = roofs[2]  # reading

    def make():
        machine.weather = lambda stretch: STORMS[storm]
        return begin.make()

    with pytest.raises(TooBusyError, match=f"read, 0 of .*{storm}"):
        taken_by(machine, [*roofs[:2], replace(begin, make=make), roofs[3]])


def taken_by(machine, plan, tell=lambda share, what: None):
    return take(HOST, machine.work(0.01), plan, 60, tell, machine)


def test_a_storm_that_passes_delays_a_roof_and_its_good_samples_are_kept():
    machine = Machine()
    stretches = []

    def weather(stretch):
        stretches.append(stretch)
        # Two good samples of reading, then a storm that outlasts the time of a try.
        return STORMS["waited"] if 3 <= len(stretches) < 30 else Weather()

    *first, read, update, call = machine.plan()

    def make():
        machine.weather = weather
        return read.make()

    run = taken_by(machine, [*first, replace(read, make=make), update, call])
    found = run.figures["read"]
    assert found.best == pytest.approx(2e10)
    assert len(found.samples) > AT_MOST  # those of both tries
    assert list(run.figures) == [probe.key for probe in machine.plan()]
    assert run.left_out == {}


def test_a_storm_during_a_dot_leaves_the_dot_out_and_says_why():
    machine = Machine()
    sizes = {"N": 1000, "x": "fp32"}
    dot = machine.probe("dot", "s", 1, 0.01, operation="dot", sizes=sizes, roof="read")

    def make():
        machine.weather = lambda stretch: STORMS["waited"]
        return dot.make()

    run = machine.run([replace(dot, make=make)])
    assert "dot" not in run.figures
    assert "waited" in run.left_out["dot"]
    assert any(warning.startswith("dot: left out") for warning in run.warnings)


def test_what_is_not_reached_in_time_is_left_out_and_the_roofs_never_are():
    machine = Machine()
    late = machine.probe("peak again", "FLOP/s", 1e9, 0.01)
    run = machine.run([late], seconds=0.5)
    assert set(run.figures) == {"peak fp32", "peak fp64", "read", "update"}
    assert run.left_out == {"call": "the time was out", "peak again": "the time was out"}


def test_of_several_tries_the_best_is_the_figure():
    machine = Machine()
    tries = [machine.probe("peak fp32", "FLOP/s", amount, 0.01) for amount in (5e8, 2e9, 15e8)]
    assert machine.run(tries).chip.peak("fp32") == pytest.approx(2e11)


def test_a_try_that_was_disturbed_is_tried_again_or_named():
    for lasts, found in ((30, 2e11), (10**9, 1e11)):
        machine = Machine()
        better = machine.probe("peak fp32", "FLOP/s", 2e9, 0.01)

        storm: list[int] = []  # the stretches in which it blows, from the first try on

        def weather(stretch, storm=storm, lasts=lasts):
            storm.append(stretch)
            return STORMS["waited"] if len(storm) < lasts else Weather()

        def make(machine=machine, better=better, weather=weather):
            machine.weather = weather
            return better.make()

        run = machine.run([replace(better, make=make)])
        assert run.chip.peak("fp32") == pytest.approx(found)
        missing = "peak fp32, made-up peak fp32"
        # The call comes after all tries of the roofs, in the storm that they brought.
        assert set(run.left_out) == (set() if found > 1e11 else {missing, "call"})
        assert all("its threads waited 50%" in why for why in run.left_out.values())


def test_no_dot_is_measured_before_every_roof_has_a_figure():
    machine, order = Machine(), []
    storms = iter([STORMS["waited"]] * 60)
    *roofs, read, update, call = machine.plan()

    def watched(probe, weather=None):
        def make():
            order.append(probe.key)
            machine.weather = weather or (lambda stretch: Weather())
            return probe.make()

        return replace(probe, make=make)

    slow = watched(read, lambda stretch: next(storms, Weather()))
    taken_by(machine, [*map(watched, roofs), slow, watched(update), watched(call)])
    again = order.count("read")
    assert again > 1
    assert order == ["peak fp32", "peak fp64", "read", "update", *["read"] * (again - 1), "call"]


def test_of_several_tries_of_a_dot_the_shortest_is_the_figure():
    machine, sizes = Machine(), {"N": 1000, "x": "fp32"}
    more = {"operation": "dot", "sizes": sizes, "roof": "read"}
    tries = [machine.probe("dot", "s", 1, seconds, **more) for seconds in (0.03, 0.01, 0.02)]
    assert machine.run(tries).figures["dot"].best == pytest.approx(0.01)


def test_what_others_take_is_a_share_of_all_cores_that_there_are():
    # A third of a core of the four, where two are granted.
    run = Machine(lambda stretch: Weather(others=0.08)).run()
    assert [sample.others for sample in run.figures["read"].samples] == pytest.approx([0.08] * 5)


def test_progress_is_told_in_order_and_ends_within_its_time():
    machine, told = Machine(), []
    taken_by(machine, machine.plan(), lambda share, what: told.append((share, what)))
    assert [what for _, what in told] == [probe.what for probe in machine.plan()]
    assert [share for share, _ in told] == sorted(share for share, _ in told)
    assert 0 <= told[0][0] < told[-1][0] <= 1
