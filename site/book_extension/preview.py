"""The picture that a link to the site shows elsewhere, made from site/social-preview.svg."""

from pathlib import Path

import vl_convert
from sphinx.application import Sphinx

from .fonts import FACES, font_file
from .theme import SITE


def write_preview(app: Sphinx) -> None:
    source = SITE / "social-preview.svg"
    target = Path(app.outdir) / "_static" / "social-preview.png"
    if app.builder.format != "html" or (
        target.exists() and target.stat().st_mtime > source.stat().st_mtime
    ):
        return
    for package, faces in FACES.items():
        vl_convert.register_font_directory(str(font_file(package, faces[0]).parent))
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(vl_convert.svg_to_png(source.read_text(encoding="utf-8"), scale=1))
