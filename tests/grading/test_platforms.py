"""Tests of collecting downloads from Moodle and Canvas, and tables for imports.

How they name files: Moodle's mod/assign/classes/downloader.php and clean_filename of
lib/moodlelib.php; lib/content_zipper.rb of Canvas LMS, and rubyzip, which writes UTF-8 without
saying so. What they import: docs.moodle.org/en/Grade_import ("the import file format is the same as
the corresponding export format", no new columns) and Canvas's guide "How do I import grades in the
Gradebook?" (Student, ID, SIS User ID, SIS Login ID and Section in front, then assignments).
"""

import csv
import io
import re
import zipfile
from pathlib import Path

import pytest
from classroom import Classroom
from hypothesis import given, settings
from hypothesis import strategies as st

from grading.errors import Unable
from grading.intake.submissions import misplaced, submissions
from grading.platforms import downloads, grades, week
from grading.platforms.downloads import HandIn
from grading.platforms.roster import Person, Table
from grading.reports import rows

NAME = "int8-matmul"
# (name as the platform shows it, the platform's number)
PEOPLE = [
    ("Ada Lovelace", "7"),
    ("王 小明", "12"),
    ("علی‌رضا کریمی", "13"),
    ("Björn O'Neil_2", "14"),
    ("Ann 99", "15"),
]


def of_moodle(person, number, title, folders=True, path="/"):
    """Return a file's path in Moodle's zip, with or without a folder per learner."""
    prefix = f"{person.replace('_', ' ')}_{number}_assignsubmission_file"
    clean = re.sub(r'[&<>"`|\':\\/\x00-\x1f]', "", prefix)
    return f"{clean}{path}{title}" if folders else f"{clean}_{title}"


def of_canvas(person, number, title, late=False, file=4711):
    """Return a file's name in Canvas's zip.

    The name begins with the sortable name in lower case, letters only.
    """
    first, _, last = person.partition(" ")
    name = re.sub(r"_(\d+)_", r"\1", f"{last}, {first}").lower()
    head = "_".join([name, *(["LATE"] if late else []), number])
    head = "".join(one for one in head if one == "_" or re.match(r"\w", one))
    return f"{head}_{file}_{title}"


def zipped(folder, names, marked=True):
    """Write a zip with these files; the content of each is its name."""
    archive = folder / "download.zip"
    with zipfile.ZipFile(archive, "w") as made:
        for name in names:
            made.writestr(name, name)
    if not marked:  # clear the UTF-8 flag, which rubyzip does not set
        data = bytearray(archive.read_bytes())
        for signature, place in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
            start = 0
            while (start := data.find(signature, start)) >= 0:
                data[start + place + 1] &= ~0x08 & 0xFF
                start += 4
        archive.write_bytes(data)
    return archive


@pytest.mark.parametrize("folders", [True, False])
def test_files_in_moodles_zip_are_assigned_to_learners(tmp_path, folders):
    title = "my_12_34_work.ipynb"
    names = [of_moodle(*one, title, folders) for one in PEOPLE]
    found = [one for one, _ in downloads.read(zipped(tmp_path, names))]
    people = [(one.replace("_", " ").replace("'", ""), number) for one, number in PEOPLE]
    assert [(one.person, one.number, one.title) for one in found] == [
        (*one, title) for one in people
    ]


@pytest.mark.parametrize("late", [True, False])
@pytest.mark.parametrize("marked", [True, False])
def test_files_in_canvass_zip_are_assigned_to_learners(tmp_path, late, marked):
    title = "my_12_34_مشق.ipynb"
    names = [of_canvas(*one, title, late) for one in PEOPLE]
    found = [one for one, _ in downloads.read(zipped(tmp_path, names, marked))]
    assert [(one.number, one.title) for one in found] == [(number, title) for _, number in PEOPLE]
    people = ["lovelaceada", "小明王", "کریمیعلیرضا", "oneil_2björn", "99ann"]
    assert [one.person for one in found] == people


@pytest.mark.parametrize(
    ("name", "number", "person", "title"),
    [
        ("anon_x1Yz9_4711_a_b.ipynb", "x1Yz9", "anon", "a_b.ipynb"),
        ("anon_x1Yz9_4711_a.ipynb", "x1Yz9", "anon", "a.ipynb"),
        ("1_2_3_x", "2", "1", "x"),
        ("1_2_3_4_x", "2", "1", "4_x"),
        ("LATE_7_4711_x", "7", "LATE", "x"),
        ("a_LATE_7_4711_x", "7", "a", "x"),
    ],
)
def test_anonymous_and_unusual_file_names_of_canvas_are_parsed(name, number, person, title):
    assert downloads.hand_in(name) == HandIn(name, number, person, title)


def test_canvass_file_name_of_an_anonymous_online_text_is_parsed():
    name = "anon_x1Yz9_text.html"
    assert downloads.hand_in(name) == HandIn(name, "x1Yz9", "anon", "text.html", "text")


@pytest.mark.parametrize(
    "name",
    [
        *("", "x.ipynb", "a/b.ipynb", "_1_2_", "1_2_3", "../a_1_2_x", "a_1_b.ipynb", "a_1_2_"),
        *("_assignsubmission_file/x", "a_assignsubmission_file/x", "a_1_assignsubmission_filex"),
        *(
            "a_1_assignsubmission_filex/y",
            "x_y_assignsubmission_file/z",
            "a_1_assignsubmission_file/",
            "_1_assignsubmission_file/x",
        ),
        *("anon", "anon_x", "anon_x_4711", "anon__4711_x", "anon_x_y_z", "a_x1_4711_y"),
        *("text.html", "7_text.html", "a_b_text.html"),
    ],
)
def test_files_not_named_by_a_platform_belong_to_no_learner(name):
    assert downloads.hand_in(name) is None


@settings(deadline=None)
@given(st.text(max_size=80) | st.from_regex(r"[a1_/.]*(_assignsubmission_file)?[a1_/.]*"))
def test_any_file_name_is_parsed_or_belongs_to_no_learner(name):
    found = downloads.hand_in(name)
    assert found is None or (found.title in name and "/" not in found.title and found.number)


def test_a_truncated_zip_is_refused(tmp_path):
    file = tmp_path / "x.zip"
    file.write_bytes(b"PK\3\4 and no more")
    with pytest.raises(downloads.Unreadable, match="not a zip that can be read"):
        list(downloads.read(file))


def with_odd_name(whole):
    return whole.replace("é".encode(), b"\xe9\xe9")  # invalid UTF-8, though the flag declares it


def with_odd_content(whole):
    at = 30 + int.from_bytes(whole[26:28], "little")  # end of the first local file header
    return whole[:at] + b"\xff" + whole[at + 1 :]  # an invalid deflate block type


def beginning_before_its_start(whole):
    at = whole.rindex(b"PK\5\6") + 16  # the field with the central directory's offset
    later = int.from_bytes(whole[at : at + 4], "little") + 99
    return whole[:at] + later.to_bytes(4, "little") + whole[at + 4 :]


@pytest.mark.parametrize("damage", [with_odd_name, with_odd_content, beginning_before_its_start])
def test_a_damaged_zip_is_reported(tmp_path, damage):
    file = tmp_path / "x.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr(of_moodle("A B", "1", "é.ipynb"), b"x" * 1_000)
    assert len(list(downloads.read(file))) == 1
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(downloads.Unreadable, match=r"not a zip that can be read|is damaged"):
        list(downloads.read(file))


def test_a_missing_zip_is_reported(tmp_path):
    with pytest.raises(downloads.Unreadable, match="No such file"):
        list(downloads.read(tmp_path / "x.zip"))


def test_oversized_files_are_read_without_content(tmp_path, monkeypatch):
    monkeypatch.setattr(downloads, "MAX_FILE_BYTES", 60)
    names = [of_moodle("A B", "1", "x" * 9), of_moodle("A B", "1", "x" * 99)]
    assert [bool(content) for _, content in downloads.read(zipped(tmp_path, names))] == [
        True,
        False,
    ]


CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,int8-matmul (4711),Other (12),Current Score
    Points Possible,,,,,20.0,5.0,(read only)
"Lovelace, Ada",7,u7,ada,One,,3,88
"小明, 王",12,u12,wang,One,,,
"Nobody, Is",99,u99,nobody,One,,,
"Student, Test",,,,One,,,
"""
MOODLE = (
    "\ufeffFirst name;Last name;ID number;Email address;"
    "Assignment:int8-matmul (Real);Last downloaded\r\n"
    "Ada;Lovelace;;ada@example.org;-;1\r\n"
    "علی‌رضا;کریمی;k-13;k@example.org;-;1\r\n"
)
# The last row of a worksheet may be empty.
WORKSHEET = (
    "Identifier,Full name,Email address,Status,Grade\nParticipant 7,Ada Lovelace,,x,\n,,,,\n"
)


def test_people_are_read_from_each_kind_of_table():
    people, refused = Table(CANVAS).people()
    assert people[0] == Person("ada", "7", "Ada", "Lovelace")
    assert [(one.id, one.number) for one in people[1:]] == [("wang", "12"), ("nobody", "99")]
    people, _ = Table(MOODLE).people()
    assert people == [
        Person("ada@example.org", "", "Ada", "Lovelace", "ada@example.org"),
        Person("k-13", "", "علی‌رضا", "کریمی", "k@example.org"),
    ]
    assert Table(WORKSHEET).people()[0] == [Person("7", "7", "Ada Lovelace", "")]
    own = (
        "id,first_name,last_name,email,lms_user_id\nada,Ada,Lovelace,,7\n<b>,,,,\n.x,,,,\na/b,,,,\n"
    )
    assert Table(own).people()[0] == [Person("ada", "7", "Ada", "Lovelace")]
    assert len(Table(own).people()[1]) == 3
    assert not refused


@pytest.mark.parametrize(
    ("heads", "row", "names"),
    [
        ("Student", "Lovelace, Ada", ("Ada", "Lovelace")),
        ("First name;Last name", "Ada;Lovelace", ("Ada", "Lovelace")),
        ("first_name;last_name", "Ada;Lovelace", ("Ada", "Lovelace")),
        ("firstname;lastname", "Ada;Lovelace", ("Ada", "Lovelace")),
        ("First name;Surname", "Ada;Lovelace", ("Ada", "Lovelace")),
        ("Full name", "Ada Lovelace", ("Ada Lovelace", "")),
        ("Section", "One", ("", "")),
    ],
)
def test_names_are_read_from_each_kind_of_name_column(heads, row, names):
    (person,) = Table(f"id;{heads}\nada;{row}\n").people()[0]
    assert (person.first_name, person.last_name) == names


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("id,section\nada,1\n,2\n", [Person("ada")]),
        ("id,lms_user_id\nada,x7\n", [Person("ada")]),
        ("ID,email\nada,a@b.org\n", [Person("a@b.org", email="a@b.org")]),
        ("Student,email\nLovelace,a@b.org\n", [Person("a@b.org", "", "", "Lovelace", "a@b.org")]),
        ("id\n-1\n-2\n", [Person("-1"), Person("-2")]),
        ("Identifier\nTeilnehmer/in 7\nTeilnehmer/in 12\n", [Person("7", "7"), Person("12", "12")]),
        ("Identifier\nParticipant 7\nada\n", [Person("Participant 7"), Person("ada")]),
    ],
)
def test_people_and_their_ids_are_read_from_tables(text, people):
    assert Table(text).people()[0] == people


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "\ufeff"])
def test_a_table_without_a_column_that_identifies_people_is_refused(text):
    with pytest.raises(ValueError, match="no column says who somebody is"):
        Table(text)


SCORES = {("ada", NAME): "17.5", ("wang", NAME): "20", ("left", NAME): "3"}


def test_canvas_import_has_only_student_and_exercise_columns():
    columns = grades.columns(CANVAS, [NAME, "other"], {})
    assert columns == {NAME: "int8-matmul (4711)"}
    text, lines = grades.fill(CANVAS, SCORES, columns)
    got = list(csv.reader(io.StringIO(text)))
    assert got == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "int8-matmul (4711)"],
        ["    Points Possible", "", "", "", "", "20.0"],
        ["Lovelace, Ada", "7", "u7", "ada", "One", "17.5"],
        ["小明, 王", "12", "u12", "wang", "One", "20"],
        ["Nobody, Is", "99", "u99", "nobody", "One", ""],
    ]
    assert lines == ["nobody: nothing is graded", "left: not in the platform's table"]


def test_moodle_import_has_the_points():
    columns = grades.columns(MOODLE, [NAME], {})
    scores = {("ada@example.org", NAME): "4", ("k-13", NAME): "20"}
    text, lines = grades.fill(MOODLE, scores, columns)
    assert text.startswith("\ufeffFirst name;")
    got = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff")), delimiter=";"))
    heads = MOODLE.removeprefix("\ufeff").partition("\r\n")[0].split(";")
    assert set(got[0]) < set(heads), "Moodle refuses a column that it did not export"
    assert [row["Assignment:int8-matmul (Real)"] for row in got] == ["4", "20"]
    assert [row["ID number"] for row in got] == ["", "k-13"]
    assert not lines


def test_a_named_column_must_exist_exactly_once():
    assert grades.columns(CANVAS, [NAME], {NAME: "Other (12)"}) == {NAME: "Other (12)"}
    twice = CANVAS.replace("Other (12)", "int8-matmul (13)")
    assert grades.columns(twice, [NAME], {}) == {}, "which one is meant can't be told"
    with pytest.raises(ValueError, match=r"no column 'x' for int8-matmul; there is"):
        grades.fill(CANVAS, SCORES, {NAME: "x"})
    with pytest.raises(ValueError, match=r"two columns are headed 'Other \(12\)'; rename one"):
        grades.fill(CANVAS.replace("Current Score", "Other (12)"), SCORES, {NAME: "Other (12)"})


def test_an_instructors_own_table_is_filled():
    table = "id,Maximum grade,int8-matmul\nada,1,EX\n,1,x\nben,1,x\n"
    columns = grades.columns(table, [NAME], {})
    assert grades.fill(table, {("ada", NAME): "17.5", ("ben", NAME): ""}, columns) == (
        "id,int8-matmul\r\nada,17.5\r\nben,\r\n",
        [],
    )


def test_roster_stores_names_emails_and_platform_ids_in_the_gradebook(tmp_path, release):
    room = Classroom(tmp_path / "course", release)
    table = tmp_path / "people.csv"
    own = "id,first_name,last_name,email,lms_user_id\na,Ada,Lovelace,ada@example.org,7\nb,,,,\n"
    table.write_text(own)
    week.roster(room.course, table)
    with room.course.gradebook() as gradebook:
        about = {
            one.id: (one.first_name, one.last_name, one.email, one.lms_user_id)
            for one in gradebook.students
        }
    ada = ("Ada", "Lovelace", "ada@example.org", "7")
    assert about == {"ada@example.org": ada, "b": (None, None, None, None)}


@pytest.fixture
def room(tmp_path, release):
    room = Classroom(tmp_path / "course", release)
    table = tmp_path / "people.csv"
    table.write_text(CANVAS, encoding="utf-8")
    assert week.roster(room.course, table) == ["3 students are in the gradebook"]
    return room


def submitted(room):
    base = room.folder / "submitted"
    return {str(one.relative_to(base)): one.read_text() for one in base.rglob("*") if one.is_file()}


def test_a_download_is_unpacked_into_submitted(room, tmp_path):
    mine, other = (of_canvas("Ada Lovelace", "7", title) for title in ("a.ipynb", "b.txt"))
    unknown = of_canvas("علی رضا", "13", "z.ipynb")
    odd = [of_canvas("A B", "14", "<img>.ipynb"), "readme.txt", of_canvas("A B", "15", ".x")]
    archive = zipped(tmp_path, [mine, other, unknown, *odd], marked=False)
    lines = week.collect(room.course, NAME, archive)
    places = {
        f"ada/{NAME}/a.ipynb": mine,
        f"ada/{NAME}/b.txt": other,
        f"رضاعلی 13/{NAME}/z.ipynb": unknown,
    }
    assert submitted(room) == places
    assert lines[-1] == "2 collected, 0 as they were"
    assert len(lines) == 1 + len(odd)
    assert week.collect(room.course, NAME, archive)[-1] == "0 collected, 2 as they were"
    (room.folder / "submitted" / "ada" / NAME / "a.ipynb").write_text("newer")
    assert "ada: another hand-in is there; --replace takes this one" in week.collect(
        room.course, NAME, archive
    )
    assert submitted(room)[f"ada/{NAME}/a.ipynb"] == "newer"
    week.collect(room.course, NAME, archive, again=True)
    assert submitted(room) == places


def test_an_interrupted_collect_keeps_the_earlier_submission(room, tmp_path, monkeypatch):
    def names(*titles):
        return [of_canvas("Ada Lovelace", "7", title) for title in titles]

    week.collect(room.course, NAME, zipped(tmp_path, names("a.ipynb")))
    before, plain, written = submitted(room), Path.write_bytes, []

    def stopped(path, content):
        if written:
            raise KeyboardInterrupt
        written.append(path)
        return plain(path, content)

    monkeypatch.setattr(Path, "write_bytes", stopped)
    archive = zipped(tmp_path, names("b.ipynb", "c.txt"))
    with pytest.raises(KeyboardInterrupt):
        week.collect(room.course, NAME, archive, again=True)
    assert {place: one for place, one in submitted(room).items() if "/." not in place} == before
    assert [one.exercise for one in submissions(room.folder)] == [NAME]
    assert misplaced(room.folder) == []
    monkeypatch.undo()
    week.collect(room.course, NAME, archive, again=True)
    assert sorted(submitted(room)) == [f"ada/{NAME}/b.ipynb", f"ada/{NAME}/c.txt"]


def test_two_files_with_the_same_name_are_both_kept(room, tmp_path):
    names = [of_canvas("Ada Lovelace", "7", "a.ipynb", file=one) for one in (1, 2)]
    week.collect(room.course, NAME, zipped(tmp_path, names))
    assert sorted(submitted(room)) == [f"ada/{NAME}/2-a.ipynb", f"ada/{NAME}/a.ipynb"]


def test_nothing_is_written_through_a_symlink(room, tmp_path):
    base, outside = room.folder / "submitted", tmp_path / "outside"
    base.mkdir(exist_ok=True)
    outside.mkdir()
    (base / "ada").symlink_to(outside)
    name = of_canvas("Ada Lovelace", "7", "a.ipynb")
    assert (
        week.collect(room.course, NAME, zipped(tmp_path, [name]))[0] == "ada: its folder is a link"
    )
    assert not list(outside.iterdir())


def test_feedback_pages_get_the_name_prefix_of_the_downloaded_file(room, tmp_path):
    page = room.course.feedback("ada", NAME)
    page.parent.mkdir(parents=True)
    page.write_text("well")
    names = [of_canvas("Ada Lovelace", "7", "a.ipynb"), of_canvas("小明 王", "12", "b.ipynb")]
    names.append(of_canvas("Ada Lovelace", "7", "c.ipynb", file=4712))
    target = tmp_path / "back.zip"
    lines = week.give_back(room.course, NAME, zipped(tmp_path, names), target)
    with zipfile.ZipFile(target) as made:
        assert made.namelist() == [of_canvas("Ada Lovelace", "7", f"{NAME}.html")]
        assert made.read(made.namelist()[0]) == b"well"
    assert lines == ["wang: no page of feedback", f"1 pages: {target}"]


def test_students_without_submissions_have_rows_in_the_grades_too(room):
    got = {row[0]: row[4] for row in rows.grades(room.course, {}) if row[1] == NAME}
    assert got == dict.fromkeys(("ada", "nobody", "wang"), "not handed in")


def test_due_dates_and_extensions_are_recorded(room):
    with pytest.raises(Unable, match="no due date"):
        week.due(room.course, NAME, "2026-11-30 12:00+00:00", "ada")
    week.due(room.course, NAME, "2026-11-30 12:00+01:00")
    week.due(room.course, NAME, "2026-12-02 11:30+00:00", "ada")
    with room.course.gradebook() as gradebook:
        assert str(gradebook.find_assignment(NAME).duedate) == "2026-11-30 11:00:00"
        assert str(gradebook.find_submission(NAME, "ada").duedate) == "2026-12-02 11:30:00"
    got = {row[0]: row[4] for row in rows.grades(room.course, {}) if row[1] == NAME}
    assert got["ada"] == "not handed in"
    for wrong in ("tomorrow", "2026-13-01"):
        with pytest.raises(Unable, match="is not a time"):
            week.due(room.course, NAME, wrong)


def test_unknown_exercise_names_are_refused(room, tmp_path):
    archive, table = zipped(tmp_path, ["x"]), tmp_path / "people.csv"
    for run in (
        lambda: week.due(room.course, "x", "2026-11-30"),
        lambda: week.collect(room.course, "x", archive),
        lambda: week.give_back(room.course, "x", archive, tmp_path / "out.zip"),
        lambda: week.export(room.course, table, tmp_path / "out.csv", {"x": "Other (12)"}),
    ):
        with pytest.raises(Unable, match="'x' is not an exercise; there is int8-matmul, "):
            run()


def test_the_again_command_marks_submissions_for_regrading(room):
    for name in (NAME, "int8-weights"):
        room.course.results.put("ada", name, {"digest": "same"})
    week.again(room.course, [f"ada/{NAME}"])
    own = room.course.state()["ada"]
    assert (own[NAME]["digest"], own["int8-weights"]["digest"]) == ("", "same")
    week.again(room.course, ["ada"])
    assert {one["digest"] for one in room.course.state()["ada"].values()} == {""}
    for place in ("eve", "ada/many-chips"):
        with pytest.raises(Unable, match=r"has not been graded yet$"):
            week.again(room.course, [place])
    with pytest.raises(Unable, match=r"Ada has not been graded yet; the nearest name is ada$"):
        week.again(room.course, ["Ada"])
