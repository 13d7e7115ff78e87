"""Time limits for single calls in the learner's kernel.

The limits are those of grading: a call that times out there must not pass here. In the main thread
on Linux and macOS, timer signals stop the call, even while it sleeps or waits. On Windows and in
other threads, a watcher thread polls the clocks and has Python raise the exception in the calling
thread at its next bytecode. A browser has neither; there the page stops Python itself (`Host`).
"""

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType
from typing import Protocol

from .answers import TooLate

CALL_SECONDS = 5.0  # limit on CPU time
CALL_WALL_SECONDS = 30.0  # limit on wall-clock time, which also stops code that waits
RETRY_SECONDS = 0.2  # the exception is raised again after this time, in case the call catches it
POLL_SECONDS = 0.05


class Host(Protocol):
    """Time limits for calls where timers and threads are missing, as in a browser."""

    def __call__(
        self, cpu: float, wall: float, note: Callable[[], None]
    ) -> AbstractContextManager[None]:
        """Guard one call; if it times out, call `note` and raise an exception in it."""

    def doubt(self) -> str:
        """Return a warning that a finished call may time out in grading, or ""; clear it."""


host: Host | None = None  # set by the page that runs Python in a browser


def doubt() -> str:
    """Return a warning if a call that finished here may time out in grading, else ""."""
    return host.doubt() if host else ""


@contextmanager
def limited(cpu: float = CALL_SECONDS, wall: float = CALL_WALL_SECONDS) -> Iterator[None]:
    """Raise TooLate if the body exceeds its CPU time limit or its wall-clock limit.

    It is raised even if the body catches the exception that should stop it, and finishes.
    """
    in_main = threading.current_thread() is threading.main_thread()
    system = _by_signals if in_main and hasattr(signal, "setitimer") else _by_thread
    stopping = host or system
    fired: list[bool] = []
    try:
        with stopping(cpu, wall, lambda: fired.append(True)):
            yield
    except KeyboardInterrupt:
        raise
    except BaseException:
        if not fired:
            raise
    if fired:
        raise TooLate


@contextmanager
def _by_signals(cpu: float, wall: float, note: Callable[[], None]) -> Iterator[None]:
    over = False

    def late(number: int, frame: FrameType | None) -> None:
        if not over:
            note()
            raise TooLate

    timers = ((signal.SIGPROF, signal.ITIMER_PROF, cpu), (signal.SIGALRM, signal.ITIMER_REAL, wall))
    before = [signal.signal(number, late) for number, _, _ in timers]
    running = [signal.setitimer(timer, limit, RETRY_SECONDS) for _, timer, limit in timers]
    try:
        try:
            yield
        finally:
            over = True
    finally:  # also runs if the signal arrives while the inner block sets `over`
        over = True
        for (number, timer, _), handler, rest in zip(timers, before, running, strict=True):
            signal.setitimer(timer, *rest)
            signal.signal(number, handler)


@contextmanager
def _by_thread(cpu: float, wall: float, note: Callable[[], None]) -> Iterator[None]:
    caller, over, lock = threading.get_ident(), threading.Event(), threading.Lock()
    used, begun = time.process_time(), time.monotonic()

    def watch() -> None:
        while not over.wait(POLL_SECONDS):
            if time.process_time() - used > cpu or time.monotonic() - begun > wall:
                with lock:
                    if not over.is_set():
                        note()
                        _raise_in(caller, TooLate)
                over.wait(RETRY_SECONDS)

    watcher = threading.Thread(target=watch, daemon=True)
    try:
        watcher.start()
    except RuntimeError:  # threads can't be started: call without a limit
        yield
        return
    try:
        yield
    finally:
        with lock:
            over.set()
            _raise_in(caller, None)


def _raise_in(thread: int, exception: type[BaseException] | None) -> None:
    """Raise an exception in another thread; None cancels one that is still pending."""
    if sys.implementation.name == "cpython":
        import ctypes

        wanted = ctypes.py_object(exception) if exception else None
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), wanted)
