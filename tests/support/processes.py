"""Processes that a command leaves behind, forks, and commands run as an ordinary user."""

import contextlib
import ctypes
import os
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import psutil

PR_SET_CHILD_SUBREAPER = 36
WAIT_SECONDS = 30  # a process that still runs after this is considered stuck


@contextlib.contextmanager
def nothing_left() -> Iterator[None]:
    """Fail if processes that were started in the block go on after it, orphans included."""
    libc, own = ctypes.CDLL(None, use_errno=True), psutil.Process()
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    before = own.children(recursive=True)
    try:
        yield
        started = [one for one in own.children(recursive=True) if one not in before]
        _, left = psutil.wait_procs(started, WAIT_SECONDS)
        assert not left, [one.cmdline() for one in left]
    finally:
        libc.prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def in_fork(task: Callable[[], Any]) -> Any:
    """Return what `task()` returns, from a forked process; raise RuntimeError with its error."""
    readable, writable = os.pipe()
    child = os.fork()
    if not child:
        with os.fdopen(writable, "wb") as pipe:
            try:
                content = pickle.dumps((task(), ""))
            except BaseException as error:
                content = pickle.dumps((None, f"{type(error).__name__}: {error}"))
            pipe.write(content)
        os._exit(0)
    os.close(writable)
    with os.fdopen(readable, "rb") as pipe:
        found, error = pickle.loads(pipe.read() or pickle.dumps((None, "the process ended")))
    os.waitpid(child, 0)
    if error:
        raise RuntimeError(error)
    return found
