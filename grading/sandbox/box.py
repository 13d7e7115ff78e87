"""A sandbox for one notebook, from its start until all its processes have ended."""

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, Self

from .cell_channel import Channel
from .cgroups import Group
from .fork_server import UNSAFE, Refused, fork_server, readable, refuse_what_cannot_work
from .inside.request import Request, SandboxLimits

LIMITS = SandboxLimits()
START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from inside import cells; cells.main()"
START_SECONDS = 300  # timeout for a start, which takes milliseconds on an idle machine
SETTLE_SECONDS = 5  # timeout for the notebook process's exit code, once its socket has closed
FIRST_USER = 0x7A000000  # far above the ids of a host's users
MAX_PROCESS_IDS = 1 << 22  # Linux's own maximum
BOXES_PER_PROCESS = 16  # user ids per grader process; after that they repeat


def accepted() -> bool:
    """Return whether GRADING_UNSAFE accepts that submissions run without a sandbox."""
    return os.environ.get(UNSAFE, "") not in ("", "0")


def open(limits: SandboxLimits = LIMITS, unsafe: bool | None = None) -> "Box | UnsafeBox":
    """Return a new sandbox.

    unsafe: whether it has no isolation (default: whether GRADING_UNSAFE is set).
    """
    return UnsafeBox(limits) if (accepted() if unsafe is None else unsafe) else Box(limits)


def require(**_: object) -> None:
    """Raise Refused if a sandbox is needed and can't be made.

    This ignores the arguments that nbgrader passes to hooks.
    """
    if not accepted():
        refuse_what_cannot_work()
        with Box(LIMITS):
            pass


class Box:
    """A sandbox whose processes have all ended when the `with` ends.

    folder: host folder for sockets, mounted read-only in the sandbox at `inside`.
    stopped: "memory" or "time" if the sandbox was stopped for exceeding that limit, else "".
    refused: the refused system calls and paths, complete once the box is closed.
    """

    inside = "/run/box"

    def __init__(self, limits: SandboxLimits) -> None:
        server = fork_server()
        number = next(server.numbers)
        # Include this process's id: other processes may share the server.
        name = f"{os.getpid()}-{number}"
        self.folder = server.folder / name
        self.folder.mkdir(mode=0o755)
        self.stopped = ""
        self.killed = 0
        self.exit: int | None = None
        self.noted: dict[str, int] = {}
        self.life, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.life.setblocking(False)
        self.cells, others = socket.socketpair()
        self.group = Group(server.groups, name, limits)
        groups = self.group.open()
        request = Request(
            box=name,
            user=_user(number) if os.geteuid() == 0 else 0,
            readable=readable(),
            limits=limits,
            groups=len(groups),
        )
        server.send(request, [theirs.fileno(), others.fileno(), *groups])
        for one in (theirs, others):
            one.close()
        for descriptor in groups:
            os.close(descriptor)

    def __enter__(self) -> Self:
        if not self._hear(START_SECONDS):
            self.close()
            raise Refused("the sandbox did not start")
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def channel(self) -> Channel:
        """Return the connection to the process that runs the cells."""
        return Channel(self.cells, lambda: self.poll() is not None, self.life)

    def poll(self) -> int | None:
        """Return the exit code of the process that runs the cells, None while it runs."""
        while self._hear(0):
            pass
        return self.exit

    def killed_for_memory(self) -> int:
        """Return how many times processes were killed because all held too much memory."""
        self.poll()
        return self.killed + self.group.killed()

    def settle(self) -> None:
        """Wait for the notebook's exit code, which arrives after its socket has closed."""
        while self.exit is None and self._hear(SETTLE_SECONDS):
            pass
        self.poll()

    def signal(self, number: int) -> None:
        """Send this signal to the process that runs the cells."""
        with contextlib.suppress(OSError):
            self.life.send(str(int(number)).encode())

    def _hear(self, seconds: float) -> bool:
        """Handle the next message from init; return False if none arrives in time."""
        if self.life.fileno() < 0:  # this box is closed
            self.exit = -int(signal.SIGKILL) if self.exit is None else self.exit
            return False
        if not select.select([self.life], [], [], seconds)[0]:
            return False
        try:
            text = self.life.recv(4096)
        except OSError:
            text = b""
        if not text:
            if self.exit is None:
                self.exit = -int(signal.SIGKILL)
            return False
        message = json.loads(text)
        if "refused" in message:
            self.close()
            raise Refused(f"the sandbox could not be made: {message['refused']}")
        self._take(message)
        return True

    def _take(self, message: dict[str, Any]) -> None:
        self.exit = message.get("exit", self.exit)
        if "stopped" in message:
            self.stopped, self.exit = message["stopped"], -int(signal.SIGKILL)
        self.killed += "killed" in message
        if "noted" in message:
            self.noted[message["noted"]] = message["times"]

    @property
    def refused(self) -> tuple[str, ...]:
        """Return report lines on refused system calls and on paths opened outside the box.

        The lines are sorted. The kernel reports the calls (since Linux 5.0), and the first 5000 are
        counted, so a call that is not listed was not made. The notebook's own process reports the
        paths, so it can omit or invent some.
        """
        return tuple(sorted(_line(*one) for one in self.noted.items()))

    def close(self) -> None:
        """Kill all processes of the sandbox, and wait until they have ended."""
        if self.life.fileno() < 0:
            return
        with contextlib.suppress(OSError):
            self.life.shutdown(socket.SHUT_WR)
        self.life.setblocking(True)
        with contextlib.suppress(OSError):
            while text := self.life.recv(4096):
                self._take(json.loads(text))
        self.life.close()
        self.cells.close()
        self.group.remove()
        shutil.rmtree(self.folder, ignore_errors=True)


def _line(name: str, times: int) -> str:
    """Return the report line of a refusal, without terminal control characters."""
    name = "".join(letter if letter.isprintable() else "\ufffd" for letter in name)
    if name.startswith("open: "):
        return name
    return f"{name} ({times} time{'s' if times > 1 else ''})"


def _user(number: int) -> int:
    """Return a user id for this box alone.

    Linux's per-user limits then apply per box.
    """
    lines = Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines()
    spans = [tuple(map(int, line.split())) for line in lines]
    own = FIRST_USER + os.getpid() % MAX_PROCESS_IDS * BOXES_PER_PROCESS
    own += number % BOXES_PER_PROCESS
    if any(first <= own < first + count for first, _, count in spans):
        return own
    first, _, count = spans[-1]  # in a container that maps few ids: use one of the last
    return first + count - 2 - own % min(1000, count // 2)


class UnsafeBox:
    """A box without isolation: cells run in an empty folder, with all privileges.

    Only the wall-clock limit is enforced.
    """

    refused: tuple[str, ...] = ()

    def __init__(self, limits: SandboxLimits = LIMITS) -> None:
        self.stopped = ""
        self._folders = [tempfile.TemporaryDirectory(prefix=name) for name in ("ask-", "run-")]
        self.folder = Path(self._folders[0].name)
        self.inside = str(self.folder)
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: socket.socket | None = None
        self._clock = threading.Timer(limits.wall_seconds, self._stop)
        self._clock.daemon = True
        self._clock.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def channel(self) -> Channel:
        """Start the process that runs the cells; return a connection to it.

        Call this once.
        """
        self._connection, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", START, str(Path(__file__).parent), str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=self._folders[1].name,
                start_new_session=True,
            )
        if self.stopped:  # its wall-clock limit passed before it started
            self.signal(signal.SIGKILL)
        return Channel(self._connection, lambda: self.poll() is not None)

    def poll(self) -> int | None:
        """Return the exit code of the process that runs the cells, None while it runs."""
        return self._process.poll() if self._process else None

    def killed_for_memory(self) -> int:
        """Return 0: memory is not limited."""
        return 0

    def settle(self) -> None:
        """Do nothing: there is no init process to wait for."""

    def signal(self, number: int) -> None:
        """Send this signal to the process that runs the cells."""
        if self._process:
            self._process.send_signal(number)

    def _stop(self) -> None:
        self.stopped = "time"
        self.signal(signal.SIGKILL)

    def close(self) -> None:
        """Kill the process.

        Processes that it started may survive, which is part of the risk.
        """
        self._clock.cancel()
        if self._process and self._connection:
            self._connection.close()
            self._process.kill()
            self._process.wait()
        for folder in self._folders:
            folder.cleanup()
