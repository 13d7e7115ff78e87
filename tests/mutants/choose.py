"""Which faults are tried, and which tests should notice them."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import mutate
from mutate import Mutant

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

# room → what is in it, and how many of 160 faults it gets
ROOMS = {
    "rooflib": (("rooflib/**/*.py",), 48),
    "catalogue": (("rooflib/*.toml",), 12),
    "check": (("kit/roofkit/check/**/*.py",), 30),
    "sandbox": (("grading/sandbox/**/*.py",), 20),
    "grading": (("grading/**/*.py",), 50),
}
NOT_TRIED = {
    "grading/parallel/preload.py": "it only makes workers start sooner",
    "grading/schema/misconceptions.py": "it holds sentences and no code",
}
# Where a number is a place or a size in a picture: another one looks a little different.
LAYOUT = {"rooflib/plots.py"}
# Start of a path → stages of tests, cheapest first. The longest start that fits counts. {stem} is
# the name of the file; a file of tests that is not there is left out.
RESUMED = "tests/grading/test_grading_resume.py"
SAME = "tests/grading/test_grading_same.py"
COURSE = "tests/grading/test_grading_course.py"
VALUES = "tests/grading/test_grading_values.py"
KERNEL = "tests/grading/test_grading_kernel.py"
STOCK = "tests/grading/test_stock_kernel.py"
HOSTILE = "tests/grading/test_hostile.py"
EXERCISES = "tests/exercises/test_exercises.py"
NO_BROWSER = "-k|not browser and not formgrader"
CLUSTER = "tests/grading/test_grading_cluster.py"
BOXES = "tests/sandbox/test_box_state.py tests/sandbox/test_boxes.py"
SANDBOX = ("tests/sandbox", KERNEL)
TESTS: dict[str, tuple[str, ...]] = {
    "rooflib/": ("tests/rooflib/test_{stem}.py", "tests/rooflib"),
    "rooflib/hardware.toml": ("tests/rooflib/test_catalogue.py", "tests/rooflib"),
    "kit/roofkit/check/": (
        "tests/kit/test_{stem}.py",
        f"tests/kit/test_hints.py tests/kit/test_check.py {EXERCISES}",
        VALUES,
    ),
    "kit/roofkit/check/plot_reading/": (
        "tests/kit/test_figures.py",
        f"tests/kit/test_check.py {EXERCISES}",
    ),
    "kit/roofkit/live/": ("tests/kit/test_live.py",),
    "kit/roofkit/figure/": ("tests/kit/test_live.py", "tests/kit/test_live_hands.py"),
    "kit/roofkit/pictures/": ("tests/kit/test_{stem}.py", "tests/kit/test_scene.py"),
    "kit/roofkit/pictures/roofline_picture.py": ("tests/kit/test_live.py",),
    "exercises/": (EXERCISES, VALUES),
    "grading/": (f"{COURSE} {SAME}", KERNEL, RESUMED, HOSTILE),
    "grading/__main__.py": (COURSE, f"{RESUMED} {CLUSTER}"),
    "grading/schema/": (EXERCISES, VALUES),
    "grading/release/": (f"tests/grading/test_release.py {EXERCISES}", VALUES, f"{COURSE} {SAME}"),
    "grading/judging/": ("tests/grading/test_{stem}.py", VALUES, KERNEL, SAME),
    "grading/limits.py": ("tests/grading/test_limits.py tests/grading/test_pool.py", HOSTILE),
    "grading/platforms/": (
        "tests/grading/test_platforms.py tests/grading/test_odd_downloads.py",
        "tests/grading/test_importers.py tests/grading/test_tables.py",
        "tests/grading/test_targets.py",
    ),
    "grading/execution/": (VALUES, KERNEL, HOSTILE),
    "grading/execution/outputs.py": ("tests/grading/test_{stem}.py", KERNEL),
    "grading/intake/": (
        "tests/grading/test_intake.py tests/grading/test_{stem}.py",
        COURSE,
        HOSTILE,
    ),
    "grading/records/": ("tests/grading/test_records.py", f"{COURSE} {SAME}", RESUMED),
    "grading/parallel/": ("tests/grading/test_pool.py", f"{RESUMED} {CLUSTER}"),
    "grading/parallel/dask_worker.py": (CLUSTER,),
    "grading/nbgrader_setup/": (
        "tests/grading/test_names.py",
        "tests/grading/test_nbgrader_steps.py",
        f"tests/grading/test_feedback.py {NO_BROWSER}",
        SAME,
        HOSTILE,
        "tests/grading/test_grading_nbgrader.py",
    ),
    "grading/reports/": (
        "tests/grading/test_clean.py",
        f"tests/grading/test_feedback.py {NO_BROWSER}",
        SAME,
    ),
    "grading/reports/rows.py": (f"tests/grading/test_report.py {NO_BROWSER}", COURSE),
    "grading/reports/overview.py": (f"tests/grading/test_report.py {NO_BROWSER}", COURSE),
    "grading/sandbox/": (BOXES, *SANDBOX),
    "grading/sandbox/cell_channel.py": ("tests/sandbox/test_{stem}.py", *SANDBOX),
    "grading/sandbox/inside/cells.py": ("tests/sandbox/test_{stem}.py", STOCK, *SANDBOX),
    "grading/sandbox/inside/output.py": (
        "tests/sandbox/test_cells.py tests/sandbox/test_cell_channel.py",
        STOCK,
        *SANDBOX,
    ),
    "grading/sandbox/inside/seccomp.py": (
        "tests/sandbox/test_filter.py",
        "tests/sandbox/test_refused_calls.py",
        *SANDBOX,
    ),
    "grading/sandbox/inside/calls.py": (
        "tests/sandbox/test_filter.py",
        "tests/sandbox/test_refused_calls.py",
        *SANDBOX,
    ),
    "grading/sandbox/inside/refusals.py": ("tests/sandbox/test_refused_calls.py", *SANDBOX),
}


@dataclass(frozen=True)
class Named:
    """A fault that somebody chose, with the reason; read from named.toml."""

    file: str
    before: str
    after: str
    why: str

    def mutant(self, source: str) -> Mutant:
        """Raises ValueError unless its text is there once."""
        found = source.count(self.before)
        if found != 1:
            raise ValueError(f"named.toml: {self.file} has {found} times «{self.before}», not once")
        start = len(source[: source.index(self.before)].encode())
        return Mutant(self.file, start, start + len(self.before.encode()), self.after, self.why)


@dataclass(frozen=True)
class Reviewed:
    """A survivor that was looked at; read from reviewed.toml, lines as they are printed.

    `equivalent`: the program does the same as before, so no test can notice; it is not drawn.
    """

    file: str
    before: str
    after: str
    why: str
    equivalent: bool = False


def read(file: str, root: Path = ROOT) -> str:
    return (root / file).read_text(encoding="utf-8")


def named() -> list[Named]:
    entries = tomllib.loads(read("named.toml", HERE)).get("mutant", [])
    return [Named(**entry) for entry in entries]


def reviewed() -> list[Reviewed]:
    entries = tomllib.loads(read("reviewed.toml", HERE)).get("survivor", [])
    return [Reviewed(**entry) for entry in entries]


def gone(entries: Iterable[Reviewed], root: Path = ROOT) -> list[Reviewed]:
    """Those whose line is no longer in their file."""
    return [one for one in entries if one.before not in _lines(one.file, root)]


def _lines(file: str, root: Path) -> str:
    return " ".join(read(file, root).split()) if (root / file).exists() else ""


def room_of(path: str) -> str:
    if path.endswith(".toml"):
        return "catalogue"
    starts = {"rooflib/": "rooflib", "kit/": "check", "grading/sandbox/": "sandbox"}
    return next((room for start, room in starts.items() if path.startswith(start)), "grading")


def files(room: str, root: Path = ROOT) -> list[str]:
    """The files of a room, sorted."""
    found = {path for pattern in ROOMS[room][0] for path in root.glob(pattern)}
    paths = sorted(path.relative_to(root).as_posix() for path in found)
    return [path for path in paths if room_of(path) == room and path not in NOT_TRIED]


def drawn(
    room: str, count: int, seed: int, known: Sequence[Reviewed] = (), root: Path = ROOT
) -> list[Mutant]:
    """Faults in `count` different lines of a room: the lines drawn evenly, then one fault each."""
    rng = random.Random(f"{seed} {room}")
    equivalent = {(one.file, one.before, one.after) for one in known if one.equivalent}
    sources = {path: read(path, root) for path in files(room, root)}
    places: dict[tuple[str, int], list[Mutant]] = {}
    for path, source in sources.items():
        for one in mutate.mutants(path, source):
            if one.how == "constant" and path in LAYOUT:
                continue
            places.setdefault((path, one.line(source)), []).append(one)
    chosen: list[Mutant] = []
    for path, line in rng.sample(sorted(places), len(places)):
        if len(chosen) == count:
            break
        there = places[path, line]
        for one in rng.sample(there, len(there)):
            if one.real(sources[path]) and (path, *one.shown(sources[path])) not in equivalent:
                chosen.append(one)
                break
    return chosen


def stages(path: str, root: Path = ROOT) -> list[tuple[str, ...]]:
    """pytest's arguments for the tests that should notice a fault in this file, stage by stage."""
    start = max((one for one in TESTS if path.startswith(one)), key=len)
    stem = Path(path).parent.name if Path(path).stem.startswith("__") else Path(path).stem
    found = []
    for stage in TESTS[start]:
        paths, _, rest = stage.format(stem=stem.lstrip("_")).partition("-k|")
        there = [one for one in dict.fromkeys(paths.split()) if (root / one).exists()]
        if there:
            found.append((*there, *(("-k", rest) if rest else ())))
    return found
