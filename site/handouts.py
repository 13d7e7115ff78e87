"""What the exercises' pages show and hand out: released notebooks, a bundle, worked solutions.

All of it is made in ``_build`` before Sphinx runs. The notebooks are released by the course's own
``python -m grading release``; here they are only packed.
"""

import hashlib
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat

SOLUTION = re.compile(r"^[ \t]*### (BEGIN|END) SOLUTION[ \t]*\n?", re.MULTILINE)


def prepare(book: Path) -> None:
    """Make what the pages of a book with exercises take from ``_build``; nothing if unchanged."""
    notebooks = sorted((book / "exercises").glob("*/*.ipynb"))
    if not notebooks:
        return
    course, solutions = book / "_build" / "course", book / "_build" / "solutions"
    digest, stamp = digest_of(book), course / "made-from"
    if not stamp.exists() or stamp.read_text() != digest:
        release = [sys.executable, "-m", "grading", "release", str(course)]
        subprocess.run(release, cwd=book, check=True, stdout=subprocess.DEVNULL)
        bundle(book, course)
        stamp.write_text(digest)
    solutions.mkdir(parents=True, exist_ok=True)
    for notebook in notebooks:
        text = worked(notebook) if os.environ.get("SOLUTIONS") else ""
        page = solutions / f"{notebook.stem}.md"
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def digest_of(book: Path) -> str:
    """Hash of the files that decide what is released and packed."""
    kinds = (".ipynb", *PACKED)
    rooms = [book / name for name in ("exercises", "grading", "kit", "rooflib")]
    files = [path for room in rooms for path in room.rglob("*") if path.suffix in kinds]
    files = [path for path in files if ".ipynb_checkpoints" not in path.parts]
    digest = hashlib.sha256()
    for path in [*sorted(files), *(book / name for name in BESIDE)]:
        digest.update(str(path.relative_to(book)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def bundle(book: Path, course: Path) -> None:
    """Pack what a learner needs who has nothing but the site: notebooks, rooflib, the lock."""
    files = {
        f"exercises/{path.parent.name}/{path.name}": path
        for path in (course / "release").glob("*/*.ipynb")
    }
    packages = [
        path
        for room in ("rooflib", "kit")
        for path in (book / room).rglob("*")
        if path.suffix in PACKED or path.name == "py.typed"
    ]
    for path in [*packages, *(book / name for name in BESIDE)]:
        files[f"exercises/{path.relative_to(book)}"] = path
    # nbgrader reads it in the folder that it is started in.
    for folder in {str(Path(name).parent) for name in files if name.endswith(".ipynb")}:
        files[f"{folder}/nbgrader_config.py"] = book / NBGRADER
    files["exercises/nbgrader_config.py"] = book / NBGRADER
    with zipfile.ZipFile(course / "exercises.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in sorted(files.items()):
            # A fixed date, so that the same files make the same archive.
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), path.read_bytes(), 8)


PACKED = (".py", ".toml", ".txt", ".json", ".js")
NBGRADER = Path("kit/roofkit/validate/learner_config.py")
BESIDE = ("pyproject.toml", "requirements.txt", "LICENSE", "README.md")


def worked(notebook: Path) -> str:
    """The reference solution of each part as Markdown, under the part's own heading."""
    lines, heading = ["## Worked solution", ""], ""
    for cell in nbformat.read(notebook, as_version=4).cells:
        if cell.cell_type == "markdown" and cell.source.startswith("## "):
            heading = cell.source.splitlines()[0].removeprefix("## ")
        elif cell.metadata.get("nbgrader", {}).get("solution"):
            code = SOLUTION.sub("", cell.source).rstrip()
            lines += [f"### {heading}", "", "```python", code, "```", ""]
    return "\n".join(lines)
