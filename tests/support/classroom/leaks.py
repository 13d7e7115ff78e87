"""Search of learners' files for solutions and hidden cases."""

import json
import re

from grading.records.seed import course_seed
from grading.release import exercises
from grading.release.cases import hidden
from roofkit.check.packing import literal

NAME = "int8-matmul"


def solution_lines():
    """Yield the solution lines that are long enough to be distinctive."""
    for name in exercises.names():
        for one in exercises.source(name).cells:
            inside = re.findall(r"### BEGIN SOLUTION(.*?)### END SOLUTION", one.source, re.DOTALL)
            for line in "".join(inside).splitlines():
                if len(line.strip()) > 12 and ("=" in line or "return" in line):
                    yield line.strip()


def hidden_texts(room):
    """Yield int8-matmul's hidden cases and expected values, in all likely formats."""
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
    """Return (file, text) for each text that one of the files contains."""
    texts = list(texts)
    found = []
    for path in files:
        content = path.read_text(encoding="utf-8").replace('\\"', '"').replace("&#39;", "'")
        found += [(path, text) for text in texts if text in content]
    return found


def files_for_learners(room, *students):
    """Yield all files that learners get: the release, and graded files.

    The graded files are those of these students.
    """
    yield from (room.folder / "release").rglob("*.ipynb")
    for kind in ("autograded", "feedback"):
        for student in students:
            yield from (path for path in (room.folder / kind / student).rglob("*.*"))
