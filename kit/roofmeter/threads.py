"""A thread pool, the arrays its threads share, and limits on BLAS threads."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import cache, partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from roofmeter.clocks import PROC

Floats: TypeAlias = NDArray[np.float32]
CACHE_LINE_BYTES = 64
"""Size of a cache line; unaligned arrays are slower."""
MAX_ARRAY_BYTES = 2**30
"""Maximum total size of streamed arrays: several times the last-level cache of most machines."""


class ThreadPool:
    """A pool of threads that run numpy in parallel.

    numpy releases the GIL inside its loops. If there is one thread per allowed core, each thread is
    pinned to its own core: otherwise the scheduler may place two threads on one core for the first
    10 ms after they wake up.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        cores, granted = SimpleQueue[int](), _cores()
        for core in granted:
            cores.put(core)
        pin = partial(_pin_thread, cores) if len(granted) == threads else None
        self._executor = ThreadPoolExecutor(threads, "roofmeter", pin) if threads > 1 else None

    def __enter__(self) -> ThreadPool:
        return self

    def __exit__(self, *_: object) -> None:
        if self._executor:
            self._executor.shutdown()

    def run(self, work: Callable[..., object], repeats: int, parts: Sequence[Any]) -> None:
        """Call `work(*part)` `repeats` times for each part, on one thread per part."""

        def walk(part: Any) -> None:
            for _ in range(repeats):
                work(*part)

        if self._executor is None:
            for part in parts:
                walk(part)
        else:
            list(self._executor.map(walk, parts))


def _cores() -> list[int]:
    """Return the cores in the CPU affinity of this process; empty if unknown."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def _pin_thread(cores: SimpleQueue[int]) -> None:
    """Pin the calling thread to the next core in the queue, if the system allows it."""
    with suppress(OSError):
        os.sched_setaffinity(threading.get_native_id(), {cores.get_nowait()})


def array_budget(available: float) -> int:
    """Return the bytes for arrays: a power of two from 1 MiB to MAX_ARRAY_BYTES.

    It is at most a quarter of `available`, unless that is less than 1 MiB.
    """
    return int(min(MAX_ARRAY_BYTES, 2 ** math.floor(math.log2(max(available / 4, 2**20)))))


def available_memory(whole: float, proc: Path = PROC) -> float:
    """Return the bytes available without swapping, ≤ `whole`; half of it if unknown."""
    with suppress(OSError):
        for line in (proc / "meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return min(int(line.split()[1]) * 1024.0, whole)
    return whole / 2


def random_floats(size: int) -> Floats:
    """Return an aligned array of `size` random fp32 numbers, with every page touched.

    Zeros would not do: untouched zero pages all map to one physical page, so they are read far too
    fast, and some processors multiply zeros with less power. The values are within ±0.5, and none
    is denormal, since arithmetic on denormals is slower.
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


def blas_threads(threads: int) -> AbstractContextManager[object]:
    """Limit BLAS and OpenMP threads in a `with` block, if threadpoolctl is installed.

    OpenBLAS counts the cores of the CPU affinity and ignores CPU quotas.
    """
    found = _controller()
    held: AbstractContextManager[object] = found.limit(limits=threads) if found else nullcontext()
    return held


def blas_can_be_limited() -> bool:
    """Return whether threadpoolctl is installed."""
    return _controller() is not None


def blas_info() -> dict[str, str]:
    """Return name and version of numpy's BLAS, and its number of threads if known."""
    built: Mapping[str, Any] = np.show_config(mode="dicts")
    found = built.get("Build Dependencies", {}).get("blas", {})
    named = {"blas": f"{found.get('name', 'unknown')} {found.get('version', '')}".strip()}
    control = _controller()
    for pool in control.info() if control else []:
        if pool["user_api"] == "blas":
            named = {
                "blas": f"{pool['internal_api']} {pool['version']}",
                "blas_kernels": str(pool.get("architecture", "")),
                "blas_threads": str(pool["num_threads"]),
            }
    if "blas_threads" not in named and "OPENBLAS_NUM_THREADS" in os.environ:
        named["blas_threads"] = os.environ["OPENBLAS_NUM_THREADS"]
    return named


@cache
def _controller() -> Any:
    """Return a threadpoolctl controller of the loaded libraries, or None without it."""
    import importlib

    try:
        return importlib.import_module("threadpoolctl").ThreadpoolController()
    except ImportError:
        return None
