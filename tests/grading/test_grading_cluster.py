"""Tests of grading on a Dask cluster: a scheduler and two workers.

They run in separate processes.
"""

import contextlib
import io
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from classroom import Classroom, dump, made_up, processes
from repository import ROOT
from submissions import submissions

from grading.__main__ import main
from grading.course import Course
from grading.errors import Unable
from grading.parallel import dask_worker, pool
from grading.records.results import Results
from grading.records.seed import course_seed
from grading.release import exercises

NAME = exercises.names()[0]
STUDENTS = 5
KILL_AFTER = 1  # kill when one submission is graded, while others are being graded


@pytest.fixture(scope="module")
def room(tmp_path_factory, release):
    """Return a class of students that is not graded yet."""
    room = Classroom(tmp_path_factory.mktemp("here"), release)
    wrong = [one.name for one in submissions(NAME) if one.name.startswith("wrong")]
    for number in range(STUDENTS):
        submission = wrong[number] if number % 2 else ""
        room.hand_in(f"student-{number}", NAME, room.solved(NAME, submission))
    course_seed(room.folder)
    return room


@pytest.fixture
def there(room, release, tmp_path):
    """Copy the class of students to another course folder."""
    folder = shutil.copytree(release, tmp_path / "there")
    shutil.copytree(room.folder / "submitted", folder / "submitted")
    shutil.copy(room.folder / ".grading" / "seed", folder / ".grading")
    return folder


@contextlib.contextmanager
def started(*words, stream, cwd=ROOT):
    """Start a process; yield it and the first address in its output."""
    with subprocess.Popen(words, cwd=cwd, text=True, **{stream: subprocess.PIPE}) as process:
        try:
            said = getattr(process, stream)
            line = next((line for line in said if "tcp://" in line), "")
            # Drain later output, so that the pipe does not fill up.
            threading.Thread(target=said.read, daemon=True).start()
            yield process, line.split()[-1]
        finally:
            process.terminate()
            process.wait()


@pytest.fixture
def scheduler():
    dask = Path(sys.executable).with_name("dask")
    words = ["scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    with started(dask, *words, stream="stderr") as (_, address):
        assert address.startswith("tcp://127.0.0.1:")
        yield address


def worker(address, cwd=ROOT):
    words = [sys.executable, "-m", "grading", "worker", address, "--workers", "1"]
    return started(*words, stream="stdout", cwd=cwd)


def rows(folder):
    return dump.gradebook(f"sqlite:///{folder / 'gradebook.db'}")


@pytest.mark.long
def test_a_killed_cluster_worker_is_replaced(room, there, scheduler, monkeypatch):
    killed = []

    def put(results, *entry, plain=Results.put):
        """Record a result; after the first one, kill a worker and its descendants."""
        plain(results, *entry)
        if len(list(results.folder.glob("*/*.json"))) == KILL_AFTER:
            killed.extend({victim.pid, *processes.descendants(victim.pid)})
            for process in killed:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)

    monkeypatch.setattr(Results, "put", put)
    with (
        processes.adopt_orphans() as before,
        worker(scheduler) as (victim, _),
        worker(scheduler),
    ):
        main(["grade", str(there), "--cluster", scheduler])
    assert len(killed) > 1
    assert not processes.first_survivor(before)
    monkeypatch.undo()
    main(["grade", str(room.folder)])  # on this machine alone
    assert (there / "grades.csv").read_text() == (room.folder / "grades.csv").read_text()
    assert rows(there) == rows(room.folder)


class FakeClient:
    """A client of a scheduler with one worker; its jobs run in this process."""

    def __init__(self, *_, **__):
        self.closed = False
        self.asked = []

    def wait_for_workers(self, count, timeout):
        self.asked.append((count, timeout))

    def get_executor(self, **options):
        self.asked.append(options)
        return made_up.InProcessBackend()

    def close(self):
        self.closed = True


def test_a_cluster_runs_equal_jobs_separately(monkeypatch):
    """Otherwise Dask would reuse the first result, even if its worker had died."""
    monkeypatch.setattr("distributed.Client", FakeClient)
    cluster = pool.Cluster("tcp://127.0.0.1:8786", seconds=7)
    jobs = [("one", "1 + 1"), ("two", "1 + 1")]
    assert sorted(pool.done(cluster, eval, jobs)) == [("one", 2), ("two", 2)]
    assert cluster.client.asked == [(1, 7), {"pure": False}]


def test_the_connection_to_a_scheduler_without_workers_is_closed(monkeypatch):
    made = []

    class Empty(FakeClient):
        def wait_for_workers(self, count, timeout):
            made.append(self)
            raise TimeoutError

    monkeypatch.setattr("distributed.Client", Empty)
    with pytest.raises(Unable, match="it has no workers"):
        pool.Cluster("tcp://127.0.0.1:8786")
    assert [client.closed for client in made] == [True]


def test_a_worker_command_starts_workers_and_waits_for_them(monkeypatch):
    raw, done = io.BytesIO(), []

    class Nanny:
        def __init__(self, address, **options):
            self.about = address, options["nthreads"], options["memory_limit"]

        async def __aenter__(self):
            return self

        async def __aexit__(self, *_):
            done.append("left")

        async def finished(self):
            done.append((*self.about, raw.getvalue()))

    monkeypatch.setattr(dask_worker, "Nanny", Nanny)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw))
    # Serve in another thread: a test's browser may have left an event loop running in this one.
    serve = threading.Thread(target=dask_worker.serve, args=("tcp://a:1", 2))
    serve.start()
    serve.join()
    # Each worker takes one notebook at a time; a printed line says that the workers are ready.
    one = "tcp://a:1", 1, None, b"2 working for tcp://a:1\n"
    assert done == [one, one, "left", "left"]


def test_an_unreachable_scheduler_is_reported_in_one_line(there, monkeypatch):
    monkeypatch.setattr(pool, "ANSWER_SECONDS", 0.2)
    with socket.socket() as silent:  # reserves a port without listening on it
        silent.bind(("127.0.0.1", 0))
        port = silent.getsockname()[1]
        with pytest.raises(SystemExit) as ended:
            main(["grade", str(there), "--cluster", f"tcp://127.0.0.1:{port}"])
    assert ended.value.code == f"--cluster tcp://127.0.0.1:{port}: no Dask scheduler answers there"


def test_an_invalid_scheduler_address_is_reported_in_one_line(tmp_path):
    address = "tcp://127.0.0.1:port"
    (tmp_path / "submitted").mkdir()
    with pytest.raises(SystemExit) as ended:
        main(["grade", str(tmp_path), "--cluster", address])
    said = f"--cluster {address}: not a scheduler's address, as tcp://HOST:PORT is"
    assert ended.value.code == said


def test_a_worker_without_a_scheduler_reports_one_line():
    command = [sys.executable, "-m", "grading", "worker", "nonsense", "--workers", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("no Dask scheduler at nonsense")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("given", [[], ["--workers", "7"]])
def test_a_worker_command_starts_a_process_for_each_core_by_default(monkeypatch, given):
    asked = []
    monkeypatch.setattr("grading.parallel.dask_worker.serve", lambda *words: asked.append(words))
    monkeypatch.setattr(os, "sched_getaffinity", {0: range(5)}.get)
    main(["worker", "tcp://127.0.0.1:9", *given])
    assert asked == [("tcp://127.0.0.1:9", 7 if given else 5)]


def test_a_scheduler_without_workers_is_reported_in_one_line(scheduler):
    with pytest.raises(Unable, match="it has no workers") as unable:
        pool.Cluster(scheduler, seconds=0.1)
    assert f"python -m grading worker {scheduler}" in str(unable.value)
    assert "\n" not in str(unable.value)


@pytest.mark.long
def test_a_worker_with_another_version_is_refused(there, scheduler, tmp_path):
    other = tmp_path / "other"
    for name in ("grading", "exercises", "rooflib"):
        shutil.copytree(ROOT / name, other / name)
    with (other / "exercises" / NAME / f"{NAME}.py").open("a") as file:
        file.write("# changed\n")
    with worker(scheduler, cwd=other), pytest.raises(SystemExit) as ended:
        main(["grade", str(there), "--cluster", scheduler])
    assert ended.value.code.startswith(f"A worker has another version of the exercise {NAME}")
    assert "\n" not in ended.value.code
    assert Course(there).state() == {}
