"""Wheels of our packages, and an index page for pip.

Notebooks outside the repository need them. The wheels are built from a book's sources with the
installed setuptools: nothing is downloaded, and the same sources give the same bytes on a machine.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from roofkit import lines, words

# Folder of each wheel's pyproject.toml in a book → files and folders in it that go into the build.
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


def translations(book: Path) -> dict[str, Path]:
    """Return language → the folder of its catalogs."""
    return {
        folder.parent.name: folder for folder in sorted((book / "locale").glob("*/LC_MESSAGES"))
    }


def build(book: Path, target: Path) -> list[Path]:
    """Build each project's wheel into an empty folder, with an index page."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for project, names in PROJECTS.items():
        # setuptools writes next to what it builds.
        with tempfile.TemporaryDirectory() as folder:
            for name in names:
                _copy(book / project / name, Path(folder, name))
            if "roofkit" in names:
                _translate(book, Path(folder, "roofkit", "locale"))
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


def _copy(source: Path, target: Path) -> None:
    """Copy a file, or a folder without what Python compiled."""
    if source.is_dir():
        leave = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source, target, copy_function=shutil.copyfile, ignore=leave)
    else:
        shutil.copyfile(source, target)


def _translate(book: Path, locale: Path) -> None:
    """Write the compiled words of each language, and what they need, where `roofkit` finds them."""
    locale.mkdir()
    printing = "\n".join(sorted(lines.printing_lines(book)))
    (locale / words.PRINTING.name).write_text(printing, encoding="utf-8")
    for code, source in translations(book).items():
        (locale / f"{code}.mo").write_bytes(words.compile_catalogs(source))


def _build(folder: Path, target: Path) -> None:
    environment = os.environ | {"SOURCE_DATE_EPOCH": "315532800"}  # 1980, where zip dates start
    command = [sys.executable, "-c", BUILD, str(target.resolve())]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"setuptools could not build a wheel:\n{done.stderr}")
