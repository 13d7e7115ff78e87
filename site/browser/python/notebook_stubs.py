"""IPython, which is too large for a page: the parts that notebooks use."""

import builtins
import sys
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType


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
    builtins.display.__self__.shown.clear()  # type: ignore[attr-defined]


def set_matplotlib_formats(*formats: str) -> None:
    """Do nothing: pages show figures as SVG. rooflib calls this function if IPython is there."""


def get_ipython() -> None:
    """Return None, which tells Matplotlib that there is no shell."""


def show(*_args: object, **_named: object) -> None:
    """Show all open figures and close them, as `plt.show()` does in a notebook."""
    builtins.display.__self__.show_figures()  # type: ignore[attr-defined]


class BeforePyplot:
    """Import hook that changes two things in Matplotlib.

    It has no docstrings of artists' settable properties, which take a third of its import, and its
    `plt.show()` shows figures in the page.
    """

    def find_spec(self, name: str, path: object, target: object = None) -> None:
        """Patch Matplotlib when its pyplot is about to be imported; find nothing."""
        if name == "matplotlib.pyplot":
            sys.meta_path.remove(self)
            artist = import_module("matplotlib.artist").Artist
            artist._update_set_signature_and_docstring = classmethod(lambda cls: None)
            import_module("matplotlib.backends.backend_agg").show = show  # type: ignore[attr-defined]


def install() -> None:
    """Put the stubs in the place of IPython."""
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
    sys.meta_path.insert(0, BeforePyplot())
