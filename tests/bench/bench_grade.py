"""`make bench-grade`: comparison of the sandbox with stock nbgrader for a class.

The class hands in the library of submissions: right and wrong ones, written in several ways. Stock
nbgrader runs the same notebooks with default settings, one after the other, and gives points for
the checks in them.

    python tests/bench/bench_grade.py [students to compare with] [class sizes for scaling, ...]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from itertools import cycle, islice
from pathlib import Path

import psutil
from classroom import Classroom, said
from submissions import submissions

from grading.release import exercises

ROOT = Path(__file__).resolve().parents[2]
MIN_SPEEDUP = 10
COMPARISON, GROWTH = 40, (10, 40, 160)
POLL_SECONDS = 0.25
WARNS = "right_noisy"  # submission left out, since stock nbgrader counts warnings as a failure
STOCK = """\
c = get_config()
c.CourseDirectory.course_id = "roofline"
c.CourseDirectory.source_directory = {source!r}
"""


def hand_in(folder, students):
    """Create a course in which this many students have handed in all exercises."""
    room = Classroom(folder)
    said(room.run("release"))
    for name in exercises.names():
        library = [room.solved(name, one.name) for one in submissions(name) if one.name != WARNS]
        for number, notebook in enumerate(islice(cycle(library), students)):
            room.hand_in(f"student-{number:03}", name, notebook)
    return room


def ours(folder, students, *options):
    """Time `make grade` on a new course; return (seconds, peak memory in MB, points)."""
    room = hand_in(folder, students)
    command = [sys.executable, "-m", "grading", "grade", str(room.folder), *options]
    seconds, memory = measured([command], ROOT)
    return seconds, memory, points(room)


def stock(folder, students):
    """Time `nbgrader autograde`; return (seconds, peak memory in MB, points)."""
    room = hand_in(folder, students)
    settings = STOCK.format(source=str(exercises.FOLDER))
    (room.folder / "nbgrader_config.py").write_text(settings, encoding="utf-8")
    binary = str(Path(sys.executable).parent / "nbgrader")
    commands = [[binary, "autograde", name] for name in exercises.names()]
    seconds, memory = measured(commands, room.folder)
    return seconds, memory, points(room)


def measured(commands, folder):
    """Run commands one after another; return (seconds, peak memory in MB).

    The memory is that of all processes together.
    """
    paths = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    most, done = 0, threading.Event()

    def look():
        nonlocal most
        while not done.wait(POLL_SECONDS):
            most = max(most, sum(map(memory_bytes, psutil.Process().children(recursive=True))))

    watcher = threading.Thread(target=look)
    watcher.start()
    start = time.monotonic()
    try:
        for command in commands:
            run = subprocess.run(
                command,
                cwd=folder,
                env=os.environ | {"PATH": paths},
                capture_output=True,
                text=True,
                check=False,
            )
            if run.returncode:
                raise SystemExit(f"{' '.join(command)}:\n{run.stderr[-2000:]}")
        return time.monotonic() - start, most / 1e6
    finally:
        done.set()
        watcher.join()


def memory_bytes(process):
    """Return a process's memory in bytes, as its proportional set size (PSS)."""
    try:
        return process.memory_full_info().pss
    except psutil.Error:
        return 0  # the process has just ended


def points(room):
    """Return (student, exercise) → points in the gradebook."""
    with room.gradebook() as gradebook:
        return {
            (submission.student.id, assignment.name): submission.score
            for assignment in gradebook.assignments
            for submission in assignment.submissions
        }


def main(comparison=COMPARISON, *growth):
    cores = len(os.sched_getaffinity(0))
    print(f"{cores} cores, {len(exercises.names())} exercises each; seconds, and most memory in MB")
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:

        def row(what, measure, students, *options):
            folder = Path(scratch, what.replace(" ", "-"))
            taken, memory, found = measure(folder, students, *options)
            print(f"{what:<34}{taken:8.1f}{memory:8.0f}", flush=True)
            return taken, found

        for students in growth or GROWTH:
            row(f"{students} students", ours, students)
        for workers in ("1", "2"):
            row(
                f"{comparison} students, --workers {workers}",
                ours,
                comparison,
                "--workers",
                workers,
            )
        seconds, right = row(f"{comparison} students once more", ours, comparison)
        theirs, stocks = row(f"{comparison} students, stock nbgrader", stock, comparison)
    print(f"{theirs / seconds:.1f} times as fast as stock nbgrader (at least {MIN_SPEEDUP})")
    other = [
        f"{place}: {right[place]:g}, {stocks[place]:g}"
        for place in right
        if right[place] != stocks[place]
    ]
    print("the same points for everybody" if not other else "\n".join(["other points:", *other]))
    return int(theirs < MIN_SPEEDUP * seconds or bool(other))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
