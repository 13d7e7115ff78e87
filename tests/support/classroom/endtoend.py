"""A class of students with known points, and checks of its graded notebooks and feedback."""

import csv
import functools
from collections.abc import Iterator, Sequence

from nbformat import NotebookNode
from submissions import Submission, submissions

from classroom import Classroom, cell, points


@functools.cache
def library(name: str, kind: str) -> list[Submission]:
    """Return the stored submissions of this kind, "right" or "wrong"."""
    return [one for one in submissions(name) if one.name.startswith(kind)]


def half_done(room: Classroom, name: str) -> tuple[NotebookNode, list[str]]:
    """Return a notebook with half of its parts solved, and the unsolved parts.

    The first half is solved.
    """
    nb, solved = room.released(name), room.solved(name)
    parts = list(points(name))
    for part in parts[: len(parts) // 2]:
        cell(nb, f"{part}-solution").source = cell(solved, f"{part}-solution").source
    return nb, parts[len(parts) // 2 :]


def broken(room: Classroom, name: str) -> tuple[NotebookNode, list[str]]:
    """Return a solved notebook with a syntax error in its last part, and that part."""
    nb = room.solved(name)
    last = list(points(name))[-1]
    one = cell(nb, f"{last}-solution")
    one.source = one.source.replace("):", ")", 1)
    return nb, [last]


def class_submissions(
    room: Classroom, names: Sequence[str], right: int, wrong: int, others: Sequence[str]
) -> Iterator[tuple[str, str, NotebookNode, list[str]]]:
    """Yield (student, exercise, notebook, parts without points).

    right, wrong: how many right and wrong submissions of the library to hand in, one per student.
    others: keys of OTHERS, the students who also hand in.
    """
    for name in names:
        for index in range(right):
            yield f"right-{index}", name, room.solved(name, library(name, "right")[index].name), []
        for index in range(wrong):
            made = library(name, "wrong")[index]
            yield (
                f"wrong-{index}",
                name,
                room.solved(name, made.name),
                list(made.expected),
            )
        for student in others:
            yield student, name, *OTHERS[student](room, name)


OTHERS = {
    "anna": lambda room, name: (room.solved(name), []),
    "half": half_done,
    "untouched": lambda room, name: (room.released(name), list(points(name))),
    "syntax": broken,
}


def hand_in_all(
    room: Classroom,
    names: Sequence[str],
    right: int,
    wrong: int,
    others: Sequence[str] = tuple(OTHERS),
) -> dict[tuple[str, str], float]:
    """Hand in the notebooks of a class of students; return their expected points.

    The keys of the result are (student, exercise).
    """
    expected = {}
    for student, name, notebook, lost in class_submissions(room, names, right, wrong, others):
        room.hand_in(student, name, notebook)
        expected[student, name] = sum(
            worth for part, worth in points(name).items() if part not in lost
        )
    return expected


def exported(room: Classroom) -> dict[tuple[str, str], float]:
    """Return (student, exercise) → points, as `nbgrader export` wrote them."""
    with (room.folder / "exported.csv").open(newline="") as file:
        return {
            (row["student_id"], row["assignment"]): float(row["score"])
            for row in csv.DictReader(file)
        }


def assert_notebook_explains_points(room: Classroom, student: str, name: str) -> None:
    """Check that the graded notebook has the points and sentences of each part."""
    graded = room.graded(student, name)
    for part in graded.metadata.rooflib.parts:
        text = cell(graded, part.key).outputs[0].text
        assert f"{part.key}: {part.points:g} of {part.of:g} points." in text
        assert all(sentence in text for sentence in part.sentences)


def assert_feedback_explains_lost_points(room: Classroom, student: str, name: str) -> None:
    """Check that the feedback has the first sentence of each part that lost points."""
    graded = room.graded(student, name)
    feedback = room.course.feedback(student, name).read_text(encoding="utf-8")
    lost = [part for part in graded.metadata.rooflib.parts if part.points < part.of]
    assert lost
    for part in lost:
        assert part.sentences[0] in feedback
