"""Comparison of numpy with C and likwid-bench: `bench_machine.py [runs]`.

Needs gcc; uses likwid-bench if it is installed. Samples of numpy and C alternate, a tenth of a
second each, and adjacent samples are compared, so that other load slows both. Bandwidths should
agree; for the peak, the ratio shows how much of it numpy reaches.
"""

from __future__ import annotations

import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import c_roofs

import rooflib as rl
from roofmeter import kernels
from roofmeter.clocks import read_clocks
from roofmeter.host import this_host
from roofmeter.kernels import Probe
from roofmeter.load_monitor import LoadMonitor
from roofmeter.threads import (
    Floats,
    ThreadPool,
    array_budget,
    available_memory,
    blas_threads,
    random_floats,
)

FIGURES = {"peak fp32": "FLOP/s", "peak fp64": "FLOP/s", "read": "B/s", "update": "B/s"}
PAIRS, LIKWID_EVERY = 40, 10
"""The number of sample pairs per figure and run, and how often likwid-bench runs among them."""
LIKWID = {
    "peak fp32": ("peakflops_sp_avx512_fma", "32kB", 200_000),
    "peak fp64": ("peakflops_avx512_fma", "32kB", 200_000),
    "read": ("load_avx512", "1GB:{threads}", 3),
    "update": ("update_avx512", "1GB:{threads}", 2),
}
"""The kernel, working set and number of iterations of likwid-bench for each figure."""
RATE = re.compile(r"^(MFlops/s|MByte/s):\s*([\d.]+)", re.MULTILINE)


@dataclass
class Pairs:
    """One quantity as measured by numpy, C and likwid-bench in one run, in order."""

    numpy: list[float] = field(default_factory=list)
    c: list[float] = field(default_factory=list)
    likwid: list[tuple[float, float]] = field(default_factory=list)
    """Pairs of likwid-bench's rate and the mean of numpy's rates before and after it."""

    def of_c(self) -> float:
        """Return the median ratio of numpy's rate to C's, over all pairs."""
        return statistics.median(a / b for a, b in zip(self.numpy, self.c, strict=True))

    def of_likwid(self) -> float:
        return statistics.median(beside / rate for rate, beside in self.likwid)


def numpys(store: Floats, pool: ThreadPool) -> dict[str, Probe]:
    """Return numpy's probes as in `roofmeter.measure`, but peaks for one matrix size."""
    found = {f"peak {kind}": kernels.peak(kind, 2048, pool.threads) for kind in kernels.TYPES}
    return {**found, "read": kernels.read(store, pool), "update": kernels.update(store, pool)}


def likwid(key: str, threads: int) -> float:
    """Run likwid-bench; return the rate that it prints."""
    kernel, size, iterations = LIKWID[key]
    workset = f"N:{size.format(threads=threads)}"
    command = ["likwid-bench", "-t", kernel, "-w", workset, "-i", str(iterations)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    shown = dict(RATE.findall(done.stdout))
    return 1e6 * float(shown["MFlops/s" if key.startswith("peak") else "MByte/s"])


def taker(monitor: LoadMonitor, probe: Probe) -> Callable[[], float]:
    """Return a function that takes one sample of a probe and returns its rate."""
    work = probe.make()
    repeats = monitor.choose_repeats(work)

    def take_sample() -> float:
        monitor.wait_until_idle()  # wait for threads of the previous sample to release the cores
        return probe.amount / monitor.time_block(work, repeats, 1).per_pass

    return take_sample


def run(
    monitor: LoadMonitor, ours: Mapping[str, Probe], c: Mapping[str, Probe]
) -> dict[str, Pairs]:
    monitor.require_idle(ours["peak fp32"].make(), ours["peak fp32"].threads)
    found = {}
    for key in FIGURES:
        pairs = found[key] = Pairs()
        numpy_once, c_once = taker(monitor, ours[key]), taker(monitor, c[key])
        for number in range(PAIRS):
            pairs.numpy.append(numpy_once())
            pairs.c.append(c_once())
            if number % LIKWID_EVERY == 0 and shutil.which("likwid-bench"):
                before, rate, after = numpy_once(), likwid(key, ours[key].threads), numpy_once()
                pairs.likwid.append((rate, (before + after) / 2))
    return found


def main(count: int) -> None:
    host = this_host()
    runs: list[dict[str, Pairs]] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        blas_threads(host.granted),
        ThreadPool(host.granted) as pool,
    ):
        store = random_floats(array_budget(available_memory(host.memory)) // 4)
        library = c_roofs.compiled(Path(folder), library=True)
        ours, c = numpys(store, pool), c_roofs.probes(library, store, pool.threads)
        monitor = LoadMonitor(read_clocks, host.present, references=kernels.references(store, pool))
        for number in range(count):
            print(f"run {number + 1} of {count}", file=sys.stderr)
            runs.append(run(monitor, ours, c))
    print(table(runs))


def table(runs: list[dict[str, Pairs]]) -> rl.Table:
    """Tabulate the best samples, and each ratio's median with its range.

    The median is over the runs.
    """
    columns: dict[str, list[str]] = {"figure": [], "numpy, best": [], "C, best": []}
    columns |= {"likwid, best": [], "numpy ÷ C": [], "numpy ÷ likwid": []}
    for key, unit in FIGURES.items():
        pairs = [run[key] for run in runs]
        columns["figure"].append(key)
        columns["numpy, best"].append(rl.text(max(max(one.numpy) for one in pairs), unit))
        columns["C, best"].append(rl.text(max(max(one.c) for one in pairs), unit))
        columns["numpy ÷ C"].append(_middle([one.of_c() for one in pairs]))
        if pairs[0].likwid:
            best = max(rate for one in pairs for rate, _ in one.likwid)
            columns["likwid, best"].append(rl.text(best, unit))
            columns["numpy ÷ likwid"].append(_middle([one.of_likwid() for one in pairs]))
    return rl.Table({name: column for name, column in columns.items() if column})


def _middle(values: list[float]) -> str:
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
