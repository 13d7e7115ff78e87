"""Editor of the pages: a vendored CodeMirror bundle, and its licenses.

CONTRIBUTING.md says how the bundle is made.
"""

import json
from pathlib import Path

FOLDER = Path(__file__).parent / "codemirror"
BUNDLE = FOLDER / "codemirror.min.js"
PACKAGES = FOLDER / "packages.json"  # the bundle's hash, and each package in it
LICENSES = FOLDER / "LICENSES.txt"
SCRIPT = "codemirror.js"  # the bundle's name in the site


def packages() -> list[dict[str, str]]:
    """Return name, version and license of each package in the bundle."""
    found: list[dict[str, str]] = _facts()["packages"]
    return found


def sha256() -> str:
    """Return the hash that the bundle had when it was made."""
    return str(_facts()["sha256"])


def licenses() -> str:
    """Return the license texts of all packages."""
    return LICENSES.read_text(encoding="utf-8")


def _facts() -> dict[str, list[dict[str, str]]]:
    facts: dict[str, list[dict[str, str]]] = json.loads(PACKAGES.read_text(encoding="utf-8"))
    return facts
