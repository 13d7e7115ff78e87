"""What people read: a page of feedback for each submission; tables and a report for the instructor.

Pages hold text and pictures, and nothing that acts or is fetched. Each text of a learner goes
through Jinja's escaping, or, if it is Markdown, through nh3.
"""

import collections
import csv
import functools
import html
import io
import itertools
import re
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
import nh3
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode
from pygments import highlight  # type: ignore[import-untyped]
from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]
from pygments.lexers import PythonLexer  # type: ignore[import-untyped]

from grading.files import put
from grading.gradebook import Key, Marks
from grading.intake import Misplaced
from grading.notebook import CHECK, key_of
from grading.release import exercises, translation
from roofkit.check.wording import before
from roofkit.notebook_language import language_of
from roofkit.words import N_, _, language, spoken

HERE = Path(__file__).parent
TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(HERE),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
HIDDEN_CELLS = ("opening", "cases")  # of a released notebook; nobody wants to read these
TAGS = nh3.ALLOWED_TAGS - {"img", "div", "span"}  # fetched, or nothing without a class
# Characters of a cell: a longer one is shown as it is, since parsers can be slow, and then cut.
MOST_COLORED, MOST_TEXT = 5_000, 100_000
ESCAPES = re.compile(r"\x1b\[[\d;]*[A-Za-z]")  # colors of terminals
NOT_HANDED_IN = "not handed in"
KINDS = {  # kind of remark → what the report says above them
    "not graded": "It counts as zero, unless the notebook was run in part or another one counts.",
    "late": "Time after the due date, or after the own extension, and what that cost.",
    "by hand": "These points count, also beside a newer hand-in, for which they were not given.",
    "changed": (
        "These are facts. They cost no points, and each may have an innocent reason: accidents "
        "happen to notebooks on the way. Talk to the learner before you conclude anything."
    ),
}
COMMENTS, PENALTY = N_("Comments:"), N_("Late submission penalty")
LATE, BY_HAND = N_("Handed in late, by {hours} h"), N_("These points were given by hand.")
FIGURE = N_("Figure drawn by this cell")


# --- feedback ------------------------------------------------------------------------------------


def page(nb: NotebookNode, student: str, exercise: str, marks: Marks) -> str:
    """Return the page of feedback, in the notebook's language."""
    asked = exercises.load(exercise).parts
    points = {part.key: part.points for part in asked}
    with spoken(language_of(nb)):
        return TEMPLATES.get_template("feedback.html.j2").render(
            language=language().replace("_", "-"),
            tab=_("{exercise} ({student})").format(exercise=_title(exercise), student=student),
            heading=_("{exercise} ({points} of {all} points)").format(
                exercise=_title(exercise),
                points=f"{marks.score:g}",
                all=f"{sum(points.values()):g}",
            ),
            parts=[
                {
                    "key": part.key,
                    "title": translation.question(exercise, part)[0],
                    "score": _("Score: {points} / {all}").format(
                        points=f"{marks.scores.get(part.key, 0):g}", all=f"{part.points:g}"
                    ),
                }
                for part in asked
            ],
            late=_(LATE).format(hours=marks.hours) if marks.late else "",
            penalty=_(PENALTY) if marks.penalty else "",
            taken=f"{marks.penalty:g}",
            cells=[_cell(cell, points, marks) for cell in nb.cells if _is_shown(cell, marks)],
            comments=before(_(COMMENTS)),
            figure=_(FIGURE),
            highlighting=HtmlFormatter().get_style_defs(".code"),
        )


def _title(exercise: str) -> str:
    """Return the title of an exercise in the language in force."""
    title = exercises.load(exercise).title
    return translation.messages(exercise, language()).get(title, title)


def _is_shown(cell: NotebookNode, marks: Marks) -> bool:
    key = key_of(cell)
    is_read = bool(cell.source.strip()) and key not in HIDDEN_CELLS
    return is_read or bool(cell.get("outputs")) or key in marks.comments


def _cell(cell: NotebookNode, points: Mapping[str, float], marks: Marks) -> dict[str, Any]:
    key = key_of(cell)
    outputs = [{"said": ""} | _output(one) for one in cell.get("outputs", ())]
    verdict = ""
    if key in points:
        if CHECK.match(cell.source) and outputs:  # the last has the points, for nbgrader
            *outputs, graded = outputs
            if graded["text"] != str(float(marks.scores.get(key, 0))):
                outputs = [{"picture": "", "text": _(BY_HAND), "is_error": False}]
            for one in outputs:
                one["said"] = _with_code(one.get("text", ""))
        verdict = "right" if marks.scores.get(key) == points[key] else "wrong"
    return {
        "key": key,
        "html": _colored(cell.source) if cell.cell_type == "code" else prose(cell.source),
        "outputs": outputs,
        "verdict": verdict,
        "comment": marks.comments.get(key, ""),
    }


def _with_code(text: str) -> str:
    """Return the sentences of a check as HTML, with code between its backquotes."""
    return re.sub("`([^`\n]+)`", r"<code>\1</code>", html.escape(text))


@functools.lru_cache(maxsize=500)  # most cells are as they were released
def _colored(source: str) -> str:
    if len(source) > MOST_COLORED:  # coloring takes time
        return f'<div class="code">{_plain(source)}</div>'
    return str(highlight(source, PythonLexer(), HtmlFormatter(cssclass="code")))


def _plain(source: str) -> str:
    return f"<pre>{html.escape(source[:MOST_TEXT])}</pre>"


@functools.lru_cache(maxsize=500)
def prose(source: str) -> str:
    """Return Markdown as HTML without anything that acts or is fetched.

    The formgrader, in which an instructor is logged in, shows Markdown through this, too.
    """
    if len(source) > MOST_COLORED:
        return _plain(source)
    try:
        renderer = IPythonRenderer(escape=False, exclude_anchor_links=True)
        made = MarkdownWithMath(renderer=renderer).render(source)
    except Exception:  # a picture that is not attached, lists that are nested too deep
        return _plain(source)
    return nh3.clean(made, tags=TAGS)


def _output(output: Mapping[str, Any]) -> dict[str, Any]:
    data = output.get("data", {})
    if "image/png" in data:
        return {"picture": data["image/png"]}
    text = output.get("text") or data.get("text/plain") or "\n".join(output.get("traceback", ()))
    is_error = output["output_type"] == "error"
    return {"picture": "", "text": ESCAPES.sub("", str(text)), "is_error": is_error}


# --- tables --------------------------------------------------------------------------------------


Row = tuple[Any, ...]


def write(
    course: Any,
    state: Mapping[Key, Any],
    marks: Mapping[Key, Marks],
    people: Iterable[str],
    misplaced: Iterable[Misplaced],
) -> list[str]:
    """Write grades.csv, parts.csv, misconceptions.csv, remarks.csv and report.html.

    Returns lines to print.

    marks: what the gradebook says. people: the students in it. misplaced: what was not graded
    because of where it is.
    """
    names = course.names()
    state = dict(sorted(state.items(), key=lambda one: (one[0][0], names.index(one[0][1]))))
    everybody = sorted({*people, *(student for student, _ in state)})
    keys = list(itertools.product(everybody, names))
    grades, parts = list(_grades(keys, state, marks)), list(_parts(keys, state, marks))
    mistakes = list(_misconceptions(parts))
    remarks = sorted(_remarks(state, marks, misplaced), key=lambda row: [*KINDS].index(row[0]))
    tables: dict[str, tuple[str, Sequence[Row]]] = {
        "grades": ("student assignment score max_score note", grades),
        "parts": ("student assignment part points of cause", parts),
        "misconceptions": ("assignment part cause students", mistakes),
        "remarks": ("kind student assignment remark", remarks),
    }
    for name, (heads, rows) in tables.items():
        put(course.folder / f"{name}.csv", as_csv(heads.split(), rows))
    by_kind = {kind: [row[1:] for row in remarks if row[0] == kind] for kind in KINDS}
    given = [row for row in parts if row[-1] != NOT_HANDED_IN]
    about = {
        "course": course.folder.name,
        "submissions": len(state),
        "heads": [f"{one} of\N{NO-BREAK SPACE}{exercises.load(one).points:g}" for one in names],
        "scores": grouped(grades, 0),
        "averages": [
            (
                *place,
                len(rows),
                sum(not row[-1] for row in rows),
                f"{statistics.fmean(float(row[3]) for row in rows):.2f}",
            )
            for place, rows in grouped(given, 1, 2, 4).items()
        ],
        "misconceptions": mistakes,
        "kinds": KINDS,
        "remarks": by_kind,
        "details": [
            (name, grouped(rows, 2), grouped(rows, 0))
            for (name,), rows in grouped(parts, 1).items()
            if any(row[-1] != NOT_HANDED_IN for row in rows)
        ],
        "not_handed_in": NOT_HANDED_IN,
    }
    put(course.folder / "report.html", TEMPLATES.get_template("report.html.j2").render(about))
    ungraded = by_kind["not graded"]
    return [
        *(["not graded, or not completely:"] if ungraded else []),
        *(f"  {'/'.join(filter(None, place))}: {why}" for *place, why in ungraded),
        f"report: {course.folder / 'report.html'}",
        f"grades: {course.folder / 'grades.csv'}",
    ]


def _grades(
    keys: Iterable[Key], state: Mapping[Key, Any], marks: Mapping[Key, Marks]
) -> Iterator[Row]:
    """Yield (student, exercise, score, full score, note), also for what was not handed in."""
    for key in keys:
        own, result = marks.get(key, Marks()), state.get(key, {})
        is_there = result or own.is_graded
        notes = (result.get("reason"), _late(own)) if is_there else (NOT_HANDED_IN,)
        of = exercises.load(key[1]).points
        yield *key, f"{own.score:g}", f"{of:g}", "; ".join(filter(None, notes))


def _parts(
    keys: Iterable[Key], state: Mapping[Key, Any], marks: Mapping[Key, Marks]
) -> Iterator[Row]:
    """Yield (student, exercise, part, points, full points, cause) for all parts of all students.

    cause: the key of a misconception or a problem, "other" if neither was recognized, "" if the
    part is right.
    """
    for key in keys:
        if key not in state:
            for part in exercises.load(key[1]).parts:
                yield *key, part.key, "0", f"{part.points:g}", NOT_HANDED_IN
            continue
        for one in state[key]["parts"]:
            cause = "" if one["points"] >= one["of"] else one["cause"] or "other"
            points = marks.get(key, Marks()).scores.get(one["key"], one["points"])
            yield *key, one["key"], f"{points:g}", f"{one['of']:g}", cause


def _misconceptions(parts: Iterable[Row]) -> Iterator[Row]:
    """Yield (exercise, part, cause, number of students), the most frequent of a part first."""
    for place, rows in grouped(parts, 1, 2).items():
        counts = collections.Counter(row[-1] for row in rows if row[-1] not in ("", NOT_HANDED_IN))
        for cause, count in sorted(counts.items(), key=lambda one: (-one[1], one[0])):
            yield *place, cause, count


def _remarks(
    state: Mapping[Key, Any], marks: Mapping[Key, Marks], misplaced: Iterable[Misplaced]
) -> Iterator[Row]:
    """Yield (kind, student or place, exercise, remark)."""
    for key, result in state.items():
        if result["reason"]:
            yield "not graded", *key, result["reason"]
        yield from (("changed", *key, one) for one in result["remarks"])
    for place, why in misplaced:
        yield "not graded", place, "", why
    for key, own in sorted(marks.items()):
        if own.late and own.is_graded:
            yield "late", *key, _late(own)
        for part, given in own.scores.items():
            if (auto := own.auto[part]) is not None and given != auto:
                yield "by hand", *key, f"{part}: {given:g} points by hand, {auto:g} by the grading"


def _late(own: Marks) -> str:
    """Return how late a hand-in is and what that cost, "" if it is in time."""
    cost = f", {own.penalty:g} points taken off" if own.penalty else ""
    return f"{own.hours} h late{cost}" if own.late else ""


def grouped(rows: Iterable[Row], *places: int) -> dict[Row, list[Row]]:
    """Return the entries in these places → the rows that have them, in the order of the rows."""
    found: dict[Row, list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[place] for place in places), []).append(row)
    return found


def as_csv(heads: Sequence[str], rows: Iterable[Row]) -> str:
    """Return a table as CSV, in which no text is a formula for a spreadsheet."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(heads)
    for row in rows:
        writer.writerow([_harmless(one) if isinstance(one, str) else one for one in row])
    return text.getvalue()


def _harmless(text: str) -> str:
    """Return a text without formulas, also where a spreadsheet begins a new cell at each `;`."""
    if re.fullmatch(r"-?\d+(\.\d+)?", text):
        return text
    return re.sub(r"(?:^|(?<=[;\t]))(?=\s*[=+\-@\t\r])", "'", text)
