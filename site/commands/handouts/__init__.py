"""Files of the exercises' pages: notebooks, exercises.zip, wheels.

All files are made in ``_build`` before Sphinx runs. ``python -m grading release`` makes the
notebooks; the code here only packs them.
"""

import re
import subprocess
import sys
from pathlib import Path

from book_extension import contents, exercise_pages
from book_extension.languages import BUNDLE, chosen

from commands.handouts import bundle, wheels
from commands.inputs import digest
from roofkit.lines import printing_lines

TITLE = re.compile(r"^# .+$", re.MULTILINE)
# Files and folders that notebooks, wheels and exercises.zip are made of.
PACKED = (
    *("exercises", "grading", "kit", "locale", "rooflib", "site/commands/handouts"),
    *("_config.yml", "pyproject.toml", "README.md", "LICENSE", "requirements.txt"),
)
SERVED = Path("_build/served")  # copied to the top of the site, so that the addresses never change


def released(book: Path) -> Path:
    """Return the folder of released notebooks; release again if an input has changed."""
    course = book / "_build" / "course"
    made_from, stamp = digest_of(book), course / "made-from"
    # By name: else only those that the folder has are released again.
    names = [file.stem for file in exercise_pages.files(book)]
    if names and (not stamp.exists() or stamp.read_text() != made_from):
        codes = list(wheels.translations(book))
        options = [f"--language={code}" for code in codes]
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
