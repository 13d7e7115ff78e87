"""Merging of a translated site into the original's, without common files.

Scripts, styles, fonts, pictures, Python and unchanged notebooks are the same in all languages. The
translated pages use the original's, by relative addresses, so that they work from disk and below a
path.
"""

import filecmp
import os
import re
import shutil
from pathlib import Path, PurePosixPath

ADDRESS = re.compile(r'(?P<before>\s(?:href|src|content|data-[\w-]+)=")(?P<path>[^"#?:]+)')
# Hosts use only the 404 page at the top of a site, which finds the top by its objects.inv.
LEFT_OUT = {"404.html", "objects.inv", ".buildinfo"}


def publish(translated: Path, original: Path, target: Path) -> None:
    """Copy a translated site to `target`, except for shared files.

    `target` is a folder in the original.
    """
    files = {path.relative_to(translated) for path in translated.rglob("*") if path.is_file()}
    files = {path for path in files if path.as_posix() not in LEFT_OUT}
    shared = {
        path for path in files if not is_page(path) and same(translated / path, original / path)
    }
    only_there = original_files(original, target) - files
    known = {path.as_posix() for path in shared | only_there}
    known |= whole_folders(shared | only_there, files)
    for path in sorted(files - shared):
        copy = target / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        if is_page(path):
            text = (translated / path).read_text(encoding="utf-8")
            page = PurePosixPath(path.as_posix())
            copy.write_text(with_shared(text, page, known, target.name), encoding="utf-8")
        else:
            shutil.copyfile(translated / path, copy)


def is_page(path: Path) -> bool:
    return path.suffix == ".html" and path.parts[0] != "_static"


def original_files(original: Path, target: Path) -> set[Path]:
    """Return the original site's files, except those in the translation's folder."""
    found = {path for path in original.rglob("*") if path.is_file()}
    return {path.relative_to(original) for path in found if target not in path.parents}


def same(one: Path, other: Path) -> bool:
    """Return whether two files have the same content."""
    if not other.is_file():
        return False
    return one.samefile(other) or filecmp.cmp(one, other, shallow=False)


def whole_folders(shared: set[Path], files: set[Path]) -> set[str]:
    """Return the folders whose files are all shared with the original site."""
    mixed = {folder for path in files - shared for folder in path.parents}
    return {folder.as_posix() for path in shared for folder in path.parents} - {
        folder.as_posix() for folder in mixed
    }


def with_shared(text: str, page: PurePosixPath, shared: set[str], folder: str) -> str:
    """Return a page's text with addresses of shared files pointing to the original.

    page: its path in the translated site, which becomes this folder of the original's.
    """

    def address(found: re.Match[str]) -> str:
        path = os.path.normpath(page.parent / found["path"])
        if path not in shared:
            return found[0]
        slash = "/" if found["path"].endswith("/") else ""
        return found["before"] + os.path.relpath(path, folder / page.parent) + slash

    return ADDRESS.sub(address, text)
