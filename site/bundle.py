"""exercises.zip: all that a learner needs who has nothing but the site.

It holds the released notebooks, the two packages that they import, and the part of the lock that
these need.
"""

import re
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

README = Path("site/bundle-readme.md")
NBGRADER = Path("kit/roofkit/validate/learner_config.py")
LOCK = Path("requirements.txt")
# The packages of our own, each beside its pyproject.toml, with the extras that a notebook uses.
PROJECTS = {Path("pyproject.toml"): (), Path("kit/pyproject.toml"): ("live", "lab")}
# What a learner works with beside them. Setuptools installs the packages without a download.
TOOLS = ("jupyterlab-myst", "setuptools")
PACKED = (".py", ".toml", ".txt", ".json", ".js", ".css")
ENTRY = re.compile(r"^(?P<name>[\w.-]+)==.*\n(?:[ \t]+.*\n)*", re.MULTILINE)
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)\s*(?:\[(?P<extras>[^\]]*)\])?")
EXTRA = re.compile(r"""extra\s*==\s*['"]([^'"]+)""")


def sources(book: Path) -> list[Path]:
    """The files of a book that decide what is in the archive, apart from the notebooks."""
    packages = [path for room in ("rooflib", "kit") for path in (book / room).rglob("*")]
    kept = [path for path in packages if path.suffix in PACKED or path.name == "py.typed"]
    beside = [book / name for name in ("pyproject.toml", "LICENSE", LOCK, README)]
    return [*sorted(kept), *beside]


def write(book: Path, release: Path, target: Path) -> None:
    """Pack the notebooks of a release with what they need."""
    files = {path.relative_to(book): path.read_bytes() for path in sources(book)}
    files[Path("README.md")] = files.pop(README)
    files[LOCK] = "".join(lock_for(book, files[LOCK].decode())).encode()
    for path in release.glob("*/*.ipynb"):
        files[path.relative_to(release)] = path.read_bytes()
        # nbgrader reads it in the folder that it is started in.
        files[Path(path.parent.name, "nbgrader_config.py")] = (book / NBGRADER).read_bytes()
    files[Path("nbgrader_config.py")] = (book / NBGRADER).read_bytes()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(files.items()):
            # A fixed date, so that the same files make the same archive.
            info = zipfile.ZipInfo(f"exercises/{name.as_posix()}", (1980, 1, 1, 0, 0, 0))
            archive.writestr(info, content, zipfile.ZIP_DEFLATED)


def lock_for(book: Path, lock: str) -> Iterator[str]:
    """The entries of a lock that our packages and a learner's tools need."""
    roots = list(TOOLS)
    for file, extras in PROJECTS.items():
        project = tomllib.loads((book / file).read_text(encoding="utf-8"))["project"]
        roots += project["dependencies"]
        for extra in extras:
            roots += project["optional-dependencies"][extra]
    wanted = closure(roots)
    for entry in ENTRY.finditer(lock):
        if normal(entry["name"]) in wanted:
            yield entry[0]


def closure(requirements: Iterable[str]) -> set[str]:
    """The names of packages that these need, in turn, on any platform."""
    todo, seen = list(requirements), set()
    while todo:
        found = REQUIREMENT.match(todo.pop())
        assert found is not None
        name, extras = (
            normal(found["name"]),
            frozenset(re.findall(r"[\w.-]+", found["extras"] or "")),
        )
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        try:
            needed = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            # Of another platform, or one of our own.
            continue
        for line in needed:
            extra = EXTRA.search(line.partition(";")[2])
            if extra is None or extra[1] in extras:
                todo.append(line)
    return {name for name, _ in seen}


def normal(name: str) -> str:
    """A package's name as the lock has it."""
    return re.sub(r"[-_.]+", "-", name).lower()
