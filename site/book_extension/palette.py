"""The colors of `rooflib/palette.toml`, as variables of CSS, ``var(--blue)``, and the icon."""

import tomllib
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util.osutil import ensuredir

ROOT = Path(__file__).parents[2]
STYLE = "palette.css"
ICON = "favicon.svg"
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
    """Return the variables of a page: on paper always the light ones."""
    bright, dark = (
        "".join(f"  --{name}: {pair[i]};\n" for name, pair in colors().items()) for i in (0, 1)
    )
    return f':root {{\n{bright}}}\n@media screen {{\n  html[data-theme="dark"] {{\n{dark}}}}}\n'


def write_files(app: Sphinx) -> None:
    if app.builder.format == "html":
        static = Path(app.outdir) / "_static"
        ensuredir(static)
        (static / STYLE).write_text(css(), encoding="utf-8")
        (static / ICON).write_text(ROOF.format(**light()), encoding="utf-8")


def setup(app: Sphinx) -> None:
    app.add_config_value("palette", light(), "env")
    app.connect("builder-inited", write_files)
    app.add_css_file(STYLE, priority=890)
