"""Installs the system packages that tests need, or prints the command that does.

    python3 tests/system_packages.py

`make test` runs this first, so that it doesn't fail halfway. Needs only Python 3.6 or later.
"""

import os
import subprocess
import sys
from ctypes.util import find_library
from importlib.util import find_spec
from pathlib import Path
from shutil import which

BROWSERS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
# The headless build of the browser, preferred where available: it takes a third less CPU time.
CHROMIUM, LIGHTER = "chromium", "chromium-headless-shell"


def missing():
    """Return the names of Debian's or Ubuntu's packages that are not installed, sorted."""
    # Without a font for Chinese, browsers draw boxes.
    fonts = which("fc-list") and subprocess.check_output(["fc-list", ":lang=zh-cn"]).strip()
    found = {
        "bubblewrap": which("bwrap"),
        CHROMIUM: any(map(which, BROWSERS)),
        "fontconfig": which("fc-list"),
        "fonts-wqy-microhei": fonts,
        "firefox-esr": which("firefox-esr") or which("firefox"),
        "git": which("git"),
        "libatomic1": find_library("atomic"),  # for Playwright's driver
        # Debian puts it outside PATH.
        "postgresql": which("initdb") or any(Path("/usr/lib/postgresql").glob("*/bin/initdb")),
        "python3-venv": find_spec("ensurepip") and find_spec("venv"),
    }
    return sorted(name for name, there in found.items() if not there)


def as_root():
    """Return the prefix for running apt-get as root, or None if this user may not."""
    if not which("apt-get"):
        return None
    if os.geteuid() == 0:
        return []
    if which("sudo") and subprocess.call(["sudo", "-n", "true"], stderr=subprocess.DEVNULL) == 0:
        return ["sudo", "-n"]
    return None


def install(packages, prefix):
    """Install packages; apt-get says what goes wrong."""
    # sudo drops the environment, so set the variable in the command.
    apt = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]
    subprocess.call([*apt, "update", "-qq"], stdin=subprocess.DEVNULL, stdout=sys.stderr)
    # Without the package, apt-cache complains, though nothing is wrong.
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    known = subprocess.run(["apt-cache", "show", LIGHTER], **quiet)
    names = [LIGHTER if name == CHROMIUM and known.stdout else name for name in packages]
    step = ["install", "-qq", "--yes", "--no-install-recommends", *names]
    subprocess.call([*apt, *step], stdin=subprocess.DEVNULL, stdout=sys.stderr)


def main():
    absent = missing()
    # Ask sudo only if needed: it logs each user who may not.
    prefix = as_root() if absent else None
    if prefix is not None:
        print("installing {} for the tests".format(", ".join(absent)), flush=True)
        install(absent, prefix)
        absent = missing()
    if absent:
        how = "sudo apt-get install " + " ".join(absent)
        print("the tests need {}: {}".format(", ".join(absent), how), file=sys.stderr)
    return 1 if absent else 0


if __name__ == "__main__":
    sys.exit(main())
