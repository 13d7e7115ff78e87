"""What is measured does what it is counted as: FLOPs and bytes added up call by call."""

from __future__ import annotations

import datetime
import itertools
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import rooflib as rl
import roofmeter
from roofmeter import dots, kernels, protocol, watch
from roofmeter.bar import draw
from roofmeter.host import Host
from roofmeter.readings import Moment
from roofmeter.team import Team, blas_threads, numbers, room, split

SIZE = 2**18
WATCHED = ("matmul", "dot", "vecdot", "copyto", "multiply", "negative", "add")


class Counting:
    """numpy, with the FLOPs of its products and the bytes of its operands added up."""

    def __init__(self) -> None:
        self.flops = 0
        self.bytes = 0
        self.lock = threading.Lock()  # a team's threads add at the same time

    def __getattr__(self, name: str) -> object:
        real = getattr(np, name)
        return self._watched(name, real) if name in WATCHED else real

    def _watched(self, name, real):
        def call(*operands, out=None):
            # An operand that is there twice is read once.
            arrays = list({id(a): a for a in operands if isinstance(a, np.ndarray)}.values())
            result = real(*operands) if out is None else real(*operands, out=out)
            with self.lock:
                if name == "matmul":
                    self.flops += 2 * result.size * arrays[0].shape[-1]
                elif name == "dot":
                    self.flops += 2 * arrays[0].size - 1
                self.bytes += sum(a.nbytes for a in arrays)
                if name != "copyto":  # whose target is an operand
                    self.bytes += np.asarray(result).nbytes
            return result

        return call


@pytest.fixture(params=[1, 2])
def counted(monkeypatch, request):
    """(counter, team, store) for a team of one and of two."""
    counter = Counting()
    monkeypatch.setattr(kernels, "np", counter)
    monkeypatch.setattr(dots, "np", counter)
    with Team(request.param) as team:
        yield counter, team, numbers(SIZE)


def found(counter: Counting, probe: kernels.Probe, repeats: int = 3) -> tuple[float, float]:
    """FLOPs and bytes of one pass, after as many passes."""
    work = probe.make()
    counter.flops = counter.bytes = 0
    work(repeats)
    return counter.flops / repeats, counter.bytes / repeats


def counts(probe: kernels.Probe) -> rl.Operation:
    return getattr(rl, probe.operation)(**probe.sizes)


@pytest.mark.parametrize("kind", ["fp32", "fp64"])
def test_a_peak_does_the_flops_that_it_is_counted_as(counted, kind):
    counter, team, _ = counted
    probe = kernels.peak(kind, 32, team.threads)
    assert found(counter, probe) == (probe.amount, 3 * 32**2 * {"fp32": 4, "fp64": 8}[kind])


def test_streams_move_the_bytes_that_they_are_counted_as(counted):
    counter, team, store = counted
    read = kernels.read(store, team)
    assert found(counter, read)[1] == read.amount + 4 * team.threads  # and a sum for each thread
    assert read.amount == 4 * SIZE
    probe = kernels.update(store, team)
    assert found(counter, probe)[1] == probe.amount == 8 * SIZE


def test_each_thread_stays_on_a_core_of_its_own_if_there_is_one_for_each(monkeypatch):
    """A system with these cores, of which some are granted."""
    threads: dict[int, set[int]] = {}
    monkeypatch.setattr(os, "sched_getaffinity", lambda of: {3, 5}, raising=False)
    monkeypatch.setattr(os, "sched_setaffinity", threads.__setitem__, raising=False)
    both = threading.Barrier(2)
    with Team(2) as team:
        team.each(lambda: both.wait(10), 1, [(), ()])
    assert sorted(map(sorted, threads.values())) == [[3], [5]]
    assert threading.get_native_id() not in threads
    threads.clear()
    monkeypatch.setattr(os, "sched_getaffinity", lambda of: {3, 5, 7})
    with Team(2) as team:
        team.each(lambda: both.wait(10), 1, [(), ()])
    assert not threads


def test_a_stair_walks_over_all_of_its_bytes_and_no_others(counted):
    counter, team, store = counted
    sizes = []
    for probe in kernels.staircase(store, team):
        results = SIZE  # at most: one number for each dot product
        assert 0 <= found(counter, probe)[1] - probe.amount < 4 * results
        assert probe.amount % probe.footprint == 0
        sizes.append(probe.footprint)
    assert sizes == [team.threads * 2**14 * 2**i for i in range(len(sizes))]
    assert store.nbytes / 2 < sizes[-1] <= store.nbytes


@pytest.mark.parametrize("batch", [1, 2, 16])
@pytest.mark.parametrize("how", [{}, {"one_by_one": True}, {"hot": True}])
def test_a_thin_matmul_is_counted_as_rooflib_counts_it(counted, batch, how):
    counter, team, store = counted
    probe = dots.thin(store, team, batch, **how)
    flops, moved = found(counter, probe)
    assert flops == counts(probe).flops
    assert moved == counts(probe).bytes  # one by one, the weights are an operand only once


def test_matmuls_of_a_stack_and_of_examples_are_counted_one_by_one(counted):
    counter, team, store = counted
    stacks = [dots.stack(store, team, side) for side in (16, 24, 64)]
    stacks += [dots.stack(store, team, 24, one_caller=True)]
    for probe in (*stacks, dots.per_example(store, team)):
        assert found(counter, probe) == (counts(probe).flops, counts(probe).bytes), probe.key
        assert probe.footprint <= store.nbytes


def test_streams_and_dot_products_are_counted_array_by_array(counted):
    counter, team, store = counted
    for probe in dots.streams(store, team):
        assert found(counter, probe)[1] == counts(probe).bytes, probe.key
        assert probe.footprint == counts(probe).bytes
    probe = dots.dot(store, team)
    flops, moved = found(counter, probe)
    # numpy gives a dot product of fp32 as an fp32 number.
    assert (flops, moved) == (counts(probe).flops, counts(probe).bytes)


def test_attention_does_the_flops_of_its_two_products(counted):
    counter, team, store = counted
    probe = dots.decode(store, team)
    assert found(counter, probe)[0] == counts(probe).flops


def test_the_polynomial_walks_over_its_arrays_again_and_again(counted):
    counter, team, store = counted
    probe = dots.polynomial(store, team)
    # A multiplication moves two arrays in and one out, an addition one in and one out.
    assert found(counter, probe)[1] == dots.DEGREE * 5 * counts(probe).bytes / 2


def test_a_norm_is_what_its_formula_says():
    store = numbers(SIZE)
    with Team(2) as team:
        for probe in dots.norms(store, team):
            x, out = (part.reshape(-1, probe.sizes["D"]) for part in np.split(store, 2))
            B = probe.sizes["B"]
            out[:] = 0
            probe.make()(1)
            exact = x[:B].astype(float)
            exact /= np.sqrt((exact**2).mean(axis=1, keepdims=True) + 1e-6)
            np.testing.assert_allclose(out[:B], exact, rtol=1e-5)


def test_a_spin_lasts_as_long_on_every_thread(monkeypatch):
    ticks = itertools.count()
    monkeypatch.setattr(kernels.time, "perf_counter", lambda: next(ticks) / 1000)
    counter = Counting()
    monkeypatch.setattr(kernels, "np", counter)
    with Team(1) as team:
        kernels.spin(team)(3)
    # 30 ms at a tick of 1 ms for each look at the clock, of which one sets the end.
    assert counter.bytes == 29 * 2 * 4 * 2**20


def test_threads_share_an_array_without_touching_one_line_twice():
    array = numbers(1000)
    parts = split([array], 3)
    assert array.ctypes.data % 64 == 0
    assert all(part.ctypes.data % 64 == 0 for (part,) in parts)
    assert [len(part) for (part,) in parts] == [320, 320, 320]
    assert not np.shares_memory(parts[0][0], parts[1][0])


def test_every_part_is_walked_over_as_often_as_asked():
    for threads in (1, 3):
        walked = []
        with Team(threads) as team:
            team.each(walked.append, 4, [("a",), ("b",), ("c",)])
        assert sorted(walked) == sorted("abc" * 4)


def blas_now() -> set[int]:
    return {p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas"}


def test_the_blas_has_one_thread_where_threads_share_a_stack_and_all_of_them_else():
    store, before = numbers(SIZE), blas_now()
    for one_caller, threads in ((False, {1}), (True, before)):
        seen = []
        with Team(2) as team:
            team.each = lambda work, repeats, parts, seen=seen: seen.append(blas_now())
            dots.stack(store, team, 16, one_caller).make()(1)
        assert seen == [threads]
    assert blas_now() == before
    with blas_threads(3):
        assert blas_now() == {3}


def test_stacks_are_not_shared_by_threads_where_the_blas_cannot_be_held(monkeypatch):
    def tried() -> list[str]:
        return [probe.what for probe in dots.dots(numbers(2**20), team) if "128 ×" in probe.what]

    with Team(3) as team:
        both = tried()
        monkeypatch.setattr(dots, "blas_can_be_limited", lambda: False)
        assert tried() == both[1:]
    assert len(both) == 2


def test_an_error_in_a_thread_is_not_lost():
    with Team(2) as team, pytest.raises(ZeroDivisionError):
        team.each(lambda a: a / 0, 1, [(1,), (2,)])


def test_numbers_are_of_both_signs_and_none_is_tiny():
    array = numbers(2**21 + 5)
    assert np.abs(array).max() <= 0.5
    assert 0.45 < (array > 0).mean() < 0.55
    assert np.abs(array[array != 0]).min() > np.finfo(np.float32).tiny


@pytest.mark.parametrize("available", [1, 2**20, 5e8, 9e9, 1e12])
def test_the_arrays_leave_most_of_the_memory_alone(available):
    size = room(available)
    assert size == 2 ** (size.bit_length() - 1)
    assert size <= max(available / 4, 2**20)
    assert size <= 2**30


def test_a_whole_run_with_real_kernels_on_a_clock_that_nobody_waits_for(monkeypatch, tmp_path):
    class Clock:
        wall = 0.0

        def __call__(self) -> Moment:
            self.wall += 0.1  # a block or more between any two readings
            return Moment(self.wall, 2 * self.wall)

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # where its paces are kept
    monkeypatch.setattr(kernels, "SIDES", (32, 64, 128))
    monkeypatch.setattr(protocol, "now", Clock())
    monkeypatch.setattr(watch, "PATIENCE", 0)  # this clock's process never rests
    monkeypatch.setattr(protocol, "room", lambda available: 2**22)
    host = Host("Made-up CPU", 4, 2, 8e9)
    monkeypatch.setattr(protocol, "this_host", lambda: host)
    told = []
    run = roofmeter.measure(600, progress=lambda share, what: told.append(share))
    assert run.left_out == {}
    assert run.threads == 2
    assert told[-1] == 1
    assert set(run.dots) > {"thin 1", "thin 1024", "stack 16", "copy", "norm plain", "decode"}
    assert "peak again" in run.figures
    assert run.date.tzinfo is datetime.UTC
    assert all(len(figure.values) >= 3 for figure in run.figures.values())
    assert {"numpy", "blas", "script", "python", "rooflib"} <= set(run.libraries)


def test_the_largest_matmul_is_left_to_machines_with_more_cores():
    *few, last = kernels.SIDES
    assert kernels.sides(kernels.MANY - 1) == tuple(few)
    assert kernels.sides(kernels.MANY) == (*few, last)


def test_measuring_is_imported_by_nobody_but_who_measures():
    code = "import rooflib, sys; print([m for m in sys.modules if 'measuring' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_bar_is_a_line_and_ends(capsys):
    draw(0.5, "reading")
    draw(1.0, "done")
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1
    assert "████████████░░░░░░░░░░░░ reading" in shown
