"""Names that no student can have are refused alike: by our commands, nbgrader's and its pages."""

import pytest
from classroom import Classroom, done, points
from nbgrader.server_extensions.formgrader import base

from grading.intake.names import shown, unfit
from grading.intake.submissions import refused_students, strangers, submissions
from grading.nbgrader_setup import odd_files
from grading.reports import rows

NAME = "int8-matmul"
REFUSED = ("<img src=x onerror=alert(1)>", "*", "[ab]*", "a\u202eb", 'a"b', "a?a")
ACCEPTED = ("ada", "O'Brien & Co", "Jean\u00a0Luc")


@pytest.fixture(scope="module")
def room(release, tmp_path_factory):
    room = Classroom(tmp_path_factory.mktemp("names") / "course", release)
    for student in ACCEPTED:
        room.hand_in(student, NAME, room.solved(NAME))
    done(room.nbgrader("autograde", NAME))
    for student in REFUSED:
        room.hand_in(student, NAME, room.solved(NAME, "wrong_output_not_counted"))
    return room


def in_the_gradebook(room):
    with room.course.gradebook() as gradebook:
        return {one.student_id: one.score for one in gradebook.assignment_submissions(NAME)}


def test_our_own_commands_leave_them_out_and_name_them(room):
    assert {one.student for one in submissions(room.folder)} == set(ACCEPTED)
    names = {line.rsplit(": ", 1)[0] for line in strangers(room.folder)}
    assert names == set(map(shown, REFUSED))
    assert all(name.isprintable() for name in names)


def test_nbgrader_leaves_them_out_and_nobody_loses_a_grade(room):
    full = dict.fromkeys(ACCEPTED, sum(points(NAME).values()))
    assert in_the_gradebook(room) == full
    before = {path: path.stat().st_mtime_ns for path in (room.folder / "autograded").rglob("*")}
    again = room.nbgrader("autograde", NAME)
    done(again)
    assert in_the_gradebook(room) == full
    after = {path: path.stat().st_mtime_ns for path in (room.folder / "autograded").rglob("*")}
    assert after == before
    assert again.stderr.count("not a name that a student can have") == len(REFUSED)


def test_the_formgrader_does_not_hear_of_them(room):
    with room.course._nbgrader() as api:
        assert api.get_submitted_students(NAME) == set(ACCEPTED)
        assert api.get_submitted_students("*") == set(ACCEPTED)
        assert {one["student"] for one in api.get_submissions(NAME)} == set(ACCEPTED)
        assert {one["id"] for one in api.get_students()} == set(ACCEPTED)


def test_who_is_refused_has_a_row_with_the_reason_in_the_grades(room):
    found = {row[0]: row for row in rows.grades(room.course, {}) if row[1] == NAME}
    refused = {name for name, _ in refused_students(room.folder)}
    assert set(found) == refused | set(ACCEPTED), "who is in the gradebook has a row too"
    for _, _, score, full, why in map(found.get, refused):
        assert (score, float(full)) == ("0", sum(points(NAME).values()))
        assert why == "not a name that a student can have"


@pytest.mark.parametrize("place", ["student_id", "assignment_id", "notebook_id"])
def test_the_formgrader_has_no_page_of_a_name_that_is_refused(monkeypatch, place):
    monkeypatch.setattr(base.BaseHandler, "render", lambda self, template, **names: names)
    render = odd_files._of_fit_addresses(base.BaseHandler.render)
    for name in ACCEPTED:
        assert render(None, "x.tpl", **{place: name}, base_url="") == {place: name, "base_url": ""}
    for name in (*REFUSED, "</script>"):
        with pytest.raises(base.web.HTTPError, match="404"):
            render(None, "x.tpl", **{place: name}, base_url="")


@pytest.mark.parametrize("name", REFUSED)
def test_a_name_that_is_refused_is_fit_to_be_shown(name):
    assert unfit(name)
    assert shown(name).isprintable()
