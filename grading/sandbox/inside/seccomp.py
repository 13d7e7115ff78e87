"""The system call filter: lets through what a notebook needs, and refuses every other call.

Namespaces hide the host. The filter closes what they leave open: kernel interfaces that ordinary
programs do not use, access to other processes' memory, sockets that a network namespace does not
confine, and memory that no limit counts. What is allowed is in `calls`.

With a listener (SECCOMP_RET_USER_NOTIF), a refused call waits until the listener's owner has noted
it and answered with an error.
"""

import contextlib
import ctypes
import errno
import fcntl
import functools
import os
import struct
from itertools import groupby

from .calls import (
    ALLOWED,
    DENIED,
    FAMILIES,
    GUARDED,
    LAST,
    PRETENDED,
    SILENT,
    WATCHER,
    Guard,
)

# machine → column of the tables, audit architecture, number of seccomp
MACHINES = {"x86_64": (0, 0xC000003E, 317), "aarch64": (1, 0xC00000B7, 277)}

ALLOW, NOTIFY, KILL_PROCESS, ERRNO = 0x7FFF0000, 0x7FC00000, 0x80000000, 0x00050000
SUCCESS = ERRNO  # with error 0: the call is not made, and returns 0
LOAD, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data

SET_MODE_FILTER, NEW_LISTENER = 1, 8
NOTIF_RECV, NOTIF_SEND = 0xC0502100, 0xC0182101  # ioctls of a listener
NOTIFICATION, RESPONSE = struct.Struct("=QIIiIQ6Q"), struct.Struct("=QqiI")

Line = tuple[int, int, int, int]  # code, jump if true, jump if not, constant


@functools.cache
def program(machine: str, notify: bool) -> bytes:
    """The filter as BPF instructions, 8 bytes each.

    notify: whether refused calls go to a listener; if not, the kernel returns the errors itself.
    """
    column, architecture, _ = MACHINES[machine]

    def refuse(number: int, told: bool = True) -> Line:
        return (RETURN, 0, 0, NOTIFY if notify and told else ERRNO | number)

    lines: list[Line] = [
        (LOAD, 0, 0, ARCHITECTURE),
        (JUMP_EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, KILL_PROCESS),
        (LOAD, 0, 0, NUMBER),
    ]
    for guard in GUARDED.values():
        checks = [*_guarded(guard), refuse(guard.error, guard.told)]
        lines += [(JUMP_EQUAL, 0, len(checks), guard.numbers[column]), *checks]
    for about, which in WATCHER.values():
        kind = [_load(0), (JUMP_EQUAL, 0, 2, which or 0), _load(1)]
        whose = kind if which is not None else kind[:1]
        checks = [*whose, (JUMP_EQUAL, 0, 1, 1), refuse(errno.EPERM), (RETURN, 0, 0, ALLOW)]
        lines += [(JUMP_EQUAL, 0, len(checks), about[column]), *checks]
    # All other numbers, in runs that come out alike, the highest first.
    ends = {LAST + 1: (RETURN, 0, 0, ERRNO | errno.ENOSYS)}
    ends |= {number: refuse(errno.ENOSYS) for number in range(LAST + 1)}
    ends |= {numbers[column]: refuse(errno.EPERM) for numbers in DENIED.values()}
    ends |= {numbers[column]: ends[LAST + 1] for numbers in SILENT.values()}
    ends |= {numbers[column]: (RETURN, 0, 0, SUCCESS) for numbers in PRETENDED.values()}
    ends |= {numbers[column]: (RETURN, 0, 0, ALLOW) for numbers in ALLOWED.values()}
    numbers = sorted((number for number in ends if number >= 0), reverse=True)
    for end, run in groupby(numbers, ends.__getitem__):
        lines += [(JUMP_AT_LEAST, 0, 1, min(run)), end]
    del lines[-2]  # the last run, from 0 on, has no line behind it to jump to
    return b"".join(struct.pack("=HBBI", *line) for line in lines)


def _guarded(guard: Guard) -> list[Line]:
    """Instructions that allow what the guard lets through, and go on with all else."""
    allow = (RETURN, 0, 0, ALLOW)
    if guard.never:
        return [_load(guard.argument), (JUMP_ANY_BIT, 1, 0, guard.never), allow]
    pretend = (RETURN, 0, 0, SUCCESS)
    ends = [(value, allow) for value in guard.only]
    ends += [(value, pretend) for value in guard.pretended]
    each = [line for value, end in ends for line in ((JUMP_EQUAL, 0, 1, value), end)]
    return [_load(guard.argument), *each]


def _load(argument: int) -> Line:
    """Load the lower half of an argument, which is all that the kernel takes of those here."""
    return (LOAD, 0, 0, ARGUMENTS + 8 * argument)


def warm_up() -> None:
    """Make the filters of this machine, so that forked processes have them."""
    for notify in (True, False):
        program(os.uname().machine, notify)


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
            MACHINES[machine][2], SET_MODE_FILTER, ctypes.c_ulong(flags), head
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
    name, error = _NAMES.get(number, (f"system call {number}", errno.ENOSYS))
    if name == "socket":
        name = f"socket: {FAMILIES.get(first & 0xFFFFFFFF, 'other')}"
    with contextlib.suppress(OSError):  # the process may have ended in the meantime
        fcntl.ioctl(listener, NOTIF_SEND, bytearray(RESPONSE.pack(key, 0, -error, 0)))
    return name


def _names() -> dict[int, tuple[str, int]]:
    """Number on this machine → name in the report, error that the caller gets."""
    column = MACHINES.get(os.uname().machine, MACHINES["x86_64"])[0]
    names = {numbers[column]: (name, errno.EPERM) for name, numbers in DENIED.items()}
    names |= {about[column]: (name, errno.EPERM) for name, (about, _) in WATCHER.items()}
    for name, guard in GUARDED.items():
        said = "clone: namespaces" if name == "clone" else name
        names[guard.numbers[column]] = (said, guard.error)
    return names


_NAMES = _names()
