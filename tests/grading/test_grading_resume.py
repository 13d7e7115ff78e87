"""A grading that is killed, or that meets a full disk or a locked gradebook, and is run again.

The same hand-ins are graded in copies of one course. Whatever happens to a copy on its way, in the
end it equals the one to which nothing happened.
"""

import contextlib
import csv
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from classroom import Classroom, dump, processes
from classroom.processes import as_ordinary_user
from repository import ROOT
from submissions import submissions

from grading.__main__ import main
from grading.nbgrader_setup.settings import DATABASE
from grading.parallel import pool
from grading.records.results import Results
from grading.release import exercises

NAMES = exercises.names()[:2]
STUDENTS = 6
KILLS = {"grader": 6, "worker": 5, "kernel": 9}
WORKERS = 2
SEED = 20
ORDINARY = "61234:61234"  # as whom as_ordinary_user runs


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory):
    """A course in which nothing has been graded yet: right and wrong hand-ins, one that is none."""
    room = Classroom(tmp_path_factory.mktemp("course"))
    room.course.release()
    for name in NAMES:
        wrong = [one.name for one in submissions(name) if one.name.startswith("wrong")]
        for number in range(STUDENTS):
            turn = wrong[number] if number % 2 else ""
            room.hand_in(f"student-{number}", name, room.solved(name, turn))
    (room.folder_of("student-0", NAMES[0]) / f"{NAMES[0]}.ipynb").write_text("")
    return room.folder


@pytest.fixture
def copy(handed_in, tmp_path):
    """Make a copy of the course to grade in."""

    def make():
        return Path(shutil.copytree(handed_in, tmp_path / f"copy-{len(list(tmp_path.iterdir()))}"))

    return make


@pytest.fixture(scope="module")
def undisturbed(handed_in, tmp_path_factory):
    """(what came of the grading to which nothing happened, the seconds that it took)"""
    folder = tmp_path_factory.mktemp("undisturbed") / "course"
    shutil.copytree(handed_in, folder)
    start = time.monotonic()
    finish(folder)
    return dump.course(folder), time.monotonic() - start


class Grader:
    """`python -m grading grade`, as a process of its own."""

    def __init__(self, folder):
        self.folder = folder
        command = [sys.executable, "-m", "grading", "grade", folder, "--workers", str(WORKERS)]
        self.process = subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        self.pid = self.process.pid

    def ended(self, seconds):
        return processes.ended(self.pid, seconds)

    def kept(self):
        return len(list((self.folder / dump.KEPT).glob("*/*.json")))

    def wait(self):
        """Its exit status, and what it said besides its progress."""
        said = self.process.communicate()[1]
        return self.process.returncode, said.split("\r")[-1]

    def workers(self):
        """The processes that the fork server made."""
        table = processes.parents()
        mine = processes.descendants(self.pid, table)
        servers = {pid for pid in mine if "forkserver" in " ".join(processes.words(pid))}
        return [pid for pid in sorted(mine) if {pid, table[pid]} <= servers]

    def boxes(self):
        """Worker → (its nursery, the processes at the top of its boxes)"""
        table = processes.parents()
        found = {}
        for worker in self.workers():
            inside = processes.descendants(worker, table)
            for pid in inside:
                command = processes.words(pid)
                above = processes.words(table[pid])
                if "/run/inside" in command and "bwrap" in above[0] and "bwrap" not in command[0]:
                    found[worker] = pid, {one for one in inside if table[one] == pid}
        return found


def finish(folder):
    grader = Grader(folder)
    status, said = grader.wait()
    assert status == 0, said


def equal(folder, expected):
    got = dump.course(folder)
    assert got.keys() == expected.keys()
    for name in expected:
        assert got[name] == expected[name], name


def test_the_hand_ins_have_all_kinds_of_outcomes(undisturbed):
    rows = list(csv.DictReader(undisturbed[0]["grades.csv"].decode().splitlines()))
    points = {float(row["score"]) for row in rows if row["assignment"] in NAMES}
    assert len(points) >= 3
    assert len(rows) == STUDENTS * len(exercises.names())


def test_what_is_left_behind_would_be_found():
    with processes.adopting() as before:
        subprocess.run(["sh", "-c", "sleep 600 &"], check=True)
        ((orphan, words),) = processes.left(before, seconds=0).items()
        assert words[:2] == ["sleep", "600"]
        os.kill(orphan, signal.SIGKILL)
        assert not processes.left(before)


def test_a_killed_grader_goes_on_where_it_was(copy, undisturbed):
    """Killed at random shares of the time that an undisturbed run takes."""
    expected, seconds = undisturbed
    chance = random.Random(SEED)
    kills, folder = 0, copy()
    while kills < KILLS["grader"]:
        with processes.adopting() as before:
            grader = Grader(folder)
            if not grader.ended(chance.uniform(0, seconds)):
                grader.process.kill()
            status, said = grader.wait()
            if status == 0:  # the kill may have come in its last moment
                equal(folder, expected)
                folder = copy()
                continue
            assert status == -signal.SIGKILL, said
            kills += 1
            assert not processes.left(before), "left behind by a grader that was killed"
    finish(folder)
    equal(folder, expected)


def test_killed_workers_and_kernels_are_replaced(copy, undisturbed):
    """Killed at random moments after one more submission has been graded."""
    expected, _ = undisturbed
    chance = random.Random(SEED)
    plan = ["worker"] * KILLS["worker"] + ["kernel"] * KILLS["kernel"]
    chance.shuffle(plan)
    folders = []
    with processes.adopting() as before:
        while plan:
            folders.append(copy())
            grader = Grader(folders[-1])
            disturb(grader, plan, chance)
            status, said = grader.wait()
            assert status == 0, said
            assert not processes.left(before), "left behind by a grader that has ended"
    for folder in folders:
        finish(folder)
        equal(folder, expected)


def test_work_that_ends_its_process_is_given_up_and_all_other_work_is_done():
    works = {number: f"{number} * 2" for number in range(6)}
    jobs = [("ends", "__import__('os')._exit(0)"), *works.items()]
    got = dict(pool.done(pool.Local(2), eval, jobs))
    assert got == {"ends": None, **{number: number * 2 for number in works}}


def test_an_error_in_the_work_is_raised_here():
    with pytest.raises(ZeroDivisionError):
        list(pool.done(pool.Local(2), eval, [("wrong", "1 / 0")]))


def disturb(grader, plan, chance):
    """Kill what the plan says next, until it or the run is at its end."""
    graded, seen, spared = 1, {}, {}
    while plan:
        victim = None
        if grader.ended(0.005):
            return
        boxes = grader.boxes()
        for worker, (_, tops) in boxes.items():
            seen.setdefault(worker, {}).update(dict.fromkeys(tops))
        if grader.kept() < graded or grader.ended(chance.uniform(0, 0.2)):
            continue
        if plan[-1] == "worker":
            workers = grader.workers()
            victim = chance.choice(workers) if workers else None
            gone = processes.descendants(victim) if victim else set()
        else:
            # A notebook is run twice if its process ends, as it may have ended that itself; so
            # none is killed twice: between two kills for a worker there is another's box.
            for worker, (nursery, tops) in grader.boxes().items():
                seen.setdefault(worker, {}).update(dict.fromkeys(tops))
                if tops and len(seen[worker]) >= spared.get(worker, 0):
                    inside = sorted(processes.descendants(nursery))
                    victim = chance.choice([nursery, *inside])
                    spared[worker] = len(seen[worker]) + 2
                    break
            gone = set()
        if victim is None:
            continue
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            continue
        assert processes.ended(victim)
        assert all(map(processes.ended, gone)), "left behind by a worker that was killed"
        plan.pop()
        graded = grader.kept() + 1


# --- a small class, graded in this process -------------------------------------------------------


@pytest.fixture(scope="module")
def two(handed_in, tmp_path_factory):
    """A course with two of the hand-ins."""
    folder = tmp_path_factory.mktemp("two") / "course"
    shutil.copytree(handed_in, folder)
    for student in (folder / "submitted").iterdir():
        shutil.rmtree(student / NAMES[1])
        if student.name not in ("student-1", "student-2"):
            shutil.rmtree(student)
    return folder


@pytest.fixture(scope="module")
def expected(two, tmp_path_factory):
    """What comes of it if nothing happens."""
    folder = tmp_path_factory.mktemp("expected") / "course"
    shutil.copytree(two, folder)
    grade(folder)
    return dump.course(folder)


@pytest.fixture
def small(two, tmp_path):
    return Path(shutil.copytree(two, tmp_path / "small"))


def grade(folder):
    main(["grade", str(folder), "--workers", "1"])


def refused(folder):
    """The one line with which grading ends."""
    with pytest.raises(SystemExit) as ended:
        grade(folder)
    assert isinstance(ended.value.code, str)
    assert "\n" not in ended.value.code
    return ended.value.code


def test_a_second_grader_is_told_that_there_is_one(copy, undisturbed):
    folder = copy()
    grader = Grader(folder)
    while grader.kept() == 0:
        assert not grader.ended(0.01), grader.wait()
    os.kill(grader.pid, signal.SIGSTOP)  # so that it can't be done before the second one looks
    try:
        assert refused(folder) == f"{folder} is being graded already; wait until that is done"
    finally:
        os.kill(grader.pid, signal.SIGCONT)
    assert grader.wait()[0] == 0
    equal(folder, undisturbed[0])


@pytest.mark.parametrize("graded", [0, 1, 2])
def test_a_locked_gradebook_is_said_and_costs_nothing(graded, small, expected, monkeypatch):
    """Locked by somebody after so many submissions."""
    file = small / "gradebook.db"
    monkeypatch.setenv(DATABASE, f"sqlite:///{file}?timeout=0.1")
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as other:

        def put(self, *entry, plain=Results.put):
            plain(self, *entry)
            if len(list(self.folder.glob("*/*.json"))) == graded:
                other.execute("BEGIN EXCLUSIVE")

        if not graded:
            other.execute("BEGIN EXCLUSIVE")
        with monkeypatch.context() as patch:
            patch.setattr(Results, "put", put)
            line = refused(small)
    assert line.startswith("The gradebook could not be used: database is locked.")
    grade(small)
    equal(small, expected)


FULL_DISK = """
import shutil, sys
from pathlib import Path
from grading.__main__ import main

course, out = map(Path, sys.argv[1:])
ballast = course / "ballast"
for left in (0, 40_000, 150_000):
    free = shutil.disk_usage(course).free
    with ballast.open("wb") as file:
        file.write(bytes(max(0, free - left)))
    try:
        main(["grade", str(course), "--workers", "1"])
    except SystemExit as ended:
        print("LINE", ended.code)
    ballast.unlink()
main(["grade", str(course), "--workers", "1"])
shutil.copytree(course, out)
"""


def test_a_full_disk_is_said_and_costs_nothing(small, expected, tmp_path):
    """On a file system of its own in memory, of which less and less is taken."""
    disk, out = tmp_path / "disk", tmp_path / "out"
    disk.mkdir()
    steps = 'mount -t tmpfs -o size=8m tmpfs "$0" && cp -r "$1" "$0/course" && shift && exec "$@"'
    words = ["unshare", "--mount", "sh", "-c", steps, disk, small]
    if os.geteuid():  # who may mount only as root of a user namespace, and grades as who he is
        words.insert(1, "--map-root-user")
        words += ["unshare", "--map-user", str(os.geteuid()), "--map-group", str(os.getegid())]
    words += [sys.executable, "-c", FULL_DISK, disk / "course", out]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("LINE")]
    assert len(lines) >= 2, done.stdout
    for line in lines:
        assert "run this again" in line, line
        assert re.search("No space left on device|database or disk is full", line), line
    assert "Traceback" not in done.stderr
    equal(out, expected)


def test_a_clock_that_jumps_changes_nothing(small, expected, monkeypatch, capsys):
    chance = random.Random(SEED)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + chance.uniform(-1e9, 1e9))
    grade(small)
    equal(small, expected)
    for seconds in (-1e9, 1e9):
        for path in small.rglob("*"):
            os.utime(path, (now + seconds, now + seconds))
        capsys.readouterr()
        grade(small)
        assert capsys.readouterr().out.startswith("0 graded")
        equal(small, expected)


@pytest.mark.parametrize("damage", [lambda text: text[: len(text) // 2], lambda _: ""])
def test_a_damaged_entry_is_made_again(damage, small, expected, capsys):
    grade(small)
    file = small / dump.KEPT / "student-1" / f"{NAMES[0]}.json"
    file.write_text(damage(file.read_text()))
    capsys.readouterr()
    grade(small)
    assert capsys.readouterr().out.startswith("1 graded")
    equal(small, expected)


def test_a_folder_that_cannot_be_read_is_listed(two):
    """By somebody without rights, since root can read everything."""
    folder = Path(tempfile.mkdtemp(prefix="course-"))  # pytest's own is closed to others
    shutil.copytree(two, folder, dirs_exist_ok=True)
    submitted = folder / "submitted"
    for student in ("no-list", "no-entry", "no-folder", "no-file"):
        shutil.copytree(submitted / "student-2", submitted / student)
    command = [sys.executable, "-m", "grading", "grade", folder, "--workers", "1"]
    if os.geteuid() == 0:
        subprocess.run(["chown", "-R", ORDINARY, folder], check=True)
        command = as_ordinary_user(*command)
    closed = {
        submitted / "no-list": 0,
        submitted / "no-entry": 0o444,
        submitted / "no-folder" / NAMES[0]: 0,
        submitted / "no-file" / NAMES[0] / f"{NAMES[0]}.ipynb": 0,
    }
    for path, mode in closed.items():
        path.chmod(mode)
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        with (folder / "not-graded.csv").open(newline="") as file:
            listed = dict(list(csv.reader(file))[1:])
        with (folder / "grades.csv").open(newline="") as file:
            points = {
                row["student"]: float(row["score"])
                for row in csv.DictReader(file)
                if row["assignment"] == NAMES[0]
            }
    finally:
        for path in closed:
            path.chmod(0o755)
        shutil.rmtree(folder)
    why = "the {} cannot be read (Permission denied)"
    assert listed == {
        "no-list": why.format("folder"),
        "no-entry": why.format("folder"),
        f"no-folder/{NAMES[0]}": why.format("folder"),
        f"no-file/{NAMES[0]}": why.format("file"),
    }
    assert points["student-2"] > 0
    assert points["no-folder"] == points["no-file"] == 0
