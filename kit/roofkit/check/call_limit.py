"""Time limits for single calls of a learner's function.

The limits are those of grading: a call that times out there must not pass here. A watcher thread
polls the clocks, and has Python raise an exception in the calling thread at its next bytecode. So
it stops loops; a call that waits outside of Python, as in `time.sleep`, ends late. A browser has no
threads: there the page stops the whole cell.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from .answers import TooLate

CALL_SECONDS = 5.0  # limit on CPU time
CALL_WALL_SECONDS = 30.0  # limit on wall-clock time
RETRY_SECONDS = 0.2  # the exception is raised again after this time, in case the call catches it
POLL_SECONDS = 0.05
IN_BROWSER = sys.platform == "emscripten"


@contextmanager
def limited(cpu: float = CALL_SECONDS, wall: float = CALL_WALL_SECONDS) -> Iterator[None]:
    """Raise TooLate if the body exceeds its CPU time limit or its wall-clock limit.

    It is raised even if the body catches the exception that should stop it, and finishes.
    """
    fired: list[bool] = []
    try:
        with nullcontext() if IN_BROWSER else _watched(cpu, wall, lambda: fired.append(True)):
            yield
    except KeyboardInterrupt:
        raise
    except BaseException:
        if not fired:
            raise
    if fired:
        raise TooLate


@contextmanager
def _watched(cpu: float, wall: float, note: Callable[[], None]) -> Iterator[None]:
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

    threading.Thread(target=watch, daemon=True).start()
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
