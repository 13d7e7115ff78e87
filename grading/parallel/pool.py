"""Runs jobs in processes on this machine or on a Dask cluster.

Both backends use executors as in `concurrent.futures`. Results come in order of completion. If a
worker dies, its job is retried.
"""

import contextlib
import multiprocessing
import multiprocessing.forkserver
import os
import pickle
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from typing import Any, Literal, Protocol, TypeVar
from urllib.parse import urlsplit

from grading.errors import Unable
from grading.parallel.workers import JOB_BYTES, JOB_SECONDS, TooMuch, Workers

ANSWER_SECONDS = 10  # a scheduler must answer within this time
WORKERS_SECONDS = 30  # a scheduler must have its first worker within this time
MAX_TRIES = 3  # attempts at a job whose worker processes die
TOO_MUCH: Literal["too much"] = "too much"

Name = TypeVar("Name")
Job = TypeVar("Job")
Result = TypeVar("Result")


class Submits(Protocol):
    """The methods of an executor that are used here."""

    def submit(self, function: Callable[[Any], Any], job: Any, /) -> Future[Any]: ...


class Backend(Protocol):
    """A place to submit jobs to.

    broken: the error of a job whose worker process died. window: the maximum number of jobs in
    flight. limit: sets the CPU seconds that a job may take outside its sandbox.
    """

    broken: type[BaseException]
    window: int

    def limit(self, seconds: float) -> None: ...

    def executor(self) -> contextlib.AbstractContextManager[Submits]: ...


class Local:
    """Worker processes on this machine, by default one more than the available cores.

    The extra one uses the time in which other workers wait for their sandbox.
    """

    broken: type[BaseException] = BrokenExecutor

    def __init__(self, workers: int | None = None, sandbox: bool = True) -> None:
        self.workers = workers or len(os.sched_getaffinity(0)) + 1
        self.window = 2 * self.workers
        self.limits: tuple[float, int] = (JOB_SECONDS, JOB_BYTES)
        # Start the fork server. It imports everything that workers need, and starts the zygote from
        # which sandboxes are forked.
        self.context = multiprocessing.get_context("forkserver")
        begin = ["grading.parallel.preload_sandbox"] if sandbox else []
        self.context.set_forkserver_preload([*begin, "grading.parallel.preload"])
        multiprocessing.forkserver.ensure_running()

    def limit(self, seconds: float) -> None:
        """Lower the CPU limit of a job to `seconds`; a higher value has no effect."""
        self.limits = min(self.limits[0], seconds), self.limits[1]

    @contextlib.contextmanager
    def executor(self) -> Iterator[Submits]:
        workers = Workers(self.workers, self.context, self.limits)
        try:
            yield workers
        except BaseException:  # Ctrl-C or a full disk: don't wait for running jobs
            workers.kill()
            raise
        finally:
            workers.end()


class Cluster:
    """A Dask cluster whose workers were started by ``python -m grading worker``."""

    window = 100

    def __init__(self, address: str, seconds: float = WORKERS_SECONDS) -> None:
        # Imported here: Dask is an optional dependency, and takes a second to import.
        from distributed import Client, KilledWorker

        self.broken: type[BaseException] = KilledWorker
        if not _complete(address):
            raise Unable(f"--cluster {address}: not a scheduler's address, as tcp://HOST:PORT is")
        try:
            self.client: Any = Client(address, timeout=f"{ANSWER_SECONDS}s")
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

    def limit(self, seconds: float) -> None:
        """Do nothing: on a cluster, a job's CPU time outside its sandbox isn't limited."""

    @contextlib.contextmanager
    def executor(self) -> Iterator[Submits]:
        yield _Pickling(self.client.get_executor(pure=False))


def _complete(address: str) -> bool:
    parts = urlsplit(address)
    try:
        return parts.scheme in ("tcp", "tls") and bool(parts.hostname and parts.port)
    except ValueError:  # the port is not a number
        return False


class _Pickling:
    """Executor wrapper that pickles jobs.

    This way the scheduler need not import the jobs' modules.
    """

    def __init__(self, executor: Submits) -> None:
        self.executor = executor

    def submit(self, function: Callable[[Any], Any], job: Any, /) -> Future[Any]:
        def unpickled(content: bytes) -> Any:  # Dask sends nested functions as code, not by name
            import pickle  # this function arrives without its globals

            function, job = pickle.loads(content)
            return function(job)

        return self.executor.submit(unpickled, pickle.dumps((function, job)))


def done(
    backend: Backend,
    function: Callable[[Job], Result],
    jobs: Iterable[tuple[Name, Job]],
    window: int | None = None,
) -> Generator[tuple[Name, Result | Literal["too much"] | None]]:
    """Yield (name, function(job)) for each (name, job), in order of completion.

    The result is None for a job whose worker died MAX_TRIES times, and TOO_MUCH for one that was
    killed at its CPU limit. `jobs` is consumed lazily: at most `window` jobs, by default
    `backend.window`, are in flight.
    """
    window = window or backend.window
    jobs = iter(jobs)
    running: dict[Future[Result], tuple[tuple[Name, Job], int]] = {}
    with backend.executor() as executor:
        while True:
            while len(running) < window and (named := next(jobs, None)) is not None:
                running[executor.submit(function, named[1])] = named, 1
            if not running:
                return
            ready, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in ready:
                named, tries = running.pop(future)
                if isinstance(future.exception(), TooMuch):
                    yield named[0], TOO_MUCH
                elif not isinstance(future.exception(), backend.broken):
                    yield named[0], future.result()
                elif tries < MAX_TRIES:
                    running[executor.submit(function, named[1])] = named, tries + 1
                else:
                    yield named[0], None
