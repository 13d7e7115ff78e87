"""A filter of system calls: what a notebook never needs and a sandbox is better off without.

Namespaces hide the host; this closes what they leave open: doors into the kernel (bpf, io_uring,
user namespaces), talk with other processes' memory (ptrace), sockets that no network namespace
holds back (vsock), and memory that no limit of a process counts (memfd, System V segments, message
queues, keys).

A refused call is told to whoever holds the filter's listener, and waits for that one's answer.
"""

import contextlib
import ctypes
import errno
import fcntl
import os
import struct

# name → number on x86_64, on aarch64; from the kernel's syscall tables.
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
    # memory and messages that outlive or escape a process's limits
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
# machine → column above, audit architecture, clone, clone3, socket, seccomp
MACHINES = {
    "x86_64": (0, 0xC000003E, 56, 435, 41, 317),
    "aarch64": (1, 0xC00000B7, 220, 435, 198, 277),
}
NEW_NAMESPACES = 0x7E020000 | 0x80
AF_UNIX = 1
FAMILIES = {2: "internet", 10: "internet", 16: "netlink", 17: "packet", 38: "alg", 40: "vsock"}

ALLOW, ASK, KILL = 0x7FFF0000, 0x7FC00000, 0x80000000
LOAD, EQUAL, AT_LEAST, ANY_OF, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data

SET_FILTER, NEW_LISTENER = 1, 8
RECEIVE, SEND = 0xC0502100, 0xC0182101  # ioctls of a listener
CALL, ANSWER = struct.Struct("=QIIiIQ6Q"), struct.Struct("=QqiI")


def program(machine, asking):
    """The filter as the bytes of BPF instructions. asking: whether a listener gives the errors."""
    column, architecture, clone, clone3, socket, _ = MACHINES[machine]

    def refuse(number):
        return (RETURN, 0, 0, ASK if asking else _error(number))

    lines = [
        (LOAD, 0, 0, ARCHITECTURE),
        (EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
    ]
    if machine == "x86_64":  # the same calls under other numbers
        lines += [(AT_LEAST, 0, 1, 0x40000000), (RETURN, 0, 0, _error(errno.ENOSYS))]
    for numbers in DENIED.values():
        lines += [(EQUAL, 0, 1, numbers[column]), refuse(errno.EPERM)]
    # Its flags lie in memory, out of a filter's sight; the C library falls back to clone.
    lines += [(EQUAL, 0, 1, clone3), (RETURN, 0, 0, _error(errno.ENOSYS))]
    lines += [
        (EQUAL, 0, 4, clone),
        (LOAD, 0, 0, FIRST_ARGUMENT),
        (ANY_OF, 0, 1, NEW_NAMESPACES),
        refuse(errno.EPERM),
        (RETURN, 0, 0, ALLOW),
        (EQUAL, 0, 3, socket),
        (LOAD, 0, 0, FIRST_ARGUMENT),
        (EQUAL, 1, 0, AF_UNIX),
        refuse(errno.EOPNOTSUPP),  # the one that ZeroMQ takes for an answer
        (RETURN, 0, 0, ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *line) for line in lines)


def install(libc):
    """Put this process, and all that it starts, under the filter. No way back.

    Returns the listener's descriptor; None where the system has no listeners, or has one already:
    then calls are refused without a word to anybody.
    """
    machine = os.uname().machine
    for asking in (True, False):
        code = program(machine, asking)
        buffer = ctypes.create_string_buffer(code, len(code))
        head = ctypes.create_string_buffer(
            struct.pack("@HP", len(code) // 8, ctypes.addressof(buffer)), struct.calcsize("@HP")
        )
        flags = NEW_LISTENER if asking else 0
        done = libc.syscall(MACHINES[machine][5], SET_FILTER, ctypes.c_ulong(flags), head)
        if done >= 0:
            return done if asking else None
    raise OSError(ctypes.get_errno(), "the filter of system calls")


def refuse_next(listener):
    """Refuse the call that waits; a name for it, None if its process is gone.

    To be called only when the listener is readable, or it waits itself.
    """
    call = bytearray(CALL.size)
    try:
        fcntl.ioctl(listener, RECEIVE, call)
    except OSError:
        return None
    key, _, _, number, _, _, first, *_ = CALL.unpack(call)
    name, error = _NAMES.get(number, ("call", errno.EPERM))
    if name == "socket":
        name = f"socket: {FAMILIES.get(first & 0xFFFFFFFF, 'other')}"
    with contextlib.suppress(OSError):  # its process may have ended meanwhile
        fcntl.ioctl(listener, SEND, bytearray(ANSWER.pack(key, 0, -error, 0)))
    return name


def _names():
    column, _, clone, _, socket, _ = MACHINES.get(os.uname().machine, MACHINES["x86_64"])
    names = {numbers[column]: (name, errno.EPERM) for name, numbers in DENIED.items()}
    return names | {
        clone: ("clone: namespaces", errno.EPERM),
        socket: ("socket", errno.EOPNOTSUPP),
    }


def _error(number):
    return 0x00050000 | number


_NAMES = _names()
