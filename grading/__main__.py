"""``python -m grading release [COURSE]``, ``grade COURSE`` and ``worker ADDRESS``."""

import argparse
import os
from pathlib import Path

from grading.parallel import pool

BUILT = Path(__file__).resolve().parent.parent / "_build" / "course"


def main(arguments=None):
    options = parser().parse_args(arguments)
    if options.command == "grade" and not options.cluster:
        options.hands = pool.Local(options.workers)  # while it gets ready, this process imports
    from grading.work import Unable

    try:
        options.run(options)
    except Unable as unable:
        raise SystemExit(str(unable)) from None


def release(options):
    from grading.course import Course

    course = Course(options.course)
    course.release()
    print(f"released into {course.folder / 'release'}")


def grade(options):
    from grading import sandbox
    from grading.course import Course, in_one_line
    from grading.reports import overview as report
    from grading.work import Unable

    course = Course(options.course)
    if not (course.folder / "submitted").is_dir():
        raise Unable(f"{course.folder / 'submitted'} is missing: no submissions to grade")
    hands = pool.Cluster(options.cluster) if options.cluster else options.hands
    count = course.grade(hands, unsafe=options.unsafe or sandbox.accepted())
    print(f"{count} graded; what had not changed was left as it was")
    with in_one_line():
        lines = report.write(course)
    print(*lines, f"grades: {course.folder / 'grades.csv'}", sep="\n")


def worker(options):
    from grading.parallel.dask_worker import serve

    serve(options.address, options.workers or len(os.sched_getaffinity(0)))


def parser():
    one = argparse.ArgumentParser(prog="python -m grading", description=__doc__)
    commands = one.add_subparsers(dest="command", required=True)
    command = commands.add_parser("release", help="write the five exercises without solutions")
    command.add_argument("course", nargs="?", default=BUILT, type=Path)
    command.set_defaults(run=release)
    command = commands.add_parser("grade", help="grade what is in COURSE/submitted")
    command.add_argument("course", type=Path)
    command.add_argument("--workers", type=count, help="processes; one more than cores if left out")
    command.add_argument("--cluster", metavar="tcp://HOST:PORT", help="a Dask scheduler")
    command.add_argument(
        "--unsafe", action="store_true", help="without a sandbox: code runs with all your rights"
    )
    command.set_defaults(run=grade)
    command = commands.add_parser("worker", help="work for a Dask scheduler")
    command.add_argument("address", metavar="tcp://HOST:PORT")
    command.add_argument("--workers", type=count, help="processes; one for each core if left out")
    command.set_defaults(run=worker)
    return one


def count(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text}: at least 1 is needed")
    return number


if __name__ == "__main__":
    main()
