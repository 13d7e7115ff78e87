"""What the sandbox refuses: each call fails, is named in the report, and nothing else is."""

import errno
import json
import os
import socket
from signal import SIGCHLD

import nbformat
import pytest
from repository import ROOT
from sandboxed import Run, noted
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

EACH_CALL = """
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


# With their arguments: what would reach another sandbox, or be in no sum of memory.
BY_ARGUMENT = """
import ctypes, fcntl, mmap, os, socket
libc = ctypes.CDLL(None, use_errno=True)
here, there = socket.socketpair()
shared = os.open("/usr", os.O_RDONLY)
held = mmap.mmap(-1, 4096)
lock = bytes(32)
deeds = {
    "another's lock": lambda: fcntl.fcntl(shared, fcntl.F_GETLK, lock),
    "a lock of an open file": lambda: fcntl.fcntl(shared, 37, lock),
    "the count of all sockets": lambda: here.getsockopt(socket.SOL_SOCKET, 57, 8),
    "a watch": lambda: fcntl.fcntl(shared, fcntl.F_NOTIFY, fcntl.DN_ACCESS),
    "a lease": lambda: fcntl.fcntl(shared, fcntl.F_SETLEASE, fcntl.F_RDLCK),
    "a larger buffer": lambda: here.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22),
    "another's buffer": lambda: here.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22),
    "large pages": lambda: mmap.mmap(-1, 1 << 21, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40000),
    "pages put out": lambda: held.madvise(21),
    "pages merged": lambda: held.madvise(mmap.MADV_MERGEABLE),
    "another name for memory": lambda: libc.prctl(0x53564D41, 0, 0, 4096, b"x") and ask(),
    "another family": lambda: socket.socketpair(30),
    "an unknown command": lambda: fcntl.ioctl(shared, 0x40049409, shared),
}
def ask():
    raise OSError(ctypes.get_errno(), "")
for name, deed in deeds.items():
    try:
        deed()
        print(name, "done")
    except OSError as error:
        print(name, error.errno)
"""


def test_a_call_is_refused_with_arguments_that_reach_too_far() -> None:
    done, refused = noted(BY_ARGUMENT)
    errors = {
        "another's lock": errno.EINVAL,
        "a lock of an open file": errno.EINVAL,
        "the count of all sockets": errno.ENOPROTOOPT,
        "a watch": errno.EINVAL,
        "a lease": errno.EINVAL,
        "a larger buffer": errno.EPERM,
        "another's buffer": errno.EPERM,
        "large pages": errno.EINVAL,
        "pages put out": errno.EINVAL,
        "pages merged": errno.EINVAL,
        "another name for memory": errno.EINVAL,
        "another family": errno.EOPNOTSUPP,
        "an unknown command": errno.ENOTTY,
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
missed = []
for number in {numbers}:
    ctypes.set_errno(0)
    if libc.syscall(*map(ctypes.c_long, (number, 0, 0, 0, 0, 0, 0))) != -1:
        missed.append(number)
    elif ctypes.get_errno() != errno.ENOSYS:
        missed.append(number)
print(missed)
"""


def test_whatever_is_in_no_table_is_not_there() -> None:
    """Each number, also of a call that was added to the kernel after the tables were made."""
    known = {
        numbers[MACHINE] for table in (ALLOWED, PRETENDED, REFUSED) for numbers in table.values()
    }
    known |= {numbers[MACHINE] for numbers, _ in (*ABOUT_ANOTHER.values(), *GUARDED.values())}
    # The kernel asks no filter about uretprobe and uprobe, and ends a process that calls them.
    known |= {335, 336} if MACHINE == "x86_64" else set()
    numbers = [number for number in range(600) if number not in known]
    assert len(numbers) > 300
    done, refused = noted(UNLISTED.format(numbers=numbers))
    assert done.texts == ["[]\n"]
    silent = {numbers[MACHINE] for numbers in SILENT.values()}
    reported = [number for number in numbers if number <= LAST and number not in silent]
    assert sorted(refused) == sorted(f"system call {number} (1 time)" for number in reported)


def test_each_refused_call_fails_and_is_reported_by_name() -> None:
    """By name, since without rights many of them would fail with the same error anyway."""
    numbers = {name: by_machine[MACHINE] for name, by_machine in REFUSED.items()}
    clones = [(CLONE[MACHINE], flag | int(SIGCHLD), 0, 0, 0, 0) for flag in NAMESPACES.values()]
    calls = [(number, 0, 0, 0, 0, 0, 0) for number in numbers.values()]
    calls += [*clones, (CLONE3[MACHINE], 0, 0)]
    done, refused = noted(EACH_CALL.format(clone=CLONE[MACHINE], calls=calls))
    assert json.loads(done.texts[0]) == [errno.EPERM] * (len(calls) - 1) + [errno.ENOSYS]
    lines = [f"{name} (1 time)" for name in numbers]
    assert list(refused) == sorted([*lines, f"clone: namespaces ({len(clones)} times)"])


FOREIGN = r"""
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


if MACHINE == "x86_64":  # elsewhere such a call takes a whole 32-bit program

    def test_a_32_bit_call_kills_its_process() -> None:
        done, _ = noted(FOREIGN)
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


SOURCES = sorted((ROOT / "exercises").glob("*/*.ipynb"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_a_right_solution_is_refused_nothing(path):
    cells = nbformat.read(path, as_version=4).cells
    done, refused = noted(*(cell.source for cell in cells if cell.cell_type == "code"))
    assert not done.died
    assert refused == ()


def test_ordinary_things_are_refused_nothing():
    done, refused = noted(ORDINARY_CELL, "print(open('notes.txt').read())")
    assert "[1]" in done.texts[1]
    assert refused == ()


CALLS = """
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
    done, refused = noted(DESCRIPTORS, CALLS)
    errors = [errno.EOPNOTSUPP] * 5 + [errno.EPERM] * 2 + [errno.ENOSYS]
    assert done.texts[1] == f"{errors}\n[]\n"
    assert refused == (
        "ptrace (1 time)",
        "socket: internet (3 times)",
        "socket: netlink (1 time)",
        "socket: other (1 time)",
        "unshare (1 time)",
    )


FLOOD = """
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


def test_a_flood_of_refused_calls_stops_nothing():
    done, refused = noted(FLOOD, "print('still')")
    assert done == Run(["", "still\n"], False, "")
    assert len(refused) == 1
    assert int(refused[0].removeprefix("socket: internet (").removesuffix(" times)")) > 1000


HOLDS_UP = """
import os, resource
deeds = (
    lambda: os.setpriority(os.PRIO_PROCESS, 1, 19),
    lambda: os.setpriority(os.PRIO_USER, 0, 19),
    lambda: os.sched_setaffinity(1, {min(os.sched_getaffinity(0))}),
    lambda: os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0)),
    lambda: resource.prlimit(1, resource.RLIMIT_CPU, (0, 0)),
)
for deed in deeds:
    try:
        deed()
        print("done")
    except OSError as error:
        print(error.errno)
os.nice(1)
os.sched_setaffinity(0, os.sched_getaffinity(0))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
"""


def test_the_process_that_watches_is_not_held_up_by_those_that_it_watches():
    done, refused = noted(HOLDS_UP)
    assert done.texts == [f"{errno.EPERM}\n" * 5]
    assert refused == (
        "prlimit64 (1 time)",
        "sched_setaffinity (1 time)",
        "sched_setscheduler (1 time)",
        "setpriority (2 times)",
    )


OPENS = r"""
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


def test_paths_that_were_opened_outside_are_named():
    done, refused = noted(OPENS)
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
def test_a_path_is_named_by_where_it_leads(path: str, words: str) -> None:
    assert refusals.place(path.encode()) == words


TELLS = """
def told(text):
    for path in (text, "/" + text, "/etc/" + text, "../" + text, "/etc/../" + text, text + "/x"):
        try:
            open(path)
        except (OSError, ValueError):
            pass
for number in range(3):
    told("ASKED " + repr({"B": number}))
from socket import AF_UNIX, SOCK_DGRAM, socket
socket(AF_UNIX, SOCK_DGRAM).sendto(b"ASKED {'B': 3}", "\\0opened")
"""


def test_no_word_of_a_notebook_s_own_comes_into_the_report() -> None:
    """Hidden inputs would come out with it."""
    _, refused = noted(TELLS)
    assert refused
    assert "ASKED" not in str(refused)
    assert not any(map(str.isdigit, str(refused)))


MANY = """
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


def test_a_flood_of_paths_is_cut():
    done, refused = noted(MANY, "print('still')")
    assert done == Run(["", "still\n"], False, "")
    assert len(refused) <= 20
    assert all(line.isprintable() and len(line) < 220 for line in refused)


@pytest.fixture
def counted():
    """Refusals with a readable listener, and what they tell."""
    told = []
    ours, theirs = socket.socketpair()
    theirs.send(b"x")
    counter = refusals.Refusals(ours.detach(), lambda **message: told.append(message))
    yield counter, told
    counter.drop()
    theirs.close()


def test_calls_are_handed_back_to_the_kernel_after_five_thousand(counted, monkeypatch):
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


def test_a_call_whose_process_has_gone_is_not_counted(counted, monkeypatch):
    counter, told = counted
    monkeypatch.setattr(refusals.seccomp, "refuse_next", lambda _: None)
    counter.take(counter.sources())
    assert (counter.calls, told) == (50, [])


@pytest.mark.parametrize(("differ", "taken"), [(True, 20), (False, 500)])
def test_paths_are_taken_in_until_there_are_enough(counted, differ, taken):
    counter, told = counted
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        for number in range(taken):
            assert counter.opened is not None
            sender.sendto(b"/etc/%d" % (number if differ else 0), refusals.ADDRESS)
            counter.take([counter.opened])
    assert counter.opened is None
    assert told == [{"noted": "open: in /etc", "times": 1}]


def test_of_a_long_path_the_place_is_told(counted):
    counter, told = counted
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        for name in (b"/etc/", b"/etc/y"):
            sender.sendto(name + b"x" * 500, refusals.ADDRESS)
    counter.take([counter.opened])
    counter.close()
    assert told == [{"noted": "open: in /etc", "times": 1}]
