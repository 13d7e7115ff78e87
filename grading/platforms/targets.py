"""Protects existing files from being overwritten.

Swapping two file names on the command line, or giving one twice, could destroy submissions.
"""

import zipfile
from pathlib import Path

from grading.errors import Unable
from grading.platforms.downloads import DAMAGED
from grading.platforms.roster import Table, text_of


def refuse_same(source: Path, target: Path, what: str) -> None:
    """Raise Unable if both paths are the same file."""
    if target.exists() and source.samefile(target):
        raise Unable(f"{target} is the file to read itself; give another name for {what}")


def refuse_other_zip(target: Path, page: str) -> None:
    """Raise Unable if `target` is a file other than an empty one or a zip of pages.

    page: the name with which the name of every page in the zip must end.
    """
    if _is_new(target):
        return
    try:
        with zipfile.ZipFile(target) as zipped:
            others = [name for name in zipped.namelist() if not _is_page(name, page)]
    except DAMAGED:
        others = [target.name]
    if others:
        raise Unable(
            f"{target} is there already and is no zip of pages of feedback; give another name"
        )


def refuse_other_table(target: Path, text: str) -> None:
    """Raise Unable if `target` exists, isn't empty and has other columns."""
    if _is_new(target):
        return
    try:
        same = Table(text_of(target.read_bytes())).heads == Table(text).heads
    except ValueError:
        same = False
    if not same:
        raise Unable(f"{target} is there already and has other columns; give another name")


def _is_new(target: Path) -> bool:
    if target.is_dir():
        raise Unable(f"{target} is a folder; give the name of a file in it")
    if not target.parent.is_dir():
        raise Unable(f"there is no folder {target.parent}")
    return not target.exists() or target.stat().st_size == 0


def _is_page(name: str, page: str) -> bool:
    return name.endswith((f"/{page}", f"_{page}"))
