"""Many hands for the same work: processes of this machine, or a Dask cluster.

Both through `concurrent.futures`. What is done comes back in the order in which it gets ready. A
hand that is killed takes nothing with it: its work is done again.
"""

import collections
import contextlib
import multiprocessing
import multiprocessing.connection
import multiprocessing.forkserver
import os
import pickle
import threading
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, ProcessPoolExecutor, wait

from .work import Unable

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
        self.window = self.workers + 1
        # Workers are copies of a process that has imported everything; it starts here and now.
        self.context = multiprocessing.get_context("forkserver")
        self.context.set_forkserver_preload(["grading.work"])
        multiprocessing.forkserver.ensure_running()

    @contextlib.contextmanager
    def executor(self):
        pool = ProcessPoolExecutor(
            self.workers, mp_context=self.context, initializer=_end_with_parent
        )
        try:
            yield pool
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


class Cluster:
    """A Dask cluster whose workers were started by ``python -m grading worker``."""

    window = 100

    def __init__(self, address, seconds=WORKERS_SECONDS):
        from distributed import Client, KilledWorker

        self.broken = KilledWorker
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
    there is room. Jobs that were under way when a process ended are done again one by one, so that
    what ends a process is known and the others don't suffer from it.
    """
    jobs, suspects, tries = iter(jobs), collections.deque(), collections.Counter()
    while True:
        lost = []
        with hands.executor() as executor:
            running = {}
            while not lost:
                if suspects:
                    if not running:
                        named = suspects.popleft()
                        running[executor.submit(function, named[1])] = named
                else:
                    while len(running) < hands.window and (named := next(jobs, None)) is not None:
                        running[executor.submit(function, named[1])] = named
                if not running:
                    return
                ready, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in ready:
                    named = running.pop(future)
                    if isinstance(future.exception(), hands.broken):
                        lost.append(named)
                    else:
                        yield named[0], future.result()
            lost += running.values()
        for named in lost:
            tries[id(named)] += 1
            if tries[id(named)] < TRIES:
                suspects.append(named)
            else:
                yield named[0], None


def _end_with_parent():
    """Otherwise a worker would wait for ever for work from a grader that was killed."""
    threading.Thread(target=_watch_parent, daemon=True).start()


def _watch_parent():
    multiprocessing.connection.wait([multiprocessing.parent_process().sentinel])
    os._exit(1)
