"""A cgroup for each sandbox, where this process may make one: the kernel's own count of memory.

Init counts what the processes of a sandbox hold, a few times a second, and knows of no memory that
the kernel takes on their behalf. A cgroup counts that too, and shares the cores among sandboxes
rather than among processes. There is one where a system manager has delegated a part of its tree
to this process, as systemd does in a user's session, or where GRADING_CGROUP names a folder: one of
version 2 whose cgroup.subtree_control has memory and pids, or several of version 1, separated by
colons.
"""

import contextlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from .inside.request import MEGABYTE, SandboxLimits

NAMED = "GRADING_CGROUP"
PREFIX = "notebook-"
PROC = Path("/proc")
NEEDED = {"memory", "pids"}
DELEGATED = ("user.delegate", "trusted.delegate")  # how systemd marks what it leaves to others
PROCESSES = "cgroup.procs"
# Above init's own limit, so that a box is stopped by what says so: the scratch folders, and what
# the kernel needs.
SLACK_BYTES = 256 * MEGABYTE
# File that counts kills for want of memory, in version 2 and 1.
EVENTS = ("memory.events", "memory.oom_control")


class Group:
    """The cgroup of one sandbox: one folder, or one for each controller of version 1."""

    def __init__(self, parents: Sequence[Path], name: str, limits: SandboxLimits) -> None:
        self.folders: list[Path] = []
        for parent in parents:
            with contextlib.suppress(OSError):
                folder = parent / f"{PREFIX}{name}"
                folder.mkdir()
                self.folders.append(folder)
                _limit(folder, limits)

    def open(self) -> list[int]:
        """Descriptors of the files by which a process joins; to be closed by who asks."""
        found = []
        for folder in self.folders:
            with contextlib.suppress(OSError):
                found.append(os.open(folder / PROCESSES, os.O_WRONLY))
        return found

    def ran_out_of_memory(self) -> bool:
        """Whether the kernel has ended a process of it for want of memory."""
        for folder in self.folders:
            for name in EVENTS:
                with contextlib.suppress(OSError, ValueError, IndexError):
                    lines = (folder / name).read_text(encoding="ascii").splitlines()
                    words = [line.split() for line in lines]
                    if any(word[0] == "oom_kill" and int(word[1]) for word in words):
                        return True
        return False

    def remove(self) -> None:
        """Remove it, when its processes have ended."""
        _remove(self.folders)


def places() -> list[Path]:
    """Folders in which this process makes a cgroup for each sandbox; none where it may not."""
    if named := os.environ.get(NAMED):
        return [Path(folder) for folder in named.split(os.pathsep) if folder]
    own = _own()
    return [own] if own is not None else []


def clear_up(parents: Iterable[Path]) -> None:
    """Remove the cgroups of graders that were killed."""
    for parent in parents:
        for folder in parent.glob(f"{PREFIX}*"):
            process = folder.name.removeprefix(PREFIX).partition("-")[0]
            if not (PROC / process).exists():
                _remove([folder])


def _own() -> Path | None:
    """The nearest folder above this process, in version 2, that was delegated to it."""
    with contextlib.suppress(OSError, ValueError, StopIteration):
        lines = (PROC / "self" / "mountinfo").read_text(errors="replace").splitlines()
        mount = next(line.split() for line in lines if " - cgroup2 " in line)
        root, point = mount[3], Path(mount[4])
        lines = (PROC / "self" / "cgroup").read_text(errors="replace").splitlines()
        own = next(line[3:] for line in lines if line.startswith("0::"))
        inside = point / Path(own).relative_to(root)
        for folder in (inside, *inside.parents):
            if folder == point.parent:
                break
            if _is_delegated(folder):
                return folder
    return None


def _is_delegated(folder: Path) -> bool:
    """Whether this process may make groups in there, in which memory and processes are counted."""
    try:
        controllers = set((folder / "cgroup.subtree_control").read_text().split())
        owner = folder.stat().st_uid
    except OSError:
        return False
    if NEEDED - controllers:
        return False
    if not all(os.access(one, os.W_OK) for one in (folder, folder / PROCESSES)):
        return False
    # Root may write everywhere, so require systemd's mark of delegation.
    return owner == os.geteuid() != 0 or any(_marked(folder, name) for name in DELEGATED)


def _marked(folder: Path, name: str) -> bool:
    try:
        return os.getxattr(folder, name) == b"1"
    except OSError:
        return False


def _limit(folder: Path, limits: SandboxLimits) -> None:
    """Set what the controllers of this folder can limit, in version 2 or 1."""
    most = limits.memory_bytes + 3 * limits.scratch_bytes + SLACK_BYTES
    for name, value in {
        "memory.max": most,
        "memory.swap.max": 0,
        "memory.oom.group": 1,
        "memory.limit_in_bytes": most,
        "memory.memsw.limit_in_bytes": most,
        "pids.max": limits.processes,
    }.items():
        with contextlib.suppress(OSError):  # files exist only for enabled controllers
            descriptor = os.open(folder / name, os.O_WRONLY)
            try:
                os.write(descriptor, str(value).encode())
            finally:
                os.close(descriptor)


def _remove(folders: Iterable[Path]) -> None:
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.rmdir()
