"""Judging of a notebook's answers: points and sentences, part by part."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy
from nbformat import NotebookNode, from_dict

from grading.execution.questions import Questions
from grading.execution.time_limits import TimeLimits
from grading.judging.validation import MAX_INTEGER, validated
from grading.limits import Overrun, run_limited
from grading.release import exercises
from grading.release.cases import Cases, hidden, published
from grading.release.translation import place
from grading.schema.parts import Part
from roofkit.check.answers import Answer
from roofkit.check.compare import Verdict, judge
from roofkit.check.wording import tight
from roofkit.words import N_, _

JUDGE_SECONDS = 10  # for all parts together; if exceeded, each is judged again with an equal share
ENDING = (
    "died",
    "out-of-memory",
    "too-late",
)  # after these problems the function is not called again
SMALL_ANSWER_ENTRIES, SMALL_TEXT_CHARACTERS = 100, 100
# The message gives no detail: a function could leak hidden inputs through how it fails.
ONLY_HIDDEN_FAIL = N_(
    "Right for the published cases, but not for all of the values that were not shown. The check "
    "names the ranges that they come from: try the ends, and what lies between."
)


@dataclass(frozen=True)
class Graded:
    """The verdict on one part: `points` out of `of`, and the explanation.

    cause: for the instructor, the key of a misconception or a problem; "" if the part is right or
    the cause is unknown. sentences: for the learner, about the published cases only. asked: whether
    the function was called with all cases.
    """

    key: str
    points: float
    of: float
    cause: str
    sentences: tuple[str, ...]
    asked: bool = True


class Asked(NamedTuple):
    """The answers for a part's published and hidden cases; None if not asked.

    The functions of all parts are called with the published cases before any hidden one, so that
    answers to published cases cannot depend on hidden inputs.
    """

    published: Sequence[Answer] | None
    hidden: Sequence[Answer] | None


@functools.cache
def cases(name: str, key: str, seed: str) -> tuple[Cases, Cases]:
    """Return a part's published and hidden cases, the same for all students.

    Published cases count too: a part that fails the learner's own check gets no points.
    """
    (part,) = (part for part in exercises.load(name).parts if part.key == key)
    return published_cases(name, key), hidden(name, part, seed)


@functools.cache
def published_cases(name: str, key: str) -> Cases:
    """Return a part's published cases, which do not depend on the course."""
    (part,) = (part for part in exercises.load(name).parts if part.key == key)
    return published(name, part)


def judge_parts(
    name: str, questions: Questions, seed: str, limits: TimeLimits, trouble: str = ""
) -> dict[str, Graded]:
    """Call each part's function and judge the values; return key → Graded.

    trouble: why the notebook did not run to its end, for the learner; "" if it did.
    """
    parts = exercises.load(name).parts
    known = {part.key: cases(name, part.key, seed) for part in parts}
    first = {
        part.key: questions.ask(part, shown.inputs, limits, more=len(unseen.inputs))
        for part in parts
        for shown, unseen in [known[part.key]]
    }
    questions.told = any(map(_continues, first.values()))
    asked = {
        part.key: Asked(
            first[part.key],
            # Don't repeat the first case of a figure: figures are slow to draw.
            questions.ask(part, known[part.key][1].inputs, limits, again=part.kind != "figure")
            if _continues(first[part.key])
            else None,
        )
        for part in parts
    }
    right_parts: dict[str, str] = {}  # filled as the parts are judged, in order
    judged = {
        part.key: functools.partial(
            _graded,
            part,
            asked[part.key],
            known[part.key],
            trouble,
            Answer(questions.calls.get(part.key)),
            right_parts,
        )
        for part in parts
    }
    # Judge small answers in this process: a fork costs more than everything else here.
    found = {
        part.key: judged[part.key]()
        for part in parts
        if all(map(_is_small, _values(asked[part.key])))
    }
    large = [part for part in parts if part.key not in found]
    try:
        if large:
            found |= run_limited(
                lambda: {part.key: judged[part.key]() for part in large}, cpu=JUDGE_SECONDS
            )
    except Overrun:  # judge each part separately to find the culprit
        each = JUDGE_SECONDS / len(large)
        found |= {part.key: _alone(part, judged[part.key], each) for part in large}
    return {
        part.key: Graded(**entry | {"sentences": tuple(entry["sentences"])})
        for part in parts
        for entry in [found[part.key]]
    }


def _values(asked: Asked) -> list[Any]:
    return [answer.value for answers in asked if answers is not None for answer in answers]


def _is_small(value: Any) -> bool:
    """Return whether this is a number, a short text, or a short collection of them."""
    if isinstance(value, dict):
        return _is_small([*value, *value.values()])
    entries = value if isinstance(value, list) else [value]
    return len(entries) <= SMALL_ANSWER_ENTRIES and all(
        entry is None
        or type(entry) is float
        or (type(entry) is int and abs(entry) <= MAX_INTEGER)
        or (type(entry) is str and len(entry) <= SMALL_TEXT_CHARACTERS)
        for entry in entries
    )


def _alone(part: Part, judged: Callable[[], dict[str, Any]], seconds: float) -> dict[str, Any]:
    try:
        entry: dict[str, Any] = run_limited(judged, cpu=seconds)
    except Overrun:
        entry = asdict(_unreadable(part))
    return entry


def _continues(answers: Sequence[Answer] | None) -> bool:
    """Return whether the function is to be called with the hidden cases too.

    It is not if the first published case had a problem, or if a call died or took too long.
    """
    return answers is not None and not (
        answers[0].problem or any(answer.problem in ENDING for answer in answers)
    )


def _graded(
    part: Part,
    asked: Asked,
    known: tuple[Cases, Cases],
    trouble: str,
    again: Answer,
    right_parts: dict[str, str],
) -> dict[str, Any]:
    """Judge the answers for a part; return its `Graded` as a dictionary.

    again, right_parts: as for `roofkit.check.compare.judge`. A right part is added to the latter.
    """
    if asked.published is None:
        why = trouble or _("The notebook did not get as far as this check.")
        return asdict(Graded(part.key, 0, part.points, "not-reached", (why,), False))
    try:
        first = whole = _judged(asked.published, known[0], part, again, right_parts)
        if asked.hidden is not None:
            answers = [*asked.published, *asked.hidden]
            whole = _judged(answers, known[0] + known[1], part, again, right_parts)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        # The probe never sends such values: learner code must have forged them.
        return asdict(_unreadable(part))
    if first.passed:
        right_parts[part.function] = part.key
    return asdict(
        Graded(
            part.key,
            part.points if whole.passed else 0,
            part.points,
            whole.cause,
            (_(ONLY_HIDDEN_FAIL),) if first.passed and not whole.passed else first.sentences,
            asked=asked.hidden is not None,
        )
    )


def _unreadable(part: Part) -> Graded:
    return Graded(part.key, 0, part.points, "unreadable", (_("The values could not be read."),))


def _judged(
    answers: Sequence[Answer],
    cases: Cases,
    part: Part,
    again: Answer,
    right_parts: Mapping[str, str],
) -> Verdict:
    """Compare answers with expected values; raise ValueError for malformed ones."""
    checked = [validated(answer, part.kind) for answer in answers]
    with numpy.errstate(all="ignore"):  # no warnings about a learner's numbers
        known = [replace(one, read=place(one.read)) for one in cases.misconceptions]
        return judge(
            checked,
            cases.expected,
            known,
            part.tolerance,
            cases.inputs,
            again=again,
            right_parts=right_parts,
        )


def write(cell: NotebookNode, part: Graded) -> None:
    """Set a check cell's outputs: the sentences, and the points that nbgrader reads."""
    sentences = list(part.sentences)
    if part.points == part.of:
        sentences = [_("Right, for the published cases and for values that were not shown.")]
    elif part.asked:
        sentences.append(_("Asked with the published cases and with values that were not shown."))
    first = _("{part}: {points} of {all} points.").format(
        part=part.key, points=f"{part.points:g}", all=f"{part.of:g}"
    )
    lines = [first, *map(tight, sentences)]
    # `new_output` would make the same outputs, but it validates them, which takes time.
    printed: dict[str, Any] = {"name": "stdout", "text": "\n".join(lines) + "\n"}
    points = {"data": {"text/plain": str(float(part.points))}, "execution_count": 1}
    cell.outputs = [
        from_dict({"output_type": "stream", **printed}),
        from_dict({"output_type": "execute_result", "metadata": {}, **points}),
    ]
    cell.execution_count = 1
