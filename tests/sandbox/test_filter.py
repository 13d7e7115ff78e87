"""The system call filter: its BPF program is run by a small interpreter, without a kernel."""

import errno
import os
import struct
import subprocess
import sys

import pytest
from repository import ROOT
from system_calls import (
    AUDIT,
    CLONE,
    CLONE3,
    FORK,
    MACHINES,
    NAMESPACES,
    OTHERS,
    REFUSED,
    SECCOMP,
    SOCKET,
    THREAD,
)

from grading.sandbox.inside import seccomp

ALLOW, ASK, KILL = "allow", "ask", "kill"


def verdict(program: bytes, number: int, architecture: int, *arguments: int) -> str | int:
    """What the kernel would do with a call: ALLOW, ASK the listener, KILL, or an errno."""
    padded = (*arguments, *(6 - len(arguments)) * (0,))
    data = struct.pack("=iIQ6Q", number, architecture, 0, *padded)
    lines = list(struct.iter_unpack("=HBBI", program))
    assert len(lines) <= 4096, "more than a kernel takes"
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
                raise AssertionError(f"an instruction that the filter does not need: {code:#x}")
    names = {0x7FFF0000: ALLOW, 0x7FC00000: ASK, 0x80000000: KILL}
    if constant & 0xFFFF0000 == 0x00050000:
        return constant & 0xFFFF
    return names[constant]


@pytest.fixture(params=MACHINES)
def machine(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def test_the_interpreter_agrees_with_a_program_written_by_hand() -> None:
    program = b"".join(
        struct.pack("=HBBI", *line)
        for line in ((0x20, 0, 0, 0), (0x35, 0, 1, 7), (6, 0, 0, 0x50026), (6, 0, 0, 0x7FFF0000))
    )
    assert [verdict(program, number, 0) for number in (6, 7, 8)] == [ALLOW, 38, 38]


def test_the_tables_of_refused_calls_are_the_kernels() -> None:
    assert {
        name: dict(zip(MACHINES, pair, strict=True)) for name, pair in seccomp.DENIED.items()
    } == (REFUSED)


def test_every_call_of_the_table_is_refused_and_every_other_allowed(machine: str) -> None:
    asking, silent = (seccomp.program(machine, notify) for notify in (True, False))
    refused = {numbers[machine] for numbers in REFUSED.values()}
    special = {CLONE3[machine], SOCKET[machine]}
    for number in range(600):
        if number in special:
            continue
        expected = (ASK, errno.EPERM) if number in refused else (ALLOW, ALLOW)
        for program, outcome in zip((asking, silent), expected, strict=True):
            assert verdict(program, number, AUDIT[machine]) == outcome, number


@pytest.mark.parametrize("name", NAMESPACES)
def test_clone_with_a_new_namespace_is_refused(machine: str, name: str) -> None:
    for flags in (NAMESPACES[name], NAMESPACES[name] | FORK, NAMESPACES[name] | THREAD):
        for notify, outcome in ((True, ASK), (False, errno.EPERM)):
            program = seccomp.program(machine, notify)
            assert verdict(program, CLONE[machine], AUDIT[machine], flags) == outcome


def test_clone_for_a_process_or_a_thread_is_allowed(machine: str) -> None:
    allowed = 0xFFFFFFFF & ~sum(NAMESPACES.values())
    program = seccomp.program(machine, True)
    for flags in (0, FORK, THREAD, allowed):
        assert verdict(program, CLONE[machine], AUDIT[machine], flags) == ALLOW


def test_clone3_does_not_exist_so_that_the_c_library_uses_clone(machine: str) -> None:
    for notify in (True, False):
        program = seccomp.program(machine, notify)
        assert verdict(program, CLONE3[machine], AUDIT[machine]) == errno.ENOSYS


def test_only_unix_sockets_are_allowed(machine: str) -> None:
    for family in range(60):
        for notify, outcome in ((True, ASK), (False, errno.EOPNOTSUPP)):
            program = seccomp.program(machine, notify)
            expected = ALLOW if family == 1 else outcome
            assert verdict(program, SOCKET[machine], AUDIT[machine], family) == expected


def test_x32_numbers_do_not_exist() -> None:
    x32 = 1 << 30
    for notify in (True, False):
        program = seccomp.program("x86_64", notify)
        for number in (x32, x32 + 1, x32 + 101, x32 + 272, x32 + 599, (1 << 31) - 1):
            assert verdict(program, number, AUDIT["x86_64"]) == errno.ENOSYS
        assert verdict(program, x32 - 1, AUDIT["x86_64"]) == ALLOW


def test_calls_of_another_architecture_kill(machine: str) -> None:
    others = {name: AUDIT[name] for name in MACHINES if name != machine} | OTHERS
    for notify in (True, False):
        program = seccomp.program(machine, notify)
        for name, architecture in others.items():
            assert verdict(program, 0, architecture) == KILL, name
            assert verdict(program, REFUSED["ptrace"][machine], architecture) == KILL, name


def test_the_numbers_that_are_not_refused_are_the_kernels(machine: str) -> None:
    _, audit, clone, clone3, socket, own = seccomp.MACHINES[machine]
    assert (audit, clone, clone3, socket, own) == tuple(
        table[machine] for table in (AUDIT, CLONE, CLONE3, SOCKET, SECCOMP)
    )


def test_each_refused_call_has_its_name_and_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for machine in MACHINES:
        monkeypatch.setattr(
            os, "uname", lambda machine=machine: os.uname_result(("",) * 4 + (machine,))
        )
        names = seccomp._names()
        assert names.pop(CLONE[machine]) == ("clone: namespaces", errno.EPERM)
        assert names.pop(SOCKET[machine]) == ("socket", errno.EOPNOTSUPP)
        assert names == {numbers[machine]: (name, errno.EPERM) for name, numbers in REFUSED.items()}


SECOND_FILTER = """
import ctypes, socket, sys
sys.path[0] = sys.argv[1]
from inside import seccomp
libc = ctypes.CDLL(None, use_errno=True)
no_new_privileges = 38
assert libc.prctl(no_new_privileges, 1, 0, 0, 0) == 0
first, second = seccomp.install(libc), seccomp.install(libc)
try:
    socket.socket(socket.AF_INET)
except OSError as error:
    print(first is None, second is None, error.errno)
"""


GONE = """
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


def with_filter(script: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script, str(ROOT / "grading/sandbox")]
    return subprocess.run(command, capture_output=True, text=True)


def test_a_caller_that_has_ended_is_not_waited_for() -> None:
    done = with_filter(GONE)
    assert done.stdout == "None\nsocket: internet\n", done.stderr


def test_a_second_filter_refuses_without_a_listener() -> None:
    done = with_filter(SECOND_FILTER)
    assert done.stdout == f"False True {errno.EOPNOTSUPP}\n", done.stderr
