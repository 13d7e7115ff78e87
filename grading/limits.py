"""Limits to what a process of the grader's own may take over a submission, and its end.

What the sandbox sends is read outside of it. Whoever finds a text that our code, or a library's,
takes for ever or all memory to read, ends one such process and not the class.
"""

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

SET_DEATH_SIGNAL = 1  # of prctl(2)
STATUS, STATM = Path("/proc/self/status"), Path("/proc/self/statm")
PAGE = os.sysconf("SC_PAGE_SIZE")


class Overrun(Exception):
    """It took more computing, memory or time than there is for one."""


def limit_next(cpu: float, more_bytes: int) -> None:
    """From now on this process may compute so many seconds, and hold so many bytes more.

    Beyond the one it is ended by the system, in the middle of whatever it computes; beyond the
    other Python raises MemoryError. Soft limits: the next call sets them anew.
    """
    used = time.process_time()
    _soft(resource.RLIMIT_CPU, int(used + cpu) + 1)
    if (held := _data_bytes()) is not None:
        _soft(resource.RLIMIT_DATA, held + more_bytes)


def die_with_parent() -> None:
    """Be killed when the parent ends, even if no line of Python gets its turn any more."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)


def apart(
    function: Callable[[], Any], cpu: float = 20, more_bytes: int = 500_000_000, wall: float = 600
) -> Any:
    """What `function` returns, as JSON has it, computed in a copy of this process.

    cpu: seconds of its computing. more_bytes: beyond what this process holds now. wall: seconds on
    the clock, far behind. Overrun if it takes more. RuntimeError with the text of its error, if the
    function raises one.
    """
    inlet, outlet = os.pipe()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        _answer(function, outlet, parent, cpu, more_bytes)
    os.close(outlet)
    try:
        text = _until_closed(inlet, time.monotonic() + wall)
    finally:
        os.close(inlet)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)  # if it hasn't ended by itself
        os.waitpid(child, 0)
    try:
        answer = json.loads(text)
    except ValueError:
        raise Overrun("it did not come to an end") from None
    if "error" in answer:
        raise RuntimeError(answer["error"])
    return answer["value"]


def _answer(
    function: Callable[[], Any], outlet: int, parent: int, cpu: float, more_bytes: int
) -> NoReturn:
    """Be the copy: write the value as JSON, nothing after an overrun, and end."""
    try:
        die_with_parent()
        if os.getppid() == parent:
            signal.signal(signal.SIGXCPU, signal.SIG_DFL)
            limit_next(cpu, more_bytes)
            try:
                answer = {"value": function()}
            except (MemoryError, RecursionError):
                os._exit(1)
            except Exception as error:
                answer = {"error": f"{type(error).__name__}: {error}"}
            with os.fdopen(outlet, "w", encoding="ascii") as stream:
                json.dump(answer, stream)
    finally:
        os._exit(0)


def _until_closed(inlet: int, end: float) -> bytes:
    """All that comes until the other end is closed, or until this moment."""
    text = b""
    while select.select([inlet], [], [], max(0.0, end - time.monotonic()))[0]:
        block = os.read(inlet, 1 << 16)
        if not block:
            return text
        text += block
    return b""


def _soft(kind: int, most: int) -> None:
    hard = resource.getrlimit(kind)[1]
    resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def held_bytes() -> int:
    """The memory that this process holds now; 0 where the system does not tell."""
    try:
        return int(STATM.read_text(encoding="ascii").split()[1]) * PAGE
    except OSError:
        return 0


def _data_bytes() -> int | None:
    """What counts for RLIMIT_DATA now; None where the system does not tell."""
    with contextlib.suppress(OSError):
        for line in STATUS.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmData:"):
                return int(line.split()[1]) * 1024
    return None
