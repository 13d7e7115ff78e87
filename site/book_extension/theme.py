"""The layout of pages, over Sphinx's basic theme; style sheets and scripts that no page uses go."""

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.config import Config

from . import languages, palette

HERE = Path(__file__).parent
# Docutils gives bibliography entries ARIA roles that are deprecated or not allowed there. And
# nothing reads these classes, of which a page has hundreds. The name that MyST-NB gives each folded
# cell would hide what its summary says.
NEEDLESS = re.compile(
    r' role="doc-biblioentry"| role="list"(?= class="citation-list")| docutils container(?=")'
    r"|(?<=<pre>)<span></span>|sd-sphinx-override | sd-card sd-mb-3"
    r'|(?<=<summary) aria-label="Toggle hidden content"'
    r'|(?<=<th class=")head (?=text-right)| version="1.1"(?= width="1.5em")'
    r'| class="(?:row-odd|row-even|reference internal|head text-left|text-left|std std-ref'
    r'|sd-octicon [\w-]+)"'
)
TABLE = re.compile(r"<table\b.*?</table>", re.DOTALL)
# Of packages whose markup course.css styles: Sphinx, folded boxes, boxes of cells, colors of code.
UNUSED = ("basic.css", "design-tabs", "sphinx-design", "mystnb", "pygments")


def use_templates(app: Sphinx, config: Config) -> None:
    config.templates_path.insert(0, str(HERE / "templates"))
    config.html_additional_pages["404"] = "404.html"
    # Jupyter Book sets options of its own theme. Sphinx's "/" for the search would keep a reader
    # from typing a division.
    config.html_theme_options = {"enable_search_shortcuts": False}


def trim_pages(app: Sphinx) -> None:
    """Drop the line breaks after template tags and the indentation before them."""
    if isinstance(app.builder, StandaloneHTMLBuilder):
        environment = app.builder.templates.environment
        environment.trim_blocks = environment.lstrip_blocks = True


def prepare_page(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Pass facts about a page to the templates; drop scripts that it doesn't need."""
    context["place"] = place(app, page)
    context["favicon_url"] = context["pathto"](f"_static/{palette.ICON}", resource=True)
    body = NEEDLESS.sub("", context.get("body", ""))
    context["body"] = TABLE.sub(r'<div class="scrolls">\g<0></div>', body)
    context["page_contents"] = NEEDLESS.sub("", sections(context.get("toc") or ""))
    context["author"] = app.config.author
    context["social"] = social(app, page, context, doctree)
    unused = list(UNUSED)
    if "std-term" not in context["body"]:
        unused.append("term-notes")
    for files in (context["script_files"], context["css_files"]):
        named = ((file, f"{file.filename} {file.attributes}") for file in files)
        files[:] = [file for file, text in named if not any(name in text for name in unused)]


def sections(toc: str) -> str:
    """Return the list of a page's sections; `toc` is one item, the page's title, with that list."""
    return toc.partition("</a>")[2].rpartition("</li>")[0].strip()


def place(app: Sphinx, page: str) -> dict[str, object] | None:
    """Return the part of the table of contents with a page, and the page's position.

    Among exercises only they are counted, so that exercise 1 is the first; other pages there have
    no position.
    """
    contents = app.config.external_site_map
    for tree in contents.root.subtrees:
        pages = [str(item) for item in tree.items]
        if tree.caption and page in pages:
            counted = [other for other in pages if other.startswith("exercises/")] or pages
            number = counted.index(page) + 1 if page in counted else 0
            return {"part": tree.caption, "number": number, "of": len(counted)}
    return None


def social(
    app: Sphinx, page: str, context: dict[str, Any], doctree: nodes.document | None
) -> dict[str, str]:
    """Return the metadata for link previews: title, description and picture."""
    if doctree is None:
        return {}
    described = [meta["content"] for meta in doctree.findall(nodes.meta) if meta.get("name")]
    base = languages.top(app.config)
    picture = "_static/social-preview.png"
    return {
        "og:type": "website" if page == app.config.root_doc else "article",
        "og:site_name": app.config.html_title,
        "og:title": app.env.titles[page].astext(),
        "og:description": " ".join(described),
        "og:image": f"{base}/{picture}" if base else context["pathto"](picture, resource=True),
        "twitter:card": "summary_large_image",
    }
