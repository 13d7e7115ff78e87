"""The command line: what `make release`, `make grade` and others run."""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grading.files import Unable

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
MOST_MEMORY = "80%"  # of the machine, for the grading and all that it runs


def main(arguments: Sequence[str] | None = None) -> None:
    options = vars(parser().parse_args(arguments))
    command = options.pop("command")
    if command == "grade" and arguments is None:
        limit_memory()
    try:
        # Importing nbgrader takes a second, which would delay --help and errors in the arguments.
        from grading import commands
        from grading.course import errors_in_one_line

        with errors_in_one_line():
            print(*commands.run(command, **options), sep="\n")
    except Unable as unable:
        raise SystemExit(str(unable)) from None
    except ModuleNotFoundError as error:
        if error.name not in CLUSTER_MODULES:
            raise
        raise SystemExit(f"{error.name} is not installed: `make cluster` does it") from None
    except KeyboardInterrupt:
        print(f"\n{STOPPED}", file=sys.stderr, flush=True)
        os._exit(INTERRUPTED)  # a kill does no harm, and sandboxes end with this process


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


def parser() -> argparse.ArgumentParser:
    whole = argparse.ArgumentParser(prog="make", description=__doc__)
    commands = whole.add_subparsers(dest="command", required=True)

    def add(name: str, does: str, places: str = "", **course: Any) -> argparse.ArgumentParser:
        usage = f'make {name} COURSE=folder ARGS="{places}"'  # as the manual has it
        command = commands.add_parser(name, help=does, usage=usage)
        command.add_argument("course", type=Path, **course)
        for place in places.split():
            command.add_argument(place, **WORDS[place])
        return command

    command = add("release", "write the exercises without solutions", nargs="?", default=BUILT)
    command.add_argument("exercise", nargs="*", help="default: those released before, or else all")
    about = "also release in this language, such as zh_CN"
    command.add_argument("--language", metavar="CODE", action="append", default=[], help=about)
    command = add("grade", "grade what is in COURSE/submitted")
    command.add_argument("--workers", type=count, help="notebooks at once; default: cores + 1")
    command.add_argument("--scheduler", metavar="tcp://HOST:PORT", default="", help="of Dask")
    command = add("nbgrader", "run nbgrader in COURSE")
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
