"""An executor whose worker processes may be killed at any moment."""

import contextlib
import fcntl
import multiprocessing
import multiprocessing.connection
import os
import pickle
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from typing import Any

from grading.limits import limit_next

SHUTDOWN_SECONDS = 10  # a worker that takes longer to exit is killed
# Limits of one job in its worker, outside the sandbox. An honest notebook takes a fraction of a
# second there, and other limits stop all known attacks much earlier.
JOB_SECONDS = 60
JOB_BYTES = 1_500_000_000
MAX_START_TRIES = 3
FORK_SERVER_KILLED = (
    "the process that workers are forked from is killed again and again, as a system does that is "
    "short of memory; close other programs, or give fewer --workers"
)


class TooMuch(BrokenExecutor):
    """A job exceeded its CPU limit; a retry would exceed it too."""


class CannotWork(Exception):
    """A worker cannot start; the text is one line that says why."""


class Workers(Executor):
    """An executor of processes that start on demand, each with its own pipe.

    The processes of a `ProcessPoolExecutor` share their queues: if one is killed while it writes,
    the others and the grader wait forever for the rest of its message. Here, a pipe closes when its
    process dies, and only the job of that process raises BrokenExecutor.
    """

    def __init__(
        self,
        count: int,
        context: ForkServerContext,
        limits: tuple[float, int] = (JOB_SECONDS, JOB_BYTES),
    ) -> None:
        self.context, self.limits = context, limits
        self.threads = ThreadPoolExecutor(count)  # each thread waits for one process
        self.idle: list[_Worker] = []
        self.all: list[_Worker] = []
        self.starting = threading.Lock()
        self.over = False

    # Keyword arguments are not supported, because nothing here needs them.
    def submit(  # type: ignore[override]
        self, function: Callable[..., Any], /, *arguments: Any
    ) -> Future[Any]:
        return self.threads.submit(self._do, function, arguments)

    def _do(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        try:
            worker = self.idle.pop()
        except IndexError:
            with self.starting:
                if self.over:
                    raise BrokenExecutor("no worker is started any more") from None
                worker = self._started()
                self.all.append(worker)
        try:
            worker.pipe.send((function, arguments))
            value, error = worker.pipe.recv()
        except (EOFError, OSError):
            worker.end()
            self.all.remove(worker)
            if worker.process.exitcode == -signal.SIGXCPU:
                raise TooMuch("a worker's process was ended at its limit") from None
            raise BrokenExecutor("a worker's process has ended") from None
        self.idle.append(worker)
        if error is not None:
            raise error
        return value

    def _started(self) -> "_Worker":
        for _ in range(MAX_START_TRIES):
            # The fork server may have died; the next try restarts it.
            with contextlib.suppress(EOFError, ConnectionError):
                return _Worker(self.context, self.limits)
        raise CannotWork(FORK_SERVER_KILLED)

    def kill(self) -> None:
        """Kill the workers without waiting for their jobs."""
        self.threads.shutdown(wait=False, cancel_futures=True)
        with self.starting:
            self.over = True
            for worker in list(self.all):
                worker.process.kill()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self.threads.shutdown(wait, cancel_futures=cancel_futures)
        while self.idle:
            self.idle.pop().end()


class _Worker:
    def __init__(self, context: ForkServerContext, limits: tuple[float, int]) -> None:
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, limits), daemon=True)
        self.process.start()
        theirs.close()  # the pipe must close when the process dies

    def end(self) -> None:
        self.pipe.close()
        self.process.join(SHUTDOWN_SECONDS)
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()


def _serve(pipe: "Connection[Any, Any]", limits: tuple[float, int]) -> None:
    """Serve jobs from the pipe until it closes or the grader ends.

    limits: CPU seconds and bytes that one job may take in this process.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the grader handles Ctrl-C and ends its workers
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _killed_with_parent()
    with contextlib.suppress(EOFError, OSError):
        while True:
            job = pipe.recv_bytes()
            limit_next(*limits)
            try:
                function, arguments = _unpacked(job)
                answer: tuple[Any, Exception | None] = function(*arguments), None
            except Exception as error:
                error.add_note(traceback.format_exc())
                answer = None, error
            pipe.send(answer)


def _unpacked(job: bytes) -> Any:
    try:
        return pickle.loads(job)  # imports the job's modules
    except Exception as error:
        raise CannotWork(f"a worker cannot begin: {type(error).__name__}: {error}") from None


def _killed_with_parent() -> None:
    """Make Linux kill this process when the grader ends, even while it runs C code.

    C code that holds the interpreter lock would block `_end_with_parent`. A pipe closes when the
    grader ends, and Linux can send a signal for that.
    """
    parent = multiprocessing.parent_process()
    if sys.platform == "linux" and parent is not None:
        sentinel = parent.sentinel
        fcntl.fcntl(sentinel, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(sentinel, fcntl.F_SETSIG, signal.SIGKILL)
        flags = fcntl.fcntl(sentinel, fcntl.F_GETFL)
        fcntl.fcntl(sentinel, fcntl.F_SETFL, flags | os.O_ASYNC)


def _end_with_parent() -> None:
    """Wait for the grader to end, then exit this process."""
    if parent := multiprocessing.parent_process():
        multiprocessing.connection.wait([parent.sentinel])
    os._exit(1)
