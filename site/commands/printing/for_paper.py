"""Changes to an article for print, where nothing can be clicked or unfolded."""

from bs4 import BeautifulSoup, Tag

from . import hatches

# Removed for print: navigation, links into the site, permalink marks, scripts, controls of figures,
# and the code in .above-input, which the site folds because it only draws the figure below it.
FURNITURE = ", ".join(
    (
        "p.place",
        "a.headerlink",
        ".toctree-wrapper",
        "button",
        "script",
        "details.above-input",
        ".live-control",
        ".heading-of-cell",
    )
)
# Picture cards that link to the chapters: in print the contents follow on the next page.
WAYS = ".sd-container-fluid:has(a.sd-stretched-link)"


def prepare(article: Tag) -> None:
    """Remove what only the site needs, unfold blocks, and draw hatches as lines."""
    for ways in article.select(WAYS):
        (ways.find_parent("section") or ways).decompose()
    for tag in article.select(FURNITURE):
        if not tag.decomposed:
            tag.decompose()
    for cell in article.select("div.cell"):
        if not cell.select_one("*"):
            # Remove a cell that held nothing but folded code.
            cell.decompose()
    for details in article.select("details"):
        _unfold(details)
    for picture in article.select("figure.live"):
        _still(picture)
    for picture in article.select("svg"):
        hatches.expand(picture)


def _unfold(details: Tag) -> None:
    """Replace a folded block by its content.

    Keep its title unless it is a cell's output.
    """
    summary = details.summary
    if summary is not None:
        title = summary.select_one(".sd-summary-text")
        if title is None:
            summary.decompose()
        else:
            text = title.get_text(" ", strip=True)
            summary.replace_with(_element("p", "unfolded-title", text))
    details.name = "div"
    details.attrs = {"class": "unfolded" if details.select_one(".unfolded-title") else "output"}


def _still(figure: Tag) -> None:
    """Replace a live figure's controls by a paragraph with their legend."""
    legend = figure.legend
    if legend is not None and legend.parent is not None:
        legend.parent.replace_with(_element("p", "still-title", legend.get_text(" ", strip=True)))


def _element(name: str, kind: str, text: str) -> Tag:
    element = BeautifulSoup("", "html.parser").new_tag(name, attrs={"class": kind})
    element.string = text
    return element
