"""The data of the report: rows from a course's gradebook and its stored results."""

import collections
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from nbgrader.api import (  # type: ignore[import-untyped]
    Assignment,
    BaseCell,
    Grade,
    SubmittedAssignment,
    SubmittedNotebook,
)

from grading.intake.submissions import misplaced, refused_students
from grading.records.results import Result
from grading.release import exercises

State = Mapping[str, Mapping[str, Result]]  # student → exercise → result
Key = TypeVar("Key")
NOT_HANDED_IN = "not handed in"


class Course(Protocol):
    """The part of `grading.course.Course` that a report needs."""

    folder: Path

    def state(self) -> State: ...
    def gradebook(self) -> Any: ...
    def graded(self, student: str, name: str) -> Path: ...


def grades(course: Course, state: State) -> list[tuple[str, str, str, str, str]]:
    """Return (student, exercise, score, full score, note) for all students.

    There is a row for each student and exercise, also without a submission. Scores come from the
    gradebook, so manual points count.
    """
    with course.gradebook() as gradebook:
        most = {one.name: one.max_score for one in gradebook.assignments}
        found = {
            (student, name): (score, penalty or 0)
            for student, name, score, penalty in gradebook.db.query(
                SubmittedAssignment.student_id,
                Assignment.name,
                SubmittedAssignment.score,
                SubmittedAssignment.late_submission_penalty,
            ).join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        }
        enrolled = {one.id for one in gradebook.students}
    rows = []
    for student in sorted({*state, *enrolled}):
        for name in sorted(exercises.names()):
            if (student, name) in found:
                score, penalty = found[student, name]
                result: Result = state.get(student, {}).get(name, {})
                notes = [result.get("reason")]
                notes.append(f"{penalty:g} points taken off for being late" if penalty else "")
                if not (result or score or penalty):  # no submission yet, only an extension
                    notes = [NOT_HANDED_IN]
                # `nbgrader export` subtracts penalties the same way.
                score = max(0, score - penalty)
            else:
                score, notes = 0, [NOT_HANDED_IN]
            full = most.get(name, sum(part.points for part in exercises.load(name).parts))
            rows.append((student, name, f"{score:g}", f"{full:g}", "; ".join(filter(None, notes))))
    return rows + [
        (student, name, "0", f"{most.get(name, 0):g}", why)
        for student, why in refused_students(course.folder)
        for name in sorted(exercises.names())
    ]


def parts(course: Course, state: State) -> list[tuple[str, str, str, str, str, str]]:
    """Return (student, exercise, part, points, full points, cause) for all students.

    There is a row for each part of each student. Manual points count. cause: the key of a
    misconception or a problem, "other" if neither was recognized, "" if the part is right,
    NOT_HANDED_IN without a submission.
    """
    with course.gradebook() as gradebook:
        cells = (
            gradebook.db.query(
                SubmittedAssignment.student_id, Assignment.name, BaseCell.name, Grade.score
            )
            .join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id)
            .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
            .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
            .join(BaseCell, BaseCell.id == Grade.cell_id)
        )
        given = {(student, name, part): score for student, name, part, score in cells}
        enrolled = [one.id for one in gradebook.students]
    own = [
        (
            student,
            name,
            part["key"],
            f"{given.get((student, name, part['key']), part['points']):g}",
            f"{part['of']:g}",
            _cause(part),
        )
        for student, name, result in in_order(state)
        for part in result["parts"]
    ]
    missing = [
        (student, name, part.key, "0", f"{part.points:g}", NOT_HANDED_IN)
        for student in {*state, *enrolled}
        for name in exercises.names()
        if name not in state.get(student, {})
        for part in exercises.load(name).parts
    ]
    order = exercises.names()
    # The sort is stable, so the parts of an exercise keep their order.
    return sorted(own + missing, key=lambda row: (row[0], rank(order, row[1])))


def misconceptions(state: State) -> list[tuple[str, str, str, int]]:
    """Return (exercise, part, cause, number of students) for the report.

    Parts are in course order; the causes of a part are sorted from most to least frequent.
    """
    counts = collections.Counter(
        (name, part["key"], _cause(part))
        for _, name, result in in_order(state)
        for part in result["parts"]
        if _cause(part)
    )
    order = part_order()
    return [
        (*place, count)
        for place, count in sorted(
            counts.items(), key=lambda item: (rank(order, item[0][:2]), -item[1], item[0])
        )
    ]


def ungraded(course: Course, state: State) -> list[tuple[str, str]]:
    """Return (path or submission, reason) for all that was not graded completely."""
    entries = [
        (f"{student}/{name}", result["reason"])
        for student, own in sorted(state.items())
        for name, result in sorted(own.items())
        if result["reason"]
    ]
    for line in misplaced(course.folder):
        what, why = line.rsplit(": ", 1)
        entries.append((what, why))
    return entries


def tampering(state: State) -> list[tuple[str, str, str]]:
    """Return (student, exercise, fact) for tampering and refused operations."""
    return [
        (student, name, fact)
        for student, name, result in in_order(state)
        for fact in result.get("tampering", ())
    ]


def remarks(state: State) -> list[tuple[str, str, str]]:
    """Return (student, exercise, remark) for corrections without loss of points."""
    return [
        (student, name, remark)
        for student, name, result in in_order(state)
        for remark in result.get("remarks", ())
    ]


def times(state: State) -> list[tuple[str, str, float]]:
    """Return (student, exercise, seconds that grading took), slowest first."""
    rows = [
        (student, name, result["seconds"])
        for student, name, result in in_order(state)
        if "seconds" in result
    ]
    return sorted(rows, key=lambda row: -row[2])


def unsafe(state: State) -> list[tuple[str, str]]:
    """Return (student, exercise) of submissions graded without a sandbox."""
    return [(student, name) for student, name, result in in_order(state) if result.get("unsafe")]


def in_order(state: State) -> Iterator[tuple[str, str, Result]]:
    """Yield (student, exercise, result) by student, then by exercise in course order."""
    order = exercises.names()
    for student in sorted(state):
        for name in sorted(state[student], key=lambda name: (rank(order, name), name)):
            yield student, name, state[student][name]


def part_order() -> list[tuple[str, str]]:
    """Return (exercise, part) of all parts in course order."""
    return [(name, part.key) for name in exercises.names() for part in exercises.load(name).parts]


def rank(order: Sequence[Key], one: Key) -> int:
    """Return the index of `one` in `order`, or the length of `order` if it is absent."""
    return order.index(one) if one in order else len(order)


def _cause(part: Mapping[str, Any]) -> str:
    return "" if part["points"] >= part["of"] else part["cause"] or "other"
