"""The fork server ends with its grader, also while bubblewrap is still starting."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from classroom.processes import descendants, outliving
from repository import ROOT

from grading.sandbox.fork_server import ForkServer

# bubblewrap writes to --info-fd after it has forked and before it lets its child go on. With a full
# pipe there it stays at that point.
HELD = """#!/bin/sh
exec 9<>{pipe}
exec {bwrap} --info-fd 9 "$@"
"""


@pytest.fixture
def pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Hold every bubblewrap where its child waits for it, until this pipe is read."""
    fifo, script = tmp_path / "pipe", tmp_path / "bwrap"
    os.mkfifo(fifo)
    end = os.open(fifo, os.O_RDWR | os.O_NONBLOCK)
    try:
        while True:
            os.write(end, bytes(1 << 12))
    except BlockingIOError:
        pass
    script.write_text(HELD.format(pipe=fifo, bwrap=shutil.which("bwrap")))
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    yield end
    os.close(end)


def started(bubblewrap: int) -> set[int]:
    """Wait until bubblewrap has forked, and return both processes."""
    while not (found := descendants(bubblewrap)):
        os.sched_yield()
    return {bubblewrap, *found}


def left(processes: set[int]) -> set[int]:
    """Return those that do not end, after killing them."""
    found = outliving(processes)
    for process in found:
        os.kill(process, signal.SIGKILL)
    return found


@pytest.mark.usefixtures("pipe")
def test_a_server_closed_while_it_starts_leaves_no_process() -> None:
    server = ForkServer()
    processes = started(server.process.pid)
    server.close()
    assert not left(processes)


GRADER = """
from grading.sandbox.fork_server import ForkServer
server = ForkServer()
print(server.process.pid, flush=True)
server.wait_until_ready()
"""


@pytest.mark.parametrize("way", [signal.SIGINT, signal.SIGKILL])
def test_a_grader_that_ends_while_its_server_starts_leaves_no_process(
    pipe: int, way: signal.Signals
) -> None:
    """SIGINT reaches the whole process group, as from a terminal."""
    with subprocess.Popen(
        [sys.executable, "-c", GRADER],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as grader:
        assert grader.stdout
        processes = started(int(grader.stdout.readline()))
        if way == signal.SIGINT:
            os.killpg(grader.pid, way)
        else:
            grader.send_signal(way)
    if way == signal.SIGKILL:
        os.read(pipe, 1 << 20)  # let bubblewrap go on
    assert not left(processes)
