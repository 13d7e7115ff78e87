"""What pages have in the place of IPython, which is too large, and changes to what they load."""

import builtins
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

from .call_times import put_in
from .whole_numbers import widen


@dataclass
class Markdown:
    """A text that is shown as Markdown."""

    data: str

    def _repr_markdown_(self) -> str:
        return self.data


@dataclass
class HTML:
    """A text that is shown as HTML."""

    data: str

    def _repr_html_(self) -> str:
        return self.data


def display(*values: object, **options: object) -> None:
    """Show values in the middle of a cell. A page updates none: each is shown anew."""
    builtins.display(*values, **options)  # type: ignore[attr-defined]


def clear_output(wait: bool = False) -> None:
    """Remove what the cell has shown so far."""
    builtins.display.__self__.clear()  # type: ignore[attr-defined]


def set_matplotlib_formats(*formats: str) -> None:
    """Asked for by rooflib where there is an IPython; a page shows figures as SVG anyway."""


def get_ipython() -> None:
    """Asked for by Matplotlib: there is no shell."""


def install() -> None:
    """Have pages find these where they look for them; once is enough."""
    if any(isinstance(finder, Changes) for finder in sys.meta_path):
        return
    given: dict[str, dict[str, object]] = {
        "IPython": {"version_info": (8, 24, 0), "get_ipython": get_ipython},
        "IPython.display": {
            "HTML": HTML,
            "Markdown": Markdown,
            "clear_output": clear_output,
            "display": display,
            "update_display": display,
        },
        "matplotlib_inline": {},
        "matplotlib_inline.backend_inline": {"set_matplotlib_formats": set_matplotlib_formats},
    }
    for name, members in given.items():
        module = ModuleType(name)
        module.__dict__.update(members, __path__=[])
        sys.modules[name] = module
    sys.meta_path.insert(0, Changes())


def leave_texts_unwritten(artists: ModuleType) -> None:
    """Matplotlib writes a text of documentation for what each of its artists can set.

    That takes a third of the time in which it is loaded.
    """
    artists.Artist._update_set_signature_and_docstring = classmethod(lambda cls: None)


# What is done to a module when it has been loaded.
CHANGES: dict[str, Callable[[ModuleType], None]] = {
    "matplotlib.artist": leave_texts_unwritten,
    "numpy": widen,
    "roofkit.check.call_limit": put_in,
}


class Changed(Loader):
    """Loads a module, and changes it."""

    def __init__(self, loader: Loader, change: Callable[[ModuleType], None]) -> None:
        self.loader, self.change = loader, change

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self.loader.exec_module(module)
        self.change(module)


class Changes(MetaPathFinder):
    """Finds those modules."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in CHANGES:
            return None
        found = PathFinder.find_spec(name, path)
        if found and found.loader:
            found.loader = Changed(found.loader, CHANGES[name])
        return found
