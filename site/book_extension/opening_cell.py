"""First cell of a downloaded notebook, which installs missing packages.

Its text comes from the learner's kit. Released exercises begin with the same text
(grading/release/notebooks.py).
"""

import re
from collections.abc import Callable
from pathlib import Path

from .languages import code_words

ROOT = Path(__file__).resolve().parents[2]
TEXT = ROOT / "kit" / "roofkit" / "first_cell.py"
PACKAGES = {"rooflib": ROOT / "rooflib", "roofkit": ROOT / "kit" / "roofkit"}
OURS = re.compile(r"\b(?:rooflib|roofkit|roofmeter)\b")
# Matches code that imports roofkit.figures, which needs the packages that display figures.
FIGURES = re.compile(r"\bfrom roofkit import figures\b|\broofkit\.figures\b")
VERSION = re.compile(r'^__version__ = "(.+)"$', re.MULTILINE)


def source(code: str, site: str, translate: Callable[[str], str] = str) -> str:
    """Return the first cell for a notebook's code; "" if it uses no package of ours.

    site: the address of the course's site, "" if unknown. translate: gives what the cell prints in
    the language of the notebook.
    """
    if not OURS.search(code):
        return ""
    modules = ["rooflib", "roofkit.figures" if FIGURES.search(code) else "roofkit"]
    arguments = ", ".join(map(repr, (site, versions(), *modules)))
    messages = code_words.extracted(ROOT, [("kit/roofkit", code_words.FIRST_CELL)])
    words = {one: said for one in messages if (said := translate(one)) != one}
    if words:
        arguments += f", words={words!r}"
    return f"{TEXT.read_text(encoding='utf-8')}\n\nset_up_notebook({arguments})"


def versions() -> dict[str, str]:
    """Return the version of each of our packages, read from its source."""
    found = {}
    for name, folder in PACKAGES.items():
        match = VERSION.search((folder / "__init__.py").read_text(encoding="utf-8"))
        if match is None:
            raise ValueError(f"{folder / '__init__.py'} names no __version__")
        found[name] = match[1]
    return found
