"""Worker processes that may be killed at any moment."""

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
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
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


class Workers:
    """Processes that start on demand, each with its own pipe.

    The processes of a `ProcessPoolExecutor` share their queues: if one is killed while it writes,
    the others and the grader wait forever for the rest of its message. Here, a pipe closes when its
    process dies, and only the job of that process raises BrokenExecutor.
    """

    def __init__(
        self,
        count: int,
        context: ForkServerContext,
        limits: tuple[float, int],
    ) -> None:
        self.context, self.limits = context, limits
        self.threads = ThreadPoolExecutor(count)  # each thread waits for one process
        self.idle: list[_Worker] = []
        self.all: list[_Worker] = []
        self.starting = threading.Lock()
        self.over = False

    def submit(self, function: Callable[[Any], Any], job: Any, /) -> Future[Any]:
        return self.threads.submit(self._do, function, job)

    def _do(self, function: Callable[[Any], Any], job: Any) -> Any:
        try:
            worker = self.idle.pop()
        except IndexError:
            with self.starting:
                if self.over:
                    raise BrokenExecutor("no worker is started any more") from None
                worker = self._started()
                self.all.append(worker)
        try:
            worker.pipe.send((function, job))
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
            try:
                return _Worker(self.context, self.limits)
            except (EOFError, ConnectionError):
                continue  # the fork server has died; the next try restarts it
        raise CannotWork(FORK_SERVER_KILLED)

    def kill(self) -> None:
        """Kill the workers, and start none for the jobs that are waiting."""
        with self.starting:
            self.over = True
            for worker in list(self.all):
                worker.process.kill()

    def end(self) -> None:
        """Wait for all jobs, then end the workers."""
        self.threads.shutdown()
        while self.idle:
            self.idle.pop().end()


class _Worker:
    def __init__(self, context: ForkServerContext, limits: tuple[float, int]) -> None:
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, limits), daemon=True)
        self.process.start()
        theirs.close()  # otherwise the pipe would stay open after the process dies

    def end(self) -> None:
        self.pipe.close()
        self.process.join(SHUTDOWN_SECONDS)
        self.process.kill()  # has no effect on a process that has ended
        self.process.join()


def _serve(pipe: "Connection[Any, Any]", limits: tuple[float, int]) -> None:
    """Serve jobs from the pipe until it closes or the grader ends.

    limits: CPU seconds and bytes that one job may take in this process.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the grader handles Ctrl-C and ends its workers
    sentinel = multiprocessing.parent_process().sentinel  # type: ignore[union-attr]
    threading.Thread(target=_end_with_parent, args=(sentinel,), daemon=True).start()
    _killed_with_parent(sentinel)
    try:
        while True:
            job = pipe.recv_bytes()
            limit_next(*limits)
            try:
                function, argument = _unpacked(job)
                answer: tuple[Any, Exception | None] = function(argument), None
            except Exception as error:
                error.add_note(traceback.format_exc())
                answer = None, error
            pipe.send(answer)
    except (EOFError, OSError):
        return


def _unpacked(job: bytes) -> Any:
    try:
        return pickle.loads(job)  # imports the job's modules
    except Exception as error:
        raise CannotWork(f"a worker cannot begin: {type(error).__name__}: {error}") from None


def _killed_with_parent(sentinel: int) -> None:
    """Make Linux kill this process when the grader ends, even while it runs C code.

    C code that holds the interpreter lock would block `_end_with_parent`. A pipe closes when the
    grader ends, and Linux can send a signal for that.
    """
    if sys.platform == "linux":
        fcntl.fcntl(sentinel, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(sentinel, fcntl.F_SETSIG, signal.SIGKILL)
        flags = fcntl.fcntl(sentinel, fcntl.F_GETFL)
        fcntl.fcntl(sentinel, fcntl.F_SETFL, flags | os.O_ASYNC)


def _end_with_parent(sentinel: int) -> None:
    """Wait for the grader to end, then exit this process."""
    multiprocessing.connection.wait([sentinel])
    os._exit(1)
