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
from collections.abc import Iterator, Mapping
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
REFERENCE = re.compile(r"url\(#([^)]+)\)")  # a picture's, to its own patterns and paths


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
        assert self.article.h1, f"{self.name} has no title"
        return text(self.article.h1)

    @property
    def foot(self) -> str:
        """Styles that put the page's title at the foot of its sheets."""
        title = json.dumps(self.title, ensure_ascii=False)
        return (
            f"#{self.anchor} {{ page: {self.anchor}; }}\n"
            f"@page {self.anchor} {{ @bottom-left {{ content: {title}; }} }}"
        )


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
        own = f"{page.anchor}--"
        for tag in page.article.find_all(True):
            for key, value in tag.attrs.items():
                if key == "id":
                    tag[key] = f"{own}{value}"
                elif "href" in key and str(value).startswith("#"):
                    tag[key] = f"#{own}{str(value)[1:]}"
                elif isinstance(value, str):
                    tag[key] = REFERENCE.sub(rf"url(#{own}\1)", value)
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


def document(folder: Path, language: Language, pages: list[Printed], at: Mapping[str, int]) -> str:
    """Return the book as one document; at: anchor → the number of its sheet."""
    _, cited = words(language), yaml.safe_load((folder / "CITATION.cff").read_text("utf-8"))
    authors = [
        one.get("name") or f"{one['given-names']} {one['family-names']}" for one in cited["authors"]
    ]
    imprint = [
        ", ".join(map(_, authors)),
        _("Version {version}, {date}").format(
            version=cited["version"], date=cited["date-released"]
        ),
        _("The code is under the MIT license, the text and the figures under CC BY 4.0."),
        _("Code that the site folds away is left out here. Figures that move there stand still."),
    ]
    # Pages load the same style sheets in the same order, some less than others.
    styles = [*max((page.styles for page in pages), key=len), STYLE.as_uri()]
    first, *others = pages
    return "\n".join(
        [
            f'<!DOCTYPE html><html lang="{language.tag}" data-theme="light"><head>',
            f'<meta charset="utf-8"><title>{html.escape(first.title)}</title>',
            *(f'<link rel="stylesheet" href="{style}">' for style in styles),
            "<style>",
            *(page.foot for page in others),
            f'</style></head><body><header class="title-page">{first.article}',
            '<div class="imprint">',
            *(f"<p>{html.escape(line)}</p>" for line in imprint),
            '</div></header><nav class="book-contents" id="contents">',
            f"<h1>{_('Contents')}</h1>",
            *(in_contents(*line, at) for line in lines(others)),
            "</nav>",
            *(str(page.article) for page in others),
            "</body></html>",
        ]
    )


def unnumbered(heading: Tag) -> str:
    return re.sub(r"^[\d. ]+", "", text(heading))


def lines(pages: list[Printed]) -> Iterator[tuple[str, str, str]]:
    """Yield the kind, the anchor and the title of each line of the contents."""
    sections = {page.name: page.article.select("section[id] > h2") for page in pages}
    # Titles of sections that occur on several pages, such as "Hints", say little in a list.
    times = Counter(unnumbered(h2) for found in sections.values() for h2 in found)
    part = ""
    for page in pages:
        if page.part != part:
            part = page.part
            yield "part", page.anchor, part
        yield "page", page.anchor, page.title
        for h2 in sections[page.name]:
            if times[unnumbered(h2)] == 1 and h2.parent:
                yield "section", str(h2.parent["id"]), text(h2)


def in_contents(kind: str, anchor: str, title: str, at: Mapping[str, int]) -> str:
    """Return a line of the contents, with the same width before numbers are known."""
    if kind == "part":
        return f'<p class="part">{html.escape(title)}</p>'
    shown = f"<span>{html.escape(title)}</span><i></i><b>{at.get(anchor, '000')}</b>"
    return f'<p class="{kind}"><a href="#{anchor}">{shown}</a></p>'


def add_bookmarks(file: Path, pages: list[Printed], contents: str) -> None:
    pdf, writer = PdfReader(file), PdfWriter(clone_from=file)
    writer.add_outline_item(title=pages[0].title, page_number=0)
    writer.add_outline_item(title=contents, page_number=1)
    above = None
    for kind, anchor, title in lines(pages[1:]):
        if kind != "part":
            place = pdf.named_destinations[f"/{anchor}"]
            number, fit = pdf.get_destination_page_number(place), Fit.xyz(top=place.top)
            parent = above if kind == "section" else None
            made = writer.add_outline_item(title=title, page_number=number, parent=parent, fit=fit)
            above = made if kind == "page" else above
    writer.page_mode = "/UseOutlines"
    writer.write(file)


def places(pdf: PdfReader) -> dict[str, int]:
    """Return anchor → the number of its sheet, counted from 1."""
    found = pdf.named_destinations.items()
    numbers = {name.removeprefix("/"): pdf.get_destination_page_number(at) for name, at in found}
    return {name: number + 1 for name, number in numbers.items() if number is not None}


def print_book(folder: Path, language: Language) -> list[Path]:
    """Print a built book in a language and return the PDF's path.

    The sheets of headings are known only after printing. So the book is printed twice, the second
    time with their numbers in the contents, which have a fixed width.
    """
    check_font(language)  # to report a missing font before the work begins
    _, site = words(language), folder / "_build" / "html" / language.folder
    listed = [("index", ""), *((p.docname, p.caption) for p in contents(folder / "_toc.yml"))]
    pages = [read(site, name, _(part) if part else "") for name, part in listed]
    join(pages)
    work = folder / "_build" / "print"
    work.mkdir(exist_ok=True)
    source, target = work / "book.html", folder / "_build" / f"roofline{language.suffix}.pdf"
    numbers: Mapping[str, int] = {}
    with press() as browser:
        for _time in range(2):
            source.write_text(document(folder, language, pages, numbers), encoding="utf-8")
            page = browser.new_page()
            page.goto(source.as_uri())
            page.evaluate(READY)
            # The style sheet sets the size of the paper.
            page.pdf(path=target, prefer_css_page_size=True, tagged=True)
            numbers = places(PdfReader(target))
    add_bookmarks(target, pages, _("Contents"))
    return [target]


if __name__ == "__main__":
    sys.exit(main(__doc__, print_book))
