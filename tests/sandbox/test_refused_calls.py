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
from system_calls import CLONE, CLONE3, NAMESPACES, REFUSED

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
        "open: ../../../gradebook.db",
        "open: ../../gradebook.db",
        "open: /etc/shadow",
        "open: /etc/\ufffd[31m\ufffd" + "x" * 189,
        "open: /proc/1/mem",
        "open: root/x",
    )


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
    assert len(told) == (20 if differ else 1)


def test_a_long_path_is_cut(counted):
    counter, told = counted
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"/" + b"x" * 500, refusals.ADDRESS)
    counter.take([counter.opened])
    assert told == [{"noted": "open: /" + "x" * 199, "times": 1}]
