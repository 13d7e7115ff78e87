"""Which modules a notebook can import in the sandbox: the environment's, and a course's own."""

import functools
import os
import sys
from importlib.machinery import PathFinder
from pathlib import Path

from .fork_server import MODULES, PACKAGES, course_modules, readable

MAX_NAMES = 1_000  # whose answers are kept: notebooks may import anything


def use(folder: Path | str) -> None:
    """Show the modules in this folder to all sandboxes that this process asks for from now on.

    "" or a folder that is not there: none but those of the environment.
    """
    os.environ.pop(MODULES, None)
    if folder and Path(folder).is_dir():
        os.environ[MODULES] = str(folder)


def is_installed(module: str) -> bool:
    """Whether a notebook that is graded here finds this top-level module.

    Nothing is imported to find out.
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
    """The part of this process's path that the sandbox shows."""
    shown = [Path(one) for one in readable()]
    return [one for one in sys.path if one and any(map(Path(one).is_relative_to, shown))]
