"""Stubs for IPython, which is too large for a page, and patches of other modules."""

import builtins
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

from .call_times import install_host
from .whole_numbers import widen


@dataclass
class Markdown:
    """Text that is displayed as Markdown."""

    data: str

    def _repr_markdown_(self) -> str:
        return self.data


@dataclass
class HTML:
    """Text that is displayed as HTML."""

    data: str

    def _repr_html_(self) -> str:
        return self.data


def display(*values: object, **options: object) -> None:
    """Show values before the cell ends; an updated value is shown a second time."""
    builtins.display(*values, **options)  # type: ignore[attr-defined]


def clear_output(wait: bool = False) -> None:
    """Remove what the cell has shown so far."""
    builtins.display.__self__.clear()  # type: ignore[attr-defined]


def set_matplotlib_formats(*formats: str) -> None:
    """Do nothing: pages show figures as SVG anyway.

    rooflib calls this function if IPython is there.
    """


def get_ipython() -> None:
    """Return None, which tells Matplotlib that there is no shell."""


def install() -> None:
    """Install the stubs, and patch other modules on import; later calls do nothing."""
    if any(isinstance(finder, PatchFinder) for finder in sys.meta_path):
        return
    stubs: dict[str, dict[str, object]] = {
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
    for name, members in stubs.items():
        module = ModuleType(name)
        module.__dict__.update(members, __path__=[])
        sys.modules[name] = module
    sys.meta_path.insert(0, PatchFinder())


def skip_artist_docstrings(artists: ModuleType) -> None:
    """Keep Matplotlib from generating docstrings of artists' settable properties.

    Generating them takes a third of Matplotlib's import time.
    """
    artists.Artist._update_set_signature_and_docstring = classmethod(lambda cls: None)


# Module → function that patches it after its import.
PATCHES: dict[str, Callable[[ModuleType], None]] = {
    "matplotlib.artist": skip_artist_docstrings,
    "numpy": widen,
    "roofkit.check.call_limit": install_host,
}


class PatchingLoader(Loader):
    """A loader that patches the module after loading it."""

    def __init__(self, loader: Loader, patch: Callable[[ModuleType], None]) -> None:
        self.loader, self.patch = loader, patch

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module, then patch it."""
        self.loader.exec_module(module)
        self.patch(module)


class PatchFinder(MetaPathFinder):
    """A finder of the modules in PATCHES."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module to patch, None for others."""
        if name not in PATCHES:
            return None
        found = PathFinder.find_spec(name, path)
        if found and found.loader:
            found.loader = PatchingLoader(found.loader, PATCHES[name])
        return found
