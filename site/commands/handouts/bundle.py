"""exercises.zip: everything that a learner without the repository needs.

It contains the released notebooks, the wheels of the two packages that they import, and a
requirements file: the wheels, and their dependencies from the lock.
"""

import re
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

from book_extension import exercise_pages
from book_extension.languages import ORIGINAL, Language, words
from book_extension.languages.code_words import README
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from commands.handouts import wheels
from roofkit.texts import in_words

NBGRADER = Path("kit/roofkit/validate/learner_config.py")
LOCK = Path("requirements.txt")
LICENSE = Path("LICENSE")
# Our own packages, by their pyproject.toml, with the extras that notebooks use.
PROJECTS = {Path("pyproject.toml"): (), Path("kit/pyproject.toml"): ("figures", "lab")}
ENTRY = re.compile(r"^(?P<name>[\w.-]+)==.*\n(?:[ \t]+.*\n)*", re.MULTILINE)
EXTRA = re.compile(r""";.*\bextra\s*==\s*['"]([^'"]+)""")


def write(
    book: Path,
    release: Path,
    packages: list[Path],
    target: Path,
    language: Language = ORIGINAL,
) -> None:
    """Pack released notebooks, wheels of our packages and a lock of the others.

    language: that of the notebooks, in which the README explains them.
    """
    readme = (book / README).read_text(encoding="utf-8").strip()
    files = {
        Path("README.md"): f"{in_words(readme, words(language))}\n".encode(),
        Path("LICENSE"): (book / LICENSE).read_bytes(),
        Path("nbgrader_config.py"): (book / NBGRADER).read_bytes(),
    }
    lock = [_entry(wheel) for wheel in packages]
    lock += lock_for(book, (book / LOCK).read_text(encoding="utf-8"))
    files[LOCK] = "".join(lock).encode()
    for wheel in packages:
        files[Path("wheels", wheel.name)] = wheel.read_bytes()
    for exercise in exercise_pages.files(book):
        folder = Path(exercise.stem)
        notebook = folder / f"{exercise.stem}.ipynb"
        files[notebook] = (release / notebook).read_bytes()
        # nbgrader reads its settings from the folder that it is started in.
        files[folder / "nbgrader_config.py"] = (book / NBGRADER).read_bytes()
    target.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in sorted(files.items()):
            # An explicit ZipInfo has a fixed date, so the archive is reproducible.
            info = zipfile.ZipInfo(f"exercises/{name.as_posix()}")
            archive.writestr(info, content, zipfile.ZIP_DEFLATED)


def _entry(wheel: Path) -> str:
    """Return a wheel's lock entry with its hash.

    pip requires a hash of every entry if any entry has one.
    """
    return f"./wheels/{wheel.name} \\\n    --hash=sha256:{wheels.sha256(wheel)}\n"


def lock_for(book: Path, lock: str) -> Iterator[str]:
    """Yield the lock entries that our packages and a learner's tools need."""
    roots: list[str] = []
    for file, extras in PROJECTS.items():
        project = tomllib.loads((book / file).read_text(encoding="utf-8"))["project"]
        roots += project["dependencies"]
        for extra in extras:
            roots += project["optional-dependencies"][extra]
    wanted = closure(roots)
    for entry in ENTRY.finditer(lock):
        needed = wanted.get(canonicalize_name(entry["name"]))
        if needed is not None:
            # pip before 23.3 refuses `name==1` where a package needs `name[extra]`.
            named = f"[{','.join(sorted(needed))}]" if needed else ""
            yield entry[0].replace("==", f"{named}==", 1)


def closure(requirements: Iterable[str]) -> dict[str, set[str]]:
    """Return each package that requirements need, even indirectly, with its extras."""
    packages: dict[str, set[str]] = {}
    todo, seen = list(requirements), set()
    while todo:
        wanted = Requirement(todo.pop())
        name, extras = canonicalize_name(wanted.name), frozenset(wanted.extras)
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        packages.setdefault(name, set()).update(extras)
        try:
            needed = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue  # not installed here: a package for another platform, or one of ours
        # On any platform, so the extra alone decides.
        chosen = [(line, EXTRA.search(line)) for line in needed]
        todo += [line for line, extra in chosen if extra is None or extra[1] in extras]
    return packages
