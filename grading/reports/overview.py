"""What an instructor reads after grading: report.html, which stands alone, and the same as CSV."""

import collections
import csv
import functools
import io
import re
import statistics
from datetime import UTC, datetime
from pathlib import Path

import jinja2
import matplotlib
from matplotlib.figure import Figure
from nbgrader.api import Assignment, BaseCell, Grade, SubmittedAssignment, SubmittedNotebook

from grading.intake.submissions import strangers
from grading.records.results import replace
from grading.release import exercises

SLOWEST = 10
NOT_HANDED_IN = "not handed in"


def write(course):
    """Write report.html, the CSV files and misconceptions.svg; return lines to print."""
    state = course.state()
    rows = grades(course, state)
    counted = [(*place, count) for place, count in misconceptions(state).items()]
    missing = not_graded(course, state)
    by_part = parts(course, state)
    facts = listed(state, "tampering")
    took = times(state)
    for name, heads, lines in (
        ("grades", ("student", "assignment", "score", "max_score", "note"), rows),
        ("parts", ("student", "assignment", "part", "points", "of", "cause"), by_part),
        ("misconceptions", ("assignment", "part", "cause", "students"), counted),
        ("not-graded", ("what", "why"), missing),
        ("times", ("student", "assignment", "seconds"), took),
        ("tampering", ("student", "assignment", "fact"), facts),
    ):
        replace(course.folder / f"{name}.csv", as_csv(heads, lines))
    replace(course.folder / "misconceptions.svg", figure(counted))
    replace(
        course.folder / "report.html",
        _template().render(
            course=course.folder.name,
            when=newest(course, state),
            submissions=sum(map(len, state.values())),
            unsafe=len(unsafe(state)),
            scores=scores(rows),
            averages=averages(by_part),
            misconceptions=counted,
            missing=missing,
            facts=facts,
            remarks=listed(state, "remarks"),
            took=took[:SLOWEST],
            seconds=[row[2] for row in took],
            median=statistics.median(row[2] for row in took) if took else 0,
            details=details(by_part),
        ),
    )
    return [
        *table(["assignment", "part", "misconception", "students"], counted),
        *(["", "not graded, or not to the end:"] if missing else []),
        *(f"  {what}: {why}" for what, why in missing),
        *_counted(len(facts), "fact", "on changed notebooks and refused attempts: tampering.csv"),
        *_counted(len(unsafe(state)), "submission", "graded without a sandbox (--unsafe)"),
        f"report: {course.folder / 'report.html'}",
    ]


def _counted(count, what, words):
    return [f"{count} {what}{'' if count == 1 else 's'} {words}"] if count else []


# --- rows ----------------------------------------------------------------------------------------


def grades(course, state):
    """A row for each student and assignment, from the gradebook, so that manual scores count."""
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
    rows = []
    for student in sorted(state):
        for name in sorted(exercises.names()):
            if (student, name) in found:
                score, penalty = found[student, name]
                notes = [state[student].get(name, {}).get("reason", "")]
                notes.append(f"{penalty:g} points taken off for being late" if penalty else "")
            else:
                score, penalty, notes = 0, 0, [NOT_HANDED_IN]
            full = most.get(name, sum(part.points for part in exercises.load(name).parts))
            # As `nbgrader export` does it.
            score = max(0, score - penalty)
            rows.append((student, name, f"{score:g}", f"{full:g}", "; ".join(filter(None, notes))))
    return rows


def parts(course, state):
    """A row for each part that was handed in; points that were given by hand count."""
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
    return [
        (
            student,
            name,
            part["key"],
            f"{given.get((student, name, part['key']), part['points']):g}",
            f"{part['of']:g}",
            _cause(part),
        )
        for student, name, entry in _entries(state)
        for part in entry["parts"]
    ]


def _cause(part):
    """The misconception that a part took, "" if it is right."""
    return "" if part["points"] >= part["of"] else part["cause"] or "other"


def _entries(state):
    """(student, exercise, entry), by student and then in the order of the course."""
    order = exercises.names()
    for student in sorted(state):
        for name in sorted(state[student], key=lambda name: (_index(order, name), name)):
            yield student, name, state[student][name]


def _index(order, one):
    return order.index(one) if one in order else len(order)


def misconceptions(state):
    """(assignment, part, cause) → number of students, in the order of the exercises."""
    counts = collections.Counter(
        (name, part["key"], _cause(part))
        for _, name, entry in _entries(state)
        for part in entry["parts"]
        if _cause(part)
    )
    order = [(name, part.key) for name in exercises.names() for part in exercises.load(name).parts]
    return dict(
        sorted(counts.items(), key=lambda item: (_index(order, item[0][:2]), -item[1], item[0]))
    )


def not_graded(course, state):
    """(student and exercise, why) of everything that could not be graded to its end."""
    entries = [
        (f"{student}/{name}", entry["reason"])
        for student, own in sorted(state.items())
        for name, entry in sorted(own.items())
        if entry["reason"]
    ]
    return entries + [tuple(line.rsplit(": ", 1)) for line in strangers(course.folder)]


def listed(state, kind):
    """(student, exercise, line) for each of the lines that entries keep under this name."""
    return [
        (student, name, line)
        for student, name, entry in _entries(state)
        for line in entry.get(kind, ())
    ]


def times(state):
    """(student, exercise, seconds), slowest first."""
    rows = [
        (student, name, entry["seconds"])
        for student, name, entry in _entries(state)
        if "seconds" in entry
    ]
    return sorted(rows, key=lambda row: -row[2])


def unsafe(state):
    return [(student, name) for student, name, entry in _entries(state) if entry.get("unsafe")]


# --- tables of the report ------------------------------------------------------------------------


def scores(rows):
    """Heads, then a line for each student: name, an entry for each exercise, sum."""
    names = exercises.names()
    most = {name: full for _, name, _, full, _ in rows}
    by_student = collections.defaultdict(dict)
    for student, name, score, _, note in rows:
        by_student[student][name] = "–" if note == NOT_HANDED_IN else score
    heads = [f"{name} of\N{NO-BREAK SPACE}{most[name]}" for name in names if name in most]
    lines = [
        (student, *own, f"{sum(float(one) for one in own if one != '–'):g}")
        for student, entries in by_student.items()
        for own in [[entries[name] for name in names if name in entries]]
    ]
    return {"heads": heads, "lines": lines}


def averages(rows):
    """(exercise, part, of, how many handed in, how many right, mean points)"""
    found = collections.defaultdict(list)
    for _, name, part, points, of, cause in rows:
        found[name, part].append((float(points), of, cause))
    order = [(name, part.key) for name in exercises.names() for part in exercises.load(name).parts]
    return [
        (
            *place,
            got[0][1],
            len(got),
            sum(not cause for _, _, cause in got),
            f"{statistics.fmean(points for points, _, _ in got):.2f}",
        )
        for place, got in sorted(found.items(), key=lambda item: (_index(order, item[0]), item[0]))
    ]


def details(rows):
    """exercise → (heads, lines): the points of each student in each part."""
    tables = {}
    for student, name, part, points, of, cause in rows:
        heads, lines = tables.setdefault(name, ({}, {}))
        heads[part] = of
        lines.setdefault(student, {})[part] = (points, cause)
    order = exercises.names()
    return {
        name: tables[name] for name in sorted(tables, key=lambda name: (_index(order, name), name))
    }


def newest(course, state):
    """When the newest graded notebook was written, in words; it does not depend on the clock."""
    files = [course.graded(student, name) for student, name, _ in _entries(state)]
    when = [file.stat().st_mtime for file in files if file.exists()]
    return f"{datetime.fromtimestamp(max(when), UTC):%d %B %Y, %H:%M} UTC" if when else ""


@functools.cache
def _template():
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.j2")


def table(heads, rows):
    """Lines of text in columns."""
    cells = [[str(entry) for entry in row] for row in (heads, *rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(heads))]
    return [
        "  ".join(entry.ljust(width) for entry, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]


def figure(counted):
    """A bar for each misconception of each part, as SVG."""
    drawn = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "misconceptions"}):
        fig = Figure(figsize=(8, 1 + 0.25 * len(counted)), layout="constrained")
        ax = fig.add_subplot()
        ax.barh([" · ".join(place) for *place, _ in counted], [count for *_, count in counted])
        ax.invert_yaxis()
        ax.set_xlabel("students")
        ax.xaxis.get_major_locator().set_params(integer=True)
        fig.savefig(drawn, format="svg", metadata={"Date": None})
    return drawn.getvalue()


def as_csv(heads, rows):
    text = io.StringIO()
    csv.writer(text).writerows([heads, *([_cell(one) for one in row] for row in rows)])
    return text.getvalue()


def _cell(value):
    """What a spreadsheet takes for text, though it might take it for a formula as it stands."""
    formula = isinstance(value, str) and re.match(r"\s*[=+\-@\t\r]", value)
    return f"'{value}" if formula else value
