"""Tests that `check` reports problems before grading, and changes nothing.

It prints one line for each problem.
"""

import shlex
import shutil
import warnings

import nbformat
import pytest
from classroom import Classroom, with_first

from grading.__main__ import main
from grading.allowed_modules import modules_folder
from grading.course import Course
from grading.errors import Unable
from grading.platforms import check, members, week
from grading.records import gradebook
from grading.settings import database

NAME = "int8-matmul"
PEOPLE = "id,first_name,last_name,lms_user_id\nada,Ada,Lovelace,7\nbob,Bob,Ross,8\nzoë,Zoë,,9\n"
DUE, LATER = "2026-11-30 23:59+00:00", "2026-12-02 23:59+00:00"


@pytest.fixture(scope="module")
def well(release, tmp_path_factory):
    """Set up a course without problems, to be copied."""
    room = Classroom(tmp_path_factory.mktemp("well") / "course", release)
    people = room.folder.parent / "people.csv"
    people.write_text(PEOPLE)
    week.roster(room.course, people)
    week.due(room.course, NAME, DUE)
    week.due(room.course, NAME, LATER, "bob")
    for student in ("ada", "bob"):
        room.hand_in(student, NAME, room.solved(NAME))
    return room.folder


@pytest.fixture
def room(well, tmp_path):
    return Classroom(tmp_path / "course", well)


def lines(room):
    return check.check(room.folder)[0]


def stranger(room):
    room.hand_in("adda", NAME, room.solved(NAME))


def unknown_number(room):
    room.hand_in("Zoë 9", NAME, room.solved(NAME))


def phantom(room):
    with room.course.gradebook() as book:
        book.update_or_create_student("Ada")


def extension_for_nobody(room):
    with warnings.catch_warnings(), room.course.gradebook() as book:
        warnings.simplefilter("ignore")  # nbgrader's own queries cause warnings
        book.update_or_create_student("Bobb")
        book.update_or_create_submission(NAME, "Bobb")
        book.grant_extension(NAME, "Bobb", days=2)


def zip_in_a_folder(room):
    (room.folder_of("ada", NAME) / "mine.ZIP").write_bytes(b"PK")


def zip_of_a_student(room):
    (room.folder_of("ada", NAME).parent / "all.7z").write_bytes(b"7z")


def zip_of_the_class(room):
    (room.folder / "submitted" / "download.zip").write_bytes(b"PK")


def copy_of_the_released(room):
    nbformat.write(room.released(NAME), room.folder_of("ada", NAME) / f"{NAME} (1).ipynb")


def two_answers(room):
    wrong = room.solved(NAME)
    for cell in wrong.cells:
        cell.source = cell.source.replace("return", "return 0 and")
    nbformat.write(wrong, room.folder_of("bob", NAME) / f"{NAME} (1).ipynb")


def missing_module(room):
    room.hand_in("ada", NAME, with_first(room.solved(NAME), "import torch_that_nobody_has as t"))


def no_notebook(room):
    (room.folder_of("ada", NAME) / f"{NAME}.ipynb").unlink()


def web_page(room):
    (room.folder_of("ada", NAME) / f"{NAME}.ipynb").write_text("<html>")


def wrong_place(room):
    (room.folder / "submitted" / "ada" / f"{NAME}.ipynb").write_text("{}")


# function that causes a problem → words in the line that reports it
FAULTS = {
    stranger: ["submitted/adda", "not in the roster", "ada (Ada Lovelace)", "rename"],
    unknown_number: ["submitted/Zoë 9", "not in the roster", "zoë (Zoë)"],
    phantom: ["gradebook: Ada ", "not in the class", "db student remove Ada --force"],
    extension_for_nobody: ["Bobb", f"extension for {NAME}", "bob (Bob Ross)", "due"],
    zip_in_a_folder: [f"submitted/ada/{NAME}/mine.ZIP", "unpack"],
    zip_of_a_student: ["submitted/ada/all.7z", "unpack"],
    zip_of_the_class: ["submitted/download.zip", "collect"],
    copy_of_the_released: [f"ada/{NAME}:", f"{NAME}.ipynb counts", f"{NAME} (1).ipynb", "remove"],
    two_answers: [f"bob/{NAME}:", "different answers", f"{NAME} (1).ipynb", "remove"],
    missing_module: [f"ada/{NAME}:", "torch_that_nobody_has", "install"],
    no_notebook: [f"ada/{NAME}:", "there is no notebook"],
    web_page: [f"ada/{NAME}:", "not a notebook"],
    wrong_place: [f"ada/{NAME}.ipynb", "must lie in a folder"],
}


def test_check_prints_one_line_if_nothing_is_wrong(room, capsys):
    main(["check", str(room.folder)])
    (line,) = capsys.readouterr().out.splitlines()
    assert line == "2 hand-ins of 2 students, 3 in the roster: nothing to put right"


@pytest.mark.parametrize("fault", FAULTS, ids=lambda one: one.__name__)
def test_check_reports_each_error_in_one_line_and_fails(room, fault, capsys):
    fault(room)
    with pytest.raises(SystemExit) as ended:
        main(["check", str(room.folder)])
    assert ended.value.code == 1
    line, summary = capsys.readouterr().out.splitlines()
    assert all(word in line for word in FAULTS[fault]), line
    assert summary.endswith(": 1 to put right")


def test_check_reports_all_problems_and_changes_nothing(room):
    for fault in FAULTS:
        if fault not in (no_notebook, web_page, missing_module):
            fault(room)
    before = content(room.folder)
    assert len(lines(room)) == len(FAULTS) - 3
    assert content(room.folder) == before


def content(folder):
    return {
        path: (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_an_unknown_student_unlike_any_in_the_class_gets_no_suggestion(room):
    room.hand_in("xxxxxxxx", NAME, room.solved(NAME))
    with warnings.catch_warnings(), room.course.gradebook() as book:
        warnings.simplefilter("ignore")  # nbgrader's own queries cause warnings
        book.update_or_create_student("yyyyyyyy")
        book.update_or_create_submission(NAME, "yyyyyyyy")
        book.update_or_create_student("zzzzzzzz")
        book.update_or_create_submission(NAME, "zzzzzzzz")
        book.grant_extension(NAME, "zzzzzzzz", days=2)
    remove = f"remove with .venv/bin/python -m grading nbgrader {room.folder} db student remove"
    assert lines(room) == [
        "submitted/xxxxxxxx: not in the roster; enter the person with roster",
        f"gradebook: yyyyyyyy is not in the class; {remove} yyyyyyyy --force",
        f"gradebook: zzzzzzzz is not in the class and has an extension for {NAME}; "
        f"{remove} zzzzzzzz --force",
    ]


def test_a_single_hand_in_is_counted_in_the_singular(release, tmp_path):
    room = Classroom(tmp_path / "course", release)
    room.hand_in("ada", NAME, room.solved(NAME))
    _, summary = check.check(room.folder)
    assert summary == "1 hand-in of 1 student, no roster: nothing to put right"


def test_students_without_a_folder_in_submitted_are_suggested_first(room):
    with room.course.gradebook() as book:
        book.update_or_create_student("adam", first_name="Ad", last_name="Am")
    room.hand_in("adaa", NAME, room.solved(NAME))
    (line,) = lines(room)
    assert "adam (Ad Am)'s" in line


@pytest.fixture
def archives(tmp_path):
    """Return a function that makes archives and returns `check`'s lines about them."""

    def found(*places):
        for place in places:
            path = tmp_path / "submitted" / "ada" / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        return [line for line in check.check(tmp_path)[0] if "not opened" in line]

    return found


def test_hidden_archives_are_not_reported(archives):
    found = archives("._a.zip", ".git/a.zip", "__MACOSX/a.zip", "a.zip/a.txt", "zip", "b/c.tar.gz")
    assert found == ["submitted/ada/b/c.tar.gz: not opened; unpack it there"]


def test_archives_are_found_at_most_four_folders_deep(archives):
    assert len(archives("a/b/c/d/x.zip")) == 1
    assert len(archives("a/b/c/d/e/x.zip")) == 1


def test_archives_are_found_in_the_first_200_folders(archives):
    assert len(archives(*(f"{number:03}/x.zip" for number in range(210)))) == 199


@pytest.mark.parametrize(
    ("step", "error"), [("run_limited", check.Overrun), ("reading.of_bytes", MemoryError)]
)
def test_submissions_that_take_too_much_time_or_memory_to_read_are_reported(
    room, monkeypatch, step, error
):
    def fail(*_):
        raise error

    monkeypatch.setattr(f"grading.platforms.check.{step}", fail)
    assert lines(room) == [
        f"submitted/{student}/{NAME}: reading it takes more than there is for one"
        for student in ("ada", "bob")
    ]


def test_allowed_modules_are_not_reported_as_missing(room):
    missing_module(room)
    assert len(lines(room)) == 1
    folder = modules_folder(room.folder)
    folder.mkdir()
    (folder / "torch_that_nobody_has.py").touch()
    assert lines(room) == []


def test_check_creates_nothing_and_reports_a_missing_folder(tmp_path):
    found, summary = check.check(tmp_path)
    assert (found, list(tmp_path.iterdir())) == ([], [])
    assert summary == "0 hand-ins of 0 students, no roster: nothing to put right"
    with pytest.raises(Unable, match="is not a folder"):
        check.check(tmp_path / "none")


def test_links_to_files_and_system_files_are_not_reported(room):
    """Put a link to a notebook and a .DS_Store beside the students' folders."""
    base = room.folder / "submitted"
    (base / "link").symlink_to(room.folder_of("ada", NAME) / f"{NAME}.ipynb")
    (base / ".DS_Store").touch()
    assert lines(room) == []


def test_without_a_roster_every_submitter_belongs_to_the_class(release, tmp_path):
    room = Classroom(tmp_path / "course", release)
    room.hand_in("anybody", NAME, room.solved(NAME))
    assert lines(room) == []
    phantom(room)
    (line,) = lines(room)
    assert "gradebook: Ada " in line


def test_the_suggested_command_removes_an_unknown_student(room, monkeypatch):
    extension_for_nobody(room)
    (line,) = lines(room)
    command = shlex.split(line.partition("remove with ")[2])
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert command[:3] == [".venv/bin/python", "-m", "grading"]
    with pytest.raises(SystemExit) as ended:
        main(command[3:])
    assert ended.value.code == 0
    assert lines(room) == []


@pytest.mark.parametrize("text", ["[" * 200_000, '{"cells": [' * 50_000])
def test_a_hostile_notebook_does_not_hide_other_errors(room, text):
    (room.folder_of("ada", NAME) / f"{NAME}.ipynb").write_text(text)
    missing_module_of_bob = with_first(room.solved(NAME), "import torch_that_nobody_has")
    room.hand_in("bob", NAME, missing_module_of_bob)
    assert [line.split("/")[1] for line in lines(room)] == ["ada", "bob"]


def test_a_read_only_session_cannot_change_the_gradebook(room):
    with gradebook.read_only(database(room.folder)) as session:
        student = session.query(members.Student).first()
        student.first_name = "Eve"
        with pytest.raises(Exception, match="readonly"):
            session.commit()


# --- members of the class, and due-date extensions ------------------------------------------------


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("Ada", "ada (Ada Lovelace)"),
        ("ada ", "ada (Ada Lovelace)"),
        ("adda", "ada (Ada Lovelace)"),
        ("Ada Lovelace", "ada (Ada Lovelace)"),
        ("Lovelace", "ada (Ada Lovelace)"),
        ("bop", "bob (Bob Ross)"),
        ("zoe", "zoë (Zoë)"),
        ("xxxxxxxx", ""),
    ],
)
def test_only_students_of_the_class_get_extensions(room, name, nearest):
    with pytest.raises(Unable) as refused:
        week.due(room.course, NAME, LATER, name)
    assert f"{name!r} is not in the class" in str(refused.value)
    assert str(refused.value).endswith(f"the nearest name is {nearest}" if nearest else "of 3")
    with room.course.gradebook() as book:
        assert {one.id for one in book.students} == {"ada", "bob", "zoë"}
    assert lines(room) == []


def test_an_extension_needs_a_due_date_and_releases_its_exercise(tmp_path):
    course = Course(tmp_path / "course")
    course.prepare()
    with course.gradebook() as book:
        book.update_or_create_student("ada", first_name="Ada")
    for make_assignment in (False, True):
        if make_assignment:
            with course.gradebook() as book:
                book.update_or_create_assignment(NAME)
        with pytest.raises(Unable, match="has no due date that could be extended"):
            week.due(course, NAME, LATER, "ada")
    with warnings.catch_warnings(), course.gradebook() as book:
        warnings.simplefilter("ignore")  # nbgrader's own queries cause warnings
        book.update_or_create_submission(NAME, "ada")
        book.grant_extension(NAME, "ada", days=2)  # nbgrader allows this without a due date
    assert week.due(course, NAME, DUE) == [f"{NAME} is due at 2026-11-30 23:59:00 UTC"]
    assert week.due(course, NAME, LATER, "ada") == [
        f"{NAME} was released first, into {course.folder / 'release'}",
        f"{NAME} is due for ada at 2026-12-02 23:59:00 UTC",
    ]


def test_submitters_outside_the_roster_may_have_extensions(room):
    room.hand_in("guest", NAME, room.solved(NAME))
    week.due(room.course, NAME, LATER, "guest")
    assert due_of(room, "guest") == LATER


def test_due_date_extensions_in_an_empty_class_are_refused(release, tmp_path):
    course = Course(shutil.copytree(release, tmp_path / "course"))
    week.due(course, NAME, DUE)
    with pytest.raises(Unable, match="nobody is in the class yet"):
        week.due(course, NAME, LATER, "ada")


def test_a_second_roster_adds_people_and_keeps_removals(room, tmp_path):
    more = tmp_path / "more.csv"
    more.write_text("id\neve\n")
    week.roster(room.course, more)
    with room.course.gradebook() as book:
        book.remove_student("bob")
        about = members.members(room.folder, book.db)
    assert set(about.roster) == {"ada", "eve", "zoë"}
    room.hand_in("eve", NAME, room.solved(NAME))
    assert [line for line in lines(room) if "eve" in line] == []
    assert "submitted/bob: not in the roster" in "\n".join(lines(room))


def test_people_of_all_entered_rosters_are_members(room, tmp_path):
    """People without a full name are members, too."""
    for name in ("eve", "max"):
        table = tmp_path / f"{name}.csv"
        table.write_text(f"id\n{name}\n")
        week.roster(room.course, table)
    with room.course.gradebook() as book:
        book.update_or_create_student("ann", first_name="Ann")  # imported by nbgrader itself
        about = members.members(room.folder, book.db)
    assert set(about.roster) == {"ada", "ann", "bob", "eve", "max", "zoë"}


def test_the_nearest_student_is_found_by_email_lms_number_or_folder(room):
    room.folder_of("guest", NAME)
    with room.course.gradebook() as book:
        ann = {"first_name": "Ann", "last_name": "Lee"}
        book.update_or_create_student("a", **ann, email="x@example.org", lms_user_id="77")
        book.update_or_create_student("b", **ann, lms_user_id="88")
        about = members.members(room.folder, book.db)
    assert about.nearest("x@example.org") == "a (Ann Lee)"
    assert about.nearest("Ann Lee 77") == "a (Ann Lee)"
    assert about.nearest("Ann Lee 88") == "b (Ann Lee)"
    assert about.nearest("guests") == "guest"


def due_of(room, student):
    with room.course.gradebook() as book:
        return f"{book.find_submission(NAME, student).duedate}"[:16] + "+00:00"


def test_an_extension_keeps_its_date_until_the_due_date_reaches_it(room):
    assert due_of(room, "bob") == LATER
    assert week.due(room.course, NAME, "2026-11-20 12:00+00:00") == [
        "bob: 2026-12-02 23:59:00 UTC stays",
        f"{NAME} is due at 2026-11-20 12:00:00 UTC",
    ]
    assert due_of(room, "bob") == LATER
    first, _ = week.due(room.course, NAME, LATER)
    assert first == "bob: 2026-12-02 23:59:00 UTC is no extension any more"
    later = "2026-12-03 12:00:00"
    assert week.due(room.course, NAME, f"{later}+00:00", "bob") == [
        f"{NAME} is due for bob at {later} UTC"
    ]
    with warnings.catch_warnings(), room.course.gradebook() as book:
        warnings.simplefilter("ignore")  # nbgrader's own queries cause warnings
        book.update_or_create_submission(NAME, "zoë")  # without an extension
    assert len(week.due(room.course, NAME, DUE)) == 2
    week.due(room.course, NAME, LATER, "bob")
    first, _ = week.due(room.course, NAME, "2026-12-24 12:00+00:00")
    assert first == "bob: 2026-12-02 23:59:00 UTC is no extension any more"
    assert due_of(room, "bob") == "2026-12-24 12:00+00:00"
    with pytest.raises(Unable, match="is before 2026-12-24 12:00:00 UTC"):
        week.due(room.course, NAME, LATER, "bob")
    week.due(room.course, NAME, "2026-12-24 12:00+00:00", "bob")  # the general due date
    with room.course.gradebook() as book:
        assert book.find_submission(NAME, "bob").extension is None
