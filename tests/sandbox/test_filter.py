"""Tests of the seccomp filter, whose BPF program is interpreted, not loaded."""

import errno
import functools
import os
import struct
import subprocess
import sys

import pytest
from repository import ROOT
from system_calls import (
    ABOUT_ANOTHER,
    ALLOWED,
    AUDIT,
    BY_ARGUMENT,
    CLONE,
    CLONE3,
    FORK,
    LAST,
    MACHINES,
    NAMESPACES,
    OTHERS,
    PRETENDED,
    REFUSED,
    SECCOMP,
    SILENT,
    THREAD,
)

from grading.sandbox.inside import calls, seccomp

ALLOW, NOTIFY, KILL = "allow", "notify", "kill"
NO_OP = 0  # errno of a call that the filter skips and that reports success


@functools.cache
def instructions(program: bytes) -> list[tuple[int, int, int, int]]:
    return list(struct.iter_unpack("=HBBI", program))


def verdict(program: bytes, number: int, architecture: int, *arguments: int) -> str | int:
    """Return the filter's verdict: ALLOW, NOTIFY (the listener), KILL, or an errno."""
    padded = (*arguments, *(6 - len(arguments)) * (0,))
    data = struct.pack("=iIQ6Q", number, architecture, 0, *padded)
    lines = instructions(program)
    assert len(lines) <= 4096, "BPF_MAXINSNS exceeded"
    place, value = 0, 0
    while True:
        code, yes, no, constant = lines[place]
        place += 1
        match code:
            case 0x20:  # BPF_LD | BPF_W | BPF_ABS
                (value,) = struct.unpack_from("=I", data, constant)
            case 0x15:  # BPF_JMP | BPF_JEQ
                place += yes if value == constant else no
            case 0x35:  # BPF_JMP | BPF_JGE
                place += yes if value >= constant else no
            case 0x45:  # BPF_JMP | BPF_JSET
                place += yes if value & constant else no
            case 0x06:  # BPF_RET
                break
            case _:
                raise AssertionError(f"unexpected BPF instruction: {code:#x}")
    names = {0x7FFF0000: ALLOW, 0x7FC00000: NOTIFY, 0x80000000: KILL}
    if constant & 0xFFFF0000 == 0x00050000:
        return constant & 0xFFFF
    return names[constant]


@pytest.fixture(params=MACHINES)
def machine(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def test_bpf_interpreter_runs_a_handwritten_program() -> None:
    program = b"".join(
        struct.pack("=HBBI", *line)
        for line in ((0x20, 0, 0, 0), (0x35, 0, 1, 7), (6, 0, 0, 0x50026), (6, 0, 0, 0x7FFF0000))
    )
    assert [verdict(program, number, 0) for number in (6, 7, 8)] == [ALLOW, 38, 38]


def test_call_tables_match_the_kernel_headers() -> None:
    def by_machine(table: dict[str, tuple[int, int]]) -> dict[str, dict[str, int | None]]:
        return {
            name: {
                machine: None if number < 0 else number
                for machine, number in zip(MACHINES, pair, strict=True)
            }
            for name, pair in table.items()
        }

    assert by_machine(calls.DENIED) == REFUSED
    assert by_machine(calls.ALLOWED) == ALLOWED
    guarded = {name: guard.numbers for name, guard in calls.GUARDED.items()}
    assert by_machine(guarded) == {name: numbers for name, (numbers, _) in BY_ARGUMENT.items()}
    assert calls.MAX_NUMBER == LAST


def test_verdict_of_each_system_call_number(machine: str) -> None:
    """Calls are allowed, skipped, or refused with or without a notification."""
    notifying, silent = (seccomp.program(machine, notify) for notify in (True, False))
    refused = {numbers[machine] for numbers in REFUSED.values()}
    unreported = {numbers[machine] for numbers in SILENT.values()}
    pretended = {numbers[machine] for numbers in PRETENDED.values()}
    allowed = {numbers[machine] for numbers in ALLOWED.values()}
    by_argument = {
        numbers[machine] for numbers, _ in (*BY_ARGUMENT.values(), *ABOUT_ANOTHER.values())
    }
    seen = set()
    for number in (*range(LAST + 200), *(1 << bit for bit in range(10, 31))):
        if number in by_argument:
            continue
        expected: tuple[str | int, str | int] = (NOTIFY, errno.ENOSYS)
        if number > LAST or number in unreported:
            expected = (errno.ENOSYS, errno.ENOSYS)
        if number in refused:
            expected = (NOTIFY, errno.EPERM)
        if number in pretended:
            expected = (NO_OP, NO_OP)
        if number in allowed:
            expected = (ALLOW, ALLOW)
        seen.add(expected)
        for program, outcome in zip((notifying, silent), expected, strict=True):
            assert verdict(program, number, AUDIT[machine]) == outcome, number
    assert len(seen) == 5


# Guarded call → (allowed values of its argument, errno for other values, whether their refusal is
# reported). Values are from the kernel's headers: linux/socket.h, asm-generic/socket.h,
# asm-generic/mman-common.h, asm-generic/fcntl.h and linux/fcntl.h, asm-generic/ioctls.h and
# linux/seccomp.h, linux/prctl.h.
ALLOWED_VALUES = {
    "fcntl": ({*range(5), *range(8, 12), 15, 16, *range(1030, 1033)}, errno.EINVAL, False),
    "getsockopt": (
        {2, 3, 4, 6, 7, 8, 9, 10, 13, 15, 16, 17, 20, 21, 30, 38, 39},
        errno.ENOPROTOOPT,
        False,
    ),
    "ioctl": (
        {0x541B, 0x5421, 0x5450, 0x5451, 0xC0502100, 0xC0182101},
        errno.ENOTTY,
        False,
    ),
    "madvise": ({*range(5), *range(8, 12), *range(14, 20), 22, 23}, errno.EINVAL, True),
    "prctl": ({*range(1, 5), 15, 16, 23, 29, 30, *range(36, 40)}, errno.EINVAL, False),
    "setsockopt": ({2, 3, 4, 6, 9, 10, 13, 15, 16, 20, 21}, errno.EPERM, True),
    "socket": ({1}, errno.EOPNOTSUPP, True),
    "socketpair": ({1}, errno.EOPNOTSUPP, True),
}
# Values for which the filter skips the call and reports success: F_SETLK and F_SETLKW.
PRETENDED_WITH = {"fcntl": {6, 7}}
# Values that would bypass a limit or reach another sandbox.
NEVER = {
    "fcntl": {5, 36, 37, 38, 1024, 1025, 1026},  # F_GETLK, F_OFD_*, leases, F_NOTIFY
    "getsockopt": {55, 57, 71},  # SO_MEMINFO, COOKIE, NETNS_COOKIE
    "ioctl": {0x5412, 0x541C, 0x40049409},  # TIOCSTI, TIOCLINUX, FICLONE
    "madvise": {12, 20, 21},  # MERGEABLE, COLD, PAGEOUT
    # prctl options KEEPCAPS, SECCOMP, MM, SCHED_CORE, VMA, KSM
    "prctl": {8, 22, 35, 62, 0x53564D41, 67},
    # socket options for buffer sizes, BPF programs, zero copy
    "setsockopt": {7, 8, 26, 32, 33, 50, 60},
}


@pytest.mark.parametrize("name", ALLOWED_VALUES)
def test_guarded_calls_are_allowed_only_with_listed_arguments(machine: str, name: str) -> None:
    (numbers, place), (values, error, reported) = BY_ARGUMENT[name], ALLOWED_VALUES[name]
    assert not values & NEVER.get(name, set())
    others = {value ^ 1 << bit for value in values for bit in range(32)} - values
    pretended = PRETENDED_WITH.get(name, set())
    others |= NEVER.get(name, set()) | set(range(70)) - values
    others -= pretended
    for notify in (True, False):
        program = seccomp.program(machine, notify)
        refused = NOTIFY if notify and reported else error
        for some, outcome in ((values, ALLOW), (others, refused), (pretended, NO_OP)):
            for value in some:
                # The kernel ignores the upper half of these arguments, so the filter must too.
                for whole in (value, value | 1 << 40):
                    arguments = [*place * (0,), whole]
                    assert verdict(program, numbers[machine], AUDIT[machine], *arguments) == outcome


def test_mmap_refuses_only_huge_pages(machine: str) -> None:
    numbers, place = BY_ARGUMENT["mmap"]
    for notify, refused in ((True, NOTIFY), (False, errno.EINVAL)):
        program = seccomp.program(machine, notify)
        for bit in range(32):
            flags = [*place * (0,), 0x22 | 1 << bit]
            outcome = refused if bit == 18 else ALLOW  # MAP_HUGETLB is 0x40000
            assert verdict(program, numbers[machine], AUDIT[machine], *flags) == outcome


@pytest.mark.parametrize("name", NAMESPACES)
def test_clone_with_a_new_namespace_is_refused(machine: str, name: str) -> None:
    for flags in (NAMESPACES[name], NAMESPACES[name] | FORK, NAMESPACES[name] | THREAD):
        for notify, outcome in ((True, NOTIFY), (False, errno.EPERM)):
            program = seccomp.program(machine, notify)
            assert verdict(program, CLONE[machine], AUDIT[machine], flags) == outcome


def test_clone_for_a_process_or_a_thread_is_allowed(machine: str) -> None:
    allowed = 0xFFFFFFFF & ~sum(NAMESPACES.values())
    program = seccomp.program(machine, True)
    for flags in (0, FORK, THREAD, allowed):
        assert verdict(program, CLONE[machine], AUDIT[machine], flags) == ALLOW


def test_clone3_fails_with_enosys_so_that_libc_uses_clone(machine: str) -> None:
    for notify in (True, False):
        program = seccomp.program(machine, notify)
        assert verdict(program, CLONE3[machine], AUDIT[machine]) == errno.ENOSYS


@pytest.mark.parametrize("name", ABOUT_ANOTHER)
def test_calls_that_target_init_are_refused(machine: str, name: str) -> None:
    numbers, which = ABOUT_ANOTHER[name]
    program = seccomp.program(machine, True)

    def outcome(*arguments: int) -> str | int:
        return verdict(program, numbers[machine], AUDIT[machine], *arguments)

    for who in (0, 2, 3, 999):
        assert outcome(*([who] if which is None else [which, who])) == ALLOW
    assert outcome(*([1] if which is None else [which, 1])) == NOTIFY
    assert outcome(*([1 | 1 << 32] if which is None else [which, 1 | 1 << 32])) == NOTIFY
    if which is not None:
        for kind in {0, 1, 2, 3} - {which}:
            assert [outcome(kind, who) for who in (0, 1, 999)] == [NOTIFY] * 3


def test_x32_call_numbers_fail_with_enosys() -> None:
    x32 = 1 << 30
    for notify in (True, False):
        program = seccomp.program("x86_64", notify)
        for number in (x32, x32 + 1, x32 + 101, x32 + 272, x32 + 599, (1 << 31) - 1):
            assert verdict(program, number, AUDIT["x86_64"]) == errno.ENOSYS
        assert verdict(program, 1, AUDIT["x86_64"]) == ALLOW


def test_calls_of_another_architecture_kill_the_process(machine: str) -> None:
    others = {name: AUDIT[name] for name in MACHINES if name != machine} | OTHERS
    for notify in (True, False):
        program = seccomp.program(machine, notify)
        for name, architecture in others.items():
            assert verdict(program, 0, architecture) == KILL, name
            assert verdict(program, REFUSED["ptrace"][machine], architecture) == KILL, name


def test_each_machine_has_its_audit_architecture_and_seccomp_number(machine: str) -> None:
    _, audit, own = seccomp.MACHINES[machine]
    assert (audit, own) == (AUDIT[machine], SECCOMP[machine])


def test_each_refused_call_has_a_name_and_an_errno(monkeypatch: pytest.MonkeyPatch) -> None:
    for machine in MACHINES:
        monkeypatch.setattr(
            os, "uname", lambda machine=machine: os.uname_result(("",) * 4 + (machine,))
        )
        names = seccomp._names()
        assert names.pop(CLONE[machine]) == ("clone: namespaces", errno.EPERM)
        for name in BY_ARGUMENT.keys() - {"clone"}:
            error = ALLOWED_VALUES[name][1] if name in ALLOWED_VALUES else errno.EINVAL
            assert names.pop(BY_ARGUMENT[name][0][machine]) == (name, error)
        for name, (numbers, _) in ABOUT_ANOTHER.items():
            assert names.pop(numbers[machine]) == (name, errno.EPERM)
        assert names == {numbers[machine]: (name, errno.EPERM) for name, numbers in REFUSED.items()}


SECOND_FILTER = """
import ctypes, socket, struct, sys
sys.path[0] = sys.argv[1]
from inside import seccomp
libc = ctypes.CDLL(None, use_errno=True)
no_new_privileges = 38
assert libc.prctl(no_new_privileges, 1, 0, 0, 0) == 0
# Like a container whose own filter already has a listener.
ours, seccomp.program = seccomp.program, lambda *_: struct.pack("=HBBI", 6, 0, 0, 0x7FFF0000)
first = seccomp.install(libc)
seccomp.program = ours
second = seccomp.install(libc)
try:
    socket.socket(socket.AF_INET)
except OSError as error:
    print(first is None, second is None, error.errno)
"""


ENDED_CALLERS = """
import ctypes, fcntl, os, select, signal, socket, sys
sys.path[0] = sys.argv[1]
from inside import seccomp
libc = ctypes.CDLL(None, use_errno=True)
no_new_privileges = 38
def caller():
    ours, theirs = socket.socketpair()
    if (child := os.fork()) == 0:
        assert libc.prctl(no_new_privileges, 1, 0, 0, 0) == 0
        socket.send_fds(theirs, [b"x"], [seccomp.install(libc)])
        socket.socket(socket.AF_INET)
    listener = socket.recv_fds(ours, 1, 1)[1][0]
    select.select([listener], [], [])
    return child, listener
def end():
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
child, listener = caller()
end()
print(seccomp.refuse_next(listener))
def ioctl(descriptor, request, data, real=fcntl.ioctl):
    if request == seccomp.NOTIF_SEND:
        end()
    real(descriptor, request, data)
fcntl.ioctl = ioctl
child, listener = caller()
print(seccomp.refuse_next(listener))
"""


def run_script(script: str) -> subprocess.CompletedProcess[str]:
    """Run a script in its own process, because filters can't be removed."""
    command = [sys.executable, "-c", script, str(ROOT / "grading/sandbox")]
    return subprocess.run(command, capture_output=True, text=True)


def test_refuse_next_tolerates_a_caller_that_has_ended() -> None:
    done = run_script(ENDED_CALLERS)
    assert done.stdout == "None\nsocket: internet\n", done.stderr


def test_filter_works_without_a_listener_if_an_earlier_filter_has_one() -> None:
    done = run_script(SECOND_FILTER)
    assert done.stdout == f"False True {errno.EOPNOTSUPP}\n", done.stderr
