"""Make `.venv` agree with the locks: create it, install with uv, or do nothing.

    python site environment            # requirements.txt: to read, learn, teach and build
    python site environment dev        # and requirements-dev.txt: to test and print as well
    python site environment cluster    # and requirements-cluster.txt: many machines, PostgreSQL
    python site environment --here     # into the Python that runs this, as on Binder

Runs before anything is installed, perhaps under an old Python, so it uses only the standard library
and syntax of Python 3.6. pip installs uv, at the locked version, into a temporary folder; uv then
installs the rest in a fraction of pip's time.
"""

import hashlib
import os
import re
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
# The lock files that each kind of use installs, in addition to our own packages.
LOCKS = {
    "base": ("requirements.txt",),
    "cluster": ("requirements.txt", "requirements-cluster.txt"),
    "dev": ("requirements.txt", "requirements-dev.txt"),
}
OLDEST, NEWEST = (3, 11), (3, 13)


def lock_digest(kind: str) -> str:
    """Return a hash of the files that decide what is installed."""
    digest = hashlib.sha256()
    for name in (*LOCKS[kind], "pyproject.toml", "kit/pyproject.toml"):
        digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()


def stamp(kind: str) -> Path:
    """Return the file that holds the digest of what was installed."""
    return VENV / f"{kind}.sha256"


def is_installed(kind: str) -> bool:
    """Return whether `.venv` matches the locks for this kind of use or those for dev."""
    return any(
        stamp(one).exists() and stamp(one).read_text() == lock_digest(one)
        for one in dict.fromkeys((kind, "dev"))
    )


def complaint(here: bool) -> str:
    """Return in one line why this Python can't make the environment; "" if it can."""
    version = sys.version_info[:2]
    if not OLDEST <= version <= NEWEST:
        return (
            "Python {}.{} found, {}.{} to {}.{} needed: "
            "install one and name it, for example `PYTHON=python3.12 make book`"
        ).format(*version, *OLDEST, *NEWEST)
    if not here and not (find_spec("venv") and find_spec("ensurepip")):
        return "Python's venv module is missing: sudo apt install python3-venv"
    return ""


def made_by_another_python() -> bool:
    """Return whether PYTHON names another Python than the one of `.venv`."""
    here = "version = {}.{}.".format(*sys.version_info[:2])
    return "PYTHON" in os.environ and here not in (VENV / "pyvenv.cfg").read_text()


def install(python: str, kind: str) -> bool:
    """Install uv, the locked packages and our own, until one fails; return whether none did."""
    lock = (ROOT / "requirements-dev.txt").read_text()
    (uv_entry,) = re.findall(r"^uv==.*(?:\n +--hash.*)+", lock, re.MULTILINE)
    locks = [word for name in LOCKS[kind] for word in ("-r", name)]
    with tempfile.TemporaryDirectory() as uv:
        Path(uv, "uv.txt").write_text(uv_entry)
        pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "-qq", "--no-deps"]
        by_uv = [python, "-m", "uv", "pip", "install", "--python", python, "--quiet", "--no-deps"]
        steps = [
            [*pip, "--target", uv, "-r", f"{uv}/uv.txt"],
            # Compile now: the grading sandbox sees these files read-only.
            [*by_uv, "--compile-bytecode", "--require-hashes", *locks],
            [*by_uv, "--no-build-isolation", "-e", ".", "-e", "kit"],
        ]
        environment = dict(os.environ, PYTHONPATH=uv)
        return all(subprocess.call(step, cwd=str(ROOT), env=environment) == 0 for step in steps)


def main(words: "list[str]") -> int:
    here = "--here" in words
    kind = next((word for word in words if word in LOCKS), "base")
    if not here and is_installed(kind) and not made_by_another_python():
        return 0
    problem = complaint(here)
    if problem:
        print(problem, file=sys.stderr)
        return 1
    if here:
        return 0 if install(sys.executable, kind) else 1
    stamps = [stamp(one) for one in LOCKS if stamp(one).exists()]
    if VENV.exists() and not stamps:
        print(
            f"{VENV} was not made by `make`, or not to its end: rename it, then try again",
            file=sys.stderr,
        )
        return 1
    print("installing {} into .venv, once".format(" and ".join(LOCKS[kind])), flush=True)
    # An empty stamp: an earlier try has left it half made.
    usable = any(one.read_text() for one in stamps) and not made_by_another_python()
    if not usable:
        if subprocess.call([sys.executable, "-m", "venv", "--clear", str(VENV)]) != 0:
            return 1
        stamp(kind).write_text("")
    if not install(str(VENV / "bin" / "python"), kind):
        print("could not make .venv: see the message above, then try again", file=sys.stderr)
        return 1
    stamp(kind).write_text(lock_digest(kind))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
