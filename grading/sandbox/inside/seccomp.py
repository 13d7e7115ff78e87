"""The system call filter: refuses what a notebook does not need and a sandbox should not offer.

Namespaces hide the host. The filter closes what they leave open: kernel interfaces with a long
record of bugs (bpf, io_uring, user namespaces), access to other processes' memory (ptrace),
sockets that a network namespace does not confine (vsock), and memory that no per-process limit
counts (memfd, System V shared memory, message queues, keys).

With a listener (SECCOMP_RET_USER_NOTIF), a refused call waits until the listener's owner has noted
it and answered with an error.
"""

import contextlib
import ctypes
import errno
import fcntl
import os
import struct

# name → number on x86_64, number on aarch64; from the kernel's system call tables.
DENIED = {
    # other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    # namespaces and mounts
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    # the kernel itself
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "syslog": (103, 116),
    "fanotify_init": (300, 262),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    # memory and messages that outlive a process or escape its limits
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
}
# machine → column above, audit architecture, numbers of clone, clone3, socket, seccomp
MACHINES = {
    "x86_64": (0, 0xC000003E, 56, 435, 41, 317),
    "aarch64": (1, 0xC00000B7, 220, 435, 198, 277),
}
X32_BIT = 0x40000000  # x86_64 offers its calls a second time under numbers with this bit
# CLONE_NEWTIME | NEWNS | NEWCGROUP | NEWUTS | NEWIPC | NEWUSER | NEWPID | NEWNET
NEW_NAMESPACES = 0x80 | 0x20000 | 0x2000000 | 0x4000000 | 0x8000000 | 0x70000000
AF_UNIX = 1
FAMILIES = {2: "internet", 10: "internet", 16: "netlink", 17: "packet", 38: "alg", 40: "vsock"}

ALLOW, NOTIFY, KILL_PROCESS, ERRNO = 0x7FFF0000, 0x7FC00000, 0x80000000, 0x00050000
LOAD, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data

SET_MODE_FILTER, NEW_LISTENER = 1, 8
NOTIF_RECV, NOTIF_SEND = 0xC0502100, 0xC0182101  # ioctls of a listener
NOTIFICATION, RESPONSE = struct.Struct("=QIIiIQ6Q"), struct.Struct("=QqiI")


def program(machine: str, notify: bool) -> bytes:
    """The filter as BPF instructions, 8 bytes each.

    notify: whether refused calls go to a listener; if not, the kernel returns the errors itself.
    """
    column, architecture, clone, clone3, socket, _ = MACHINES[machine]

    def refuse(number: int) -> tuple[int, int, int, int]:
        return (RETURN, 0, 0, NOTIFY if notify else ERRNO | number)

    lines = [
        (LOAD, 0, 0, ARCHITECTURE),
        (JUMP_EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, KILL_PROCESS),
        (LOAD, 0, 0, NUMBER),
    ]
    if machine == "x86_64":
        lines += [(JUMP_AT_LEAST, 0, 1, X32_BIT), (RETURN, 0, 0, ERRNO | errno.ENOSYS)]
    for numbers in DENIED.values():
        lines += [(JUMP_EQUAL, 0, 1, numbers[column]), refuse(errno.EPERM)]
    # clone3's flags are in memory, which a filter cannot read. The C library falls back to clone.
    lines += [(JUMP_EQUAL, 0, 1, clone3), (RETURN, 0, 0, ERRNO | errno.ENOSYS)]
    lines += [
        (JUMP_EQUAL, 0, 4, clone),
        (LOAD, 0, 0, FIRST_ARGUMENT),
        (JUMP_ANY_BIT, 0, 1, NEW_NAMESPACES),
        refuse(errno.EPERM),
        (RETURN, 0, 0, ALLOW),
        (JUMP_EQUAL, 0, 3, socket),
        (LOAD, 0, 0, FIRST_ARGUMENT),
        (JUMP_EQUAL, 1, 0, AF_UNIX),
        refuse(errno.EOPNOTSUPP),  # the error that ZeroMQ can handle
        (RETURN, 0, 0, ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *line) for line in lines)


def install(libc: ctypes.CDLL) -> int | None:
    """Put this process and all its future children under the filter, for good.

    Returns the listener's descriptor. None if the kernel has no listeners, or this process has one
    already: then calls are refused without being reported.
    """
    machine = os.uname().machine
    for notify in (True, False):
        code = program(machine, notify)
        buffer = ctypes.create_string_buffer(code, len(code))
        head = ctypes.create_string_buffer(
            struct.pack("@HP", len(code) // 8, ctypes.addressof(buffer)), struct.calcsize("@HP")
        )
        flags = NEW_LISTENER if notify else 0
        result: int = libc.syscall(
            MACHINES[machine][5], SET_MODE_FILTER, ctypes.c_ulong(flags), head
        )
        if result >= 0:
            return result if notify else None
    raise OSError(ctypes.get_errno(), "could not install the system call filter")


def refuse_next(listener: int) -> str | None:
    """Refuse the next waiting call and return its name; None if the calling process is gone.

    Call this only when the listener is readable: otherwise it blocks.
    """
    notification = bytearray(NOTIFICATION.size)
    try:
        fcntl.ioctl(listener, NOTIF_RECV, notification)
    except OSError:
        return None
    key, _, _, number, _, _, first, *_ = NOTIFICATION.unpack(notification)
    name, error = _NAMES.get(number, ("call", errno.EPERM))
    if name == "socket":
        name = f"socket: {FAMILIES.get(first & 0xFFFFFFFF, 'other')}"
    with contextlib.suppress(OSError):  # the process may have ended in the meantime
        fcntl.ioctl(listener, NOTIF_SEND, bytearray(RESPONSE.pack(key, 0, -error, 0)))
    return name


def _names() -> dict[int, tuple[str, int]]:
    """Number on this machine → name in the report, error that the caller gets."""
    column, _, clone, _, socket, _ = MACHINES.get(os.uname().machine, MACHINES["x86_64"])
    names = {numbers[column]: (name, errno.EPERM) for name, numbers in DENIED.items()}
    return names | {
        clone: ("clone: namespaces", errno.EPERM),
        socket: ("socket", errno.EOPNOTSUPP),
    }


_NAMES = _names()
