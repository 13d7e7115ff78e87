"""What the kernel's process finds itself to be: user, rights, limits, mounts, environment.

One box runs one cell that looks; the tests compare what it saw with a table.
"""

import json
import os
from typing import Any

import pytest
from sandboxed import run_in

from grading import sandbox
from grading.limits import run_limited
from grading.sandbox import fork_server

LIMITS = sandbox.SandboxLimits(
    process_bytes=1 << 30,
    memory_bytes=1 << 30,
    scratch_bytes=8 << 20,
    file_bytes=3 << 20,
    open_files=99,
    processes=33,
    cpu_seconds=77,
)
SCRATCH = ("/tmp", "/home/learner", "/dev/shm")
LOOK = r"""
import ctypes, json, mmap, os, resource, stat, subprocess, sys
def status(process):
    lines = open(f"/proc/{process}/status").read().splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)
def error(deed, *arguments):
    try:
        deed(*arguments)
    except OSError as problem:
        return problem.errno
    return 0
def script(folder):
    with open(f"{folder}/script", "w") as file:
        file.write("#!/bin/sh\n")
    os.chmod(f"{folder}/script", 0o700)
    return error(subprocess.run, [f"{folder}/script"])
def library(folder):
    with open(f"{folder}/library", "w+b") as file:
        file.write(bytes(4096))
        file.flush()
        return error(lambda: mmap.mmap(file.fileno(), 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC))
def large(size):
    with open("large", "wb") as file:
        return error(file.raw.truncate, size)
libc = ctypes.CDLL(None, use_errno=True)
scratch = ("/tmp", "/home/learner", "/dev/shm")
limits = {name: resource.getrlimit(getattr(resource, name)) for name in dir(resource)
          if name.startswith("RLIMIT_")}
seen = {
    "cwd": os.getcwd(), "environment": dict(os.environ), "hostname": os.uname().nodename,
    "kernel": [os.uname().release, os.uname().version],
    "first on path": sys.path[0],
    "status": status("self"), "init": status("1"), "limits": limits,
    "init's limits": open("/proc/1/limits").read(),
    "ids": [os.getresuid(), os.getresgid(), os.getgroups()],
    "nice": os.nice(0), "leads its session": os.getsid(0) == os.getpid(),
    "oom": [open(f"/proc/{one}/oom_score_adj").read() for one in ("1", "self")],
    "dumpable": libc.prctl(3, 0, 0, 0, 0),
    "init's files": error(os.listdir, "/proc/1/fd"),
    "executes": [script(folder) for folder in scratch] + [library(folder) for folder in scratch],
    "truncates": [large(3 << 20), large((3 << 20) + 1)],
    "modes": [stat.S_IMODE(os.stat(folder).st_mode) for folder in scratch],
    "mounts": open("/proc/self/mounts").read(),
    "folders": {name: sorted(os.listdir(name)) for name in ("/", "/run", "/etc", "/run/boxes",
                "/run/box", "/dev/pts", "/run/course")},
    "processes": sorted(name for name in os.listdir("/proc") if name.isdigit()),
    "interfaces": open("/proc/self/net/dev").read(),
    "standard files": [os.readlink(f"/proc/self/fd/{number}") for number in (0, 1, 2)],
    "inside": sorted(name for name in sys.modules if name.startswith(("grading", "exercises"))),
}
print(json.dumps(seen))
"""


@pytest.fixture(scope="module")
def seen() -> dict[str, Any]:
    with sandbox.open(LIMITS) as box:
        done = run_in(box, LOOK)
    found: dict[str, Any] = json.loads(done.texts[0])
    return found


@pytest.mark.parametrize("who", ["status", "init"])
def test_no_rights_and_no_way_to_any(seen: dict[str, Any], who: str) -> None:
    status = seen[who]
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(status[name], 16) == 0, name
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
    assert status["Groups"].strip() in ("", "65534")


def test_one_user_and_group_that_nobody_else_has(seen: dict[str, Any]) -> None:
    users, groups, further = seen["ids"]
    assert len({*users, *groups}) == 1
    assert users[0] not in (0, os.getuid())
    assert set(further) <= {65534}
    assert {*map(int, seen["init"]["Uid"].split())} == {*map(int, seen["init"]["Gid"].split())}
    assert {*map(int, seen["init"]["Uid"].split())} == set(users)


def test_limits_of_each_process(seen: dict[str, Any]) -> None:
    expected = {
        "RLIMIT_AS": 1 << 30,
        "RLIMIT_CORE": 0,
        "RLIMIT_CPU": 77,
        "RLIMIT_FSIZE": 3 << 20,
        "RLIMIT_MEMLOCK": 0,
        "RLIMIT_MSGQUEUE": 0,
        "RLIMIT_NOFILE": 99,
        "RLIMIT_NPROC": 33,
        "RLIMIT_SIGPENDING": 1024,
    }
    limits = {name: tuple(seen["limits"][name]) for name in expected}
    assert limits == {name: (value, value) for name, value in expected.items()}
    for words in ("Max address space 1073741824 1073741824", "Max open files 99 99"):
        assert words in " ".join(seen["init's limits"].split())


def test_a_file_grows_to_its_limit_and_no_further(seen: dict[str, Any]) -> None:
    assert seen["truncates"] == [0, 27]  # EFBIG


def test_the_host_kills_a_sandbox_first_when_memory_runs_out(seen: dict[str, Any]) -> None:
    assert [int(value) for value in seen["oom"]] == [1000, 1000]


def test_the_kernel_gives_way_to_init_and_the_grader(seen: dict[str, Any]) -> None:
    assert seen["nice"] == min(os.nice(0) + 5, 19)


def test_init_cannot_be_looked_into_and_the_kernel_can_look_into_itself(seen) -> None:
    assert seen["dumpable"] == 1
    assert seen["init's files"] == 13  # EACCES


def test_nothing_in_a_writable_folder_can_be_executed(seen: dict[str, Any]) -> None:
    assert seen["executes"][:3] == [13, 13, 13]  # EACCES
    assert seen["executes"][3:] == [1, 1, 1]  # EPERM


def mounts(seen: dict[str, Any]) -> dict[str, tuple[str, set[str]]]:
    """Mount point → type, options; the last mount of a point hides the ones before."""
    lines = [line.split() for line in seen["mounts"].splitlines()]
    return {point: (kind, set(options.split(","))) for _, point, kind, options, *_ in lines}


def test_every_mount_ignores_set_user_id_and_devices(seen: dict[str, Any]) -> None:
    for point, (_, options) in mounts(seen).items():
        assert "nosuid" in options, point
        assert "nodev" in options or point in {
            f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty")
        }, point


def test_only_the_scratch_folders_can_be_written(seen: dict[str, Any]) -> None:
    writable = {point for point, (_, options) in mounts(seen).items() if "rw" in options}
    assert writable == {*SCRATCH}


def test_scratch_folders_are_small_private_and_not_executable(seen: dict[str, Any]) -> None:
    for point in SCRATCH:
        kind, options = mounts(seen)[point]
        assert kind == "tmpfs"
        assert {"rw", "noexec", "size=8192k", "nr_inodes=20000", "mode=700"} <= options
    assert seen["modes"] == [0o700] * 3


def test_other_boxes_and_terminals_are_hidden(seen: dict[str, Any]) -> None:
    for point in ("/run/boxes", "/dev/pts"):
        kind, options = mounts(seen)[point]
        assert (kind, options & {"ro", "nr_inodes=2"}) == ("tmpfs", {"ro", "nr_inodes=2"})
        assert seen["folders"][point] == []


def test_proc_is_that_of_the_box(seen: dict[str, Any]) -> None:
    kind, options = mounts(seen)["/proc"]
    assert kind == "proc"
    assert {"ro", "nosuid", "nodev", "noexec"} <= options
    assert len(seen["processes"]) == 2


def test_the_kernel_is_the_host_s(seen: dict[str, Any]) -> None:
    """As the page about what is not protected says."""
    assert seen["kernel"] == [os.uname().release, os.uname().version]


def test_no_network_but_a_loopback(seen: dict[str, Any]) -> None:
    assert [line.split(":")[0].strip() for line in seen["interfaces"].splitlines()[2:]] == ["lo"]


def test_folders_that_are_there(seen: dict[str, Any]) -> None:
    folders = seen["folders"]
    assert folders["/run"] == ["box", "boxes", "course", "inside", "proc"]
    assert folders["/run/course"] == ["rooflib", "roofkit"] or folders["/run/course"] == [
        "roofkit",
        "rooflib",
    ]
    assert folders["/run/box"] == []
    assert set(folders["/etc"]) <= {"fonts", "ld.so.cache", "localtime"}


def test_the_environment_says_nothing_about_the_host(seen: dict[str, Any]) -> None:
    environment = seen["environment"]
    assert {name: environment.get(name) for name in fork_server.ENVIRONMENT} == {
        "HOME": "/home/learner",
        "USER": "learner",
        "LOGNAME": "learner",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "IPYTHONDIR": "/tmp/ipython",
        "JUPYTER_RUNTIME_DIR": "/tmp/jupyter",
        "MPLCONFIGDIR": "/tmp/matplotlib",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "2",
    }
    shell = {
        "PATH",
        "PWD",
        "TERM",
        "CLICOLOR",
        "FORCE_COLOR",
        "CLICOLOR_FORCE",
        "PAGER",
        "GIT_PAGER",
    }
    assert set(environment) <= {*fork_server.ENVIRONMENT, *shell}
    assert (seen["hostname"], seen["cwd"]) == ("sandbox", "/home/learner")


def test_the_process_has_no_part_of_the_grader(seen: dict[str, Any]) -> None:
    assert seen["inside"] == []
    assert seen["first on path"] == "/run/course"
    assert seen["standard files"][0] == "/dev/null"
    assert seen["leads its session"] is True


def test_limits_that_the_grader_has_for_itself_are_not_those_of_the_box() -> None:
    look = "import resource as r; print(r.getrlimit(r.RLIMIT_DATA), r.getrlimit(r.RLIMIT_CPU))"

    def seen() -> list[str]:
        with sandbox.open(LIMITS) as box:
            return run_in(box, look).texts

    (text,) = run_limited(seen, cpu=60, more_bytes=900_000_000)
    assert text == "(-1, -1) (77, 77)\n"
