"""The first cell of a page's notebook for download: it installs what is missing where it is run.

Its text is the learner's kit's; the released exercises carry the same (grading/release/opening.py).
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEXT = ROOT / "kit" / "roofkit" / "first_cell.py"
PACKAGES = {"rooflib": ROOT / "rooflib", "roofkit": ROOT / "kit" / "roofkit"}
OURS = re.compile(r"\b(?:rooflib|roofkit|roofmeter)\b")
# What needs the packages that figures and pictures are shown with.
LIVE = re.compile(r"\bfrom roofkit import (?:live|pictures)\b|\broofkit\.(?:live|pictures)\b")
VERSION = re.compile(r'^__version__ = "(.+)"$', re.MULTILINE)


def source(code: str, site: str) -> str:
    """The cell for a notebook with this code, "" if it needs none of our packages.

    site: the address of the course's site, "" if unknown.
    """
    if not OURS.search(code):
        return ""
    modules = ["rooflib", "roofkit.live" if LIVE.search(code) else "roofkit"]
    arguments = ", ".join(map(repr, (site, versions(), *modules)))
    return f"{TEXT.read_text(encoding='utf-8')}\n\nset_up_notebook({arguments})"


def versions() -> dict[str, str]:
    """The version of each of our packages, as its source has it."""
    found = {}
    for name, folder in PACKAGES.items():
        match = VERSION.search((folder / "__init__.py").read_text(encoding="utf-8"))
        if match is None:
            raise ValueError(f"{folder / '__init__.py'} names no __version__")
        found[name] = match[1]
    return found
