"""What an installed package says of itself: its version, its licence and that of its fonts.

Formats: the core metadata of Python packages,
https://packaging.python.org/specifications/core-metadata; the names in an OpenType font,
https://learn.microsoft.com/typography/opentype/spec/name.
"""

import re
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from fontTools.ttLib import TTFont

FIELDS = ("License-Expression", "License", "Classifier")
UNKNOWN = "not said"
# Where a font names its licence, among its names.
LICENCE = 13
FONTS = (".otf", ".ttf")
NAMED = re.compile(r"under the (.+?)\.(?:\s|$)")


@dataclass(frozen=True)
class Package:
    """A package as it is installed here; its licence in the words of its author."""

    version: str
    licence: str


def package(name: str) -> Package:
    """The facts of an installed package. LookupError if there is none of this name."""
    found = distribution(name)
    fields = {field: found.metadata.get_all(field) or [] for field in FIELDS}
    expression, field = ("".join(fields[name][:1]) for name in FIELDS[:2])
    classifiers = [line for line in fields["Classifier"] if line.startswith("License ::")]
    return Package(found.version, licence(expression, field, classifiers))


def licence(expression: str, field: str, classifiers: list[str]) -> str:
    """The licence's name: from the newest field of the metadata that has one, "" where it lacks.

    Some packages have the whole text where its name should stand.
    """
    name = expression or field
    if not name.strip() or "\n" in name.strip():
        name = ", ".join(line.rpartition(" :: ")[2] for line in classifiers)
    return name.strip() or UNKNOWN


def font_licence(name: str) -> str:
    """The licence that the fonts in a package name, which may differ from the package's own.

    LookupError if no package of this name is installed, or none of its fonts names a licence.
    """
    found = distribution(name)
    named = []
    for file in found.files or []:
        if file.suffix in FONTS:
            with TTFont(Path(str(found.locate_file(file))), lazy=True) as font:
                named += NAMED.findall(font["name"].getDebugName(LICENCE) or "")
    if not named:
        raise LookupError(f"name is {name!r}; allowed is a package whose fonts name their licence")
    return "; ".join(dict.fromkeys(named))


def distribution(name: str) -> metadata.Distribution:
    try:
        return metadata.distribution(name)
    except metadata.PackageNotFoundError:
        raise LookupError(
            f"name is {name!r}; allowed is the name of a package that is installed"
        ) from None
