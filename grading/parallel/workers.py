"""An executor whose worker processes may be killed at any moment."""

import contextlib
import multiprocessing
import multiprocessing.connection
import os
import threading
import traceback
from concurrent.futures import BrokenExecutor, Executor, ThreadPoolExecutor

END_SECONDS = 10  # in which a process that is to end must have ended


class Workers(Executor):
    """Processes that are started as they are needed, each at the other end of a pipe of its own.

    Those of a `ProcessPoolExecutor` share their queues: one that is killed while it writes leaves
    half a message, for whose rest the others and the grader wait for ever. Here the end of a
    process is the end of its pipe; its work raises BrokenExecutor, and the others don't notice.
    """

    def __init__(self, count, context):
        self.context = context
        self.threads = ThreadPoolExecutor(count)  # one for each process, to wait for its answer
        self.idle = []
        self.starting = threading.Lock()

    def submit(self, function, /, *arguments):
        return self.threads.submit(self._do, function, arguments)

    def _do(self, function, arguments):
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

    def shutdown(self, wait=True, *, cancel_futures=False):
        self.threads.shutdown(wait, cancel_futures=cancel_futures)
        while self.idle:
            self.idle.pop().end()


class _Worker:
    def __init__(self, context):
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()  # so that the pipe ends with the process

    def end(self):
        self.pipe.close()
        self.process.join(END_SECONDS)
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()


def _serve(pipe):
    """Do what comes through the pipe until it ends, as it does with the grader."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with contextlib.suppress(EOFError, OSError):
        while True:
            function, arguments = pipe.recv()
            try:
                answer = function(*arguments), None
            except Exception as error:
                error.add_note(traceback.format_exc())
                answer = None, error
            pipe.send(answer)


def _end_with_parent():
    """Work under way would otherwise go on for a grader that was killed."""
    multiprocessing.connection.wait([multiprocessing.parent_process().sentinel])
    os._exit(1)
