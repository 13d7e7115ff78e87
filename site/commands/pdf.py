"""Print the built book into one PDF: ``python site pdf [folder]``.

The command prints the PDF's path. ``--language zh_CN`` prints a translation.
"""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

from book_extension.languages import ORIGINAL, Language, chosen

from commands.printing import finished_pdf, one_document
from commands.printing.press import CannotPrint, check_font, press

ROOT = Path(__file__).resolve().parents[2]
NAME = "roofline.pdf"
# Maximum number of prints. Page numbers in the contents could push a line onto the next page.
TRIES = 4


def print_book(folder: Path, language: Language = ORIGINAL) -> Path:
    """Print a built book in a language and return the PDF's path.

    Headings' page numbers are known only after printing. So the book is printed first without
    numbers in the contents, and then with those of the last print, until they agree.
    """
    output = folder / "_build"
    work = output / "print"
    work.mkdir(exist_ok=True)
    suffix = language.suffix
    document, printed = work / f"roofline{suffix}.html", work / f"printed{suffix}.pdf"
    # Check first, to report a missing font before the work begins.
    check_font(language.tag)
    with press() as print_out:
        book = one_document.compose(folder, language)
        anchors = [a for part in book.contents().values() for a in one_document.anchors(part)]
        numbers: Mapping[str, int] = {}
        for _ in range(TRIES):
            document.write_text(book.document(document, numbers), encoding="utf-8")
            print_out(document, printed)
            found = finished_pdf.numbers(printed, anchors)
            if found == numbers:
                break
            numbers = found
        else:
            raise RuntimeError("the numbers in the contents do not settle")
    target = (output / NAME).with_stem(f"roofline{suffix}")
    date = str(book.cited["date-released"])
    finished_pdf.finish(
        printed,
        target,
        headings=one_document.headings(document.read_text(encoding="utf-8")),
        title=book.title,
        authors=book.authors,
        date=date,
    )
    return target


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("book", nargs="?", type=Path, default=ROOT)
    parser.add_argument("--language", type=chosen, default=ORIGINAL, help="such as zh_CN")
    told = parser.parse_args()
    try:
        print(print_book(told.book.resolve(), told.language))
    except CannotPrint as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
