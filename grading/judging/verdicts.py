"""From the answers of a submitted notebook to points and sentences, part by part."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from nbformat import NotebookNode
from nbformat.v4 import new_output

from grading.execution.questions import Questions
from grading.execution.time_limits import TimeLimits
from grading.release import exercises
from grading.release.cases import Cases, hidden, published
from grading.schema.parts import Part
from roofkit.check.answers import Answer
from roofkit.check.compare import Verdict, judge


@dataclass(frozen=True)
class Graded:
    """The verdict on one part: points out of how many, and what explains the missing ones.

    cause: the key of a misconception or of a problem, "" if the part is right or nothing is known.
    asked: whether values for all cases were asked for.
    """

    key: str
    points: float
    of: float
    cause: str
    sentences: tuple[str, ...]
    asked: bool = True


@functools.cache
def cases(name: str, key: str, seed: str) -> Cases:
    """What decides about a part, for a whole class: the published cases and then the hidden ones.

    So what a learner's own check calls "not right yet" gets no points.
    """
    (part,) = (part for part in exercises.load(name).parts if part.key == key)
    return published(name, part) + hidden(name, part, seed)


def judge_parts(
    name: str, questions: Questions, seed: str, limits: TimeLimits, trouble: str = ""
) -> dict[str, Graded]:
    """Ask for each part's values and judge them: key → Graded.

    trouble: why the notebook was not run to its end, "" if it was.
    """
    graded = {}
    for part in exercises.load(name).parts:
        asked = cases(name, part.key, seed)
        answers = questions.ask(part, asked.inputs, limits)
        if answers is None:
            why = trouble or "The notebook did not get as far as this check."
            verdict = Verdict(0, len(asked.inputs), "not-reached", (why,))
        else:
            verdict = _judged(answers, asked, part)
        points = part.points if verdict.passed else 0
        graded[part.key] = Graded(
            part.key,
            points,
            part.points,
            verdict.cause,
            verdict.sentences,
            # A problem with the first case ends the questions.
            asked=answers is not None and not answers[0].problem,
        )
    return graded


def _judged(answers: Sequence[Answer], cases: Cases, part: Part) -> Verdict:
    try:
        return judge(answers, cases.expected, cases.misconceptions, part.tolerance, cases.inputs)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        # Not what the probe sends: something else has spoken in its place.
        return Verdict(0, len(answers), "unreadable", ("The values could not be read.",))


def write(cell: NotebookNode, part: Graded) -> None:
    """The verdict as the outputs of a check cell: sentences, and the points that nbgrader reads."""
    said = list(part.sentences)
    if part.points == part.of:
        said = ["Right, for the published cases and for values that were not shown."]
    elif part.asked:
        said.append("Asked with the published cases and with values that were not shown.")
    lines = [f"{part.key}: {part.points:g} of {part.of:g} points.", *said]
    points = {"text/plain": str(float(part.points))}
    cell.outputs = [
        new_output("stream", name="stdout", text="\n".join(lines) + "\n"),
        new_output("execute_result", points, execution_count=1),
    ]
    cell.execution_count = 1
