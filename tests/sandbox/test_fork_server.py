"""The fork server: its start and end, and what it shows of the host.

It ends with its grader, even while bubblewrap is starting.
"""

import io
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import matplotlib
import pytest
from classroom.processes import descendants, survivors
from matplotlib import font_manager
from repository import ROOT

from grading.sandbox import fork_server as fork_servers
from grading.sandbox.fork_server import ForkServer
from grading.sandbox.inside import isolate

# A bwrap that blocks after forking, while its child waits for it: bubblewrap then writes to
# --info-fd, which is a full pipe here.
BLOCKING_BWRAP = """#!/bin/sh
exec 9<>{pipe}
exec {bwrap} --info-fd 9 "$@"
"""


@pytest.fixture
def pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Put BLOCKING_BWRAP on PATH; return the pipe that unblocks it when read."""
    fifo, script = tmp_path / "pipe", tmp_path / "bwrap"
    os.mkfifo(fifo)
    end = os.open(fifo, os.O_RDWR | os.O_NONBLOCK)
    try:
        while True:
            os.write(end, bytes(1 << 12))
    except BlockingIOError:
        pass
    script.write_text(BLOCKING_BWRAP.format(pipe=fifo, bwrap=shutil.which("bwrap")))
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    yield end
    os.close(end)


def wait_for_fork(bubblewrap: int) -> set[int]:
    """Wait until bubblewrap has forked, and return both processes."""
    while not (found := descendants(bubblewrap)):
        os.sched_yield()
    return {bubblewrap, *found}


def kill_survivors(processes: set[int]) -> set[int]:
    """Kill the processes that don't end by themselves, and return them."""
    found = survivors(processes)
    for process in found:
        os.kill(process, signal.SIGKILL)
    return found


STREAMS = """
import os
from grading.sandbox.fork_server import ForkServer
server = ForkServer()
print(*(os.readlink(f"/proc/{server.process.pid}/fd/{number}") for number in (0, 1)))
server.close()
"""


def test_the_server_inherits_neither_stdin_nor_stdout_of_the_grader() -> None:
    command = [sys.executable, "-c", STREAMS]
    done = subprocess.run(
        command, cwd=ROOT, input="typed", capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [os.devnull, os.devnull]


@pytest.mark.usefixtures("pipe")
def test_closing_a_starting_fork_server_leaves_no_process() -> None:
    server = ForkServer()
    processes = wait_for_fork(server.process.pid)
    server.close()
    assert not kill_survivors(processes)


GRADER = """
from grading.sandbox.fork_server import ForkServer
server = ForkServer()
print(server.process.pid, flush=True)
server.wait_until_ready()
"""


@pytest.mark.parametrize("ended_by", [signal.SIGINT, signal.SIGKILL])
def test_grader_that_ends_during_server_start_leaves_no_process(
    pipe: int, ended_by: signal.Signals
) -> None:
    """Send SIGINT to the grader's whole process group, as a terminal does."""
    with subprocess.Popen(
        [sys.executable, "-c", GRADER],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as grader:
        assert grader.stdout
        processes = wait_for_fork(int(grader.stdout.readline()))
        if ended_by == signal.SIGINT:
            os.killpg(grader.pid, ended_by)
        else:
            grader.send_signal(ended_by)
    if ended_by == signal.SIGKILL:
        os.read(pipe, 1 << 20)  # unblock bubblewrap
    assert not kill_survivors(processes)


# --- parts of the fork server, tested without a process -------------------------------------------


def made_up(**state: Any) -> Any:
    """Return a fork server with these attributes and without a real process."""
    server: Any = object.__new__(ForkServer)
    server.pid, server.modules = os.getpid(), ""
    server.process = SimpleNamespace(poll=lambda: None, returncode=None)
    vars(server).update(state)
    return server


@pytest.mark.parametrize(
    ("status", "said", "expected"),
    [
        (-9, b"x\n", "was killed (signal 9)"),
        (128 + 15, b"x\n", "was killed (signal 15)"),
        (128, b"first\nlast\n\n", "could not make a sandbox: last."),
        (1, b"\xff\n", "could not make a sandbox: \ufffd."),
        (1, b"\n", "could not make a sandbox: it said nothing."),
        (0, b"x", "could not make a sandbox: x."),
        (None, b"x", "could not make a sandbox: x."),
    ],
)
def test_a_fork_server_that_did_not_start_says_why(
    status: int | None, said: bytes, expected: str
) -> None:
    errors = io.BytesIO(said)
    errors.seek(0, os.SEEK_END)
    server = made_up(process=SimpleNamespace(returncode=status), errors=errors)
    assert expected in server.complaint()
    assert "\n" not in server.complaint()


@pytest.mark.parametrize(
    ("state", "hung_up", "usable"),
    [
        ({}, False, True),
        ({"process": SimpleNamespace(poll=lambda: 0)}, False, False),
        ({"modules": "/other"}, False, False),
        ({"pid": 1, "shared": True, "is_ready": True}, False, True),
        ({"pid": 1, "shared": True, "is_ready": True}, True, False),
        ({"pid": 1, "shared": False, "is_ready": True}, False, False),
        ({"pid": 1, "shared": True, "is_ready": False}, False, False),
        ({"pid": 1, "shared": True, "is_ready": True, "modules": "/other"}, False, False),
    ],
)
def test_only_running_servers_are_usable_and_by_forks_only_if_shared_and_ready(
    monkeypatch: pytest.MonkeyPatch, state: dict[str, Any], hung_up: bool, usable: bool
) -> None:
    monkeypatch.delenv(fork_servers.MODULES, raising=False)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.send(b"unread")
        if hung_up:
            theirs.close()
        assert made_up(control=ours, **state).is_usable() is usable


class Started:
    """A fake fork server that records the calls of its methods."""

    made: ClassVar[list["Started"]] = []

    def __init__(self) -> None:
        self.events: list[str] = []
        self.shared = False
        Started.made.append(self)

    def is_usable(self) -> bool:
        return "closed" not in self.events and "ended" not in self.events

    def close(self) -> None:
        self.events.append("closed")

    def wait_until_ready(self) -> None:
        self.events.append("waited")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Started]:
    monkeypatch.setattr(Started, "made", [])
    monkeypatch.setattr(fork_servers, "ForkServer", Started)
    monkeypatch.setattr(fork_servers, "_current", None)
    return Started.made


def test_the_fork_server_is_started_once_and_replaced_if_it_has_ended(
    started: list[Started],
) -> None:
    first: Any = fork_servers.fork_server()
    assert fork_servers.fork_server() is first
    first.events.append("ended")
    second = fork_servers.fork_server()
    assert fork_servers.fork_server() is second is started[-1]
    assert len(started) == 2
    assert first.events == ["waited", "waited", "ended", "closed"]


def test_a_shared_fork_server_starts_without_waiting(
    started: list[Started], monkeypatch: pytest.MonkeyPatch
) -> None:
    fork_servers.wait_for_shared()
    assert started == []
    fork_servers.start_shared()
    (server,) = started
    assert (server.shared, server.events) == (True, [])
    fork_servers.wait_for_shared()
    assert server.events == ["waited"]

    def refused() -> None:
        raise fork_servers.Refused("not here")

    monkeypatch.setattr(server, "wait_until_ready", refused)
    fork_servers.wait_for_shared()
    monkeypatch.setattr(fork_servers, "ForkServer", refused)
    fork_servers.start_shared()


@pytest.mark.parametrize(
    ("system", "machine", "works"),
    [("linux", "x86_64", True), ("darwin", "x86_64", False), ("linux", "mips", False)],
)
def test_unsupported_systems_and_processors_are_refused(
    monkeypatch: pytest.MonkeyPatch, system: str, machine: str, works: bool
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    if works:
        fork_servers.refuse_what_cannot_work()
    else:
        with pytest.raises(fork_servers.Refused, match=f"no sandbox for {system} on {machine}"):
            fork_servers.refuse_what_cannot_work()


def test_remove_stale_keeps_folders_of_other_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fork_servers.tempfile, "gettempdir", lambda: str(tmp_path))
    folder = tmp_path / f"{fork_servers.PREFIX}x"
    folder.mkdir()
    os.utime(folder, (0, 0))
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    fork_servers.remove_stale()
    assert folder.exists()
    monkeypatch.setattr(os, "geteuid", lambda: user)
    fork_servers.remove_stale()
    assert not folder.exists()


def test_snapshots_of_proc_can_be_read_and_not_changed(tmp_path: Path) -> None:
    folder = tmp_path / "proc"
    before = os.umask(0o077)
    try:
        fork_servers.copy_proc(folder)
    finally:
        os.umask(before)
    (folder / "sys/fs/nr_open").read_text()
    modes = {path: path.stat().st_mode & 0o7777 for path in folder.rglob("*")}
    assert modes.pop(folder / isolate.EMPTY_FILE) == 0
    assert modes.pop(folder / isolate.EMPTY_FOLDER) & 0o222 == 0
    assert {path.relative_to(folder).as_posix() for path in modes if path.is_file()} <= {
        *fork_servers.PROC_FILES
    }
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o444}
    text = Path("/proc/version").read_text(encoding="utf-8")
    assert (folder / "version").read_text(encoding="utf-8") == text


def test_each_folder_above_a_path_is_made_readable() -> None:
    words = ["--perms", "0755", "--dir"]
    assert fork_servers.parents("/one/two/three") == [*words, "/one", *words, "/one/two"]
    assert fork_servers.parents("/one") == []


def pairs(words: list[str], option: str) -> list[list[str]]:
    """Return the two words after each occurrence of an option."""
    return [words[at + 1 : at + 3] for at, word in enumerate(words) if word == option]


@pytest.mark.parametrize("user", [0, 1000])
def test_bubblewraps_options_differ_for_root_and_other_users(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, user: int
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setenv(fork_servers.MODULES, str(tmp_path))
    words = fork_servers.command(Path("/boxes"), 7)
    assert ("--unshare-all" in words) is (user != 0)
    assert ("--cap-add" in words) is ("--unshare-net" in words) is (user == 0)
    assert pairs(words, "--uid") == ([] if user == 0 else [["65534", "--gid"]])
    assert [str(tmp_path), "/run/modules"] in pairs(words, "--ro-bind")
    monkeypatch.delenv(fork_servers.MODULES)
    bare = fork_servers.command(Path("/boxes"), 7)
    assert not any("/run/modules" in pair for pair in pairs(bare, "--ro-bind"))
    assert bare[-1 - len(fork_servers.PRELOADED) :] == ["7", *fork_servers.PRELOADED]


def test_only_pythons_files_in_a_virtual_environments_folder_are_visible(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("bin", "lib", "course"):
        (tmp_path / name).mkdir()
    (tmp_path / "pyvenv.cfg").touch()
    (tmp_path / "lib64").symlink_to("lib")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "base_prefix", "/usr")
    monkeypatch.setattr(sys, "exec_prefix", "/usr/local")
    seen = fork_servers.readable()
    assert {path for path in seen if path.startswith(str(tmp_path))} == {
        f"{tmp_path}/{name}" for name in ("bin", "lib", "pyvenv.cfg")
    }
    assert "/usr" in seen
    assert not any(path.startswith("/usr/") for path in seen)
    assert all(Path(path).exists() and not Path(path).is_symlink() for path in seen)


def test_matplotlibs_font_list_is_mounted_if_there_is_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(matplotlib, "get_cachedir", lambda: str(tmp_path))
    assert fork_servers.font_cache() == []
    name = f"fontlist-v{font_manager.FontManager.__version__}.json"
    (tmp_path / name).touch()
    assert fork_servers.font_cache() == [
        "--ro-bind",
        str(tmp_path / name),
        f"/tmp/matplotlib/{name}",
    ]
