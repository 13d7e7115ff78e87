"""The command line: what `make release`, `make grade` and others run."""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from grading.files import Unable
from roofkit.words import ORIGINAL

# The functions below import what they need: importing nbgrader takes a second, which would delay
# --help and errors in the arguments.
WORDS: dict[str, dict[str, Any]] = {
    "exercise": {},
    "table": {"type": Path, "help": "a .csv, as the platform exports it"},
    "download": {"type": Path, "help": "the .zip of all submissions"},
    "target": {"type": Path, "help": "the file to write"},
    "when": {"nargs": "+", "help": "as 2026-11-30 23:59"},
}
BUILT = Path(__file__).resolve().parent.parent / "_build" / "course"
STOPPED = "stopped; finished work is kept, and the same command continues from there"
CLUSTER_MODULES = {"dask", "distributed", "psycopg"}  # from requirements-cluster.txt
INTERRUPTED = 130  # a shell's exit status after Ctrl-C
Run = Callable[[argparse.Namespace], list[str]]
MOST_MEMORY = "80%"  # of the machine, for the grading and all that it runs


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser().parse_args(arguments)
    if options.command == "grade" and arguments is None:
        limit_memory()
    try:
        from grading.course import errors_in_one_line

        with errors_in_one_line():
            print(*options.run(options), sep="\n")
    except Unable as unable:
        raise SystemExit(str(unable)) from None
    except ModuleNotFoundError as error:
        if error.name not in CLUSTER_MODULES:
            raise
        raise SystemExit(f"{error.name} is not installed: `make cluster` does it") from None
    except KeyboardInterrupt:
        print(f"\n{STOPPED}", file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None


def limit_memory() -> None:
    """Go on inside a systemd scope with a limit of memory, where there is systemd.

    It saves the machine from many notebooks that each take what one may have.
    """
    scope = ["systemd-run", "--user", "--scope", "--quiet", f"--property=MemoryMax={MOST_MEMORY}"]
    if os.environ.get("GRADING_SCOPE") or not shutil.which(scope[0]):
        return
    os.environ["GRADING_SCOPE"] = "1"
    if subprocess.run([*scope, "true"], capture_output=True, check=False).returncode == 0:
        os.execvp(scope[0], [*scope, sys.executable, "-m", "grading", *sys.argv[1:]])


def release(options: argparse.Namespace) -> list[str]:
    from grading.course import Course

    course = Course(options.course)
    languages = [code for code in options.language if code != ORIGINAL]
    course.release(options.exercise, languages)
    lines = [f"in {course.folder / 'release'}: {', '.join(course.names())}"]
    return lines + [f"in {code}: {course.folder / f'release-{code}'}" for code in languages]


def grade(options: argparse.Namespace) -> list[str]:
    from grading.course import Course

    course = Course(options.course)
    if not (course.folder / "submitted").is_dir():
        raise Unable(f"{course.folder / 'submitted'} is missing: no submissions to grade")
    if options.scheduler and options.workers:
        raise Unable("--workers counts notebooks on this machine; a scheduler has its own workers")
    unsafe = options.unsafe or os.environ.get("GRADING_UNSAFE") == "1"
    graded, lines = course.grade(options.workers, unsafe, options.scheduler, options.again)
    return [f"{graded} graded: what is new or has changed", *lines]


def week(options: argparse.Namespace) -> list[str]:
    """Run a command of `grading.week`, such as `collect`."""
    from grading import week
    from grading.course import Course

    course = Course(options.course)
    if not course.folder.exists():  # tell the user: the name may be mistyped
        print(f"{course.folder} is a new course folder")
    course.prepare()
    match options.command:
        case "roster":
            return week.roster(course, options.table)
        case "due":
            return week.due(course, options.exercise, " ".join(options.when), options.student)
        case "collect":
            return week.collect(course, options.exercise, options.download, options.replace)
        case "return":
            about = options.exercise, options.download, options.target
            return week.give_back(course, *about)
        case _:
            named = dict(options.column)
            return week.export(course, options.table, options.target, named, options.scale)


def nbgrader(options: argparse.Namespace) -> list[str]:
    """Run an nbgrader command in the course folder."""
    from grading.course import Course

    course = Course(options.course)
    if not (course.folder / "nbgrader_config.py").is_file():
        raise Unable(f"{course.folder} is no course folder: `make release COURSE=…` makes one")
    if {"generate_assignment", "formgrader"} & set(options.words):  # what reads source/
        course.write_sources()
    command = [Path(sys.executable).with_name("nbgrader"), *options.words]
    raise SystemExit(subprocess.call(command, cwd=course.folder))


def parser() -> argparse.ArgumentParser:
    whole = argparse.ArgumentParser(prog="make", description=__doc__)
    commands = whole.add_subparsers(dest="command", required=True)

    def add(name: str, does: str, places: str = "", run: Run = week) -> argparse.ArgumentParser:
        usage = f'make {name} COURSE=folder ARGS="{places}"'  # as the manual has it
        command = commands.add_parser(name, help=does, usage=usage)
        command.set_defaults(run=run)
        optional = {"nargs": "?", "default": BUILT} if run == release else {}
        command.add_argument("course", type=Path, **optional)  # type: ignore[arg-type]
        for place in places.split():
            command.add_argument(place, **WORDS[place])
        return command

    command = add("release", "write the exercises without solutions", run=release)
    command.add_argument("exercise", nargs="*", help="default: those released before, or else all")
    about = "also release in this language, such as zh_CN"
    command.add_argument("--language", metavar="CODE", action="append", default=[], help=about)
    command = add("grade", "grade what is in COURSE/submitted", run=grade)
    command.add_argument("--workers", type=count, help="notebooks at once; default: cores + 1")
    command.add_argument("--scheduler", metavar="tcp://HOST:PORT", default="", help="of Dask")
    about = "no sandbox: submitted code runs with all your rights"
    command.add_argument("--unsafe", action="store_true", help=about)
    whose = "STUDENT[/EXERCISE]"
    about = "grade even if unchanged"
    command.add_argument("--again", metavar=whose, action="append", default=[], help=about)
    command = add("nbgrader", "run nbgrader in COURSE", run=nbgrader)
    command.add_argument("words", nargs=argparse.REMAINDER)
    add("roster", "add the people in a table to the class", "table")
    command = add("due", "set a due date", "exercise when")
    command.add_argument("--student", default="", help="give an extension to one student")
    command = add("collect", "unpack a download from Moodle or Canvas", "exercise download")
    about = "replace different earlier submissions"
    command.add_argument("--replace", action="store_true", help=about)
    add("return", "zip feedback pages for the platform", "exercise download target")
    command = add("export", "fill the points into the platform's table", "table target")
    head = "EXERCISE=HEAD"
    command.add_argument("--column", metavar=head, type=column, action="append", default=[])
    about = "convert points to the platform's maximum"
    command.add_argument("--scale", action="store_true", help=about)
    return whole


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
