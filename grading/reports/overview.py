"""The instructor's report after grading: report.html, and CSV files."""

import collections
import csv
import functools
import io
import re
import statistics
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jinja2
import matplotlib
import matplotlib.style
from matplotlib.figure import Figure
from matplotlib.textpath import TextPath

from grading.records.results import replace
from grading.release import exercises
from grading.reports import rows, similarity
from grading.reports.rows import NOT_HANDED_IN, Course, State, part_order, rank

MAX_BAR_INCHES, ROW_INCHES = 4.5, 0.25  # longest bar and row height in misconceptions.svg
LEFT_INCHES, RIGHT_INCHES, TOP_INCHES, BOTTOM_INCHES = 0.2, 0.1, 0.1, 0.7  # its margins
EMPTY_INCHES = 0.2  # height of the axes, to which each row adds ROW_INCHES
OFFSET_STYLE: Any = {"xytext": (-4, 0), "textcoords": "offset points"}
LABEL_STYLE: Any = {"ha": "right", "va": "center", **OFFSET_STYLE}
MAX_SLOWEST = 10  # rows in the report's table of times


def write(course: Course) -> list[str]:
    """Write report.html, the CSV files and misconceptions.svg; return lines to print."""
    state = course.state()
    grades, parts = rows.grades(course, state), rows.parts(course, state)
    misconceptions, ungraded = rows.misconceptions(state), rows.ungraded(course, state)
    tampering, times, unsafe = rows.tampering(state), rows.times(state), rows.unsafe(state)
    similar = similarity.pairs(state)
    tables: tuple[tuple[str, tuple[str, ...], Sequence[Sequence[object]]], ...] = (
        ("grades", ("student", "assignment", "score", "max_score", "note"), grades),
        ("parts", ("student", "assignment", "part", "points", "of", "cause"), parts),
        ("misconceptions", ("assignment", "part", "cause", "students"), misconceptions),
        ("not-graded", ("what", "why"), ungraded),
        ("times", ("student", "assignment", "seconds"), times),
        ("tampering", ("student", "assignment", "fact"), tampering),
        ("alike", ("assignment", "student", "other", "alike", "median", "elements"), similar),
    )
    for name, heads, lines in tables:
        replace(course.folder / f"{name}.csv", as_csv(heads, lines))
    replace(course.folder / "misconceptions.svg", figure(misconceptions))
    replace(
        course.folder / "report.html",
        _template().render(
            course=course.folder.name,
            when=newest(course, state),
            submissions=sum(map(len, state.values())),
            unsafe=len(unsafe),
            scores=scores(grades),
            averages=averages(parts),
            misconceptions=misconceptions,
            ungraded=ungraded,
            tampering=tampering,
            similar=similar,
            remarks=rows.remarks(state),
            slowest=times[:MAX_SLOWEST],
            seconds=[row[2] for row in times],
            median=statistics.median,
            details=details(parts),
        ),
    )
    return [
        *as_text(("assignment", "part", "misconception", "students"), misconceptions),
        *(["", "not graded, or not completely:"] if ungraded else []),
        *(f"  {what}: {why}" for what, why in ungraded),
        *_counted(len(tampering), "changed notebooks and refused attempts", "see tampering.csv"),
        *_counted(len(unsafe), "graded without a sandbox", "--unsafe"),
        f"report: {course.folder / 'report.html'}",
    ]


def _counted(count: int, what: str, note: str) -> list[str]:
    return [f"{what}: {count} ({note})"] if count else []


def scores(grades: Sequence[tuple[str, str, str, str, str]]) -> dict[str, Any]:
    """Return headings, and a row for each student: name, score of each exercise, sum."""
    names = exercises.names()
    most = {name: full for _, name, _, full, _ in grades}
    by_student: dict[str, dict[str, str]] = collections.defaultdict(dict)
    for student, name, score, _, note in grades:
        by_student[student][name] = "–" if note == NOT_HANDED_IN else score
    heads = [f"{name} of\N{NO-BREAK SPACE}{most[name]}" for name in names if name in most]
    lines = []
    for student, entries in by_student.items():
        own = [entries[name] for name in names]
        lines.append((student, *own, f"{sum(float(one) for one in own if one != '–'):g}"))
    return {"heads": heads, "lines": lines}


def averages(
    parts: Sequence[tuple[str, str, str, str, str, str]],
) -> list[tuple[str, str, str, int, int, str]]:
    """Return a row of averages for each part.

    A row is (exercise, part, full points, submissions, right answers, mean points).
    """
    found: dict[tuple[str, str], list[tuple[float, str, str]]] = collections.defaultdict(list)
    for _, name, part, points, of, cause in parts:
        if cause != NOT_HANDED_IN:
            found[name, part].append((float(points), of, cause))
    order = part_order()
    return [
        (
            *place,
            got[0][1],
            len(got),
            sum(not cause for _, _, cause in got),
            f"{statistics.fmean(points for points, _, _ in got):.2f}",
        )
        for place, got in sorted(found.items(), key=lambda item: (rank(order, item[0]), item[0]))
    ]


Heads = dict[str, str]  # part → its points
Lines = dict[str, dict[str, tuple[str, str]]]  # student → part → (points, cause)


def details(
    parts: Sequence[tuple[str, str, str, str, str, str]],
) -> dict[str, tuple[Heads, Lines]]:
    """Return exercise → (heads, lines) with the points of each student in each part.

    Exercises without submissions are left out; a dash stands for a missing submission.
    """
    tables: dict[str, tuple[Heads, Lines]] = {}
    submitted = {name for _, name, _, _, _, cause in parts if cause != NOT_HANDED_IN}
    for student, name, part, points, of, cause in parts:
        if name in submitted:
            heads, lines = tables.setdefault(name, ({}, {}))
            heads[part] = of
            missing = cause == NOT_HANDED_IN
            lines.setdefault(student, {})[part] = ("–", "") if missing else (points, cause)
    order = exercises.names()
    return {
        name: tables[name] for name in sorted(tables, key=lambda name: (rank(order, name), name))
    }


def newest(course: Course, state: State) -> str:
    """Return when the newest graded notebook was written, "" if there is none.

    Unlike the current time, it stays the same if the report is written again.
    """
    files = [course.graded(student, name) for student, name, _ in rows.in_order(state)]
    when = [file.stat().st_mtime for file in files if file.exists()]
    return f"{datetime.fromtimestamp(max(when), UTC):%d %B %Y, %H:%M} UTC" if when else ""


@functools.cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.j2")


def as_text(heads: Sequence[str], lines: Iterable[Sequence[object]]) -> list[str]:
    """Return lines of text with aligned columns."""
    cells = [[str(entry) for entry in line] for line in (heads, *lines)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(heads))]
    return [
        "  ".join(entry.ljust(width) for entry, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    ]


def figure(misconceptions: Sequence[tuple[str, str, str, int]]) -> str:
    """Return an SVG of how many students have each misconception of each part."""
    drawn = io.StringIO()
    names = [" · ".join(place) for *place, _ in misconceptions]
    # Use Matplotlib's own style, whatever style the process has set before.
    with matplotlib.style.context(["default", {"svg.hashsalt": "misconceptions"}]):
        # Place the labels by hand: tick labels and automatic layout would take longer than grading
        # ten notebooks.
        size = matplotlib.rcParams["font.size"]
        longest = (
            TextPath((0, 0), max(names, key=len, default="none"), size).get_extents().width / 72
        )
        left, rows_high = LEFT_INCHES + longest, EMPTY_INCHES + ROW_INCHES * len(names)
        wide = left + MAX_BAR_INCHES + RIGHT_INCHES
        high = BOTTOM_INCHES + rows_high + TOP_INCHES
        fig = Figure(figsize=(wide, high))
        ax = fig.add_axes(
            (left / wide, BOTTOM_INCHES / high, MAX_BAR_INCHES / wide, rows_high / high)
        )
        ax.barh(range(len(names)), [count for *_, count in misconceptions])
        for row, name in enumerate(names):
            ax.annotate(name, (0, row), **LABEL_STYLE)
        ax.set_yticks([])
        ax.set_ylim(max(len(names), 1) - 0.5, -0.5)
        ax.set_xlim(left=0)
        ax.set_xlabel("students")
        ax.locator_params(axis="x", integer=True)
        fig.savefig(drawn, format="svg", metadata={"Date": None})
    return drawn.getvalue()


def as_csv(heads: Sequence[object], lines: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows([heads, *([_cell(one) for one in line] for line in lines)])
    return text.getvalue()


def _cell(value: object) -> object:
    """Return a CSV value; put an apostrophe before text that looks like a formula."""
    formula = isinstance(value, str) and re.match(r"\s*[=+\-@\t\r]", value)
    return f"'{value}" if formula else value
