"""How long a chapter takes to read: counted from its words, formulas and figures.

The weights are the round ones that fit readers' estimates of the second edition best: nine pages,
least squares. Questions and cells were tried too; their best weights are zero. Exercises, and what
a reader does on a machine of their own, are left out.
"""

import math
from collections.abc import Iterator

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import get_translation

_ = get_translation("sphinx")
WORDS_PER_MINUTE = 80
FORMULA, FIGURE = 1 / 3, 1.5  # minutes for each
STEP = 5  # minutes are rounded to multiples of this

# Elements whose text is not read as prose.
NOT_PROSE = {"literal_block", "raw", "math", "math_block", "answer", "table", "meta", "comment"}


def counted(doctree: nodes.document) -> dict[str, int]:
    """Return the numbers of words, formulas and figures, which take time to read."""
    raws = [raw.astext() for raw in doctree.findall(nodes.raw)]
    tags = [element.tagname for element in doctree.findall(nodes.Element)]
    return {
        "words": sum(len(text.split()) for text in prose(doctree)),
        "formulas": tags.count("math") + tags.count("math_block"),
        "figures": sum("<svg" in raw for raw in raws) + tags.count("image"),
    }


def prose(element: nodes.Element) -> Iterator[str]:
    """Yield the texts in an element that are read as prose."""
    for child in element.children:
        if isinstance(child, nodes.Text):
            yield str(child)
        elif isinstance(child, nodes.Element) and child.tagname not in NOT_PROSE:
            yield from prose(child)


def exactly(counts: dict[str, int]) -> float:
    """Return the minutes to read this many words, formulas and figures, not rounded."""
    words = counts["words"] / WORDS_PER_MINUTE
    return words + FORMULA * counts["formulas"] + FIGURE * counts["figures"]


def minutes(counts: dict[str, int]) -> int:
    """Return ``exactly(counts)`` rounded to a multiple of STEP, at least STEP."""
    return STEP * max(round(exactly(counts) / STEP), 1)


def hours(total: float) -> str:
    """Return minutes in words, rounded to half hours: "half an hour", "2½ hours"."""
    whole, half = divmod(max(math.floor(total / 30 + 0.5), 1), 2)
    if not whole:
        return str(_("half an hour"))
    number = f"{whole}{'½' * half}"
    return str(_("an hour") if number == "1" else _("{number} hours")).format(number=number)


def of_page(app: Sphinx, page: str) -> int:
    """Return how many minutes a page takes to read, as a multiple of STEP."""
    doctree = app.env.get_doctree(page)
    # A translated page has been counted before its translation, so that all languages agree.
    return minutes(doctree.get("counted") or counted(doctree))


def of_section(section: nodes.section) -> float:
    """Return how many minutes a section takes to read, not rounded."""
    return exactly(section.get("counted") or counted(section))


def chapters(app: Sphinx) -> list[str]:
    """Return the docnames of the introduction and chapters, in order.

    These are the pages of all parts up to the last numbered one.
    """
    parts = app.config.external_site_map.root.subtrees
    count = max((number for number, part in enumerate(parts, 1) if part.numbered), default=0)
    return [str(item) for part in parts[:count] for item in part.items]
