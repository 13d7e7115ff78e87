"""A cgroup for each sandbox, if this process may create one.

Init measures the memory of a sandbox's processes a few times a second, but can't see memory that
the kernel allocates on their behalf. A cgroup counts that too, and shares the cores fairly among
sandboxes instead of among processes.

Cgroups are used where a system manager has delegated a subtree to this process, as systemd does in
a user's session, or where GRADING_CGROUP names parent folders: one cgroup v2 folder whose
cgroup.subtree_control has memory and pids, or several v1 folders, separated by colons.
"""

import contextlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from .inside.request import MEGABYTE, SandboxLimits

VARIABLE = "GRADING_CGROUP"
PREFIX = "notebook-"
PROC = Path("/proc")
NEEDED = {"memory", "pids"}
DELEGATED = ("user.delegate", "trusted.delegate")  # xattrs that mark systemd's delegated groups
PROCESSES = "cgroup.procs"
# Headroom over init's own limit, for scratch folders and kernel memory: init should stop a sandbox
# first, because it reports the reason.
SLACK_BYTES = 256 * MEGABYTE
# Files that count out-of-memory kills, in cgroup v2 and v1.
EVENTS = ("memory.events", "memory.oom_control")


class Group:
    """The cgroup of one sandbox: one folder in v2, one for each controller in v1."""

    def __init__(self, parents: Sequence[Path], name: str, limits: SandboxLimits) -> None:
        self.folders: list[Path] = []
        for parent in parents:
            with contextlib.suppress(OSError):
                folder = parent / f"{PREFIX}{name}"
                folder.mkdir()
                self.folders.append(folder)
                _limit(folder, limits)

    def open(self) -> list[int]:
        """Open the files through which a process joins the cgroup; return descriptors.

        The caller closes the descriptors.
        """
        found = []
        for folder in self.folders:
            with contextlib.suppress(OSError):
                found.append(os.open(folder / PROCESSES, os.O_WRONLY))
        return found

    def killed(self) -> int:
        """Return how many processes of the cgroup the kernel's OOM killer has ended."""
        for folder in self.folders:
            for name in EVENTS:
                with contextlib.suppress(OSError, ValueError, IndexError):
                    lines = (folder / name).read_text(encoding="ascii").splitlines()
                    words = [line.split() for line in lines]
                    return sum(int(word[1]) for word in words if word[0] == "oom_kill")
        return 0

    def remove(self) -> None:
        """Remove the cgroup. Call this after its processes have ended."""
        _remove(self.folders)


def parent_folders() -> list[Path]:
    """Return the folders in which to create sandboxes' cgroups; none if forbidden."""
    if named := os.environ.get(VARIABLE):
        return [Path(folder) for folder in named.split(os.pathsep) if folder]
    own = _own()
    return [own] if own is not None else []


def remove_stale(parents: Iterable[Path]) -> None:
    """Remove the cgroups left behind by graders that were killed."""
    for parent in parents:
        for folder in parent.glob(f"{PREFIX}*"):
            process = folder.name.removeprefix(PREFIX).partition("-")[0]
            if not (PROC / process).exists():
                _remove([folder])


def _own() -> Path | None:
    """Return the nearest cgroup v2 folder that is delegated to this process."""
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
    """Return whether this process may create groups with limits here.

    The limits are those of memory and processes.
    """
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
    """Set the limits that this folder's controllers support, in cgroup v2 or v1."""
    most = limits.memory_bytes + 3 * limits.scratch_bytes + SLACK_BYTES
    for name, value in {
        "memory.max": most,
        "memory.swap.max": 0,
        "memory.oom.group": 0,  # copies of the notebook at earlier checks can still answer
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
