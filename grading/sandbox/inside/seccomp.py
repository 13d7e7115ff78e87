"""The system call filter: allows the calls that notebooks need, and no others.

Namespaces hide the host. The filter closes what they leave open: kernel interfaces that ordinary
programs do not use, access to other processes' memory, sockets that a network namespace does not
confine, and memory that no limit counts. What is allowed is in `calls`.

With a listener (SECCOMP_RET_USER_NOTIF), a refused call waits until the listener's owner has
recorded it and answered with an error.
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
    MAX_NUMBER,
    NO_OPS,
    NOT_ON_INIT,
    UNREPORTED,
    Guard,
)

# machine → (column of the call tables, audit architecture, call number of seccomp)
MACHINES = {"x86_64": (0, 0xC000003E, 317), "aarch64": (1, 0xC00000B7, 277)}

ALLOW, NOTIFY, KILL_PROCESS, ERRNO = 0x7FFF0000, 0x7FC00000, 0x80000000, 0x00050000
SUCCESS = ERRNO  # with errno 0: the call is skipped and returns 0
LOAD, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data

SET_MODE_FILTER, NEW_LISTENER = 1, 8
NOTIF_RECV, NOTIF_SEND = 0xC0502100, 0xC0182101  # ioctls of a listener
NOTIFICATION, RESPONSE = struct.Struct("=QIIiIQ6Q"), struct.Struct("=QqiI")

Line = tuple[int, int, int, int]  # code, jump if true, jump if not, constant


@functools.cache
def program(machine: str, notify: bool) -> bytes:
    """Return the filter as BPF instructions of 8 bytes each.

    notify: whether refused calls go to a listener; if not, the kernel returns the errors itself.
    """
    column, architecture, _ = MACHINES[machine]

    def refuse(number: int, reported: bool = True) -> Line:
        return _end(NOTIFY if notify and reported else ERRNO | number)

    lines: list[Line] = [
        (LOAD, 0, 0, ARCHITECTURE),
        (JUMP_EQUAL, 1, 0, architecture),
        _end(KILL_PROCESS),
        (LOAD, 0, 0, NUMBER),
    ]
    for guard in GUARDED.values():
        checks = [*_guarded(guard), refuse(guard.error, guard.reported)]
        lines += [(JUMP_EQUAL, 0, len(checks), guard.numbers[column]), *checks]
    for by_machine, kind in NOT_ON_INIT.values():
        load_target = [_load(0), (JUMP_EQUAL, 0, 2, kind or 0), _load(1)]
        if kind is None:
            load_target = [_load(0)]
        checks = [*load_target, (JUMP_EQUAL, 0, 1, 1), refuse(errno.EPERM), _end(ALLOW)]
        lines += [(JUMP_EQUAL, 0, len(checks), by_machine[column]), *checks]
    # All other call numbers, as ranges with the same result, highest first.
    ends = {MAX_NUMBER + 1: _end(ERRNO | errno.ENOSYS)}
    ends |= {number: refuse(errno.ENOSYS) for number in range(MAX_NUMBER + 1)}
    ends |= {numbers[column]: refuse(errno.EPERM) for numbers in DENIED.values()}
    ends |= {numbers[column]: ends[MAX_NUMBER + 1] for numbers in UNREPORTED.values()}
    ends |= {numbers[column]: _end(SUCCESS) for numbers in NO_OPS.values()}
    ends |= {numbers[column]: _end(ALLOW) for numbers in ALLOWED.values()}
    numbers = sorted((number for number in ends if number >= 0), reverse=True)
    for end, run in groupby(numbers, ends.__getitem__):
        lines += [(JUMP_AT_LEAST, 0, 1, min(run)), end]
    del lines[-2]  # the last range starts at 0, so its comparison is always true
    return b"".join(struct.pack("=HBBI", *line) for line in lines)


def _guarded(guard: Guard) -> list[Line]:
    """Return instructions that allow what the guard permits.

    Other calls fall through.
    """
    allow = _end(ALLOW)
    if guard.never:
        return [_load(guard.argument), (JUMP_ANY_BIT, 1, 0, guard.never), allow]
    pretend = _end(SUCCESS)
    ends = [(value, allow) for value in guard.only]
    ends += [(value, pretend) for value in guard.pretended]
    each = [line for value, end in ends for line in ((JUMP_EQUAL, 0, 1, value), end)]
    return [_load(guard.argument), *each]


def _end(result: int) -> Line:
    """Return the instruction that ends the filter with this result."""
    return (RETURN, 0, 0, result)


def _load(argument: int) -> Line:
    """Return the instruction that loads an argument's low 32 bits."""
    return (LOAD, 0, 0, ARGUMENTS + 8 * argument)


def warm_up() -> None:
    """Build this machine's seccomp filters, so that forked processes inherit them."""
    for notify in (True, False):
        program(os.uname().machine, notify)


def install(libc: ctypes.CDLL) -> int | None:
    """Apply the filter irrevocably to this process and its future children.

    Return the listener's descriptor, or None if the kernel has no listeners or this process already
    has one: then refused calls are not reported.
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
    """Refuse the next waiting call and return its name; None if its process is gone.

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
    """Return call number on this machine → (name in the report, caller's errno)."""
    column = MACHINES.get(os.uname().machine, MACHINES["x86_64"])[0]
    names = {numbers[column]: (name, errno.EPERM) for name, numbers in DENIED.items()}
    names |= {numbers[column]: (name, errno.EPERM) for name, (numbers, _) in NOT_ON_INIT.items()}
    for name, guard in GUARDED.items():
        said = "clone: namespaces" if name == "clone" else name
        names[guard.numbers[column]] = (said, guard.error)
    return names


_NAMES = _names()
