"""The licences of what the site takes from other packages, as one file beside its pages.

The page chapters/privacy.md says what each of them is for, and links to the file.
"""

import re
import zipfile
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path, PurePosixPath

from fontTools.ttLib import TTFont
from sphinx.application import Sphinx

PAGE = Path("chapters/privacy.md")
FILE = "licences.txt"
NAMED = re.compile(r'\bpackage\("([\w.-]+)"\)')
# Files that hold a licence, wherever they lie in a package.
TEXT = re.compile(r"(?i)(^|[^a-z])(licen[cs]e|copying|ofl|notice)(?![a-z])")
PROGRAMS = (".py", ".pyc", ".js", ".css", ".json")
RULE = "=" * 80
FONTS = (".otf", ".ttf")
# A font's copyright and its licence, as numbers of its names.
COPYRIGHT, LICENCE = 0, 13


def write_texts(app: Sphinx) -> None:
    """Write the texts of all packages that the page names; nothing for a book without the page."""
    page, target = Path(app.srcdir) / PAGE, Path(app.outdir) / FILE
    if app.builder.format != "html" or not page.is_file():
        return
    names = NAMED.findall(page.read_text(encoding="utf-8"))
    target.parent.mkdir(parents=True, exist_ok=True)
    # Each once, in the order of the page.
    parts = [texts(metadata.distribution(name)) for name in dict.fromkeys(names)]
    target.write_text("\n".join(parts), encoding="utf-8")


def texts(package: metadata.Distribution) -> str:
    """Each different licence file of a package, and what its fonts say, below its path there."""
    files = {str(file): Path(str(package.locate_file(file))) for file in package.files or []}
    return of_files(f"{package.metadata['Name']} {package.version}", files)


def of_files(title: str, files: Mapping[str, Path | zipfile.Path]) -> str:
    """The same of files that are given by their path in a package."""
    seen: dict[str, str] = {}
    for name, path in files.items():
        if not path.is_file():
            continue
        if name.endswith(FONTS):
            seen.setdefault(said_in_font(path), name)
        elif TEXT.search(PurePosixPath(name).name) and not name.endswith(PROGRAMS):
            text = path.read_text(encoding="utf-8", errors="replace").strip()
            seen.setdefault(text, name)
    found = "\n\n".join(f"{name}\n\n{text}" for text, name in seen.items() if text)
    return entry(title, found or "The package brings no text of its licence.")


def entry(title: str, text: str) -> str:
    return f"{RULE}\n{title}\n{RULE}\n\n{text}\n"


def said_in_font(path: Path | zipfile.Path) -> str:
    """The copyright and the licence that stand in a font, "" if it names no licence."""
    with path.open("rb") as file, TTFont(file, lazy=True) as font:
        copyright, licence = (font["name"].getDebugName(at) or "" for at in (COPYRIGHT, LICENCE))
    return f"{copyright}\n{licence}".strip() if licence else ""
