"""Processes forked from one that has a fork server share it: workers of one grader."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from grading.sandbox.inside import memory

ROOT = Path(__file__).resolve().parents[2]
WORKERS = """
import json, os, sys
from grading import sandbox
from grading.sandbox import fork_server

fork_server.start_shared()
fork_server.wait_for_shared()
here, there = os.pipe()
open_now, go_on = os.pipe()
worker = os.fork()
with sandbox.open() as box:  # the first of each process, at one time
    os.write(there, json.dumps([box.folder.name, fork_server.fork_server().pid]).encode() + b"\\n")
    if worker == 0:
        os.close(go_on)
        os.read(open_now, 1)  # until the other has said its own
if worker == 0:
    os._exit(0)
os.close(open_now)
os.close(there)
with os.fdopen(here) as lines:
    said = [json.loads(lines.readline())]
    said.append(json.loads(lines.readline() or "null"))
os.close(go_on)
status = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
print(json.dumps([said, os.getpid(), status]))
"""


def test_workers_that_share_a_server_have_folders_of_their_own() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WORKERS],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said, grader, status = json.loads(done.stdout)
    assert status == 0, done.stderr
    (one, owner), (other, same_owner) = said
    assert one != other
    assert owner == same_owner == grader, "each had a server of its own"


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
@pytest.mark.parametrize("shared", [True, False])
def test_what_may_be_shared_is_told_from_what_can_not(shared: bool) -> None:
    """What no process shares need not be looked for in its maps."""
    import mmap

    size = 64 << 20
    flags = mmap.MAP_ANONYMOUS | (mmap.MAP_SHARED if shared else mmap.MAP_PRIVATE)
    _, before, _ = memory._sizes(Path("/proc/self"))
    with mmap.mmap(-1, size, flags):
        _, now, _ = memory._sizes(Path("/proc/self"))
    assert (now - before >= size) == shared
