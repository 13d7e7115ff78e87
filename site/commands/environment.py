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
import shutil
import subprocess
import sys
import tempfile
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


def complaint(version: "tuple[int, ...]", has_venv: bool) -> str:
    """Return in one line why this Python can't make the environment; "" if it can."""
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
    """Return whether PYTHON names another Python than the one of `.venv`."""
    if "PYTHON" not in os.environ:
        return False
    here = "version = {}.{}.".format(*sys.version_info[:2])
    return here not in (VENV / "pyvenv.cfg").read_text()


def uv_entry() -> str:
    """Return uv's entry of the lock, with its hashes."""
    lock = (ROOT / "requirements-dev.txt").read_text()
    (entry,) = re.findall(r"^uv==.*(?:\n +--hash.*)+", lock, re.MULTILINE)
    return str(entry)


def commands(python: str, kind: str, uv: str) -> "list[list[str]]":
    """Return the commands that install uv, the locked packages and our own.

    The folder `uv` has uv.txt.
    """
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "-qq", "--no-deps"]
    install = [python, "-m", "uv", "pip", "install", "--python", python, "--quiet", "--no-deps"]
    locks = [word for name in LOCKS[kind] for word in ("-r", name)]
    return [
        [*pip, "--target", uv, "-r", f"{uv}/uv.txt"],
        # Compile now: the grading sandbox sees these files read-only.
        [*install, "--compile-bytecode", "--require-hashes", *locks],
        [*install, "--no-build-isolation", "-e", ".", "-e", "kit"],
    ]


def install(python: str, kind: str) -> bool:
    """Run the commands until one fails; return whether all succeeded."""
    with tempfile.TemporaryDirectory() as uv:
        Path(uv, "uv.txt").write_text(uv_entry())
        environment = dict(os.environ, PYTHONPATH=uv)
        steps = commands(python, kind, uv)
        return all(subprocess.call(step, cwd=str(ROOT), env=environment) == 0 for step in steps)


def main(words: "list[str]") -> int:
    here = "--here" in words
    kind = next((word for word in words if word in LOCKS), "base")
    if not here and is_installed(kind) and not made_by_another_python():
        return 0
    problem = complaint((sys.version_info.major, sys.version_info.minor), here or has_venv())
    if problem:
        print(problem, file=sys.stderr)
        return 1
    if here:
        return 0 if install(sys.executable, kind) else 1
    usable = any(stamp(one).exists() for one in LOCKS)
    if VENV.exists() and (not usable or made_by_another_python()):
        shutil.rmtree(str(VENV))
    print("installing {} into .venv, once".format(" and ".join(LOCKS[kind])), flush=True)
    if not VENV.exists() and subprocess.call([sys.executable, "-m", "venv", str(VENV)]) != 0:
        return 1
    if not install(str(VENV / "bin" / "python"), kind):
        print("could not make .venv: see the message above, then try again", file=sys.stderr)
        return 1
    stamp(kind).write_text(lock_digest(kind))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
