"""Grading of one notebook: run it in a sandbox, ask its functions, judge what they return.

What comes out of the sandbox may be forged, so it is plain data, read with care, and compared here
with the values of the reference solution, which no sandbox ever holds.
"""

import ast
import base64
import functools
import platform
import re
import socket
import struct
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import nbformat
import numpy
from nbformat import NotebookNode, from_dict
from nbformat.v4 import new_markdown_cell

from grading import inside
from grading.box import Ended, Lines, Server
from grading.files import Unable
from grading.intake import printable
from grading.notebook import defined, key_of, parsed, read, restored
from grading.release import exercises
from grading.release.cases import Cases, hidden, published
from grading.release.translation import place, question
from grading.schema import Part
from roofkit.check.answers import Answer
from roofkit.check.call_limit import CALL_SECONDS, CALL_WALL_SECONDS
from roofkit.check.compare import Verdict, judge
from roofkit.check.messages import PROBLEMS
from roofkit.check.wording import listed, tight
from roofkit.notebook_language import language_of
from roofkit.words import N_, ORIGINAL, _, spoken

# Seconds by the clock: a little more than what ends a cell, a call or a notebook from inside.
CELL_WALL, CALL_WALL, NOTEBOOK = inside.CELL_WALL + 30, CALL_WALL_SECONDS + 10, 600
AT_END = ("not-a-function", "unwritten", "calls-unwritten", "raised")  # a later cell may cure these
ENDING = ("died", "too-late")  # after these the function is not asked again
RICH = ("display_data", "execute_result")
FORGED = (TypeError, AttributeError, LookupError, ValueError)  # what malformed data may raise
SHOWN_BYTES = 1_500_000  # of all cells together
LAYOUT_BYTES = 50  # of an output in a file, beside what it shows
MOST_PIXELS = 25_000_000  # of a picture: a small file can unpack to a huge one, in a browser
CUT = N_("More was shown than fits on this page.")
NOT_GRADED = "This could not be graded."
NOT_REACHED = N_("The notebook did not get as far as this check.")
UNREADABLE = N_("The values could not be read.")
# No detail: a function could fail on purpose, in a way that tells about the hidden inputs.
ONLY_HIDDEN = N_(
    "Right for the published cases, but not for all of the values that were not shown. The check "
    "names the ranges that they come from: try the ends, and what lies between."
)
WHY = {
    "": "",
    "ended": N_(
        "The cell that begins with “{cell}” ended the whole Python process; the cells after it "
        "were not run."
    ),
    "memory": N_(
        "The cell that begins with “{cell}” took more memory than there is for one notebook; the "
        "cells after it were not run."
    ),
    "late": N_("A cell could not be stopped; the cells after it were not run."),
    "large": N_("A cell sent more than is taken in; the cells after it were not run."),
}


@dataclass(frozen=True)
class Graded:
    """The verdict on one part.

    cause: for the instructor, the key of a misconception or of a problem; "" if the part is right
    or the cause is unknown. sentences: for the learner, about the published cases only.
    """

    key: str
    points: float
    of: float
    cause: str = ""
    sentences: tuple[str, ...] = ()


@dataclass
class Outcome:
    """The graded notebook, as text, and what else is known about a submission.

    reason: why it was not graded, or not run to its end. held_up: whether a call took too long, or
    a cell by the clock though it computed: perhaps because others took the time.
    """

    notebook: str
    parts: list[Graded]
    reason: str = ""
    remarks: list[str] = field(default_factory=list)
    held_up: bool = False


def grade(
    server: Server, name: str, content: bytes, reason: str, released: Mapping[str, str], seed: str
) -> Outcome:
    """Grade one submission for the exercise `name`; whatever it holds, this returns.

    reason: why it can't be graded, if that is known already. released: language → the text of the
    released notebook. Raises Unable if no sandbox is possible.
    """
    try:
        cells, language = read(content) if not reason else ([], "")
    except ValueError as error:
        reason = str(error)
    if reason:
        return not_graded(name, reason, released)
    end = time.monotonic() + NOTEBOOK
    try:
        parts = exercises.load(name).parts
        functions = {part.key: part.function for part in parts}
        nb, remarks = restored(cells, released, language, functions)
        with spoken(language_of(nb)):
            with server.box() as box:
                copies, why, cell = run(box, nb, functions, end)
                asked = ask(parts, copies, name, seed, end)
            trouble = _(WHY[why]).format(cell=cell)
            verdicts = [
                judged(part, asked[part.key], cases(name, part.key, seed), trouble)
                for part in parts
            ]
            verdicts = list(name_syntax_errors(nb, verdicts))
            verdicts = list(name_wrong_parts_called(nb, verdicts, functions))
            write(nb, name, verdicts)
        reason = WHY[why].format(cell=cell).rstrip(".")  # for the instructor: in English
        held_up = any(part.cause == "too-late" for part in verdicts)
        held_up |= any(inside.HELD_UP in str(cell.get("outputs")) for cell in nb.cells)
        return Outcome(nbformat.writes(nb), verdicts, reason, remarks, held_up)
    except Unable:
        raise
    except Exception as error:  # a fault of ours must not stop the others
        what = printable(f"{type(error).__name__}: {error}".splitlines()[0])
        return not_graded(name, f"the grading itself failed ({what})", released)


def not_graded(name: str, reason: str, released: Mapping[str, str]) -> Outcome:
    """Return the released notebook with zero points, and the reason in a first cell."""
    nb = nbformat.reads(released[ORIGINAL], as_version=4)
    text = f"**Could not be graded**: {reason}."
    nb.cells.insert(0, new_markdown_cell(text, id="not-graded"))
    parts = [
        Graded(part.key, 0, part.points, "not-graded", (NOT_GRADED,))
        for part in exercises.load(name).parts
    ]
    write(nb, name, parts)
    return Outcome(nbformat.writes(nb), parts, reason)


# --- running -------------------------------------------------------------------------------------


def run(
    box: Lines, nb: NotebookNode, functions: Mapping[str, str], end: float
) -> tuple[dict[str, list[Lines]], str, str]:
    """Run all cells but the checks; return (part → copies of the process, why, where).

    why: a key of WHY, "" if all were run. where: how the cell begins in which this ended.

    A copy is made where a check stands; one more, for all parts, at the end. So a function counts
    that is right at its check, and one that is defined, or can work, only further down.
    """
    copies: dict[str, list[Lines]] = {key: [] for key in functions}
    why, count, waiting, cell = "", 0, list[NotebookNode](), NotebookNode(source="")
    room = SHOWN_BYTES

    def shows(cell: NotebookNode) -> bool:
        """Run a cell; return False if it lacked a name."""
        nonlocal room
        found = _message(box, min(CELL_WALL, end - time.monotonic()), "run", cell.source)
        made = list(map(output, found))
        room -= len(str(made)) + LAYOUT_BYTES * len(made)
        cell.outputs = made if room > 0 or not made else [output(["stderr", _(CUT)])]
        return not any(one.get("ename") == "NameError" for one in made)

    try:
        for cell in nb.cells:
            key = key_of(cell)
            if cell.cell_type != "code" or not cell.source.strip():
                continue
            if key in functions:
                copies[key].append(_keep(box))
                continue
            function = functions.get(key.removesuffix("-solution"), "")
            is_stub = function and defined(cell.source).get(function) == ""
            if is_stub and _message(box, CELL_WALL, "has", function):
                continue  # written further up: the stub must not undo it
            count += 1
            cell.execution_count = count
            if not shows(cell):
                waiting.append(cell)
        while waiting:  # cells that needed a name from further down
            left = [cell for cell in waiting if not shows(cell)]
            if len(left) == len(waiting):
                break
            waiting = left
        last = _keep(box)
        for key in copies:
            copies[key].append(last)
    except (Ended, *FORGED) as error:
        why = str(error) if isinstance(error, Ended) else "ended"
    first = cell.source.lstrip().partition("\n")[0][:80]
    begins = textwrap.shorten(printable(first), 40, placeholder=" …")
    return copies, why, begins


def output(found: Sequence[object]) -> NotebookNode:
    """Return an output of a notebook, with texts and PNG pictures only.

    found: [stream, text], ["error", name, value, lines of the traceback …] or [one of RICH, text,
    picture]. What is forged raises one of FORGED.
    """
    kind, *texts = map(_text, found)
    if kind in inside.STREAMS:
        made: dict[str, Any] = {"output_type": "stream", "name": kind, "text": texts[0]}
    elif kind == "error":
        name, value, *lines = texts
        made = {"output_type": kind, "ename": name, "evalue": value, "traceback": lines}
    elif kind in RICH:
        text, picture = texts
        data = {"text/plain": text} | ({"image/png": picture} if _is_picture(picture) else {})
        made = {"output_type": kind, "data": data, "metadata": {}}
        made |= {"execution_count": None} if kind == "execute_result" else {}
    else:
        raise ValueError(kind)
    node: NotebookNode = from_dict(made)
    return node


def _is_picture(text: str) -> bool:
    """Return whether this is a PNG, in base64, that a browser can show."""
    try:
        start = base64.b64decode(text, validate=True)[:24]
        wide, high = struct.unpack(">16xII", start)
    except (ValueError, struct.error):
        return False
    return start.startswith(b"\x89PNG") and 0 < wide * high <= MOST_PIXELS


def _text(found: object) -> str:
    if not isinstance(found, str):
        raise TypeError("not a text")
    return found.encode("utf-8", "replace").decode()


def _message(box: Lines, seconds: float, *words: str) -> Any:
    box.send(*words)
    return box.receive(seconds)[1]


def _keep(box: Lines) -> Lines:
    ours, theirs = socket.socketpair()
    with theirs:
        box.send("keep", "", files=[theirs.fileno()])
        box.receive(60)
    return Lines(ours)


# --- asking --------------------------------------------------------------------------------------


# What a part's function answered to the published and to the hidden cases, None if not asked. An
# answer's detail is the module that was not installed.
Asked = tuple[list[Answer] | None, list[Answer] | None]


@functools.cache
def cases(exercise: str, key: str, seed: str) -> tuple[Cases, Cases]:
    """Return a part's published and hidden cases, the same for all students of a course.

    Published cases count too: a part that fails the learner's own check gets no points.
    """
    (part,) = (part for part in exercises.load(exercise).parts if part.key == key)
    return published(exercise, part), hidden(exercise, part, seed)


def ask(
    parts: Sequence[Part],
    copies: Mapping[str, Sequence[Lines]],
    exercise: str,
    seed: str,
    end: float,
) -> dict[str, Asked]:
    """Ask each part's function for the published cases, and then each for the hidden ones.

    In this order no answer about published cases, of which the learner's page tells, can depend on
    a hidden input.
    """
    first: dict[str, tuple[list[Answer], Lines]] = {}
    for part in parts:
        for copy in copies[part.key]:
            answers = _called(copy, part, cases(exercise, part.key, seed)[0].inputs, True, end)
            if part.key not in first or not answers[0].problem:
                first[part.key] = answers, copy
            if answers[0].problem not in AT_END:
                break
    found: dict[str, Asked] = {part.key: (None, None) for part in parts}
    for part in parts:
        if part.key in first:
            answers, copy = first[part.key]
            more = None
            if not (answers[0].problem or any(one.problem in ENDING for one in answers)):
                again = part.kind != "figure"  # figures are slow to draw
                more = _called(copy, part, cases(exercise, part.key, seed)[1].inputs, again, end)
            found[part.key] = answers, more
    return found


def _called(
    copy: Lines,
    part: Part,
    inputs: Sequence[Mapping[str, Any]],
    again: bool,
    end: float,
) -> list[Answer]:
    """Return one answer for each case."""
    answers: list[Answer] = []
    start = time.monotonic()
    try:
        texts = [repr(dict(case)) for case in inputs]  # unlike JSON, with tuples and inf
        copy.send(part.function, part.kind, texts, again)
        while len(answers) < len(inputs) + again:
            start = time.monotonic()
            value, problem, module = copy.receive(min(CALL_WALL, end - start))
            problem = problem if problem in PROBLEMS else "died" if problem else ""
            module = module if re.fullmatch(r"[\w.]{1,40}", module) else ""
            answers.append(Answer(value, problem, module))
            if len(answers) == 1 and problem:
                return answers * len(inputs)
    except Ended as ended:
        was_late = str(ended) == "late" or time.monotonic() - start >= CALL_SECONDS
        problem = "too-large" if str(ended) == "large" else "too-late" if was_late else "died"
        answers += [Answer(problem=problem)] * (len(inputs) + again - len(answers))
    except FORGED:
        answers = [Answer(problem="died")] * (len(inputs) + again)
    if again and (problem := answers.pop().problem):
        answers = [Answer(problem=problem)] * len(answers)
    return answers


# --- judging -------------------------------------------------------------------------------------


def judged(part: Part, asked: Asked, known: tuple[Cases, Cases], trouble: str) -> Graded:
    """Return the verdict on one part.

    trouble: why the notebook was not run to its end, "" if it was.
    """
    (answers, others), (shown, more) = asked, known
    if answers is None:
        return Graded(part.key, 0, part.points, "not-reached", (trouble or _(NOT_REACHED),))
    try:
        first = whole = _compared(answers, shown, part)
        if others is not None:
            whole = _compared([*answers, *others], shown + more, part)
    except (ArithmeticError, RecursionError, *FORGED):  # no honest copy sends such values
        return Graded(part.key, 0, part.points, "unreadable", (_(UNREADABLE),))
    if whole.passed and others is not None:
        return Graded(part.key, part.points, part.points)
    sentences, cause = first.sentences, whole.cause
    lacks = next((one.detail for one in answers if one.detail), "")
    if first.passed:
        sentences = (_(ONLY_HIDDEN),)
    elif lacks and cause == "raised":
        said = _("{module} is not installed where notebooks are graded.").format(module=lacks)
        sentences, cause = (*sentences, said), f"not installed: {lacks}"
    return Graded(part.key, 0, part.points, cause, sentences)


def _compared(answers: Sequence[Answer], known: Cases, part: Part) -> Verdict:
    """Compare answers with expected values; malformed ones may raise many errors."""
    with numpy.errstate(all="ignore"):  # no warnings about a learner's numbers
        misconceptions = [replace(one, read=place(one.read)) for one in known.misconceptions]
        return judge(answers, known.expected, misconceptions, part.tolerance, known.inputs)


def name_syntax_errors(nb: NotebookNode, parts: Sequence[Graded]) -> Iterator[Graded]:
    """Say of a function that is missing if its cell has a syntax error.

    The learner may have a newer Python than the one that grades, and see no error there.
    """
    errors = {
        key_of(cell).removesuffix("-solution"): str(output.get("evalue", ""))
        for cell in nb.cells
        for output in cell.get("outputs", ())
        if output.get("ename") in ("SyntaxError", "IndentationError", "TabError")
    }
    said = _(
        "The cell of this function was not run: line {line} is a syntax error in Python {version}, "
        "which grades. A newer Python may accept it."
    )
    for part in parts:
        if part.cause == "not-a-function" and part.key in errors:
            line = re.search(r"line (\d{1,5})\)", errors[part.key])
            words = {"line": line[1] if line else "?", "version": platform.python_version()}
            part = replace(part, cause="syntax-error", sentences=(said.format(**words),))
        yield part


def name_wrong_parts_called(
    nb: NotebookNode, parts: Sequence[Graded], functions: Mapping[str, str]
) -> Iterator[Graded]:
    """Say of a part which others it calls that got no points either, as the check does."""
    called: dict[str, set[str]] = {}
    for cell in nb.cells:
        for one in parsed(cell.source) or [] if cell.cell_type == "code" else []:
            if isinstance(one, ast.FunctionDef):
                nodes = list(ast.walk(one))
                calls = [node.func for node in nodes if isinstance(node, ast.Call)]
                names = {call.id for call in calls if isinstance(call, ast.Name)}
                called[one.name] = names - {node.arg for node in nodes if isinstance(node, ast.arg)}
    wrong = [functions[part.key] for part in parts if part.points < part.of]
    said = _(
        "`{function}` calls {others}, which got no points: that may be all that is wrong here."
    )
    for part in parts:
        function = functions[part.key]
        names = called.get(function, set()) - {function}
        others = [f"`{name}`" for name in wrong if name in names]
        if function in wrong and others:
            first = said.format(function=function, others=listed(others))
            part = replace(part, sentences=(first, *part.sentences))
        yield part


def write(nb: NotebookNode, name: str, parts: Sequence[Graded]) -> None:
    """Put points and sentences below each check, where nbgrader reads them."""
    by_key = {part.key: part for part in parts}
    titles = {part.key: question(name, part)[1] for part in exercises.load(name).parts}
    for cell in nb.cells:
        part = by_key.get(key_of(cell))
        if part is None:
            continue
        first = _("{part}: {points} of {all} points.").format(
            part=titles[part.key], points=f"{part.points:g}", all=f"{part.of:g}"
        )
        sentences = list(part.sentences)
        if part.points == part.of:
            sentences = [_("Right, for the published cases and for values that were not shown.")]
        text = "\n".join([first, *map(tight, sentences)]) + "\n"
        result = {"data": {"text/plain": str(float(part.points))}, "metadata": {}}
        cell.outputs = [
            from_dict({"output_type": "stream", "name": "stdout", "text": text}),
            from_dict({"output_type": "execute_result", "execution_count": 1, **result}),
        ]
        cell.execution_count = 1
