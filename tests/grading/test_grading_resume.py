"""Tests of graders whose processes are killed, and that are run again.

The same submissions are graded in copies of one course. No matter which processes are killed, each
copy must finally equal the one that was graded undisturbed. test_records.py covers a full disk, a
locked gradebook and damaged files.
"""

import contextlib
import csv
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from classroom import Classroom, dump, processes
from classroom.processes import as_unprivileged_user
from repository import ROOT
from submissions import submissions

from grading.__main__ import main
from grading.records.seed import course_seed
from grading.release import exercises

NAMES = exercises.names()[:2]
STUDENTS = 4
WORKERS = 2
SEED = 20
ORDINARY = "61234:61234"  # user and group of as_unprivileged_user


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory, release):
    """Set up an ungraded course with right, wrong and unreadable submissions."""
    room = Classroom(tmp_path_factory.mktemp("course"), release)
    course_seed(room.folder)
    for name in NAMES:
        wrong = [one.name for one in submissions(name) if one.name.startswith("wrong")]
        for number in range(STUDENTS):
            submission = wrong[number] if number % 2 else ""
            room.hand_in(f"student-{number}", name, room.solved(name, submission))
    (room.folder_of("student-0", NAMES[0]) / f"{NAMES[0]}.ipynb").write_text("")
    return room.folder


@pytest.fixture
def copy(handed_in, tmp_path):
    """Return a function that copies the ungraded course."""

    def make():
        return Path(shutil.copytree(handed_in, tmp_path / f"copy-{len(list(tmp_path.iterdir()))}"))

    return make


@pytest.fixture(scope="module")
def undisturbed(handed_in, tmp_path_factory):
    """Grade a copy of the course undisturbed; return its files."""
    folder = tmp_path_factory.mktemp("undisturbed") / "course"
    shutil.copytree(handed_in, folder)
    finish(folder)
    return dump.course(folder)


class Grader:
    """A process that runs `python -m grading grade`."""

    def __init__(self, folder):
        self.folder = folder
        command = [sys.executable, "-m", "grading", "grade", folder, "--workers", str(WORKERS)]
        self.process = subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        self.pid = self.process.pid

    def ended(self, seconds):
        return processes.ended(self.pid, seconds)

    def graded(self):
        return len(list((self.folder / dump.RESULTS).glob("*/*.json")))

    def wait(self):
        """Return the exit status, and the messages without the progress bar."""
        said = self.process.communicate()[1]
        return self.process.returncode, said.split("\r")[-1]

    def workers(self):
        """Return the pids of the fork server's children, the workers."""
        table = processes.parents()
        mine = processes.descendants(self.pid, table)
        servers = {pid for pid in mine if "forkserver" in " ".join(processes.words(pid))}
        return [pid for pid in sorted(mine) if {pid, table[pid]} <= servers]

    def boxes(self):
        """Return worker → (its sandboxes' top processes, all processes in them).

        All sandboxes come from one zygote; the mounted socket folder tells which worker owns one.
        """
        table = processes.parents()
        found = {}
        for top in processes.descendants(self.pid, table):
            # A sandbox's top process is a child of the zygote, which bubblewrap started. Forks keep
            # the zygote's command line, so look at the ancestors.
            if not is_bubblewrap(table[top]) and is_bubblewrap(table.get(table[top])):
                whole = {top, *processes.descendants(top, table)}
                owners = {owner for pid in whole if (owner := self.owner(pid))}
                for worker in owners:
                    tops, inside = found.setdefault(worker, (set(), []))
                    tops.add(top)
                    inside.extend(sorted(whole))
        return found

    @staticmethod
    def owner(pid):
        """Return the worker that owns a process in a sandbox, None if unknown.

        It is unknown until the sandbox is set up.
        """
        with contextlib.suppress(OSError):
            mounted = Path(f"/proc/{pid}/mountinfo").read_text()
            if own := re.search(r"/(\d+)-\d+ /run/box ", mounted):
                return int(own[1])
        return None


def is_bubblewrap(pid):
    command = processes.words(pid) or [""]  # empty if the process has just ended
    return "bwrap" in command[0]


def finish(folder):
    """Grade the remaining submissions from this process, to save a start of Python."""
    main(["grade", str(folder), "--workers", str(WORKERS)])


def equal(folder, expected):
    got = dump.course(folder)
    assert got.keys() == expected.keys()
    for name in expected:
        assert got[name] == expected[name], name


@pytest.mark.long
def test_the_submissions_have_several_outcomes(undisturbed):
    rows = list(csv.DictReader(undisturbed["grades.csv"].decode().splitlines()))
    points = {float(row["score"]) for row in rows if row["assignment"] in NAMES}
    assert len(points) >= 3
    assert len(rows) == STUDENTS * len(exercises.names())


def test_the_check_for_leftover_processes_finds_one():
    with processes.adopt_orphans() as before:
        # Wait until the forked shell has executed `sleep`.
        become = "while [ $(cat /proc/$!/comm) != sleep ]; do :; done"
        subprocess.run(["sh", "-c", f"sleep 600 & {become}"], check=True)
        ((orphan, words),) = processes.first_survivor(before, seconds=0).items()
        assert words[:2] == ["sleep", "600"]
        os.kill(orphan, signal.SIGKILL)
        assert not processes.first_survivor(before)


@pytest.mark.long
@pytest.mark.parametrize("count", [6])
def test_a_killed_grader_can_resume(count, copy, undisturbed):
    """Kill the grader repeatedly, at random moments between two results."""
    expected = undisturbed
    results = sum(name.startswith(str(dump.RESULTS)) for name in expected)
    chance = random.Random(SEED)
    kills, folder = 0, copy()
    while kills < count:
        with processes.adopt_orphans() as before:
            grader = Grader(folder)
            # In turn, kill the grader soon after two new results, its start, or one new result.
            enough = min(grader.graded() + (2, 0, 1)[kills % 3], results - 1)
            while not grader.ended(0.02) and grader.graded() < enough:
                pass
            if not grader.ended(chance.uniform(0, 0.3)):
                grader.process.kill()
            status, said = grader.wait()
            if status == 0:  # the grader finished before the kill
                equal(folder, expected)
                folder = copy()
                continue
            assert status == -signal.SIGKILL, said
            kills += 1
            assert not processes.first_survivor(before), "left behind by a grader that was killed"
    finish(folder)
    equal(folder, expected)


@pytest.mark.long
@pytest.mark.parametrize(("workers", "kernels"), [(5, 9)])
def test_killed_workers_and_kernels_are_replaced(workers, kernels, copy, undisturbed):
    """Kill workers and kernels at random moments.

    Each is killed after one more graded submission.
    """
    expected = undisturbed
    chance = random.Random(SEED)
    plan = ["worker"] * workers + ["kernel"] * kernels
    chance.shuffle(plan)
    folders = []
    with processes.adopt_orphans() as before:
        while plan:
            folders.append(copy())
            grader = Grader(folders[-1])
            disturb(grader, plan, chance)
            status, said = grader.wait()
            assert status == 0, said
            assert not processes.first_survivor(before), "left behind by a grader that has ended"
    for folder in folders:
        finish(folder)
        equal(folder, expected)


def disturb(grader, plan, chance):
    """Kill a worker or a kernel as planned, until the plan or the run ends."""
    graded, seen, spared = 1, {}, {}
    while plan:
        victim = None
        if grader.ended(0.02):
            return
        boxes = grader.boxes()
        for worker, (tops, _) in boxes.items():
            seen.setdefault(worker, {}).update(dict.fromkeys(tops))
        if grader.graded() < graded or grader.ended(chance.uniform(0, 0.2)):
            continue
        if plan[-1] == "worker":
            workers = grader.workers()
            victim = chance.choice(workers) if workers else None
            gone = processes.descendants(victim) if victim else set()
        else:
            # A notebook whose process dies is run only twice, so never kill the same one twice:
            # each worker must start another sandbox between two kills. Count sandboxes and choose
            # the victim in one snapshot: a sandbox that started between two snapshots would be
            # counted too late, and its notebook could be killed again.
            for worker, (tops, inside) in grader.boxes().items():
                seen.setdefault(worker, {}).update(dict.fromkeys(tops))
                if tops and len(seen[worker]) >= spared.get(worker, 0):
                    victim = chance.choice(inside)
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
        graded = grader.graded() + 1


# --- unreadable folders ---------------------------------------------------------------------------

LISTED = """
import json, sys
from pathlib import Path
from grading.intake.submissions import misplaced, submissions
found = {f"{one.student}/{one.exercise}": one.read()[2] for one in submissions(Path(sys.argv[1]))}
print(json.dumps([found, misplaced(Path(sys.argv[1]))]))
"""


@pytest.mark.long
def test_unreadable_folders_and_files_are_listed():
    """Read the folder as an unprivileged user, since root can read everything."""
    folder = Path(tempfile.mkdtemp(prefix="course-"))  # other users cannot read pytest's tmp_path
    submitted = folder / "submitted"
    for student in ("fine", "no-list", "no-entry", "no-folder", "no-file"):
        place = submitted / student / NAMES[0]
        place.mkdir(parents=True)
        (place / f"{NAMES[0]}.ipynb").write_text("{}")
    command = [sys.executable, "-c", LISTED, folder]
    if os.geteuid() == 0:
        subprocess.run(["chown", "-R", ORDINARY, folder], check=True)
        command = as_unprivileged_user(*command)
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
    finally:
        for path in closed:
            path.chmod(0o755)
        shutil.rmtree(folder)
    assert done.returncode == 0, done.stderr
    found, misplaced = json.loads(done.stdout)
    why = "the {} cannot be read (Permission denied)"
    assert found == {
        f"fine/{NAMES[0]}": "",
        f"no-file/{NAMES[0]}": why.format("file"),
        f"no-folder/{NAMES[0]}": why.format("folder"),
    }
    assert misplaced == [f"no-entry: {why.format('folder')}", f"no-list: {why.format('folder')}"]
