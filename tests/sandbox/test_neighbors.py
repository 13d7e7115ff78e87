"""Two sandboxes at the same time: what one does, the other can't observe.

The first one changes something that Linux keeps, and the second one looks before and after. What
can't be closed is named on the page for instructors: the time that things take, which pages of the
shared files are in memory, and the numbers that the kernel gives to pipes and sockets in turn.
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

# Names of all that can be read in /proc but the processes, in /sys and in /dev, and what it says.
FILES = """
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

# Whatever shows somewhere: locks, processes, threads, memory, files, terminals, sockets, messages.
DEEDS = f"""
import ctypes, fcntl, mmap, os, pty, signal, socket, struct, threading, time
libc = ctypes.CDLL(None, use_errno=True)
held = []
def attempt(deed):
    try:
        held.append(deed())
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

# What one asks, call by call. Each line is one question, whose answer must stay the same.
ASKS = f"""
import ctypes, fcntl, os, resource, socket, struct
libc = ctypes.CDLL(None, use_errno=True)
shared = os.open({SHARED!r}, os.O_RDONLY)
null = os.open("/dev/null", os.O_RDWR)
here, there = socket.socketpair()
def error(deed):
    try:
        return repr(deed())
    except OSError as problem:
        return problem.errno
read, write = (struct.pack("hhqqi", kind, 0, 0, 0, 0) + bytes(8) for kind in (0, 1))
answers = {{
    "who holds a lock": error(lambda: fcntl.fcntl(null, fcntl.F_GETLK, write)),
    "a lock": error(lambda: fcntl.fcntl(null, fcntl.F_SETLK, write)[:4]),
    "a lock of an open file": error(lambda: fcntl.fcntl(null, 37, write)),
    "a lease": error(lambda: fcntl.fcntl(shared, fcntl.F_SETLEASE, fcntl.F_RDLCK)),
    "flock": error(lambda: fcntl.flock(shared, fcntl.LOCK_EX | fcntl.LOCK_NB)),
    "load": error(os.getloadavg),
    "times of devices": [list(os.stat(f"/dev/{{one}}")[7:]) for one in ("null", "zero", "urandom")],
    "room": [list(os.statvfs(path)) for path in ("/", "/dev", "/dev/shm", "/tmp", "/proc")],
    "the room of a pipe": fcntl.fcntl(os.pipe()[0], fcntl.F_GETPIPE_SZ),
    "sysinfo": libc.sysinfo(ctypes.create_string_buffer(200)),
    "mincore": libc.mincore(None, 0, None),
    "cookie": error(lambda: here.getsockopt(1, 57, 8)),
    "queues": [libc.msgget(77, 0), libc.semget(77, 0, 0), libc.shmget(77, 0, 0)],
    "a queue": error(lambda: libc.mq_open(b"/x", 0)),
    "a terminal": error(lambda: os.open("/dev/ptmx", os.O_RDWR)),
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


def looked(box: sandbox.Box, source: str) -> dict[str, Any]:
    (text,) = run_in(box, source).texts
    found: dict[str, Any] = json.loads(text)
    return found


def test_no_file_tells_what_a_neighbor_does(pair: tuple[sandbox.Box, sandbox.Box]) -> None:
    first, second = pair
    before = looked(second, FILES)
    assert run_in(first, DEEDS).texts == [""]
    after = looked(second, FILES)
    assert {path for path in before | after if before.get(path) != after.get(path)} == set()
    assert {"/proc/cpuinfo", "/proc/meminfo", "/proc/stat"} <= before.keys()


def test_no_call_tells_what_a_neighbor_does(pair: tuple[sandbox.Box, sandbox.Box]) -> None:
    first, second = pair
    before = looked(second, ASKS)
    assert run_in(first, DEEDS).texts == [""]
    after = looked(second, ASKS)
    assert {name: after[name] for name in after if before[name] != after[name]} == {}


def test_a_neighbor_s_pipes_leave_room_for_one_s_own(
    pair: tuple[sandbox.Box, sandbox.Box],
) -> None:
    """Linux counts them for each user; only root can give each sandbox a user of its own."""
    if os.geteuid() != 0:
        pytest.skip("an ordinary user's sandboxes have one user")
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
    room = "import fcntl, os; print(fcntl.fcntl(os.pipe()[0], fcntl.F_GETPIPE_SZ))"
    assert run_in(first, fill, room).texts[1] != "65536\n", "nothing was filled"
    assert run_in(second, room).texts == ["65536\n"]


def resident(path: Path) -> int:
    """How many pages of a file are in memory."""
    libc = ctypes.CDLL(None, use_errno=True)
    pages = -(-path.stat().st_size // mmap.PAGESIZE)
    with path.open("rb") as file:
        place = mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=3)
    start = ctypes.c_char.from_buffer(place)
    which = (ctypes.c_ubyte * pages)()
    size = ctypes.c_size_t(len(place))
    assert libc.mincore(ctypes.byref(start), size, which) == 0
    return sum(one & 1 for one in which)


EVICTS = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
file = os.open({path!r}, os.O_RDONLY)
print(libc.readahead(file, ctypes.c_long(0), ctypes.c_size_t(1 << 20)))
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
"""


def test_nobody_puts_the_pages_of_a_shared_file_out_of_memory() -> None:
    """A copy could do that according to what it is asked, and a later cell time the reading."""
    folder = Path(sandbox.__file__).parent / "inside"
    path = folder / "zygote.py"  # seen as /run/inside/zygote.py
    path.read_bytes()
    with sandbox.open(LIMITS) as box:
        before = resident(path)
        assert before
        done = run_in(box, EVICTS.format(path="/run/inside/zygote.py"))
    assert done.texts == ["0\n"]
    assert resident(path) == before


@pytest.mark.parametrize(
    "name",
    ["cachestat", "fadvise64", "flock", "inotify_add_watch", "mincore", "preadv2", "readahead"],
)
def test_no_call_is_allowed_that_tells_of_shared_files(name: str) -> None:
    assert name not in ALLOWED
    assert name not in BY_ARGUMENT


STANDS_IN = """
import os
print(os.path.getsize("/proc/cpuinfo") or len(open("/proc/cpuinfo").read()) > 0)
print(open("/proc/meminfo").read().startswith("MemTotal:"), "btime" in open("/proc/stat").read())
print(open("/proc/sys/kernel/osrelease").read().strip() == os.uname().release)
print(open("/proc/self/stat").read().split()[0] == str(os.getpid()))
"""


def test_what_programs_look_up_about_the_machine_is_there() -> None:
    assert "False" not in run(STANDS_IN).texts[0]


def test_psutil_works_with_what_is_there() -> None:
    source = (
        "import psutil\nprint(psutil.Process().memory_info().rss > 0, psutil.cpu_count() > 0)\n"
        "print(psutil.virtual_memory().total > 0, psutil.boot_time() > 0)\n"
        "print(psutil.Process().num_fds() > 0, len(psutil.pids()))"
    )
    assert run(source).texts == ["True True\nTrue True\nTrue 2\n"]


def test_locks_of_a_notebook_s_own_files_seem_to_work_and_take_no_memory() -> None:
    """SQLite asks for them."""
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


def test_no_process_takes_itself_out_of_the_kernel_s_first_victims() -> None:
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


AROUND = """
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
    for deed in (lambda: open(path, "w"), lambda: os.utime(path), lambda: os.chmod(path, 0o777)):
        try:
            deed()
            print("REACHED", path)
        except OSError:
            pass
"""


def test_no_way_leads_around_what_hides_the_rest_of_proc() -> None:
    assert run(AROUND).texts == [""]


def test_the_copies_are_those_of_the_machine(tmp_path: Path) -> None:
    fork_server.copy_proc(tmp_path / "proc")
    for name in ("version", "sys/kernel/osrelease"):
        assert (tmp_path / "proc" / name).read_bytes() == Path("/proc", name).read_bytes()
    assert (tmp_path / "proc" / fork_server.EMPTY_FILE).stat().st_mode & 0o777 == 0
