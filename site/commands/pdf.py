"""Print the built book into one PDF: ``python site pdf [folder]``.

The built pages become one document, which Chromium prints. The command prints the PDF's path.
``--language zh_CN`` prints a translation.
"""

import html
import json
import posixpath
import re
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

import yaml
from book_extension.contents import pages as contents
from book_extension.languages import Language, words
from bs4 import BeautifulSoup, Tag
from pypdf import PdfReader, PdfWriter
from pypdf.generic import Fit

from commands.press import READY, check_font, main, press

STYLE = Path(__file__).with_name("paper.css")
# Attributes, other than href, that refer to ids of the same page.
POINTERS = ("aria-labelledby", "aria-describedby", "aria-controls", "for", "headers")
# A picture's reference to its own patterns and paths.
REFERENCE = re.compile(r"url\(\s*(['\"]?)#([^)'\"]+)\1\s*\)")


@dataclass
class Printed:
    """A built page: docname, caption of its part, article, and addresses of its style sheets."""

    name: str
    part: str
    article: Tag
    styles: list[str]

    @property
    def anchor(self) -> str:
        return self.name.replace("/", "-")

    @property
    def title(self) -> str:
        heading = self.article.h1
        assert heading is not None, f"{self.name} has no title"
        return text(heading)

    def sections(self) -> dict[str, str]:
        """Return the sections' titles by their ids."""
        found = self.article.select("section[id] > h2")
        return {str(heading.parent["id"]): text(heading) for heading in found if heading.parent}


def text(heading: Tag) -> str:
    return " ".join(heading.get_text().split())


def read(site: Path, name: str, part: str) -> Printed:
    """Read a built page, with nothing folded and nothing to press."""
    soup = BeautifulSoup((site / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
    article = soup.select_one("article.bd-article")
    assert article is not None, f"{name} has no article"
    for tag in article.select("a.headerlink, script, button"):
        tag.decompose()
    for details in article.select("details"):
        details["open"] = ""
    links = [urlsplit(str(link["href"])) for link in soup.select('head link[rel="stylesheet"]')]
    styles = [(site / name).parent.joinpath(link.path).resolve().as_uri() for link in links]
    return Printed(name, part, article, styles)


def join(pages: list[Printed]) -> None:
    """Prefix ids with their page's name; turn links between pages into inner links."""
    known = {page.name: page for page in pages}
    for page in pages:
        for tag in page.article.find_all(True):
            for key, value in tag.attrs.items():
                if key == "id":
                    tag[key] = f"{page.anchor}--{value}"
                elif key in POINTERS:
                    tag[key] = " ".join(f"{page.anchor}--{name}" for name in str(value).split())
                elif "href" in key and str(value).startswith("#"):
                    tag[key] = f"#{page.anchor}--{str(value)[1:]}"
                elif isinstance(value, str):
                    tag[key] = REFERENCE.sub(rf"url(#{page.anchor}--\2)", value)
        page.article["id"] = page.anchor
        for link in page.article.select("a[href]"):
            address = urlsplit(str(link["href"]))
            if address.scheme or not address.path:
                continue
            path = posixpath.join(posixpath.dirname(page.name), unquote(address.path))
            name, kind = posixpath.splitext(posixpath.normpath(path))
            if kind == ".html" and name in known:
                target, part = known[name].anchor, unquote(address.fragment)
                link["href"] = f"#{target}--{part}" if part else f"#{target}"
            else:  # a file to download, or a page that isn't printed
                del link["href"]


class Book:
    """A built book's pages, joined, and the words of its title page."""

    def __init__(self, folder: Path, language: Language) -> None:
        self.site = folder / "_build" / "html" / language.folder
        self.language, self._ = language, words(folder, language)
        listed = [("index", ""), *((p.docname, p.caption) for p in contents(folder / "_toc.yml"))]
        self.pages = [read(self.site, name, self._(part) if part else "") for name, part in listed]
        join(self.pages)
        self.cited = yaml.safe_load((folder / "CITATION.cff").read_text(encoding="utf-8"))
        self.title = self.pages[0].title
        self.authors = ", ".join(
            self._(author.get("name") or f"{author['given-names']} {author['family-names']}")
            for author in self.cited["authors"]
        )
        # Titles of sections that occur on several pages, such as "Hints", say little in a list.
        plain = [re.sub(r"^[\d. ]+", "", one) for p in self.pages for one in p.sections().values()]
        self.common = {title for title, times in Counter(plain).items() if times > 1}

    def sections(self, page: Printed) -> dict[str, str]:
        found = page.sections().items()
        return {id: one for id, one in found if re.sub(r"^[\d. ]+", "", one) not in self.common}

    def document(self, numbers: Mapping[str, int]) -> str:
        """Return the document; numbers: anchor → the number of its sheet."""
        _ = self._
        version, date = self.cited["version"], self.cited["date-released"]
        imprint = [
            self.authors,
            _("Version {version}, {date}").format(version=version, date=date),
            _("The code is under the MIT license, the text and the figures under CC BY 4.0."),
            _(
                "Code that the site folds away is left out here. "
                "Figures that move there stand still."
            ),
        ]
        # Pages load the same style sheets in the same order, some less than others.
        most = max((page.styles for page in self.pages), key=len)
        styles = [*most, STYLE.as_uri()]
        first, *pages = self.pages
        return "\n".join(
            [
                f'<!DOCTYPE html><html lang="{self.language.tag}" data-theme="light"><head>',
                f'<meta charset="utf-8"><title>{html.escape(self.title)}</title>',
                *(f'<link rel="stylesheet" href="{style}">' for style in styles),
                "<style>",
                *map(foot, pages),
                f'</style></head><body><header class="title-page">{first.article}',
                '<div class="imprint">',
                *(f"<p>{html.escape(line)}</p>" for line in imprint),
                '</div></header><nav class="book-contents" id="contents">',
                f"<h1>{_('Contents')}</h1>",
                *self.lines(numbers),
                "</nav>",
                *(str(page.article) for page in pages),
                "</body></html>",
            ]
        )

    def lines(self, numbers: Mapping[str, int]) -> list[str]:
        """Return the lines of the contents, with the same width before numbers are known."""

        def line(kind: str, anchor: str, title: str) -> str:
            number = numbers.get(anchor, "000")
            shown = f"<span>{html.escape(title)}</span><i></i><b>{number}</b>"
            return f'<p class="{kind}"><a href="#{anchor}">{shown}</a></p>'

        found, part = [], ""
        for page in self.pages[1:]:
            if page.part != part:
                part = page.part
                found.append(f'<p class="part">{html.escape(part)}</p>')
            found.append(line("page", page.anchor, page.title))
            found += [line("section", *one) for one in self.sections(page).items()]
        return found


def foot(page: Printed) -> str:
    """Return styles that put a page's title at the foot of its sheets."""
    title = json.dumps(page.title, ensure_ascii=False)
    return (
        f"#{page.anchor} {{ page: {page.anchor}; }}\n"
        f"@page {page.anchor} {{ @bottom-left {{ content: {title}; }} }}"
    )


def places(pdf: PdfReader) -> dict[str, int]:
    """Return anchor → the number of its sheet, counted from 1."""
    found = pdf.named_destinations.items()
    numbers = {name.removeprefix("/"): pdf.get_destination_page_number(at) for name, at in found}
    return {name: number + 1 for name, number in numbers.items() if number is not None}


def finish(book: Book, source: Path, target: Path) -> None:
    """Write the PDF with bookmarks, which are shown when it opens, and with metadata."""
    pdf, writer = PdfReader(source), PdfWriter(clone_from=source)

    def mark(title: str, anchor: str, above: object = None) -> object:
        at = pdf.named_destinations[f"/{anchor}"]
        number = pdf.get_destination_page_number(at)
        return writer.add_outline_item(
            title=title, page_number=number, parent=above, fit=Fit.xyz(top=at.top)
        )

    writer.add_outline_item(title=book.title, page_number=0)
    writer.add_outline_item(title=book._("Contents"), page_number=1)
    for page in book.pages[1:]:
        above = mark(page.title, page.anchor)
        for anchor, title in book.sections(page).items():
            mark(title, anchor, above)
    writer.page_mode = "/UseOutlines"
    # Use the release's date, so that the same pages give the same file.
    day = f"D:{str(book.cited['date-released']).replace('-', '')}000000Z"
    writer.metadata = {
        **{"/Title": book.title, "/Author": book.authors, "/Creator": "roofline course"},
        **{"/CreationDate": day, "/ModDate": day},
    }
    writer.write(target)


def print_book(folder: Path, language: Language) -> list[Path]:
    """Print a built book in a language and return the PDF's path.

    The sheets of headings are known only after printing. So the book is printed twice, the second
    time with their numbers in the contents, which have a fixed width.
    """
    check_font(language.tag)  # to report a missing font before the work begins
    work = folder / "_build" / "print"
    work.mkdir(exist_ok=True)
    document, printed = work / "book.html", work / "printed.pdf"
    target = folder / "_build" / f"roofline{language.suffix}.pdf"
    book = Book(folder, language)
    numbers: Mapping[str, int] = {}
    with press() as browser:
        for _time in range(2):
            document.write_text(book.document(numbers), encoding="utf-8")
            page = browser.new_page()
            page.goto(document.as_uri())
            page.evaluate(READY)
            # The style sheet sets the size of the paper.
            page.pdf(path=printed, prefer_css_page_size=True, tagged=True)
            before, numbers = numbers, places(PdfReader(printed))
    assert numbers == before, "the numbers in the contents moved a heading"
    finish(book, printed, target)
    return [target]


if __name__ == "__main__":
    sys.exit(main(__doc__, print_book))
