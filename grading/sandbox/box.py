"""One sandbox: for one notebook, from its start until nothing of it is left."""

import contextlib
import json
import os
import secrets
import select
import shutil
import signal
import socket
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from .fork_server import UNSAFE, Refused, fork_server, readable, refuse_what_cannot_work

CHANNELS = ("shell", "iopub", "stdin", "control")
START_SECONDS = 30
FIRST_USER = 0x7A000000  # far from users that a host may have
PROCESSES = 1 << 22  # more than Linux numbers
MEGABYTE = 1 << 20


@dataclass(frozen=True)
class SandboxLimits:
    """What a sandbox may take. Bytes and seconds."""

    process_bytes: int = 3072 * MEGABYTE  # address space of each process
    memory_bytes: int = 2048 * MEGABYTE  # held by all of them together
    scratch_bytes: int = 64 * MEGABYTE  # each of /tmp, the home and /dev/shm
    file_bytes: int = 32 * MEGABYTE
    open_files: int = 256
    processes: int = 64  # threads count as processes
    cpu_seconds: int = 300  # of each process
    wall_seconds: float = 900


def accepted():
    """Whether somebody accepted by name that submissions run without a sandbox."""
    return os.environ.get(UNSAFE, "") not in ("", "0")


def open(limits=SandboxLimits(), unsafe=None):
    """A new box; one without isolation if the risk was accepted by name."""
    return Unsafe() if (accepted() if unsafe is None else unsafe) else Box(limits)


def require(**_):
    """Raise Refused, whose text is one line, if there can be no sandbox here and must be one."""
    if not accepted():
        refuse_what_cannot_work()
        with Box(SandboxLimits()):
            pass


class Box:
    """Processes of which nothing is left when the `with` ends.

    folder: a folder of the host for sockets, seen in the box as `inside`, read-only.
    stopped: "memory" or "time" if the box was stopped for taking too much of it, else "".
    refused: what the box was refused, complete when it is closed.
    """

    inside = "/run/box"

    def __init__(self, limits):
        server = fork_server()
        number = next(server.numbers)
        self.folder = server.folder / str(number)
        self.folder.mkdir(mode=0o755)
        self.key = secrets.token_hex(16)
        self.stopped = ""
        self.exit = None
        self.noted = {}
        self.life, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.life.setblocking(False)
        listeners = [listening(self.folder / f"kernel-{port}") for port in range(1, 5)]
        request = {
            "box": str(number),
            "user": _user(number) if os.geteuid() == 0 else 0,
            "key": self.key,
            "readable": readable(),
            "limits": asdict(limits),
        }
        server.send(request, [theirs.fileno(), *(one.fileno() for one in listeners)])
        for one in (theirs, *listeners):
            one.close()
        self.clean_up = contextlib.ExitStack()

    def on_close(self, function):
        """Call this function when the box is closed."""
        self.clean_up.callback(function)

    def __enter__(self):
        if not self._hear(START_SECONDS):
            self.close()
            raise Refused("the sandbox did not start")
        return self

    def __exit__(self, *exception):
        self.close()

    def kernel_manager(self):
        """The manager of the kernel that runs in the box."""
        from .kernel_connection import manager

        return manager(self)

    def poll(self):
        """Exit code of the kernel, None while it runs."""
        while self._hear(0):
            pass
        return self.exit

    def signal(self, number):
        with contextlib.suppress(OSError):
            self.life.send(str(int(number)).encode())

    def _hear(self, seconds):
        """Take in the next word from the box; False if there is none within this time."""
        if not select.select([self.life], [], [], seconds)[0]:
            return False
        try:
            word = self.life.recv(4096)
        except OSError:
            word = b""
        if not word:
            if self.exit is None:
                self.exit = -int(signal.SIGKILL)
            return False
        said = json.loads(word)
        if "refused" in said:
            self.close()
            raise Refused(f"the sandbox could not be made: {said['refused']}")
        self._take(said)
        return True

    def _take(self, said):
        self.exit = said.get("exit", self.exit)
        if "stopped" in said:
            self.stopped, self.exit = said["stopped"], -int(signal.SIGKILL)
        if "noted" in said:
            self.noted[said["noted"]] = said["times"]

    @property
    def refused(self):
        """Short lines for a report, sorted: refused system calls, and paths opened outside.

        The calls are facts, of which the first 5000 are counted. Where Linux tells of them (5.0),
        one that is missing was not tried. The paths are what the notebook's own process said,
        which can keep them back and make them up.
        """
        return tuple(sorted(_line(*one) for one in self.noted.items()))

    def close(self):
        """End every process of the box, and wait until it has."""
        if self.life.fileno() < 0:
            return
        self.clean_up.close()
        with contextlib.suppress(OSError):
            self.life.shutdown(socket.SHUT_WR)
        self.life.setblocking(True)
        with contextlib.suppress(OSError):
            while word := self.life.recv(4096):
                self._take(json.loads(word))
        self.life.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def _line(name, times):
    name = "".join(letter if letter.isprintable() else "\ufffd" for letter in name)
    if name.startswith("open: "):
        return name
    return f"{name} ({times} time{'s' if times > 1 else ''})"


def listening(path):
    """A listening socket at this path that every user may connect to who can see it."""
    one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    one.bind(str(path))
    path.chmod(0o666)
    one.listen(16)
    return one


def _user(number):
    """A user id for this box alone, so that what is counted per user is counted per box."""
    lines = Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines()
    spans = [tuple(map(int, line.split())) for line in lines]
    own = FIRST_USER + os.getpid() % PROCESSES * 16 + number % 16
    if any(first <= own < first + count for first, _, count in spans):
        return own
    first, _, count = spans[-1]  # in a container that knows few users, one of the last
    return first + count - 2 - own % min(1000, count // 2)


class Unsafe:
    """The same interface with nothing behind it: a stock kernel in an empty folder."""

    stopped = ""
    refused = ()

    def __init__(self):
        self._folders = [tempfile.TemporaryDirectory(prefix=name) for name in ("zmq-", "run-")]
        self.folder = Path(self._folders[0].name)
        self.inside = str(self.folder)
        self._managers = []

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def kernel_manager(self):
        from .kernel_connection import stock

        self._managers.append(stock(self.folder / "kernel", self._folders[1].name))
        return self._managers[-1]

    def poll(self):
        """Nothing to hear: the kernel's manager knows its process."""

    def close(self):
        """End the kernel. What it started lives on: that is a part of the risk."""
        for manager in self._managers:
            manager.end()
        for folder in self._folders:
            folder.cleanup()
