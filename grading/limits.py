"""Resource limits for the grader's own processes that parse sandboxes' data.

A submission may send data that our code or a library needs forever, or all memory, to parse. With
the limits, that ends one forked process instead of the grading run.
"""

import contextlib
import ctypes
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG = 1  # of prctl(2)
STATUS = Path("/proc/self/status")


class Overrun(Exception):
    """A process exceeded its limit of CPU time, memory or wall-clock time."""


def limit_next(cpu: float, more_bytes: int) -> None:
    """Allow this process `cpu` more seconds of CPU time and `more_bytes` more memory.

    The system kills the process at the first limit; Python raises MemoryError at the second. Both
    are soft limits, which the next call replaces.
    """
    used = time.process_time()
    _set_soft_limit(resource.RLIMIT_CPU, int(used + cpu) + 1)
    if (held := _data_bytes()) is not None:
        _set_soft_limit(resource.RLIMIT_DATA, held + more_bytes)


def die_with_parent() -> None:
    """Make Linux kill this process when its parent ends, even while it runs C code."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def run_limited(
    function: Callable[[], Any], cpu: float = 20, more_bytes: int = 500_000_000, wall: float = 600
) -> Any:
    """Run `function` in a forked process; return its result, passed as JSON.

    Raises Overrun if it takes more than `cpu` seconds of CPU time, `more_bytes` beyond what this
    process holds now, or `wall` seconds. An exception in `function` becomes a RuntimeError.
    """
    inlet, outlet = os.pipe()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        _run_child(function, outlet, parent, cpu, more_bytes)
    os.close(outlet)
    try:
        text = _read_until(inlet, time.monotonic() + wall)
    finally:
        os.close(inlet)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)  # in case the child is still running
        os.waitpid(child, 0)
    try:
        answer = json.loads(text)
    except ValueError:
        raise Overrun("it did not come to an end") from None
    if "error" in answer:
        raise RuntimeError(answer["error"])
    return answer["value"]


def _run_child(
    function: Callable[[], Any], outlet: int, parent: int, cpu: float, more_bytes: int
) -> None:
    """Run `function` in the child, write its result as JSON, and exit.

    At a limit, nothing is written.
    """
    try:
        die_with_parent()
        if os.getppid() == parent:
            signal.signal(signal.SIGXCPU, signal.SIG_DFL)
            limit_next(cpu, more_bytes)
            try:
                answer = {"value": function()}
            except (MemoryError, RecursionError):
                return
            except Exception as error:
                answer = {"error": f"{type(error).__name__}: {error}"}
            with os.fdopen(outlet, "w", encoding="ascii") as stream:
                json.dump(answer, stream)
    finally:
        os._exit(0)


def _read_until(inlet: int, end: float) -> bytes:
    """Read until the other end is closed; return b"" if it is still open at `end`."""
    text = b""
    while wait([inlet], end - time.monotonic()):
        block = os.read(inlet, 1 << 16)
        if not block:
            return text
        text += block
    return b""


def _set_soft_limit(kind: int, limit: int) -> None:
    hard = resource.getrlimit(kind)[1]
    resource.setrlimit(kind, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


def _data_bytes() -> int | None:
    """Return the memory that counts toward RLIMIT_DATA, None if it is unknown."""
    with contextlib.suppress(OSError):
        for line in STATUS.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmData:"):
                return int(line.split()[1]) * 1024
    return None
