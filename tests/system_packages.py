"""Install what the tests need from the system, or stop with the one line to type.

    python3 tests/system_packages.py

Runs before anything else of `make test`, so that nothing is missing half-way through. Needs no
package, and a Python of 3.6 or later.
"""

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

# Debian's and Ubuntu's name of the package → how to tell that it is there.
NEEDED = {
    "bubblewrap": lambda: shutil.which("bwrap"),
    "chromium": lambda: any(map(shutil.which, BROWSERS)),
    "git": lambda: shutil.which("git"),
    "libatomic1": lambda: has_library("libatomic.so.1"),  # for what drives the browser
    "postgresql": lambda: shutil.which("initdb") or has_postgresql(),
    "python3-venv": lambda: has_venv(),
}
BROWSERS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
# The same browser without its windows, where the distribution has it: a third less to compute.
LIGHTER = {"chromium": "chromium-headless-shell"}


def has_library(name):
    """Whether programs can load this library."""
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def has_postgresql():
    """Whether a server lies where Debian puts it, outside of the path."""
    return any(Path("/usr/lib/postgresql").glob("*/bin/initdb"))


def has_venv():
    """Whether the Python that runs this can make an environment."""
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        return False
    return True


def missing():
    """The packages that are not there, sorted."""
    return sorted(name for name, found in NEEDED.items() if not found())


def as_root():
    """What stands before a command that only root may run; None if this user may not."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") and subprocess.call(["sudo", "-n", "true"], stderr=-3) == 0:
        return ["sudo", "-n"]
    return None


def install(packages, prefix):
    """Whether apt-get has installed them."""
    # sudo passes no environment on.
    words = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]
    if subprocess.call([*words, "update", "-qq"], stdin=-3, stdout=2) != 0:
        return False
    step = ["install", "-qq", "--yes", "--no-install-recommends", *map(offered, packages)]
    return subprocess.call([*words, *step], stdin=-3, stdout=2) == 0


def offered(package):
    """The lighter one of the same kind if the distribution has it, else the package."""
    lighter = LIGHTER.get(package)
    known = lighter and subprocess.call(["apt-cache", "show", lighter], stdout=-3, stderr=-3) == 0
    return lighter if known else package


def main():
    absent = missing()
    if not absent:
        return 0
    line = "sudo apt-get install " + " ".join(absent)
    prefix = as_root() if shutil.which("apt-get") else None
    if prefix is None:
        print("the tests need {}: {}".format(", ".join(absent), line), file=sys.stderr)
        return 1
    print("installing {} for the tests".format(", ".join(absent)), flush=True)
    if not install(absent, prefix) or missing():
        left = ", ".join(missing() or absent)
        print(f"{left} could not be installed: {line}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
