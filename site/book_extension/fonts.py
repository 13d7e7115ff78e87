"""The site's fonts, from packages, reduced to fixed ranges of characters."""

from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont
from sphinx.application import Sphinx
from sphinx.util.osutil import ensuredir

from . import languages

FACES = {
    "font-source-serif-pro": [
        f"SourceSerifPro-{weight}" for weight in ("Regular", "It", "Semibold")
    ],
    "font-source-sans-pro": [f"SourceSansPro-{weight}" for weight in ("Regular", "Semibold")],
}
# Flag in the OpenType table "glyf": a composite glyph takes the width of this component.
USE_MY_METRICS = 0x0200
# The font of formulas: its MATH table tells browsers how to draw fractions, roots and indices.
MATHS = Path("ziamath/fonts/STIXTwoMath-Regular.ttf")
# Characters of all fonts: Latin, Greek, punctuation, superscript and subscript digits, arrows,
# mathematical operators.
RANGES = [
    (0x20, 0xFF),
    (0x391, 0x3C9),
    (0x2010, 0x203A),
    (0x2044, 0x209C),
    (0x2190, 0x2193),
    (0x2200, 0x2265),
]
# Additional characters of the formula font: arrows, operators, stretchy brackets, italic letters.
MATHS_RANGES = [
    *RANGES,
    (0x2102, 0x2124),
    (0x2194, 0x21FF),
    (0x2266, 0x22FF),
    (0x239B, 0x23B3),
    (0x27F0, 0x27FF),
    (0x1D434, 0x1D467),
    (0x1D6E2, 0x1D71B),
]


def write_fonts(app: Sphinx) -> None:
    """Write each font face into the site, unless its file is up to date.

    A file older than this module is written again. Translations use the same files.
    """
    if app.builder.format != "html" or languages.is_translation(app):
        return
    folder = Path(app.outdir) / "_static" / "fonts"
    ensuredir(folder)
    for source, ranges in sources():
        target = folder / f"{source.stem}.woff"
        if not target.exists() or target.stat().st_mtime < Path(__file__).stat().st_mtime:
            cut(source, target, ranges)


def sources() -> Iterator[tuple[Path, list[tuple[int, int]]]]:
    """Yield each face's file and the Unicode ranges to keep of it."""
    for package, faces in FACES.items():
        for face in faces:
            yield font_file(package, face), RANGES
    yield Path(str(distribution(MATHS.parts[0]).locate_file(MATHS))), MATHS_RANGES


def font_file(package: str, face: str) -> Path:
    folder = f"{package.replace('-', '_')}/files"
    return Path(str(distribution(package).locate_file(f"{folder}/{face}.ttf")))


def cut(source: Path, target: Path, ranges: list[tuple[int, int]]) -> None:
    """Write a compressed TrueType font with only the characters in these ranges."""
    options = subset.Options(flavor="woff", hinting=False)
    font = subset.load_font(str(source), options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=[c for first, last in ranges for c in range(first, last + 1)])
    subsetter.subset(font)
    keep_own_widths(font)
    subset.save_font(font, str(target), options)


def keep_own_widths(font: TTFont) -> None:
    """Make each composite glyph use its own width from the font's table.

    Otherwise it may get the width of one of its parts. FreeType, so Linux and Android, obeys
    USE_MY_METRICS: in Source Serif, "%" was as wide as the bar in it, and the next letter was drawn
    over it.
    """
    for name in font.getGlyphOrder() if "glyf" in font else ():
        for part in getattr(font["glyf"][name], "components", ()):
            part.flags &= ~USE_MY_METRICS
