"""Tests of the worker pool: results, errors, dead workers and limits."""

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
from select import select

import pytest
from classroom import made_up
from repository import ROOT

from grading.parallel import pool
from grading.parallel.workers import _end_with_parent

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux signals a closed pipe")


def test_a_job_that_kills_its_worker_does_not_stop_others():
    works = {number: f"{number} * 2" for number in range(6)}
    jobs = [("ends", "__import__('os')._exit(0)"), *works.items()]
    got = list(pool.done(pool.Local(2), eval, jobs))
    assert len(got) == 7
    assert dict(got) == {"ends": None, **{number: number * 2 for number in works}}


def test_the_number_of_workers_is_respected(monkeypatch):
    before = set(multiprocessing.active_children())  # earlier tests may have left workers
    jobs = [(number, "__import__('os').getpid()") for number in range(8)]
    processes = {process for _, process in pool.done(pool.Local(1), eval, jobs)}
    assert len(processes) == 1
    assert os.getpid() not in processes
    assert set(multiprocessing.active_children()) <= before, "a worker goes on"
    monkeypatch.setattr(os, "sched_getaffinity", {0: range(7)}.get)
    assert pool.Local().workers == 7 + 1
    assert pool.Local(3).window == 6, "a worker that is done finds the next job waiting"


def test_an_endless_job_is_killed_and_others_complete():
    backend = pool.Local(2)
    backend.limits = (0.2, 500_000_000)
    endless = "__import__('re').match('(a+)+$', 'a' * 80 + 'b')"
    jobs = [("endless", endless), *((number, f"{number} * 2") for number in range(6))]
    got = list(pool.done(backend, eval, jobs))
    assert len(got) == 7
    assert dict(got) == {"endless": pool.TOO_MUCH, **{n: n * 2 for n in range(6)}}


def test_limits_apply_to_each_job_separately():
    backend = pool.Local(1)
    backend.limits = (0.4, 500_000_000)
    busy = "[__import__('time').process_time()] and sum(range(4_000_000)) and 1"
    assert [got for _, got in pool.done(backend, eval, [(n, busy) for n in range(8)])] == [1] * 8
    with pytest.raises(MemoryError):
        list(pool.done(backend, eval, [("large", "len(bytearray(1 << 30))")]))


@pytest.mark.parametrize("options", [{}, {"sandbox": False}])
def test_the_fork_server_preloads_the_sandbox_only_if_it_is_used(monkeypatch, options):
    context, asked = multiprocessing.get_context("forkserver"), []
    monkeypatch.setattr(context, "set_forkserver_preload", asked.append)
    pool.Local(1, **options)
    ((*before, last),) = asked
    assert last == "grading.parallel.preload"
    assert before == ([] if options else ["grading.parallel.preload_sandbox"])


@pytest.fixture
def workers():
    """Return a pool with one worker process."""
    backend = pool.Local(1, sandbox=False)
    with backend.executor() as workers:
        yield workers


def test_dead_workers_are_forgotten(workers):
    """Each dead worker that is kept would hold a file open."""
    for _ in range(2):
        ended = workers.submit(eval, "__import__('os')._exit(0)")
        assert isinstance(ended.exception(), pool.Local.broken)
    assert workers.all == []
    assert workers.submit(eval, "1").result() == 1
    assert len(workers.all) == 1


def test_a_worker_ends_by_itself_when_its_pipe_is_closed(workers):
    workers.submit(eval, "1").result()
    (worker,) = workers.idle
    worker.end()
    assert worker.process.exitcode == 0


def test_a_worker_that_does_not_end_is_killed(workers, monkeypatch):
    monkeypatch.setattr("grading.parallel.workers.SHUTDOWN_SECONDS", 0)
    workers.submit(eval, "1").result()
    (worker,) = workers.idle
    worker.pipe.send((eval, "__import__('time').sleep(600)"))
    worker.end()
    assert worker.process.exitcode == -signal.SIGKILL


def test_jobs_that_wait_are_not_begun_when_the_grader_stops():
    before = set(multiprocessing.active_children())
    jobs = [("quick", "1"), *((n, "__import__('time').sleep(600)") for n in range(3))]
    working = pool.done(pool.Local(1, sandbox=False), eval, jobs, window=4)
    assert next(working) == ("quick", 1)
    working.close()
    assert set(multiprocessing.active_children()) <= before


def test_a_worker_ends_with_its_grader_even_without_a_signal():
    theirs, ours = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ours)
        _end_with_parent(theirs)
        os._exit(7)
    os.close(theirs)
    assert os.waitpid(child, os.WNOHANG) == (0, 0)
    os.close(ours)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1


def test_an_error_in_a_job_is_raised_with_its_traceback():
    with pytest.raises(ZeroDivisionError) as raised:
        list(pool.done(pool.Local(2), eval, [("wrong", "1 / 0")]))
    assert "in _serve" in raised.value.__notes__[0], "the worker's traceback is missing"


def test_a_job_whose_worker_dies_is_tried_three_times():
    tried = []

    def ends(job):
        tried.append(job)
        if job == "ends" or tried.count(job) < 3:
            raise EOFError
        return job

    jobs = [("one", "ends"), ("two", "recovers")]
    assert list(pool.done(made_up.InProcessBackend(), ends, jobs)) == [
        ("one", None),
        ("two", "recovers"),
    ]
    assert tried == ["ends"] * 3 + ["recovers"] * 3


def test_jobs_are_consumed_lazily():
    taken = []

    def jobs():
        for number in range(5):
            taken.append(number)
            yield number, str(number)

    results = pool.done(made_up.InProcessBackend(), int, jobs())
    assert next(results) == (0, 0)
    assert taken == [0]
    assert list(results) == [(number, number) for number in range(1, 5)]


def test_jobs_in_a_window_of_one_run_one_at_a_time():
    taken, backend = [], made_up.InProcessBackend()
    backend.window = 3

    def jobs():
        for number in range(4):
            taken.append(number)
            yield number, str(number)

    results = pool.done(backend, int, jobs(), window=1)
    for number in range(4):
        assert next(results) == (number, number)
        assert taken == list(range(number + 1))


@pytest.mark.parametrize(
    "busy",
    [
        "__import__('time').sleep(600)",
        # PyDLL doesn't release the GIL, like some C code: no other Python thread can run.
        pytest.param(
            "__import__('ctypes').PyDLL(None).sleep(600)", marks=[LINUX, pytest.mark.long]
        ),
    ],
)
def test_workers_end_when_the_grader_is_killed(busy):
    script = f"""
from grading.parallel import pool
work = "print(__import__('os').getpid(), flush=True) or {busy}"
list(pool.done(pool.Local(1, sandbox=False), eval, [(0, work)]))
"""
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as grader:
        worker = os.pidfd_open(int(grader.stdout.readline()))
        grader.kill()
    try:
        assert select([worker], [], [], 30)[0], "the worker goes on"
    finally:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(worker, signal.SIGKILL)
        os.close(worker)


@pytest.mark.parametrize(
    ("address", "complete"),
    [
        ("tcp://127.0.0.1:8786", True),
        ("tls://scheduler:1", True),
        ("nonsense", False),
        ("tcp://", False),
        ("tcp://127.0.0.1", False),
        ("tcp://127.0.0.1:port", False),
        ("tcp://:8786", False),
        ("gopher://x:1", False),
    ],
)
def test_a_scheduler_address_needs_a_known_protocol_host_and_port(address, complete):
    assert pool._complete(address) is complete
