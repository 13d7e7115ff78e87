"""A site that loads nothing from elsewhere: formulas from a copy, no stubs of remote services."""

import shutil
from importlib.metadata import distribution
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config


def use_own_mathjax(app: Sphinx, config: Config) -> None:
    config.mathjax_path = "mathjax/tex-mml-chtml.js"


def copy_mathjax(app: Sphinx) -> None:
    """Put the part of MathJax that the pages load into the site: one script and its fonts."""
    if app.builder.format != "html":
        return
    package = distribution("sphinx-mathjax-offline")
    source = Path(str(package.locate_file("sphinx-mathjax-offline/static/mathjax")))
    target = Path(app.outdir) / "_static" / "mathjax"
    if target.is_dir():
        return
    fonts = Path("output/chtml/fonts/woff-v2")
    shutil.copytree(source / fonts, target / fonts)
    shutil.copy(source / "tex-mml-chtml.js", target)


def drop_thebe(app: Sphinx) -> None:
    """Unhook sphinx-thebe, which Jupyter Book always loads; its scripts point to a server."""
    for listeners in list(app.events.listeners.values()):
        for listener in list(listeners):
            if listener.handler.__module__.split(".")[0] == "sphinx_thebe":
                app.disconnect(listener.id)
    app.registry.css_files[:] = [
        (name, attributes) for name, attributes in app.registry.css_files if "thebe" not in name
    ]
