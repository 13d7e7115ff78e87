"""The command line: ``python -m grading release``, ``grade COURSE`` and others."""

import argparse
import gc
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from grading.allowed_modules import CannotAllow, allow, modules_folder
from grading.errors import Unable
from grading.execution.time_limits import TIME_LIMITS
from grading.parallel import pool
from grading.sandbox import modules
from grading.sandbox.box import accepted
from roofkit.words import ORIGINAL

# The functions below import what they need: importing nbgrader takes a second, which would delay
# --help, errors in the arguments, and the start of the fork server.
BUILT = Path(__file__).resolve().parent.parent / "_build" / "course"
STOPPED = "stopped; finished work is kept, and the same command continues from there"
CLUSTER_MODULES = {"dask", "distributed", "psycopg"}  # from requirements-cluster.txt
INTERRUPTED = 130  # a shell's exit status after Ctrl-C


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser().parse_args(arguments)
    try:
        if options.command == "grade":
            _allow(options)
        if options.command == "grade" and not options.cluster:
            # Create the backend first: its fork server starts up while this process imports.
            options.backend = pool.Local(options.workers, not (options.unsafe or accepted()))
        # Imports create little garbage: disable collection during them, and exempt their objects
        # from later collections.
        gc.disable()
        from grading.course import errors_in_one_line

        gc.freeze()
        gc.enable()
        try:
            with errors_in_one_line():
                options.run(options)
        except Unable as unable:
            raise SystemExit(str(unable)) from None
        except ModuleNotFoundError as error:
            if error.name not in CLUSTER_MODULES:
                raise
            raise SystemExit(f"{error.name} is not installed: `make cluster` does it") from None
    except KeyboardInterrupt:
        print(f"\n{STOPPED}", file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None


def _allow(options: argparse.Namespace) -> None:
    """Install the packages named with --allow, before the fork server starts.

    The fork server mounts them in sandboxes.
    """
    if options.allow:
        try:
            for line in allow(options.course.resolve(), options.allow):
                print(line, flush=True)
        except CannotAllow as error:
            raise SystemExit(str(error)) from None
    modules.use(modules_folder(options.course.resolve()))


def release(options: argparse.Namespace) -> None:
    from grading.course import Course

    course = Course(options.course)
    languages = [code for code in options.language if code != ORIGINAL]
    course.release(languages=languages)
    print(f"released into {course.folder / 'release'}")
    for code in languages:
        print(f"in {code}: {course.folder / f'release-{code}'}")


def grade(options: argparse.Namespace) -> None:
    from grading import sandbox
    from grading.course import Course
    from grading.reports import overview

    course = Course(options.course)
    if options.again:
        from grading.platforms import week

        week.again(course, options.again)
    if not (course.folder / "submitted").is_dir():
        raise Unable(f"{course.folder / 'submitted'} is missing: no submissions to grade")
    backend = pool.Cluster(options.cluster) if options.cluster else options.backend
    limits = replace(TIME_LIMITS, notebook=options.notebook_seconds or TIME_LIMITS.notebook)
    graded = course.grade(backend, options.unsafe or sandbox.accepted(), limits)
    print(f"{graded} graded; the others have not changed since they were graded")
    lines = overview.write(course)
    print(*lines, f"grades: {course.folder / 'grades.csv'}", sep="\n")


def before_and_after(options: argparse.Namespace) -> None:
    """Run a command of `platforms.week`, such as `collect`, and print its report."""
    from grading.course import Course
    from grading.platforms import week

    course = Course(options.course)
    if not course.folder.exists():  # tell the user: the name may be mistyped
        print(f"{course.folder} is a new course folder")
    course.prepare()
    match options.command:
        case "roster":
            lines = week.roster(course, options.table)
        case "due":
            lines = week.due(course, options.exercise, options.when, options.student)
        case "collect":
            lines = week.collect(course, options.exercise, options.download, options.replace)
        case "exchange":
            lines = week.exchange(course, options.folder)
        case "return":
            about = options.exercise, options.download, options.target
            lines = week.give_back(course, *about)
        case _:
            lines = week.export(course, options.table, options.target, dict(options.column))
    print(*lines, sep="\n")


def check(options: argparse.Namespace) -> None:
    from grading.platforms import check

    lines, summary = check.check(options.course)
    print(*lines, summary, sep="\n")
    if lines:
        raise SystemExit(1)


def nbgrader(options: argparse.Namespace) -> None:
    """Run an nbgrader command in the course folder.

    This environment comes first on the command's PATH.
    """
    from grading.course import Course
    from grading.records.gradebook import tools_on_path

    course = Course(options.course)
    course.prepare()
    if (course.folder / "gradebook.db").is_file():
        course.gradebook().close()  # repairs the gradebook if a command was interrupted
    if {"generate_assignment", "formgrader"} & set(options.words):  # what reads source/
        course.write_sources()
    command = [Path(sys.executable).with_name("nbgrader"), *options.words]
    with tools_on_path():
        raise SystemExit(subprocess.call(command, cwd=course.folder))


def worker(options: argparse.Namespace) -> None:
    from grading.parallel.dask_worker import serve

    serve(options.address, options.workers or len(os.sched_getaffinity(0)))


def parser() -> argparse.ArgumentParser:
    whole = argparse.ArgumentParser(prog="python -m grading", description=__doc__)
    commands = whole.add_subparsers(dest="command", required=True)
    command = commands.add_parser("release", help="write the exercises without solutions")
    command.add_argument("course", nargs="?", default=BUILT)
    command.add_argument(
        "--language",
        metavar="CODE",
        action="append",
        default=[],
        help="also release in this language, such as zh_CN",
    )
    command.set_defaults(run=release)
    command = commands.add_parser("grade", help="grade what is in COURSE/submitted")
    command.add_argument("course", type=Path)
    command.add_argument("--workers", type=count, help="processes; default: cores + 1")
    command.add_argument("--cluster", metavar="tcp://HOST:PORT", help="a Dask scheduler")
    command.add_argument(
        "--unsafe", action="store_true", help="no sandbox: submitted code runs with all your rights"
    )
    command.add_argument(
        "--notebook-seconds",
        type=count,
        help=f"wall-clock limit of one notebook; default: {TIME_LIMITS.notebook:g}",
    )
    command.add_argument(
        "--again", metavar="STUDENT[/EXERCISE]", action="append", help="grade even if unchanged"
    )
    command.add_argument(
        "--allow",
        metavar="PACKAGE",
        action="append",
        help="install it permanently for this class, so that notebooks can import it",
    )
    command.set_defaults(run=grade)
    _add_week(commands)
    command = commands.add_parser("check", help="list what to fix before grading; changes nothing")
    command.add_argument("course", type=Path)
    command.set_defaults(run=check)
    command = commands.add_parser("nbgrader", help="run nbgrader in COURSE")
    command.add_argument("course")
    command.add_argument("words", nargs=argparse.REMAINDER)
    command.set_defaults(run=nbgrader)
    command = commands.add_parser("worker", help="work for a Dask scheduler")
    command.add_argument("address", metavar="tcp://HOST:PORT")
    command.add_argument("--workers", type=count, help="processes; default: one for each core")
    command.set_defaults(run=worker)
    return whole


def _add_week(commands: Any) -> None:
    """Add the parsers of the commands for the work before and after grading."""
    words: dict[str, dict[str, Any]] = {
        "course": {"type": Path},
        "exercise": {},
        "table": {"type": Path, "help": "a .csv, as the platform exports it"},
        "download": {"type": Path, "help": "the .zip of all submissions"},
        "target": {"type": Path, "help": "the file to write"},
        "folder": {"type": Path, "help": "outside the course folder, writable by everybody"},
        "when": {"help": "as '2026-11-30 23:59'"},
    }
    more: dict[str, tuple[str, dict[str, Any]]] = {
        "due": ("--student", {"default": "", "help": "give an extension to one student"}),
        "collect": (
            "--replace",
            {"action": "store_true", "help": "replace different earlier submissions"},
        ),
        "export": (
            "--column",
            {"metavar": "EXERCISE=HEAD", "type": column, "action": "append", "default": []},
        ),
    }
    for name, places, does in (
        ("roster", "course table", "add the people in a table to the class"),
        ("due", "course exercise when", "set a due date"),
        ("collect", "course exercise download", "unpack a download from Moodle or Canvas"),
        ("exchange", "course folder", "set up nbgrader's exchange folder"),
        ("return", "course exercise download target", "zip feedback pages for the platform"),
        ("export", "course table target", "fill the points into the platform's table"),
    ):
        command = commands.add_parser(name, help=does)
        for place in places.split():
            command.add_argument(place, **words[place])
        command.set_defaults(run=before_and_after)
        if name in more:
            option, about = more[name]
            command.add_argument(option, **about)


def column(text: str) -> tuple[str, str]:
    exercise, _, head = text.partition("=")
    if not (exercise and head):
        raise argparse.ArgumentTypeError(f"{text!r}: write EXERCISE=HEAD, as int8-matmul=Grade")
    return exercise, head


def count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text}: at least 1 is needed")
    return number


if __name__ == "__main__":
    main()
