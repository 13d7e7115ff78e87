"""Wheels of our packages, and an index page for pip.

Notebooks outside the repository need them. The wheels are built from a book's sources with the
installed setuptools: nothing is downloaded, and the same sources give the same bytes.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from roofkit import lines, words

# Folder of each wheel's pyproject.toml in a book → files in it that go into the build.
PROJECTS = {
    Path(): ("pyproject.toml", "README.md", "LICENSE", "rooflib"),
    Path("kit"): ("pyproject.toml", "roofkit", "roofmeter"),
}
INDEX = "index.html"
BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Wheels of rooflib and roofkit</title>
</head>
<body>
<main>
<h1>Wheels of rooflib and roofkit</h1>
<ul>
{links}
</ul>
</main>
</body>
</html>
"""


def sources(book: Path) -> list[Path]:
    """Return the files of a book that its wheels are made from."""
    files = [path for project in PROJECTS for path in _files(book, project)]
    return files + [
        file for folder in translations(book).values() for file in sorted(folder.rglob("*.po"))
    ]


def translations(book: Path) -> dict[str, Path]:
    """Return language → the folder of its catalogs."""
    return {
        folder.parent.name: folder for folder in sorted((book / "locale").glob("*/LC_MESSAGES"))
    }


def build(book: Path, target: Path) -> list[Path]:
    """Build each project's wheel into an empty folder, with an index page."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for project in PROJECTS:
        with tempfile.TemporaryDirectory() as folder:
            _copy(book, project, Path(folder))
            if "roofkit" in PROJECTS[project]:
                _translate(book, Path(folder))
            _build(Path(folder), target)
    wheels = sorted(target.glob("*.whl"))
    (target / INDEX).write_text(page(wheels), encoding="utf-8")
    return wheels


def page(wheels: list[Path]) -> str:
    """Return the page for `pip install --find-links`: links to wheels, with hashes."""
    links = "\n".join(
        f'<li><a href="{wheel.name}#sha256={sha256(wheel)}">{wheel.name}</a></li>'
        for wheel in wheels
    )
    return PAGE.format(links=links)


def sha256(wheel: Path) -> str:
    return hashlib.sha256(wheel.read_bytes()).hexdigest()


def _files(book: Path, project: Path) -> list[Path]:
    """Return one project's files."""
    files = []
    for path in (book / project / name for name in PROJECTS[project]):
        inside = sorted(path.rglob("*")) if path.is_dir() else [path]
        files += [file for file in inside if file.is_file() and file.suffix != ".pyc"]
    return files


def _copy(book: Path, project: Path, folder: Path) -> None:
    """Copy one project's sources, since setuptools writes next to what it builds."""
    for source in _files(book, project):
        copy = folder / source.relative_to(book / project)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(source.read_bytes())
        copy.chmod(0o644)  # wheels record the file mode, which otherwise depends on the umask


def _translate(book: Path, folder: Path) -> None:
    """Write the compiled words of each language, and what they need, where `roofkit` finds them."""
    locale = folder / "roofkit" / "locale"
    locale.mkdir()
    printing = locale / words.PRINTING.name
    printing.write_text("\n".join(sorted(lines.printing_lines(book))), encoding="utf-8")
    printing.chmod(0o644)
    for code, source in translations(book).items():
        target = locale / f"{code}.mo"
        target.write_bytes(words.compile_catalogs(source))
        target.chmod(0o644)


def _build(folder: Path, target: Path) -> None:
    environment = os.environ | {"SOURCE_DATE_EPOCH": "315532800"}  # 1980, where zip dates start
    command = [sys.executable, "-c", BUILD, str(target.resolve())]
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        umask=0o022,  # for the files that setuptools writes
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"setuptools could not build a wheel:\n{done.stderr}")
