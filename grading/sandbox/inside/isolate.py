"""From a forked process to an isolated one: namespaces, folders, identity, limits."""

import ctypes
import errno
import os
import resource
import stat
from pathlib import Path

import seccomp

NEW_MOUNTS, NEW_IPC, NEW_USER = 0x00020000, 0x08000000, 0x10000000
NEW_PIDS, NEW_NETWORK = 0x20000000, 0x40000000
READ_ONLY, NO_SUID, NO_DEVICES, NO_EXEC, BIND = 1, 2, 4, 8, 4096
RECURSIVE, PRIVATE = 0x4000, 1 << 18
SET_DUMPABLE, DROP_BOUND, NO_NEW_PRIVILEGES, SET_DEATH_SIGNAL = 4, 24, 38, 1
CAPABILITIES_3 = 0x20080522

BOXES = "/run/boxes"  # the host's folder of sockets, one folder a sandbox
BOX = "/run/box"  # the one of this sandbox
HOME = "/home/learner"
SCRATCH = ("/tmp", HOME, "/dev/shm")
INODES = 20_000

libc = ctypes.CDLL(None, use_errno=True)


def own_namespaces():
    """Leave the fork server's namespaces; the next child is the first process of the new ones."""
    flags = NEW_MOUNTS | NEW_IPC | NEW_PIDS | NEW_NETWORK
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


def own_folders(box, user, group, scratch_bytes, readable):
    """A /proc of these processes alone, fresh writable folders, and only this box's sockets.

    What is readable stays so where a fresh folder covers it: Python itself may lie under /tmp.
    """
    _mount(None, "/", None, PRIVATE | RECURSIVE)
    _mount(f"{BOXES}/{box}", BOX, None, BIND)
    empty = "size=4k,nr_inodes=2,mode=0555"
    plain = NO_SUID | NO_DEVICES
    for folder in (BOXES, "/dev/pts"):  # other boxes; terminals, of which a host has a few thousand
        _mount("none", folder, "tmpfs", plain | READ_ONLY, empty)
    mine = f"size={scratch_bytes},nr_inodes={INODES},mode=0700,uid={user},gid={group}"
    covered = [path for path in map(Path, readable) if any(map(path.is_relative_to, SCRATCH))]
    sources = [os.open(path, os.O_PATH) for path in covered]
    for folder in SCRATCH:
        _mount("none", folder, "tmpfs", plain | NO_EXEC, mine)
    for path, source in zip(covered, sources, strict=True):
        target = _place(path, stat.S_ISDIR(os.fstat(source).st_mode), user, group)
        # Recursive, or a user namespace takes it for a look at what the mounts in there hide.
        _mount(f"/proc/self/fd/{source}", f"/proc/self/fd/{target}", None, BIND | RECURSIVE)
        os.close(source)
        os.close(target)
    _mount("none", "/proc", "proc", plain | NO_EXEC)


def _place(path, is_folder, user, group):
    """A descriptor of an empty folder or file made there by the sandbox's user.

    The fresh folders are closed to all others, and root has no right here to pass over that.
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


def own_identity(user, group):
    """Nobody, for good: no groups, no capabilities, no way to get any."""
    for capability in range(64):
        if libc.prctl(DROP_BOUND, capability, 0, 0, 0) and ctypes.get_errno() == errno.EINVAL:
            break  # the kernel knows no more of them
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(group, group, group)
        os.setresuid(user, user, user)
    head = (ctypes.c_uint32 * 2)(CAPABILITIES_3, 0)
    _do("capset", head, (ctypes.c_uint32 * 6)())
    _do("prctl", NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    os.chdir(HOME)


def set_limits(limits):
    """The limits of each process; the kernel counts `processes` over the whole sandbox."""
    for name, most in {
        resource.RLIMIT_AS: limits["process_bytes"],
        resource.RLIMIT_CPU: limits["cpu_seconds"],
        resource.RLIMIT_NPROC: limits["processes"],
        resource.RLIMIT_FSIZE: limits["file_bytes"],
        resource.RLIMIT_NOFILE: limits["open_files"],
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_MEMLOCK: 0,
    }.items():
        most = min(most, hard) if (hard := resource.getrlimit(name)[1]) >= 0 else most
        resource.setrlimit(name, (most, most))


def filter_calls():
    """The listener of the filter of system calls, or None: see seccomp.install."""
    return seccomp.install(libc)


def dumpable(yes):
    """Whether processes of the same user may look into this one."""
    _do("prctl", SET_DUMPABLE, int(yes), 0, 0, 0)


def die_with_parent():
    _do("prctl", SET_DEATH_SIGNAL, 9, 0, 0, 0)


def first_victim():
    """If the host runs out of memory, this process goes before any other."""
    Path("/proc/self/oom_score_adj").write_text("1000")


def _mount(source, target, kind, flags, options=None):
    words = [word if word is None else word.encode() for word in (source, target, kind, options)]
    _do("mount", words[0], words[1], words[2], ctypes.c_ulong(flags), words[3], name=target)


def _do(call, *arguments, name=""):
    if getattr(libc, call)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call} {name}".strip() + f": {os.strerror(number)}")
