"""From the answers of a submitted notebook to points and sentences, part by part."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy
from nbformat import NotebookNode, from_dict

from grading.execution.questions import Questions
from grading.execution.time_limits import TimeLimits
from grading.judging.fit import LARGEST, fit
from grading.limits import Overrun, apart
from grading.release import exercises
from grading.release.cases import Cases, hidden, published
from grading.schema.parts import Part
from roofkit.check.answers import Answer
from roofkit.check.compare import Verdict, judge

JUDGE_SECONDS = 10  # of computing, for all parts together; as much again if that is too little
ENDING = ("died", "too-late")  # problems after which the answers are not the function's own
FEW, SHORT = 100, 100  # entries of an answer, and characters of a text in it
# Nothing about how: a function that chooses its failure could tell what it was asked.
HIDDEN_ALONE = (
    "Right for the published cases, but not for all of the values that were not shown. The check "
    "names the ranges that they come from: try the ends, and what lies between."
)


@dataclass(frozen=True)
class Graded:
    """The verdict on one part: points out of how many, and what explains the missing ones.

    cause: the key of a misconception or of a problem, "" if the part is right or nothing is known;
    for the instructor. sentences: for the learner, and of the published cases alone.
    asked: whether values for all cases were asked for.
    """

    key: str
    points: float
    of: float
    cause: str
    sentences: tuple[str, ...]
    asked: bool = True


class Asked(NamedTuple):
    """What came of the two questions about a part, None for one that was not put.

    The published cases of all parts are asked before any hidden one, so that what a function
    answers to them can't depend on what it was not to see.
    """

    published: Sequence[Answer] | None
    hidden: Sequence[Answer] | None


@functools.cache
def cases(name: str, key: str, seed: str) -> tuple[Cases, Cases]:
    """What decides about a part, for a whole class: the published cases, and the hidden ones.

    So what a learner's own check calls "not right yet" gets no points.
    """
    (part,) = (part for part in exercises.load(name).parts if part.key == key)
    return published_cases(name, key), hidden(name, part, seed)


@functools.cache
def published_cases(name: str, key: str) -> Cases:
    """Those of a part that do not depend on the course."""
    (part,) = (part for part in exercises.load(name).parts if part.key == key)
    return published(name, part)


def judge_parts(
    name: str, questions: Questions, seed: str, limits: TimeLimits, trouble: str = ""
) -> dict[str, Graded]:
    """Ask for each part's values and judge them: key → Graded.

    trouble: why the notebook was not run to its end, "" if it was.
    """
    parts = exercises.load(name).parts
    known = {part.key: cases(name, part.key, seed) for part in parts}
    first = {
        part.key: questions.ask(part, shown.inputs, limits, more=len(unseen.inputs))
        for part in parts
        for shown, unseen in [known[part.key]]
    }
    questions.told = any(map(_goes_on, first.values()))
    asked = {
        part.key: Asked(
            first[part.key],
            # Whether the same is drawn again, the published cases have shown; it takes long.
            questions.ask(part, known[part.key][1].inputs, limits, again=part.kind != "figure")
            if _goes_on(first[part.key])
            else None,
        )
        for part in parts
    }
    judged = {
        part.key: functools.partial(_graded, part, asked[part.key], known[part.key], trouble)
        for part in parts
    }
    # A copy of this process costs more than all else here, and who has sent a few numbers or names
    # has sent nothing that could take long.
    found = {
        part.key: judged[part.key]()
        for part in parts
        if all(map(_is_little, _said(asked[part.key])))
    }
    large = [part for part in parts if part.key not in found]
    try:
        if large:
            found |= apart(
                lambda: {part.key: judged[part.key]() for part in large}, cpu=JUDGE_SECONDS
            )
    except Overrun:  # one of them is too much: which one?
        each = JUDGE_SECONDS / len(large)
        found |= {part.key: _alone(part, judged[part.key], each) for part in large}
    return {
        part.key: Graded(**entry | {"sentences": tuple(entry["sentences"])})
        for part in parts
        for entry in [found[part.key]]
    }


def _said(asked: Asked) -> list[Any]:
    return [answer.value for answers in asked if answers is not None for answer in answers]


def _is_little(value: Any) -> bool:
    """Whether this is a number or a short text, or a list or dictionary of a few of them."""
    if isinstance(value, dict):
        return _is_little([*value, *value.values()])
    entries = value if isinstance(value, list) else [value]
    return len(entries) <= FEW and all(
        entry is None
        or type(entry) is float
        or (type(entry) is int and abs(entry) <= LARGEST)
        or (type(entry) is str and len(entry) <= SHORT)
        for entry in entries
    )


def _alone(part: Part, judged: Callable[[], dict[str, Any]], seconds: float) -> dict[str, Any]:
    try:
        entry: dict[str, Any] = apart(judged, cpu=seconds)
    except Overrun:
        entry = asdict(_unreadable(part))
    return entry


def _goes_on(answers: Sequence[Answer] | None) -> bool:
    """Whether hidden cases are asked for: not after what has decided the verdict already."""
    return answers is not None and not (
        answers[0].problem or any(answer.problem in ENDING for answer in answers)
    )


def _graded(part: Part, asked: Asked, known: tuple[Cases, Cases], trouble: str) -> dict[str, Any]:
    """Graded as a dictionary, of plain data alone."""
    if asked.published is None:
        why = trouble or "The notebook did not get as far as this check."
        return asdict(Graded(part.key, 0, part.points, "not-reached", (why,), False))
    try:
        first = _judged(asked.published, known[0], part)
        if asked.hidden is None:
            whole = first
        else:
            whole = _judged([*asked.published, *asked.hidden], known[0] + known[1], part)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        # Not what the probe sends: something else has spoken in its place.
        return asdict(_unreadable(part))
    passed = first.passed and whole.passed and asked.hidden is not None
    return asdict(
        Graded(
            part.key,
            part.points if passed else 0,
            part.points,
            whole.cause,
            first.sentences if passed or not first.passed else (HIDDEN_ALONE,),
            # A problem with the first case ends the questions.
            asked=asked.hidden is not None,
        )
    )


def _unreadable(part: Part) -> Graded:
    return Graded(part.key, 0, part.points, "unreadable", ("The values could not be read.",))


def _judged(answers: Sequence[Answer], cases: Cases, part: Part) -> Verdict:
    """ValueError and its like for answers that may be anything but those of the probe."""
    fitting = [fit(answer, part.kind) for answer in answers]
    with numpy.errstate(all="ignore"):  # nothing is printed about a learner's numbers
        return judge(fitting, cases.expected, cases.misconceptions, part.tolerance, cases.inputs)


def write(cell: NotebookNode, part: Graded) -> None:
    """The verdict as the outputs of a check cell: sentences, and the points that nbgrader reads."""
    said = list(part.sentences)
    if part.points == part.of:
        said = ["Right, for the published cases and for values that were not shown."]
    elif part.asked:
        said.append("Asked with the published cases and with values that were not shown.")
    lines = [f"{part.key}: {part.points:g} of {part.of:g} points.", *said]
    # As `new_output` makes them, which would look up whether they are valid.
    spoken: dict[str, Any] = {"name": "stdout", "text": "\n".join(lines) + "\n"}
    points = {"data": {"text/plain": str(float(part.points))}, "execution_count": 1}
    cell.outputs = [
        from_dict({"output_type": "stream", **spoken}),
        from_dict({"output_type": "execute_result", "metadata": {}, **points}),
    ]
    cell.execution_count = 1
