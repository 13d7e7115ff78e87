"""Many machines: the same function on an existing Dask cluster, through its Executor.

Dask is installed by `make cluster`. Its workers need this repository in the same state, and start
in its folder: `python -m distributed.cli.dask_worker tcp://HOST:PORT`.
"""

import contextlib
import functools
import threading
from collections.abc import Iterator
from concurrent.futures import Executor

from grading.box import Refused, Server
from grading.grade import Job, Outcome, grade
from grading.version import version

WINDOW = 1_000  # jobs that are sent before others are done
_one_at_a_time = threading.Lock()


@contextlib.contextmanager
def executor(address: str) -> Iterator[Executor]:
    """Yield an executor whose work is done by the workers of the scheduler at `address`."""
    from distributed import Client

    try:
        client = Client(address, timeout=10)
    except (OSError, ValueError, TimeoutError) as error:
        why = str(error) or type(error).__name__
        raise Refused(f"no scheduler answers at {address}: {why.splitlines()[0]}") from None
    with client:
        yield client.get_executor()


@functools.cache
def _server(unsafe: bool) -> Server:
    return Server(unsafe).__enter__()  # ends with the worker, when its socket is closed


def grade_there(job: Job) -> Outcome:
    """Do what `grade` does, on a worker."""
    if job.version != version(job.exercise):
        raise Refused(f"A worker has another state of {job.exercise}, or of the grading, than this")
    with _one_at_a_time:
        server = _server(job.unsafe)
    return grade(server, job)
