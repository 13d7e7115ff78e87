"""`make bench`: times of rooflib and of grading, as ratios within one run.

    python tests/bench [students]

rooflib is compared with the same formulas in numpy, grading with stock nbgrader, which runs the
same notebooks one after the other. Both alternate or follow each other on the same machine, so
that only their ratio says something; a ratio beyond its limit ends with status 1.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from classroom import Classroom
from nbgrader.api import Gradebook
from repository import ROOT

import rooflib as rl
from grading.release import exercises

ROUNDS, POINTS, STUDENTS = 15, 10**6, 10


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def ratio(ours: Callable[[], object], theirs: Callable[[], object]) -> float:
    """Return our time over theirs, each the least of rounds that alternate."""
    times = [(seconds(ours), seconds(theirs)) for _ in range(ROUNDS)]
    return min(our for our, _ in times) / min(their for _, their in times)


def sweep() -> float:
    """Return rooflib's time for a million matmuls over that of their formula in numpy."""
    chip, random = rl.chip("TPU v5e"), np.random.default_rng(0)
    B, D, F = (random.integers(1, 2**14, POINTS).astype(float) for _ in range(3))

    def by_hand() -> np.ndarray:
        flops, moved = 2 * B * D * F, 2 * B * D + 2 * D * F + 2 * B * F
        return flops / np.maximum(flops / chip["bf16"], moved / chip["HBM"])

    def rooflib() -> np.ndarray:
        return rl.matmul(B, D, F).on(chip).attained

    np.testing.assert_allclose(rooflib(), by_hand())
    return ratio(rooflib, by_hand)


def batches() -> float:
    """Return the time for a model's step at 1,000 batch sizes over that at one."""
    model, chip, many = rl.model("DeepSeek-V3"), rl.chip("H200 SXM"), np.arange(1, 1001)

    def step(B: object) -> object:
        return [part.on(chip) for part in model.decode(B, 8192).parts]

    return ratio(lambda: step(many), lambda: step(64))


def importing() -> float:
    """Return the time of `import rooflib` over that of `import numpy`, which it needs."""
    code = (
        "import time; a = time.perf_counter(); import numpy; b = time.perf_counter(); "
        "import rooflib; print((time.perf_counter() - b) / (b - a))"
    )
    runs = [subprocess.check_output([sys.executable, "-c", code]) for _ in range(ROUNDS)]
    return statistics.median(map(float, runs))


def grading(students: int) -> float:
    """Return the time in which a class is graded over that of stock nbgrader."""
    names = exercises.names()
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        rooms = [Classroom(Path(scratch, each)) for each in ("ours", "stock")]
        for room in rooms:
            command = [sys.executable, "-m", "grading", "release", str(room.folder)]
            subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
            for name in names:
                solved = room.solved(name)
                for number in range(students):
                    room.hand_in(f"student-{number:03}", name, solved)
        ours, stock = rooms
        settings = f"""c = get_config()
c.CourseDirectory.course_id = "roofline"
c.CourseDirectory.source_directory = {str(exercises.FOLDER)!r}
"""
        (stock.folder / "nbgrader_config.py").write_text(settings, encoding="utf-8")
        grade = [sys.executable, "-m", "grading", "grade", str(ours.folder)]
        our = seconds(lambda: subprocess.run(grade, cwd=ROOT, check=True, capture_output=True))
        binaries = Path(sys.executable).parent
        paths = os.environ | {"PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}"}

        def nbgrader() -> None:
            for name in names:
                command = [str(binaries / "nbgrader"), "autograde", name]
                subprocess.run(
                    command, cwd=stock.folder, env=paths, check=True, capture_output=True
                )

        their = seconds(nbgrader)
        if points(ours.folder) != points(stock.folder):
            raise SystemExit("grading and stock nbgrader give other points")
    return our / their


def points(folder: Path) -> dict[tuple[str, str], float]:
    """Return (student, exercise) → points in the gradebook."""
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}", course_id="roofline") as gradebook:
        return {
            (submission.student.id, assignment.name): submission.score
            for assignment in gradebook.assignments
            for submission in assignment.submissions
        }


def main(students: int = STUDENTS) -> int:
    slow = False
    for what, found, limit in [
        ("a sweep of a million points, over numpy", sweep, 1.5),
        ("1,000 batch sizes of a model, over one", batches, 2),
        ("import rooflib, over import numpy", importing, 1),
        (f"grading {students} students, over stock nbgrader", lambda: grading(students), 0.5),
    ]:
        value = found()
        slow |= value > limit
        print(f"{what:<50}{value:8.2f}  (at most {limit})", flush=True)
    return int(slow)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
