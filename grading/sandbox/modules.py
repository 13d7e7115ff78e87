"""Modules that notebooks can import: the environment's and a course's own."""

import functools
import os
import sys
from importlib.machinery import PathFinder
from pathlib import Path

from .fork_server import MODULES, PACKAGES, course_modules, readable

MAX_NAMES = 1_000  # cache size; notebooks may import anything


def use(folder: Path | str) -> None:
    """Make the modules in this folder available to sandboxes started from now on.

    With "" or a missing folder, only the environment's modules are available.
    """
    os.environ.pop(MODULES, None)
    if folder and Path(folder).is_dir():
        os.environ[MODULES] = str(folder)


def is_installed(module: str) -> bool:
    """Return whether notebooks in the sandbox can import this top-level module.

    This imports nothing.
    """
    return _is_installed(module, course_modules())


@functools.lru_cache(maxsize=MAX_NAMES)
def _is_installed(module: str, folder: str) -> bool:
    if module in sys.builtin_module_names or module in sys.stdlib_module_names:
        return True
    if module in (package.__name__ for package in PACKAGES):
        return True
    folders = [*_folders(), *([folder] if folder else [])]
    return PathFinder.find_spec(module, folders) is not None


def _folders() -> list[str]:
    """Return the entries of sys.path that the sandbox can see."""
    shown = [Path(one) for one in readable()]
    return [one for one in sys.path if one and any(map(Path(one).is_relative_to, shown))]
