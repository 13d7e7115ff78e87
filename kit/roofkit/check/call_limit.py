"""A limit to what one call may take, in the learner's own kernel.

A call gets as much as in grading: what is stopped there must not pass here. Where the system has
timers and this is the main thread (Linux, macOS), their signals stop the call, even while it sleeps
or waits. Elsewhere (Windows, another thread) a thread looks at the clocks, and Python raises the
exception in the calling thread at its next step: no signal would reach a call there. In a browser
there is neither; there the page stops Python itself (`Host`).
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

CALL_SECONDS = 5.0  # of computing
CALL_WALL_SECONDS = 30.0  # on the clock, for code that waits
AGAIN_SECONDS = 0.2  # until the next try, if the call catches what is to stop it
LOOK_SECONDS = 0.05


class Host(Protocol):
    """Stops calls in a Python that has neither timers nor threads, as in a browser."""

    def __call__(
        self, cpu: float, wall: float, note: Callable[[], None]
    ) -> AbstractContextManager[None]:
        """Guard one call. Calls `note`, and raises, where the call is known to be too late."""

    def doubt(self) -> str:
        """Why a call that ended may be too late in grading; "" if none may. Forgets the calls."""


host: Host | None = None  # set by whoever runs such a Python


def doubt() -> str:
    """A sentence if a call of this check may be too late in grading, though it ended here."""
    return host.doubt() if host else ""


@contextmanager
def limited(cpu: float = CALL_SECONDS, wall: float = CALL_WALL_SECONDS) -> Iterator[None]:
    """TooLate if what is done in here takes longer: computing, or on the clock.

    TooLate also if the call caught the exception that was to stop it and went on to an end.
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
    running = [signal.setitimer(timer, limit, AGAIN_SECONDS) for _, timer, limit in timers]
    try:
        try:
            yield
        finally:
            over = True
    finally:  # reached also if the signal came while the line above ran
        over = True
        for (number, timer, _), handler, rest in zip(timers, before, running, strict=True):
            signal.setitimer(timer, *rest)
            signal.signal(number, handler)


@contextmanager
def _by_thread(cpu: float, wall: float, note: Callable[[], None]) -> Iterator[None]:
    caller, over, lock = threading.get_ident(), threading.Event(), threading.Lock()
    used, begun = time.process_time(), time.monotonic()

    def watch() -> None:
        while not over.wait(LOOK_SECONDS):
            if time.process_time() - used > cpu or time.monotonic() - begun > wall:
                with lock:
                    if not over.is_set():
                        note()
                        _raise_in(caller, TooLate)
                over.wait(AGAIN_SECONDS)

    watcher = threading.Thread(target=watch, daemon=True)
    try:
        watcher.start()
    except RuntimeError:  # a Python without threads, and no host that stops calls
        yield
        return
    try:
        yield
    finally:
        with lock:
            over.set()
            _raise_in(caller, None)


def _raise_in(thread: int, exception: type[BaseException] | None) -> None:
    """Have Python raise this in another thread; None takes back what was not raised yet."""
    if sys.implementation.name == "cpython":
        import ctypes

        wanted = ctypes.py_object(exception) if exception else None
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), wanted)
