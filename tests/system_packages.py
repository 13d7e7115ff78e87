"""Installs the system packages that tests need, or prints the command that does.

    python3 tests/system_packages.py

`make test` runs this first, so that it doesn't fail halfway. Needs only Python 3.6 or later.
"""

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

# Name of the Debian or Ubuntu package → check whether it is installed.
NEEDED = {
    "bubblewrap": lambda: shutil.which("bwrap"),
    "chromium": lambda: any(map(shutil.which, BROWSERS)),
    "fontconfig": lambda: shutil.which("fc-list"),
    "fonts-wqy-microhei": lambda: has_chinese_font(),
    "firefox-esr": lambda: any(map(shutil.which, ("firefox-esr", "firefox"))),
    "git": lambda: shutil.which("git"),
    "libatomic1": lambda: has_library("libatomic.so.1"),  # for Playwright's driver
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
# The headless build of the browser, preferred where available: it takes a third less CPU time.
LIGHTER = {"chromium": "chromium-headless-shell"}


def has_library(name):
    """Return whether programs can load this library."""
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def has_chinese_font():
    """Return whether a font for Chinese is installed.

    Without one, browsers draw boxes.
    """
    if not shutil.which("fc-list"):
        return False
    return bool(subprocess.check_output(["fc-list", ":lang=zh-cn"]).strip())


def has_postgresql():
    """Return whether PostgreSQL is installed where Debian puts it, outside PATH."""
    return any(Path("/usr/lib/postgresql").glob("*/bin/initdb"))


def has_venv():
    """Return whether this Python can create virtual environments."""
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        return False
    return True


def missing():
    """Return the packages that are not installed, sorted."""
    return sorted(name for name, found in NEEDED.items() if not found())


def as_root():
    """Return the prefix for running a command as root, or None if this user may not."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") and subprocess.call(["sudo", "-n", "true"], stderr=-3) == 0:
        return ["sudo", "-n"]
    return None


def install(packages, prefix):
    """Install packages with apt-get, and return whether that succeeded."""
    # sudo drops the environment, so set the variable in the command.
    words = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]
    if subprocess.call([*words, "update", "-qq"], stdin=-3, stdout=2) != 0:
        return False
    step = ["install", "-qq", "--yes", "--no-install-recommends", *map(offered, packages)]
    return subprocess.call([*words, *step], stdin=-3, stdout=2) == 0


def offered(package):
    """Return the lighter variant of a package if the distribution has it.

    Otherwise return the package.
    """
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
