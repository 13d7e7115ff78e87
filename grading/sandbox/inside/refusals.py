"""What a sandbox refused: init notes it, and tells the grader.

Refused system calls come from the kernel and cannot be hidden. Opened paths come from the
learner's own process, which can keep them back and make them up: no more than its own word.
"""

import os
import select
import socket
import sys

import seccomp

ADDRESS = "\0opened"  # in the sandbox's own network namespace
MOST_PATHS, PATH_CHARACTERS = 20, 200
MOST_MESSAGES = 500
MOST_CALLS = 5_000
AT_ONCE = 50  # then init looks at its other duties


class Refusals:
    """The init's: names of what was refused, and how often."""

    def __init__(self, listener, tell):
        self.listener = listener
        self.tell = tell
        self.counts = {}
        self.paths = set()
        self.calls = self.messages = 0
        self.opened = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.opened.bind(ADDRESS)
        self.opened.setblocking(False)

    def sources(self):
        """What to wait for."""
        return [one for one in (self.listener, self.opened) if one is not None]

    def take(self, ready):
        """Take in some of what has come from those of the sources that are ready."""
        if self.listener in ready:
            self._calls()
        if self.opened in ready:
            self._paths()

    def _calls(self):
        for _ in range(AT_ONCE):
            self._count(seccomp.refuse_next(self.listener))
            self.calls += 1
            if self.calls == MOST_CALLS:  # from now on the kernel refuses them by itself
                os.close(self.listener)
                self.listener = None
                return
            if not select.select([self.listener], [], [], 0)[0]:
                return

    def _paths(self):
        for _ in range(AT_ONCE):
            try:
                path = self.opened.recv(4 * PATH_CHARACTERS)
            except OSError:
                return
            self.messages += 1
            if path and path not in self.paths:
                self.paths.add(path)
                self._count("open: " + path.decode(errors="replace")[:PATH_CHARACTERS])
            if len(self.paths) == MOST_PATHS or self.messages == MOST_MESSAGES:
                self.opened.close()  # later senders are told that nobody listens
                self.opened = None
                return

    def _count(self, name):
        if name is None:
            return
        self.counts[name] = self.counts.get(name, 0) + 1
        if self.counts[name] == 1:
            self.tell(noted=name, times=1)  # at once: init may not live to the end

    def drop(self):
        """In the learner's process, before it runs anything: leave all this to init."""
        self.opened.close()
        if self.listener is not None:
            os.close(self.listener)

    def close(self):
        """Take in the last, and tell how often where it was more than once."""
        self.take(select.select(self.sources(), [], [], 0)[0])
        for name, times in self.counts.items():
            if times > 1:
                self.tell(noted=name, times=times)


def watch(readable):
    """Tell init which paths this process opens that are neither its own nor readable."""
    seen = set()
    ours = ("/home/learner", "/tmp", "/dev", "/run/course", "/run/inside", *readable)
    ours += ("/proc/self", f"/proc/{os.getpid()}", "/proc/cpuinfo", "/proc/meminfo")
    folders = tuple(f"{path}/" for path in ours)
    # Held here: what a notebook puts in their place must not be run at every open.
    make, family, kind = socket.SocketType, socket.AF_UNIX, socket.SOCK_DGRAM
    kind |= socket.SOCK_NONBLOCK
    whole, here, text = os.path.normpath, os.getcwd, os.fsdecode

    def hook(event, arguments):
        if event not in ("open", "sqlite3.connect") or len(seen) >= MOST_PATHS:
            return
        try:
            path = arguments[0]
            if isinstance(path, int):
                return
            path = text(path)
            full = whole(path if path.startswith("/") else f"{here()}/{path}")
            full = full.removeprefix("/") if full.startswith("//") else full
            if full in ours or full.startswith(folders) or path in seen or path == ":memory:":
                return
            seen.add(path)
            one = make(family, kind)  # for each: a notebook may close files that it did not open
            try:
                one.sendto(path[:PATH_CHARACTERS].encode(errors="replace"), ADDRESS)
            finally:
                one.close()
        except Exception:
            return  # a note less; the notebook goes on as it would have

    sys.addaudithook(hook)
