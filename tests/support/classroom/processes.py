"""Finds and awaits processes that tests started; runs commands as another user."""

import contextlib
import ctypes
import os
import select
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from repository import ROOT

PR_SET_CHILD_SUBREAPER = 36
SECONDS = 30  # a process that is still running after this is considered stuck


def parents() -> dict[int, int]:
    """Return process → parent, for all processes in /proc."""
    found = {}
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            with contextlib.suppress(OSError):  # it has just ended
                stat = (process / "stat").read_text()
                found[int(process.name)] = int(stat.rpartition(")")[2].split()[1])
    return found


def descendants(
    process: int, table: Mapping[int, int] | None = None, but: Collection[int] = ()
) -> set[int]:
    """Return a process's descendants, except those in `but` and their descendants."""
    table = parents() if table is None else table
    found: set[int] = set()
    new = {process}
    while new:
        new = {pid for pid, parent in table.items() if parent in new and pid not in but}
        found |= new
    return found


def words(process: int) -> list[str]:
    """Return a process's command line, or [] if it has ended."""
    try:
        return Path(f"/proc/{process}/cmdline").read_text().split("\0")
    except OSError:
        return []


def since(before: Collection[int]) -> set[int]:
    """Return this process's descendants that are not in `before`.

    Processes of a browser that another test left open don't count: it starts them at any time.
    """
    browsers = {process for process in before if "playwright" in " ".join(words(process))}
    return descendants(os.getpid(), but=browsers) - set(before)


@contextlib.contextmanager
def adopting() -> Iterator[set[int]]:
    """Adopt orphans while the block runs, so that `since` finds them among the descendants.

    Yields the descendants that exist already.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")
    try:
        yield descendants(os.getpid())
    finally:
        libc.prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def left(before: set[int], seconds: float = SECONDS) -> dict[int, list[str]]:
    """Wait for all new descendants to end, and return the first that doesn't, with its command."""
    while new := since(before):
        for process in new:
            if not ended(process, seconds):
                return {process: words(process)}
            with contextlib.suppress(ChildProcessError):
                os.waitpid(process, os.WNOHANG)
    return {}


def ended(process: int, seconds: float = SECONDS) -> bool:
    """Wait for a process to end, and return whether it did in time."""
    try:
        handle = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], seconds)[0])
    finally:
        os.close(handle)


def outliving(processes):
    """Wait for processes, which may outlast their files briefly; return those still running."""
    found = set()
    for process in processes:
        try:
            handle = os.pidfd_open(process)
        except ProcessLookupError:
            continue
        if not select.select([handle], [], [], SECONDS)[0]:
            found.add(process)
        os.close(handle)
    return found


def as_ordinary_user(*command):
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
