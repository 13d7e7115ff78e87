"""Time limits for single calls of a learner's function.

The limits are those of grading: a call that times out there must not pass here. A watcher thread
polls the clocks, and has Python raise an exception in the calling thread at its next bytecode. So
it stops loops; a call that waits outside of Python, as in `time.sleep`, ends late. A browser has no
threads: there the page stops the whole cell.
"""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from .answers import TooLate

CALL_SECONDS = 5.0  # limit on CPU time
CALL_WALL_SECONDS = 30.0  # limit on wall-clock time
RETRY_SECONDS = 0.2  # the exception is raised again after this time, in case the call catches it
POLL_SECONDS = 0.05
IN_BROWSER = sys.platform == "emscripten"


@contextmanager
def limited() -> Iterator[None]:
    """Raise TooLate if the body exceeds its CPU time limit or its wall-clock limit.

    It is raised even if the body catches the exception that should stop it, and finishes.
    """
    if IN_BROWSER:
        yield
        return
    caller, over, lock = threading.get_ident(), threading.Event(), threading.Lock()
    used, begun = time.process_time(), time.monotonic()
    is_late = False

    def watch() -> None:
        nonlocal is_late
        while not over.wait(POLL_SECONDS):
            if (
                time.process_time() - used > CALL_SECONDS
                or time.monotonic() - begun > CALL_WALL_SECONDS
            ):
                with lock:
                    if not over.is_set():
                        is_late = True
                        _raise_in(caller, TooLate)
                over.wait(RETRY_SECONDS)

    threading.Thread(target=watch, daemon=True).start()
    try:
        try:
            yield
        finally:
            with lock:
                over.set()
                _raise_in(caller, None)
    except KeyboardInterrupt:
        raise
    except BaseException:
        if not is_late:
            raise
    if is_late:
        raise TooLate


def _raise_in(thread: int, exception: type[BaseException] | None) -> None:
    """Raise an exception in another thread; None cancels one that is still pending."""
    import ctypes  # a browser has none

    wanted = ctypes.py_object(exception) if exception else None
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), wanted)
