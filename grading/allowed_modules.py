"""Packages that a course lets notebooks import, beyond those of the environment.

They are installed in the course folder.
"""

import contextlib
import importlib.metadata
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from grading.records import results
from grading.records.seed import FOLDER

LIST = "allowed.txt"  # one requested package per line
# A package name with optional extras and version constraints, so that no path or option reaches
# pip.
REQUIREMENT = re.compile(
    r"[A-Za-z0-9][\w.-]*(\[[\w,.-]+\])?(\s*[<>=!~]=?=?\s*[\w.*+!-]+,?)*", re.ASCII
)


class CannotAllow(Exception):
    """A package cannot be allowed; the text is one line that says why."""


def modules_folder(course: Path) -> Path:
    """Return the folder of the modules that a course allows; it may not exist."""
    return course / FOLDER / "modules"


def allow(course: Path, packages: Sequence[str]) -> list[str]:
    """Install the packages that a course allows; return lines to print.

    These packages are added to those allowed earlier. Raises CannotAllow, with nothing changed, if
    that fails. Only wheels are accepted: building a source distribution runs its code. The
    environment's own packages keep their versions.
    """
    for package in packages:
        if not REQUIREMENT.fullmatch(package):
            raise CannotAllow(f"--allow {package}: not the name of a package")
    if not course.is_dir():
        raise CannotAllow(f"{course} is missing: no course to allow packages for")
    own = course / FOLDER
    own.mkdir(mode=0o700, exist_ok=True)
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(results.lock(own / "lock"))
        except BlockingIOError:
            raise CannotAllow(f"{course} is being graded; wait until that is done") from None
        before = _allowed(own / LIST)
        wanted = list(dict.fromkeys([*before, *packages]))
        folder = modules_folder(course)
        if wanted != before or not folder.is_dir():
            _install(wanted, folder)
            results.replace(own / LIST, "".join(f"{package}\n" for package in wanted))
    return [f"allowed in notebooks: {', '.join(wanted)}"]


def _allowed(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").split("\n")[:-1]
    except FileNotFoundError:
        return []


def _install(packages: Sequence[str], folder: Path) -> None:
    """Install packages into a new folder, then replace `folder` by it."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        new, constraints = Path(place) / "new", Path(place) / "constraints.txt"
        # Notebooks find the environment's versions first, so new packages must work with those.
        versions = {one.name: one.version for one in importlib.metadata.distributions()}
        constraints.write_text("".join(f"{name}=={versions[name]}\n" for name in versions))
        done = subprocess.run(
            [
                *(sys.executable, "-m", "pip", "install", "--quiet", "--no-input"),
                *("--disable-pip-version-check", "--only-binary", ":all:"),
                *("--constraint", str(constraints), "--target", str(new), "--", *packages),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            lines = [line for line in done.stderr.splitlines() if line.strip()]
            errors = [line for line in lines if line.startswith("ERROR:")] or lines
            why = errors[-1].removeprefix("ERROR: ") if errors else "pip said nothing"
            raise CannotAllow(f"{', '.join(packages)} could not be installed: {why}")
        for path in (new, *new.rglob("*")):  # sandboxes read the files as another user
            path.chmod(0o755 if path.is_dir() else 0o644)
        if folder.exists():
            folder.rename(Path(place) / "old")
        new.rename(folder)
