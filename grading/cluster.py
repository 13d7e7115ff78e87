"""Many machines: the same function on an existing Dask cluster, through its Executor.

Its workers need this repository in the same state, and start in its folder. A scheduler needs Dask
only: it sees bytes, and a function without a module.
"""

import contextlib
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import Future

from grading.box import own_server
from grading.files import Unable
from grading.grade import Outcome, grade
from grading.release.exercises import version


@contextlib.contextmanager
def sender(address: str) -> Iterator[Callable[..., "Future[Outcome]"]]:
    """Yield a function that has `grade` called by a worker of the scheduler at `address`."""
    from distributed import Client

    def task(data: bytes) -> object:
        from grading import cluster

        return cluster.grade_here(data)

    try:
        client = Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise Unable(f"no scheduler answers at {address}: {error}".splitlines()[0]) from None
    with client, client.get_executor() as executor:
        yield lambda *job: executor.submit(task, pickle.dumps((version(job[0]), *job)))


def grade_here(data: bytes) -> Outcome:
    """Call `grade` in this process, a worker's."""
    known, name, *job = pickle.loads(data)
    if known != version(name):
        raise Unable(f"A worker has another state of {name}, or of the grading, than this")
    return grade(own_server(), name, *job)
