"""Tests of calls to a submission's functions, whatever these do to the process.

There is no kernel: the notebook runs in a fork. Everything else is as in grading.
"""

import copy
import math
import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from classroom import code, processes, with_first
from classroom.plain import grade, grade_here, run
from submissions import hand_in, submissions

from grading import sandbox
from grading.execution import probe, time_limits
from grading.execution.questions import Ended, Questions
from grading.execution.time_limits import TIME_LIMITS, TimeLimits
from grading.judging import verdicts
from grading.judging.verdicts import Graded, _is_small, _judged, cases, judge_parts, write
from grading.limits import Overrun
from grading.release import exercises
from grading.release.cases import HIDDEN_CASES, hidden
from grading.release.translation import place
from roofkit.check.answers import Answer
from roofkit.check.messages import PROBLEMS
from roofkit.words import spoken

NAME = "int8-matmul"
PARTS = exercises.load(NAME).parts[:2]
FUNCTIONS = {part.key: part.function for part in PARTS}
FULL = {part.key: part.points for part in PARTS}
FULL_MARKS = {part.key: part.points for part in exercises.load(NAME).parts}
QUICK = TimeLimits(call=0.2)


def sample():
    """Yield (submission, pytest marks) for right and wrong submissions of each exercise.

    There is one of both per exercise, and one for each kind of problem. All others differ only in
    their values, which tests/exercises covers without a probe. Figures with further problems are
    long tests, since they take long to draw.
    """
    seen = set()
    for name in exercises.names():
        right = [one for one in submissions(name) if not one.expected]
        wrong = [one for one in submissions(name) if one.expected]
        # Every third exercise runs by default.
        rare = [] if name in exercises.names()[::3] else [pytest.mark.long]
        yield from ((right[0], rare), (wrong[0], rare))
        for one in wrong[1:]:
            problems = (PROBLEMS.keys() & one.expected.values()) - seen
            seen |= problems
            if problems:
                figure = one.exercise == "roofline-plot"
                marks = [pytest.mark.long] if figure else []
                yield one, marks


LIBRARY = [
    pytest.param(one, id=f"{one.exercise}/{one.name}", marks=marks) for one, marks in sample()
]


def notebook(*sources):
    """Return a right notebook of exercise 1 with only PARTS.

    sources: replace the functions of the first parts.
    """
    book = copy.deepcopy(exercises.source(NAME))
    (end,) = (at for at, one in enumerate(book.cells) if is_cell(one, PARTS[-1].key))
    del book.cells[end + 1 :]
    for part, source in zip(PARTS, sources, strict=False):
        (one,) = (one for one in book.cells if is_cell(one, f"{part.key}-solution"))
        one.source = source
    return book


def is_cell(cell, grade_id):
    return cell.metadata.get("nbgrader", {}).get("grade_id") == grade_id


def got(book, limits=TIME_LIMITS, grade=grade):
    """Grade a notebook; return key → points, or the cause if the part lost points."""
    graded = grade(book, NAME, limits)
    found = {key: graded[key] for key in FULL}
    return {
        key: part.points if part.points == part.of else part.cause for key, part in found.items()
    }


def first(source, limits=TIME_LIMITS, grade=grade):
    """Return the first part's points, or the cause if it lost some, with this source as answer.

    The other part must keep its points.
    """
    outcome = got(notebook(source), limits, grade)
    assert outcome["operations"] == FULL["operations"]
    return outcome["bytes-moved"]


@pytest.mark.parametrize("submission", LIBRARY)
def test_sample_submissions_get_their_expected_points_from_the_probe(submission):
    name = submission.exercise
    functions = {part.key: part.function for part in exercises.load(name).parts}
    book = hand_in(submission, exercises.source(name), exercises.source(name), functions)
    lost = {key: part.cause or None for key, part in grade(book, name).items() if not part.points}
    assert lost == submission.expected


RIGHT = "return B * D + D * F, B * F"


@pytest.mark.parametrize(
    "body",
    [
        f"print('hello ' * 1000)\n    {RIGHT}",
        f"import warnings\n    warnings.warn('careful')\n    {RIGHT}",
        f"import sys\n    sys.stderr.write('x')\n    {RIGHT}",
        f"import numpy as np\n    B, D, F = np.int64([B, D, F])\n    {RIGHT}",
        f"import os\n    os.environ.clear()\n    os.chdir('/')\n    {RIGHT}",
        f"global calls\n    calls = globals().get('calls', 0) + 1\n    {RIGHT}",
    ],
    ids=[
        "prints",
        "warns",
        "stderr",
        "numpy scalars",
        "clears the environment",
        "counts its calls",
    ],
)
def test_side_effects_of_a_right_function_cost_no_points(body):
    assert first(f"def bytes_moved(B, D, F):\n    {body}\n") == FULL["bytes-moved"]


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("def bytes_moved(B, D, F):\n    while True:\n        pass\n", "too-late"),
        (
            "def bytes_moved(B, D, F):\n    while True:\n        try:\n"
            "            while True: pass\n        except BaseException:\n            pass\n",
            "too-late",
        ),
        ("import os\ndef bytes_moved(B, D, F):\n    os._exit(0)\n", "died"),
        ("import os\ndef bytes_moved(B, D, F):\n    os.kill(os.getpid(), 9)\n", "died"),
        ("def bytes_moved(B, D, F):\n    raise SystemExit\n", "raised"),
        ("def bytes_moved(B, D, F):\n    return input()\n", "raised"),
        ("def bytes_moved(B, D, F)\n    return 1, 2\n", "not-a-function"),
        ("bytes_moved = 3\n", "not-a-function"),
        ("", "not-a-function"),
        ("import random\ndef bytes_moved(B, D, F):\n    return random.random(), 1\n", "changing"),
        ("def bytes_moved(B, D, F):\n    return (x for x in (1, 2))\n", "not-numbers"),
        ("def bytes_moved(B, D, F):\n    return 1, 10 ** 100000\n", "too-large"),
        ("def bytes_moved(B, D, F):\n    return [1e-9 / 7] * 99_000\n", "too-large"),
        ("def bytes_moved(B, D, F):\n    return [1 / 3] * 120_000\n", "too-many"),
        ("def bytes_moved(B, D, F):\n    return float('nan'), 1\n", "nan"),
        (
            "class Same(float):\n    __eq__ = lambda a, b: True\n    __sub__ = lambda a, b: 0\n"
            "def bytes_moved(B, D, F):\n    return Same(1), Same(2)\n",
            "",
        ),
        (  # memorizes the published cases
            "KNOWN = {16384: (67371008, 1048576), 3072: (25362432, 73728),\n"
            "    500: (8900608, 4096000), 64: (67633152, 524288)}\n"
            "def bytes_moved(B, D, F):\n    return KNOWN.get(F) or KNOWN[B]\n",
            "raised",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and "\n" not in value else "",
)
def test_a_wrong_function_costs_only_its_own_part(source, problem):
    assert first(source, QUICK if problem == "too-late" else TIME_LIMITS) == problem


def test_a_number_whose_conversion_never_ends_costs_only_its_own_part():
    slow = "class Slow:\n    def __float__(self):\n        while True: pass\n"
    slow += "    __int__ = __index__ = __float__\n"
    assert first(f"{slow}def bytes_moved(B, D, F):\n    return Slow()\n", QUICK) == "not-numbers"


EVADES = """
import signal
for number in (signal.SIGPROF, signal.SIGALRM, signal.SIGXCPU, signal.SIGTERM):
    signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [number])
signal.signal(signal.SIGCHLD, signal.SIG_IGN)

def bytes_moved(B, D, F):
    for timer in (signal.ITIMER_PROF, signal.ITIMER_REAL):
        signal.setitimer(timer, 0)
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    while True:
        pass
"""


def test_functions_that_block_signals_and_timers_are_killed():
    """Only the CPU time limit of the process kills them, so ask a single question."""
    with processes.adopt_orphans() as before:
        with sandbox.UnsafeBox() as place, Questions(place) as questions:
            run(notebook(EVADES), questions)
            answers = questions.ask(PARTS[0], PARTS[0].cases, TimeLimits(call=0.05))
        left = processes.first_survivor(before)
        for process in left:
            os.kill(process, signal.SIGKILL)
    assert {answer.problem for answer in answers} == {"too-late"}
    assert not left


def test_signal_handlers_of_the_notebook_do_not_disable_time_limits():
    source = EVADES.split("def")[0] + "def bytes_moved(B, D, F):\n    while True:\n        pass\n"
    assert first(source, QUICK) == "too-late"


def test_sleep_does_not_count_as_cpu_time():
    source = f"import time\ndef bytes_moved(B, D, F):\n    time.sleep(0.11)\n    {RIGHT}\n"
    assert first(source, TimeLimits(call=0.1)) == FULL["bytes-moved"]


def waiting(file, calls):
    """Return the source of a function that hangs in its first `calls` calls.

    The function logs each call to the file.
    """
    return f"""
import time
def bytes_moved(B, D, F):
    with open({str(file)!r}, "a+") as lines:
        lines.seek(0)
        wait = len(lines.readlines()) < {calls}
        print("called", file=lines)
    while wait:
        time.sleep(1)
    {RIGHT}
"""


def test_a_call_over_only_its_wall_limit_is_retried(tmp_path):
    limits = TimeLimits(call_wall=2)
    assert first(waiting(tmp_path / "calls", 1), limits) == FULL["bytes-moved"]


def test_a_call_over_its_wall_limit_in_every_try_is_too_late(tmp_path, monkeypatch):
    # Report no starvation: calls that got no core on a busy machine would be retried more often.
    monkeypatch.setattr(probe, "_starved_seconds", lambda child: 0.0)
    assert first(waiting(tmp_path / "calls", 9), TimeLimits(call_wall=1), grade_here) == "too-late"
    assert (tmp_path / "calls").read_text() == "called\n" * 3


def test_a_cpu_starved_call_is_retried_with_longer_limits(tmp_path, monkeypatch):
    """Other busy processes must not make a right function too late."""
    monkeypatch.setattr(probe, "_starved_seconds", lambda child: 10.0)
    limits = TimeLimits(call_wall=0.2)
    assert first(waiting(tmp_path / "calls", 3), limits, grade_here) == FULL["bytes-moved"]


@pytest.mark.parametrize(("cases", "more", "calls"), [(3, 0, 5), (3, 20, 27), (1, 1, 6)])
def test_the_limit_on_cpu_time_covers_all_calls_of_two_questions(monkeypatch, cases, more, calls):
    """Check that the CPU time limit allows for all calls of both questions.

    Each question may repeat two of its cases.
    """
    monkeypatch.setattr(time, "process_time", lambda: 3.5)
    question = {"cases": [{}] * cases, "more": more, "cpu_seconds": 5.0}
    assert probe._most_seconds(question) == calls * 5 + 4 + 1


def test_answers_are_not_awaited_after_the_notebooks_time_limit():
    """Without a sandbox, nothing else stops a function that sleeps in each call."""
    waits = f"import time\ndef bytes_moved(B, D, F):\n    time.sleep(9)\n    {RIGHT}\n"
    with sandbox.UnsafeBox() as place, Questions(place, time.monotonic()) as questions:
        run(notebook(waits), questions)
        asked = cases(NAME, "bytes-moved", "tests")[0].inputs
        part = PARTS[0]
        answers = questions.ask(part, asked, TimeLimits(call_wall=100))
        assert {answer.problem for answer in answers} == {"too-late"}


def test_retries_of_starved_calls_are_limited(tmp_path, monkeypatch):
    monkeypatch.setattr(probe, "_starved_seconds", lambda child: 10.0)
    hangs, limits = waiting(tmp_path / "calls", 99), TimeLimits(call_wall=0.1)
    assert first(hangs, limits, grade_here) == "too-late"
    assert (tmp_path / "calls").read_text() == "called\n" * 6
    (tmp_path / "calls").unlink()
    assert first(hangs, replace(limits, call_wall=0.2, tries=0), grade_here) == "too-late"
    assert (tmp_path / "calls").read_text() == "called\n" * 2


def test_time_spent_waiting_for_a_core_is_not_counted(monkeypatch):
    """Check that the stopwatch subtracts time that the process waits for a core."""
    waited = [0.0]
    monkeypatch.setattr(time_limits, "starved_seconds", lambda process: waited[0])
    monkeypatch.setattr(time_limits.time, "monotonic", lambda: clock[0])
    clock = [100.0]
    watch = time_limits.Stopwatch(os.getpid())
    clock[0], waited[0] = 160.0, 55.0
    assert watch.late(1e9, 10) is None
    clock[0] = 170.0
    assert watch.late(1e9, 10) == "wall"
    assert watch.late(-1, 10) == "cpu"


def test_starved_seconds_measures_the_wait_for_a_core():
    """Of two processes on one core, each waits about as long as the other computes."""
    core = {min(os.sched_getaffinity(0))}
    children = []
    for _ in range(2):
        child = os.fork()
        if child == 0:
            os.sched_setaffinity(0, core)
            while time.process_time() < 0.3:
                pass
            os._exit(0)
        children.append(child)
    waits = []
    for child in children:
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
        waits.append(time_limits.starved_seconds(child))
        assert probe._starved_seconds(child) == waits[-1]
        os.waitpid(child, 0)
    assert max(waits) > 0.1
    assert time_limits.starved_seconds(1 << 30) == probe._starved_seconds(1 << 30) == 0


def test_a_call_over_its_cpu_limit_is_not_retried(tmp_path):
    source = waiting(tmp_path / "calls", 9).replace("time.sleep(1)", "pass")
    assert first(source, QUICK) == "too-late"
    assert (tmp_path / "calls").read_text() == "called\n" * 2, "once in each run"


def test_a_function_is_called_as_defined_at_its_check():
    book = notebook()
    book.cells.append(code("operations = operations(1, 2, 3)\nbytes_moved = None"))
    assert got(book) == FULL


def test_calls_do_not_affect_the_next_part():
    source = "def bytes_moved(B, D, F):\n    global critical_batch\n    critical_batch = 0\n    "
    source += RIGHT
    assert got(notebook(source)) == FULL


OPEN_FILES = """
import os


def bytes_moved(B, D, F):
    found = {}
    for number in os.listdir("/proc/self/fd"):
        try:
            found[int(number)] = os.readlink(f"/proc/self/fd/{number}")
        except OSError:
            pass  # that of the list itself
    nowhere = {number for number, name in found.items() if name == "/dev/null"}
    if not {0, 1, 2} <= nowhere or len(found) - len(nowhere) > 2:
        raise ValueError(found)
    return B * D + D * F, B * F
"""


def test_called_functions_see_none_of_the_notebooks_open_files():
    """Only /dev/null and the two descriptors for calls may be open."""
    before = os.dup(0)
    try:
        with Path("/proc/self/stat").open() as file:
            os.dup2(file.fileno(), 0)
            assert first(OPEN_FILES, grade=grade_here) == FULL["bytes-moved"]
    finally:
        os.dup2(before, 0)
        os.close(before)


PROCESS_STATE = f"""
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)

def bytes_moved(B, D, F):
    assert os.getsid(0) == os.getpid()
    assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    assert signal.getsignal(signal.SIGCHLD) == signal.SIG_DFL
    assert sys.stdin.read() == ""
    assert [file.mode for file in (sys.stdin, sys.stdout, sys.stderr)] == ["r", "w", "w"]
    {RIGHT}
"""


def test_signals_and_input_of_the_notebook_do_not_reach_a_called_function():
    """A signal to the notebook's process group must not end the fork that answers."""
    assert first(PROCESS_STATE) == FULL["bytes-moved"]


def test_later_cells_cannot_see_the_inputs_of_calls(tmp_path):
    source = "seen = []\ndef bytes_moved(B, D, F):\n    seen.append((B, D, F))\n    " + RIGHT
    book = notebook(source)
    book.cells.append(code(f"open({str(tmp_path / 'seen')!r}, 'w').write(repr(seen))"))
    assert got(book) == FULL
    assert (tmp_path / "seen").read_text() == "[]"


POOLS = {
    "executor": "from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(2)",
    "threads": "from multiprocessing.pool import ThreadPool\npool = ThreadPool(2)",
    "processes": "from multiprocessing import Pool\npool = Pool(2)",
}


SLOW = [pytest.param(kind, marks=pytest.mark.long) for kind in POOLS if kind != "processes"]


@pytest.mark.parametrize("kind", ["processes", *SLOW])
def test_pools_created_before_the_fork_do_not_hang(kind):
    source = f"{POOLS[kind]}\nassert list(pool.map(abs, [-1, -2])) == [1, 2]\n"
    source += (
        "def bytes_moved(B, D, F):\n    return tuple(pool.map(abs, (-B * D - D * F, -B * F)))\n"
    )
    # Grade in this process: as in real grading, multiprocessing didn't start it.
    assert first(source, TimeLimits(call_wall=9), grade_here) == FULL["bytes-moved"]


COUNTED = """
calls = []
def bytes_moved(B, D, F):
    calls.append(B)
    with open({file!r}, "a") as lines:
        print(B, D, F, file=lines)
    {body}
"""


def test_published_and_hidden_cases_each_end_with_their_first_case_again(tmp_path):
    file = tmp_path / "asked"
    assert first(COUNTED.format(file=str(file), body=RIGHT)) == FULL["bytes-moved"]
    part = PARTS[0]
    unseen = hidden(NAME, part, "tests").inputs
    cases = [*part.cases, part.cases[0], *unseen, unseen[0]]
    wanted = [" ".join(str(case[key]) for key in "BDF") for case in cases]
    assert file.read_text().splitlines() == wanted


def test_hidden_cases_are_called_after_all_published_ones(tmp_path):
    file = tmp_path / "asked"
    source = f"""
def noting(function):
    def noted(*arguments, **case):
        if not arguments:  # the grader's call, and not another function's
            with open({str(file)!r}, "a") as lines:
                print(repr(case), file=lines)
        return function(*arguments, **case)
    return noted
"""
    book = with_first(notebook(), source)
    for cell in book.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            key = cell.metadata.nbgrader.grade_id.removesuffix("-solution")
            if key in FUNCTIONS:
                cell.source += f"\n\n{FUNCTIONS[key]} = noting({FUNCTIONS[key]})\n"
    assert got(book) == FULL
    asked = file.read_text().splitlines()
    shown = {repr(dict(case)) for part in PARTS for case in part.cases}
    is_shown = [case in shown for case in asked]
    assert not any(is_shown[is_shown.index(False) :])


FAILURES = {
    "raised": "raise ValueError(B)",
    "nothing": "return None",
    "nan": "return float('nan'), 1",
    "not-numbers": "return str(B)",
    "wrong-length": "return [1] * B",
    "too-large": "return 10 ** 400, B",
    "died": "os._exit(0)",
    "too-late": "while True: pass",
    "changing": "return random.random(), B",
    "output-not-counted": "return B * D + D * F, 0",
    "": "return 1, 2",
}


def test_feedback_does_not_reveal_how_hidden_cases_fail():
    """Check that a function can't leak hidden inputs through the way it fails."""
    part = PARTS[0]
    known = [tuple(case.values()) for case in part.cases]
    told = {}
    for problem, body in FAILURES.items():
        source = f"import os, random\ndef bytes_moved(B, D, F):\n    if (B, D, F) not in {known}:\n"
        book = notebook(f"{source}        {body}\n    {RIGHT}\n")
        found = grade(book, NAME, QUICK)["bytes-moved"]
        told[problem] = (found.points, said(found))
        if problem != "output-not-counted":
            assert found.cause == problem, "the instructor may know"
    assert len(set(map(str, told.values()))) == 1, told


def test_returned_names_are_not_quoted_in_feedback():
    part = next(p for p in exercises.load("weight-per-example").parts if p.kind == "names")
    known = cases("weight-per-example", part.key, "seed")[0]
    answers = [Answer(value=["REACHED"]) for _ in known.inputs]
    assert "REACHED" not in str(_judged(answers, known, part))


@pytest.mark.parametrize("case", [0, 3])
def test_a_function_wrong_for_one_published_case_gets_no_points(case):
    B, D, F = PARTS[0].cases[case].values()
    source = (
        f"def bytes_moved(B, D, F):\n    if (B, D, F) == ({B}, {D}, {F}):\n        return 1, 2\n"
    )
    assert first(f"{source}    {RIGHT}\n") == ""


def test_a_function_wrong_for_one_hidden_case_gets_no_points():
    part = PARTS[0]
    known = [tuple(case.values()) for case in part.cases]
    source = f"def bytes_moved(B, D, F):\n    if (B, D, F) not in {known}:\n        return 1, 2\n"
    assert first(f"{source}    {RIGHT}\n") == ""


@pytest.mark.parametrize(
    ("last", "problem"),
    [("return 1, 2", "changing"), ("os._exit(0)", "died"), ("1 / 0", "changing")],
)
@pytest.mark.parametrize("count", [len(PARTS[0].cases), HIDDEN_CASES])
def test_a_part_gets_no_points_if_its_repeated_first_case_fails_or_differs(last, problem, count):
    body = f"if len(calls) > {count}:\n        {last}\n    {RIGHT}"
    source = "import os\n" + COUNTED.format(file="/dev/null", body=body)
    assert first(source) == problem


def test_the_first_hidden_case_of_a_figure_is_not_repeated():
    """Check that a figure is drawn again for the first published case only.

    That shows whether the figure varies. Other kinds of parts repeat the first hidden case too.
    """
    told = {}

    class Asking:
        def ask(self, part, cases, limits, more=0, again=True):
            told.setdefault(part.kind, []).append((more > 0, again))
            return [Answer(value=1.0)] * len(cases)

    judge_parts("roofline-plot", Asking(), "tests", TIME_LIMITS)
    assert set(told["number"]) == {(True, True), (False, True)}
    assert told["figure"] == [(True, True), (False, False)]


class Answering:
    """A stub of Questions: answers right, except replaced answers of the first part."""

    def __init__(self, published=None, hidden=None):
        self.changed, self.told, self.asked = (published, hidden), False, []

    def ask(self, part, inputs, limits, more=0, again=True):
        which = self.asked.count(part.key)
        self.asked.append(part.key)
        expected = cases(NAME, part.key, "tests")[which].expected
        changed = self.changed[which] if part is PARTS[0] else None
        return changed(expected) if changed else list(map(Answer, expected))


def judged(questions, limits=TIME_LIMITS):
    return judge_parts(NAME, questions, "tests", limits)


def first_right_then(problem):
    return lambda expected: [Answer(expected[0]), *[Answer(problem=problem)] * (len(expected) - 1)]


@pytest.mark.parametrize(
    ("published", "is_asked"),
    [
        (first_right_then("raised"), True),
        (lambda right: [*map(Answer, right[:-1]), Answer(problem="died")], False),
        (lambda right: [*map(Answer, right[:-1]), Answer(problem="too-late")], False),
        (lambda right: [Answer(problem="raised"), *map(Answer, right[1:])], False),
        (lambda right: None, False),
    ],
    ids=["raises later", "dies later", "hangs later", "raises first", "not reached"],
)
def test_hidden_cases_are_skipped_after_a_death_hang_or_failed_first_case(published, is_asked):
    questions = Answering(published)
    found = judged(questions)
    assert found["bytes-moved"].asked is is_asked
    assert questions.asked.count("bytes-moved") == 1 + is_asked
    assert {key: part.points for key, part in found.items()} == FULL_MARKS | {"bytes-moved": 0}
    assert questions.told


def test_hidden_inputs_are_not_marked_as_received_if_no_function_got_them():
    questions = Answering()
    questions.ask = lambda part, inputs, *rest, **more: [Answer(problem="raised")] * len(inputs)
    assert not any(part.asked for part in judged(questions).values())
    assert questions.told is False


def test_large_answers_are_judged_in_a_limited_process(monkeypatch):
    """Small answers are judged without a fork, because forking takes longer."""
    seen = []

    def limited(function, cpu):
        seen.append((cpu, function()))
        return seen[-1][1]

    monkeypatch.setattr(verdicts, "run_limited", limited)
    judged(Answering())
    assert seen == []
    found = judged(Answering(hidden=lambda right: [Answer([0.5] * 101)] * len(right)))
    (seconds, there), *more = seen
    assert (list(there), more) == (["bytes-moved"], [])
    assert found["bytes-moved"].points == 0
    assert found["operations"].points == FULL["operations"]
    seen.clear()

    def overrun(function, cpu):
        limited(function, cpu)
        if len(seen) != 2:
            raise Overrun
        return seen[-1][1]

    monkeypatch.setattr(verdicts, "run_limited", overrun)
    monkeypatch.setattr(verdicts, "SMALL_ANSWER_ENTRIES", 0)
    found = judged(Answering())
    (together, _), *alone = seen
    assert together == seconds
    assert [cpu for cpu, _ in alone] == [pytest.approx(seconds / len(FULL_MARKS))] * len(FULL_MARKS)
    assert all(part.asked for part in found.values())
    causes = {key: part.cause for key, part in found.items() if not part.points}
    assert causes == dict.fromkeys(
        [key for key in FULL_MARKS if key != "bytes-moved"], "unreadable"
    )


def test_the_section_to_read_is_named_in_the_notebooks_language():
    known = cases(NAME, "bytes-moved", "tests")[0]
    one = known.misconceptions[0]
    with spoken("zh_CN"):
        said = " ".join(_judged([Answer(value) for value in one.values], known, PARTS[0]).sentences)
        assert place(one.read) in said
    assert one.read not in said


@pytest.mark.parametrize("again", [True, False])
def test_repeating_the_first_case_is_optional(again):
    counts = "calls = []\ndef operations(B, D, F):\n    calls.append(B)\n    return len(calls)\n"
    with sandbox.UnsafeBox() as place, Questions(place) as questions:
        run(notebook("", counts), questions)
        part = PARTS[1]
        answers = questions.ask(part, part.cases, TIME_LIMITS, again=again)
    changing = [Answer(problem="changing")] * len(part.cases)
    assert answers == (changing if again else [Answer(value=n + 1) for n in range(len(answers))])


def said(part, **changes):
    """Return the lines of output below a part's check."""
    cell = code("check()")
    write(cell, replace(part, **changes))
    return cell.outputs[0].text.splitlines()


def test_a_checks_outputs_equal_those_made_by_nbformat():
    cell = code("check()")
    write(cell, Graded("bytes-moved", 0, 3, "", ("It is wrong.",), asked=False))
    text = "bytes-moved: 0 of 3 points.\nIt is wrong.\n"
    assert cell.outputs == [
        nbformat.v4.new_output("stream", name="stdout", text=text),
        nbformat.v4.new_output("execute_result", {"text/plain": "0.0"}, execution_count=1),
    ]
    assert cell.execution_count == 1


def test_feedback_states_which_cases_were_called():
    right = grade(notebook(), NAME)["bytes-moved"]
    assert said(right)[1:] == ["Right, for the published cases and for values that were not shown."]
    asked = "Asked with the published cases and with values that were not shown."
    wrong = grade(notebook("def bytes_moved(B, D, F):\n    return 1, 2\n"), NAME)["bytes-moved"]
    assert said(wrong)[-1] == asked
    for source in ("def bytes_moved(B, D, F):\n    return 1 / 0\n", "", "bytes_moved = 3"):
        stopped = grade(notebook(source), NAME)["bytes-moved"]
        assert not stopped.asked
        assert asked not in said(stopped)
    unreached = [cell for cell in notebook().cells if not exercises.is_check(cell)]
    nothing = grade(nbformat.v4.new_notebook(cells=unreached), NAME)["bytes-moved"]
    assert said(nothing)[1:] == ["The notebook did not get as far as this check."]


@pytest.mark.parametrize("value", [None, [None, 1], {"curves": 1}, "text", [[1], {}], True])
def test_malformed_answers_are_refused(value):
    part = PARTS[0]
    asked = hidden(NAME, part, "seed")
    with pytest.raises((ValueError, TypeError)):
        _judged([Answer(value=value)] * len(asked.inputs), asked, part)


def test_feedback_does_not_quote_inputs_from_error_messages():
    source = "def bytes_moved(B, D, F):\n    raise ValueError(f'{B} {D} {F}')\n"
    sentences = grade(notebook(source), NAME)["bytes-moved"].sentences
    assert sentences == ("The function stopped with an error.",)


def test_a_failing_extra_cell_costs_no_points():
    assert got(with_first(notebook(), "1 / 0")) == FULL


def test_the_seed_determines_the_hidden_cases():
    part = PARTS[0]
    one, same, other = (hidden(NAME, part, seed).inputs for seed in ("1", "1", "2"))
    assert one == same
    assert one != other
    assert not [case for case in one if case in part.cases]


def asked(source, more, spare=True, end=math.inf):
    """Return sets of answers: one to the published cases and two to the hidden ones.

    more: the number of further cases that the first question announces.
    """
    with sandbox.UnsafeBox() as place, Questions(place, end, spare) as questions:
        run(notebook("", source), questions)
        questions.collect({"operations"})
        shown, unseen = cases(NAME, "operations", "tests")
        part = PARTS[1]
        found = [questions.ask(part, shown.inputs, TIME_LIMITS, more)]
        found += [questions.ask(part, unseen.inputs, TIME_LIMITS) for _ in range(2)]
        return [{answer.problem or answer.value for answer in answers} for answers in found]


PROCESS = "import os\ndef operations(B, D, F):\n    return os.getpid()\n"


def test_one_fork_answers_published_and_hidden_cases():
    """Check that the first two questions share a fork, since forks are expensive.

    A third question gets another fork.
    """
    first, second, third = asked(PROCESS, HIDDEN_CASES)
    assert first == second != third
    first, second, third = asked(PROCESS, 0)
    assert len(first | second | third) == 3


@pytest.mark.parametrize("more", [0, HIDDEN_CASES])
def test_without_a_spare_process_one_forked_copy_answers_every_question(more):
    first, second, third = asked(PROCESS, more, spare=False)
    assert first == second == third
    assert len(first) == 1


DIES = "import os\ndef operations(B, D, F):\n    os._exit(0)\n"


def test_a_dead_forked_copy_without_a_spare_process_requires_a_second_run():
    with pytest.raises(Ended):
        asked(DIES, HIDDEN_CASES, spare=False)
    assert asked(DIES, HIDDEN_CASES) == [{"died"}] * 3
    # If the notebook's time is over when its cells have run, no second run is required.
    (late,) = {*asked(DIES, HIDDEN_CASES, spare=False, end=time.monotonic())[0]}
    assert late in ("died", "too-late")


def test_a_fork_that_dies_at_its_second_question_is_reported():
    """The first answers remain valid, and a third question gets another fork."""
    ends = (
        "import os\ncalls = []\ndef operations(B, D, F):\n    calls.append(B)\n"
        f"    return 1 if len(calls) < {HIDDEN_CASES + 2} else os._exit(0)\n"
    )
    assert asked(ends, HIDDEN_CASES) == [{1}, {"died"}, {1}]


def test_a_problem_with_the_first_case_becomes_every_answer():
    assert asked("def operations(B, D, F):\n    1 / 0\n", HIDDEN_CASES)[0] == {"raised"}


@pytest.mark.parametrize(
    ("value", "little"),
    [
        *((value, True) for value in (1, 1.5, float("inf"), "TPU", None, [1, 2.0], ["a", "b"])),
        *((value, True) for value in ({"a": 1.0}, [0] * 100, "n" * 100, {}, [])),
        *((value, False) for value in ([[1]], {"a": [1]}, True, 10**400, [0] * 101, "n" * 101)),
        *((value, False) for value in ({"n" * 101: 1}, dict.fromkeys(map(str, range(51)), 1))),
        ({"curves": [], "axes": []}, False),
    ],
)
def test_only_short_flat_answers_count_as_small(value, little):
    assert _is_small(value) is little
