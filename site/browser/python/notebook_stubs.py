"""IPython, which is too large for a page: the parts that notebooks use."""

import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any


class Shown:
    """Text that is displayed as HTML or Markdown."""

    def __init__(self, data: str) -> None:
        self.data = data


class HTML(Shown):
    def _repr_html_(self) -> str:
        return self.data


class Markdown(Shown):
    def _repr_markdown_(self) -> str:
        return self.data


class BeforePyplot:
    """Import hook that changes two things in Matplotlib.

    It has no docstrings of artists' settable properties, which take a third of its import, and its
    `plt.show()` shows figures in the page.
    """

    def __init__(self, show: Callable[[], None]) -> None:
        self.show = show

    def find_spec(self, name: str, path: object, target: object = None) -> None:
        """Patch Matplotlib when its pyplot is about to be imported; find nothing."""
        if name == "matplotlib.pyplot":
            sys.meta_path.remove(self)
            artist: Any = import_module("matplotlib.artist").Artist
            artist._update_set_signature_and_docstring = classmethod(lambda cls: None)
            agg: Any = import_module("matplotlib.backends.backend_agg")
            agg.show = lambda *_, **__: self.show()


def install(page: Any) -> None:
    """Put the stubs in the place of IPython; `page` shows what they display."""
    stubs: dict[str, dict[str, object]] = {
        # Without a shell, as Matplotlib asks. An update is shown a second time.
        "IPython": {"version_info": (8, 24, 0), "get_ipython": lambda: None},
        "IPython.display": {
            "HTML": HTML,
            "Markdown": Markdown,
            "clear_output": lambda wait=False: page.shown.clear(),
            "display": page.display,
            "update_display": page.display,
        },
        # rooflib calls this if IPython is there. Pages show figures as SVG.
        "matplotlib_inline": {},
        "matplotlib_inline.backend_inline": {"set_matplotlib_formats": lambda *formats: None},
    }
    for name, members in stubs.items():
        module = ModuleType(name)
        module.__dict__.update(members, __path__=[])
        sys.modules[name] = module
    sys.meta_path.insert(0, BeforePyplot(page.show_figures))
