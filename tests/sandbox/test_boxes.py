"""Life of a box: isolation from other boxes, limits, and cleanup when it closes."""

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
from classroom.processes import descendants, new_descendants, parents, survivors, words
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
    """Start the shared zygote, so that no test counts its processes as new."""
    with sandbox.open():
        pass


def test_boxes_share_no_state_with_earlier_ones():
    marks = "/tmp/mark", "/home/learner/mark", "/dev/shm/mark"
    leave_marks = f"import math; math.pi = 3\nfor path in {marks}: open(path, 'w').close()"
    look = (
        f"import math, os\nprint(math.pi, [path for path in {marks} if os.path.exists(path)])\n"
        "print(os.getpid(), len([name for name in os.listdir('/proc') if name.isdigit()]))"
    )
    first, second = run(leave_marks, look), run(look)
    assert first.texts[1].splitlines()[0] == f"3 {list(marks)}"
    assert second.texts[0].splitlines()[0] == f"{math.pi} []"
    assert second.texts[0].splitlines()[1] == "2 2", "more processes than init and the kernel"


def test_boxes_draw_different_random_numbers():
    draw = "import numpy, random\nprint(numpy.random.random(), random.random())"
    first, second = (run(draw).texts[0].split() for _ in range(2))
    assert first[0] != second[0]
    assert first[1] != second[1]


def test_concurrent_boxes_cannot_reach_each_others_sockets():
    connect = (
        "import socket\none = socket.socket(socket.AF_UNIX)\n"
        "try: one.{}('\\0meeting-point'); one.listen(); print('open')\n"
        "except OSError as error: print(error)"
    )
    with sandbox.open(LIMITS) as first, sandbox.open(LIMITS) as second:
        assert "open" in run_in(first, connect.format("bind")).texts[0]
        assert "refused" in run_in(second, connect.format("connect")).texts[0]
        for box in (first, second):
            listing = run_in(
                box, "import os; print(os.listdir('/run/box'), os.listdir('/run/boxes'))"
            )
            assert listing.texts[0].endswith("[]\n")


LIST_DESCRIPTORS = """
import os
found = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
print(sorted(os.readlink(path).split(":")[0] for path in found if os.path.exists(path)))
"""


def test_notebook_inherits_no_socket_of_the_zygote():
    """Check that the only sockets are the grader's and the event loop's pair."""
    with sandbox.open(LIMITS) as first, sandbox.open(LIMITS) as second:
        texts = [run_in(box, LIST_DESCRIPTORS).texts[0] for box in (first, second)]
    assert [text.count("'socket'") for text in texts] == [3, 3]


def test_closing_a_sandbox_does_not_wait_for_a_newer_one():
    """The newer sandbox is forked while the zygote has the older one's life socket open."""
    older = sandbox.open(LIMITS)
    with older, sandbox.open(LIMITS) as newer:
        closing = threading.Thread(target=older.close, daemon=True)
        closing.start()
        closing.join(60)
        assert not closing.is_alive()
        assert run_in(newer, "print(1)").texts == ["1\n"]


def test_boxes_share_at_most_the_uts_namespace_and_none_with_the_host():
    kinds = ("ipc", "mnt", "net", "pid", "uts")
    look = f"import os\nprint(*(os.readlink(f'/proc/self/ns/{{kind}}') for kind in {kinds}))"
    with sandbox.open(LIMITS) as first, sandbox.open(LIMITS) as second:
        boxes_ = [run_in(box, look).texts[0].split() for box in (first, second)]
    host = [str(Path(f"/proc/self/ns/{kind}").readlink()) for kind in kinds]
    for kind, own, others, outside in zip(kinds, *boxes_, host, strict=True):
        assert outside not in (own, others), kind
        assert own != others or kind == "uts", kind


def test_process_limit_applies_per_box():
    fork_until_refused = (
        "import os, time\ncount = 0\ntry:\n    while count < 1000:\n"
        "        if os.fork() == 0: time.sleep(600)\n        count += 1\n"
        "except OSError: print(count)"
    )
    with sandbox.open(LIMITS) as first, sandbox.open(LIMITS) as second:
        counts = [int(run_in(box, fork_until_refused).texts[0]) for box in (first, second)]
    assert all(LIMITS.processes // 2 < count < LIMITS.processes for count in counts)


def test_memory_limit_covers_all_processes_of_a_box():
    grow = (
        "import os, time\nfor _ in range(6):\n    if os.fork() == 0:\n"
        "        hoard = os.urandom(1 << 20) * 100; time.sleep(600)\ntime.sleep(600)"
    )
    done = run(grow, "print('still')", limits=dataclasses.replace(LIMITS, memory_bytes=1 << 29))
    assert done.stopped == "memory"
    assert done.died
    assert "still" not in done.texts[1]


HOLD = """
import mmap, os, threading, time
def hold(count):
    held = []
    for _ in range(count):
        held.append(mmap.mmap(-1, 100 << 20))
        held[-1].write(bytes(100 << 20))
        held[-1].madvise(mmap.MADV_DONTNEED)
    time.sleep(600)
"""
HIDING = {
    "pages released with MADV_DONTNEED": "hold(5)",
    "pages of forks released with MADV_DONTNEED": (
        "for _ in range(5):\n    if os.fork() == 0:\n        hold(1)\ntime.sleep(600)"
    ),
    "process whose main thread has ended": """
if os.fork() == 0:
    import ctypes
    def grow():
        hoard = os.urandom(1 << 20) * 500
        time.sleep(600)
    threading.Thread(target=grow).start()
    ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[os.uname().machine], 0)
time.sleep(600)
""",
    # A socket's buffer holds 208 kB; the filter refuses to enlarge it.
    "unread socket messages": """
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
    "empty mappings": """
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
    "process that is not dumpable": """
if os.fork() == 0:
    import ctypes
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
    hold(5)
time.sleep(600)
""",
}


# The case "empty mappings" is slow: making so many mappings takes seconds.
@pytest.mark.parametrize(
    "way",
    [
        pytest.param(way, marks=pytest.mark.long if way == "empty mappings" else ())
        for way in HIDING
    ],
)
def test_memory_cannot_be_hidden_from_the_limit(way):
    limits = dataclasses.replace(LIMITS, memory_bytes=400 << 20)
    done = run(HOLD, HIDING[way], limits=limits)
    assert done.stopped == "memory"


def test_shared_mapping_is_counted_once_across_forks():
    keep = (
        "import mmap, os, time\nshared = mmap.mmap(-1, 150 << 20)\nshared.write(bytes(150 << 20))\n"
        "for _ in range(6):\n    if os.fork() == 0:\n        time.sleep(600)\n"
        "def checks():\n    for line in open('/proc/1/status'):\n"
        "        if line.startswith('voluntary'): return int(line.split()[1])\n"
        "end = checks() + 4\nwhile checks() < end: time.sleep(0.01)"
    )
    done = run(keep, "print('still')", limits=dataclasses.replace(LIMITS, memory_bytes=1 << 29))
    assert (done.stopped, done.texts[1]) == ("", "still\n")


def test_copy_on_write_memory_is_counted_once_across_forks():
    share = (
        "import os, time\nhoard = os.urandom(1 << 20) * 100\n"
        "for _ in range(6):\n    if os.fork() == 0:\n        time.sleep(600)\n"
        # Count init's sleeps: it sleeps once per check of the memory in use.
        "def checks():\n    for line in open('/proc/1/status'):\n"
        "        if line.startswith('voluntary'): return int(line.split()[1])\n"
        "end = checks() + 4\nwhile checks() < end: time.sleep(0.01)"
    )
    done = run(share, "print('still')", limits=dataclasses.replace(LIMITS, memory_bytes=1 << 29))
    assert (done.stopped, done.texts[1]) == ("", "still\n")


@pytest.mark.parametrize("seconds", [0.1, -0.1])
def test_box_is_stopped_at_its_wall_clock_limit(seconds):
    with sandbox.open(dataclasses.replace(LIMITS, wall_seconds=seconds)) as box:
        while box.poll() is None:
            assert select.select([box.life], [], [], 60)[0], "the box was not stopped"
        assert (box.stopped, box.poll()) == ("time", -9)


def test_notebook_survives_an_interrupted_cell():
    done = run("x = 1", "while True: pass", "print('x', x)", late=[1])
    assert done.texts[2] == "x 1\n"


def test_output_works_when_file_descriptors_run_out():
    greedy = "import os\ntry:\n    while True: os.dup(0)\nexcept OSError: pass"
    assert run(greedy, "print('still')").texts == ["", "still\n"]


def test_close_kills_all_processes_and_removes_the_folder():
    running = descendants(os.getpid())
    with sandbox.open(LIMITS) as box:
        assert run_in(
            box, "import subprocess\nfor _ in range(9): subprocess.Popen(['sleep', '600'])"
        )
        started = new_descendants(running)
        assert len(started) > 9
        folder = box.folder
        assert folder.is_dir()
    assert not survivors(started)
    assert not folder.exists()


def test_poll_reports_sigkill_if_all_processes_of_a_box_were_killed():
    running = descendants(os.getpid())
    with sandbox.open(LIMITS) as box:
        started = new_descendants(running)
        assert box.poll() is None
        for process in started:
            os.kill(process, signal.SIGKILL)
        select.select([box.life], [], [], 60)  # wait until the zygote has closed the life socket
        assert box.poll() == -signal.SIGKILL


GRADER = """
import sys
from grading import sandbox
box = sandbox.open()
box.__enter__()
print(box.folder.parent, flush=True)
sys.stdin.read()
"""


def test_killed_grader_leaves_no_process_or_folder():
    running = descendants(os.getpid())
    grader = subprocess.Popen(
        [sys.executable, "-c", GRADER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    )
    folder = Path(grader.stdout.readline().decode().strip())
    started = new_descendants(running) - {grader.pid}
    assert len(started) > 3
    grader.kill()
    grader.communicate()
    assert not survivors(started)
    os.utime(folder, (0, 0))
    ForkServer().close()
    assert not folder.exists(), "the next grader must remove a stale folder"


# From include/uapi/linux/capability.h.
CAPABILITY_NUMBERS = {"SETGID": 6, "SETUID": 7, "SETPCAP": 8, "SYS_ADMIN": 21}


def test_zygote_has_only_the_capabilities_it_needs():
    """If root runs the grader, the zygote keeps CAPABILITIES; otherwise it has none."""
    with sandbox.open():
        table = parents()
        # The zygote is not a bwrap process itself, but its parent is one.
        (zygote,) = (
            pid
            for pid in descendants(fork_servers.fork_server().process.pid, table)
            if "bwrap" in words(table[pid])[0] and "bwrap" not in words(pid)[0]
        )
        status = Path(f"/proc/{zygote}/status").read_text()
    named = CAPABILITIES if os.geteuid() == 0 else ()
    expected = sum(1 << CAPABILITY_NUMBERS[name] for name in named)
    for kind in ("CapPrm", "CapEff"):
        assert int(re.findall(rf"{kind}:\s+(\w+)", status)[0], 16) == expected, kind


# Print the signal that the process gets when its parent ends.
DEATH_SIGNAL = """
import ctypes
from grading.sandbox.inside import isolate
isolate.die_with_parent()
signal, GET_DEATH_SIGNAL = ctypes.c_int(), 2
ctypes.CDLL(None).prctl(GET_DEATH_SIGNAL, ctypes.byref(signal), 0, 0, 0)
print(signal.value)
"""


def test_die_with_parent_sets_sigkill_as_death_signal():
    """Test this directly: in a sandbox, bubblewrap would also end the process."""
    done = subprocess.run(
        [sys.executable, "-c", DEATH_SIGNAL], cwd=ROOT, capture_output=True, text=True
    )
    assert done.stdout == f"{signal.SIGKILL.value}\n"


@pytest.mark.parametrize(
    ("value", "accepted"), [("", False), ("0", False), ("1", True), ("no", True)]
)
def test_values_of_grading_unsafe_are_recognized(monkeypatch, value, accepted):
    monkeypatch.setenv("GRADING_UNSAFE", value)
    assert sandbox.accepted() is accepted


def test_request_round_trips_through_json():
    request = Request("7", 61234, ("/usr", "/etc/fonts"), sandbox.SandboxLimits(1, 2, 3), groups=2)
    assert Request.from_json(request.to_json()) == request


KB = 1024


@pytest.mark.parametrize(
    ("processes", "most", "exceeded"),
    [
        ({"1": (900, 900), "2": (100, 90)}, 90 * KB, False),  # init does not count
        ({"2": (100, 90), "3": (100, 20)}, 110 * KB, False),
        ({"2": (100, 90), "3": (100, 20)}, 110 * KB - 1, True),
        ({"2": (100, 900), "3": (100, 900)}, 240 * KB, False),  # the upper bound suffices
        ({"2": (200, None), "3": (200, 50)}, 249 * KB, True),  # smaps_rollup unreadable
        ({"2": (200, None), "3": (200, 50)}, 250 * KB, False),
        ({"2": (None, 900), "self": (900, 900)}, 0, False),  # the process has just ended
        ({"2": (100, 90, 30), "3": (100, 20, 5)}, 145 * KB - 1, True),  # with page tables
        ({"2": (100, 90, 30), "3": (100, 20, 5)}, 145 * KB, False),
        ({"2": (100, 90, 0, 7), "3": (100, 20, 0, 9)}, 126 * KB - 1, True),  # with mappings
        ({"2": (100, 90, 0, 7), "3": (100, 20, 0, 9)}, 126 * KB, False),
    ],
)
def test_total_memory_of_a_box_is_compared_with_its_limit(
    tmp_path, monkeypatch, processes, most, exceeded
):
    """Compare the memory of made-up processes with the limit.

    processes: id → resident and proportional size and page tables, in kilobytes, and the number of
    mappings. None if Linux refuses to show the value.
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
def test_boxes_get_different_user_ids_if_enough_ids_are_mapped(monkeypatch, map_, expected):
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: map_)
    users = [boxes._user(number) for number in range(1, 17)]
    allowed = [expected(os.getpid(), number) for number in range(1, 17)]
    for user, fits in zip(users, allowed, strict=True):
        assert user in fits if isinstance(fits, range) else user == fits
    if "65536" in map_ or "4294967295" in map_:
        assert len(set(users)) == 16


def test_each_kind_of_refusal_is_reported_in_one_printable_line():
    assert boxes._line("bpf", 1) == "bpf (1 time)"
    assert boxes._line("bpf", 2) == "bpf (2 times)"
    assert boxes._line("open: /a\x1b[2J\n\u202eb", 3) == "open: /a\ufffd[2J\ufffd\ufffdb"


def test_failed_box_setup_reports_the_reason(monkeypatch):
    monkeypatch.setattr(boxes, "readable", lambda: ("/tmp/" + "x" * 300,))
    with pytest.raises(sandbox.Refused, match=r"^the sandbox could not be made: .*too long"):
        sandbox.open(LIMITS).__enter__()


def test_remove_stale_keeps_new_and_locked_folders(tmp_path, monkeypatch):
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


def test_locking_a_file_or_symlink_in_place_of_a_folder_fails(tmp_path):
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


def test_closed_fork_server_cancels_its_exit_handler():
    server = ForkServer()
    assert server.at_exit.still_active()
    os.fstat(server.lock_file)
    shutil.rmtree(server.folder)  # as a tool that cleans up temporary folders does
    server.close()
    assert not server.at_exit.still_active()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(server.lock_file)
