"""Files of the exercises' pages: notebooks, exercises.zip, wheels, solutions.

All files are made in ``_build`` before Sphinx runs. ``python -m grading release`` makes the
notebooks; the code here only packs them.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from book_extension import contents, exercise_pages
from book_extension.languages import BUNDLE, chosen

from commands.handouts import bundle, wheels
from commands.inputs import digest
from roofkit.lines import printing_lines
from roofkit.texts import with_docstrings

TITLE = re.compile(r"^# .+$", re.MULTILINE)
# Files and folders that notebooks, wheels and exercises.zip are made of.
PACKED = (
    *("exercises", "grading", "kit", "locale", "rooflib", "site/commands/handouts"),
    *("_config.yml", "pyproject.toml", "README.md", "LICENSE", "requirements.txt"),
)
SERVED = Path("_build/served")  # copied to the top of the site, so that the addresses never change


def prepare(book: Path) -> None:
    """Make the files that exercise pages take from ``_build``, if outdated."""
    exercises = exercise_pages.files(book)
    if not exercises:
        return
    released(book)
    solutions = book / "_build" / "solutions"
    solutions.mkdir(exist_ok=True)
    for exercise in exercises:
        text = worked(exercise) if os.environ.get("SOLUTIONS") else ""
        page = solutions / f"{exercise.stem}.md"
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def released(book: Path) -> Path:
    """Return the folder of released notebooks; release again if an input has changed."""
    course = book / "_build" / "course"
    made_from, stamp = digest_of(book), course / "made-from"
    if not stamp.exists() or stamp.read_text() != made_from:
        codes = list(wheels.translations(book))
        options = [f"--language={code}" for code in codes]
        # By name: else only those that the folder has are released again.
        names = [file.stem for file in exercise_pages.files(book)]
        release = [sys.executable, "-m", "grading", "release", str(course), *names, *options]
        subprocess.run(release, cwd=book, check=True, stdout=subprocess.DEVNULL)
        packages = wheels.build(book, book / SERVED / "wheels")
        bundle.write(book, course / "release", packages, course / BUNDLE)
        for code in codes:
            folder, target = course / f"release-{code}", course / code / BUNDLE
            bundle.write(book, folder, packages, target, chosen(code))
        stamp.write_text(made_from)
    return course / "release"


def digest_of(book: Path) -> str:
    """Return a hash of the files that determine what is released and packed."""
    # A released notebook names the chapter to read first, by its title.
    texts = [path.read_text(encoding="utf-8") for path in sorted(book.glob("chapters/*.md"))]
    titles = [title for text in texts for title in TITLE.findall(text)[:1]]
    # The notebooks contain the configured address, the edition's folder and perhaps solutions.
    facts = [*contents.variables(), *sorted(printing_lines(book)), *titles]
    return digest(book, [book / name for name in PACKED], *facts)


def worked(exercise: Path, _: Callable[[str], str] = str) -> str:
    """Return each part's reference solution as Markdown, under the part's heading."""
    title = _("Worked solution")
    lines = [f"## {title}", ""]
    for heading, code in exercise_pages.solutions(exercise):
        lines += [f"### {_(heading)}", "", "```python", with_docstrings(code, _), "```", ""]
    return "\n".join(lines)
