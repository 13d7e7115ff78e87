"""Many hands for the same work: processes of this machine, or a Dask cluster.

Both through `concurrent.futures`. What is done comes back in the order in which it gets ready. A
hand that is killed takes nothing with it: its work is done again.
"""

import contextlib
import multiprocessing
import multiprocessing.forkserver
import os
import pickle
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, wait
from urllib.parse import urlsplit

from grading.parallel.workers import Workers

ANSWER_SECONDS = 10  # in which a scheduler must answer
WORKERS_SECONDS = 30  # in which a scheduler must have its first worker
TRIES = 3  # how often the same work may end the process that does it


class Local:
    """Worker processes, by default one more than this process may use cores.

    A notebook's time is in part its kernel's and in part spent waiting for it.
    """

    broken = BrokenExecutor

    def __init__(self, workers=None):
        self.workers = workers or len(os.sched_getaffinity(0)) + 1
        self.window = 2 * self.workers
        # Workers are copies of a process that has imported everything; it starts here and now.
        self.context = multiprocessing.get_context("forkserver")
        self.context.set_forkserver_preload(["grading.parallel.preload"])
        multiprocessing.forkserver.ensure_running()

    @contextlib.contextmanager
    def executor(self):
        workers = Workers(self.workers, self.context)
        try:
            yield workers
        finally:
            workers.shutdown(wait=True, cancel_futures=True)


class Cluster:
    """A Dask cluster whose workers were started by ``python -m grading worker``."""

    window = 100

    def __init__(self, address, seconds=WORKERS_SECONDS):
        from distributed import Client, KilledWorker

        from grading.work import Unable

        self.broken = KilledWorker
        if not _complete(address):
            raise Unable(f"--cluster {address}: not a scheduler's address, as tcp://HOST:PORT is")
        try:
            self.client = Client(address, timeout=f"{ANSWER_SECONDS}s", set_as_default=False)
        except (OSError, ValueError) as error:
            raise Unable(f"--cluster {address}: no Dask scheduler answers there") from error
        try:
            self.client.wait_for_workers(1, timeout=seconds)
        except TimeoutError as error:
            self.client.close()
            raise Unable(
                f"--cluster {address}: it has no workers. On each machine that is to work for it: "
                f"python -m grading worker {address}"
            ) from error

    @contextlib.contextmanager
    def executor(self):
        yield _Sealed(self.client.get_executor(pure=False))


def _complete(address):
    parts = urlsplit(address)
    try:
        return parts.scheme in ("tcp", "tls") and parts.hostname and parts.port
    except ValueError:  # the port is no number
        return False


class _Sealed:
    """An executor whose scheduler need not know what it passes on: it carries bytes."""

    def __init__(self, executor):
        self.executor = executor

    def submit(self, function, job):
        def there(sealed):  # a function inside a function travels as what it is, not by its name
            import pickle

            function, job = pickle.loads(sealed)
            return function(job)

        return self.executor.submit(there, pickle.dumps((function, job)))


def done(hands, function, jobs):
    """(name, function(job)) for each (name, job), in the order in which they get ready.

    The result is None for a job that ended its process again and again. `jobs` is gone through as
    there is room.
    """
    jobs, running = iter(jobs), {}
    with hands.executor() as executor:
        while True:
            while len(running) < hands.window and (named := next(jobs, None)) is not None:
                running[executor.submit(function, named[1])] = named, 1
            if not running:
                return
            ready, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in ready:
                named, tries = running.pop(future)
                if not isinstance(future.exception(), hands.broken):
                    yield named[0], future.result()
                elif tries < TRIES:
                    running[executor.submit(function, named[1])] = named, tries + 1
                else:
                    yield named[0], None
