"""Tests that our commands, nbgrader and formgrader refuse invalid student names."""

import pytest
from classroom import Classroom, done, points
from nbgrader.server_extensions.formgrader import base

from grading.intake.names import name_problem, printable
from grading.intake.submissions import misplaced, refused_students, submissions
from grading.nbgrader_setup import patches
from grading.parallel import pool
from grading.reports import rows

NAME = "int8-matmul"
REFUSED = ("<img src=x onerror=alert(1)>", "*", "[ab]*", "a\u202eb", 'a"b', "a?a")
ACCEPTED = ("ada", "O'Brien & Co", "Jean\u00a0Luc")


@pytest.fixture(scope="module")
def room(release, tmp_path_factory):
    room = Classroom(tmp_path_factory.mktemp("names") / "course", release)
    for student in ACCEPTED:
        room.hand_in(student, NAME, room.solved(NAME))
    room.course.grade(pool.Local(2))
    for student in REFUSED:
        room.hand_in(student, NAME, room.solved(NAME, "wrong_output_not_counted"))
    return room


def scores(room):
    with room.course.gradebook() as gradebook:
        return {one.student_id: one.score for one in gradebook.assignment_submissions(NAME)}


def test_our_commands_skip_and_report_invalid_names(room):
    assert {one.student for one in submissions(room.folder)} == set(ACCEPTED)
    names = {line.rsplit(": ", 1)[0] for line in misplaced(room.folder)}
    assert names == set(map(printable, REFUSED))
    assert all(name.isprintable() for name in names)


@pytest.mark.long
def test_nbgrader_skips_invalid_names_and_keeps_all_grades(room):
    full = dict.fromkeys(ACCEPTED, sum(points(NAME).values()))
    assert scores(room) == full
    before = {path: path.stat().st_mtime_ns for path in (room.folder / "autograded").rglob("*")}
    again = room.nbgrader("autograde", NAME)
    done(again)
    assert scores(room) == full
    after = {path: path.stat().st_mtime_ns for path in (room.folder / "autograded").rglob("*")}
    assert after == before
    assert again.stderr.count("not a name that a student can have") == len(REFUSED)


def test_the_formgrader_lists_no_invalid_names(room):
    with room.course._nbgrader() as api:
        assert api.get_submitted_students(NAME) == set(ACCEPTED)
        assert api.get_submitted_students("*") == set(ACCEPTED)
        assert {one["student"] for one in api.get_submissions(NAME)} == set(ACCEPTED)
        assert {one["id"] for one in api.get_students()} == set(ACCEPTED)


def test_refused_names_have_a_row_with_the_reason_in_the_grades(room):
    found = {row[0]: row for row in rows.grades(room.course, {}) if row[1] == NAME}
    refused = {name for name, _ in refused_students(room.folder)}
    assert set(found) == refused | set(ACCEPTED), "a student of the gradebook is missing"
    for _, _, score, full, why in map(found.get, refused):
        assert (score, float(full)) == ("0", sum(points(NAME).values()))
        assert why == "not a name that a student can have"


@pytest.mark.parametrize("place", ["student_id", "assignment_id", "notebook_id"])
def test_the_formgrader_answers_404_for_invalid_names(monkeypatch, place):
    monkeypatch.setattr(base.BaseHandler, "render", lambda self, template, **names: names)
    render = patches._refuse_invalid_ids(base.BaseHandler.render)
    for name in ACCEPTED:
        assert render(None, "x.tpl", **{place: name}, base_url="") == {place: name, "base_url": ""}
    for name in (*REFUSED, "</script>"):
        with pytest.raises(base.web.HTTPError, match="404"):
            render(None, "x.tpl", **{place: name}, base_url="")


def test_names_of_up_to_80_characters_are_printed_whole():
    assert printable("a" * 80) == "a" * 80
    assert printable("a" * 81) == "a" * 77 + "..."


@pytest.mark.parametrize("name", REFUSED)
def test_refused_names_are_printed_safely(name):
    assert name_problem(name)
    assert printable(name).isprintable()
