"""Builds of the book's translations, which are put into the original's site."""

import shutil
import subprocess
import sys
from pathlib import Path

from book_extension.languages import ORIGINAL, TRANSLATIONS, of_book

from . import shared_files

SITE = Path(__file__).resolve().parents[2]


class Translations:
    """Builds of all translations of a book from the same executed cells.

    Each runs in its own process.
    """

    def __init__(self, book: Path, cache: Path, *, fresh: bool, force_all: bool) -> None:
        """Start the builds. fresh, force_all: see `commands.translated.build`."""
        self.book = book
        options = ["--fresh"] * fresh + ["--force-all"] * force_all
        self.processes = {
            language: subprocess.Popen(
                [sys.executable, SITE, "translated", language.code, book, cache, *options],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            for language in of_book(book)
            if language is not ORIGINAL
        }

    def finish(self, *, report: bool) -> bool:
        """Wait for the builds and put them into the site; return whether all succeeded.

        report: print what the builds print.
        """
        succeeded = True
        for process in self.processes.values():
            printed, _ = process.communicate()
            if report:
                sys.stderr.write(printed)
            succeeded &= process.returncode == 0
        if succeeded and report:
            self.publish()
        return succeeded

    def publish(self) -> None:
        output = self.book / "_build"
        for language in TRANSLATIONS:
            target = output / "html" / language.folder
            shutil.rmtree(target, ignore_errors=True)
            if language in self.processes:
                shared_files.publish(output / language.code / "html", output / "html", target)
