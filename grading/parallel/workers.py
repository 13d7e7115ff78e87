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

END_SECONDS = 10  # a worker that does not end by itself within this time is killed
# What one job may take of its worker, the sandbox apart. An honest notebook takes a fraction of a
# second; what a dishonest one sends is cut long before, but for what nobody has thought of.
JOB_SECONDS = 60
JOB_BYTES = 1_500_000_000
START_TRIES = 3
KILLED = (
    "the process that workers are forked from is killed again and again, as a system does that is "
    "short of memory; close other programs, or give fewer --workers"
)


class TooMuch(BrokenExecutor):
    """A job took more computing than there is for one, and would again."""


class CannotWork(Exception):
    """A worker can do nothing at all here; the text is one line that says why."""


class Workers(Executor):
    """Processes that are started when they are needed, each with a pipe of its own.

    The processes of a `ProcessPoolExecutor` share their queues: if one is killed while it writes,
    the others and the grader wait for ever for the rest of its message. Here the pipe closes with
    its process; only that process's work raises BrokenExecutor.
    """

    def __init__(
        self,
        count: int,
        context: ForkServerContext,
        limits: tuple[float, int] = (JOB_SECONDS, JOB_BYTES),
    ) -> None:
        self.context, self.limits = context, limits
        self.threads = ThreadPoolExecutor(count)  # one for each process, to wait for its answer
        self.idle: list[_Worker] = []
        self.all: list[_Worker] = []
        self.starting = threading.Lock()
        self.over = False

    # Without keywords for the function, which nobody here needs.
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
        for _ in range(START_TRIES):
            # Raised if the fork server ends meanwhile; it is started again by the next try.
            with contextlib.suppress(EOFError, ConnectionError):
                return _Worker(self.context, self.limits)
        raise CannotWork(KILLED)

    def kill(self) -> None:
        """End the workers at once, in the middle of what they do."""
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
        theirs.close()  # so that the pipe ends with the process

    def end(self) -> None:
        self.pipe.close()
        self.process.join(END_SECONDS)
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()


def _serve(pipe: "Connection[Any, Any]", limits: tuple[float, int]) -> None:
    """Do what comes through the pipe until it closes, at the latest when the grader ends.

    limits: seconds of computing, and bytes, that one job may take of this process.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is for the grader, which ends this
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
        return pickle.loads(job)  # which imports what it needs
    except Exception as error:
        raise CannotWork(f"a worker cannot begin: {type(error).__name__}: {error}") from None


def _killed_with_parent() -> None:
    """Have the system end this process with the grader, even if no thread gets its turn.

    A worker may be deep in a library that lets no other line of Python run. So Linux is asked to
    send a signal when the other end of the pipe that tells of the grader's end is closed.
    """
    parent = multiprocessing.parent_process()
    if sys.platform == "linux" and parent is not None:
        sentinel = parent.sentinel
        fcntl.fcntl(sentinel, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(sentinel, fcntl.F_SETSIG, signal.SIGKILL)
        flags = fcntl.fcntl(sentinel, fcntl.F_GETFL)
        fcntl.fcntl(sentinel, fcntl.F_SETFL, flags | os.O_ASYNC)


def _end_with_parent() -> None:
    """End this process when the grader has ended."""
    if parent := multiprocessing.parent_process():
        multiprocessing.connection.wait([parent.sentinel])
    os._exit(1)
