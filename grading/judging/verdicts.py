"""From the answers of a submitted notebook to points and sentences, part by part."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from nbformat import NotebookNode
from nbformat.v4 import new_output

from grading.execution.questions import Questions
from grading.execution.time_limits import TimeLimits
from grading.release import exercises
from grading.release.cases import Cases
from grading.release.cases import hidden as hidden_cases
from grading.schema.parts import Part
from roofkit.check.answers import Answer
from roofkit.check.compare import Verdict, judge


@dataclass(frozen=True)
class Graded:
    """The verdict on one part: points out of how many, and what explains the missing ones.

    cause: the key of a misconception or of a problem, "" if the part is right or nothing is known.
    """

    key: str
    points: float
    of: float
    cause: str
    sentences: tuple[str, ...]


@functools.cache
def cases(name: str, key: str, seed: str) -> Cases:
    """The hidden cases of a part: the same for a whole class."""
    (part,) = (part for part in exercises.load(name).parts if part.key == key)
    return hidden_cases(name, part, seed)


def judge_parts(
    name: str, questions: Questions, seed: str, limits: TimeLimits, trouble: str = ""
) -> dict[str, Graded]:
    """Ask for each part's values and judge them: key → Graded.

    trouble: why the notebook was not run to its end, "" if it was.
    """
    graded = {}
    for part in exercises.load(name).parts:
        hidden = cases(name, part.key, seed)
        answers = questions.ask(part, hidden.inputs, limits)
        if answers is None:
            why = trouble or "The notebook did not get as far as this check."
            verdict = Verdict(0, len(hidden.inputs), "not-reached", (why,))
        else:
            verdict = _judged(answers, hidden, part)
        points = part.points if verdict.passed else 0
        graded[part.key] = Graded(part.key, points, part.points, verdict.cause, verdict.sentences)
    return graded


def _judged(answers: Sequence[Answer], cases: Cases, part: Part) -> Verdict:
    try:
        return judge(answers, cases.expected, cases.misconceptions, part.tolerance, cases.inputs)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        # Not what the probe sends: something else has spoken in its place.
        return Verdict(0, len(answers), "unreadable", ("The values could not be read.",))


def write(cell: NotebookNode, part: Graded) -> None:
    """The verdict as the outputs of a check cell: sentences, and the points that nbgrader reads."""
    said = [*part.sentences, "Asked with values that were not shown."]
    if part.points == part.of:
        said = ["Right, for values that were not shown."]
    lines = [f"{part.key}: {part.points:g} of {part.of:g} points.", *said]
    points = {"text/plain": str(float(part.points))}
    cell.outputs = [
        new_output("stream", name="stdout", text="\n".join(lines) + "\n"),
        new_output("execute_result", points, execution_count=1),
    ]
    cell.execution_count = 1
