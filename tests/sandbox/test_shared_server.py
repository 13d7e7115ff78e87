"""Workers of a grader share the fork server of the process that forked them."""

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
reports, report = os.pipe()
open_now, go_on = os.pipe()
worker = os.fork()
with sandbox.open() as box:  # both processes open their first box at once
    os.write(report, json.dumps([box.folder.name, fork_server.fork_server().pid]).encode() + b"\\n")
    if worker == 0:
        os.close(go_on)
        os.read(open_now, 1)  # until the parent has both lines
if worker == 0:
    os._exit(0)
os.close(open_now)
os.close(report)
with os.fdopen(reports) as lines:
    boxes = [json.loads(lines.readline())]
    boxes.append(json.loads(lines.readline() or "null"))
os.close(go_on)
status = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
print(json.dumps([boxes, os.getpid(), status]))
"""


def test_workers_that_share_a_server_get_separate_folders() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WORKERS],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    boxes, grader, status = json.loads(done.stdout)
    assert status == 0, done.stderr
    (one, owner), (other, same_owner) = boxes
    assert one != other
    assert owner == same_owner == grader, "each process started a server"


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("shared", [True, False])
def test_private_mappings_do_not_count_as_sharable(shared: bool) -> None:
    """If they counted, the memory check would read /proc/PID/maps in vain."""
    import mmap

    size = 64 << 20
    flags = mmap.MAP_ANONYMOUS | (mmap.MAP_SHARED if shared else mmap.MAP_PRIVATE)
    _, before, _ = memory._sizes(Path("/proc/self"))
    with mmap.mmap(-1, size, flags):
        _, now, _ = memory._sizes(Path("/proc/self"))
    assert (now - before >= size) == shared
