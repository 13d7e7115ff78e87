"""Which modules a notebook can import in the sandbox."""

import functools
import sys
from importlib.machinery import PathFinder
from pathlib import Path

from .fork_server import PACKAGES, readable

MAX_NAMES = 1_000  # whose answers are kept: notebooks may import anything


@functools.lru_cache(maxsize=MAX_NAMES)
def is_installed(module: str) -> bool:
    """Whether a notebook that is graded here finds this top-level module.

    Nothing is imported to find out.
    """
    if module in sys.builtin_module_names or module in sys.stdlib_module_names:
        return True
    if module in (package.__name__ for package in PACKAGES):
        return True
    return PathFinder.find_spec(module, _folders()) is not None


def _folders() -> list[str]:
    """The part of this process's path that the sandbox shows."""
    shown = [Path(one) for one in readable()]
    return [one for one in sys.path if one and any(map(Path(one).is_relative_to, shown))]
