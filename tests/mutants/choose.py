"""Which faults are tried, and which tests should notice them."""

from __future__ import annotations

import functools
import random
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import mutate
from mutant import Mutant
from users import needs_site, users

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


class Area(NamedTuple):
    """A part of the code: the files it holds, and its weight when faults are drawn."""

    files: tuple[str, ...]
    share: int


# A file belongs to the first area whose patterns fit.
AREAS = {
    "catalog": Area(("rooflib/*.toml",), 8),
    "JavaScript": Area(("site/**/*.js", "site/**/*.cjs", "kit/**/*.js"), 26),
    "rooflib": Area(("rooflib/**/*.py",), 34),
    "roofmeter": Area(("kit/roofmeter/**/*.py",), 18),
    "checks": Area(("kit/roofkit/check/**/*.py",), 22),
    "figures": Area(("kit/roofkit/figures/**/*.py",), 22),
    "roofkit": Area(("kit/roofkit/**/*.py",), 6),
    "sandbox": Area(("grading/sandbox/**/*.py",), 14),
    "grading": Area(("grading/**/*.py",), 28),
    "site": Area(("site/**/*.py",), 22),
    "exercises": Area(("exercises/**/*.py",), 4),
}
NOT_TRIED = {
    "site/__main__.py": "every command of make runs through it",
    "grading/parallel/preload.py": "it only makes workers start sooner",
    "grading/parallel/preload_sandbox.py": "it only makes sandboxes start sooner",
    "site/browser/python/codemirror/codemirror.min.js": "it is made of other projects' code",
    "grading/schema/misconceptions.py": "it holds sentences and no code",
}
# Numbers in these files are positions and sizes: a fault only changes how a picture looks.
LAYOUT = {"rooflib/plots.py", "site/book_extension/preview_picture.py"}
# Placeholders for the test files that import the module or name the file: those that don't need the
# built site, and those that do.
USERS, SITE_USERS = "{users}", "{site_users}"
USING_FOLDERS = {"grading": ("grading",)}  # package → test folders searched; else OTHER_FOLDERS
OTHER_FOLDERS = ("book", "kit", "site", "meter", "locale")
RESUMED = "tests/grading/test_grading_resume.py"
WITH_LONG = "+long"  # a stage that contains this also runs the long tests of its files
# Folders for which the long tests of all stages run at the end, if no stage notices the fault.
ALSO_LONG = ("rooflib/", "kit/", "exercises/")
SAME = f"tests/grading/test_grading_same.py {WITH_LONG}"
COURSE = "tests/grading/test_grading_course.py"
VALUES = "tests/grading/test_grading_values.py"
KERNEL = "tests/grading/test_grading_kernel.py"
STOCK = f"tests/grading/test_stock_kernel.py {WITH_LONG}"
HOSTILE = "tests/grading/test_hostile.py"
EXERCISES = " ".join(
    f"tests/exercises/test_{what}.py"
    for what in ("reference", "cases", "misconceptions", "submissions", "slips")
)
TYPES = "tests/repository/test_types.py"
NO_BROWSER = "-k|not browser and not formgrader"
CLUSTER = "tests/grading/test_grading_cluster.py"
BOXES = "tests/sandbox/test_box_state.py tests/sandbox/test_boxes.py"
OWN_TIME = "tests/grading/test_own_time.py"
SECOND_RUN = "tests/grading/test_second_run.py"
WEEK = "tests/grading/test_week_check.py tests/grading/test_week_orders.py"
NAMESAKE = "tests/grading/test_{stem}.py"
SANDBOX = (f"tests/sandbox {WITH_LONG}", OWN_TIME, KERNEL)
LIVE = "tests/kit/test_live.py"
PAGES = "tests/site/test_page_python.py"
EXERCISE_PAGE = "tests/site/test_exercise_page.py"
LOOKS = "tests/site/test_looks.py"
# Tests that visit every page of the site, and pages of each kind in Chinese.
VISITS = "tests/site/test_site.py tests/locale/test_edition.py"
PDF = f"tests/site/test_pdf.py {WITH_LONG}"
SMALL_DECK = "tests/site/test_small_deck.py"
DECKS = "tests/site/test_slides.py tests/site/test_slides_languages.py"
VALIDATE = "tests/kit/test_validate_button.py"
LAB_PROSE = f"tests/site/test_lab_prose.py {VALIDATE}"
# Path prefix → stages of tests, cheapest first. The longest matching prefix wins. {stem} stands for
# the file's name without suffix; a test file of that name may be missing.
TESTS: dict[str, tuple[str, ...]] = {
    "rooflib/": ("tests/rooflib/test_{stem}.py", "tests/rooflib"),
    "kit/roofmeter/": (USERS, "tests/meter"),
    "kit/roofkit/": (USERS, SITE_USERS),
    "site/commands/translat": (
        f"tests/locale/test_catalogs.py {USERS}",
        "tests/locale/test_translated_site.py",
    ),
    "site/commands/languages/": (
        f"tests/locale/test_catalogs.py {USERS}",
        "tests/locale/test_translated_site.py",
    ),
    "kit/roofkit/notebook_language.py": (USERS, "tests/grading/test_languages.py"),
    "rooflib/hardware.toml": ("tests/rooflib/test_catalog.py", "tests/rooflib"),
    "kit/roofkit/check/": (
        "tests/kit/test_{stem}.py",
        "tests/kit/test_asking.py tests/kit/test_hints.py tests/kit/test_check.py "
        "tests/kit/test_check_words.py tests/kit/test_moral.py",
        EXERCISES,
        VALUES,
    ),
    "kit/roofkit/check/plot_reading/": (
        f"{USERS} tests/kit/test_figures.py",
        f"tests/kit/test_check.py {EXERCISES}",
    ),
    "kit/roofkit/figures/": (
        "tests/kit/test_approved_figures.py",
        f"tests/kit/test_{{stem}}.py {USERS}",
        "tests/kit/test_scene.py",
        LIVE,
    ),
    "kit/roofkit/figures/browser_roof": (
        "tests/kit/test_approved_figures.py",
        "tests/site/test_browser_roof.py",
        LIVE,
    ),
    "kit/roofkit/figures/engine/": (
        "tests/kit/test_approved_figures.py",
        f"tests/kit/test_{{stem}}.py {USERS}",
        "tests/kit/test_scene.py",
        "tests/kit/test_live_widget.py tests/kit/test_model_hands.py "
        "tests/kit/test_figure_languages.py -k|widget",
        f"{LIVE} tests/kit/test_live_hands.py",
        "tests/kit/test_byte_figure.py tests/kit/test_config_field.py",
        "tests/site/test_browser_roof.py -k|button or script",
        VISITS,
    ),
    "kit/roofkit/validate/": ("tests/kit/test_validate_words.py", VALIDATE),
    "kit/roofkit/validate/labextensions/roofkit-start/": ("tests/kit/test_start_page.py", VALIDATE),
    "exercises/": ("tests/exercises/test_{stem}.py", EXERCISES, VALUES),
    "grading/": (f"{COURSE} {SAME}", KERNEL, RESUMED, HOSTILE),
    "grading/allowed_modules.py": (f"{NAMESAKE} {WITH_LONG}", WEEK),
    "grading/course.py": (
        "tests/grading/test_records.py",
        f"{COURSE} {SAME}",
        RESUMED,
        WEEK,
        USERS,
        f"tests/grading/test_allowed_modules.py {WITH_LONG}",
    ),
    "grading/errors.py": ("tests/grading/test_importers.py", USERS),
    "grading/grade_notebook.py": (SECOND_RUN, f"tests/grading/test_opening.py {COURSE}", USERS),
    "grading/settings.py": (WEEK, COURSE, USERS),
    "grading/work.py": (f"{SAME} {COURSE}", USERS, HOSTILE),
    "grading/__main__.py": (
        "tests/grading/test_command_line.py",
        COURSE,
        "tests/grading/test_week_orders.py",
        USERS,
        f"{RESUMED} {CLUSTER}",
    ),
    "grading/schema/": (f"tests/grading/test_release.py {EXERCISES}", VALUES),
    "grading/release/": (
        f"{NAMESAKE} tests/grading/test_release.py",
        f"tests/grading/test_opening.py tests/grading/test_languages.py {EXERCISES}",
        VALUES,
        f"{COURSE} {SAME}",
        "tests/grading/test_showing.py",
    ),
    "grading/release/translation.py": ("tests/grading/test_languages.py",),
    "grading/judging/": (NAMESAKE, VALUES, USERS, KERNEL, SAME),
    "grading/limits.py": ("tests/grading/test_limits.py tests/grading/test_pool.py", HOSTILE),
    "grading/platforms/": (
        "tests/grading/test_platforms.py tests/grading/test_unusual_downloads.py",
        "tests/grading/test_importers.py tests/grading/test_tables.py",
        "tests/grading/test_targets.py tests/grading/test_week_check.py",
        USERS,
    ),
    "grading/execution/": (
        f"{NAMESAKE} tests/grading/test_notebook_run.py",
        VALUES,
        SECOND_RUN,
        KERNEL,
        USERS,
        HOSTILE,
    ),
    "grading/execution/time_limits.py": (VALUES, "tests/kit/test_call_limit.py", KERNEL, USERS),
    "grading/execution/outputs.py": (NAMESAKE, KERNEL, OWN_TIME),
    "grading/intake/": (
        f"tests/grading/test_intake.py {NAMESAKE}",
        "tests/grading/test_moved_cells.py tests/grading/test_opening.py",
        USERS,
        COURSE,
        HOSTILE,
    ),
    "grading/intake/copies.py": ("tests/grading/test_intake.py", f"{NAMESAKE} {WITH_LONG}", COURSE),
    "grading/records/": ("tests/grading/test_records.py", f"{COURSE} {SAME}", RESUMED),
    "grading/records/gradebook.py": ("tests/grading/test_records.py", WEEK, COURSE),
    "grading/records/seed.py": ("tests/grading/test_records.py", "tests/grading/test_targets.py"),
    "grading/parallel/": (
        f"tests/grading/test_pool.py {WITH_LONG}",
        "tests/grading/test_one_line.py",
        f"{RESUMED} {CLUSTER}",
        OWN_TIME,
    ),
    "grading/parallel/dask_worker.py": (f"{CLUSTER} {WITH_LONG}",),
    "grading/nbgrader_setup/": (
        "tests/grading/test_names.py",
        "tests/grading/test_nbgrader_steps.py",
        f"tests/grading/test_feedback.py {NO_BROWSER}",
        SAME,
        HOSTILE,
        "tests/grading/test_grading_nbgrader.py",
    ),
    "grading/nbgrader_setup/exchange.py": (
        "tests/grading/test_names.py tests/grading/test_exchange.py",
        HOSTILE,
    ),
    "grading/reports/": (
        "tests/grading/test_clean.py",
        "tests/grading/test_languages.py",
        f"tests/grading/test_feedback.py {NO_BROWSER}",
        SAME,
    ),
    "grading/reports/similarity.py": (NAMESAKE, COURSE),
    "grading/reports/rows.py": (f"tests/grading/test_report.py {NO_BROWSER}", COURSE),
    "grading/reports/overview.py": (f"tests/grading/test_report.py {NO_BROWSER}", COURSE),
    "grading/sandbox/": ("tests/sandbox/test_{stem}.py", BOXES, *SANDBOX),
    "grading/sandbox/modules.py": ("tests/grading/test_allowed_modules.py", *SANDBOX),
    "grading/sandbox/cell_channel.py": ("tests/sandbox/test_{stem}.py", *SANDBOX),
    "grading/sandbox/inside/cells.py": ("tests/sandbox/test_{stem}.py", STOCK, *SANDBOX),
    "grading/sandbox/inside/output.py": (
        "tests/sandbox/test_output_limits.py tests/sandbox/test_cell_channel.py",
        "tests/sandbox/test_cells.py",
        f"{STOCK} {OWN_TIME}",
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
    "grading/sandbox/inside/missing.py": ("tests/grading/test_missing_modules.py", *SANDBOX),
    "grading/sandbox/inside/refusals.py": ("tests/sandbox/test_refused_calls.py", *SANDBOX),
    "site/book_extension/": (
        f"{USERS} tests/site/test_extension.py",
        # These tests build small books: most faults that stop a build show without the whole site.
        "tests/locale/test_translated_site.py tests/book/test_book.py",
        f"{SITE_USERS} {LOOKS}",
        "tests/site/test_site.py",
    ),
    "site/book_extension/languages/": (
        "tests/locale/test_{stem}.py tests/locale/test_catalogs.py",
        "tests/grading/test_languages.py -k|texts_of_a_notebook",
        USERS,
        "tests/locale/test_translated_site.py",
        f"{SITE_USERS} tests/locale/test_chinese_values.py",
    ),
    "site/book_extension/page_download.py": (
        "tests/site/test_extension.py",
        USERS,
        SITE_USERS,
        "tests/book/test_notebooks.py",
    ),
    "site/book_extension/publishing/": ("tests/site/test_publishing.py",),
    "site/browser/figures/": (
        f"{USERS} tests/kit/test_scene.py {LIVE}",
        "tests/kit/test_live_hands.py",
    ),
    "site/browser/guesses/": (
        "tests/site/test_guess_forms.py",
        "tests/site/test_guesses.py",
        VISITS,
    ),
    "site/browser/menu/": ("tests/site/test_publishing.py", VISITS),
    "site/browser/ways/": ("tests/site/test_ways.py", VISITS),
    "site/browser/pyodide/": ("tests/site/test_pyodide_files.py", USERS),
    "site/browser/python/": (
        f"tests/site/test_{{stem}}.py {USERS}",
        SITE_USERS,
        f"{PAGES} {EXERCISE_PAGE} tests/site/test_page_blocks.py",
        f"tests/site/test_warm_start.py tests/site/test_panel.py {VISITS}",
    ),
    "site/browser/reading/": (
        USERS,
        f"{SITE_USERS} {LOOKS}",
        "tests/site/test_site.py",
        "tests/locale/test_edition.py -k|printed",
    ),
    "site/browser/roof/": ("tests/site/test_browser_roof.py", VISITS),
    "site/browser/search/": (USERS, f"{SITE_USERS} {LOOKS}", VISITS),
    "site/browser/terms/": (LOOKS, "tests/site/test_site.py"),
    "site/commands/": (USERS, SITE_USERS),
    "site/commands/binder.py": ("tests/repository/test_workflows.py",),
    "site/commands/build.py": (USERS, "tests/book/test_book.py", SITE_USERS),
    "site/commands/environment.py": (
        "tests/repository/test_commands.py -k|lock or python or step or binder",
        USERS,
        "tests/repository/test_workflows.py",
    ),
    "site/commands/executed_pages.py": ("tests/site/test_executed_pages.py", USERS, SITE_USERS),
    "site/commands/forked_kernels.py": (f"tests/site/test_forked_kernels.py {WITH_LONG}",),
    "site/commands/jupyterlab/": (
        f"{USERS} tests/site/test_markdown_writer.py",
        f"{SITE_USERS} tests/book/test_notebooks.py {LAB_PROSE}",
    ),
    "site/commands/jupyterlab/labextensions/": ("tests/site/test_course_values.py", LAB_PROSE),
    "site/commands/jupyterlab/start_page.py": ("tests/site/test_lab.py", VALIDATE),
    "site/commands/pdf.py": (PDF,),
    "site/commands/printing/": (PDF,),
    "site/commands/pyodide.py": ("tests/site/test_pyodide_files.py",),
    "site/commands/serve.py": ("tests/repository/test_commands.py -k|serve or port",),
    "site/commands/slides.py": (SMALL_DECK, f"{DECKS} {WITH_LONG}"),
    "site/slides_extension/": (SMALL_DECK, DECKS),
}


@dataclass(frozen=True)
class Named:
    """A fault that a person chose, with the reason; read from named.toml."""

    file: str
    before: str
    after: str
    why: str

    def mutant(self, source: str) -> Mutant:
        """Return the mutant; raise ValueError unless `before` occurs once in `source`."""
        found = source.count(self.before)
        if found != 1:
            raise ValueError(f"named.toml: {self.file} has {found} times «{self.before}», not once")
        start = len(source[: source.index(self.before)].encode())
        return Mutant(self.file, start, start + len(self.before.encode()), self.after, self.why)


@dataclass(frozen=True)
class Reviewed:
    """A survivor in reviewed.toml that a person looked at.

    `before` and `after` are lines as they are printed.

    `equivalent`: the program does the same as before, so no test can notice, and it isn't drawn.
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
    """Return the survivors whose line is no longer in their file."""
    return [one for one in entries if one.before not in _lines(one.file, root)]


def _lines(file: str, root: Path) -> str:
    return " ".join(read(file, root).split()) if (root / file).exists() else ""


@functools.cache
def areas(root: Path = ROOT) -> dict[str, list[str]]:
    """Return area → the files in which faults are drawn, sorted."""
    return {
        name: [path for path in paths if path not in NOT_TRIED]
        for name, paths in _all_files(root).items()
    }


@functools.cache
def _all_files(root: Path) -> dict[str, list[str]]:
    """Return all files of each area, sorted: named faults may be in any of them."""
    found: dict[str, list[str]] = {}
    taken: set[str] = set()
    for name, area in AREAS.items():
        paths = {
            path for pattern in area.files for path in root.glob(pattern) if path.stat().st_size
        }
        found[name] = sorted({path.relative_to(root).as_posix() for path in paths} - taken)
        taken |= set(found[name])
    return found


def area_of(path: str) -> str:
    """Return the area of a file."""
    return next(name for name, paths in _all_files(ROOT).items() if path in paths)


def drawn(
    area: str, count: int, seed: int, known: Sequence[Reviewed] = (), root: Path = ROOT
) -> list[Mutant]:
    """Return one fault in each of `count` random lines of an area.

    Each line is equally likely.
    """
    rng = random.Random(f"{seed} {area}")
    equivalent = {(one.file, one.before, one.after) for one in known if one.equivalent}
    sources = {path: read(path, root) for path in areas(root)[area]}
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


def shares(count: int) -> dict[str, int]:
    """Return how many of `count` faults each area gets."""
    total = sum(area.share for area in AREAS.values())
    return {name: round(count * area.share / total) for name, area in AREAS.items()}


@functools.cache
def stages(path: str, root: Path = ROOT) -> tuple[tuple[str, ...], ...]:
    """Return pytest's arguments for a file's tests, in stages.

    These tests should notice a fault in the file.
    """
    start = max((one for one in TESTS if path.startswith(one)), key=len)
    found = []
    seen: dict[str, None] = {}
    for stage in TESTS[start]:
        words, _, chosen = stage.partition("-k|")
        files = [word for word in words.split() if word != WITH_LONG]
        tests = [test for word in files for test in _tests(word, path, root)]
        new = tuple(dict.fromkeys(test for test in tests if test not in seen))
        seen |= dict.fromkeys(new)
        if new:
            options = ("-k", chosen) if chosen else ()
            options += ("-m", "long or not long") if WITH_LONG in words else ()
            found.append((*new, *options))
    # The type checker comes last, since it notices few faults.
    if path.endswith(".py") and not path.startswith("exercises/"):
        found.append((TYPES,))
    if path.startswith(ALSO_LONG) and not path.endswith(".js"):
        found.append((*seen, "-m", "long"))
    return tuple(found)


def needs_built_site(path: str, root: Path = ROOT) -> bool:
    """Return whether any test meant to kill this file's mutants needs the built site."""
    files = [word for stage in stages(path, root) for word in stage if word.endswith(".py")]
    return any(needs_site(file, root) for file in files)


def _tests(word: str, path: str, root: Path) -> list[str]:
    """Return the test files or folders that a word in a stage stands for."""
    if word in (USERS, SITE_USERS):
        found = users(path, USING_FOLDERS.get(path.split("/")[0], OTHER_FOLDERS), root)
        return [test for test in found if needs_site(test, root) == (word == SITE_USERS)]
    if "{stem}" not in word:
        return [word]
    stem = Path(path).parent.name if Path(path).stem.startswith("__") else Path(path).stem
    test = word.format(stem=stem.lstrip("_").replace("-", "_"))
    return [test] if (root / test).exists() else []
