"""The theme of the pages: our templates over the theme's, and nothing loaded that no page uses."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config

SITE = Path(__file__).parent.parent
# Docutils gives references roles that are deprecated and not allowed where they stand.
BIBLIOGRAPHY_ROLES = re.compile(r' role="doc-biblioentry"| role="list"(?= class="citation-list")')
UNUSED = ("togglebutton", "toggleHint", "toggleOpenOnPrint", "design-tabs")


def use_templates(app: Sphinx, config: Config) -> None:
    # In front of the theme's, which has templates of the same names.
    config.templates_path.insert(0, str(SITE / "templates"))
    config.html_additional_pages["404"] = "404.html"


def drop_thebe(app: Sphinx) -> None:
    """Unhook sphinx-thebe, which Jupyter Book always loads; its scripts point to a server."""
    for listeners in list(app.events.listeners.values()):
        for listener in list(listeners):
            if listener.handler.__module__.split(".")[0] == "sphinx_thebe":
                app.disconnect(listener.id)
    app.registry.css_files[:] = [
        (name, attributes) for name, attributes in app.registry.css_files if "thebe" not in name
    ]


def prepare_page(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Tell the templates what is known about a page, and take out what it does not need."""
    context["place"] = place(app, page)
    # Where the site's top is on its server, if that is known.
    context["site_path"] = site_path(app.config.html_baseurl)
    context["body"] = BIBLIOGRAPHY_ROLES.sub("", context.get("body", ""))
    context["social"] = social(app, page, context, doctree)
    unused = list(UNUSED)
    if page != "search":
        unused.append("search-excerpts")
    if "std-term" not in context["body"]:
        unused.append("term-notes")
    for files in (context["script_files"], context["css_files"]):
        files[:] = [file for file in files if not is_one_of(unused, file)]


def site_path(address: str) -> str:
    """The path of the site's address, with a slash at both ends; empty if there is no address."""
    return f"/{urlsplit(address).path.strip('/')}/".replace("//", "/") if address else ""


def is_one_of(names: list[str], file: Any) -> bool:
    """Has this script or style sheet one of these words in its address or its text?"""
    return any(name in f"{file.filename} {file.attributes}" for name in names)


def place(app: Sphinx, page: str) -> dict[str, object] | None:
    """The part of the contents that a page belongs to, and where in it the page stands."""
    contents = app.config.external_site_map
    for tree in contents.root.subtrees:
        pages = [str(item) for item in tree.items]
        if tree.caption and page in pages:
            return {"part": tree.caption, "number": pages.index(page) + 1, "of": len(pages)}
    return None


def social(
    app: Sphinx, page: str, context: dict[str, Any], doctree: nodes.document | None
) -> dict[str, str]:
    """What a link to the page shows elsewhere: title, description and picture."""
    if doctree is None:
        return {}
    described = [meta["content"] for meta in doctree.findall(nodes.meta) if meta.get("name")]
    base = app.config.html_baseurl
    picture = "_static/social-preview.png"
    return {
        "og:type": "website" if page == app.config.root_doc else "article",
        "og:site_name": app.config.html_title,
        "og:title": app.env.titles[page].astext(),
        "og:description": " ".join(described),
        "og:image": f"{base.rstrip('/')}/{picture}" if base else context["pathto"](picture, 1),
        "twitter:card": "summary_large_image",
    }
