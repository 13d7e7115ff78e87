"""The measured machine: its processor and memory, its threads, and arrays for them."""

from __future__ import annotations

import math
import os
import platform
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float32]
Work: TypeAlias = Callable[[int], object]
"""A function that repeats its work as often as its argument says."""
CACHE_LINE_BYTES = 64
"""Size of a cache line; unaligned arrays are slower."""
MAX_ARRAY_BYTES = 2**30
"""Largest size of the streamed arrays: several times the last cache of most machines."""
CONTAINER = Path("/sys/fs/cgroup")
"""Where a container finds its own limits (version 2 of control groups)."""


@dataclass(frozen=True)
class Host:
    """A description of the machine, without anything that identifies its owner.

    Attributes
    ----------
    cpu
        The model name that the processor reports.
    present, granted
        Cores of the machine, and cores that this process may use.
    memory
        Bytes of main memory, or the memory limit of the container if lower.
    system
        Kernel version and architecture.
    caches
        Bytes of each cache, by its name, in runs that say so.
    """

    cpu: str
    present: int
    granted: int
    memory: float
    system: str
    caches: Mapping[str, float] = field(default_factory=dict)


def this_host() -> Host:
    """Describe this machine."""
    model = re.search(r"^(?:model name|Hardware)\s*: (.+)", _read("/proc/cpuinfo"), re.M)
    # Only the numbers of the kernel's release: its suffix may name who built it.
    release = re.match(r"[\d.]*\d", platform.release())
    return Host(
        cpu=model[1].strip() if model else platform.processor() or "unknown processor",
        present=os.cpu_count() or 1,
        granted=_granted(),
        memory=_memory(),
        system=f"{platform.system()} {release[0] if release else ''}, {platform.machine()}",
    )


def _granted() -> int:
    """Return the cores of the affinity, or fewer if a container has a quota.

    The quota is rounded down: at 1.5 cores, a second thread would be throttled now and then.
    """
    cores = len(_affinity()) or os.cpu_count() or 1
    quota = re.match(r"(\d+) (\d+)", _read(CONTAINER / "cpu.max"))
    return max(1, min(cores, int(quota[1]) // int(quota[2]))) if quota else cores


def _affinity() -> list[int]:
    """Return the cores in this process's affinity; none where the system doesn't say."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def _memory() -> float:
    limit = _read(CONTAINER / "memory.max").strip()
    sizes = [float(limit)] if limit.isdecimal() else []
    if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", ()):
        sizes.append(float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")))
    # Windows tells neither: assume 4 GiB.
    return min(sizes, default=4 * 2.0**30)


def _read(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError:
        return ""


class ThreadPool:
    """Threads that run numpy in parallel: it releases the GIL inside its loops.

    Each thread stays on a core of its own. The scheduler would put two threads on one core for the
    first 10 ms after they wake up.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        cores = SimpleQueue[int]()
        for core in _affinity():
            cores.put(core)

        def stay_on_a_core() -> None:
            if not cores.empty():
                os.sched_setaffinity(0, {cores.get()})  # 0 is the calling thread

        self._executor = ThreadPoolExecutor(threads, "roofmeter", stay_on_a_core)

    def __enter__(self) -> ThreadPool:
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.shutdown()

    def work(self, one: Callable[..., object], parts: Sequence[Any]) -> Work:
        """Return work that calls `one(*part)` for each part, on one thread per part."""

        def run(repeats: int) -> None:
            def walk(part: Any) -> None:
                for _ in range(repeats):
                    one(*part)

            list(self._executor.map(walk, parts))

        return run


def repeated(one: Callable[[], object]) -> Work:
    """Return work that calls `one()` on the calling thread."""

    def run(repeats: int) -> None:
        for _ in range(repeats):
            one()

    return run


def store_of_floats(memory: float) -> Floats:
    """Return the array that all work shares: at most 1 GiB, and an eighth of the memory."""
    return random_floats(int(min(MAX_ARRAY_BYTES, 2 ** math.floor(math.log2(memory / 8)))) // 4)


def random_floats(size: int) -> Floats:
    """Return an aligned array of `size` random fp32 numbers within ±0.5.

    Zeros would not do: untouched zero pages all map to one physical page, so they are read far too
    fast, and some processors multiply zeros with less power.
    """
    raw = np.empty(size * 4 + CACHE_LINE_BYTES, np.uint8)
    start = -raw.ctypes.data % CACHE_LINE_BYTES
    array = raw[start : start + size * 4].view(np.float32)
    np.random.default_rng(size).random(dtype=np.float32, out=array)
    array -= np.float32(0.5)
    return array


def split(arrays: Sequence[Floats], parts: int) -> list[tuple[Floats, ...]]:
    """Split arrays of equal length into `parts` pieces, each of whole cache lines."""
    step = len(arrays[0]) // parts // 16 * 16
    return [tuple(array[i * step : (i + 1) * step] for array in arrays) for i in range(parts)]


@cache
def blas() -> Any:
    """Return what limits the threads of numpy's BLAS, which ignores a container's quota."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


def blas_info() -> dict[str, str]:
    """Return name, version, kernels and threads of numpy's BLAS."""
    for pool in blas().info():
        return {
            "blas": f"{pool['internal_api']} {pool['version']}",
            "blas_kernels": str(pool.get("architecture", "")),
            "blas_threads": str(pool["num_threads"]),
        }
    # threadpoolctl doesn't know every BLAS, such as that of macOS.
    built: Mapping[str, Any] = np.show_config(mode="dicts")
    return {"blas": built.get("Build Dependencies", {}).get("blas", {}).get("name", "unknown")}
