"""Tests of kernels, workloads and threads: work as counted, and a complete run."""

from __future__ import annotations

import datetime
import hashlib
import itertools
import os
import subprocess
import sys
import threading
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import rooflib as rl
import roofmeter
from roofmeter import kernels, load_monitor, protocol, workloads
from roofmeter import threads as threads_module
from roofmeter.clocks import ClockTimes
from roofmeter.host import Host
from roofmeter.progress_bar import draw
from roofmeter.threads import (
    ThreadPool,
    array_budget,
    available_memory,
    blas_can_be_limited,
    blas_info,
    blas_threads,
    random_floats,
    split,
)

SIZE = 2**18
COUNTED = ("matmul", "dot", "vecdot", "copyto", "multiply", "negative", "add")


class Counting:
    """A numpy wrapper that adds up the FLOPs and bytes of the functions in COUNTED.

    `new_arrays` counts results that numpy allocated, since a probe would time that as well.
    """

    def __init__(self) -> None:
        self.flops = 0
        self.bytes = 0
        self.new_arrays = 0
        self.lock = threading.Lock()  # threads of a pool update the counts concurrently

    def __getattr__(self, name: str) -> object:
        real = getattr(np, name)
        return self._counting(name, real) if name in COUNTED else real

    def _counting(self, name, real):
        def call(*operands, out=None):
            # Count an operand that is passed twice as read once.
            arrays = list({id(a): a for a in operands if isinstance(a, np.ndarray)}.values())
            result = real(*operands) if out is None else real(*operands, out=out)
            with self.lock:
                self.new_arrays += out is None and isinstance(result, np.ndarray)
                if name == "matmul":
                    self.flops += 2 * result.size * arrays[0].shape[-1]
                elif name == "dot":
                    self.flops += 2 * arrays[0].size - 1
                elif name in ("multiply", "negative", "add"):
                    self.flops += result.size
                self.bytes += sum(a.nbytes for a in arrays)
                if name != "copyto":  # for copyto, the operands include the target
                    self.bytes += np.asarray(result).nbytes
            return result

        return call


@pytest.fixture(params=[1, 2])
def counted(monkeypatch, request):
    """Yield a counter, a pool of one or two threads, and an array for the probes."""
    counter = Counting()
    monkeypatch.setattr(kernels, "np", counter)
    monkeypatch.setattr(workloads, "np", counter)
    with ThreadPool(request.param) as pool:
        yield counter, pool, random_floats(SIZE)


def found(counter: Counting, probe: kernels.Probe, repeats: int = 3) -> tuple[float, float]:
    """Run a probe; return the FLOPs and bytes per pass of its calls of numpy."""
    work = probe.make()
    counter.flops = counter.bytes = counter.new_arrays = 0
    work(repeats)
    # Only attention may allocate arrays, for attention weights and results.
    assert probe.key == "decode" or counter.new_arrays == 0, probe.key
    return counter.flops / repeats, counter.bytes / repeats


def counts(probe: kernels.Probe) -> rl.Operation:
    return getattr(rl, probe.operation)(**probe.sizes)


@pytest.mark.parametrize("kind", ["fp32", "fp64"])
def test_peaks_perform_the_counted_flops(counted, kind):
    counter, pool, _ = counted
    probe = kernels.peak(kind, 32, pool.threads)
    assert found(counter, probe) == (probe.amount, 3 * 32**2 * {"fp32": 4, "fp64": 8}[kind])


def test_read_and_update_move_the_counted_bytes(counted):
    counter, pool, store = counted
    read = kernels.read(store, pool)
    # Each thread also writes one sum.
    assert found(counter, read)[1] == read.amount + 4 * pool.threads
    assert read.amount == 4 * SIZE
    probe = kernels.update(store, pool)
    assert found(counter, probe)[1] == probe.amount == 8 * SIZE


def test_the_call_probe_adds_two_one_element_arrays(counted):
    counter, pool, _ = counted
    probe = kernels.call(pool)
    assert found(counter, probe)[1] == 3 * 4
    assert (probe.amount, probe.threads) == (1, 1)


def test_peak_and_call_figures_have_a_footprint_of_zero(counted):
    _, pool, _ = counted
    for probe in (kernels.peak("fp32", 32, pool.threads), kernels.call(pool)):
        assert protocol.make_figure(probe, ()).footprint == 0


def test_threads_are_pinned_only_if_allowed_cores_equal_threads(monkeypatch):
    """Pin only if the allowed cores match the number of threads."""
    pinned: dict[int, set[int]] = {}
    # In system calls, process 0 is the calling process.
    monkeypatch.setattr(os, "sched_getaffinity", {0: {3, 5}}.__getitem__, raising=False)
    monkeypatch.setattr(os, "sched_setaffinity", pinned.__setitem__, raising=False)
    both = threading.Barrier(2)

    def meet() -> None:
        with ThreadPool(2) as pool:
            pool.run(lambda: both.wait(10), 1, [(), ()])

    meet()
    assert sorted(map(sorted, pinned.values())) == [[3], [5]]
    assert threading.get_native_id() not in pinned
    pinned.clear()
    monkeypatch.setattr(os, "sched_getaffinity", {0: {3, 5, 7}}.__getitem__)
    meet()
    monkeypatch.delattr(os, "sched_getaffinity")
    meet()
    assert not pinned


def test_a_pool_ends_its_threads_and_a_pool_of_one_runs_in_the_callers_thread():
    before, ran = threading.active_count(), []
    with ThreadPool(3) as pool:
        pool.run(ran.append, 1, [(1,), (2,), (3,)])
        assert threading.active_count() > before
    assert threading.active_count() == before
    with ThreadPool(1) as pool:
        pool.run(lambda: ran.append(threading.get_ident()), 1, [()])
    assert ran[-1] == threading.get_ident()


def test_threads_that_cannot_be_pinned_still_work(monkeypatch):
    def refuse(thread, cores):
        raise PermissionError

    monkeypatch.setattr(os, "sched_getaffinity", lambda of: {3, 5}, raising=False)
    monkeypatch.setattr(os, "sched_setaffinity", refuse, raising=False)
    ran = []
    with ThreadPool(2) as pool:
        pool.run(ran.append, 1, [(1,), (2,)])
    assert sorted(ran) == [1, 2]


def test_cache_probes_read_the_counted_bytes_of_arrays_that_double_in_size(counted):
    counter, pool, store = counted
    sizes = []
    for probe in kernels.staircase(store, pool):
        results = SIZE  # at most one result per dot product
        assert 0 <= found(counter, probe)[1] - probe.amount < 4 * results
        # A pass reads at least 16 MiB per thread, so that the overhead of its call is negligible.
        assert probe.amount == max(pool.threads * 2**24, probe.footprint)
        sizes.append(probe.footprint)
    assert sizes == [pool.threads * 2**14 * 2**i for i in range(len(sizes))]
    assert store.nbytes / 2 < sizes[-1] <= store.nbytes


@pytest.mark.parametrize("batch", [1, 2, 16])
@pytest.mark.parametrize("how", [{}, {"row_by_row": True}, {"same_weights": True}])
def test_small_batch_matmuls_match_the_rooflib_count(counted, batch, how):
    counter, pool, store = counted
    probe = workloads.small_batch_matmul(store, pool, batch, **how)
    flops, moved = found(counter, probe)
    assert flops == counts(probe).flops
    assert moved == counts(probe).bytes  # row by row, the weights are still a single operand


def test_rows_are_multiplied_together_or_one_at_a_time(monkeypatch):
    # For a stack of one-row matrices, numpy calls its matrix-vector routine once per row.
    shapes, matmul = [], np.matmul

    def spied(x, w, out):
        shapes.append((x.shape, out.shape))
        return matmul(x, w, out=out)

    monkeypatch.setattr(np, "matmul", spied)
    store = random_floats(SIZE)
    with ThreadPool(1) as pool:
        for row_by_row in (False, True):
            workloads.small_batch_matmul(store, pool, 4, row_by_row).make()(1)
    width = shapes[0][0][1]
    assert shapes == [((4, width), (4, width)), ((4, 1, width), (4, 1, width))]


def test_stacked_and_per_example_matmuls_match_the_rooflib_count(counted):
    counter, pool, store = counted
    stacks = [workloads.stacked_matmuls(store, pool, side) for side in (16, 24, 64)]
    stacks += [workloads.stacked_matmuls(store, pool, 24, one_thread=True)]
    for probe in (*stacks, workloads.matmul_per_example(store, pool)):
        assert found(counter, probe) == (counts(probe).flops, counts(probe).bytes), probe.key
        assert probe.footprint <= store.nbytes


def test_streams_and_dot_products_match_the_rooflib_count(counted):
    counter, pool, store = counted
    for probe in workloads.streams(store, pool):
        assert found(counter, probe) == (counts(probe).flops, counts(probe).bytes), probe.key
        assert probe.footprint == counts(probe).bytes
    probe = workloads.dot_product(store, pool)
    flops, moved = found(counter, probe)
    # numpy returns an fp32 result for fp32 vectors.
    assert (flops, moved) == (counts(probe).flops, counts(probe).bytes)


def test_streams_copy_negate_and_add():
    with ThreadPool(2) as pool:
        copied, scaled, added = workloads.streams(store := random_floats(SIZE), pool)
        a, b = np.split(store, 2)
        first = a.copy()
        copied.make()(1)
        assert np.array_equal(b, first)
        scaled.make()(1)
        assert np.array_equal(b, -first)
        length = SIZE // 3 // 16 * 16 // 2 // 16 * 16
        added.make()(1)
        x, y, total = (store[i * (SIZE // 3 // 16 * 16) :][:length] for i in range(3))
        assert np.array_equal(total, x + y)
        assert total.any()


def test_attention_performs_the_flops_of_its_two_products(counted):
    counter, pool, store = counted
    probe = workloads.decode_attention(store, pool)
    assert found(counter, probe)[0] == counts(probe).flops


def test_polynomial_workload_moves_its_arrays_in_each_multiply_and_add(counted):
    counter, pool, store = counted
    probe = workloads.polynomial(store, pool)
    # A multiplication reads two arrays and writes one; an addition reads one and writes one.
    assert found(counter, probe)[1] == workloads.POLYNOMIAL_DEGREE * 5 * counts(probe).bytes / 2


def test_polynomial_workload_computes_a_sum_of_powers():
    store = random_floats(SIZE)
    with ThreadPool(2) as pool:
        workloads.polynomial(store, pool).make()(1)
    x, y = np.split(store[: SIZE // 4], 2)
    exact = sum(x.astype(float) ** power for power in range(workloads.POLYNOMIAL_DEGREE + 1))
    np.testing.assert_allclose(y, exact, rtol=1e-5)


def test_rms_norms_match_the_formula():
    store = random_floats(SIZE)
    with ThreadPool(2) as pool:
        for probe in workloads.rms_norms(store, pool):
            x, out = (part.reshape(-1, probe.sizes["D"]) for part in np.split(store, 2))
            B = probe.sizes["B"]
            out[:] = 0
            exact = x[:B].astype(float)
            probe.make()(1)
            exact /= np.sqrt((exact**2).mean(axis=1, keepdims=True) + 1e-6)
            exact *= random_floats(probe.sizes["D"])
            np.testing.assert_allclose(out[:B], exact, rtol=2e-6)


def test_attention_weights_are_a_softmax(monkeypatch):
    operands, matmul = [], np.matmul
    monkeypatch.setattr(np, "matmul", lambda a, b: operands.append((a, b)) or matmul(a, b))
    with ThreadPool(1) as pool:
        workloads.decode_attention(random_floats(SIZE), pool).make()(1)
    (q, k), (shares, v) = operands
    exact = np.exp(matmul(q.astype(float), k))
    exact /= exact.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(shares, exact, rtol=1e-4)
    assert not np.shares_memory(k, v)


def test_small_batch_matmuls_use_all_weights_before_any_is_used_again(monkeypatch):
    used, store = [], random_floats(2**17)
    monkeypatch.setattr(np, "matmul", lambda x, w, out: used.append(w.ctypes.data))
    with ThreadPool(1) as pool:
        probe = workloads.small_batch_matmul(store, pool, 1)
        probe.make()(16)
    # Eight matrices of 128 × 128 fill the array exactly.
    assert probe.sizes["D"] == 128
    assert len(set(used[:8])) == 8
    assert used[:8] == used[8:]


def test_consecutive_reference_reads_use_different_pieces_of_128_mib():
    read, store = [], np.empty(2**26, np.float32)  # 256 MiB that are never touched
    with ThreadPool(2) as pool:
        reading = kernels.references(store, pool)["memory"]
        pool.run = lambda work, repeats, parts: read.append((repeats, parts))
        reading(4)
    starts = [parts[0][0].ctypes.data for _, parts in read]
    assert len(set(starts[:2])) == 2
    assert starts[:2] == starts[2:]
    for repeats, parts in read:
        assert (repeats, len(parts)) == (1, 2)
        assert sum(array.nbytes for part in parts for array in part) == 2**27


def test_reference_reads_use_the_whole_of_a_small_array(counted):
    _, pool, store = counted
    ran, run = [], pool.run
    references = kernels.references(store, pool)
    pool.run = lambda work, repeats, parts: ran.append(parts) or run(work, repeats, parts)
    for name in ("cores", "memory"):
        references[name](1)
    cores, memory = ran
    assert sum(part[0].nbytes for part in memory) == store.nbytes
    # For "cores", each thread rereads 16 KiB, which fit into the L1 cache of any processor.
    assert {part[0].strides[0] for part in cores} == {0}
    assert sum(a.shape[1] * a.shape[2] * 4 * 2 for a, _, _ in cores) == pool.threads * 2**14


def test_new_runs_measure_the_same_work_as_stored_runs():
    """Figures with the same key are compared, so they must measure the same work."""
    stored = next(iter(roofmeter.runs().values()))
    with ThreadPool(stored.threads) as pool:
        store = np.empty(2**28, np.float32)  # 1 GiB that is never touched
        plan = list(protocol._plan(store, pool))
    assert Counter(probe.key for probe in plan) == Counter(
        [*stored.figures, "peak fp32", "peak fp64", "stack 96", "stack 128", "stack 256"]
    )
    names = ("unit", "amount", "threads", "footprint", "operation", "sizes", "roof")
    for key, figure in stored.figures.items():
        tried = [[getattr(probe, name) for name in names] for probe in plan if probe.key == key]
        measured = [getattr(figure, name) for name in names]
        # Unlike the stored run, new ones try the largest matmul only with four or more threads.
        if key == "peak fp32":
            assert measured[1] == 2 * max(kernels.PEAK_SIDES) ** 3
            measured[1] = tried[0][1]
        assert measured in tried, key
    assert len(set(kernels.PEAK_SIDES)) == len(kernels.PEAK_SIDES)


def test_only_operations_may_leave_threads_idle(counted):
    _, pool, store = counted
    for probe in protocol._plan(store, pool):
        assert probe.keeps_busy == (not probe.operation), probe.key


def test_spin_lasts_the_requested_time(monkeypatch):
    ticks = itertools.count()
    monkeypatch.setattr(kernels.time, "perf_counter", lambda: next(ticks) / 1000)
    counter = Counting()
    monkeypatch.setattr(kernels, "np", counter)
    with ThreadPool(1) as pool:
        kernels.spin(pool)(3)
    # 30 ms at 1 ms per clock reading; one of the readings sets the end time.
    assert counter.bytes == 29 * 2 * 4 * 2**20
    assert counter.new_arrays == 0


def test_array_parts_do_not_share_cache_lines():
    array = random_floats(1000)
    parts = split([array], 3)
    # With numpy's alignment to 16 bytes, most of these arrays wouldn't start a cache line.
    assert {one.ctypes.data % 64 for one in [random_floats(n) for n in range(100, 200)]} == {0}
    assert array.ctypes.data % 64 == 0
    assert array.base.nbytes <= array.nbytes + 64
    assert all(part.ctypes.data % 64 == 0 for (part,) in parts)
    assert [len(part) for (part,) in parts] == [320, 320, 320]
    assert not np.shares_memory(parts[0][0], parts[1][0])


def test_thread_pool_processes_every_part_the_requested_number_of_times():
    for threads in (1, 3):
        walked = []
        with ThreadPool(threads) as pool:
            pool.run(walked.append, 4, [("a",), ("b",), ("c",)])
        assert sorted(walked) == sorted("abc" * 4)


def blas_now() -> set[int]:
    return {p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas"}


def test_blas_is_single_threaded_while_pool_threads_share_a_stack_of_matmuls():
    store, before = random_floats(SIZE), blas_now()
    for one_thread, threads in ((False, {1}), (True, before)):
        seen = []
        with ThreadPool(2) as pool:
            pool.run = lambda work, repeats, parts, seen=seen: seen.append(blas_now())
            workloads.stacked_matmuls(store, pool, 16, one_thread).make()(1)
        assert seen == [threads]
    assert blas_now() == before
    with blas_threads(3):
        assert blas_now() == {3}
        assert blas_info()["blas_threads"] == "3"


def test_without_threadpoolctl_the_blas_is_named_by_numpy(monkeypatch):
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    monkeypatch.setattr(threads_module, "_controller", threads_module._controller.__wrapped__)
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    built = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    assert blas_info() == {"blas": f"{built['name']} {built['version']}"}
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "7")
    assert blas_info()["blas_threads"] == "7"
    assert not blas_can_be_limited()
    before = blas_now()
    with blas_threads(3):
        assert blas_now() == before


def test_a_blas_without_an_architecture_is_named_by_threadpoolctl(monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "7")
    mkl = {"user_api": "blas", "internal_api": "mkl", "version": "2026", "num_threads": 5}
    pools = [{"user_api": "openmp", "num_threads": 9}, mkl]
    control = SimpleNamespace(info=lambda: pools)
    monkeypatch.setattr(threads_module, "_controller", lambda: control)
    assert blas_info() == {"blas": "mkl 2026", "blas_kernels": "", "blas_threads": "5"}


def test_large_stacked_matmuls_skip_the_thread_pool_if_blas_cannot_be_limited(monkeypatch):
    def tried() -> Counter[tuple[str, str]]:
        probes = workloads.workloads(random_floats(2**20), pool)
        return Counter((each.key, each.what) for each in probes if each.key.startswith("stack"))

    with ThreadPool(2) as pool:
        both = tried()
        monkeypatch.setattr(workloads, "blas_can_be_limited", lambda: False)
        left = tried()
    # If the BLAS can't be limited to one thread, variants that use our thread pool are skipped,
    # except up to 64 × 64: the BLAS doesn't use threads for matmuls that small.
    assert [key for key, _ in both - left] == ["stack 96", "stack 128", "stack 256"]
    assert len({key for key, _ in left}) == len(left) == len(workloads.STACKED_SIDES)
    # Variants of one size differ in their number of matmuls, which is even for two threads.
    assert max(both.values()) == 1


def test_errors_in_threads_propagate():
    with ThreadPool(2) as pool, pytest.raises(ZeroDivisionError):
        pool.run(lambda a: a / 0, 1, [(1,), (2,)])


def test_random_floats_have_both_signs_and_no_denormals():
    array = random_floats(2**21 + 5)
    assert np.abs(array).max() <= 0.5
    assert 0.45 < (array > 0).mean() < 0.55
    assert np.abs(array[array != 0]).min() > np.finfo(np.float32).tiny


@pytest.mark.parametrize(
    ("available", "budget"),
    [(1, 2**20), (2**22, 2**20), (5e8, 2**26), (2**32 - 1, 2**29), (2**32, 2**30), (1e12, 2**30)],
)
def test_arrays_get_the_largest_power_of_two_within_a_quarter_of_memory(available, budget):
    """Clamp the bytes to 1 MiB and 1 GiB, too."""
    assert array_budget(available) == budget


def test_available_memory_is_at_most_the_total_and_half_of_it_if_unknown(tmp_path):
    assert available_memory(4e6, tmp_path) == 2e6
    (tmp_path / "meminfo").write_text("MemTotal: 9000 kB\nMemAvailable:   3000 kB\nCached: 9 kB\n")
    assert available_memory(4e6, tmp_path) == 3000 * 1024
    assert available_memory(1e6, tmp_path) == 1e6
    (tmp_path / "meminfo").write_text("MemTotal: 9000 kB\n")
    assert available_memory(4e6, tmp_path) == 2e6


def test_a_complete_run_with_real_kernels_on_a_fake_clock(monkeypatch):
    class Clock:
        wall = 0.0

        def __call__(self) -> ClockTimes:
            self.wall += 0.1  # more than MIN_SAMPLE_SECONDS
            return ClockTimes(self.wall, 2 * self.wall)

    monkeypatch.setattr(kernels, "PEAK_SIDES", (32, 64, 128))
    monkeypatch.setattr(protocol, "read_clocks", Clock())
    monkeypatch.setattr(
        load_monitor, "MAX_IDLE_WAIT_SECONDS", 0
    )  # with this clock, the process never looks idle
    monkeypatch.setattr(protocol, "array_budget", lambda available: 2**22)
    host = Host("Made-up CPU", 4, 2, 8e9, "Paper 1.0, sheet")
    monkeypatch.setattr(protocol, "this_host", lambda: host)
    shares, peaks, peak = [], [], kernels.peak
    monkeypatch.setattr(kernels, "peak", lambda *given: peaks.append(given) or peak(*given))
    run = roofmeter.measure(600, progress=lambda share, what: shares.append(share))
    assert run.left_out == {}
    assert run.threads == 2
    assert shares[-1] == 1
    assert set(run.operations) > {"thin 1", "thin 1024", "stack 16", "copy", "norm plain", "decode"}
    assert "peak again" in run.figures
    assert peaks[-1] == peaks[0]  # the same matmul, so that their times can be compared
    assert run.date.tzinfo is datetime.UTC
    assert run.date.microsecond == 0
    assert run.figures["read"].footprint == 2**22
    assert all(len(figure.values) >= 3 for figure in run.figures.values())
    assert {"numpy", "blas", "script", "python", "rooflib"} <= set(run.libraries)


def test_the_largest_matmul_is_tried_only_with_four_or_more_threads():
    *few, last = kernels.PEAK_SIDES
    assert kernels.peak_sides(3) == tuple(few)
    assert kernels.peak_sides(4) == (*few, last)
    assert last > max(few)


@pytest.mark.parametrize(("given", "bar"), [({}, True), ({"progress": False}, False)])
def test_a_progress_bar_is_drawn_unless_it_is_switched_off(monkeypatch, capsys, given, bar):
    asked = []

    def measured(host, spin, plan, seconds, report, clock, references):
        asked.append(seconds)
        report(0.5, "reading")

    monkeypatch.setattr(protocol, "measure_plan", measured)
    monkeypatch.setattr(protocol, "array_budget", lambda available: 2**20)
    roofmeter.measure(**given)
    shown = capsys.readouterr().err
    assert bool(shown) == bar
    assert ("reading" in shown) == bar
    assert asked == [60]


def test_the_script_hash_covers_all_python_files_in_its_folder(tmp_path, monkeypatch):
    for name, text in (("a.py", "1"), ("b.py", "2"), ("notes.txt", "3")):
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(protocol, "__file__", str(tmp_path / "a.py"))
    assert protocol.script_hash() == hashlib.sha256(b"12").hexdigest()


def test_rooflib_does_not_import_roofmeter():
    code = "import rooflib, sys; print([m for m in sys.modules if m.startswith('roofmeter')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_progress_bar_is_a_single_line(capsys):
    draw(0.5, "reading")
    draw(1.0, "done")
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1
    assert "████████████░░░░░░░░░░░░ reading" in shown
