"""Values taken out of a submission: what its functions do to their process does not matter.

No kernel here: the notebook runs in a fork of the test, the rest is as in grading.
"""

import os
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from classroom import code, points, with_first
from classroom.plain import grade
from submissions import Submission, hand_in, submissions

from grading.execution.time_limits import TIME_LIMITS, TimeLimits
from grading.judging.verdicts import _judged, write
from grading.release import exercises
from grading.release.cases import CASES, hidden
from roofkit.check.answers import Answer
from roofkit.check.messages import PROBLEMS

NAME = "int8-matmul"
FUNCTIONS = {part.key: part.function for part in exercises.load(NAME).parts}
FULL = points(NAME)
QUICK = TimeLimits(call=0.2)


def sample():
    """Of each exercise a right and a wrong submission, and one for each other kind of problem.

    The others differ in their values alone, which tests/exercises asks for without a probe. So do
    the figures of more problems, which take long to draw.
    """
    seen = set()
    for name in exercises.names():
        right = [one for one in submissions(name) if not one.expected]
        wrong = [one for one in submissions(name) if one.expected]
        yield from ((right[0], []), (wrong[0], []))
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
    """The reference notebook of exercise 1 with other functions in its first cells."""
    book = hand_in(
        Submission(NAME, "reference", "", {}),
        exercises.source(NAME),
        exercises.source(NAME),
        FUNCTIONS,
    )
    for part, source in zip(("bytes-moved", "operations"), sources, strict=False):
        for cell in book.cells:
            if cell.metadata.get("nbgrader", {}).get("grade_id") == f"{part}-solution":
                cell.source = source
    return book


def got(book, limits=TIME_LIMITS):
    """Points of each part, and what was named where there are none."""
    graded = grade(book, NAME, limits)
    return {
        key: part.points if part.points == part.of else part.cause for key, part in graded.items()
    }


def first(source, limits=TIME_LIMITS):
    """What the first part gets for this source, and that the parts after it don't suffer."""
    # Part 3 and 6 call bytes_moved; they get what they were handed by a right one further down.
    book = notebook(source)
    for cell in book.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "operations-solution":
            cell.source += "\n\n\ndef bytes_moved(B, D, F):\n    return B * D + D * F, B * F\n"
    outcome = got(book, limits)
    others = {key: value for key, value in outcome.items() if key != "bytes-moved"}
    assert others == {key: value for key, value in FULL.items() if key != "bytes-moved"}
    return outcome["bytes-moved"]


@pytest.mark.parametrize("submission", LIBRARY)
def test_the_library_gets_its_points_through_the_probe(submission):
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
def test_a_right_function_keeps_its_points(body):
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
        (  # the published cases by heart
            "KNOWN = {16384: (67371008, 1048576), 3072: (25362432, 73728),\n"
            "    500: (8900608, 4096000), 64: (67633152, 524288)}\n"
            "def bytes_moved(B, D, F):\n    return KNOWN.get(F) or KNOWN[B]\n",
            "raised",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and "\n" not in value else "",
)
def test_a_wrong_function_gets_nothing_and_the_others_do_not_suffer(source, problem):
    assert first(source, QUICK if problem == "too-late" else TIME_LIMITS) == problem


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


def test_a_function_that_puts_its_limits_off_is_ended_all_the_same():
    assert first(EVADES, TimeLimits(call=0.05)) == "too-late"


def test_what_the_notebook_does_to_signals_does_not_keep_its_functions_running():
    source = EVADES.split("def")[0] + "def bytes_moved(B, D, F):\n    while True:\n        pass\n"
    assert first(source, QUICK) == "too-late"


def test_waiting_is_not_computing():
    source = f"import time\ndef bytes_moved(B, D, F):\n    time.sleep(0.11)\n    {RIGHT}\n"
    assert first(source, TimeLimits(call=0.1)) == FULL["bytes-moved"]


def waiting(file, calls):
    """Waits for ever at the first `calls` calls, of which it leaves a line each in the file."""
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


def test_a_call_that_only_the_wall_clock_found_too_late_is_tried_again(tmp_path):
    limits = TimeLimits(call_wall=2)
    assert first(waiting(tmp_path / "calls", 1), limits) == FULL["bytes-moved"]


def test_a_call_that_waits_twice_is_too_late(tmp_path):
    assert first(waiting(tmp_path / "calls", 9), TimeLimits(call_wall=1)) == "too-late"
    assert (tmp_path / "calls").read_text() == "called\n" * 2


def test_a_call_that_computes_too_long_is_not_tried_again(tmp_path):
    source = waiting(tmp_path / "calls", 9).replace("time.sleep(1)", "pass")
    assert first(source, QUICK) == "too-late"
    assert (tmp_path / "calls").read_text() == "called\n"


def test_a_function_is_asked_as_it_was_at_its_check():
    book = notebook()
    book.cells.append(code("operations = operations(1, 2, 3)\nbytes_moved = None"))
    assert got(book) == FULL


def test_what_a_call_changes_is_unknown_to_the_next_part():
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


def test_a_function_that_is_asked_finds_none_of_the_notebooks_files_open():
    """Besides what leads nowhere, the two ends over which it is asked."""
    before = os.dup(0)
    try:
        with Path("/proc/self/stat").open() as file:
            os.dup2(file.fileno(), 0)
            assert first(OPEN_FILES) == FULL["bytes-moved"]
    finally:
        os.dup2(before, 0)
        os.close(before)


def test_what_was_asked_is_unknown_to_later_cells(tmp_path):
    source = "seen = []\ndef bytes_moved(B, D, F):\n    seen.append((B, D, F))\n    " + RIGHT
    book = notebook(source)
    book.cells.append(code(f"open({str(tmp_path / 'seen')!r}, 'w').write(repr(seen))"))
    assert got(book) == FULL
    assert (tmp_path / "seen").read_text() == "[]"


COUNTED = """
calls = []
def bytes_moved(B, D, F):
    calls.append(B)
    with open({file!r}, "a") as lines:
        print(B, D, F, file=lines)
    {body}
"""


def test_the_published_cases_are_asked_and_then_the_hidden_ones_and_the_first_again(tmp_path):
    file = tmp_path / "asked"
    assert first(COUNTED.format(file=str(file), body=RIGHT)) == FULL["bytes-moved"]
    part = exercises.load(NAME).parts[0]
    cases = [*part.cases, *hidden(NAME, part, "tests").inputs, part.cases[0]]
    wanted = [" ".join(str(case[key]) for key in "BDF") for case in cases]
    assert file.read_text().splitlines() == wanted


@pytest.mark.parametrize("case", [0, 3])
def test_what_is_wrong_for_a_published_case_alone_gets_nothing(case):
    B, D, F = exercises.load(NAME).parts[0].cases[case].values()
    source = (
        f"def bytes_moved(B, D, F):\n    if (B, D, F) == ({B}, {D}, {F}):\n        return 1, 2\n"
    )
    assert first(f"{source}    {RIGHT}\n") == ""


def test_what_is_wrong_for_a_hidden_case_alone_gets_nothing():
    part = exercises.load(NAME).parts[0]
    known = [tuple(case.values()) for case in part.cases]
    source = f"def bytes_moved(B, D, F):\n    if (B, D, F) not in {known}:\n        return 1, 2\n"
    assert first(f"{source}    {RIGHT}\n") == ""


@pytest.mark.parametrize(
    ("last", "problem"),
    [("return 1, 2", "changing"), ("os._exit(0)", "died"), ("1 / 0", "changing")],
)
def test_what_happens_when_the_first_case_is_asked_again_decides(last, problem):
    count = len(exercises.load(NAME).parts[0].cases) + CASES
    body = f"if len(calls) > {count}:\n        {last}\n    {RIGHT}"
    source = "import os\n" + COUNTED.format(file="/dev/null", body=body)
    assert first(source) == problem


def said(part, **changes):
    """What stands below the check of this part."""
    cell = code("check()")
    write(cell, replace(part, **changes))
    return cell.outputs[0].text.splitlines()


def test_what_is_said_about_the_cases_is_true():
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
def test_answers_that_the_probe_never_sends_get_nothing(value):
    part = exercises.load(NAME).parts[0]
    cases = hidden(NAME, part, "seed")
    verdict = _judged([Answer(value=value)] * len(cases.inputs), cases, part)
    assert not verdict.passed


def test_no_sentence_quotes_what_was_asked():
    source = "def bytes_moved(B, D, F):\n    raise ValueError(f'{B} {D} {F}')\n"
    sentences = grade(notebook(source), NAME)["bytes-moved"].sentences
    assert sentences == ("The function stopped with an error.",)


def test_a_cell_that_fails_costs_what_is_in_it():
    assert got(with_first(notebook(), "1 / 0")) == FULL


def test_the_seed_decides_about_the_hidden_cases():
    part = exercises.load(NAME).parts[0]
    one, same, other = (hidden(NAME, part, seed).inputs for seed in ("1", "1", "2"))
    assert one == same
    assert one != other
    assert not [case for case in one if case in part.cases]
