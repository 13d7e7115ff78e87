"""Tests of commands that end early.

Causes are Ctrl-C, a read-only folder, a full disk and failing workers.
"""

import errno
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, replace
from multiprocessing import forkserver
from select import select

import pytest
import sqlalchemy
from classroom import Classroom, made_up
from repository import ROOT

from grading import course
from grading.__main__ import STOPPED, main
from grading.course import errors_in_one_line
from grading.errors import Unable
from grading.parallel import pool
from grading.parallel.workers import CannotWork
from grading.sandbox import Refused, SandboxLimits
from grading.sandbox.fork_server import ForkServer
from grading.sandbox.inside.request import Request

FOR_EVER = (
    "open({0!r}, 'w').write(str(__import__('os').getpid())) and __import__('time').sleep(600)"
)
GRADES = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # the parent may ignore it
import grading.__main__ as commands
from grading.parallel import pool

def grade(options):
    list(pool.done(options.backend, eval, [(0, sys.argv[1])]))

commands.grade = grade
commands.main(["grade", "my-class", "--workers", "1"])
"""


@pytest.fixture
def begun(tmp_path):
    """Return (an endless job, a function that returns its worker's pidfd).

    The function waits for the job to begin.
    """
    fifo = tmp_path / "begun"
    os.mkfifo(fifo)
    descriptors = []

    def worker():
        descriptors.append(os.pidfd_open(int(fifo.read_text())))
        return descriptors[-1]

    yield FOR_EVER.format(str(fifo)), worker
    for one in descriptors:
        os.close(one)


def ends(worker):
    return bool(select([worker], [], [], 30)[0])


def test_ctrl_c_prints_one_line_and_ends_the_workers(begun):
    """Send SIGINT to the whole process group, as a terminal does."""
    work, worker = begun
    with subprocess.Popen(
        [sys.executable, "-c", GRADES, work],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as grader:
        process = worker()
        os.killpg(grader.pid, signal.SIGINT)
        out, err = grader.communicate()
    assert ends(process), "the worker goes on"
    assert (grader.returncode, out, err) == (130, "", f"\n{STOPPED}\n")


def test_workers_are_killed_when_the_grader_stops(begun):
    work, worker = begun
    working = pool.done(pool.Local(2), eval, [("quick", "1"), ("for ever", work)])
    assert next(working) == ("quick", 1)
    process = worker()
    working.close()
    assert ends(process), "the worker goes on"


class Elsewhere:
    """An object that cannot be unpickled, because a module is missing."""

    def __reduce__(self):
        return __import__, ("a_module_that_is_missing",)


def test_a_worker_that_cannot_start_is_reported_in_one_line():
    with pytest.raises(Unable) as raised, errors_in_one_line():
        list(pool.done(pool.Local(1), Elsewhere(), [("one", 1)]))
    assert str(raised.value) == (
        "a worker cannot begin: ModuleNotFoundError: No module named 'a_module_that_is_missing'. "
        "Put that right and run this again."
    )
    assert isinstance(raised.value.__context__, CannotWork)


@pytest.mark.parametrize(
    "command",
    ["release", *(pytest.param(one, marks=pytest.mark.long) for one in ("grade", "roster"))],
)
def test_a_read_only_folder_is_reported_in_one_line(command, release, tmp_path):
    room = Classroom(tmp_path / "class", release)
    room.hand_in("ada", "int8-matmul", room.solved("int8-matmul"))
    table = tmp_path / "people.csv"
    table.write_text("id\nada\n", encoding="utf-8")
    words = [command, str(room.folder), *([str(table)] if command == "roster" else [])]
    done = subprocess.run(
        [
            *("bwrap", "--dev-bind", "/", "/", "--ro-bind", room.folder, room.folder),
            *(sys.executable, "-m", "grading", *words),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert "ead-only file system" in line
    assert line.endswith("Put that right and run this again: it continues where it stopped.")


def test_an_os_error_without_a_file_is_reported_without_a_file_name():
    with pytest.raises(Unable) as raised, errors_in_one_line():
        raise OSError(errno.EMFILE, "Too many open files")
    assert str(raised.value) == (
        "Too many open files. Put that right and run this again: it continues where it stopped."
    )


# --- missing packages -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "address", "module"),
    [
        (["grade", "--cluster", "tcp://127.0.0.1:9"], "", "distributed"),
        (["worker", "tcp://127.0.0.1:9"], "", "distributed"),
        (["roster", "people.csv"], "postgresql://127.0.0.1:9/none", "psycopg"),
    ],
)
def test_missing_optional_packages_are_named(tmp_path, monkeypatch, words, address, module):
    command, *rest = words
    (tmp_path / "submitted").mkdir()
    (tmp_path / "people.csv").write_text("id\nada\n", encoding="utf-8")
    rest = [str(tmp_path / word) if word.endswith(".csv") else word for word in rest]
    course_folder = [] if command == "worker" else [str(tmp_path)]
    monkeypatch.setitem(sys.modules, module, None)  # makes the import fail
    monkeypatch.delitem(sys.modules, "grading.parallel.dask_worker", raising=False)
    monkeypatch.setenv("COURSE_DB", address)
    with pytest.raises(SystemExit, match=f"{module} is not installed: `make cluster` does it"):
        main([command, *course_folder, *rest])


# --- retries of timed-out notebooks ---------------------------------------------------------------


@dataclass(frozen=True)
class Named:
    name: str
    earlier: str = ""


def job(name):
    return (Named(name), None, b""), Named(name)


@pytest.fixture
def tried(monkeypatch):
    """Replace `work`; return the names of jobs in the order in which they were done.

    A job with a number as its name claims to take that many seconds. All but "quick" time out at
    the first try.
    """
    names = []

    def work(job):
        name = job.name
        names.append(name)
        late = name != "quick" and names.count(name) == 1
        reason = "a cell" if name == "5" else ""
        made = made_up.outcome("int8-matmul", reason=reason)
        return replace(made, seconds=float(name.isdigit() and name), late=late)

    monkeypatch.setattr(course, "work", work)
    return names


class Wide(made_up.InProcessBackend):
    """A backend that takes several jobs at once."""

    window = 9


def again(names, seconds):
    done = course._done(Wide(), iter(map(job, names)), seconds)
    return [(named[0].name, made.late, made.reason, made.again) for named, made in done]


def test_timed_out_notebooks_are_retried_last_and_fastest_first(tried):
    assert again(["7", "quick", "3"], 1e9) == [
        ("quick", False, "", False),
        ("3", False, "", False),
        ("7", False, "", False),
    ]
    assert tried == ["7", "quick", "3", "3", "7"]


def test_timed_out_notebooks_are_retried_one_at_a_time(tried):
    done = course._done(Wide(), iter(map(job, ["7", "3"])), 1e9)
    assert next(done)[0][0].name == "3"
    assert tried == ["7", "3", "3"]


def test_retries_over_the_time_limit_wait_for_the_next_run(tried, monkeypatch):
    clock = iter([0.0, 0.0, 9.0, 10.0])
    monkeypatch.setattr(course.time, "monotonic", lambda: next(clock))
    assert again(["7", "quick", "3", "9", "5"], 10) == [
        ("quick", False, "", False),
        ("3", False, "", False),
        ("5", False, "a cell", False),
        ("7", True, course.LATE, True),
        ("9", True, course.LATE, True),
    ]
    assert tried == ["7", "quick", "3", "9", "5", "3", "5"]


def test_a_postponed_retry_keeps_the_earlier_reason(tried):
    assert again(["5"], 0) == [("5", True, f"a cell; {course.LATE}", True)]


def test_an_interrupted_grading_can_continue(release, tmp_path, monkeypatch):
    """Simulate Ctrl-C while a result is recorded: earlier results are kept."""
    room = Classroom(tmp_path / "class", release)
    for student in ("ada", "bob"):
        folder = room.folder_of(student, "int8-matmul")
        (folder / "int8-matmul.ipynb").write_text("{}", encoding="utf-8")
    monkeypatch.setattr(course, "work", made_up.work)
    record = course.GradebookWriter.record

    def interrupted(self, student, *others):
        if student == "bob":
            raise KeyboardInterrupt
        return record(self, student, *others)

    ended = []

    class Backend(made_up.InProcessBackend):
        def __exit__(self, *_):
            ended.append(self)

    monkeypatch.setattr(course.GradebookWriter, "record", interrupted)
    backend = Backend()
    with pytest.raises(KeyboardInterrupt) as raised:
        room.course.grade(backend, unsafe=True)
    assert ended == [backend], "workers go on"
    del raised
    assert list(room.course.state()) == ["ada"]
    monkeypatch.undo()
    monkeypatch.setattr(course, "work", made_up.work)
    assert room.course.grade(made_up.InProcessBackend(), unsafe=True) == 1


# --- precise error messages -----------------------------------------------------------------------


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("name", [None, "/course/grades.csv"])
def test_a_full_disk_is_reported_as_such(number, name):
    with pytest.raises(Unable) as raised, errors_in_one_line():
        raise OSError(number, os.strerror(number), name)
    line = str(raised.value)
    where = name or f"the course folder or {tempfile.gettempdir()}"
    assert line.startswith(f"The disk is full ({where}: {os.strerror(number)}). ")
    assert "Free some space and run this again" in line


def test_a_full_disk_under_the_gradebook_is_not_blamed_on_a_formgrader(tmp_path):
    engine = sqlalchemy.create_engine(f"sqlite:///{tmp_path / 'gradebook.db'}")
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text("PRAGMA max_page_count = 1"))
        more = sqlalchemy.text("CREATE TABLE one (two)")
        with pytest.raises(Unable) as raised:
            one_line(lambda: connection.execute(more))
    assert str(raised.value).startswith(
        "The disk is full (the gradebook: database or disk is full). Free some space"
    )


def test_a_full_disk_while_writing_a_page_is_reported(release, tmp_path, monkeypatch):
    """nbgrader writes the page; it only logs the error and continues."""
    made = Classroom(tmp_path / "class", release).course
    log = "[X | ERROR] OSError: [Errno 28] No space left on device: 'feedback/ada'\nThere was one"
    result = {"success": False, "log": log}
    monkeypatch.setattr(course.NbGraderAPI, "generate_feedback", lambda *_: result)
    with pytest.raises(Unable, match=r"The disk is full .*ada/int8-matmul/int8-matmul.html"):
        one_line(lambda: made._make_page("ada", "int8-matmul"))


def one_line(action):
    with errors_in_one_line():
        action()


@pytest.fixture
def killed(monkeypatch):
    """Return a function that makes the next `times` starts of a worker fail.

    The fork server dies at each of them.
    """
    plain = forkserver.connect_to_new_process

    def begin(times):
        left = [EOFError("unexpected EOF"), ConnectionResetError(), BrokenPipeError()][:times]

        def connect(descriptors):
            if left:
                raise left.pop()
            return plain(descriptors)

        monkeypatch.setattr(forkserver, "connect_to_new_process", connect)

    return begin


def test_a_killed_fork_server_is_restarted(killed):
    killed(2)
    assert list(pool.done(pool.Local(1, sandbox=False), eval, [("one", "1")])) == [("one", 1)]


def test_a_fork_server_killed_repeatedly_is_reported_in_one_line(killed):
    killed(3)
    with pytest.raises(Unable) as raised, errors_in_one_line():
        list(pool.done(pool.Local(1, sandbox=False), eval, [("one", "1")]))
    assert "is killed again and again, as a system does that is short of memory" in str(
        raised.value
    )


@pytest.mark.parametrize("end", ["kill -9 $$", "exit 137"])  # bubblewrap dies, or its child dies
def test_a_killed_zygote_is_not_blamed_on_user_namespaces(end):
    server = object.__new__(ForkServer)
    with tempfile.TemporaryFile() as server.errors:
        with subprocess.Popen(["sh", "-c", end]) as server.process:
            server.process.wait()
        line = server.complaint()
    assert "was killed (signal 9), as a system does that is short of memory" in line
    assert "namespaces" not in line


def test_a_request_to_a_killed_zygote_raises_refused():
    """Callers that catch Refused retry with another zygote."""
    server = object.__new__(ForkServer)
    server.lock = threading.Lock()
    server.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    theirs.close()
    with server.control, pytest.raises(Refused, match="was killed"):
        server.send(Request("one", 0, (), SandboxLimits(), groups=0), [])
