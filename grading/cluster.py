"""Many machines: the same function on an existing Dask cluster, through its Executor.

Its workers need this repository in the same state, and start in its folder. A scheduler needs Dask
only: it sees bytes, and a function without a module.
"""

import contextlib
import functools
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import Future

from grading.box import Server
from grading.files import Unable
from grading.grade import Job, Outcome, grade
from grading.version import version


@contextlib.contextmanager
def sender(address: str) -> Iterator[Callable[[Job], "Future[Outcome]"]]:
    """Yield a function that has a job done by a worker of the scheduler at `address`."""
    from distributed import Client

    def task(data: bytes) -> object:
        from grading import cluster

        return cluster.grade_here(data)

    try:
        client = Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise Unable(f"no scheduler answers at {address}: {error}".splitlines()[0]) from None
    with client, client.get_executor() as executor:
        yield lambda job: executor.submit(task, pickle.dumps(job))


@functools.cache
def _server(unsafe: bool) -> Server:
    return Server(unsafe).__enter__()  # ends with the worker, when its socket is closed


def grade_here(data: bytes) -> Outcome:
    """Grade a job in this process, a worker's."""
    job: Job = pickle.loads(data)
    if job.version != version(job.exercise):
        raise Unable(f"A worker has another state of {job.exercise}, or of the grading, than this")
    return grade(_server(job.unsafe), job)
