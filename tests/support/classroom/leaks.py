"""What must not be found in what learners get: solutions, and hidden cases."""

import json
import re

from grading.records.seed import course_seed
from grading.release import exercises
from grading.release.cases import hidden
from roofkit.check.packing import literal

NAME = "int8-matmul"


def solution_lines():
    """Lines of the solutions that are long enough to be told from anybody's."""
    for name in exercises.names():
        for one in exercises.source(name).cells:
            inside = re.findall(r"### BEGIN SOLUTION(.*?)### END SOLUTION", one.source, re.DOTALL)
            for line in "".join(inside).splitlines():
                if len(line.strip()) > 12 and ("=" in line or "return" in line):
                    yield line.strip()


def hidden_texts(room):
    """The hidden cases and their expected values, in the ways in which they would be printed."""
    seed = course_seed(room.folder)
    for part in exercises.load(NAME).parts:
        cases = hidden(NAME, part, seed)
        for case in cases.inputs:
            values = list(case.values())
            yield from (literal(case), json.dumps(case), f"({', '.join(map(str, values))})")
            if len(values) > 2:
                yield " ".join(map(str, values))
            yield from (repr(value) for value in values if isinstance(value, float))
        for value in cases.expected:
            flat = value if isinstance(value, list) else [value]
            yield from (repr(one) for one in flat if len(repr(one)) > 8)


def leaks(files, texts):
    """(file, text) for each text that stands in one of the files."""
    texts = list(texts)
    found = []
    for path in files:
        content = path.read_text(encoding="utf-8").replace('\\"', '"').replace("&#39;", "'")
        found += [(path, text) for text in texts if text in content]
    return found


def given_out(room, *students):
    """All files that the learners get: the release, and what is graded of these students."""
    yield from (room.folder / "release").rglob("*.ipynb")
    for kind in ("autograded", "feedback"):
        for student in students:
            yield from (path for path in (room.folder / kind / student).rglob("*.*"))
