"""Covert channels: one sandbox can't observe what another does at the same time.

The first sandbox changes kernel state, and the second one compares what it can read before and
after. The instructors' page names the channels that stay open: timing, which pages of shared files
are cached, and the inode numbers of pipes and sockets, which the kernel assigns in sequence.
"""

import ctypes
import json
import mmap
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sandboxed import LIMITS, run, run_in
from system_calls import ALLOWED, BY_ARGUMENT

from grading import sandbox
from grading.sandbox import fork_server

MACHINE = os.uname().machine
SHARED = "/usr/bin/env"

# Print names, times and contents of everything in /sys, in /dev, and in /proc except processes.
READ_FILES = """
import json, os, stat
found = {}
def look(path):
    try:
        about = os.lstat(path)
    except OSError as error:
        found[path] = error.errno
        return
    if stat.S_ISLNK(about.st_mode):
        found[path] = os.readlink(path)
    elif stat.S_ISDIR(about.st_mode):
        try:
            names = sorted(os.listdir(path))
        except OSError as error:
            names = [error.errno]
        if path == "/proc":
            names = [name for name in names if not name.isdigit()]
        found[path] = names
        for name in names:
            if path + "/" + str(name) != "/dev/shm":
                look(f"{path}/{name}")
    else:
        times = about.st_size, about.st_mtime_ns, about.st_ctime_ns
        found[path] = [times, None if path.startswith("/proc") else about.st_atime_ns]
        if stat.S_ISREG(about.st_mode):
            try:
                found[path].append(open(path, errors="replace").read())
            except OSError as error:
                found[path].append(error.errno)
for top in ("/proc", "/sys", "/dev"):
    look(top)
found["/proc/self"] = found["/proc/thread-self"] = ""
print(json.dumps(found))
"""

# Change whatever might be visible elsewhere: locks, processes, memory, files, terminals, sockets,
# message queues.
ACTIVITY = f"""
import ctypes, fcntl, mmap, os, pty, signal, socket, struct, threading, time
libc = ctypes.CDLL(None, use_errno=True)
held = []
def attempt(call):
    try:
        held.append(call())
    except OSError:
        pass
shared = os.open({SHARED!r}, os.O_RDONLY)
null = os.open("/dev/null", os.O_RDWR)
lock = struct.pack("hhqqi", fcntl.F_RDLCK, 0, 7, 9, 0) + bytes(8)
for number in (fcntl.F_SETLK, 37, fcntl.F_SETLEASE):
    for file in (shared, null):
        attempt(lambda: fcntl.fcntl(file, number, lock))
attempt(lambda: fcntl.lockf(null, fcntl.LOCK_EX | fcntl.LOCK_NB))
attempt(lambda: fcntl.flock(shared, fcntl.LOCK_SH))
attempt(lambda: os.utime("/dev/null"))
attempt(lambda: os.read(os.open("/dev/zero", os.O_RDONLY), 9))
attempt(lambda: os.read(os.open("/dev/urandom", os.O_RDONLY), 9))
attempt(pty.openpty)
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
    attempt(lambda: socket.socketpair(socket.AF_UNIX, kind))
attempt(lambda: libc.inotify_init())
attempt(lambda: libc.msgget(77, 0o1777))
attempt(lambda: libc.semget(77, 1, 0o1777))
attempt(lambda: libc.shmget(77, 4096, 0o1777))
attempt(lambda: os.memfd_create("x"))
attempt(lambda: os.eventfd(1))
with open("/dev/shm/full", "wb") as file:
    file.write(bytes(1 << 20))
memory = mmap.mmap(-1, 100 << 20)
memory.write(bytes(100 << 20))
for _ in range(20):
    if os.fork() == 0:
        time.sleep(600)
for _ in range(100):
    held.append(os.pipe())
"""

# Print the results of system calls; they must not depend on other sandboxes.
MAKE_CALLS = f"""
import ctypes, fcntl, os, resource, socket, struct
libc = ctypes.CDLL(None, use_errno=True)
shared = os.open({SHARED!r}, os.O_RDONLY)
null = os.open("/dev/null", os.O_RDWR)
here, there = socket.socketpair()
def error(call):
    try:
        return repr(call())
    except OSError as problem:
        return problem.errno
read, write = (struct.pack("hhqqi", kind, 0, 0, 0, 0) + bytes(8) for kind in (0, 1))
answers = {{
    "lock owner": error(lambda: fcntl.fcntl(null, fcntl.F_GETLK, write)),
    "lock": error(lambda: fcntl.fcntl(null, fcntl.F_SETLK, write)[:4]),
    "open file description lock": error(lambda: fcntl.fcntl(null, 37, write)),
    "lease": error(lambda: fcntl.fcntl(shared, fcntl.F_SETLEASE, fcntl.F_RDLCK)),
    "flock": error(lambda: fcntl.flock(shared, fcntl.LOCK_EX | fcntl.LOCK_NB)),
    "load": error(os.getloadavg),
    "device times": [list(os.stat(f"/dev/{{one}}")[7:]) for one in ("null", "zero", "urandom")],
    "file systems": [list(os.statvfs(path)) for path in ("/", "/dev", "/dev/shm", "/tmp", "/proc")],
    "pipe capacity": fcntl.fcntl(os.pipe()[0], fcntl.F_GETPIPE_SZ),
    "sysinfo": libc.sysinfo(ctypes.create_string_buffer(200)),
    "mincore": libc.mincore(None, 0, None),
    "socket cookie": error(lambda: here.getsockopt(1, 57, 8)),
    "System V IPC": [libc.msgget(77, 0), libc.semget(77, 0, 0), libc.shmget(77, 0, 0)],
    "POSIX queue": error(lambda: libc.mq_open(b"/x", 0)),
    "pseudo-terminal": error(lambda: os.open("/dev/ptmx", os.O_RDWR)),
    "processes": sorted(name for name in os.listdir("/proc") if name.isdigit()),
    "limits": resource.getrlimit(resource.RLIMIT_NPROC),
    "sockets": open("/proc/net/unix").read().count("\\n"),
}}
here.close(), there.close(), os.close(shared), os.close(null)
import json
print(json.dumps(answers))
"""


@pytest.fixture
def pair() -> Iterator[tuple[sandbox.Box, sandbox.Box]]:
    with sandbox.open(LIMITS) as first, sandbox.open(LIMITS) as second:
        assert isinstance(first, sandbox.Box)
        assert isinstance(second, sandbox.Box)
        yield first, second


def ask(box: sandbox.Box, source: str) -> dict[str, Any]:
    """Run a cell that prints JSON, and return its content."""
    (text,) = run_in(box, source).texts
    found: dict[str, Any] = json.loads(text)
    return found


def test_no_file_reveals_a_neighbors_activity(pair: tuple[sandbox.Box, sandbox.Box]) -> None:
    first, second = pair
    before = ask(second, READ_FILES)
    assert run_in(first, ACTIVITY).texts == [""]
    after = ask(second, READ_FILES)
    assert {path for path in before | after if before.get(path) != after.get(path)} == set()
    assert {"/proc/cpuinfo", "/proc/meminfo", "/proc/stat"} <= before.keys()


def test_no_system_call_reveals_a_neighbors_activity(pair: tuple[sandbox.Box, sandbox.Box]) -> None:
    first, second = pair
    before = ask(second, MAKE_CALLS)
    assert run_in(first, ACTIVITY).texts == [""]
    after = ask(second, MAKE_CALLS)
    assert {name: after[name] for name in after if before[name] != after[name]} == {}


def test_pipe_buffer_quota_is_per_sandbox(
    pair: tuple[sandbox.Box, sandbox.Box],
) -> None:
    """Linux limits pipe buffers per user; only root can give each sandbox a user."""
    if os.geteuid() != 0:
        pytest.skip("without root, all sandboxes have the same user")
    first, second = pair
    fill = """
import os, time
for _ in range(15):
    if os.fork() == 0:
        held = [os.pipe() for _ in range(100)]
        open(f"/tmp/{os.getpid()}", "w").close()
        time.sleep(600)
while len(os.listdir("/tmp")) < 15: time.sleep(0.01)
"""
    pipe_size = "import fcntl, os; print(fcntl.fcntl(os.pipe()[0], fcntl.F_GETPIPE_SZ))"
    assert run_in(first, fill, pipe_size).texts[1] != "65536\n", "the quota was not used up"
    assert run_in(second, pipe_size).texts == ["65536\n"]


def resident(path: Path) -> int:
    """Return how many pages of a file are in the page cache."""
    libc = ctypes.CDLL(None, use_errno=True)
    pages = -(-path.stat().st_size // mmap.PAGESIZE)
    with path.open("rb") as file:
        place = mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=3)
    start = ctypes.c_char.from_buffer(place)
    flags = (ctypes.c_ubyte * pages)()
    size = ctypes.c_size_t(len(place))
    assert libc.mincore(ctypes.byref(start), size, flags) == 0
    return sum(one & 1 for one in flags)


EVICT = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
file = os.open({path!r}, os.O_RDONLY)
print(libc.readahead(file, ctypes.c_long(0), ctypes.c_size_t(1 << 20)))
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
"""


def test_sandbox_cannot_evict_shared_file_pages_from_the_cache() -> None:
    """By evicting pages, forks could signal the hidden inputs to later cells."""
    folder = Path(sandbox.__file__).parent / "inside"
    path = folder / "zygote.py"  # in the sandbox: /run/inside/zygote.py
    path.read_bytes()
    with sandbox.open(LIMITS) as box:
        before = resident(path)
        assert before
        done = run_in(box, EVICT.format(path="/run/inside/zygote.py"))
    assert done.texts == ["0\n"]
    assert resident(path) == before


@pytest.mark.parametrize(
    "name",
    ["cachestat", "fadvise64", "flock", "inotify_add_watch", "mincore", "preadv2", "readahead"],
)
def test_system_calls_usable_as_covert_channels_are_not_allowed(name: str) -> None:
    assert name not in ALLOWED
    assert name not in BY_ARGUMENT


READ_PROC = """
import os
print(os.path.getsize("/proc/cpuinfo") or len(open("/proc/cpuinfo").read()) > 0)
print(open("/proc/meminfo").read().startswith("MemTotal:"), "btime" in open("/proc/stat").read())
print(open("/proc/sys/kernel/osrelease").read().strip() == os.uname().release)
print(open("/proc/self/stat").read().split()[0] == str(os.getpid()))
"""


def test_proc_snapshots_are_readable() -> None:
    assert "False" not in run(READ_PROC).texts[0]


def test_psutil_works_in_a_sandbox() -> None:
    source = (
        "import psutil\nprint(psutil.Process().memory_info().rss > 0, psutil.cpu_count() > 0)\n"
        "print(psutil.virtual_memory().total > 0, psutil.boot_time() > 0)\n"
        "print(psutil.Process().num_fds() > 0, len(psutil.pids()))"
    )
    assert run(source).texts == ["True True\nTrue True\nTrue 2\n"]


def test_file_locks_pretend_to_succeed() -> None:
    """SQLite requires locks. Real ones would take kernel memory that no limit counts."""
    source = """
import fcntl, sqlite3, struct
one, other = sqlite3.connect("kept.db"), sqlite3.connect("kept.db")
one.execute("create table t(a)")
one.executemany("insert into t values (?)", [(number,) for number in range(100)])
one.commit()
print(other.execute("select sum(a) from t").fetchone())
with open("file", "w") as file:
    for place in range(1000):
        fcntl.lockf(file, fcntl.LOCK_EX, 1, 2 * place)
"""
    (text,) = run(source).texts
    assert text == "(4950,)\n"


def test_processes_cannot_lower_their_oom_score() -> None:
    source = """
for name, value in (("oom_score_adj", "0"), ("oom_adj", "0"), ("comm", "x")):
    try:
        with open(f"/proc/self/{name}", "w") as file:
            file.write(value)
        print("done", name)
    except OSError as error:
        print(error.errno)
print(open("/proc/self/oom_score_adj").read().strip())
"""
    assert run(source).texts == ["30\n30\n30\n1000\n"]


BYPASS_MASKS = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
libc.umount2(b"/proc/locks", 2), libc.mount(b"none", b"/tmp", b"proc", 0, None)
folder = os.open("/proc", os.O_RDONLY)
ways = ("self/..", "self/root/proc", "1/root/proc", "thread-self/root/proc", "self/cwd/../../proc")
for way in ways:
    for name in ("locks", "sys/fs/file-nr", "kmsg", "pressure/cpu"):
        try:
            print("REACHED", os.read(os.open(f"{way}/{name}", os.O_RDONLY, dir_fd=folder), 99))
        except OSError as error:
            assert error.errno in (2, 13), error
for path in ("/run/proc/stat", "/proc/stat", "/run/proc/new", "/proc/sys/kernel/pid_max"):
    for call in (lambda: open(path, "w"), lambda: os.utime(path), lambda: os.chmod(path, 0o777)):
        try:
            call()
            print("REACHED", path)
        except OSError:
            pass
"""


def test_proc_masks_cannot_be_bypassed() -> None:
    assert run(BYPASS_MASKS).texts == [""]


def test_copy_proc_copies_the_hosts_files(tmp_path: Path) -> None:
    fork_server.copy_proc(tmp_path / "proc")
    for name in ("version", "sys/kernel/osrelease"):
        assert (tmp_path / "proc" / name).read_bytes() == Path("/proc", name).read_bytes()
    assert (tmp_path / "proc" / fork_server.EMPTY_FILE).stat().st_mode & 0o777 == 0
