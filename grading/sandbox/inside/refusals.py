"""Counts of refused system calls and paths, which init reports to the grader.

Refused system calls are reported by the kernel and cannot be hidden. Opened paths are reported by
the learner's own process, which can withhold or invent them: they are hints, not evidence.
"""

import os
import select
import socket
import sys
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from . import seccomp
from .isolate import PROC_COPIES

OPENED = "open: "
ADDRESS = "\0opened"  # an abstract socket, in the sandbox's own network namespace
MAX_PATHS, PATH_CHARACTERS = 20, 200
MAX_MESSAGES = 500
MAX_CALLS = 5_000
# First folder of a path → how it is named in a report.
PLACES = {name.encode(): f"in /{name}" for name in ("etc", "proc", "root", "sys", "usr", "var")}
PLACES |= {b"home": "in a home", b"Users": "in a home"}
BATCH = 50  # most messages to handle at a time, so that init's other tasks are not delayed


class Refusals:
    """The names and counts of refusals, in the init process.

    listener: descriptor of the filter's listener, or None. tell: sends `noted=` and `times=` to
    the grader.
    """

    def __init__(self, listener: int | None, tell: Callable[..., None]) -> None:
        self.listener = listener
        self.tell = tell
        self.counts: dict[str, int] = {}
        self.paths: set[bytes] = set()
        self.calls = self.messages = 0
        self.opened: socket.socket | None = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.opened.bind(ADDRESS)
        self.opened.setblocking(False)

    def sources(self) -> list[int | socket.socket]:
        """Return the descriptors and sockets to wait on."""
        return [one for one in (self.listener, self.opened) if one is not None]

    def take(self, ready: Collection[object]) -> None:
        """Handle a batch of messages from the sources that are ready."""
        if self.listener is not None and self.listener in ready:
            self._take_calls(self.listener)
        if self.opened is not None and self.opened in ready:
            self._take_paths(self.opened)

    def _take_calls(self, listener: int) -> None:
        for _ in range(BATCH):
            self._count(seccomp.refuse_next(listener))
            self.calls += 1
            if self.calls == MAX_CALLS:  # without a listener, the kernel refuses calls with ENOSYS
                os.close(listener)
                self.listener = None
                return
            if not select.select([listener], [], [], 0)[0]:
                return

    def _take_paths(self, opened: socket.socket) -> None:
        for _ in range(BATCH):
            try:
                path = opened.recv(4 * PATH_CHARACTERS)
            except OSError:
                return
            self.messages += 1
            if path and path not in self.paths:
                self.paths.add(path)
                self._count(OPENED + place(path))
            if len(self.paths) == MAX_PATHS or self.messages == MAX_MESSAGES:
                opened.close()  # later senders get an error
                self.opened = None
                return

    def _count(self, name: str | None) -> None:
        if name is None:
            return
        self.counts[name] = self.counts.get(name, 0) + 1
        if self.counts[name] == 1:
            self.tell(noted=name, times=1)  # report now, because init may be killed before `close`

    def drop(self) -> None:
        """Close this process's copies of the descriptors.

        The learner's process calls this.
        """
        if self.opened is not None:
            self.opened.close()
        if self.listener is not None:
            os.close(self.listener)

    def close(self) -> None:
        """Handle the remaining messages, and report the count of each repeated refusal."""
        self.take(select.select(self.sources(), [], [], 0)[0])
        for name, times in self.counts.items():
            if times > 1 and not name.startswith(OPENED):
                self.tell(noted=name, times=times)


def place(path: bytes) -> str:
    """Return the kind of location that a path leads to, in fixed words.

    The path itself is not reported: learners choose it, and could smuggle hidden test inputs out in
    it.
    """
    if b"gradebook" in path:
        return "a gradebook"
    first, *rest = path.lstrip(b"/").split(b"/")
    if not path.startswith(b"/"):
        return "outside of its folder" if b".." in (first, *rest) else "another file"
    return PLACES.get(first, "another folder")


def watch(readable: Sequence[str]) -> None:
    """Report to init each opened path outside the sandbox's folders and `readable`."""
    seen: set[str] = set()
    ours = (
        "/home/learner",
        "/tmp",
        "/dev",
        "/run/course",
        "/run/inside",
        "/run/modules",
        *readable,
    )
    ours += ("/proc/self", f"/proc/{os.getpid()}")
    ours += tuple(f"/proc/{one.name}" for one in Path(PROC_COPIES).iterdir())
    folders = tuple(f"{path}/" for path in ours)
    # Bind these functions here, so that a notebook's replacements for them never run.
    make, family = socket.SocketType, socket.AF_UNIX
    kind = int(socket.SOCK_DGRAM) | int(socket.SOCK_NONBLOCK)
    normal, here, text = os.path.normpath, os.getcwd, os.fsdecode

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in ("open", "sqlite3.connect") or len(seen) >= MAX_PATHS:
            return
        try:
            path = arguments[0]
            if isinstance(path, int):
                return
            path = text(path)
            full = normal(path if path.startswith("/") else f"{here()}/{path}")
            full = full.removeprefix("/") if full.startswith("//") else full
            if full in ours or full.startswith(folders) or path in seen or path == ":memory:":
                return
            if full.startswith("/proc/") and full.endswith("/schedstat"):
                return  # read by the probe, to measure how long a call waited for a core
            seen.add(path)
            sender = make(family, kind)  # one socket per path: a notebook may close any descriptor
            try:
                sender.sendto(path[:PATH_CHARACTERS].encode(errors="replace"), ADDRESS)
            finally:
                sender.close()
        except Exception:
            return  # the report is optional and must not affect the notebook

    sys.addaudithook(hook)
