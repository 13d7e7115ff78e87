"""Attempts at single parts of the exercises, with their expected verdicts.

Each section of a Markdown file is one attempt: a line for each part that it answers, and its code.
A line is ``- part: verdict “words of the check”``. The verdict is ``right``, the key of the
misconception or problem that the check names, ``not known``, or ``by heart``: right for the
published cases only. Whole notebooks are in tests/support/submissions.
"""

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
LINE = re.compile(r"^- ([\w-]+): ?(right|by heart|not known|[\w-]*) ?(?:“(.*)”)?$", re.MULTILINE)
CODE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Attempt:
    """An attempt at one part, and its expected verdict."""

    exercise: str
    title: str
    part: str
    verdict: str
    words: str  # words that the learner's check must print
    source: str


def attempts(exercise: str) -> list[Attempt]:
    """Return all attempts at the parts of an exercise, in the order of the file."""
    path = FOLDER / f"{exercise}.md"
    if not path.exists():
        return []
    _, *sections = re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    found = []
    for section in sections:
        title, _, rest = section.partition("\n")
        (source,) = CODE.findall(rest)
        lines = LINE.findall(rest.partition("```")[0])
        if not lines or len(lines) != sum(line.startswith("- ") for line in rest.splitlines()):
            raise ValueError(f"{path.name}, {title}: a line “- part: verdict” is missing or wrong")
        found += [Attempt(exercise, title, *line, source) for line in lines]
    return found
