"""Refused system calls and paths: errors and reports, but none for ordinary code."""

import errno
import json
import os
import socket
from signal import SIGCHLD

import nbformat
import pytest
from repository import ROOT
from sandboxed import Run, run_and_list_refused
from system_calls import (
    ABOUT_ANOTHER,
    ALLOWED,
    CLONE,
    CLONE3,
    LAST,
    NAMESPACES,
    PRETENDED,
    REFUSED,
    SILENT,
)
from system_calls import BY_ARGUMENT as GUARDED

from grading.sandbox.inside import refusals

MACHINE = os.uname().machine

MAKE_CALLS = """
import ctypes, errno, json, os, signal
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def error(number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(*map(ctypes.c_long, (number, *arguments)))
    if result == 0 and number == {clone}:
        os._exit(0)
    return ctypes.get_errno() if result == -1 else "done"
print(json.dumps([error(*call) for call in {calls}]))
"""


# Calls with arguments that would reach another sandbox, or use memory that no limit counts.
FORBIDDEN_ARGUMENTS = """
import ctypes, fcntl, mmap, os, socket
libc = ctypes.CDLL(None, use_errno=True)
here, there = socket.socketpair()
shared = os.open("/usr", os.O_RDONLY)
held = mmap.mmap(-1, 4096)
lock = bytes(32)
calls = {
    "lock owner": lambda: fcntl.fcntl(shared, fcntl.F_GETLK, lock),
    "open file description lock": lambda: fcntl.fcntl(shared, 37, lock),
    "socket cookie": lambda: here.getsockopt(socket.SOL_SOCKET, 57, 8),
    "directory watch": lambda: fcntl.fcntl(shared, fcntl.F_NOTIFY, fcntl.DN_ACCESS),
    "lease": lambda: fcntl.fcntl(shared, fcntl.F_SETLEASE, fcntl.F_RDLCK),
    "send buffer size": lambda: here.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22),
    "receive buffer size": lambda: here.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22),
    "huge pages": lambda: mmap.mmap(-1, 1 << 21, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40000),
    "paging out": lambda: held.madvise(21),
    "page merging": lambda: held.madvise(mmap.MADV_MERGEABLE),
    "renamed memory": lambda: libc.prctl(0x53564D41, 0, 0, 4096, b"x") and fail(),
    "socket family": lambda: socket.socketpair(30),
    "unlisted ioctl": lambda: fcntl.ioctl(shared, 0x40049409, shared),
}
def fail():
    raise OSError(ctypes.get_errno(), "")
for name, call in calls.items():
    try:
        call()
        print(name, "done")
    except OSError as error:
        print(name, error.errno)
"""


def test_guarded_calls_fail_with_forbidden_arguments() -> None:
    done, refused = run_and_list_refused(FORBIDDEN_ARGUMENTS)
    errors = {
        "lock owner": errno.EINVAL,
        "open file description lock": errno.EINVAL,
        "socket cookie": errno.ENOPROTOOPT,
        "directory watch": errno.EINVAL,
        "lease": errno.EINVAL,
        "send buffer size": errno.EPERM,
        "receive buffer size": errno.EPERM,
        "huge pages": errno.EINVAL,
        "paging out": errno.EINVAL,
        "page merging": errno.EINVAL,
        "renamed memory": errno.EINVAL,
        "socket family": errno.EOPNOTSUPP,
        "unlisted ioctl": errno.ENOTTY,
    }
    assert done.texts[0].splitlines() == [f"{name} {error}" for name, error in errors.items()]
    assert refused == (
        "madvise (2 times)",
        "mmap (1 time)",
        "setsockopt (2 times)",
        "socketpair (1 time)",
    )


UNLISTED = """
import ctypes, errno, json, os, signal
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
not_refused = []
for number in {numbers}:
    ctypes.set_errno(0)
    if libc.syscall(*map(ctypes.c_long, (number, 0, 0, 0, 0, 0, 0))) != -1:
        not_refused.append(number)
    elif ctypes.get_errno() != errno.ENOSYS:
        not_refused.append(number)
print(not_refused)
"""


def test_unlisted_calls_fail_with_enosys() -> None:
    """Try all unlisted numbers below 600, also of calls newer than the tables."""
    known = {
        numbers[MACHINE] for table in (ALLOWED, PRETENDED, REFUSED) for numbers in table.values()
    }
    known |= {numbers[MACHINE] for numbers, _ in (*ABOUT_ANOTHER.values(), *GUARDED.values())}
    # uretprobe and uprobe bypass seccomp filters, and kill a process that calls them.
    known |= {335, 336} if MACHINE == "x86_64" else set()
    numbers = [number for number in range(600) if number not in known]
    assert len(numbers) > 300
    done, refused = run_and_list_refused(UNLISTED.format(numbers=numbers))
    assert done.texts == ["[]\n"]
    silent = {numbers[MACHINE] for numbers in SILENT.values()}
    reported = [number for number in numbers if number <= LAST and number not in silent]
    assert sorted(refused) == sorted(f"system call {number} (1 time)" for number in reported)


def test_denied_calls_fail_and_are_reported_by_name() -> None:
    """Check the report too: without capabilities, many calls would fail anyway."""
    numbers = {name: by_machine[MACHINE] for name, by_machine in REFUSED.items()}
    clones = [(CLONE[MACHINE], flag | int(SIGCHLD), 0, 0, 0, 0) for flag in NAMESPACES.values()]
    calls = [(number, 0, 0, 0, 0, 0, 0) for number in numbers.values()]
    calls += [*clones, (CLONE3[MACHINE], 0, 0)]
    done, refused = run_and_list_refused(MAKE_CALLS.format(clone=CLONE[MACHINE], calls=calls))
    assert json.loads(done.texts[0]) == [errno.EPERM] * (len(calls) - 1) + [errno.ENOSYS]
    lines = [f"{name} (1 time)" for name in numbers]
    assert list(refused) == sorted([*lines, f"clone: namespaces ({len(clones)} times)"])


CALL_32_BIT = r"""
import mmap, os, signal
import ctypes
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(b"\xb8\x14\0\0\0\xcd\x80\xc3")  # mov eax, 20 (getpid on i386); int 0x80; ret
getpid = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
if (child := os.fork()) == 0:
    getpid()
    os._exit(0)
print(os.WIFSIGNALED(os.waitpid(child, 0)[1]))
"""


if MACHINE == "x86_64":  # on aarch64 only a 32-bit program can make a 32-bit call

    def test_a_32_bit_call_kills_its_process() -> None:
        done, _ = run_and_list_refused(CALL_32_BIT)
        assert done.texts == ["True\n"]


ORDINARY_CELL = """
import asyncio, fractions, multiprocessing, os, platform, socket, sqlite3, subprocess, tempfile
import matplotlib.pyplot as plt
import numpy as np
print(platform.platform(), platform.node(), socket.gethostname(), os.path.expanduser("~"))
print(np.linalg.svd(np.eye(200))[1].sum())
sqlite3.connect("kept.db").execute("create table t(a)")
with multiprocessing.Pool(2) as pool, tempfile.TemporaryFile(), open("notes.txt", "w") as file:
    print(pool.map(abs, [-1]), subprocess.run(["ls"], capture_output=True).stdout, file=file)
sqlite3.connect(":memory:").close()
asyncio.new_event_loop().close()
open("../learner/../learner/notes.txt").close()
plt.loglog([1, 2], label="$x^2$")
plt.legend()
plt.savefig("plot.png")
plt.show()
%timeit -n1 -r1 np.zeros(3)
!ls
1 / 0
"""


EXERCISES = sorted((ROOT / "exercises").glob("*/*.ipynb"))


@pytest.mark.parametrize("path", EXERCISES, ids=lambda path: path.stem)
def test_reference_solutions_make_no_refused_calls(path):
    cells = nbformat.read(path, as_version=4).cells
    done, refused = run_and_list_refused(
        *(cell.source for cell in cells if cell.cell_type == "code")
    )
    assert not done.died
    assert refused == ()


def test_ordinary_cells_make_no_refused_calls():
    done, refused = run_and_list_refused(ORDINARY_CELL, "print(open('notes.txt').read())")
    assert "[1]" in done.texts[1]
    assert refused == ()


def test_reading_visible_proc_files_is_not_reported():
    names = ["cpuinfo", "meminfo", "stat", "self/status"]
    done, refused = run_and_list_refused(
        f"for name in {names}: print(open('/proc/' + name).read())"
    )
    assert "MemTotal" in done.texts[0]
    assert refused == ()


REFUSED_CALLS = """
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
errors = []
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_INET, socket.AF_NETLINK, 44):
    try:
        socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        errors.append(error.errno)
for call in (lambda: libc.ptrace(16, 1, 0, 0), lambda: libc.unshare(0x10000000)):
    errors.append(ctypes.get_errno() if call() == -1 else 0)
clone3 = 435
libc.syscall(clone3, None, 0)
errors.append(ctypes.get_errno())
print(errors)
print([link for link in map(os.readlink, descriptors()) if "seccomp" in link])
"""
DESCRIPTORS = """
import os
def descriptors():
    for name in os.listdir("/proc/self/fd"):
        if os.path.lexists(path := f"/proc/self/fd/{name}"):
            yield path
"""


def test_refused_calls_are_named_and_counted():
    done, refused = run_and_list_refused(DESCRIPTORS, REFUSED_CALLS)
    errors = [errno.EOPNOTSUPP] * 5 + [errno.EPERM] * 2 + [errno.ENOSYS]
    assert done.texts[1] == f"{errors}\n[]\n"
    assert refused == (
        "ptrace (1 time)",
        "socket: internet (3 times)",
        "socket: netlink (1 time)",
        "socket: other (1 time)",
        "unshare (1 time)",
    )


CALL_FLOOD = """
import os, signal, socket
def call():
    try:
        socket.socket(socket.AF_INET)
    except OSError:
        pass
for _ in range(20):
    if (child := os.fork()) == 0:
        while True:
            call()
    call()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
for _ in range(10_000):
    call()
"""


def test_a_flood_of_refused_calls_does_not_stop_the_notebook():
    done, refused = run_and_list_refused(CALL_FLOOD, "print('still')")
    assert done == Run(["", "still\n"], False, "")
    assert len(refused) == 1
    assert int(refused[0].removeprefix("socket: internet (").removesuffix(" times)")) > 1000


SLOW_DOWN_INIT = """
import os, resource
calls = (
    lambda: os.setpriority(os.PRIO_PROCESS, 1, 19),
    lambda: os.setpriority(os.PRIO_USER, 0, 19),
    lambda: os.sched_setaffinity(1, {min(os.sched_getaffinity(0))}),
    lambda: os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0)),
    lambda: resource.prlimit(1, resource.RLIMIT_CPU, (0, 0)),
)
for call in calls:
    try:
        call()
        print("done")
    except OSError as error:
        print(error.errno)
os.nice(1)
os.sched_setaffinity(0, os.sched_getaffinity(0))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
"""


def test_notebook_cannot_slow_down_or_limit_init():
    done, refused = run_and_list_refused(SLOW_DOWN_INIT)
    assert done.texts == [f"{errno.EPERM}\n" * 5]
    assert refused == (
        "prlimit64 (1 time)",
        "sched_setaffinity (1 time)",
        "sched_setscheduler (1 time)",
        "setpriority (2 times)",
    )


OPEN_PATHS = r"""
import os, sqlite3
names = ["/etc/shadow", "../../gradebook.db", b"/proc/1/mem", "/etc/\x1b[31m\u202e" + "x" * 300]
for name in names * 3:
    try:
        open(name)
    except OSError:
        pass
try:
    sqlite3.connect("../../../gradebook.db")
except sqlite3.Error:
    pass
os.chdir("/")
for name in (5, "home/learner/x", "usr/x", "root/x"):
    try:
        os.open(name, os.O_RDONLY)
    except (OSError, TypeError):
        pass
"""


SLASHES = """
import os
for name in ("//etc/shadow", "///proc/1/mem", "/" + os.__file__):
    try:
        open(name).close()
    except OSError:
        pass
"""


def test_a_path_with_extra_leading_slashes_is_reported_like_others():
    assert run_and_list_refused(SLASHES)[1] == ("open: in /etc", "open: in /proc")


def test_attempts_to_open_paths_outside_the_sandbox_are_reported():
    done, refused = run_and_list_refused(OPEN_PATHS)
    assert done.texts == [""]
    assert refused == (
        "open: a gradebook",
        "open: another file",
        "open: in /etc",
        "open: in /proc",
    )


@pytest.mark.parametrize(
    ("path", "words"),
    [
        *((f"/{name}/x", f"in /{name}") for name in ("etc", "proc", "root", "sys", "usr", "var")),
        *((f"/{name}", f"in /{name}") for name in ("etc", "root")),
        *((path, "in a home") for path in ("/home/learner-2/x", "/Users")),
        *((path, "a gradebook") for path in ("gradebook.db", "/x/gradebook.db", "gradebook-2")),
        *((path, "outside of its folder") for path in ("../x", "a/../../x", "..")),
        *((path, "another file") for path in ("root/x", "x", "..x")),
        *((path, "another folder") for path in ("/", "//", "/ASKED {'B': 64}", "/srv/x")),
    ],
)
def test_paths_are_reported_by_kind_of_location(path: str, words: str) -> None:
    assert refusals.place(path.encode()) == words


LEAK_INPUTS = """
def leak(text):
    for path in (text, "/" + text, "/etc/" + text, "../" + text, "/etc/../" + text, text + "/x"):
        try:
            open(path)
        except (OSError, ValueError):
            pass
for number in range(3):
    leak("ASKED " + repr({"B": number}))
from socket import AF_UNIX, SOCK_DGRAM, socket
socket(AF_UNIX, SOCK_DGRAM).sendto(b"ASKED {'B': 3}", "\\0opened")
"""


def test_report_contains_no_text_chosen_by_the_notebook() -> None:
    """Paths could otherwise smuggle hidden test inputs into the report."""
    _, refused = run_and_list_refused(LEAK_INPUTS)
    assert refused
    assert "ASKED" not in str(refused)
    assert not any(map(str.isdigit, str(refused)))


PATH_FLOOD = """
import os, socket
for number in range(100):
    try:
        open(f"/etc/{number}")
    except OSError:
        pass
one = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
one.setblocking(False)
for number in range(20_000):
    try:
        one.sendto(os.urandom(20) * 100, "\\0opened")
    except OSError:
        pass
"""


def test_the_report_of_a_flood_of_paths_is_truncated():
    done, refused = run_and_list_refused(PATH_FLOOD, "print('still')")
    assert done == Run(["", "still\n"], False, "")
    assert len(refused) <= 20
    assert all(line.isprintable() and len(line) < 220 for line in refused)


@pytest.fixture
def counted():
    """Yield a `Refusals` with a fake listener that is readable, and its messages."""
    told = []
    ours, theirs = socket.socketpair()
    theirs.send(b"x")
    counter = refusals.Refusals(ours.detach(), lambda **message: told.append(message))
    yield counter, told
    counter.drop()
    theirs.close()


def test_seccomp_listener_is_closed_after_5000_refused_calls(counted, monkeypatch):
    counter, told = counted
    monkeypatch.setattr(refusals.seccomp, "refuse_next", lambda _: "bpf")
    for done in range(0, 5000, 50):
        assert (counter.calls, counter.listener is None) == (done, False)
        counter.take(counter.sources())
    assert (counter.calls, counter.listener) == (5000, None)
    assert counter.sources() == [counter.opened]
    assert told == [{"noted": "bpf", "times": 1}]
    counter.close()
    assert told[1:] == [{"noted": "bpf", "times": 5000}]


def test_refused_calls_of_ended_processes_are_not_reported(counted, monkeypatch):
    counter, told = counted
    monkeypatch.setattr(refusals.seccomp, "refuse_next", lambda _: None)
    counter.take(counter.sources())
    assert (counter.calls, told) == (50, [])


@pytest.mark.parametrize(("differ", "messages"), [(True, 20), (False, 500)])
def test_path_socket_closes_at_20_distinct_paths_or_500_messages(counted, differ, messages):
    counter, told = counted
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        for number in range(messages):
            assert counter.opened is not None
            sender.sendto(b"/etc/%d" % (number if differ else 0), refusals.ADDRESS)
            counter.take([counter.opened])
    assert counter.opened is None
    assert told == [{"noted": "open: in /etc", "times": 1}]


def test_long_paths_are_reported_by_their_first_folder(counted):
    counter, told = counted
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        for name in (b"/etc/", b"/etc/y"):
            sender.sendto(name + b"x" * 500, refusals.ADDRESS)
    counter.take([counter.opened])
    counter.close()
    assert told == [{"noted": "open: in /etc", "times": 1}]
