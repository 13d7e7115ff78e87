"""What pages use of IPython, which is too large to be fetched for it."""

import builtins
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType


@dataclass
class Markdown:
    """A text that is shown as Markdown."""

    data: str

    def _repr_markdown_(self) -> str:
        return self.data


def display(*values: object) -> None:
    """Show values in the middle of a cell."""
    for value in values:
        builtins.display(value)  # type: ignore[attr-defined]


def set_matplotlib_formats(*formats: str) -> None:
    """Asked for by rooflib where there is an IPython; a page shows figures as SVG anyway."""


def get_ipython() -> None:
    """Asked for by Matplotlib: there is no shell."""


def install() -> None:
    """Have pages find these where they look for them."""
    given: dict[str, dict[str, object]] = {
        "IPython": {"version_info": (8, 24, 0), "get_ipython": get_ipython},
        "IPython.display": {"Markdown": Markdown, "display": display},
        "matplotlib_inline": {},
        "matplotlib_inline.backend_inline": {"set_matplotlib_formats": set_matplotlib_formats},
    }
    for name, members in given.items():
        module = ModuleType(name)
        module.__dict__.update(members, __path__=[])
        sys.modules[name] = module
    sys.meta_path.insert(0, Artists())


class Hurried(Loader):
    """Loads Matplotlib's artists, but writes no texts of documentation for what each can set.

    That takes a third of the time in which Matplotlib is loaded.
    """

    def __init__(self, loader: Loader) -> None:
        self.loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self.loader.exec_module(module)
        unwritten = classmethod(lambda cls: None)
        module.Artist._update_set_signature_and_docstring = unwritten


class Artists(MetaPathFinder):
    """Finds that one module."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "matplotlib.artist":
            return None
        found = PathFinder.find_spec(name, path)
        if found and found.loader:
            found.loader = Hurried(found.loader)
        return found
