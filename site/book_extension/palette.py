"""The colors of `rooflib/palette.toml`, as variables of CSS, ``var(--blue)``, the icon, and code.

With them come the fonts, which pages and slides share, too.

Code that course.css doesn't color is plain text: markup of all would be a fifth of a page's size.
"""

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]
from pygments.token import Comment, Generic, Keyword, Name, Number, Operator, String, Token  # type: ignore[import-untyped]
from sphinx.application import Sphinx
from sphinx.highlighting import PygmentsBridge
from sphinx.util.osutil import ensuredir

ROOT = Path(__file__).parents[2]
STYLE = "palette.css"
ICON = "favicon.svg"
COLORED = (Comment, Generic, Keyword, Number, String, Operator.Word, Name.Namespace)
ROOF = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
  <path d="M3 28 17 10h12" fill="none" stroke="{blue}" stroke-width="4" stroke-linejoin="round" \
stroke-linecap="round"/>
</svg>
"""


def colors() -> dict[str, tuple[str, str]]:
    """Return name → color on a light and on a dark page."""
    text = (ROOT / "rooflib" / "palette.toml").read_text(encoding="utf-8")
    return {name: (light, dark) for name, (light, dark) in tomllib.loads(text).items()}


def light() -> dict[str, str]:
    return {name: one for name, (one, _) in colors().items()}


def css() -> str:
    """Return the variables of a page, on paper always the light ones, and the fonts."""
    bright, dark = (
        "".join(f"  --{name}: {pair[i]};\n" for name, pair in colors().items()) for i in (0, 1)
    )
    dark += "  color-scheme: dark;\n"
    fonts = Path(__file__).with_name("fonts.css").read_text(encoding="utf-8")
    named = f':root {{\n{bright}}}\n@media screen {{\n  html[data-theme="dark"] {{\n{dark}}}}}\n'
    return f"{named}\n{fonts}"


def write_files(app: Sphinx) -> None:
    if app.builder.format == "html":
        static = Path(app.outdir) / "_static"
        ensuredir(static)
        (static / STYLE).write_text(css(), encoding="utf-8")
        (static / ICON).write_text(ROOF.format(**light()), encoding="utf-8")


class Plain(HtmlFormatter):  # type: ignore[misc]
    """Formatter that leaves out the classes of names, signs and spaces."""

    def format_unencoded(self, tokensource: Iterable[tuple[Any, str]], outfile: Any) -> None:
        found = (
            (kind if any(kind in group for group in COLORED) else Token, text)
            for kind, text in tokensource
        )
        super().format_unencoded(found, outfile)


def setup(app: Sphinx) -> None:
    PygmentsBridge.html_formatter = Plain
    app.add_config_value("palette", light(), "env")
    app.connect("builder-inited", write_files)
    app.add_css_file(STYLE, priority=890)
