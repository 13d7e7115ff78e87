"""Processes that a command leaves behind, forks, and commands run as an ordinary user."""

import contextlib
import ctypes
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
from repository import ROOT

PR_SET_CHILD_SUBREAPER = 36
WAIT_SECONDS = 30  # a process that still runs after this is considered stuck


@contextlib.contextmanager
def nothing_left() -> Iterator[None]:
    """Fail if processes that were started in the block go on after it, orphans included."""
    libc, own = ctypes.CDLL(None, use_errno=True), psutil.Process()
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    before = own.children(recursive=True)
    try:
        yield
        started = [one for one in own.children(recursive=True) if one not in before]
        _, left = psutil.wait_procs(started, WAIT_SECONDS)
        assert not left, [one.cmdline() for one in left]
    finally:
        libc.prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def in_fork(task: Callable[[], Any]) -> Any:
    """Return what `task()` returns, from a forked process; raise RuntimeError with its error."""
    readable, writable = os.pipe()
    child = os.fork()
    if not child:
        with os.fdopen(writable, "wb") as pipe:
            try:
                content = pickle.dumps((task(), ""))
            except BaseException as error:
                content = pickle.dumps((None, f"{type(error).__name__}: {error}"))
            pipe.write(content)
        os._exit(0)
    os.close(writable)
    with os.fdopen(readable, "rb") as pipe:
        found, error = pickle.loads(pipe.read() or pickle.dumps((None, "the process ended")))
    os.waitpid(child, 0)
    if error:
        raise RuntimeError(error)
    return found


def as_unprivileged_user(*command: str | Path) -> list[str]:
    """Return a command line that runs the command as an unprivileged user.

    That user can read this Python and this repository.
    """
    words = ["bwrap", "--dev-bind", "/", "/", "--cap-drop", "ALL", "--setenv", "HOME", "/nowhere"]
    words += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    for path in dict.fromkeys(map(Path, (sys.base_prefix, sys.prefix, ROOT))):
        parents = list(reversed(path.parents))
        private = next((parent for parent in parents if not parent.stat().st_mode & 0o001), None)
        if private:
            words += ["--perms", "0755", "--tmpfs", str(private)]
            for parent in parents[parents.index(private) + 1 :]:
                words += ["--perms", "0755", "--dir", str(parent)]
            words += ["--ro-bind", str(path), str(path)]
    drop = ["setpriv", "--reuid", "61234", "--regid", "61234", "--clear-groups"]
    return [*words, "--", *drop, *map(str, command)]
