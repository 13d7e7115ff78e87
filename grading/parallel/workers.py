"""An executor whose worker processes may be killed at any moment."""

import contextlib
import multiprocessing
import multiprocessing.connection
import os
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from typing import Any

END_SECONDS = 10  # a worker that does not end by itself within this time is killed


class Workers(Executor):
    """Processes that are started when they are needed, each with a pipe of its own.

    The processes of a `ProcessPoolExecutor` share their queues: if one is killed while it writes,
    the others and the grader wait for ever for the rest of its message. Here the pipe closes with
    its process; only that process's work raises BrokenExecutor.
    """

    def __init__(self, count: int, context: ForkServerContext) -> None:
        self.context = context
        self.threads = ThreadPoolExecutor(count)  # one for each process, to wait for its answer
        self.idle: list[_Worker] = []
        self.starting = threading.Lock()

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
                worker = _Worker(self.context)
        try:
            worker.pipe.send((function, arguments))
            value, error = worker.pipe.recv()
        except (EOFError, OSError):
            worker.end()
            raise BrokenExecutor("a worker's process has ended") from None
        self.idle.append(worker)
        if error is not None:
            raise error
        return value

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self.threads.shutdown(wait, cancel_futures=cancel_futures)
        while self.idle:
            self.idle.pop().end()


class _Worker:
    def __init__(self, context: ForkServerContext) -> None:
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()  # so that the pipe ends with the process

    def end(self) -> None:
        self.pipe.close()
        self.process.join(END_SECONDS)
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()


def _serve(pipe: "Connection[Any, Any]") -> None:
    """Do what comes through the pipe until it closes, at the latest when the grader ends."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with contextlib.suppress(EOFError, OSError):
        while True:
            function, arguments = pipe.recv()
            try:
                answer: tuple[Any, Exception | None] = function(*arguments), None
            except Exception as error:
                error.add_note(traceback.format_exc())
                answer = None, error
            pipe.send(answer)


def _end_with_parent() -> None:
    """End this process, whatever it is doing, when the grader has ended."""
    if parent := multiprocessing.parent_process():
        multiprocessing.connection.wait([parent.sentinel])
    os._exit(1)
