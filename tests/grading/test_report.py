"""Tests of the report on a made-up class of students, including hostile names."""

import csv
import io
import os
import re
from datetime import UTC, datetime

import pytest
from bs4 import BeautifulSoup
from classroom import Classroom, points
from hostile.texts import ATTACKS, INJECTED
from jinja2 import UndefinedError
from playwright.sync_api import Browser
from site_browser import DESK, PHONE, SIDEWAYS, STICKING_OUT, Traffic, axe

from grading.course import Course
from grading.release import exercises
from grading.reports import overview, rows

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
NAME = "int8-matmul"
PARTS = list(points(NAME))
OTHERS = [other for other in exercises.names() if other != NAME]
SCRIPT = "<script>document.documentElement.dataset.ran = 1</script>"
FORMULA = '=HYPERLINK("http://elsewhere.example","x")'
STUDENTS = {
    "anna": {},
    FORMULA: {"misconceptions": {PARTS[0]: "output-not-counted"}, "seconds": 2.5},
    SCRIPT: {
        "misconceptions": {PARTS[0]: "output-not-counted", PARTS[1]: ""},
        "seconds": 31.25,
        "reason": f"a reason {SCRIPT}",
        "tampering": ["the text of the locked cell times was changed", f"asked for {SCRIPT}"],
        "remarks": [f"the notebook was named {SCRIPT}.ipynb"],
    },
    "late": {"penalty": 3},
    "by-hand": {"misconceptions": {PARTS[0]: "swapped"}, "manual": 1},
    "-minus": {"old": True},
}


def name(student):
    """Return the student's folder name."""
    return student.replace("/", "_")


def entry(about):
    causes = about.get("misconceptions", {})
    parts = [
        {
            "key": key,
            "points": 0 if key in causes else worth,
            "of": worth,
            "cause": causes.get(key, ""),
            "sentences": [],
        }
        for key, worth in points(NAME).items()
    ]
    made = {"digest": "1", "reason": about.get("reason", ""), "parts": parts, "remarks": []}
    if about.get("old"):
        return made
    return made | {
        "remarks": about.get("remarks", []),
        "tampering": about.get("tampering", []),
        "seconds": about.get("seconds", 1.0),
        "unsafe": about.get("unsafe", False),
    }


@pytest.fixture(scope="module")
def room(tmp_path_factory, release):
    folder = tmp_path_factory.mktemp("courses") / f"class & {SCRIPT.split('/')[0]}"
    room = Classroom(folder, release)
    with room.course.gradebook() as gradebook:
        gradebook.update_or_create_student("nobody")
        for student, about in STUDENTS.items():
            made = entry(about)
            room.course.results.put(name(student), NAME, made)
            gradebook.update_or_create_student(name(student))
            submission = gradebook.update_or_create_submission(NAME, name(student))
            (notebook,) = submission.notebooks
            notebook.late_submission_penalty = about.get("penalty")
            for grade in notebook.grades:
                (part,) = (part for part in made["parts"] if part["key"] == grade.name)
                grade.auto_score = part["points"]
                if grade.name == PARTS[0] and "manual" in about:
                    grade.manual_score = about["manual"]
        gradebook.db.commit()
    (room.folder / "submitted" / "anna" / "Another: Name").mkdir(parents=True)
    room.said = overview.write(room.course)
    return room


def table(room, name):
    with (room.folder / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


@pytest.fixture(scope="module")
def page(room):
    text = (room.folder / "report.html").read_text(encoding="utf-8")
    return BeautifulSoup(text, "html.parser")


def of(page, title):
    """Return the rows of the table under this heading."""
    (heading,) = (one for one in page.find_all("h2") if one.get_text() == title)
    return [
        [entry.get_text().strip() for entry in row.find_all(["th", "td"])]
        for row in heading.find_parent("section").select("tbody tr")
    ]


def test_scores_come_from_the_gradebook(room):
    got = {row[0]: row[2:] for row in table(room, "grades") if row[1] == NAME}
    lost = sum(points(NAME)[key] for key in PARTS[:2])
    assert got["anna"] == ["20", "20", ""]
    assert got["nobody"] == ["0", "20", "not handed in"]
    assert got["late"] == ["17", "20", "3 points taken off for being late"]
    assert got["by-hand"][0] == f"{20 - points(NAME)[PARTS[0]] + 1:g}"
    assert got[name(SCRIPT)][0] == f"{20 - lost:g}"
    others = [row for row in table(room, "grades") if row[1] not in (NAME, "assignment")]
    assert {row[4] for row in others} == {"not handed in"}
    assert len(others) == len(OTHERS) * (len(STUDENTS) + 1)


def test_missing_submissions_show_a_dash_in_the_scores(page):
    got = {row[0]: row[1:] for row in of(page, "Scores")}
    nothing = ["–"] * len(OTHERS)
    assert got["anna"] == ["20", *nothing, "20"]
    assert got["nobody"] == ["–", *nothing, "0"]
    own = {row[0]: row[1:] for row in of(page, "Points by student and part")}
    assert own["nobody"] == ["–"] * len(PARTS)
    assert len(own) == len(STUDENTS) + 1
    assert got["late"] == ["17", *nothing, "17"]


def test_the_parts_table_lists_points_and_causes(room):
    heads, *lines = table(room, "parts")
    assert heads == ["student", "assignment", "part", "points", "of", "cause"]
    every = [(name, part) for name in exercises.names() for part in points(name)]
    assert [(row[1], row[2]) for row in lines if row[0] == "nobody"] == every
    assert len(lines) == (len(STUDENTS) + 1) * len(every)
    missing = [row for row in lines if row[0] == "nobody" or row[1] != NAME]
    assert {(row[3], row[5]) for row in missing} == {("0", "not handed in")}
    got = {(row[0], row[2]): row[3:] for row in lines if row[1] == NAME}
    worth = f"{points(NAME)[PARTS[0]]:g}"
    assert got["anna", PARTS[0]] == [worth, worth, ""]
    assert got["by-hand", PARTS[0]] == ["1", worth, "swapped"]
    assert got[name(SCRIPT), PARTS[1]][2] == "other"


def test_tampering_and_corrections_are_listed_separately(room, page):
    facts = of(page, "Changed notebooks and refused attempts")
    assert [row[2] for row in facts] == STUDENTS[SCRIPT]["tampering"]
    assert table(room, "tampering")[1:] == facts
    assert [row[2] for row in of(page, "Corrected without loss of points")] == (
        STUDENTS[SCRIPT]["remarks"]
    )
    assert "changed notebooks and refused attempts: 2 (see tampering.csv)" in room.said


def test_ungraded_submissions_are_listed_with_the_reason(room, page):
    expected = [
        [f"{name(SCRIPT)}/{NAME}", STUDENTS[SCRIPT]["reason"]],
        ["anna/Another: Name", "not the name of an exercise"],
    ]
    assert of(page, "Not graded, or not completely") == expected
    assert table(room, "not-graded")[1:] == expected
    start = room.said.index("not graded, or not completely:") - 1
    assert room.said[start] == ""
    assert room.said[start + 2 :][:2] == [f"  {what}: {why}" for what, why in expected]


def test_times_are_listed_slowest_first(room, page):
    got = of(page, "Time")
    assert [row[2] for row in got] == ["31.25", "2.5", "1.0", "1.0", "1.0"]
    assert len(table(room, "times")) == 1 + len(got)
    assert "36.8 s of work in total; the median submission took 1.00 s." in page.get_text()


def test_students_are_counted_per_misconception(room, page):
    counted = [row[:4] for row in of(page, "Misconceptions")]
    assert [NAME, PARTS[0], "output-not-counted", "2"] in counted
    assert table(room, "misconceptions")[1:] == counted
    widths = [float(rect["width"]) for rect in page.select("td.bar rect")]
    assert widths == [100 * int(row[3]) / 2 for row in counted]


def labels(drawn):
    """Return (text, x, y) of an SVG's texts: matplotlib writes each as a comment."""
    found = re.findall(r"<!-- (.*?) -->.*?translate\((\S+) (\S+)\)", drawn, re.S)
    return [(text, float(x), float(y)) for text, x, y in found]


def boxes(drawn):
    """Return (left, top, right, bottom) of the rectangles in an SVG."""
    edges = (
        r'<g id="patch_\d+">\s+<path d="M (\S+) (\S+) \nL (\S+) \S+ \nL \S+ (\S+) \nL \S+ \S+ \nz'
    )
    found = [tuple(map(float, one)) for one in re.findall(edges, drawn)]
    return [(min(x, r), min(y, b), max(x, r), max(y, b)) for x, y, r, b in found]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("count", [0, 1, 2, 40])
def test_each_misconception_has_a_labeled_bar_in_the_figure(count):
    names = ["weight-per-example · compute-bound-chips · changed-inputs", "z · z · z"] * 20
    found = [(*name.split(" · "), count - n) for n, name in enumerate(names[:count])]
    drawn = overview.figure(found)
    page, axes, *bars = boxes(drawn)
    # The axes lie inside the figure, and their label lies below them.
    assert page[0] < axes[0] < axes[2] < page[2]
    assert page[1] < axes[1] < axes[3] < page[3]
    ((x, y),) = [place for text, *place in labels(drawn) if text == "students"]
    assert axes[0] < x < axes[2]
    assert axes[3] < y < page[3]
    # Bars lie in the axes, from top to bottom; their lengths are proportional to their counts.
    assert len(bars) == count
    assert [bar[0] for bar in bars] == [axes[0]] * count
    assert [(bar[2] - bar[0]) * count for bar in bars] == pytest.approx(
        [(bars[0][2] - bars[0][0]) * number for *_, number in found], abs=1e-3
    )
    assert all(bar[2] < axes[2] for bar in bars)
    edges = [axes[1], *(edge for bar in bars for edge in (bar[1], bar[3])), axes[3]]
    assert edges == sorted(edges)
    if bars:
        assert bars[0][1] - axes[1] == pytest.approx(axes[3] - bars[-1][3], abs=1e-3)
    # Labels stand left of their bars; the longest label begins near the left edge of the figure.
    beside = [one for one in labels(drawn) if " · " in one[0]]
    assert [text for text, *_ in beside] == names[:count]
    for (_, x, y), bar in zip(beside, bars, strict=True):
        assert page[0] < x < axes[0]
        assert bar[1] < y < bar[3]
    assert not beside or min(x for _, x, _ in beside) < 20
    # The other labels are the axis's numbers of students: whole numbers from 0.
    others = [text for text, *_ in labels(drawn) if " · " not in text and text != "students"]
    assert others[0] in ("0", "0.0", "0.00")
    if bars:
        assert others == [str(int(text)) for text in others]


def test_the_report_summarizes_each_part(page):
    got = {row[1]: row[2:] for row in of(page, "Parts")}
    worth = points(NAME)[PARTS[0]]
    mean = (worth * 3 + 1) / len(STUDENTS)
    assert got[PARTS[0]] == [f"{worth:g}", "6", "3", f"{mean:.2f}"]
    assert got[PARTS[-1]][2] == "6"


def part(key, cause=""):
    return {"key": key, "points": 0 if cause else 1, "of": 1, "cause": cause}


def of_parts(**causes):
    """Return a stored result: key of each part → cause of its lost points."""
    return {"parts": [part(key, cause) for key, cause in causes.items()]}


def test_misconceptions_are_sorted_by_course_order_and_then_by_frequency():
    first, second = exercises.names()[:2]
    (one, *_), (other, *_) = points(first), points(second)
    state = {
        "ada": {"gone": of_parts(b="x"), second: of_parts(**{other: "z"})},
        "bob": {"gone": of_parts(a="x"), second: of_parts(**{other: "z"})},
        "eve": {first: of_parts(**{one: "b"}), second: of_parts(**{other: "y"})},
        "joe": {first: of_parts(**{one: "a"}), second: of_parts(**{other: ""})},
    }
    assert rows.misconceptions(state) == [
        (first, one, "a", 1),
        (first, one, "b", 1),
        (second, other, "z", 2),
        (second, other, "y", 1),
        ("gone", "a", "x", 1),
        ("gone", "b", "x", 1),
    ]


def test_results_are_sorted_by_student_and_course_order():
    names = [*exercises.names(), "gone", "lost"]
    state = {student: {key: {} for key in names[::-1]} for student in ("bob", "ada")}
    expected = [(student, name, {}) for student in ("ada", "bob") for name in names]
    assert list(rows.in_order(state)) == expected
    assert names[:-2] != sorted(names[:-2])


def test_the_slowest_submissions_come_first():
    state = {student: {NAME: {"seconds": n}} for student, n in {"a": 1, "b": 3, "c": 2}.items()}
    assert rows.times(state) == [("b", NAME, 3), ("c", NAME, 2), ("a", NAME, 1)]


def test_tables_of_parts_keep_the_course_order():
    first, second = exercises.names()[3:5]
    (one, *_), (other, *_) = points(first), points(second)
    graded = [
        ("ada", "lost", "b", "0", "1", "x"),
        ("ada", "lost", "a", "1", "1", ""),
        ("ada", "gone", "a", "1", "1", ""),
        ("ada", second, other, "0.5", "1", "x"),
        ("bob", second, other, "1", "1", ""),
        ("ada", first, one, "2", "2", ""),
        ("bob", first, one, "0", "2", "not handed in"),
        ("bob", NAME, PARTS[0], "0", "3", "not handed in"),
    ]
    assert first > second
    assert overview.averages(graded) == [
        (first, one, "2", 1, 1, "2.00"),
        (second, other, "1", 2, 1, "0.75"),
        ("gone", "a", "1", 1, 1, "1.00"),
        ("lost", "a", "1", 1, 1, "1.00"),
        ("lost", "b", "1", 1, 0, "0.00"),
    ]
    found = overview.details(graded)
    assert list(found) == [first, second, "gone", "lost"]
    assert found[first] == (
        {one: "2"},
        {"ada": {one: ("2", "")}, "bob": {one: ("–", "")}},
    )
    assert found[second][1]["ada"] == {other: ("0.5", "x")}


def test_points_by_hand_and_penalties_count_without_a_stored_result(tmp_path, release):
    room = Classroom(tmp_path, release)
    with room.course.gradebook() as gradebook:
        for student, (given, penalty) in {"ada": (2, 0), "bob": (0, 1), "eve": (0, 0)}.items():
            gradebook.update_or_create_student(student)
            (notebook,) = gradebook.update_or_create_submission(NAME, student).notebooks
            notebook.late_submission_penalty = penalty
            (grade,) = (one for one in notebook.grades if one.name == PARTS[0])
            grade.manual_score = given
        gradebook.db.commit()
    state = {"joe": {NAME: {"reason": "the file is empty"}}}
    with room.course.gradebook() as gradebook:
        gradebook.update_or_create_student("joe")
        gradebook.update_or_create_submission(NAME, "joe")
    got = {row[0]: row[2:] for row in rows.grades(room.course, state) if row[1] == NAME}
    assert got == {
        "ada": ("2", "20", ""),
        "bob": ("0", "20", "1 points taken off for being late"),
        "eve": ("0", "20", "not handed in"),
        "joe": ("0", "20", "the file is empty"),
    }


def test_the_report_names_the_time_of_the_newest_graded_notebook(tmp_path):
    course = Course(tmp_path)
    assert overview.newest(course, {}) == ""
    for student, day in {"ada": 2, "bob": 1}.items():
        file = course.graded(student, NAME)
        file.parent.mkdir(parents=True)
        file.write_text("{}")
        seconds = datetime(2026, 3, day, 10, 5, tzinfo=UTC).timestamp()
        os.utime(file, (seconds, seconds))
    state = {student: {NAME: {}} for student in ("ada", "bob", "its-notebook-is-missing")}
    assert overview.newest(course, state) == "02 March 2026, 10:05 UTC"


def test_columns_of_printed_tables_are_aligned():
    assert overview.as_text(("a", "long head"), [("longer", 1), ("x", "")]) == [
        "a       long head",
        "longer  1",
        "x",
    ]


def test_rendering_the_report_without_a_value_raises_an_error():
    with pytest.raises(UndefinedError):
        overview._template().render()


def test_csv_tables_hold_no_formulas(room):
    for file in room.folder.glob("*.csv"):
        for row in table(room, file.stem):
            for one in row:
                assert not one.startswith(("=", "+", "-", "@", "\t", "\r")), (file.name, one)
    students = {row[0] for row in table(room, "grades")}
    assert {f"'{name(FORMULA)}", "'-minus"} <= students


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", " =", "\n="])
def test_formulas_are_escaped(start):
    text = f"{start}1+1"
    ((got, number),) = csv.reader(io.StringIO(overview.as_csv((text, -1.5), []), newline=""))
    assert number == "-1.5"
    ((), (got,)) = csv.reader(io.StringIO(overview.as_csv((), [(text,)]), newline=""))
    assert got == f"'{text}"


def test_reports_are_reproducible(room):
    names = {
        path.name for path in room.folder.iterdir() if path.suffix in (".csv", ".html", ".svg")
    }
    before = {one: (room.folder / one).read_bytes() for one in names}
    overview.write(room.course)
    assert {one: (room.folder / one).read_bytes() for one in names} == before
    assert names == {
        "grades.csv",
        "parts.csv",
        "misconceptions.csv",
        "misconceptions.svg",
        "not-graded.csv",
        "times.csv",
        "tampering.csv",
        "alike.csv",
        "report.html",
    }


def test_the_report_header_warns_about_grading_without_a_sandbox(room, page):
    assert "--unsafe" not in page.get_text()
    before = room.course.state()["anna"][NAME]
    room.course.results.put("anna", NAME, before | {"unsafe": True})
    try:
        said = overview.write(room.course)
        text = (room.folder / "report.html").read_text(encoding="utf-8")
        words = BeautifulSoup(text, "html.parser").header.select_one(".unsafe").get_text()
        assert words.startswith("--unsafe: 1 of 6 submissions ran without a sandbox")
        assert "graded without a sandbox: 1 (--unsafe)" in said
    finally:
        room.course.results.put("anna", NAME, before)
        overview.write(room.course)


def test_a_course_without_submissions_has_a_report(tmp_path, release):
    room = Classroom(tmp_path, release)
    assert overview.write(room.course) == [
        "assignment  part  misconception  students",
        f"report: {tmp_path / 'report.html'}",
    ]
    assert "0 students, 0 submissions." in (tmp_path / "report.html").read_text()


def test_results_of_a_removed_exercise_are_reported(tmp_path, release):
    room = Classroom(tmp_path, release)
    gone = entry({}) | {"parts": [entry({"misconceptions": {PARTS[0]: "x"}})["parts"][0]]}
    room.course.results.put("anna", "gone", gone)
    assert "gone" not in exercises.names()
    overview.write(room.course)
    assert table(room, "misconceptions")[1:] == [["gone", PARTS[0], "x", "1"]]


@pytest.mark.parametrize(
    ("view", "theme"),
    [
        pytest.param(DESK, "light", id="light-desk"),
        pytest.param(PHONE, "dark", id="dark-phone"),
        pytest.param(PHONE, "light", id="light-phone", marks=pytest.mark.long),
        pytest.param(DESK, "dark", id="dark-desk", marks=pytest.mark.long),
    ],
)
def test_the_report_is_self_contained_and_accessible(room, browser: Browser, view, theme):
    # axe is a script, which the page's content security policy would block.
    context = browser.new_context(viewport=view, color_scheme=theme, bypass_csp=True)
    traffic = Traffic().listen(context)
    tab = context.new_page()
    address = (room.folder / "report.html").as_uri()
    tab.goto(address)
    tab.wait_for_load_state("networkidle")
    assert tab.evaluate("document.documentElement.dataset.ran") is None
    assert traffic.asked == [address]
    assert traffic.wrong == []
    assert tab.evaluate("document.scripts.length") == 0
    assert tab.evaluate(SIDEWAYS) <= 0
    assert tab.evaluate(STICKING_OUT) == []
    assert axe(tab) == []
    context.close()


def test_hostile_text_in_a_report_runs_no_scripts(tmp_path, release, browser):
    room = Classroom(tmp_path, release)
    for at, text in enumerate(ATTACKS.values()):
        (room.folder / "submitted" / f"{at}" / text.replace("/", "_")).mkdir(parents=True)
        made = entry({"reason": text, "tampering": [text], "remarks": [text]})
        room.course.results.put(text.replace("/", "_")[:250], NAME, made)
    overview.write(room.course)
    context = browser.new_context()
    traffic = Traffic().listen(context)
    tab = context.new_page()
    tab.on("dialog", lambda one: traffic.wrong.append(one.message))
    address = (room.folder / "report.html").as_uri()
    tab.goto(address)
    tab.wait_for_load_state("networkidle")
    assert tab.evaluate("document.documentElement.dataset.ran") is None
    assert (traffic.asked, traffic.wrong) == ([address], [])
    assert tab.evaluate(INJECTED) == []
    shown = tab.evaluate("document.body.textContent")
    for text in ATTACKS.values():
        assert shown.count(text) >= 3, text
    context.close()
