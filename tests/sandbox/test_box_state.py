"""State of a notebook's process: user, capabilities, limits, mounts, environment.

One box runs a cell that prints its state, and each test checks a part of it. "Init" is process
1 of the box.
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
PRINT_STATE = r"""
import ctypes, json, mmap, os, resource, stat, subprocess, sys
def status(process):
    lines = open(f"/proc/{process}/status").read().splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)
def error(function, *arguments):
    try:
        function(*arguments)
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
def state() -> dict[str, Any]:
    """Return the state of the sandbox that the cell PRINT_STATE printed."""
    with sandbox.open(LIMITS) as box:
        done = run_in(box, PRINT_STATE)
    found: dict[str, Any] = json.loads(done.texts[0])
    return found


@pytest.mark.parametrize("who", ["status", "init"])
def test_init_and_notebook_process_have_no_capabilities(state: dict[str, Any], who: str) -> None:
    status = state[who]
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(status[name], 16) == 0, name
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
    assert status["Groups"].strip() in ("", "65534")


def test_box_runs_as_one_unprivileged_user_and_group(state: dict[str, Any]) -> None:
    users, groups, extra_groups = state["ids"]
    assert len({*users, *groups}) == 1
    assert users[0] not in (0, os.getuid())
    assert set(extra_groups) <= {65534}
    assert {*map(int, state["init"]["Uid"].split())} == {*map(int, state["init"]["Gid"].split())}
    assert {*map(int, state["init"]["Uid"].split())} == set(users)


def test_rlimits_match_the_sandbox_limits(state: dict[str, Any]) -> None:
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
    limits = {name: tuple(state["limits"][name]) for name in expected}
    assert limits == {name: (value, value) for name, value in expected.items()}
    for words in ("Max address space 1073741824 1073741824", "Max open files 99 99"):
        assert words in " ".join(state["init's limits"].split())


def test_file_size_limit_is_exact(state: dict[str, Any]) -> None:
    assert state["truncates"] == [0, 27]  # EFBIG


def test_oom_score_makes_sandboxes_the_first_victims(state: dict[str, Any]) -> None:
    assert [int(value) for value in state["oom"]] == [1000, 1000]


def test_notebook_process_runs_at_lower_priority(state: dict[str, Any]) -> None:
    assert state["nice"] == min(os.nice(0) + 5, 19)


def test_notebook_process_is_dumpable_and_init_is_not(state) -> None:
    assert state["dumpable"] == 1
    assert state["init's files"] == 13  # EACCES


def test_writable_folders_are_noexec(state: dict[str, Any]) -> None:
    assert state["executes"][:3] == [13, 13, 13]  # EACCES
    assert state["executes"][3:] == [1, 1, 1]  # EPERM


def mounts(state: dict[str, Any]) -> dict[str, tuple[str, set[str]]]:
    """Return mount point → (type, options) of the topmost mount at each point."""
    lines = [line.split() for line in state["mounts"].splitlines()]
    return {point: (kind, set(options.split(","))) for _, point, kind, options, *_ in lines}


def test_all_mounts_are_nosuid_and_all_but_devices_are_nodev(state: dict[str, Any]) -> None:
    for point, (_, options) in mounts(state).items():
        assert "nosuid" in options, point
        assert "nodev" in options or point in {
            f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty")
        }, point


def test_only_scratch_folders_are_writable(state: dict[str, Any]) -> None:
    writable = {point for point, (_, options) in mounts(state).items() if "rw" in options}
    assert writable == {*SCRATCH}


def test_scratch_folders_are_small_private_tmpfs(state: dict[str, Any]) -> None:
    for point in SCRATCH:
        kind, options = mounts(state)[point]
        assert kind == "tmpfs"
        assert {"rw", "noexec", "size=8192k", "nr_inodes=20000", "mode=700"} <= options
    assert state["modes"] == [0o700] * 3


def test_other_boxes_and_pseudo_terminals_are_hidden(state: dict[str, Any]) -> None:
    for point in ("/run/boxes", "/dev/pts"):
        kind, options = mounts(state)[point]
        assert (kind, options & {"ro", "nr_inodes=2"}) == ("tmpfs", {"ro", "nr_inodes=2"})
        assert state["folders"][point] == []


def test_proc_is_read_only_and_lists_only_the_boxs_processes(state: dict[str, Any]) -> None:
    kind, options = mounts(state)["/proc"]
    assert kind == "proc"
    assert {"ro", "nosuid", "nodev", "noexec"} <= options
    assert len(state["processes"]) == 2


def test_sandboxes_see_the_hosts_linux_version(state: dict[str, Any]) -> None:
    """Check that the kernel's release and version are not hidden."""
    assert state["kernel"] == [os.uname().release, os.uname().version]


def test_loopback_is_the_only_network_interface(state: dict[str, Any]) -> None:
    assert [line.split(":")[0].strip() for line in state["interfaces"].splitlines()[2:]] == ["lo"]


def test_run_and_etc_contain_only_expected_entries(state: dict[str, Any]) -> None:
    folders = state["folders"]
    assert folders["/run"] == ["box", "boxes", "course", "inside", "proc"]
    assert folders["/run/course"] == ["rooflib", "roofkit"] or folders["/run/course"] == [
        "roofkit",
        "rooflib",
    ]
    assert folders["/run/box"] == []
    assert set(folders["/etc"]) <= {"fonts", "ld.so.cache", "localtime"}


def test_environment_reveals_nothing_about_the_host(state: dict[str, Any]) -> None:
    environment = state["environment"]
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
    assert (state["hostname"], state["cwd"]) == ("sandbox", "/home/learner")


def test_notebook_inherits_no_modules_sys_path_stdin_or_session_of_the_grader(
    state: dict[str, Any],
) -> None:
    assert state["inside"] == []
    assert state["first on path"] == "/run/course"
    assert state["standard files"][0] == "/dev/null"
    assert state["leads its session"] is True


def test_box_does_not_inherit_the_graders_rlimits() -> None:
    source = "import resource as r; print(r.getrlimit(r.RLIMIT_DATA), r.getrlimit(r.RLIMIT_CPU))"

    def limits() -> list[str]:
        with sandbox.open(LIMITS) as box:
            return run_in(box, source).texts

    (text,) = run_limited(limits, cpu=60, more_bytes=900_000_000)
    assert text == "(-1, -1) (77, 77)\n"
