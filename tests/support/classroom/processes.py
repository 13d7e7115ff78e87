"""Helpers to find and await processes of tests, and to run as another user."""

import contextlib
import ctypes
import os
import select
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from repository import ROOT

PR_SET_CHILD_SUBREAPER = 36
WAIT_SECONDS = 30  # a process that still runs after this is considered stuck


def parents() -> dict[int, int]:
    """Return process → parent, for all processes in /proc."""
    found = {}
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            with contextlib.suppress(OSError):  # the process has just ended
                stat = (process / "stat").read_text()
                found[int(process.name)] = int(stat.rpartition(")")[2].split()[1])
    return found


def descendants(
    process: int, table: Mapping[int, int] | None = None, excluded: Collection[int] = ()
) -> set[int]:
    """Return a process's descendants, without those in `excluded` and theirs."""
    table = parents() if table is None else table
    found: set[int] = set()
    new = {process}
    while new:
        new = {pid for pid, parent in table.items() if parent in new and pid not in excluded}
        found |= new
    return found


def words(process: int) -> list[str]:
    """Return a process's command line, or [] if it has ended."""
    try:
        return Path(f"/proc/{process}/cmdline").read_text().split("\0")
    except OSError:
        return []


def new_descendants(before: Collection[int]) -> set[int]:
    """Return this process's descendants that are not in `before`.

    This ignores processes of a browser that another test left open, which starts them at any time.
    """
    browsers = {process for process in before if "playwright" in " ".join(words(process))}
    return descendants(os.getpid(), excluded=browsers) - set(before)


@contextlib.contextmanager
def adopt_orphans() -> Iterator[set[int]]:
    """Adopt orphans while the block runs, so that they count as descendants.

    Yields the descendants that exist already.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")
    try:
        yield descendants(os.getpid())
    finally:
        libc.prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def first_survivor(before: set[int], seconds: float = WAIT_SECONDS) -> dict[int, list[str]]:
    """Wait for new descendants to end; return the first that doesn't.

    The result maps its process id to its command; it is empty if all end.
    """
    while new := new_descendants(before):
        for process in new:
            if not ended(process, seconds):
                return {process: words(process)}
            with contextlib.suppress(ChildProcessError):
                os.waitpid(process, os.WNOHANG)
    return {}


def ended(process: int, seconds: float = WAIT_SECONDS) -> bool:
    """Wait for a process to end, and return whether it did in time."""
    try:
        handle = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], seconds)[0])
    finally:
        os.close(handle)


def survivors(processes):
    """Wait for processes to end, and return those still running after a timeout."""
    found = set()
    for process in processes:
        try:
            handle = os.pidfd_open(process)
        except ProcessLookupError:
            continue
        if not select.select([handle], [], [], WAIT_SECONDS)[0]:
            found.add(process)
        os.close(handle)
    return found


def as_unprivileged_user(*command):
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
    return [*words, "--", *drop, *command]
