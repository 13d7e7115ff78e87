"""Tests of pages' kernels as forks: they work like separate processes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from repository import ROOT, small_book

# Prints the state that a cell finds in a kernel, and changes most of it. The plot at the end needs
# the right Matplotlib backend.
PROBE = """
import os, sys
import matplotlib, matplotlib.pyplot as plt, numpy as np, rooflib as rl
print(sys.path, os.getcwd(), os.getpgrp() == os.getpid(), os.environ["MPLBACKEND"])
print(matplotlib.rcParams["backend"], plt.rcParams["lines.linewidth"], hasattr(rl, "mark"))
print(sorted(globals().keys() - {"get_ipython", "open"}), os.environ.get("MARK"))
print(os.environ.get("GONE"))
plt.rcParams["lines.linewidth"] = 7
os.environ["MARK"] = rl.mark = "changed"
sys.path.append("changed")
os.chdir("/")
plt.plot([1, 2]);
"""
# Runs pages, given as lists of cells, one after the other; prints the outputs of their cells.
SCRIPT = """
import json, os, sys
from contextlib import nullcontext
from pathlib import Path
sys.path[0] = SITE
import nbformat
from commands import build, executed_pages, forked_kernels

if __name__ == "__main__":
    folder, forked, pages = Path(sys.argv[1]), sys.argv[2], json.load(sys.stdin)
    build.prepare_kernels(folder, folder / "ipython")
    os.environ["GONE"] = "set when the imports start"
    with forked_kernels.forks(folder) if forked else nullcontext():
        del os.environ["GONE"]
        for cells in pages:
            page = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
            succeeded = executed_pages.run((folder / "chapters" / "page.md", page))
            outputs = [output for cell in page.cells for output in cell.outputs]
            print(json.dumps([succeeded, outputs]), flush=True)
"""


def start(folder: Path, pages: list[list[str]], forked: bool = True) -> subprocess.Popen[str]:
    script = folder / "run.py"
    script.write_text(SCRIPT.replace("SITE", repr(str(ROOT / "site"))))
    command = [sys.executable, str(script), str(folder), "forked" if forked else ""]
    pipe = subprocess.PIPE
    run = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    assert run.stdin is not None
    run.stdin.write(json.dumps(pages))
    run.stdin.close()
    run.stdin = None
    return run


def outputs(folder: Path, pages: list[list[str]], forked: bool = True) -> list[list[object]]:
    written, errors = start(folder, pages, forked).communicate()
    found = [json.loads(line) for line in written.splitlines()]
    assert len(found) == len(pages), errors
    return found


@pytest.mark.long
def test_pages_find_the_same_state_in_a_fork_as_in_a_new_kernel(tmp_path: Path) -> None:
    folder = small_book(tmp_path).folder
    own = outputs(folder, [[PROBE]], forked=False)
    end = "import os\nos._exit(3)"
    first, failed, ended, last = outputs(folder, [[PROBE], ["1 / 0"], [end], [PROBE]])
    assert own[0][0] is True
    assert "image/png" in json.dumps(own)
    assert [first] == [last] == own
    assert (failed[0], ended) == (False, [False, []])
    assert "ZeroDivisionError" in json.dumps(failed)


def test_a_package_that_cannot_be_imported_is_reported_by_the_cell(tmp_path: Path) -> None:
    folder = small_book(tmp_path).folder
    (folder / "rooflib" / "__init__.py").write_text("1 +\n")
    [(succeeded, found)] = outputs(folder, [["import rooflib"]])
    assert succeeded is False
    assert "SyntaxError" in json.dumps(found)


@pytest.mark.long
def test_a_kernel_ends_when_the_build_is_killed(tmp_path: Path) -> None:
    folder = small_book(tmp_path).folder
    alive = tmp_path / "alive"
    os.mkfifo(alive)
    held = f"file = open({str(alive)!r}, 'w')\nfile.write('x'); file.flush()\nwhile True: pass"
    run = start(folder, [[held]])
    with alive.open() as file:
        assert file.read(1) == "x"
        run.kill()
        run.communicate()
        assert file.read() == ""  # returns when the kernel, which has the other end, is gone
