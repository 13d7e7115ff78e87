"""Boxes from start to end: apart from each other, within limits, and gone when they are closed."""

import dataclasses
import errno
import math
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from classroom.processes import descendants, outliving, parents, since, words
from repository import ROOT
from sandboxed import LIMITS, run, run_in

from grading import sandbox
from grading.sandbox import box as boxes
from grading.sandbox import fork_server as fork_servers
from grading.sandbox.fork_server import CAPABILITIES, ForkServer, lock
from grading.sandbox.inside import memory
from grading.sandbox.inside.request import Request


@pytest.fixture(autouse=True)
def _warm():
    """The zygote stays from test to test; it is started before anything is counted."""
    with sandbox.open():
        pass


def test_the_next_notebook_does_not_notice():
    marks = "/tmp/mark", "/home/learner/mark", "/dev/shm/mark"
    leave = f"import math; math.pi = 3\nfor path in {marks}: open(path, 'w').close()"
    look = (
        f"import math, os\nprint(math.pi, [path for path in {marks} if os.path.exists(path)])\n"
        "print(os.getpid(), len([name for name in os.listdir('/proc') if name.isdigit()]))"
    )
    first, second = run(leave, look), run(look)
    assert first.texts[1].splitlines()[0] == f"3 {list(marks)}"
    assert second.texts[0].splitlines()[0] == f"{math.pi} []"
    assert second.texts[0].splitlines()[1] == "2 2", "its init and itself, nobody else"


def test_two_notebooks_draw_different_random_numbers():
    draw = "import numpy, random\nprint(numpy.random.random(), random.random())"
    first, second = (run(draw).texts[0].split() for _ in range(2))
    assert first[0] != second[0]
    assert first[1] != second[1]


def test_two_boxes_at_once_do_not_see_each_other():
    talk = (
        "import socket\none = socket.socket(socket.AF_UNIX)\n"
        "try: one.{}('\\0meeting-point'); one.listen(); print('open')\n"
        "except OSError as error: print(error)"
    )
    with sandbox.open(LIMITS) as first, sandbox.open(LIMITS) as second:
        assert "open" in run_in(first, talk.format("bind")).texts[0]
        assert "refused" in run_in(second, talk.format("connect")).texts[0]
        for box in (first, second):
            listing = run_in(
                box, "import os; print(os.listdir('/run/box'), os.listdir('/run/boxes'))"
            )
            assert listing.texts[0].endswith("[]\n")


OPEN = """
import os
found = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
print(sorted(os.readlink(path).split(":")[0] for path in found if os.path.exists(path)))
"""


def test_a_notebook_has_its_socket_and_none_of_the_zygote_s():
    """And the two of asyncio's loop. Another would be the zygote's, or a classmate's life line."""
    with sandbox.open(LIMITS) as first, sandbox.open(LIMITS) as second:
        texts = [run_in(box, OPEN).texts[0] for box in (first, second)]
    assert [text.count("'socket'") for text in texts] == [3, 3]


def test_a_box_is_closed_while_a_younger_one_goes_on():
    """The younger one was forked when the older one's life line was open."""
    older = sandbox.open(LIMITS)
    with older, sandbox.open(LIMITS) as younger:
        closing = threading.Thread(target=older.close, daemon=True)
        closing.start()
        closing.join(60)
        assert not closing.is_alive()
        assert run_in(younger, "print(1)").texts == ["1\n"]


def test_each_box_has_namespaces_of_its_own():
    kinds = ("ipc", "mnt", "net", "pid", "uts")
    look = f"import os\nprint(*(os.readlink(f'/proc/self/ns/{{kind}}') for kind in {kinds}))"
    with sandbox.open(LIMITS) as first, sandbox.open(LIMITS) as second:
        boxes_ = [run_in(box, look).texts[0].split() for box in (first, second)]
    host = [str(Path(f"/proc/self/ns/{kind}").readlink()) for kind in kinds]
    for kind, own, others, outside in zip(kinds, *boxes_, host, strict=True):
        assert outside not in (own, others), kind
        assert own != others or kind == "uts", kind


def test_processes_are_counted_for_each_box():
    fill = (
        "import os, time\ncount = 0\ntry:\n    while count < 1000:\n"
        "        if os.fork() == 0: time.sleep(600)\n        count += 1\n"
        "except OSError: print(count)"
    )
    with sandbox.open(LIMITS) as first, sandbox.open(LIMITS) as second:
        counts = [int(run_in(box, fill).texts[0]) for box in (first, second)]
    assert all(LIMITS.processes // 2 < count < LIMITS.processes for count in counts)


def test_memory_is_counted_over_all_processes():
    grow = (
        "import os, time\nfor _ in range(6):\n    if os.fork() == 0:\n"
        "        hoard = os.urandom(1 << 20) * 100; time.sleep(600)\ntime.sleep(600)"
    )
    done = run(grow, "print('still')", limits=dataclasses.replace(LIMITS, memory_bytes=1 << 29))
    assert done.stopped == "memory"
    assert done.died
    assert "still" not in done.texts[1]


LET_GO = """
import mmap, os, threading, time
def hold(count):
    held = []
    for _ in range(count):
        held.append(mmap.mmap(-1, 100 << 20))
        held[-1].write(bytes(100 << 20))
        held[-1].madvise(mmap.MADV_DONTNEED)
    time.sleep(600)
"""
HIDES = {
    "pages that were let go": "hold(5)",
    "pages of forks that were let go": (
        "for _ in range(5):\n    if os.fork() == 0:\n        hold(1)\ntime.sleep(600)"
    ),
    "a process whose first thread has ended": """
if os.fork() == 0:
    import ctypes
    def grow():
        hoard = os.urandom(1 << 20) * 500
        time.sleep(600)
    threading.Thread(target=grow).start()
    ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[os.uname().machine], 0)
time.sleep(600)
""",
    # 208 kB each, and more if one could ask for it.
    "messages that nobody reads": """
import socket
kept = []
for _ in range(9):
    if os.fork() == 0:
        for _ in range(100):
            kept += socket.socketpair()
            kept[-1].setblocking(False)
            try:
                while True: kept[-1].send(bytes(50_000))
            except BlockingIOError: pass
        time.sleep(600)
time.sleep(600)
""",
    "mappings that hold nothing": """
import ctypes
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
place = libc.mmap(None, ctypes.c_size_t(60_000 * 8192), 0, 0x22, -1, ctypes.c_long(0))
for number in range(60_000):
    libc.mprotect(ctypes.c_void_p(place + number * 8192), ctypes.c_size_t(4096), 1)
for _ in range(25):
    if os.fork() == 0:
        time.sleep(600)
time.sleep(600)
""",
    "a process that can't be looked into": """
if os.fork() == 0:
    import ctypes
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
    hold(5)
time.sleep(600)
""",
}


@pytest.mark.parametrize("way", HIDES)
def test_memory_can_not_be_hidden(way):
    limits = dataclasses.replace(LIMITS, memory_bytes=400 << 20)
    done = run(LET_GO, HIDES[way], limits=limits)
    assert done.stopped == "memory"


def test_memory_that_forks_share_and_keep_is_counted_once():
    keep = (
        "import mmap, os, time\nshared = mmap.mmap(-1, 150 << 20)\nshared.write(bytes(150 << 20))\n"
        "for _ in range(6):\n    if os.fork() == 0:\n        time.sleep(600)\n"
        "def looks():\n    for line in open('/proc/1/status'):\n"
        "        if line.startswith('voluntary'): return int(line.split()[1])\n"
        "end = looks() + 4\nwhile looks() < end: time.sleep(0.01)"
    )
    done = run(keep, "print('still')", limits=dataclasses.replace(LIMITS, memory_bytes=1 << 29))
    assert (done.stopped, done.texts[1]) == ("", "still\n")


def test_memory_that_forks_share_is_counted_once():
    share = (
        "import os, time\nhoard = os.urandom(1 << 20) * 100\n"
        "for _ in range(6):\n    if os.fork() == 0:\n        time.sleep(600)\n"
        # Each look at the memory in use lets init sleep once.
        "def looks():\n    for line in open('/proc/1/status'):\n"
        "        if line.startswith('voluntary'): return int(line.split()[1])\n"
        "end = looks() + 4\nwhile looks() < end: time.sleep(0.01)"
    )
    done = run(share, "print('still')", limits=dataclasses.replace(LIMITS, memory_bytes=1 << 29))
    assert (done.stopped, done.texts[1]) == ("", "still\n")


def test_time_is_limited_for_the_whole_box():
    with sandbox.open(dataclasses.replace(LIMITS, wall_seconds=0.1)) as box:
        while box.poll() is None:
            assert select.select([box.life], [], [], 60)[0], "the box was not stopped"
        assert (box.stopped, box.poll()) == ("time", -9)


def test_an_interrupted_cell_leaves_the_notebook_usable():
    done = run("x = 1", "while True: pass", "print('x', x)", late=[1])
    assert done.texts[2] == "x 1\n"


def test_a_notebook_that_used_up_its_files_can_still_speak():
    greedy = "import os\ntry:\n    while True: os.dup(0)\nexcept OSError: pass"
    assert run(greedy, "print('still')").texts == ["", "still\n"]


def test_closing_ends_everything_at_once():
    running = descendants(os.getpid())
    with sandbox.open(LIMITS) as box:
        assert run_in(
            box, "import subprocess\nfor _ in range(9): subprocess.Popen(['sleep', '600'])"
        )
        started = since(running)
        assert len(started) > 9
        folder = box.folder
        assert folder.is_dir()
    assert not outliving(started)
    assert not folder.exists()


GRADER = """
import sys
from grading import sandbox
box = sandbox.open()
box.__enter__()
print(box.folder.parent, flush=True)
sys.stdin.read()
"""


def test_a_killed_grader_leaves_no_process():
    running = descendants(os.getpid())
    grader = subprocess.Popen(
        [sys.executable, "-c", GRADER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    )
    folder = Path(grader.stdout.readline().decode().strip())
    started = since(running) - {grader.pid}
    assert len(started) > 3
    grader.kill()
    grader.communicate()
    assert not outliving(started)
    os.utime(folder, (0, 0))
    ForkServer().close()
    assert not folder.exists(), "the next grader clears up"


# As Linux numbers them, in include/uapi/linux/capability.h.
NUMBERS = {"SETGID": 6, "SETUID": 7, "SETPCAP": 8, "SYS_ADMIN": 21}


def test_what_forks_sandboxes_may_do_what_that_takes_and_no_more():
    """Root's process keeps the capabilities that are named; anybody else's has none."""
    with sandbox.open():
        table = parents()
        # Below bubblewrap's own processes, and above those that it has forked.
        (zygote,) = (
            pid
            for pid in descendants(fork_servers.fork_server().process.pid, table)
            if "bwrap" in words(table[pid])[0] and "bwrap" not in words(pid)[0]
        )
        status = Path(f"/proc/{zygote}/status").read_text()
    named = CAPABILITIES if os.geteuid() == 0 else ()
    expected = sum(1 << NUMBERS[name] for name in named)
    for kind in ("CapPrm", "CapEff"):
        assert int(re.findall(rf"{kind}:\s+(\w+)", status)[0], 16) == expected, kind


# What a process asked its system to send it when its parent ends.
ASKED = """
import ctypes
from grading.sandbox.inside import isolate
isolate.die_with_parent()
asked, GET_DEATH_SIGNAL = ctypes.c_int(), 2
ctypes.CDLL(None).prctl(GET_DEATH_SIGNAL, ctypes.byref(asked), 0, 0, 0)
print(asked.value)
"""


def test_a_process_ends_with_its_parent_by_a_signal_that_cannot_be_caught():
    """Bubblewrap sees to that, too; it is asked for twice."""
    done = subprocess.run([sys.executable, "-c", ASKED], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == f"{signal.SIGKILL.value}\n"


@pytest.mark.parametrize(("value", "yes"), [("", False), ("0", False), ("1", True), ("no", True)])
def test_what_accepts_the_risk(monkeypatch, value, yes):
    monkeypatch.setenv("GRADING_UNSAFE", value)
    assert sandbox.accepted() is yes


def test_a_request_survives_its_journey():
    request = Request("7", 61234, ("/usr", "/etc/fonts"), sandbox.SandboxLimits(1, 2, 3))
    assert Request.from_json(request.to_json()) == request


KB = 1024


@pytest.mark.parametrize(
    ("processes", "most", "exceeded"),
    [
        ({"1": (900, 900), "2": (100, 90)}, 90 * KB, False),  # init does not count
        ({"2": (100, 90), "3": (100, 20)}, 110 * KB, False),
        ({"2": (100, 90), "3": (100, 20)}, 110 * KB - 1, True),
        ({"2": (100, 900), "3": (100, 900)}, 240 * KB, False),  # the quick look is enough
        ({"2": (200, None), "3": (200, 50)}, 249 * KB, True),  # may not be looked into
        ({"2": (200, None), "3": (200, 50)}, 250 * KB, False),
        ({"2": (None, 900), "self": (900, 900)}, 0, False),  # has just ended
        ({"2": (100, 90, 30), "3": (100, 20, 5)}, 145 * KB - 1, True),  # with page tables
        ({"2": (100, 90, 30), "3": (100, 20, 5)}, 145 * KB, False),
        ({"2": (100, 90, 0, 7), "3": (100, 20, 0, 9)}, 126 * KB - 1, True),  # with mappings
        ({"2": (100, 90, 0, 7), "3": (100, 20, 0, 9)}, 126 * KB, False),
    ],
)
def test_memory_is_added_up(tmp_path, monkeypatch, processes, most, exceeded):
    """processes: id → resident and proportional kilobytes, those of page tables, mappings.

    None where Linux refuses to tell.
    """
    monkeypatch.setattr(memory, "PROC", tmp_path)
    monkeypatch.setattr(memory, "MAP_BYTES", KB)
    monkeypatch.setattr(memory, "MAX_MAPS", 20)
    monkeypatch.setattr(memory, "PAGE", 2 * KB)
    refused = set()
    for name, (resident, proportional, *more) in processes.items():
        tables, mappings = (*more, 0, 0)[:2]
        (tmp_path / name).mkdir()
        if resident is not None:
            (tmp_path / name / "statm").write_text(f"{resident} {resident // 2} 5 1 0 9 0\n")
        if proportional is None:
            refused.add(tmp_path / name / "smaps_rollup")
        text = (
            f"0-1 ---p 00 00:00 0 [rollup]\nRss: 5000 kB\nPss: {proportional} kB\nPss_Dirty: 1 kB\n"
        )
        (tmp_path / name / "smaps_rollup").write_text(text)
        (tmp_path / name / "status").write_text(
            f"Name:\t\udc80\nVmPTE:\t {tables} kB\n", errors="surrogateescape"
        )
        (tmp_path / name / "maps").write_text("0-1 rw-p 0 00:00 0\n" * mappings)

    def read(path, real=Path.read_text):
        if path in refused:
            raise PermissionError(errno.EACCES, "refused")
        return real(path)

    monkeypatch.setattr(Path, "read_text", read)
    assert memory.Memory().exceeds(most) is exceeded


@pytest.mark.parametrize(
    ("map_", "expected"),
    [
        ("0 0 4294967295", lambda pid, number: 0x7A000000 + pid % (1 << 22) * 16 + number % 16),
        ("0 1000 1\n1 100000 65536", lambda pid, number: range(60_000, 65_537)),
        ("0 1000 4", lambda pid, number: range(1, 4)),
    ],
)
def test_each_box_has_a_user_of_its_own(monkeypatch, map_, expected):
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: map_)
    users = [boxes._user(number) for number in range(1, 17)]
    allowed = [expected(os.getpid(), number) for number in range(1, 17)]
    for user, fits in zip(users, allowed, strict=True):
        assert user in fits if isinstance(fits, range) else user == fits
    if "65536" in map_ or "4294967295" in map_:
        assert len(set(users)) == 16


def test_a_refusal_is_one_printable_line():
    assert boxes._line("bpf", 1) == "bpf (1 time)"
    assert boxes._line("bpf", 2) == "bpf (2 times)"
    assert boxes._line("open: /a\x1b[2J\n\u202eb", 3) == "open: /a\ufffd[2J\ufffd\ufffdb"


def test_a_box_that_could_not_be_made_says_why(monkeypatch):
    monkeypatch.setattr(boxes, "readable", lambda: ("/tmp/" + "x" * 300,))
    with pytest.raises(sandbox.Refused, match=r"^the sandbox could not be made: .*too long"):
        sandbox.open(LIMITS).__enter__()


def test_a_new_folder_of_another_grader_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(fork_servers.tempfile, "gettempdir", lambda: str(tmp_path))
    new, old, locked = (tmp_path / f"{fork_servers.PREFIX}{name}" for name in ("n", "o", "l"))
    for folder in (new, old, locked):
        folder.mkdir()
    for folder in (old, locked):
        os.utime(folder, (0, 0))
    descriptor = fork_servers.lock(locked)
    assert descriptor is not None
    assert fork_servers.lock(locked) is None
    fork_servers.remove_stale()
    os.close(descriptor)
    assert (new.exists(), old.exists(), locked.exists()) == (True, False, True)


def test_the_lock_of_a_folder_is_that_of_no_file_and_follows_no_link(tmp_path):
    folder, file, link = tmp_path / "folder", tmp_path / "file", tmp_path / "link"
    folder.mkdir()
    file.touch()
    link.symlink_to(folder)
    for other in (file, link):
        with pytest.raises(NotADirectoryError):
            lock(other)
    held = lock(folder)
    assert held is not None
    assert lock(folder) is None
    os.close(held)


def test_a_fork_server_that_was_closed_is_not_closed_again_at_the_end():
    server = ForkServer()
    assert server.at_exit.still_active()
    os.fstat(server.lock_file)
    shutil.rmtree(server.folder)  # as somebody who clears up temporary folders does
    server.close()
    assert not server.at_exit.still_active()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(server.lock_file)
