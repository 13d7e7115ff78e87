"""What code in the sandbox can see, reach and take; and that nothing of it is left afterwards."""

import dataclasses
import errno
import hashlib
import math
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import hostile
import nbformat
import pytest
from classroom.processes import as_ordinary_user, descendants, outliving
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from nbformat.v4 import new_code_cell, new_notebook
from repository import ROOT

from grading import sandbox
from grading.sandbox import fork_server as fork_servers
from grading.sandbox.fork_server import ForkServer

RATIONS = sandbox.SandboxLimits(
    process_bytes=1 << 30, memory_bytes=1 << 30, scratch_bytes=16 << 20, wall_seconds=60
)
SECONDS = 20  # for a cell
# What a process of its own needs to import this file and what it uses.
PATHS = [str(ROOT / name) for name in (".", "kit", "tests/support", "tests/sandbox")]
NEVER_ENDS = {"endless_loop", "many_lines", "patched_kernel", "protocol_files", "stack"}
NEVER_ENDS |= {"closed_output", "flood_of_outputs", "flood_of_replies", "many_displays"}
NEVER_ENDS |= {"plain_loop"}


@dataclass(frozen=True)
class Run:
    """What came of some cells: their texts, how the kernel and the box ended."""

    texts: list[str]
    died: bool
    stopped: str


def run(*sources, limits=RATIONS, seconds=SECONDS):
    with sandbox.open(limits) as box:
        return run_in(box, *sources, seconds=seconds)


def run_in(box, *sources, seconds=SECONDS):
    notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
    client = NotebookClient(
        notebook,
        km=box.kernel_manager(),
        allow_errors=True,
        timeout=seconds,
        interrupt_on_timeout=True,
        error_on_timeout={"ename": "TooLate", "evalue": "", "traceback": ["too late"]},
        iopub_timeout=1,
    )
    died = False
    try:
        client.execute()
    except DeadKernelError:
        died = True
    box.poll()
    return Run([text(cell) for cell in notebook.cells], died, box.stopped)


def text(cell):
    return "".join(output.get("text", "") for output in cell.outputs)


def state(folder):
    """Everything about the files in a folder that a writer would change."""
    return {
        path: (path.lstat().st_mode, path.lstat().st_mtime_ns, path.is_file() and digest(path))
        for path in sorted(folder.rglob("*"))
        if "__pycache__" not in path.parts
    }


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course folder on the host with something of each kind that must stay unseen."""
    folder = tmp_path_factory.mktemp("course")
    for name in ("gradebook.db", ".grading/seed", "submitted/ada/int8-matmul/hand-in.ipynb"):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("SECRET")
    return folder


@pytest.fixture(autouse=True)
def warm():
    """The nursery stays from test to test; it is started before anything is counted."""
    with sandbox.open():
        pass


@pytest.mark.parametrize("cell", hostile.cells(), ids=lambda cell: cell.name)
def test_hostile_code_reaches_nothing(cell, course, monkeypatch):
    monkeypatch.chdir(course)
    before, running = state(course), descendants(os.getpid())
    seconds = 1 if cell.name in NEVER_ENDS else SECONDS
    done = run("answer = 42", cell.source, "print('answer', answer)", seconds=seconds)
    reached = [line for line in "".join(done.texts).split("\n") if line.startswith("REACHED")]
    assert not reached, cell.does
    assert state(course) == before
    assert not outliving(descendants(os.getpid()) - running)
    if cell.fair == "points" and cell.name not in NEVER_ENDS:
        assert "answer 42" in done.texts[-1], "what was defined before is there no more"
    if cell.fair == "nothing":
        assert "answer 42" not in done.texts[-1]


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
    assert second.texts[0].splitlines()[1] == "2 2", "its keeper and itself, nobody else"


def test_two_boxes_at_once_do_not_see_each_other():
    talk = (
        "import socket\none = socket.socket(socket.AF_UNIX)\n"
        "try: one.{}('\\0meeting-point'); one.listen(); print('open')\n"
        "except OSError as error: print(error)"
    )
    with sandbox.open(RATIONS) as first, sandbox.open(RATIONS) as second:
        assert "open" in run_in(first, talk.format("bind")).texts[0]
        assert "refused" in run_in(second, talk.format("connect")).texts[0]
        for box in (first, second):
            listing = run_in(
                box, "import os; print(os.listdir('/run/box'), os.listdir('/run/boxes'))"
            )
            assert listing.texts[0].endswith("[]\n")


def test_code_is_nobody_in_there():
    look = "print(open('/proc/self/status').read())"
    lines = run(look).texts[0].splitlines()
    status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    users = {int(user) for user in status["Uid"].split()}
    assert users == ({65534} if os.geteuid() else users - {0})
    assert len(users) == 1
    assert status["Groups"].strip() in ("", "65534")
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(status[name], 16) == 0
    assert status["NoNewPrivs"] == "1"
    assert status["Seccomp"] == "2"


def test_processes_are_counted_for_each_box():
    fill = (
        "import os, time\ncount = 0\ntry:\n    while count < 1000:\n"
        "        if os.fork() == 0: time.sleep(600)\n        count += 1\n"
        "except OSError: print(count)"
    )
    with sandbox.open(RATIONS) as first, sandbox.open(RATIONS) as second:
        counts = [int(run_in(box, fill).texts[0]) for box in (first, second)]
    assert all(RATIONS.processes // 2 < count < RATIONS.processes for count in counts)


def test_memory_is_counted_over_all_processes():
    grow = (
        "import os, time\nfor _ in range(6):\n    if os.fork() == 0:\n"
        "        hoard = os.urandom(1 << 20) * 300; time.sleep(600)\ntime.sleep(60)"
    )
    done = run(grow, "print('still')")
    assert done.stopped == "memory"
    assert done.died
    assert "still" not in done.texts[1]


def test_memory_that_copies_share_is_counted_once():
    share = (
        "import os, time\nhoard = os.urandom(1 << 20) * 300\n"
        "for _ in range(6):\n    if os.fork() == 0:\n        time.sleep(600)\ntime.sleep(0.5)"
    )
    done = run(share, "print('still')")
    assert (done.stopped, done.texts[1]) == ("", "still\n")


def test_time_is_limited_for_the_whole_box():
    short = dataclasses.replace(RATIONS, wall_seconds=1)
    done = run("import time; time.sleep(60)", limits=short)
    assert (done.stopped, done.died) == ("time", True)


def test_an_interrupted_cell_leaves_the_notebook_usable():
    done = run("x = 1", "while True: pass", "print('x', x)", seconds=1)
    assert done.texts[2] == "x 1\n"


def test_a_notebook_that_used_up_its_files_can_still_speak():
    greedy = "import os\ntry:\n    while True: os.dup(0)\nexcept OSError: pass"
    assert run(greedy, "print('still')").texts == ["", "still\n"]


def test_closing_ends_everything_at_once():
    running = descendants(os.getpid())
    with sandbox.open(RATIONS) as box:
        assert run_in(
            box, "import subprocess\nfor _ in range(9): subprocess.Popen(['sleep', '600'])"
        )
        started = descendants(os.getpid()) - running
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
    started = descendants(os.getpid()) - running - {grader.pid}
    assert len(started) > 3
    grader.kill()
    grader.communicate()
    assert not outliving(started)
    os.utime(folder, (0, 0))
    ForkServer().close()
    assert not folder.exists(), "the next grader clears up"


ORDINARY = """
import sys
sys.path[:0] = {paths!r}
import hostile, test_sandbox
cells = [cell for cell in hostile.cells() if cell.name in {names!r}]
print(*test_sandbox.noted("import os; print(os.getuid())", *(cell.source for cell in cells)))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="all the other tests run as an ordinary user")
def test_an_ordinary_user_has_the_same_sandbox():
    names = {
        "course_walk",
        "host_writes",
        "network",
        "proc_walk",
        "setuid",
        "ptrace",
        "devices",
        "hidden_memory",
    }
    script = ORDINARY.format(paths=PATHS, names=names).encode()
    command = as_ordinary_user(sys.executable, "-B", "-")
    done = subprocess.run(command, input=script, capture_output=True, cwd="/")
    assert b"'65534\\n'" in done.stdout, done.stderr.decode()
    assert b"REACHED" not in done.stdout
    assert b"died=False" in done.stdout
    assert b"'process_vm_readv (1 time)', 'ptrace (6 times)'" in done.stdout


def noted(*sources):
    """What came of the cells, and what their box says that it refused."""
    with sandbox.open(RATIONS) as box:
        done = run_in(box, *sources)
    return done, box.refused


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


SECOND_FILTER = """
import ctypes, socket, sys
sys.path[0] = sys.argv[1]
import seccomp
libc = ctypes.CDLL(None, use_errno=True)
no_new_privileges = 38
assert libc.prctl(no_new_privileges, 1, 0, 0, 0) == 0
first, second = seccomp.install(libc), seccomp.install(libc)
try:
    socket.socket(socket.AF_INET)
except OSError as error:
    print(first is None, second is None, error.errno)
"""


GONE = """
import ctypes, fcntl, os, select, signal, socket, sys
sys.path[0] = sys.argv[1]
import seccomp
libc = ctypes.CDLL(None, use_errno=True)
no_new_privileges = 38
def caller():
    ours, theirs = socket.socketpair()
    if (child := os.fork()) == 0:
        assert libc.prctl(no_new_privileges, 1, 0, 0, 0) == 0
        socket.send_fds(theirs, [b"x"], [seccomp.install(libc)])
        socket.socket(socket.AF_INET)
    listener = socket.recv_fds(ours, 1, 1)[1][0]
    select.select([listener], [], [])
    return child, listener
def end():
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
child, listener = caller()
end()
print(seccomp.refuse_next(listener))
def ioctl(descriptor, request, data, real=fcntl.ioctl):
    if request == seccomp.SEND:
        end()
    real(descriptor, request, data)
fcntl.ioctl = ioctl
child, listener = caller()
print(seccomp.refuse_next(listener))
"""


def with_filter(script):
    command = [sys.executable, "-c", script, str(ROOT / "grading/sandbox/inside")]
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)


def test_who_has_ended_while_it_waited_is_not_waited_for():
    done = with_filter(GONE)
    assert done.stdout == "None\nsocket: internet\n", done.stderr


def test_where_there_is_a_listener_already_calls_are_refused_in_silence():
    done = with_filter(SECOND_FILTER)
    assert done.stdout == f"False True {errno.EOPNOTSUPP}\n", done.stderr


PLACED = """
import sys
sys.path[:0] = {paths!r}
from pathlib import Path
import test_sandbox
assert sys.prefix == {prefix!r}, sys.prefix
Path(sys.prefix).with_name("SECRET").touch()
look = '''
import os, subprocess, sys
print(sorted(os.listdir(os.path.dirname(sys.prefix))), sorted(os.listdir(sys.prefix)))
subprocess.run([sys.executable, "-c", "import numpy; print('numpy', file=open('done', 'w'))"])
print(open("done").read())
import numpy
for folder in (sys.prefix + "/bin", sys.prefix + "/lib", os.path.dirname(numpy.__file__)):
    try:
        open(folder + "/new", "w")
        print("REACHED", folder)
    except OSError:
        pass
'''
print(test_sandbox.run(look))
"""


@pytest.mark.parametrize("top", ["/tmp", "/home/learner", "/dev/shm", "/run"])
def test_python_may_lie_where_the_sandbox_has_folders_of_its_own(top):
    prefix = f"{top}/clone/python"
    paths = list(dict.fromkeys(map(Path, (sys.base_prefix, sys.prefix, ROOT))))
    words = ["bwrap", "--dev-bind", "/", "/", "--setenv", "HOME", "/nowhere"]
    hidden = top.removesuffix("/learner")
    words += ["--tmpfs", hidden]
    for path in paths:
        if path.is_relative_to(hidden):
            words += ["--ro-bind", str(path), str(path)]
    words += ["--ro-bind", sys.prefix, prefix, "--", f"{prefix}/bin/python3", "-B", "-"]
    script = PLACED.format(paths=PATHS, prefix=prefix).encode()
    done = subprocess.run(words, input=script, capture_output=True, cwd="/")
    assert b"numpy" in done.stdout, done.stderr.decode()
    assert b"['python'] ['bin', 'lib', " in done.stdout
    assert b"SECRET" not in done.stdout
    assert b"REACHED" not in done.stdout


def test_without_bubblewrap_one_line_says_what_to_do(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(sandbox.Refused, match=r"apt install bubblewrap.*--unsafe") as refused:
        sandbox.require()
    assert "\n" not in str(refused.value)
    assert isinstance(refused.value, SystemExit), "no except Exception may swallow it"


def test_where_bubblewrap_refuses_its_own_words_are_shown(monkeypatch, tmp_path):
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'setting up uid map: Permission denied' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(fork_servers, "_current", None)
    with pytest.raises(sandbox.Refused, match=r"uid map: Permission denied.*--unsafe"):
        sandbox.require()


def test_the_risk_is_accepted_by_name_only(monkeypatch):
    monkeypatch.setenv("GRADING_UNSAFE", "1")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    sandbox.require()
    with sandbox.open() as box:
        assert isinstance(box, sandbox.Unsafe)
        uid, pid = map(
            int, run_in(box, "import os; print(os.getuid(), os.getpid())").texts[0].split()
        )
        assert Path("/proc", str(pid)).exists()
    assert uid == os.getuid()
    assert not Path("/proc", str(pid)).exists()
