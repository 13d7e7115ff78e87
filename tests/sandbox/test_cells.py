"""How the process in a sandbox runs cells, where a stock kernel leaves it to chance."""

import shutil
import signal
import subprocess
import sys
from typing import Any

import pytest
from classroom.processes import outliving
from repository import ROOT
from sandboxed import LIMITS, run

from grading import sandbox

LONG = "print('y' * 300_000, end='')"
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
        (f"import subprocess\nsubprocess.run(['python3', '-c', {LONG!r}])", "y" * 300_000),
        (FORK, "before\nfrom a fork\nand its shell\nfrom the notebook\n"),
        ("print('\\ud800 half a letter')", "? half a letter\n"),
    ],
)
def test_what_others_write_is_shown_in_its_order(source: str, expected: str) -> None:
    assert run(source, "print('next')").texts == [expected, "next\n"]


def test_what_was_written_is_not_kept() -> None:
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


def test_what_a_thread_prints_between_two_cells_belongs_to_none() -> None:
    """Or it belongs to the first, if the thread was quick."""
    texts = run(LATE_THREAD, "done.wait()\nprint('second')").texts
    assert texts[1] in ("second\n", "between two cells\nsecond\n")


def test_many_threads_that_show_at_once_leave_every_line_whole() -> None:
    talk = (
        "import threading\n"
        "def talk(word):\n    for _ in range(3):\n"
        "        display({'text/plain': word * 500_000}, raw=True)\n"
        "threads = [threading.Thread(target=talk, args=(word,)) for word in 'abcd']\n"
        "for one in threads: one.start()\n"
        "for one in threads: one.join()"
    )
    shown: list[Any] = []
    with sandbox.open(LIMITS) as box:
        channel = box.channel()
        channel.order("run", talk)
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
def test_a_cell_that_is_stopped_leaves_all_as_it_was(endless: str) -> None:
    after = "import asyncio\nprint('x', x, await asyncio.sleep(0, 'awake'))"
    done = run("x = 1", endless, after, late=[1])
    assert (done.texts[2], done.died) == ("x 1 awake\n", False)


def test_an_interrupt_that_comes_too_late_stops_nothing() -> None:
    with sandbox.open(LIMITS, unsafe=True) as box:  # to which a signal goes without a detour
        channel = box.channel()
        for source in ("x = 1", "assert x == 1"):
            channel.order("run", source)
            message = channel.receive(60)
            assert message is not None
            assert message[0] == "done"
            box.signal(signal.SIGINT)


LEAVE = ("exit()", "quit()", "raise SystemExit", "import sys; sys.exit()")
LEAVE += ("import asyncio; asyncio.get_running_loop().stop()",)
BETWEEN = """
shell = get_ipython()
plain = shell.transform_cell
def once(*words):
    shell.transform_cell = plain
    raise KeyboardInterrupt
shell.transform_cell = once
"""


def test_an_interrupt_before_a_cell_has_begun_ends_that_cell_alone() -> None:
    done = run(BETWEEN, "print('not run')", "print('still')")
    assert (done.texts[1:], done.died) == (["", "still\n"], False)


@pytest.mark.parametrize("leave", LEAVE)
def test_who_leaves_leaves_a_cell_alone(leave: str) -> None:
    done = run("x = 1", leave, "print('x', x)")
    assert (done.texts[2], done.died) == ("x 1\n", False)


def test_what_runs_in_the_loop_goes_on_with_the_next_cell() -> None:
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
def test_a_stream_says_what_a_stream_says(source: str, error: str) -> None:
    tried = f"import sys\ntry:\n    {source}\nexcept Exception as error:\n    said = str(error)"
    assert run(tried, "import os\nos.write(2, said.encode())").texts[1] == error


def test_a_socket_that_the_notebook_closes_is_the_end_of_it() -> None:
    assert run("import os\nos.closerange(3, 256)", "print('still')").died


GRADER = """
import sys
from grading import sandbox
box = sandbox.open(unsafe=True)
channel = box.channel()
channel.order("run", "print('begun', flush=True)\\nwhile True: pass")
assert channel.receive(60)
print(box._process.pid, *(folder.name for folder in box._folders), flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it ends at the next order")
def test_what_runs_cells_without_a_sandbox_ends_with_a_grader_that_was_killed() -> None:
    grader = subprocess.Popen(
        [sys.executable, "-c", GRADER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    )
    assert grader.stdout
    process, *folders = grader.stdout.readline().decode().split()
    grader.kill()
    grader.communicate()
    assert not outliving({int(process)})
    for folder in folders:
        shutil.rmtree(folder)


def test_the_grader_runs_cells_without_a_kernel_s_messaging() -> None:
    look = "import grading.execution.notebook, sys\nprint({'zmq', 'nbclient'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
