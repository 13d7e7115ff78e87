"""IPython extension: what the course's cells show, in the language of ``ROOFLINE_LANGUAGE``.

`make lab` has each kernel load it, and so has a downloaded notebook. A page translates its plots
when they are SVG; a notebook may show them in any format, so here they are translated while they
are drawn. Their code keeps its English, which a check reads.
"""

from __future__ import annotations

import builtins
import logging
import warnings
from functools import cache
from typing import Any

from roofkit import words
from roofkit.lines import LINES, in_words, print_of_cells, printing_lines
from roofkit.words import _

# Fonts with a language's characters, which matplotlib's own font lacks.
FONTS = {
    "zh_CN": (
        *("PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", "Noto Sans CJK JP"),
        *("Source Han Sans SC", "WenQuanYi Micro Hei", "WenQuanYi Zen Hei", "Hiragino Sans GB"),
        *("Heiti TC", "SimHei", "Droid Sans Fallback", "Arial Unicode MS"),
    )
}


def load_ipython_extension(shell: Any) -> None:
    code = words.language()
    if code != words.ORIGINAL:
        words.use(code)
        translate_plots(code)
        builtins.print = print_of_cells(shell.user_global_ns, built_lines(), _)


def built_lines() -> set[str]:
    """Return the lines of the course's cells that print."""
    if words.PRINTING.is_file():
        return set(words.PRINTING.read_text(encoding="utf-8").splitlines())
    return printing_lines(words.SOURCES.parent)


def translate_plots(code: str) -> None:
    """Draw the texts of all plots in this language from now on.

    Without a font for it, only SVG with its text as text is translated: a browser has fonts.
    """
    import matplotlib as mpl
    from matplotlib.backend_bases import FigureCanvasBase
    from matplotlib.font_manager import fontManager
    from matplotlib.text import Text

    known = set(fontManager.get_font_names())
    fonts = [name for name in FONTS.get(code, ()) if name in known][:1]
    mpl.rcParams["font.family"] = [*mpl.rcParams["font.family"], *fonts]
    # Such a font may have one weight only; a notebook would show that below each picture.
    log = logging.getLogger("matplotlib.font_manager")
    log.addFilter(lambda record: "font weight" not in record.getMessage())
    has_letters = bool(fonts) or code not in FONTS
    print_figure, get_text = FigureCanvasBase.print_figure, Text.get_text

    def translating(canvas: FigureCanvasBase, *args: Any, **options: Any) -> Any:
        as_text = options.get("format") == "svg" and mpl.rcParams["svg.fonttype"] == "none"
        if not (has_letters or as_text):
            return print_figure(canvas, *args, **options)
        Text.get_text = lambda text: translated(get_text(text))  # type: ignore[assignment]
        try:
            with warnings.catch_warnings():
                if not has_letters:
                    # Up to 3.8, Matplotlib says "from current font".
                    warnings.filterwarnings("ignore", "Glyph .* missing from .*font")
                return print_figure(canvas, *args, **options)
        finally:
            Text.get_text = get_text  # type: ignore[method-assign]

    FigureCanvasBase.print_figure = translating  # type: ignore[assignment]


@cache
def translated(text: str) -> str:
    """Return a text of a plot in the language in force."""
    line = text.replace("\n", LINES)
    said = in_words(line, _)
    return text if said == line else said.replace(LINES, "\n")
