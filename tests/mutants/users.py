"""Finds the test files that use a file: they import its module, or name it."""

from __future__ import annotations

import functools
import re
from pathlib import Path

from imports import import_roots, imported, module_name

NEEDS_SITE = re.compile(r"\bsite: Path\b|\bserver: Server\b")


@functools.cache
def imports_of_tests(root: Path) -> dict[str, frozenset[str]]:
    """Return test file → the modules and names that it imports.

    The modules of the names are included.
    """
    found = {}
    for file in sorted((root / "tests").glob("*/test_*.py")):
        names = set(imported(file.read_text(encoding="utf-8")))
        modules = {name.rpartition(".")[0] for name in names}
        found[file.relative_to(root).as_posix()] = frozenset(names | modules)
    return found


def users(path: str, folders: tuple[str, ...], root: Path) -> list[str]:
    """Return the test files in these folders that use a file.

    Those that need no site come first.
    """
    if path.endswith(".py"):
        module = module_name(root / path, import_roots(root))
        found = [test for test, names in imports_of_tests(root).items() if module in names]
    else:
        name = Path(path).name
        alone = re.compile(rf"(?<![\w.-]){re.escape(name)}\b")
        # Look for the plain text first, which takes a tenth of the time.
        texts = {test: _text(root / test) for test in imports_of_tests(root)}
        found = [test for test, text in texts.items() if name in text and alone.search(text)]
    return sorted(
        (test for test in found if test.split("/")[1] in folders),
        key=lambda test: (needs_site(test, root), test),
    )


@functools.cache
def needs_site(test: str, root: Path) -> bool:
    """Return whether a test file needs the whole built site."""
    return bool(NEEDS_SITE.search(_text(root / test)))


@functools.cache
def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")
