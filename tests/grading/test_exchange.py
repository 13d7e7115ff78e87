"""Tests of nbgrader's exchange, a folder that everybody can write to.

It holds submissions and feedback.
"""

import contextlib
import getpass
import logging
import os
import shutil
from contextlib import chdir
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from classroom import Classroom, done, made_up
from nbgrader.api import MissingEntry
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeError
from nbgrader.exchange.default import (
    ExchangeFetchAssignment,
    ExchangeFetchFeedback,
    ExchangeList,
    ExchangeSubmit,
)
from traitlets.config import Config

from grading.errors import Unable
from grading.nbgrader_setup import exchange
from grading.platforms import week
from grading.settings import settings

pytestmark = [
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
    pytest.mark.filterwarnings("ignore:Passing unrecognized arguments:DeprecationWarning"),
]
NAME = "int8-matmul"
LATER = "2999-01-01 00:00:00.000000 UTC"
SECRET = exchange.SECRET


class Learner:
    """A learner's nbgrader commands, run in the learner's own folder."""

    def __init__(self, name, folder, root):
        self.name, self.folder = name, folder / name
        self.folder.mkdir(parents=True)
        self.config = Config()
        self.config.Exchange.root = str(root)
        self.config.Exchange.cache = str(folder / f"{name}-cache")
        self.config.CourseDirectory.course_id = "roofline"

    def __call__(self, step, name=NAME):
        course = CourseDirectory(config=self.config)
        course.assignment_id, course.student_id = name, self.name
        if step is ExchangeList:
            course.student_id = ""
        with chdir(self.folder):
            step(coursedir=course, authenticator=Authenticator(), config=self.config).start()


@pytest.fixture(scope="module")
def room(tmp_path_factory, release):
    """Set up a class of students with an exchange.

    There are submissions by ada, this user and attackers.
    """
    folder = tmp_path_factory.mktemp("exchanged")
    room = Classroom(folder / "class", release)
    room.root = folder / "shared" / "exchange"
    room.course.prepare()
    room.said = week.exchange(room.course, room.root)
    with room.course._nbgrader() as api:
        room.released = api.release_assignment(NAME)
        assert room.released["success"], room.released
    room.inbound = room.root / "roofline" / "inbound"
    room.me = getpass.getuser()
    room.learners = {name: Learner(name, folder / "homes", room.root) for name in ("ada", room.me)}
    for one in room.learners.values():
        one(ExchangeFetchAssignment)
        (one.folder / NAME / f"{NAME}.ipynb").write_text(f"of {one.name}", encoding="utf-8")
        one(ExchangeSubmit)
    attack(room)
    with room.course._nbgrader() as api:
        room.collected = api.collect(NAME)
    (room.folder_of("by-hand", NAME) / f"{NAME}.ipynb").write_text("by hand", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("grading.course.work", made_up.work)
        room.course.grade(made_up.InProcessBackend(), unsafe=True)
    with room.course._nbgrader() as api:
        room.returned = api.release_feedback(NAME)
    return room


def attack(room):
    """Add malicious folders to the exchange, as any user of the machine can."""
    folders = {
        "no time": f"eve+{NAME}+yesterday+x",
        "a pattern": f"*+{NAME}+{LATER}+x",
        "out": f"..+{NAME}+{LATER}+x",
        "nobody": f"+{NAME}+{LATER}+x",
        "script": f"<img src=x>+{NAME}+{LATER}+x",
        "fifo": f"fifo+{NAME}+{LATER}+x",
        "link": f"link+{NAME}+{LATER}+x",
        "large": f"large+{NAME}+{LATER}+x",
    }
    for name in folders.values():
        folder = room.inbound / name
        folder.mkdir()
        (folder / f"{NAME}.ipynb").write_text("theirs", encoding="utf-8")
    os.mkfifo(room.inbound / folders["fifo"] / "waits")
    with (room.inbound / folders["large"] / "sparse").open("wb") as file:
        file.truncate(1 << 30)
    (room.inbound / folders["link"] / "out").symlink_to(room.folder)
    whole = room.inbound / f"whole-link+{NAME}+{LATER}+x"
    whole.symlink_to(room.folder)
    (room.inbound / f"file+{NAME}+{LATER}+x").write_text("a file", encoding="utf-8")


def test_the_course_configuration_names_the_exchange(room, monkeypatch):
    assert settings(room.folder).Exchange.root == str(room.root)
    assert room.said[1:] == [
        "c = get_config()",
        f"c.Exchange.root = {str(room.root)!r}",
        "c.CourseDirectory.course_id = 'roofline'",
    ]
    assert room.root.stat().st_mode & 0o777 == 0o777
    text = (room.folder / "nbgrader_config.py").read_text(encoding="utf-8")
    monkeypatch.setattr(Path, "chmod", refused)  # chmod of another user's folder fails
    week.exchange(room.course, room.root)
    assert (room.folder / "nbgrader_config.py").read_text(encoding="utf-8") == text


def refused(*_):
    raise PermissionError


def test_the_exchange_may_not_be_inside_the_course_folder(room):
    with pytest.raises(Unable, match="in the course folder"):
        week.exchange(room.course, room.folder / "exchange")


def test_a_released_assignment_is_listed(room, capsys):
    logging.getLogger("traitlets").handlers.clear()
    one = room.learners["ada"]
    course = CourseDirectory(config=one.config)
    listed = ExchangeList(coursedir=course, authenticator=Authenticator(), config=one.config)
    assert [(found["course_id"], found["assignment_id"]) for found in listed.start()] == [
        ("roofline", NAME)
    ]


def test_only_valid_submissions_are_collected(room):
    assert room.collected["success"], room.collected
    there = {path.name for path in (room.folder / "submitted").iterdir()}
    assert there == {"ada", room.me, "by-hand"}
    assert not (room.folder / NAME).exists(), "a folder name escaped from submitted/"
    notebook = room.folder / "submitted" / "ada" / NAME / f"{NAME}.ipynb"
    assert notebook.read_text(encoding="utf-8") == "of ada"
    log = room.collected["log"]
    for why in ("not a name that a student", "neither a file nor a folder", "not a folder", "MB;"):
        assert why in log, log
    assert "Traceback" not in log


def test_a_students_own_submission_wins_over_a_newer_forged_one(room, monkeypatch):
    monkeypatch.setattr(
        exchange.Collect, "is_owner", lambda _, record: record["filename"] != forged.name
    )
    forged = room.inbound / f"{room.me}+{NAME}+{LATER}+y"
    shutil.copytree(room.inbound / f"fifo+{NAME}+{LATER}+x", forged, ignore=lambda *_: ["waits"])
    try:
        with room.course._nbgrader() as api:
            api.collect(NAME, update=True)
    finally:
        shutil.rmtree(forged)
    notebook = room.folder / "submitted" / room.me / NAME / f"{NAME}.ipynb"
    assert notebook.read_text(encoding="utf-8") == f"of {room.me}"


@pytest.mark.parametrize("time", ["yesterday", f"2026-03-02 10:00:00 {'x' * 300}"])
def test_collecting_with_update_replaces_an_invalid_timestamp(room, time):
    stamp = room.folder / "submitted" / "ada" / NAME / "timestamp.txt"
    before = stamp.read_text(encoding="utf-8")
    stamp.write_text(time, encoding="utf-8")
    with room.course._nbgrader() as api:
        assert api.collect(NAME, update=True)["success"]
    assert stamp.read_text(encoding="utf-8") == before


def test_the_owner_of_a_folder_must_have_the_students_name(room):
    collect = exchange.Collect()
    collect.inbound_path = str(room.inbound)
    names = [path.name for path in room.inbound.iterdir() if path.name.startswith(f"{room.me}+")]
    assert names
    for name in names:
        assert collect.is_owner({"username": room.me, "filename": name})
        assert not collect.is_owner({"username": "ada", "filename": name})
    assert not collect.is_owner({"username": room.me, "filename": "gone"})


def test_learners_fetch_only_their_own_feedback_pages(room):
    assert room.returned["success"], room.returned
    pages = list((room.root / "roofline" / "feedback").iterdir())
    assert len(pages) == 3
    for one in room.learners.values():
        one(ExchangeFetchFeedback)
        (page,) = (one.folder / NAME / "feedback").glob(f"*/{NAME}.html")
        own = room.course.feedback(one.name, NAME)
        assert page.read_text(encoding="utf-8") == own.read_text(encoding="utf-8")


def test_feedback_page_names_are_secret_even_without_a_submission_secret(room):
    made = [
        (room.folder / "feedback" / name / NAME / SECRET).read_text(encoding="utf-8")
        for name in ("ada", room.me, "by-hand")
    ]
    assert len(set(made)) == 3
    assert all(len(one) >= 64 for one in made)


def record(student, time, more="x"):
    """Return the name of a submission's folder in the exchange."""
    return f"{student}+{NAME}+2026-03-{time}:00.000000 UTC+{more}"


READ = os.R_OK | os.X_OK
MONDAY, NOON, TUESDAY = "02 10:00", "02 12:00", "03 10:00"


@pytest.fixture
def collect(tmp_path, monkeypatch):
    """Return the collect step for an empty exchange in a temporary folder."""
    config = Config()
    config.Exchange.root = str(tmp_path)
    config.CourseDirectory.course_id = "roofline"
    course = CourseDirectory(config=config)
    course.assignment_id = NAME
    step = exchange.Collect(coursedir=course, authenticator=Authenticator(), config=config)
    step.log = logging.getLogger("collect")
    step.before_duedate = step.check_owner = False
    monkeypatch.setattr(step, "_due_date", lambda: None)
    (tmp_path / "roofline" / "inbound").mkdir(parents=True)
    return step


def chosen(collect, *folders):
    """Create these folders in the exchange; return the names of the collected ones."""
    for name in folders:
        Path(collect.root, "roofline", "inbound", name).mkdir()
    collect.init_src()
    return {one["filename"] for one in collect.src_records}


def test_the_newest_submission_of_each_student_is_collected(collect):
    folders = [record(*one) for one in (("ada", MONDAY), ("ada", TUESDAY), ("ada", NOON))]
    assert chosen(collect, *folders, record("a+b", MONDAY)) == {folders[1], record("a+b", MONDAY)}
    assert {one["username"] for one in collect.src_records} == {"ada", "a+b"}
    collect.coursedir.student_id = "ada"
    assert chosen(collect) == {folders[1]}


@pytest.mark.parametrize(
    ("before", "due", "expected"),
    [
        (True, datetime(2026, 3, 2, 12), NOON),
        (True, datetime(2026, 3, 2, 11), MONDAY),
        (True, datetime(2026, 3, 2, 9), TUESDAY),
        (True, None, TUESDAY),
        (False, datetime(2026, 3, 2, 12), TUESDAY),
    ],
)
def test_the_newest_submission_before_the_due_date_is_collected_if_configured(
    collect, monkeypatch, before, due, expected
):
    """If all submissions are late, the newest one is collected."""
    collect.before_duedate = before
    monkeypatch.setattr(collect, "_due_date", lambda: due)
    folders = [record("ada", time) for time in (NOON, TUESDAY, MONDAY)]
    assert chosen(collect, *folders) == {record("ada", expected)}


@pytest.mark.parametrize(("checks", "expected"), [(True, NOON), (False, TUESDAY)])
def test_the_students_own_submission_is_preferred_if_owners_are_checked(
    collect, monkeypatch, checks, expected
):
    collect.check_owner = checks
    monkeypatch.setattr(collect, "is_owner", lambda record: record["timestamp"].day == 2)
    folders = [record("ada", time) for time in (MONDAY, NOON, TUESDAY)]
    assert chosen(collect, *folders) == {record("ada", expected)}


def test_a_submission_may_be_as_large_as_the_course_allows(collect, caplog):
    collect.coursedir.max_dir_size = 2  # kilobytes
    folder = record("ada", MONDAY)
    assert chosen(collect, folder) == {folder}
    file = Path(collect.inbound_path, folder, "data")
    file.write_bytes(b"x" * 2000)
    assert chosen(collect) == {folder}
    file.write_bytes(b"x" * 2001)
    assert chosen(collect) == set()
    assert "more than 0.002 MB; it is left in the exchange" in caplog.text


def odd_files(inbound):
    """Add invalid files and folders to the exchange; return name → refusal reason."""
    outside = inbound.parent / "outside"
    outside.mkdir()
    entries = {
        f"eve+{NAME}+yesterday+x": "not the name of a hand-in",
        record("a*", MONDAY): "not a name that a student can have",
        record("file", MONDAY): "not a folder",
        record("link", MONDAY): "not a folder",
        record("within", MONDAY): "x is neither a file nor a folder; take it out",
    }
    no_time, pattern, file, link, within = (inbound / name for name in entries)
    for folder in (no_time, pattern, within):
        folder.mkdir()
    file.write_text("a file")
    link.symlink_to(outside)
    (within / "x").symlink_to(outside)
    return entries


def test_invalid_exchange_entries_are_logged_with_the_reason(collect, caplog):
    entries = odd_files(Path(collect.root, "roofline", "inbound"))
    assert chosen(collect, record("ada", MONDAY)) == {record("ada", MONDAY)}
    assert set(caplog.messages) == {
        f"{name}: {why}; it is left in the exchange" for name, why in entries.items()
    }


@pytest.mark.parametrize("due", [None, datetime(2026, 3, 2)])
def test_the_due_date_comes_from_the_gradebook(collect, monkeypatch, due):
    monkeypatch.undo()

    class Book(contextlib.nullcontext):
        def __init__(self, url, course):
            assert (url, course) == (collect.coursedir.db_url, "roofline")
            super().__init__(self)

        def find_assignment(self, name):
            if due is None:
                raise MissingEntry
            assert name == NAME
            return SimpleNamespace(duedate=due)

    monkeypatch.setattr(exchange, "Gradebook", Book)
    assert collect._due_date() == due


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda collect, _: setattr(collect.coursedir, "course_id", ""), "No course id"),
        (lambda collect, _: setattr(collect.coursedir, "course_id", "typo"), "Course not found"),
        (
            lambda _, patch: patch.setattr(os, "access", lambda _, mode: mode != READ),
            "read permissions",
        ),
    ],
    ids=["no course", "another course", "unreadable"],
)
def test_collect_says_why_it_cannot_begin(collect, monkeypatch, change, why):
    change(collect, monkeypatch)
    with pytest.raises(ExchangeError, match=why):
        collect.init_src()


@pytest.mark.parametrize("content", [b"", b" \n", b"\xff\xfe", b"x" * 2000])
def test_an_invalid_submission_secret_is_replaced(room, content, tmp_path):
    folder = room.folder_of("eve", NAME)
    (folder / SECRET).write_bytes(content)
    exchange.add_exchange_files(tmp_path, room.folder, "eve", NAME)
    shutil.rmtree(folder.parent)
    assert len((tmp_path / SECRET).read_text(encoding="ascii")) == 64


@pytest.mark.long
def test_nbgrader_exchange_commands_run_in_the_course_folder(room):
    for words in (("list",), ("collect", NAME), ("release_feedback", NAME)):
        done(room.nbgrader(*words))
