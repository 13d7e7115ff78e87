"""A sandbox for one notebook: bubblewrap builds the walls, and a warm Python steps inside.

    with Server() as server, server.box() as box:
        box.send("run", "print(1)")
        box.receive(30)  # ["done", [outputs]]

Starting Python and importing numpy, matplotlib and IPython takes a second. So one process has done
that before (`inside.py`), and is forked for each notebook; the fork joins the namespaces of a fresh
bubblewrap. When bubblewrap is killed, Linux kills everything in there.
"""

import functools
import itertools
import json
import os
import random
import resource
import select
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import matplotlib

import roofkit
import rooflib
from grading import inside
from grading.files import Unable

PACKAGES = [Path(one.__path__[0]) for one in (rooflib, roofkit)]
SCRATCH_BYTES = 64 << 20  # of each folder in which a notebook may write
LINE_BYTES = 4_000_000  # of one message
START_SECONDS = 300  # for a start, which takes milliseconds where nothing else runs
# As root, each box has a user of its own, above the host's: one of many, since Linux counts the
# processes of a user in all boxes, also in those of another course that is graded at this moment.
FIRST_USER, USERS = 0x7A000000, 1 << 24
ENVIRONMENT = {
    "HOME": "/home/learner",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
}
# Not all of /usr: nbgrader's exchange is in /usr/local/share, and in others what a machine's owner
# has put there.
USR = (
    *("bin", "sbin", "include", "lib", "lib32", "lib64", "libexec", "share"),
    *("local/bin", "local/lib", "local/share/fonts"),
)
# The first process of a box: it buries others' children, and stays until bubblewrap is killed.
FIRST_PROCESS = ("sh", "-c", 'trap "" CHLD; echo ready; exec cat')
MISSING = (
    "bubblewrap is missing, so nothing is graded: sudo apt install bubblewrap. Outside Linux, use "
    "the container on the page for instructors"
)


class Ended(Exception):
    """The other end gives no more answers.

    The message says why: it is gone ("ended"), was ended since it took too much memory ("memory"),
    is silent for too long ("late"), or sends too much ("large").
    """


class Lines:
    """A socket that carries lines of JSON. What arrives may be forged."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection, self.rest = connection, b""

    def send(self, *message: object, files: Sequence[int] = ()) -> None:
        """Send a message, and descriptors with it."""
        line = json.dumps(message).encode() + b"\n"
        self.connection.settimeout(10)
        try:
            sent = socket.send_fds(self.connection, [line], files)
            self.connection.sendall(line[sent:])
        except OSError:
            raise Ended("ended") from None

    def receive(self, seconds: float) -> list[Any]:
        """Return the next message."""
        end, parts, size = time.monotonic() + seconds, [self.rest], len(self.rest)
        while b"\n" not in parts[-1]:
            self.connection.settimeout(max(end - time.monotonic(), 0.001))
            try:
                block = self.connection.recv(1 << 18)
            except TimeoutError:
                raise Ended("late") from None
            except OSError:
                block = b""
            size += len(block)
            if not block or size > LINE_BYTES:
                raise Ended("large" if block else "ended")
            parts.append(block)
        line, _, self.rest = b"".join(parts).partition(b"\n")
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            raise Ended("ended") from None
        if not (isinstance(message, list) and message) or message[0] in ("ended", "memory"):
            raise Ended("memory" if message == ["memory"] else "ended")
        return message


class Server:
    """The warm Python process, `inside.py`; its boxes may be used by several threads."""

    def __init__(self) -> None:
        self.numbers: Iterator[int] = itertools.count(random.randrange(USERS))

    def __enter__(self) -> Self:
        if sys.platform != "linux" or not shutil.which("bwrap"):
            raise Unable(MISSING)
        # What all boxes of one user have on the way is compared with the limit of who sends.
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        paths = os.pathsep.join(str(package.parent) for package in PACKAGES)
        # Not in /tmp: outside of a sandbox another user may have put settings for figures there.
        own = {
            "PATH": f"{sys.prefix}/bin:/usr/bin:/bin",
            "MPLCONFIGDIR": matplotlib.get_cachedir(),  # fonts are known there
            "MATPLOTLIBRC": str(Path(matplotlib.get_data_path(), "matplotlibrc")),
        }
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-B", inside.__file__, str(theirs.fileno()), paths],
                pass_fds=[theirs.fileno()],
                env=ENVIRONMENT | own,
                process_group=0,  # Ctrl-C is for the grader, which then ends this one
                stdin=subprocess.DEVNULL,
            )
        if self.control.recv(16) != b"ready":
            raise Unable("the process that runs notebooks did not start")
        return self

    def __exit__(self, *_: object) -> None:
        self.control.close()  # the process ends when it hears nothing more
        self.process.wait()

    def box(self) -> "Box":
        """Return a new sandbox; raise Unable if none is possible."""
        return Box(self)


@functools.cache
def own_server() -> Server:
    """Return this process's server, which ends with it, when its socket is closed."""
    return Server().__enter__()


class Box(Lines):
    """One sandbox. Its processes are gone when the `with` ends."""

    def __init__(self, server: Server) -> None:
        ours, theirs = socket.socketpair()
        super().__init__(ours)
        with theirs:
            self.bwrap = _started()
            children = f"/proc/{self.bwrap.pid}/task/{self.bwrap.pid}/children"
            init = int(Path(children).read_text().split()[0])
            self.gone = os.pidfd_open(init)
            user = FIRST_USER + next(server.numbers) % USERS if os.geteuid() == 0 else 0
            request = json.dumps([init, user]).encode()
            socket.send_fds(server.control, [request], [theirs.fileno()])
        try:
            said = self.receive(START_SECONDS)
        except Ended as ended:
            said = ["failed", str(ended)]
        if said != ["ready"]:  # before this, nothing of a learner has run
            self.__exit__()
            raise Unable(f"a notebook's process could not enter its sandbox: {said[-1]}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()
        with self.bwrap:  # at its end the streams are closed
            self.bwrap.kill()
        select.select([self.gone], [], [], 60)
        os.close(self.gone)


def _started() -> "subprocess.Popen[bytes]":
    """Start bubblewrap, and return when all walls stand."""
    pipe = subprocess.PIPE
    # A group of its own: Ctrl-C must not end a notebook whose result would then count.
    # The grader's own environment could be read out of it where libseccomp is missing.
    own = {"PATH": os.environ.get("PATH", os.defpath)}
    bwrap = subprocess.Popen(
        command(), stdin=pipe, stdout=pipe, stderr=pipe, env=own, process_group=0
    )
    if bwrap.stdout and bwrap.stdout.readline() == b"ready\n":
        return bwrap
    said = bwrap.communicate()[1].decode(errors="replace").splitlines() or ["it said nothing"]
    raise Unable(
        f"bubblewrap could not make a sandbox ({said[-1]}), so nothing is graded. Ubuntu: sudo "
        "sysctl kernel.apparmor_restrict_unprivileged_userns=0; a container needs the options on "
        "the page for instructors"
    )


def command() -> list[str]:
    """Return bubblewrap's command line: all that a notebook sees of this machine."""
    words = ["bwrap", "--die-with-parent", "--new-session", "--as-pid-1", "--cap-drop", "ALL"]
    # As root no user namespace is needed: the box's user is another one, without rights.
    unshared = ("pid", "net", "ipc", "uts", "cgroup-try") if os.geteuid() == 0 else ("all",)
    words += [f"--unshare-{one}" for one in unshared]
    words += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/dev/pts", "--remount-ro", "/dev/pts"]
    words += ["--dev-bind", "/dev/full", "/dev/zero"]  # which can't be mapped as shared memory
    for folder in inside.SCRATCH:
        words += ["--perms", "1777", "--size", str(SCRATCH_BYTES), "--tmpfs", folder]
    shown = [f"/usr/{name}" for name in USR]
    shown += ["/etc/fonts", "/etc/localtime", "/etc/ld.so.cache", *map(str, PACKAGES)]
    for prefix in (sys.prefix, sys.base_prefix):
        shown += [f"{prefix}/{name}" for name in ("bin", "lib", "pyvenv.cfg")]
    for path in shown:
        for parent in reversed(Path(path).parents[:-1]):  # else private, if root makes them
            words += ["--perms", "0755", "--dir", str(parent)]
        words += ["--ro-bind-try", path, path]
    for link in ("/bin", "/lib", "/lib64"):
        is_link = Path(link).is_symlink()
        words += ["--symlink", f"usr{link}", link] if is_link else ["--ro-bind-try", link, link]
    words += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/home/learner", "--"]
    return [*words, *FIRST_PROCESS]
