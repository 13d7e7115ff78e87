"""Arrays that several threads walk over, each its own part."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import cache
from queue import Empty, SimpleQueue
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float32]
ALIGNMENT = 64
"""Bytes of a cache line: an array that begins within one is slower."""
LARGEST = 2**30
"""Bytes of the arrays that stream: several times the last cache of most machines."""


class Team:
    """So many threads; numpy lets go of Python's lock inside its loops, so they run at once.

    With one for each core that this process may run on, each stays on a core of its own: else two
    that are woken together may share one for the first hundredth of a second.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        cores = SimpleQueue[int]()
        granted = _cores()
        for core in granted if len(granted) == threads else ():
            cores.put(core)
        self._pool = ThreadPoolExecutor(threads, "team", _stay, (cores,)) if threads > 1 else None

    def __enter__(self) -> Team:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool:
            self._pool.shutdown()

    def each(self, work: Callable[..., object], repeats: int, parts: Sequence[Any]) -> None:
        """Let a thread per part do `work(*part)` so many times over, and wait for all of them."""

        def walk(part: Any) -> None:
            for _ in range(repeats):
                work(*part)

        if self._pool is None:
            for part in parts:
                walk(part)
        else:
            list(self._pool.map(walk, parts))


def _cores() -> list[int]:
    """The cores that this process may run on; none where the system does not say."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def _stay(cores: SimpleQueue[int]) -> None:
    """Keep this thread on the next of the cores, if there is one for it."""
    with suppress(Empty, OSError):
        os.sched_setaffinity(threading.get_native_id(), {cores.get_nowait()})


def room(available: float, largest: int = LARGEST) -> int:
    """Bytes for the arrays, a power of two: at most a quarter of the memory that is free."""
    return int(min(largest, 2 ** math.floor(math.log2(max(available / 4, 2**20)))))


def available_memory(otherwise: float) -> float:
    """Bytes of memory that can be had without swapping, where the system says; else a half."""
    try:
        with open("/proc/meminfo") as file:  # noqa: PTH123 - as short as it gets
            for line in file:
                if line.startswith("MemAvailable:"):
                    return min(int(line.split()[1]) * 1024.0, otherwise)
    except OSError:
        pass
    return otherwise / 2


def numbers(size: int) -> Floats:
    """`size` random fp32 numbers in an aligned array, each touched.

    Not zeros: memory never written to is read far too fast, since all its pages are one, and
    some machines multiply zeros with less power. Between ±0.5, and none so small that it is
    denormal: those are computed more slowly.
    """
    raw = np.empty(size * 4 + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    array = raw[start : start + size * 4].view(np.float32)
    block = np.random.default_rng(seed=5).random(min(size, 2**20), np.float32) - np.float32(0.5)
    for first in range(0, size, len(block)):
        array[first : first + len(block)] = block[: size - first]
    return array


def split(arrays: Sequence[Floats], parts: int) -> list[tuple[Floats, ...]]:
    """Cut arrays of one length alike into so many pieces, each on whole cache lines."""
    step = len(arrays[0]) // parts // 16 * 16
    return [tuple(array[i * step : (i + 1) * step] for array in arrays) for i in range(parts)]


def blas_threads(threads: int) -> AbstractContextManager[object]:
    """Hold the BLAS to so many threads meanwhile, where threadpoolctl is installed.

    OpenBLAS counts the cores that a process may run on, and knows of no quota.
    """
    found = _controller()
    held: AbstractContextManager[object] = (
        found.limit(limits=threads, user_api="blas") if found else nullcontext()
    )
    return held


def blas_can_be_limited() -> bool:
    """Whether threadpoolctl is installed."""
    return _controller() is not None


def blas() -> dict[str, str]:
    """Name and version of the BLAS that numpy multiplies with, and its threads where known."""
    built = np.show_config(mode="dicts") or {}
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
    """Threadpoolctl's hold on the libraries that are loaded by now; None without it."""
    import importlib

    try:
        return importlib.import_module("threadpoolctl").ThreadpoolController()
    except ImportError:
        return None
