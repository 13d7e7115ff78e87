"""Tests of cells that disturb their kernel.

Right solutions keep their points; cheats gain none.
"""

from pathlib import Path

import hostile
import psutil
import pytest
from classroom import code, functions, points, with_first
from series import in_part
from submissions import Submission, hand_in, submissions

from grading import grade_notebook
from grading.execution import probe
from grading.execution.time_limits import TimeLimits
from grading.grade_notebook import grade
from grading.release import exercises
from grading.sandbox import cell_channel

NAME = "int8-matmul"
FULL = sum(points(NAME).values())
QUICK = TimeLimits(cell=1, call=5)


def notebook(submission=""):
    """Return exercise 1 with the functions of a submission from the tests' library.

    Without a name, the functions are right.
    """
    found = [one for one in submissions(NAME) if one.name == submission]
    mine = found[0] if found else Submission(NAME, "reference", "", {})
    source = exercises.source(NAME)
    return hand_in(mine, source, source, functions(NAME))


def total(graded):
    return sum(part["points"] for part in graded.metadata.rooflib.parts)


CHEATS = {
    "displayhook": "import sys\nsys.displayhook = lambda value: print(20.0)",
    "displayhook called": "import sys\nsys.displayhook(3)\nsys.displayhook('ok')",
    "syntax tree": """
import ast
class NoAssert(ast.NodeTransformer):
    def visit_Assert(self, node):
        return ast.Pass()
    def visit_Expr(self, node):
        return ast.Expr(ast.Constant(20.0))
get_ipython().ast_transformers.append(NoAssert())
""",
    "run_cell": """
shell = get_ipython()
old = shell.run_cell
shell.run_cell = lambda *words, **options: old("20.0", **options)
""",
    "check replaced": """
import roofkit.check
roofkit.check.check = lambda *words: 20.0
roofkit.check.compare.same = lambda *words: True
roofkit.check.compare.judge = lambda *words: None
""",
    "warnings are errors": "import warnings\nwarnings.simplefilter('error')",
    "stderr": "import sys\nprint('careful', file=sys.stderr)",
    "stdout replaced": "import io, sys\nsys.stdout = io.StringIO()",
    "input transformer": "get_ipython().input_transformers_cleanup.append(lambda lines: ['20.0'])",
}
# Cells that change how later cells run, so that a right solution loses points too.
BREAKS_ITSELF = {"run_cell", "input transformer"}


@pytest.mark.parametrize("cheat", in_part(CHEATS))
def test_tampering_with_the_kernel_gains_no_points(cheat):
    wrong, right = notebook("wrong_output_not_counted"), notebook()
    assert total(grade(with_first(wrong, CHEATS[cheat]), NAME, "seed", QUICK)) <= 7
    if cheat not in BREAKS_ITSELF:
        assert total(grade(with_first(right, CHEATS[cheat]), NAME, "seed", QUICK)) == FULL


@pytest.fixture
def runs(monkeypatch):
    """Record the result of each run of a notebook."""
    found, run = [], grade_notebook.run

    def noted(*arguments):
        found.append(run(*arguments))
        return found[-1]

    monkeypatch.setattr(grade_notebook, "run", noted)
    return found


def test_an_endless_cell_is_stopped_and_later_cells_run(runs):
    graded = grade(with_first(notebook(), "while True:\n    pass"), NAME, "seed", QUICK)
    assert total(graded) == FULL
    assert graded.cells[0].outputs[-1].traceback == [
        "This cell ran for more than 1 s and was stopped."
    ]
    assert len(runs) == 1, "a cell over its CPU limit must not be retried now"
    assert graded.metadata.rooflib.late, "the notebook must be retried alone later"


WAITS = "import time\ntime.sleep(1000)"


def test_the_cpu_limit_of_a_cell_does_not_count_sleep():
    waits = WAITS.replace("1000", "1")
    graded = grade(with_first(notebook(), waits), NAME, "seed", TimeLimits(cell=0.8))
    assert total(graded) == FULL
    assert graded.cells[0].outputs == []
    assert graded.metadata.rooflib.refused == [], "refusals must not include the probe's own"


def test_a_cell_over_only_its_wall_limit_is_retried(runs):
    graded = grade(with_first(notebook(), WAITS), NAME, "seed", TimeLimits(cell_wall=2))
    assert [run.late for run in runs] == [{"wall"}, {"wall"}]
    assert total(graded) == FULL
    assert graded.cells[0].outputs[-1].traceback == [
        "This cell ran for more than 2 s and was stopped."
    ]


def test_a_timed_out_notebook_is_only_marked_late_if_the_caller_retries_it(runs):
    graded = grade(
        with_first(notebook(), WAITS), NAME, "seed", TimeLimits(cell_wall=1), None, False
    )
    assert len(runs) == 1
    assert graded.metadata.rooflib.late


@pytest.mark.parametrize("unsafe", [False, True])
def test_the_total_time_of_a_notebook_is_limited(runs, unsafe):
    book = with_first(with_first(notebook(), WAITS), WAITS)
    graded = grade(book, NAME, "seed", TimeLimits(cell_wall=600, notebook=4), unsafe)
    assert len(runs) == 1, "there is no time for another try"
    assert graded.metadata.rooflib.trouble == grade_notebook.STOP_REASONS["time"]
    assert graded.metadata.rooflib.late
    assert total(graded) == 0


def test_a_notebook_whose_function_never_returns_is_run_twice(runs):
    ends = notebook("wrong_output_not_counted")
    loops = code("def bytes_moved(B, D, F):\n    while True:\n        pass")
    ends.cells.insert(_place(ends, "bytes-moved"), loops)
    graded = grade(ends, NAME, "seed", TimeLimits(call=0.2))
    causes = {part["key"]: part["cause"] for part in graded.metadata.rooflib.parts}
    assert causes["bytes-moved"] == "too-late"
    assert graded.metadata.rooflib.late
    assert len(runs) == 2


ELSEWHERE = """
import functools, os
plain = {name}
@functools.wraps(plain)
def {name}(*words, **named):
    assert os.getpid() == PROCESS
    return plain(*words, **named)
"""


@pytest.mark.parametrize(
    ("key", "cause"), [("bytes-moved", "raised"), (list(points(NAME))[-1], "")]
)
def test_only_the_last_check_runs_in_the_notebooks_own_process(runs, key, cause):
    book = with_first(notebook(), "import os\nPROCESS = os.getpid()")
    book.cells.insert(_place(book, key), code(ELSEWHERE.format(name=functions(NAME)[key])))
    graded = grade(book, NAME, "seed", QUICK)
    causes = {part["key"]: part["cause"] for part in graded.metadata.rooflib.parts}
    assert causes[key] == cause
    assert len(runs) == 1


@pytest.mark.long
def test_cpu_time_of_cells_is_not_charged_to_the_last_function(runs):
    book = with_first(notebook(), "import time\nwhile time.process_time() < 2.5:\n    pass")
    last = list(points(NAME))[-1]
    spins = "end = time.process_time() + 0.02\n    while time.process_time() < end:\n        pass"
    spinning = ELSEWHERE.format(name=functions(NAME)[last]).replace(
        "assert os.getpid() == PROCESS", spins
    )
    book.cells.insert(_place(book, last), code(spinning))
    # The calls get about 2 s of CPU time in all, less than the first cell uses.
    graded = grade(book, NAME, "seed", TimeLimits(cell=100, call=0.05))
    assert total(graded) == FULL
    assert len(runs) == 1


@pytest.mark.long
def test_a_notebook_with_three_endless_cells_is_abandoned():
    book = notebook()
    for _ in range(4):
        book = with_first(book, "while True:\n    pass")
    trouble = grade(book, NAME, "seed", TimeLimits(cell=0.5)).metadata.rooflib.trouble
    assert trouble == "3 cells ran for too long; the cells after them were not run."


def after_two_parts(source):
    """Grade a right notebook with an extra cell after the second check."""
    book = notebook()
    book.cells.insert(_place(book, "operations") + 1, code(source))
    return grade(book, NAME, "seed", QUICK)


def _place(book, key):
    (place,) = (
        index
        for index, cell in enumerate(book.cells)
        if cell.metadata.get("nbgrader", {}).get("grade_id") == key
    )
    return place


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (
            # Ignore SIGINT: a second interrupt would escape from an `except KeyboardInterrupt`.
            "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass",
            "A cell could not be stopped; the cells after it were not run.",
        ),
        ("import os\nos._exit(0)", "A cell ended the whole Python process"),
        (
            "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))",
            "A cell used up the processes or files that a notebook may have",
        ),
    ],
    ids=["ignores interrupts", "os._exit", "no more files"],
)
def test_parts_before_a_kernel_dies_keep_their_points(source, reason):
    graded = after_two_parts(source)
    assert graded.metadata.rooflib.trouble.startswith(reason)
    assert total(graded) == 5
    last = graded.metadata.rooflib.parts[-1]
    assert (last.points, last.cause, last.sentences[0]) == (
        0,
        "not-reached",
        graded.metadata.rooflib.trouble,
    )


def test_sys_exit_and_input_end_only_their_cell():
    for source in ("import sys\nsys.exit()", "input('?')"):
        graded = after_two_parts(source)
        assert graded.metadata.rooflib.trouble == ""
        assert total(graded) == FULL


def test_the_size_of_huge_output_is_limited():
    graded = grade(with_first(notebook(), "print('x' * 30_000_000)"), NAME, "seed", QUICK)
    assert total(graded) == FULL
    assert len(str(graded.cells[0].outputs)) < 2_000_000


def test_an_endless_message_ends_the_run_without_filling_memory():
    (endless,) = (one for one in hostile.cells() if one.name == "endless_message")
    process = psutil.Process()
    before = process.memory_info().rss
    graded = after_two_parts(endless.source)
    assert process.memory_info().rss - before < 50_000_000
    said = "A cell sent more than is taken in; the cells after it were not run."
    assert graded.metadata.rooflib.trouble == said
    assert total(graded) == 5, "what was reached before counts"


CHATTY = "for _ in range(30):\n    print('x' * 100_000, flush=True)\nprint('the end')"


def test_printed_output_is_truncated():
    graded = grade(with_first(notebook(), CHATTY), NAME, "seed", QUICK)
    assert total(graded) == FULL
    assert 800_000 < len(str(graded.cells[0].outputs)) < 1_000_000
    assert "the end" not in str(graded.cells[0].outputs)


def test_a_notebook_over_its_output_budget_sends_only_small_messages(monkeypatch):
    monkeypatch.setattr(cell_channel, "BUDGET_BYTES", 500_000)
    graded = grade(with_first(notebook(), CHATTY), NAME, "seed", QUICK)
    assert total(graded) == FULL
    assert 300_000 < len(str(graded.cells[0].outputs)) < 500_000
    assert "the end" in str(graded.cells[0].outputs)


def test_modules_beside_the_notebook_cannot_be_imported(tmp_path, monkeypatch):
    for name in ("numpy.py", "rooflib.py", "json.py"):
        (tmp_path / name).write_text("raise ImportError('shadow')\n")
    monkeypatch.chdir(tmp_path)
    assert total(grade(with_first(notebook(), "import numpy"), NAME, "seed", QUICK)) == FULL


def test_nbgrader_reads_the_same_points_from_check_cells():
    from nbgrader.utils import determine_grade

    graded = grade(notebook("wrong_output_not_counted"), NAME, "seed", QUICK)
    got = {
        cell.metadata.nbgrader.grade_id: determine_grade(cell)
        for cell in graded.cells
        if exercises.is_check(cell)
    }
    assert got["bytes-moved"] == (0, 3)
    assert got["operations"] == (2, 2)
    assert sum(score for score, _ in got.values()) == total(graded) == 7


def test_a_failed_fork_is_reported_and_leaks_no_file_descriptor(monkeypatch):
    def full():
        raise BlockingIOError

    monkeypatch.setattr(probe, "_fork", full)
    before = list(Path("/proc/self/fd").iterdir())
    with pytest.raises(BlockingIOError):
        probe.snapshot("intensity", {}, "/nowhere")
    assert len(list(Path("/proc/self/fd").iterdir())) == len(before)
