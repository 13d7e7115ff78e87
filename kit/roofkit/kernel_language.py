"""IPython extension: what the course's cells show, in the language of ``ROOFLINE_LANGUAGE``.

`make lab` has each kernel load it, and so has a downloaded notebook. The code keeps its English,
which a check reads.
"""

from __future__ import annotations

import builtins
import warnings
from typing import Any

from roofkit import words
from roofkit.drawings import translated_svg
from roofkit.lines import print_of_cells, printing_lines
from roofkit.words import _


def load_ipython_extension(shell: Any) -> None:
    code = words.language()
    if code != words.ORIGINAL:
        words.use(code)
        builtins.print = print_of_cells(built_lines(), _)
        translate_plots(shell)


def built_lines() -> set[str]:
    """Return the lines of the course's cells that print."""
    if words.PRINTING.is_file():
        return set(words.PRINTING.read_text(encoding="utf-8").splitlines())
    return printing_lines(words.SOURCES.parent)


def translate_plots(shell: Any) -> None:
    """Show plots as SVG from now on, as pages do, with their texts translated.

    Texts stay text, so that no font of the language is needed: a browser has one.
    """
    import matplotlib as mpl
    from IPython.core import pylabtools

    print_figure = pylabtools.print_figure

    def print_in_language(figure: Any, fmt: str = "png", **options: Any) -> Any:
        with mpl.rc_context({"svg.fonttype": "none"}):
            shown = print_figure(figure, fmt, **options)  # type: ignore[no-untyped-call]
        return translated_svg(shown, _) if shown and fmt == "svg" else shown

    pylabtools.print_figure = print_in_language  # type: ignore[assignment]
    shell.config.InlineBackend.figure_formats = {"svg"}
    pylabtools.select_figure_formats(shell, "svg")
    warnings.filterwarnings("ignore", "Glyph .* missing from")
