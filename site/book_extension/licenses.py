"""License texts of the packages that the site contains, as one file of the site.

The page chapters/privacy.md says what each package is for, and links to the file.
"""

import re
import zipfile
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path, PurePosixPath

from fontTools.ttLib import TTFont
from sphinx.application import Sphinx

PAGE = Path("chapters/privacy.md")
FILE = "licenses.txt"
NAMED = re.compile(r'\bpackage\("([\w.-]+)"\)')
# Names of license files, at any depth of a package.
TEXT = re.compile(r"(?i)(^|[^a-z])(licen[cs]e|copying|ofl|notice)(?![a-z])")
PROGRAMS = (".py", ".pyc", ".js", ".css", ".json")
RULE = "=" * 80
FONTS = (".otf", ".ttf")
# IDs of a font's copyright and license in its name table.
COPYRIGHT, LICENSE = 0, 13


def write_texts(app: Sphinx) -> None:
    """Write the license texts of all packages that the privacy page names.

    Do nothing if there is no such page.
    """
    page, target = Path(app.srcdir) / PAGE, Path(app.outdir) / FILE
    if app.builder.format != "html" or not page.is_file():
        return
    names = NAMED.findall(page.read_text(encoding="utf-8"))
    # List each package once, in the page's order.
    parts = [texts(metadata.distribution(name)) for name in dict.fromkeys(names)]
    target.write_text("\n".join(parts), encoding="utf-8")


def texts(package: metadata.Distribution) -> str:
    """Return a package's distinct license files and font notes, with their paths."""
    files = {str(file): Path(str(package.locate_file(file))) for file in package.files or []}
    return of_files(f"{package.metadata['Name']} {package.version}", files)


def of_files(title: str, files: Mapping[str, Path | zipfile.Path]) -> str:
    """Return the license texts and font notices among a package's files, by path."""
    seen: dict[str, str] = {}
    for name, path in files.items():
        if not path.is_file():
            continue
        if name.endswith(FONTS):
            seen.setdefault(font_notice(path), name)
        elif TEXT.search(PurePosixPath(name).name) and not name.endswith(PROGRAMS):
            text = path.read_text(encoding="utf-8", errors="replace").strip()
            seen.setdefault(text, name)
    found = "\n\n".join(f"{name}\n\n{text}" for text, name in seen.items() if text)
    return entry(title, found or "The package brings no text of its license.")


def entry(title: str, text: str) -> str:
    return f"{RULE}\n{title}\n{RULE}\n\n{text}\n"


def font_notice(path: Path | zipfile.Path) -> str:
    """Return a font's copyright and license; "" if it names no license."""
    with path.open("rb") as file, TTFont(file) as font:
        copyright, license = (font["name"].getDebugName(at) or "" for at in (COPYRIGHT, LICENSE))
    return f"{copyright}\n{license}".strip() if license else ""
