"""What an instructor reads after grading: grades, wrong turns, and what could not be graded."""

import collections
import csv

import matplotlib
from matplotlib.figure import Figure
from nbgrader.api import MissingEntry

from . import exercises
from .intake import strangers


def write(course):
    """Write grades.csv, wrong-turns.csv and .svg, not-graded.csv; return lines to print."""
    state = course.state()
    rows = grades(course, state)
    _csv(
        course.folder / "grades.csv", ["student", "assignment", "score", "max_score", "note"], rows
    )
    turns = wrong_turns(state)
    counted = [(*place, count) for place, count in turns.items()]
    _csv(course.folder / "wrong-turns.csv", ["assignment", "part", "turn", "students"], counted)
    missing = not_graded(course, state)
    _csv(course.folder / "not-graded.csv", ["what", "why"], missing)
    draw(turns, course.folder / "wrong-turns.svg")
    return [
        *table(["assignment", "part", "wrong turn", "students"], counted),
        *(["", "not graded, or not to the end:"] if missing else []),
        *(f"  {what}: {why}" for what, why in missing),
    ]


def grades(course, state):
    """A row for each student and assignment, from the gradebook, so that manual scores count."""
    rows = []
    with course.gradebook() as gradebook:
        most = {one.name: one.max_score for one in gradebook.assignments}
        for student in sorted(state):
            for name in sorted(exercises.names()):
                try:
                    score = gradebook.find_submission(name, student).score
                    note = state[student].get(name, {}).get("reason", "")
                except MissingEntry:
                    score, note = 0, "not handed in"
                rows.append((student, name, f"{score:g}", f"{most[name]:g}", note))
    return rows


def wrong_turns(state):
    """(assignment, part, turn) → number of students, in the order of the exercises."""
    counts = collections.Counter(
        (name, part["key"], part["turn"] or "other")
        for entries in state.values()
        for name, entry in entries.items()
        for part in entry["parts"]
        if part["points"] < part["of"]
    )
    order = [(name, part.key) for name in exercises.names() for part in exercises.load(name).parts]
    return dict(
        sorted(counts.items(), key=lambda item: (order.index(item[0][:2]), -item[1], item[0]))
    )


def not_graded(course, state):
    """(student and exercise, why) of everything that could not be graded to its end."""
    entries = [
        (f"{student}/{name}", entry["reason"])
        for student, own in sorted(state.items())
        for name, entry in sorted(own.items())
        if entry["reason"]
    ]
    return entries + [tuple(line.split(": ", 1)) for line in strangers(course.folder)]


def table(heads, rows):
    """Lines of text in columns."""
    cells = [[str(entry) for entry in row] for row in (heads, *rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(heads))]
    return [
        "  ".join(entry.ljust(width) for entry, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]


def draw(turns, path):
    """A bar for each wrong turn of each part."""
    with matplotlib.rc_context({"svg.hashsalt": "wrong turns"}):
        figure = Figure(figsize=(8, 1 + 0.25 * len(turns)), layout="constrained")
        ax = figure.add_subplot()
        names = [" · ".join(place) for place in turns]
        ax.barh(names, list(turns.values()))
        ax.invert_yaxis()
        ax.set_xlabel("students")
        ax.xaxis.get_major_locator().set_params(integer=True)
        figure.savefig(path, metadata={"Date": None})


def _csv(path, heads, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([heads, *rows])
