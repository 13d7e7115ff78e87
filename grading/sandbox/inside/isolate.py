"""Turns a forked process into an isolated one: namespaces, folders, identity, limits."""

import contextlib
import ctypes
import errno
import functools
import os
import resource
import signal
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import seccomp
from .request import SandboxLimits

NEW_MOUNTS, NEW_IPC, NEW_USER = 0x00020000, 0x08000000, 0x10000000
NEW_PIDS, NEW_NETWORK = 0x20000000, 0x40000000
READ_ONLY, NO_SUID, NO_DEVICES, NO_EXEC, BIND = 1, 2, 4, 8, 4096
REMOUNT, RECURSIVE, PRIVATE = 32, 0x4000, 1 << 18
SET_DUMPABLE, DROP_BOUND, NO_NEW_PRIVILEGES, SET_DEATH_SIGNAL = 4, 24, 38, 1
CAPABILITIES_3 = 0x20080522
COLLAPSE, LARGE_PAGE = 25, 2 << 20  # of madvise(2), from Linux 6.1 on

BOXES = "/run/boxes"  # the host's folder of sockets, with a subfolder for each sandbox
MODULES = Path("/run/modules")  # the course's own, if it has any
BOX = "/run/box"  # where a sandbox sees its own subfolder
PROC_COPIES = "/run/proc"  # what stands in for the files of /proc that tell of the whole machine
EMPTY_FILE, EMPTY_FOLDER = "-file", "-folder"  # for those that have no copy
HOME = "/home/learner"
SCRATCH = ("/tmp", HOME, "/dev/shm")
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")  # of bubblewrap's /dev
INODES = 20_000

libc = ctypes.CDLL(None, use_errno=True)


def pid_namespace() -> int | None:
    """A descriptor of this process's own pid namespace; None if it may not leave and enter it."""
    own = os.open("/proc/self/ns/pid", os.O_RDONLY)
    try:
        _do("unshare", NEW_PIDS)
        _do("setns", own, NEW_PIDS)
    except OSError:
        os.close(own)
        return None
    return own


def fork_first(own: int) -> int:
    """As os.fork(), with the child the first process of a new pid namespace.

    own: of this process, which it has again when the child is there. A child in the middle, whose
    child would be the first, costs two forks.
    """
    _do("unshare", NEW_PIDS)
    child = -1
    try:
        child = os.fork()
    finally:
        if child:  # the new process stays where it is, and with it its children
            _do("setns", own, NEW_PIDS)
    return child


def own_namespaces(pids: bool) -> None:
    """Leave the zygote's namespaces; if `pids`, the next child is the first of a new pid one."""
    flags = NEW_MOUNTS | NEW_IPC | NEW_NETWORK | (NEW_PIDS if pids else 0)
    if os.geteuid() == 0:
        _do("unshare", flags)
        return
    user, group = os.geteuid(), os.getegid()
    _do("unshare", flags | NEW_USER)
    for name, line in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        Path("/proc/self", name).write_text(line)


def own_folders(
    box: str, user: int, group: int, scratch_bytes: int, readable: Sequence[str]
) -> None:
    """Mount a /proc of this sandbox's processes, empty writable folders, and its own sockets.

    Readable paths stay visible where an empty folder would cover them: Python may lie under /tmp.
    """
    _mount(None, "/", None, PRIVATE | RECURSIVE)
    _mount(f"{BOXES}/{box}", BOX, None, BIND)
    empty = "size=4k,nr_inodes=2,mode=0555"
    plain = NO_SUID | NO_DEVICES
    # The machine's own: who touches one changes a time that all others see.
    for device in DEVICES:
        _mount(None, f"/dev/{device}", None, REMOUNT | BIND | READ_ONLY | NO_SUID)
    # Hides the other sandboxes, and pseudo-terminals, of which a host has a few thousand.
    for folder in (BOXES, "/dev/pts"):
        _mount("none", folder, "tmpfs", plain | READ_ONLY, empty)
    mine = f"size={scratch_bytes},nr_inodes={INODES},mode=0700,uid={user},gid={group}"
    covered = [path for path in map(Path, readable) if any(map(path.is_relative_to, SCRATCH))]
    sources = [os.open(path, os.O_PATH) for path in covered]
    for folder in SCRATCH:
        _mount("none", folder, "tmpfs", plain | NO_EXEC, mine)
    for path, source in zip(covered, sources, strict=True):
        target = _place(path, stat.S_ISDIR(os.fstat(source).st_mode), user, group)
        # In a user namespace only a recursive bind is allowed: any other could uncover what is
        # mounted over.
        _mount(f"/proc/self/fd/{source}", f"/proc/self/fd/{target}", None, BIND | RECURSIVE)
        os.close(source)
        os.close(target)
    # Read-only, or a process could lower its oom_score_adj again.
    _mount("none", "/proc", "proc", plain | NO_EXEC | READ_ONLY)
    for mask, place in proc_masks():
        _mount(mask, place, None, BIND)


@functools.cache
def proc_masks() -> list[tuple[str, str]]:
    """(what is mounted, where) to leave of /proc a sandbox's processes, and copies of a few files.

    What other files tell changes with whatever runs on the machine: locks, counters, loads. Two
    sandboxes could signal to each other by them. The copies lie in a read-only mount, so what is
    bound from there is read-only too. Call this once before forking, for it takes longer than the
    mounts.
    """
    masks = []
    with os.scandir("/proc") as entries:
        for one in entries:
            if one.name.isdigit() or one.is_symlink():  # such as self, and net, which is self/net
                continue
            copy = f"{PROC_COPIES}/{one.name}"
            if not Path(copy).exists():
                folder = one.is_dir(follow_symlinks=False)
                copy = f"{PROC_COPIES}/{EMPTY_FOLDER if folder else EMPTY_FILE}"
            masks.append((copy, f"/proc/{one.name}"))
    return masks


def _place(path: Path, is_folder: bool, user: int, group: int) -> int:
    """Make an empty folder or file as the sandbox's user, and return a descriptor of it.

    The new folders are closed to everybody else, and root lacks the capability to override that.
    """
    own_user, own_group = os.geteuid(), os.getegid()
    os.setegid(group)
    os.seteuid(user)
    try:
        (path if is_folder else path.parent).mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.touch()
        return os.open(path, os.O_PATH)
    finally:
        os.seteuid(own_user)
        os.setegid(own_group)


def own_identity(user: int, group: int) -> None:
    """Become an unprivileged user for good: no groups, no capabilities, no way to gain any."""
    for capability in range(64):
        if libc.prctl(DROP_BOUND, capability, 0, 0, 0) and ctypes.get_errno() == errno.EINVAL:
            break  # past the last capability that this kernel knows
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(group, group, group)
        os.setresuid(user, user, user)
    head = (ctypes.c_uint32 * 2)(CAPABILITIES_3, 0)
    _do("capset", head, (ctypes.c_uint32 * 6)())
    _do("prctl", NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    os.chdir(HOME)


def no_limits_of_the_grader() -> None:
    """Take back what the grader set for itself: a sandbox has limits of its own."""
    for name in (resource.RLIMIT_CPU, resource.RLIMIT_DATA):
        hard = resource.getrlimit(name)[1]
        resource.setrlimit(name, (hard, hard))


def join(groups: Sequence[int]) -> None:
    """Become a member of these cgroups, by their files cgroup.procs, and close the files.

    Where the system refuses, the sandbox has the limits that init watches over, and no others.
    """
    for group in groups:
        with contextlib.suppress(OSError):
            os.write(group, b"0")  # the process that writes
        os.close(group)


def set_limits(limits: SandboxLimits) -> None:
    """Set each process's resource limits. The kernel counts processes over the whole sandbox."""
    for name, most in {
        resource.RLIMIT_AS: limits.process_bytes,
        resource.RLIMIT_CPU: limits.cpu_seconds,
        resource.RLIMIT_NPROC: limits.processes,
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_SIGPENDING: limits.pending_signals,
        resource.RLIMIT_MEMLOCK: 0,
    }.items():
        hard = resource.getrlimit(name)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(name, (most, most))


def filter_calls() -> int | None:
    """Install the system call filter; its listener's descriptor, or None: see seccomp.install."""
    return seccomp.install(libc)


def dumpable(yes: bool) -> None:
    """Set whether processes of the same user may read this one's memory and files."""
    _do("prctl", SET_DUMPABLE, int(yes), 0, 0, 0)


def die_with_parent() -> None:
    _do("prctl", SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)


def large_pages() -> None:
    """Gather this process's own memory in large pages, which a fork shares, and frees, sooner.

    Where Linux can't, it stays as it is. What a fork writes to is copied in small pages as ever.
    """
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, access, _, device, *_ = line.split()
        low, high = (int(end, 16) for end in span.split("-"))
        low, high = -(-low // LARGE_PAGE) * LARGE_PAGE, high // LARGE_PAGE * LARGE_PAGE
        if access == "rw-p" and device == "00:00" and low < high:
            libc.madvise(ctypes.c_void_p(low), ctypes.c_size_t(high - low), COLLAPSE)


def first_victim() -> None:
    """Have the kernel kill this process before any other when the host runs out of memory."""
    Path("/proc/self/oom_score_adj").write_text("1000")


def _mount(
    source: str | None, target: str, kind: str | None, flags: int, options: str | None = None
) -> None:
    source_, target_, kind_, options_ = (
        None if word is None else word.encode() for word in (source, target, kind, options)
    )
    _do("mount", source_, target_, kind_, ctypes.c_ulong(flags), options_, name=target)


def _do(call: str, *arguments: Any, name: str = "") -> None:
    """Call a function of the C library; OSError that names the call and its target if it fails."""
    if getattr(libc, call)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call} {name}".strip() + f": {os.strerror(number)}")
