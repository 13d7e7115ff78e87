"""The fork server ends with its grader, even while bubblewrap is starting."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from classroom.processes import descendants, survivors
from repository import ROOT

from grading.sandbox.fork_server import ForkServer

# A bwrap that blocks after forking, while its child waits for it: that is when bubblewrap writes to
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


def test_the_server_has_neither_the_graders_input_nor_its_output() -> None:
    command = [sys.executable, "-c", STREAMS]
    done = subprocess.run(
        command, cwd=ROOT, input="typed", capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [os.devnull, os.devnull]


@pytest.mark.usefixtures("pipe")
def test_closing_a_starting_server_leaves_no_process() -> None:
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
