"""Reading anchors' pages from a printed PDF, and setting its metadata."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from pypdf import PdfReader, PdfWriter
from pypdf.generic import DictionaryObject, NameObject, TextStringObject

TOOL = "roofline course"


def numbers(path: Path, anchors: Iterable[str]) -> dict[str, int]:
    """Return the page number of each anchor, counted from 1."""
    reader = PdfReader(path)
    places = reader.named_destinations
    found = {}
    for anchor in anchors:
        page = reader.get_destination_page_number(places[f"/{anchor}"])
        assert page is not None, f"{anchor} is on no page"
        found[anchor] = page + 1
    return found


def finish(
    source: Path, target: Path, *, headings: list[str], title: str, authors: str, date: str
) -> None:
    """Write the PDF with corrected bookmarks, shown when it opens, and metadata."""
    writer = PdfWriter(clone_from=source)
    bookmarks = list(_bookmarks(writer.root_object["/Outlines"].get_object()))
    assert len(bookmarks) == len(headings), "a heading has no bookmark"
    # Fix the titles: Chromium repeats some, and drops the space at a line break.
    for bookmark, heading in zip(bookmarks, headings, strict=True):
        bookmark[NameObject("/Title")] = TextStringObject(heading)
    writer.page_mode = "/UseOutlines"
    # Use the release's date, so that the same pages give the same file.
    day = f"D:{date.replace('-', '')}000000Z"
    writer.metadata = {
        "/Title": title,
        "/Author": authors,
        "/Creator": TOOL,
        "/CreationDate": day,
        "/ModDate": day,
    }
    writer.write(target)


def _bookmarks(above: object) -> Iterator[DictionaryObject]:
    """Yield all bookmarks below one, in page order."""
    assert isinstance(above, DictionaryObject)
    below = above.get("/First")
    while below is not None:
        bookmark = below.get_object()
        yield bookmark
        yield from _bookmarks(bookmark)
        below = bookmark.get("/Next")
