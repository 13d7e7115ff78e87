"""Metadata of installed packages: version, license, and license of fonts.

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
LICENSE_NAME_ID = 13  # name ID of the license description in an OpenType font
FONTS = (".otf", ".ttf")
NAMED = re.compile(r"under the (.+?)\.(?:\s|$)")


@dataclass(frozen=True)
class Package:
    """An installed package: its version, and its license as named in its metadata."""

    version: str
    license: str


def package(name: str) -> Package:
    """Return the facts of a package; raise LookupError if it isn't installed."""
    found = distribution(name)
    expression, field, classifiers = (found.metadata.get_all(name) or [] for name in FIELDS)
    licenses = [line for line in classifiers if line.startswith("License ::")]
    return Package(found.version, license("".join(expression), "".join(field), licenses))


def license(expression: str, field: str, classifiers: list[str]) -> str:
    """Return the license's name, from the newest metadata field that has one.

    Some packages have the whole text of the license in the field for its name.
    """
    name = expression or field
    if not name.strip() or "\n" in name.strip():
        name = ", ".join(line.rpartition(" :: ")[2] for line in classifiers)
    return name.strip() or UNKNOWN


def font_license(name: str) -> str:
    """Return the license named in a package's fonts, which may differ from its own.

    Raise LookupError if the package isn't installed, or none of its fonts names a license.
    """
    found = distribution(name)
    named = []
    for file in found.files or []:
        if file.suffix in FONTS:
            with TTFont(Path(str(found.locate_file(file)))) as font:
                named += NAMED.findall(str(font["name"].getDebugName(LICENSE_NAME_ID)))
    if not named:
        raise LookupError(f"name is {name!r}; allowed is a package whose fonts name their license")
    return "; ".join(dict.fromkeys(named))


def distribution(name: str) -> metadata.Distribution:
    try:
        return metadata.distribution(name)
    except metadata.PackageNotFoundError:
        raise LookupError(
            f"name is {name!r}; allowed is the name of a package that is installed"
        ) from None
