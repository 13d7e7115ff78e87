"""``python -m grading release [COURSE]`` and ``python -m grading grade COURSE``."""

import argparse
from pathlib import Path

from . import exercises, report
from .course import Course

BUILT = exercises.ROOT / "_build" / "course"


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m grading", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    release = commands.add_parser("release", help="write the five exercises without solutions")
    release.add_argument("course", nargs="?", default=BUILT, type=Path)
    grade = commands.add_parser("grade", help="grade what is in COURSE/submitted")
    grade.add_argument("course", type=Path)
    options = parser.parse_args(arguments)
    course = Course(options.course)
    if options.command == "release":
        course.release()
        print(f"released into {course.folder / 'release'}")
        return
    if not (course.folder / "submitted").is_dir():
        parser.error(f"{course.folder / 'submitted'} is missing: no submissions to grade")
    print(f"{course.grade()} graded; what had not changed was left as it was")
    print(*report.write(course), f"grades: {course.folder / 'grades.csv'}", sep="\n")


if __name__ == "__main__":
    main()
