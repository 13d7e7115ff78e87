"""Colors that follow the page's theme, and the style of figures in JupyterLab."""

from __future__ import annotations

LAB_STYLE = """
.live-picture > svg { max-width: 100%; height: auto; }
.live-says { margin: 0.3em 0; line-height: 1.4; }
div.widget-html-content dl.live-numbers {
  display: grid; grid-template-columns: repeat(auto-fill, minmax(11em, 1fr)); gap: 0.3em 1em;
  margin: 0;
}
.live-numbers dt, .live-numbers dd { float: none; width: auto; margin: 0; padding: 0; }
.live-numbers dt { font-weight: normal; opacity: 0.8; }
[data-jp-theme-light="false"] .live-picture {
  --c-22262b: #e4e7ea; --c-5b6670: #a9b3bc; --c-d3d9de: #3d454d;
  --c-0b5fa5: #6cb2f0; --c-b5470f: #f0915c; --c-00755a: #4cc39e;
  --c-7a4a9e: #c79ae8; --c-806300: #d9b540;
  --c-f6dfd5: #4a2b1e; --c-f5edcf: #433a17; --c-dcefe6: #1c3d31; --c-dfe9f4: #1d3348;
  --c-ece3f2: #372a42;
}
"""
"""Style for JupyterLab, which doesn't load the site's style sheets."""


def themed(color: str) -> str:
    """Return a palette color as a CSS variable that dark pages override."""
    return f"var(--c-{color.removeprefix('#')}, {color})"
