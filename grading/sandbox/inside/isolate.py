"""Isolation of a forked process: namespaces, mounts, identity, limits."""

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
COLLAPSE, LARGE_PAGE = 25, 2 << 20  # MADV_COLLAPSE needs Linux 6.1

BOXES = "/run/boxes"  # the host's socket folder, with a subfolder for each sandbox
MODULES = Path("/run/modules")  # the course's own modules, if any
BOX = "/run/box"  # where a sandbox sees its own subfolder
PROC_COPIES = "/run/proc"  # snapshots mounted over the files of /proc about the whole machine
EMPTY_FILE, EMPTY_FOLDER = "-file", "-folder"  # mounted over files of /proc without a snapshot
HOME = "/home/learner"
SCRATCH = ("/tmp", HOME, "/dev/shm")
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")  # in bubblewrap's /dev
INODES = 20_000

libc = ctypes.CDLL(None, use_errno=True)


def pid_namespace() -> int | None:
    """Open this process's pid namespace; return None if it may not re-enter it."""
    own = os.open("/proc/self/ns/pid", os.O_RDONLY)
    try:
        _do("unshare", NEW_PIDS)
        _do("setns", own, NEW_PIDS)
    except OSError:
        os.close(own)
        return None
    return own


def fork_first(own: int) -> int:
    """Fork, with the child as the first process of a new pid namespace.

    The return value is that of os.fork(). own: descriptor of this process's pid namespace, to which
    it returns after the fork. The usual way, with an intermediate child, would need two forks.
    """
    _do("unshare", NEW_PIDS)
    child = -1
    try:
        child = os.fork()
    finally:
        if child:  # only the parent: the child and its descendants stay in the new namespace
            _do("setns", own, NEW_PIDS)
    return child


def unshare_namespaces(pids: bool) -> None:
    """Enter new namespaces; with `pids`, the next child starts a pid namespace."""
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


def mount_folders(
    box: str, user: int, group: int, scratch_bytes: int, readable: Sequence[str]
) -> None:
    """Mount the sandbox's /proc, empty writable folders, and folder of sockets.

    Readable paths stay visible inside the empty folders: Python may be installed under /tmp.
    """
    _mount(None, "/", None, PRIVATE | RECURSIVE)
    _mount(f"{BOXES}/{box}", BOX, None, BIND)
    empty = "size=4k,nr_inodes=2,mode=0555"
    plain = NO_SUID | NO_DEVICES
    # Device nodes are shared with the host: a writable one's timestamps would be a covert channel.
    for device in DEVICES:
        _mount(None, f"/dev/{device}", None, REMOUNT | BIND | READ_ONLY | NO_SUID)
    # Hide the other sandboxes, and pseudo-terminals, which are a limited resource of the host.
    for folder in (BOXES, "/dev/pts"):
        _mount("none", folder, "tmpfs", plain | READ_ONLY, empty)
    mine = f"size={scratch_bytes},nr_inodes={INODES},mode=0700,uid={user},gid={group}"
    covered = [path for path in map(Path, readable) if any(map(path.is_relative_to, SCRATCH))]
    sources = [os.open(path, os.O_PATH) for path in covered]
    for folder in SCRATCH:
        _mount("none", folder, "tmpfs", plain | NO_EXEC, mine)
    for path, source in zip(covered, sources, strict=True):
        target = _place(path, stat.S_ISDIR(os.fstat(source).st_mode), user, group)
        # A user namespace allows only recursive binds: others could reveal files under a mount.
        _mount(f"/proc/self/fd/{source}", f"/proc/self/fd/{target}", None, BIND | RECURSIVE)
        os.close(source)
        os.close(target)
    # Mount /proc read-only, or a process could lower its oom_score_adj again.
    _mount("none", "/proc", "proc", plain | NO_EXEC | READ_ONLY)
    for mask, place in proc_masks():
        _mount(mask, place, None, BIND)


@functools.cache
def proc_masks() -> list[tuple[str, str]]:
    """Return (source, target) of mounts that hide /proc except for processes.

    Snapshots of some files stay visible. Live files such as locks, counters and loads change with
    everything that runs on the machine, so two sandboxes could use them to signal to each other.
    The snapshots lie in a read-only mount, so binds from there are read-only too. Call this once
    before forking: it takes longer than the mounts themselves.
    """
    masks = []
    with os.scandir("/proc") as entries:
        for one in entries:
            if one.name.isdigit() or one.is_symlink():  # links such as /proc/self and /proc/net
                continue
            copy = f"{PROC_COPIES}/{one.name}"
            if not Path(copy).exists():
                folder = one.is_dir(follow_symlinks=False)
                copy = f"{PROC_COPIES}/{EMPTY_FOLDER if folder else EMPTY_FILE}"
            masks.append((copy, f"/proc/{one.name}"))
    return masks


def _place(path: Path, is_folder: bool, user: int, group: int) -> int:
    """Create an empty folder or file as the sandbox's user; return a descriptor.

    The scratch folders are private to that user, and root lacks the capability to override this.
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


def drop_privileges(user: int, group: int) -> None:
    """Drop groups, capabilities and ways to gain any; switch to the given user."""
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


def lift_grader_limits() -> None:
    """Raise the soft limits that the grader set for itself; sandboxes have their own."""
    for name in (resource.RLIMIT_CPU, resource.RLIMIT_DATA):
        hard = resource.getrlimit(name)[1]
        resource.setrlimit(name, (hard, hard))


def join(groups: Sequence[int]) -> None:
    """Join these cgroups through their cgroup.procs descriptors; close those.

    If the system refuses, only the limits that init enforces apply.
    """
    for group in groups:
        with contextlib.suppress(OSError):
            os.write(group, b"0")  # 0 means the writing process
        os.close(group)


def set_limits(limits: SandboxLimits) -> None:
    """Set each process's rlimits. RLIMIT_NPROC counts all processes of the sandbox."""
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
    """Install the system call filter; return its listener or None.

    See seccomp.install.
    """
    return seccomp.install(libc)


def dumpable(yes: bool) -> None:
    """Set whether other processes of the same user may inspect this one.

    The setting is PR_SET_DUMPABLE.
    """
    _do("prctl", SET_DUMPABLE, int(yes), 0, 0, 0)


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent ends."""
    _do("prctl", SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)


def use_huge_pages() -> None:
    """Collapse this process's private memory into huge pages.

    That makes forking faster. Without kernel support this does nothing. Memory written by a fork is
    still copied in small pages.
    """
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, access, _, device, *_ = line.split()
        low, high = (int(end, 16) for end in span.split("-"))
        low, high = -(-low // LARGE_PAGE) * LARGE_PAGE, high // LARGE_PAGE * LARGE_PAGE
        if access == "rw-p" and device == "00:00" and low < high:
            libc.madvise(ctypes.c_void_p(low), ctypes.c_size_t(high - low), COLLAPSE)


def prefer_oom_kill() -> None:
    """Have the kernel kill this process first when the host runs out of memory."""
    Path("/proc/self/oom_score_adj").write_text("1000")


def _mount(
    source: str | None, target: str, kind: str | None, flags: int, options: str | None = None
) -> None:
    source_, target_, kind_, options_ = (
        None if word is None else word.encode() for word in (source, target, kind, options)
    )
    _do("mount", source_, target_, kind_, ctypes.c_ulong(flags), options_, name=target)


def _do(call: str, *arguments: Any, name: str = "") -> None:
    """Call a C library function; raise OSError with its name if it fails."""
    if getattr(libc, call)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call} {name}".strip() + f": {os.strerror(number)}")
