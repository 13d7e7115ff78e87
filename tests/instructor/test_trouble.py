"""Full disks, locked gradebooks, read-only folders, kills: one line each, and nothing is lost."""

import contextlib
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from classroom import COMMAND, NAME, Classroom, command, one_line, said
from processes import nothing_left
from repository import ROOT
from series import in_part

SEED = 20


@pytest.fixture(scope="module")
def handed_in(release: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a course that is not graded yet: right, wrong and unreadable notebooks."""
    room = Classroom(tmp_path_factory.mktemp("trouble") / "course", release)
    (room.folder / ".grading" / "seed").write_text("the seed of all copies\n")
    room.hand_in("ada", NAME, room.solved())
    room.hand_in("bob", NAME, room.solved(submission="wrong_output_not_counted"))
    (room.folder_of("dan") / f"{NAME}.ipynb").write_text("")
    return room.folder


@pytest.fixture(scope="module")
def undisturbed(handed_in: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return the files of this class, graded without any trouble."""
    room = Classroom(tmp_path_factory.mktemp("undisturbed") / "course", handed_in)
    assert room.grade("--workers", 2).startswith("3 graded")
    assert room.scores() == {"ada": 20, "bob": 7, "dan": 0}
    return room.files()


@pytest.fixture
def room(handed_in: Path, tmp_path: Path) -> Classroom:
    return Classroom(tmp_path / "course", handed_in)


def same(room: Classroom, expected: dict[str, bytes]) -> None:
    """Check that the next run makes of this course what an undisturbed run makes."""
    room.grade("--workers", 2)
    found = room.files()
    assert found.keys() == expected.keys()
    assert [name for name in expected if found[name] != expected[name]] == []


class Running:
    """A grading in the background, in a process group of its own."""

    def __init__(self, room: Classroom) -> None:
        self.room = room
        self.process = subprocess.Popen(
            [*COMMAND, "grade", str(room.folder), "--workers", "2"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            # A shell's background jobs, and their children, ignore Ctrl-C.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )

    def until(self, count: int) -> None:
        """Wait until there are so many pages of feedback, or the grading has ended."""
        while self.process.poll() is None and self.pages() < count:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(0.02)

    def pages(self) -> int:
        return len(list(self.room.folder.glob("feedback/*/*/*.html")))

    def ended(self) -> tuple[int, str]:
        _, errors = self.process.communicate()
        return self.process.returncode, errors


def test_a_grading_that_is_refused_interrupted_or_killed_goes_on_where_it_was(
    room: Classroom, undisturbed: dict[str, bytes]
) -> None:
    """A gradebook of one's own is in use; then come a second grading, Ctrl-C and a kill."""
    file, own = room.folder / ".grading" / "own.db", room.folder / "nbgrader_config.py"
    before = own.read_text()
    own.write_text(f"{before}c.CourseDirectory.db_url = 'sqlite:///{file}?timeout=0.1'\n")
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as formgrader:
        formgrader.execute("BEGIN EXCLUSIVE")
        line = one_line(command(*COMMAND, "grade", room.folder))
    own.write_text(before)
    assert "gradebook" in line
    assert "locked" in line
    running = Running(room)
    running.until(1)
    if running.process.poll() is None:
        running.process.send_signal(signal.SIGSTOP)  # it would end before the second begins
        assert "already" in one_line(room.here("grade"))
        running.process.send_signal(signal.SIGCONT)
        os.killpg(running.process.pid, signal.SIGINT)
    status, errors = running.ended()
    assert (status, "Traceback" in errors) in ((130, False), (0, False)), errors
    assert status == 0 or "same command" in errors.splitlines()[-1]
    with nothing_left():
        running = Running(room)
        running.until(2)
        running.process.kill()
        running.ended()
    same(room, undisturbed)


@pytest.mark.long
def test_a_grading_that_is_killed_at_any_moment_goes_on_where_it_was(
    room: Classroom, undisturbed: dict[str, bytes]
) -> None:
    chance = random.Random(SEED)
    for _ in range(8):
        with nothing_left():
            running = Running(room)
            running.until(chance.randrange(3))
            with contextlib.suppress(subprocess.TimeoutExpired):
                running.process.wait(chance.uniform(0, 0.3))
            running.process.kill()
            running.ended()
    same(room, undisturbed)


@pytest.mark.parametrize("step", in_part(["grade", "roster", "collect", "release"], 4))
def test_a_read_only_folder_is_named_in_one_line(
    handed_in: Path, tmp_path: Path, step: str
) -> None:
    table, download = tmp_path / "people.csv", tmp_path / "x.zip"
    table.write_text("id\nada\n")
    shutil.make_archive(str(download.with_suffix("")), "zip", handed_in / "submitted")
    words = {"roster": [table], "collect": [NAME, download]}.get(step, [])
    before = Classroom(handed_in).files()
    done = command(
        *("bwrap", "--dev-bind", "/", "/", "--ro-bind", handed_in, handed_in),
        *(*COMMAND, step, handed_in, *words),
    )
    if step != "collect":  # which may find nothing to write
        line = one_line(done)
        assert "read-only" in line.lower() or "readonly" in line  # the second is SQLite's word
        assert line in done.stderr.splitlines(), "one line"
    assert Classroom(handed_in).files() == before


def test_settings_that_moved_are_asked_for_in_one_line(release: Path, tmp_path: Path) -> None:
    room = Classroom(tmp_path / "course", release)
    own = room.folder / "nbgrader_config.py"
    text = own.read_text().replace("/grading/nbgrader_config.py", "/grading/elsewhere.py")
    own.write_text(f"{text}\nc.CourseDirectory.course_id = 'mine'\n")
    assert "correct the path" in one_line(room.here("release", NAME))
    assert own.read_text().endswith("'mine'\n")


FULL_DISK = """
import shutil, subprocess, sys
from pathlib import Path
folder, out = map(Path, sys.argv[1:])
grade = [sys.executable, "-m", "grading", "grade", folder, "--workers", "2"]
for left in (0, 60_000):
    with (folder / "ballast").open("wb") as file:
        file.write(bytes(max(0, shutil.disk_usage(folder).free - left)))
    done = subprocess.run(grade, capture_output=True, text=True)
    print("LINE", done.returncode, done.stderr.replace("\\r", "\\n").splitlines()[-1:], flush=True)
    assert "Traceback" not in done.stderr, done.stderr
    (folder / "ballast").unlink()
shutil.copytree(folder, out)
"""


@pytest.mark.long
def test_a_full_disk_is_named_in_one_line_and_no_grade_is_lost(
    handed_in: Path, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    """Grade on a small disk, with more and more room on it."""
    disk, out = tmp_path / "disk", tmp_path / "course"
    disk.mkdir()
    steps = 'mount -t tmpfs -o size=8m tmpfs "$0" && cp -r "$1" "$0/course" && shift && exec "$@"'
    words: list[object] = ["unshare", "--mount", "sh", "-c", steps, disk, handed_in]
    if os.geteuid():  # mount as root of a user namespace, then switch back to this user
        words.insert(1, "--map-root-user")
        words += ["unshare", "--map-user", os.geteuid(), "--map-group", os.getegid()]
    lines = [
        line
        for line in said(
            command(*words, sys.executable, "-c", FULL_DISK, disk / "course", out)
        ).splitlines()
        if line.startswith("LINE")
    ]
    assert lines[0].startswith("LINE 1 "), lines
    for line in lines:
        is_told = any(words in line for words in ("disk is full", "No space left"))
        assert line.startswith("LINE 0") or (is_told and "again" in line), line
    same(Classroom(out), undisturbed)


@pytest.mark.long
def test_damaged_results_are_graded_again(room: Classroom, undisturbed: dict[str, bytes]) -> None:
    """As a crash of the machine, or a clean-up of one's own, leaves them."""
    room.grade("--workers", 2)
    (room.folder / "feedback" / "ada" / NAME / f"{NAME}.html").unlink()
    shutil.rmtree(room.folder / "autograded" / "ada")
    for path in (room.folder / ".grading" / "graded" / "bob").rglob("*.json"):
        path.write_text("")
    same(room, undisturbed)


def test_without_the_sandbox_nothing_is_graded_and_a_line_says_what_to_do(
    room: Classroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert "sudo apt install bubblewrap" in one_line(room.here("grade"))
    assert not (room.folder / "grades.csv").exists()
