"""Link preview picture, drawn if missing or older than the code that draws it."""

from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util.osutil import ensuredir

from . import languages

PICTURE = "social-preview.png"
DRAWING = Path(__file__).with_name("preview_picture.py")


def write_preview(app: Sphinx) -> None:
    target = Path(app.outdir) / "_static" / PICTURE
    if (
        app.builder.format != "html"
        or languages.is_translation(app)
        or (target.exists() and target.stat().st_mtime >= DRAWING.stat().st_mtime)
    ):
        return
    ensuredir(target.parent)
    draw(target)


def draw(target: Path) -> None:
    """Draw the picture as a PNG file."""
    from . import preview_picture  # Matplotlib takes half a second, and few builds draw

    preview_picture.draw(target)
