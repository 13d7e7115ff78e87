"""``python -m grading release [COURSE]``, ``grade COURSE`` and ``worker ADDRESS``."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from grading.parallel import pool

BUILT = Path(__file__).resolve().parent.parent / "_build" / "course"


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser().parse_args(arguments)
    if options.command == "grade" and not options.cluster:
        options.backend = pool.Local(options.workers)  # it starts up while this process imports
    from grading.work import Unable

    try:
        options.run(options)
    except Unable as unable:
        raise SystemExit(str(unable)) from None


def release(options: argparse.Namespace) -> None:
    from grading.course import Course

    course = Course(options.course)
    course.release()
    print(f"released into {course.folder / 'release'}")


def grade(options: argparse.Namespace) -> None:
    from grading import sandbox
    from grading.course import Course, errors_in_one_line
    from grading.reports import overview
    from grading.work import Unable

    course = Course(options.course)
    if not (course.folder / "submitted").is_dir():
        raise Unable(f"{course.folder / 'submitted'} is missing: no submissions to grade")
    backend = pool.Cluster(options.cluster) if options.cluster else options.backend
    graded = course.grade(backend, unsafe=options.unsafe or sandbox.accepted())
    print(f"{graded} graded; the others have not changed since they were graded")
    with errors_in_one_line():
        lines = overview.write(course)
    print(*lines, f"grades: {course.folder / 'grades.csv'}", sep="\n")


def worker(options: argparse.Namespace) -> None:
    from grading.parallel.dask_worker import serve

    serve(options.address, options.workers or len(os.sched_getaffinity(0)))


def parser() -> argparse.ArgumentParser:
    whole = argparse.ArgumentParser(prog="python -m grading", description=__doc__)
    commands = whole.add_subparsers(dest="command", required=True)
    command = commands.add_parser("release", help="write the exercises without solutions")
    command.add_argument("course", nargs="?", default=BUILT, type=Path)
    command.set_defaults(run=release)
    command = commands.add_parser("grade", help="grade what is in COURSE/submitted")
    command.add_argument("course", type=Path)
    command.add_argument("--workers", type=count, help="processes; default: cores + 1")
    command.add_argument("--cluster", metavar="tcp://HOST:PORT", help="a Dask scheduler")
    command.add_argument(
        "--unsafe", action="store_true", help="no sandbox: submitted code runs with all your rights"
    )
    command.set_defaults(run=grade)
    command = commands.add_parser("worker", help="work for a Dask scheduler")
    command.add_argument("address", metavar="tcp://HOST:PORT")
    command.add_argument("--workers", type=count, help="processes; default: one for each core")
    command.set_defaults(run=worker)
    return whole


def count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text}: at least 1 is needed")
    return number


if __name__ == "__main__":
    main()
