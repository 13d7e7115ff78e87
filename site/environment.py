"""Make ``.venv`` agree with the lock: create it, install, or do nothing.

    python site/environment.py           # .venv
    python site/environment.py --here    # what runs this, as on Binder

Runs before anything is installed and perhaps under an old Python, so it uses the standard
library alone and a syntax that Python 3.6 can read.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / "lock.sha256"
OLDEST, NEWEST = (3, 11), (3, 13)


def lock_digest() -> str:
    """Hash of the files that decide what is installed."""
    digest = hashlib.sha256()
    for name in ("requirements.txt", "pyproject.toml", "kit/pyproject.toml"):
        digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()


def complaint(version: "tuple[int, ...]", has_venv: bool) -> str:
    """What hinders this Python from making the environment, in one line; "" if nothing does."""
    if not OLDEST <= version <= NEWEST:
        return (
            "Python {}.{} found, {}.{} to {}.{} needed: "
            "install one and name it, for example `PYTHON=python3.12 make book`"
        ).format(*version, *OLDEST, *NEWEST)
    if not has_venv:
        return "Python's venv module is missing: sudo apt install python3-venv"
    return ""


def has_venv() -> bool:
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        return False
    return True


def made_by_another_python() -> bool:
    """True if the user named a Python (PYTHON=...) and .venv was made by another version."""
    if "PYTHON" not in os.environ:
        return False
    here = "version = {}.{}.".format(*sys.version_info[:2])
    return here not in (VENV / "pyvenv.cfg").read_text()


def commands(python: str) -> "list[list[str]]":
    """What installs the lock and then our packages for a Python."""
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install"]
    return [
        # The lock names everything. An older pip, looking further by itself, would take a package
        # that is wanted with extras in its newest version, and then miss the hash of that.
        [*pip, "-qq", "--no-deps", "-r", "requirements.txt"],
        [*pip, "-qq", "--no-deps", "--no-build-isolation", "-e", ".", "-e", "kit"],
    ]


def succeeded(steps: "list[list[str]]") -> bool:
    """Run the commands up to the first that fails."""
    return all(subprocess.call(step, cwd=str(ROOT)) == 0 for step in steps)


def main(options: "list[str]") -> int:
    here = options == ["--here"]
    ready = not here and STAMP.exists() and STAMP.read_text() == lock_digest()
    if ready and not made_by_another_python():
        return 0
    problem = complaint(sys.version_info[:2], here or has_venv())
    if problem:
        print(problem, file=sys.stderr)
        return 1
    if here:
        return 0 if succeeded(commands(sys.executable)) else 1
    if VENV.exists() and (not STAMP.exists() or made_by_another_python()):
        shutil.rmtree(str(VENV))
    print("installing requirements.txt into .venv: a few minutes, once", flush=True)
    steps = commands(str(VENV / "bin" / "python"))
    if not VENV.exists():
        steps.insert(0, [sys.executable, "-m", "venv", str(VENV)])
    if not succeeded(steps):
        print("could not make .venv: see the message above, then try again", file=sys.stderr)
        return 1
    STAMP.write_text(lock_digest())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
