"""Tests of output, interrupts and exits of cells.

Some are races that a stock kernel loses.
"""

import shutil
import signal
import subprocess
import sys
from typing import Any

import pytest
from classroom.processes import survivors
from repository import ROOT
from sandboxed import LIMITS, run

from grading import sandbox

LONG_OUTPUT = "print('y' * 300_000, end='')"
FORK = """
import os
print("before", flush=True)
child = os.fork()
if child == 0:
    print("from a fork", flush=True)
    get_ipython().run_cell("print('and its shell')")
    get_ipython().display_pub.clear_output()
    os._exit(0)
os.waitpid(child, 0)
print("from the notebook")
"""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import os\nprint('a')\nos.system('echo b')\nprint('c')", "a\nb\nc\n"),
        ("import os\nos.write(1, b'x\\xff\\n')\nprint('y')", "x\ufffd\ny\n"),
        ("import os\nos.system('echo error >&2')", "error\n"),
        ("import subprocess\nsubprocess.run('echo a; exit 3', shell=True)", "a\n"),
        ("import subprocess, sys\nsubprocess.run(['echo', 'a'], stdout=sys.stdout)", "a\n"),
        ("import ctypes\nctypes.CDLL(None).dprintf(1, b'from C\\n')", "from C\n"),
        (f"import subprocess\nsubprocess.run(['python3', '-c', {LONG_OUTPUT!r}])", "y" * 300_000),
        (FORK, "before\nfrom a fork\nand its shell\nfrom the notebook\n"),
        ("print('\\ud800 half a letter')", "? half a letter\n"),
    ],
)
def test_output_of_subprocesses_and_c_code_is_shown_in_order(source: str, expected: str) -> None:
    assert run(source, "print('next')").texts == [expected, "next\n"]


def test_stdout_and_stderr_files_are_truncated_between_cells() -> None:
    look = "import os\nprint([os.fstat(one).st_size for one in (1, 2)])"
    done = run("import os\nos.system('head -c 100000 /dev/zero >&2')", look)
    assert done.texts[1] == "[0, 0]\n"


LATE_THREAD = """
import threading
go, done = threading.Event(), threading.Event()
def later():
    go.wait()
    print("between two cells")
    display("shown between two cells")
    done.set()
threading.Thread(target=later).start()
threading.Timer(0, go.set).start()
"""


def test_output_between_cells_is_dropped_or_shown_by_the_next_cell() -> None:
    """The second cell may show the text if the thread prints while that cell runs."""
    texts = run(LATE_THREAD, "done.wait()\nprint('second')").texts
    assert texts[1] in ("second\n", "between two cells\nsecond\n")


def test_concurrent_displays_do_not_interleave() -> None:
    show = (
        "import threading\n"
        "def show(word):\n    for _ in range(3):\n"
        "        display({'text/plain': word * 500_000}, raw=True)\n"
        "threads = [threading.Thread(target=show, args=(word,)) for word in 'abcd']\n"
        "for one in threads: one.start()\n"
        "for one in threads: one.join()"
    )
    shown: list[Any] = []
    with sandbox.open(LIMITS) as box:
        channel = box.channel()
        channel.request("run", show)
        while (message := channel.receive(60)) != ("done", {}):
            assert message is not None
            shown.append(message[1]["data"]["text/plain"])
    assert sorted(shown) == sorted(word * 500_000 for word in "abcd" for _ in range(3))


@pytest.mark.parametrize(
    "endless",
    [
        "while True: pass",
        "while True: print('x' * 1000, flush=True)",
        "import asyncio\nawait asyncio.sleep(600)",
        "import asyncio\nawait asyncio.sleep(0)\nwhile True: pass",
        "import time\ntime.sleep(600)",
        "while True: display(7)",
    ],
)
def test_interrupting_a_cell_keeps_the_notebook_state(endless: str) -> None:
    after = "import asyncio\nprint('x', x, await asyncio.sleep(0, 'awake'))"
    done = run("x = 1", endless, after, late=[1])
    assert (done.texts[2], done.died) == ("x 1 awake\n", False)


def test_an_interrupt_cancels_a_cell_at_its_await() -> None:
    waits = "import asyncio\ntry:\n    await asyncio.sleep(600)\nfinally:\n    print('cancelled')"
    assert run(waits, late=[0]).texts[0].startswith("cancelled\n")


def test_errors_after_the_kernels_warm_up_are_printed_as_by_plain_python() -> None:
    code = "from grading.sandbox.inside import cells\ncells.warm_up()\n1 / 0"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stderr.startswith("Traceback (most recent call last):\n")
    assert done.stderr.endswith("\nZeroDivisionError: division by zero\n")


def test_interrupt_after_a_cell_has_finished_is_ignored() -> None:
    with sandbox.open(LIMITS, unsafe=True) as box:  # no init: signals reach the kernel directly
        channel = box.channel()
        for source in ("x = 1", "assert x == 1"):
            channel.request("run", source)
            message = channel.receive(60)
            assert message is not None
            assert message[0] == "done"
            box.signal(signal.SIGINT)


EXITS = ("exit()", "quit()", "raise SystemExit", "import sys; sys.exit()")
EXITS += ("import asyncio; asyncio.get_running_loop().stop()",)
INTERRUPT_NEXT_CELL = """
shell = get_ipython()
plain = shell.transform_cell
def once(*words):
    shell.transform_cell = plain
    raise KeyboardInterrupt
shell.transform_cell = once
"""


def test_interrupt_before_a_cell_starts_skips_only_that_cell() -> None:
    done = run(INTERRUPT_NEXT_CELL, "print('not run')", "print('still')")
    assert (done.texts[1:], done.died) == (["", "still\n"], False)


@pytest.mark.parametrize("exit_code", EXITS)
def test_exit_ends_only_its_cell(exit_code: str) -> None:
    done = run("x = 1", exit_code, "print('x', x)")
    assert (done.texts[2], done.died) == ("x 1\n", False)


def test_asyncio_tasks_continue_in_the_next_cell() -> None:
    begin = (
        "import asyncio\n"
        "async def steps():\n    for one in range(3):\n"
        "        await asyncio.sleep(0)\n        seen.append(one)\n"
        "seen = []\ntask = asyncio.create_task(steps())"
    )
    assert run(begin, "await task\nprint(seen)").texts[1] == "[0, 1, 2]\n"


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("sys.stdout.write(b'x')", "write() argument must be str, not <class 'bytes'>"),
        ("sys.stdout.close()\n    sys.stdout.write('x')", "I/O operation on closed file"),
    ],
)
def test_stdout_raises_the_standard_stream_errors(source: str, error: str) -> None:
    tried = f"import sys\ntry:\n    {source}\nexcept Exception as error:\n    said = str(error)"
    assert run(tried, "import os\nos.write(2, said.encode())").texts[1] == error


def test_a_notebook_that_closes_the_graders_socket_ends() -> None:
    assert run("import os\nos.closerange(3, 256)", "print('still')").died


GRADER = """
import sys
from grading import sandbox
box = sandbox.open(unsafe=True)
channel = box.channel()
channel.request("run", "print('begun', flush=True)\\nwhile True: pass")
assert channel.receive(60)
print(box._process.pid, *(folder.name for folder in box._folders), flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(
    sys.platform != "linux", reason="without death signals it ends when it next reads a request"
)
def test_unsandboxed_kernel_dies_with_a_killed_grader() -> None:
    grader = subprocess.Popen(
        [sys.executable, "-c", GRADER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    )
    assert grader.stdout
    process, *folders = grader.stdout.readline().decode().split()
    grader.kill()
    grader.communicate()
    assert not survivors({int(process)})
    for folder in folders:
        shutil.rmtree(folder)


def test_grader_imports_neither_zmq_nor_nbclient() -> None:
    look = "import grading.execution.notebook, sys\nprint({'zmq', 'nbclient'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
