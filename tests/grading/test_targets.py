"""Tests that `return` and `export` never overwrite an unrelated file."""

import errno
import io
import zipfile
from pathlib import Path

import pytest
from classroom import Classroom

from grading import __main__ as commands
from grading.course import Course
from grading.errors import Unable
from grading.platforms import week
from grading.records import results
from grading.records.seed import FOLDER, course_seed

NAME = "int8-matmul"
MEMBER = f"Ada Lovelace_7_assignsubmission_file/{NAME}.ipynb"
PEOPLE = f"Student,ID,SIS Login ID,Section,{NAME} (4711),Other (12)\nLovelace Ada,7,ada,One,,3\n"


@pytest.fixture
def room(tmp_path, release):
    room = Classroom(tmp_path / "course", release)
    table = tmp_path / "theirs.csv"
    table.write_text(PEOPLE, encoding="utf-8")
    week.roster(room.course, table)
    page = room.course.feedback("ada", NAME)
    page.parent.mkdir(parents=True)
    page.write_text("well done", encoding="utf-8")
    room.course.results.put("ada", NAME, {"digest": "", "reason": "", "parts": []})
    with zipfile.ZipFile(tmp_path / "submissions.zip", "w") as made:
        made.writestr(MEMBER, "{}")
    return room


def given_back(room, source, target):
    return week.give_back(room.course, NAME, source, target)


def exported(room, source, target):
    return week.export(room.course, source, target, {})


STEPS = {"return": (given_back, "submissions.zip"), "export": (exported, "theirs.csv")}


def same(folder, source, how):
    """Return a path to the source file: its own, relative, a symlink, or a hard link."""
    if how == "relative":
        return folder / "course" / ".." / source.name
    if how == "itself":
        return source
    other = folder / f"other{source.suffix}"
    other.symlink_to(source) if how == "symlink" else other.hardlink_to(source)
    return other


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("how", ["itself", "relative", "symlink", "hard link"])
def test_the_target_may_not_be_the_source(room, tmp_path, step, how):
    run, name = STEPS[step]
    source = tmp_path / name
    before = source.read_bytes()
    target = same(tmp_path, source, how)
    with pytest.raises(Unable, match=f"{target.name} is the file to read itself"):
        run(room, source, target)
    assert source.read_bytes() == before


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("there", [None, b"", b"mine"])
def test_a_missing_source_leaves_the_target_alone(room, tmp_path, step, there):
    run, name = STEPS[step]
    target = tmp_path / f"made{name}"
    if there is not None:
        target.write_bytes(there)
    with pytest.raises((Unable, FileNotFoundError), match=r"No such file"):
        run(room, tmp_path / f"missing{name}", target)
    assert (target.read_bytes() if target.exists() else None) == there


@pytest.mark.parametrize("step", STEPS)
def test_an_interrupted_command_leaves_the_target_unchanged(room, tmp_path, step, monkeypatch):
    run, name = STEPS[step]
    target = tmp_path / f"made{name}"
    run(room, tmp_path / name, target)
    before = target.read_bytes()

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(zipfile.ZipFile, "write", stopped)
    monkeypatch.setattr(results.os, "fsync", stopped)
    with pytest.raises(KeyboardInterrupt):
        run(room, tmp_path / name, target)
    assert target.read_bytes() == before
    assert not [one.name for one in tmp_path.iterdir() if one.name.startswith(".")]


@pytest.mark.parametrize("step", STEPS)
def test_repeating_a_command_replaces_its_own_target(room, tmp_path, step):
    run, name = STEPS[step]
    target = tmp_path / f"made{name}"
    first = run(room, tmp_path / name, target)
    made = target.read_bytes()
    assert run(room, tmp_path / name, target) == first
    assert target.read_bytes() == made


@pytest.mark.parametrize("step", STEPS)
def test_an_empty_target_is_replaced(room, tmp_path, step):
    run, name = STEPS[step]
    target = tmp_path / f"made{name}"
    target.touch()
    run(room, tmp_path / name, target)
    assert target.stat().st_size > 0


@pytest.mark.parametrize("step", STEPS)
def test_swapped_source_and_target_are_refused(room, tmp_path, step):
    run, name = STEPS[step]
    run(room, tmp_path / name, tmp_path / f"made{name}")
    before = (tmp_path / name).read_bytes()
    with pytest.raises(Unable, match=f"{name} is there already and"):
        run(room, tmp_path / f"made{name}", tmp_path / name)
    assert (tmp_path / name).read_bytes() == before


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(
    "mine", [b"Name,Grade\nAda,1\n", b"a line", b"x", b"\x89PNG\r\n\x00\xff", b"PK\x03\x04"]
)
def test_a_file_that_the_command_did_not_write_is_kept(room, tmp_path, step, mine):
    run, name = STEPS[step]
    target = tmp_path / f"made{name}"
    target.write_bytes(mine)
    with pytest.raises(Unable, match=f"{target.name} is there already and"):
        run(room, tmp_path / name, target)
    assert target.read_bytes() == mine


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(("place", "says"), [("", "is a folder"), ("none/x", "there is no folder")])
def test_an_invalid_target_is_reported(room, tmp_path, step, place, says):
    run, name = STEPS[step]
    with pytest.raises(Unable, match=says):
        run(room, tmp_path / name, tmp_path / place)


def test_a_refused_command_reports_one_line(room, tmp_path, capsys):
    source = str(tmp_path / "submissions.zip")
    with pytest.raises(SystemExit) as ended:
        commands.main(["return", str(room.folder), NAME, source, source])
    assert str(ended.value) == (
        f"{source} is the file to read itself; give another name for the pages"
    )
    assert zipfile.ZipFile(source).namelist() == [MEMBER]


@pytest.fixture
def full_disk(monkeypatch):
    """Simulate a full disk: files can be created, but not written to."""

    class Full(io.StringIO):
        def write(self, text):
            raise OSError(errno.ENOSPC, "No space left on device")

    plain = Path.open

    def opened(path, mode="r", *others, **words):
        if set(mode) & set("wxa"):
            plain(path, mode, *others, **words).close()
            return Full()
        return plain(path, mode, *others, **words)

    monkeypatch.setattr(Path, "open", opened)
    return monkeypatch


@pytest.mark.parametrize("name", [f"{FOLDER}/seed", "nbgrader_config.py"])
def test_a_full_disk_leaves_no_empty_seed_or_settings(tmp_path, full_disk, name):
    """Check that grading never uses an empty seed or runs without settings.

    Hidden inputs must not come from an empty seed.
    """
    course = Course(tmp_path / "new")
    if name.endswith(".py"):
        course.folder.mkdir()
    with pytest.raises(OSError, match="No space left"):
        course.prepare() if name.endswith(".py") else course_seed(make_folder(course))
    assert not [one for one in course.folder.rglob("*") if one.is_file()]
    full_disk.undo()
    course.prepare()
    assert len(course_seed(course.folder)) == 32
    assert "load_subconfig" in (course.folder / "nbgrader_config.py").read_text()


def make_folder(course):
    course.folder.mkdir()
    return course.folder


def test_the_seed_is_drawn_again_if_its_file_is_empty(tmp_path):
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "seed").touch()
    seed = course_seed(tmp_path)
    assert len(seed) == 32
    assert course_seed(tmp_path) == seed
    assert [one.name for one in (tmp_path / FOLDER).iterdir()] == ["seed"]
