"""Tests of nbgrader's exchange, a folder that everybody can write to.

It holds submissions and feedback.
"""

import getpass
import logging
import os
import shutil
from contextlib import chdir
from pathlib import Path

import pytest
from classroom import Classroom, done, made_up
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
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
    """Set up a class with an exchange.

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
    monkeypatch.setattr(Path, "chmod", refused)  # as for a folder of somebody else's
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
def test_an_invalid_timestamp_does_not_stop_an_update(room, time):
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


def test_learners_fetch_only_their_own_pages(room):
    assert room.returned["success"], room.returned
    pages = list((room.root / "roofline" / "feedback").iterdir())
    assert len(pages) == 3
    for one in room.learners.values():
        one(ExchangeFetchFeedback)
        (page,) = (one.folder / NAME / "feedback").glob(f"*/{NAME}.html")
        own = room.course.feedback(one.name, NAME)
        assert page.read_text(encoding="utf-8") == own.read_text(encoding="utf-8")


def test_page_names_are_secret_even_without_a_submission_secret(room):
    made = [
        (room.folder / "feedback" / name / NAME / SECRET).read_text(encoding="utf-8")
        for name in ("ada", room.me, "by-hand")
    ]
    assert len(set(made)) == 3
    assert all(len(one) >= 64 for one in made)


@pytest.mark.parametrize("content", [b"", b" \n", b"\xff\xfe", b"x" * 2000])
def test_an_invalid_secret_is_replaced(room, content, tmp_path):
    folder = room.folder_of("eve", NAME)
    (folder / SECRET).write_bytes(content)
    exchange.add_exchange_files(tmp_path, room.folder, "eve", NAME)
    shutil.rmtree(folder.parent)
    assert len((tmp_path / SECRET).read_text(encoding="ascii")) == 64


@pytest.mark.long
def test_nbgrader_exchange_commands_run_in_the_course_folder(room):
    for words in (("list",), ("collect", NAME), ("release_feedback", NAME)):
        done(room.nbgrader(*words))
