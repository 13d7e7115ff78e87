"""Ways through the course: reading routes, one of which the reader chooses.

The choice is on the home page, and "next" follows it. `ways` in `_config.yml` lists the ways
besides the whole course, each with a title, in which {hours} stands for its time, its pages in
order, and sections on them that it leaves out: below their headings the script says so and leads
on. `:::{ways}` shows all ways. Without JavaScript it is a list of links, and "next" follows the
table of contents.
"""

import json
import os
from pathlib import Path
from typing import Any

from book_extension import minutes
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.locale import get_translation
from sphinx.util.docutils import SphinxDirective

_ = get_translation("sphinx")
HERE = Path(__file__).parent
FILES = SCRIPT, STYLE = "ways.js", "ways.css"


class ways(nodes.General, nodes.Element):  # type: ignore[misc]
    """Placeholder for the list of reading routes."""


class Ways(SphinxDirective):
    """`:::{ways}`, the choice between the reading routes through the course."""

    def run(self) -> list[nodes.Node]:
        return [ways()]


def known_ways(app: Sphinx) -> dict[str, tuple[str, list[str]]]:
    """Return name → (title, pages) of the reading routes besides the whole course."""
    listed = {}
    for name, way in app.config.ways.items():
        pages = [page for page in way["pages"] if page in app.env.found_docs]
        if pages:
            listed[name] = (way["title"], pages)
    return listed


def skipped(app: Sphinx, name: str, page: str) -> list[nodes.section]:
    """Return the sections of a page that a reading route leaves out."""
    known = app.env.domaindata["std"]["labels"]
    ids = [known[label][1] for label in app.config.ways[name].get("skips", ()) if label in known]
    sections = app.env.get_doctree(page).findall(nodes.section)
    return [section for section in sections if set(ids) & set(section["ids"])]


def title_of(app: Sphinx, title: str, pages: list[str], left_out: list[nodes.section]) -> str:
    total = sum(minutes.of_page(app, page) for page in pages)
    return title.format(hours=minutes.hours(total - sum(map(minutes.of_section, left_out))))


def fill_in(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Replace the placeholder by the reading routes, once all pages have been read."""
    for place in list(doctree.findall(ways)):
        place.replace_self(choice(app, page))


def choice(app: Sphinx, here: str) -> nodes.container:
    box = nodes.container(classes=["ways"])
    whole = title_of(app, str(_("The whole course, about {hours}")), minutes.chapters(app), [])
    box += nodes.paragraph("", "", nodes.inline("", whole, classes=["way", "way-whole"]))
    for name, (title, pages) in known_ways(app).items():
        left_out = [section for page in pages for section in skipped(app, name, page)]
        title = title_of(app, str(_(title)), pages, left_out)
        line = nodes.paragraph("", "", nodes.inline("", title, classes=["way", f"way-{name}"]))
        for page in pages:
            target = app.builder.get_relative_uri(here, page)
            line += nodes.Text(str(_(": ")) if page == pages[0] else " · ")
            heading = app.env.titles[page].astext()
            line += nodes.reference("", heading, internal=True, refuri=target)
        if left_out:
            words = str(_(". It leaves out {count} sections: a line below their headings says so."))
            line += nodes.Text(words.format(count=len(left_out)))
        box += line
    return box


def neighbors(app: Sphinx, page: str) -> dict[str, dict[str, list[str]]]:
    """Return reading route → address and title of a page's "prev" and "next"."""
    found: dict[str, dict[str, list[str]]] = {}
    for name, (_, pages) in known_ways(app).items():
        if page not in pages:
            continue
        place = pages.index(page)
        for key, at in (("prev", place - 1), ("next", place + 1)):
            if 0 <= at < len(pages):
                target = app.builder.get_relative_uri(page, pages[at])
                heading = app.env.titles[pages[at]].astext()
                found.setdefault(name, {})[key] = [target, heading]
    return found


def detours(app: Sphinx, page: str) -> dict[str, list[list[str]]]:
    """Return reading route → a page's omitted sections, each with the next one shown.

    Each is a list: the section's id, and the id and title of the next one shown.
    """
    found: dict[str, list[list[str]]] = {}
    for name, (_title, pages) in known_ways(app).items():
        left_out = skipped(app, name, page) if page in pages else []
        for section in left_out:
            after = section
            while after in left_out:
                after = after.next_node(nodes.section, descend=False, siblings=True)
            found.setdefault(name, []).append(
                [section["ids"][0], after["ids"][0], after[0].astext()]
            )
    return found


def add_script(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Add the script where reading routes are offered or change a page's neighbors."""
    if doctree is None:
        return
    if app.config.external_site_map and page in minutes.chapters(app):
        context["minutes"] = minutes.of_page(app, page)
    others = neighbors(app, page)
    chosen_here = any("ways" in box["classes"] for box in doctree.findall(nodes.container))
    if others or chosen_here:
        app.add_css_file(STYLE)
        data = {"data-ways": others, "data-detours": detours(app, page)}
        attributes: dict[str, Any] = {key: json.dumps(value) for key, value in data.items()}
        app.add_js_file(SCRIPT, loading_method="defer", **attributes)


def serve(app: Sphinx, config: Config) -> None:
    """Copy the script and its style sheet into the site."""
    config.html_static_path += [os.path.relpath(HERE / name, app.srcdir) for name in FILES]


def write_home_again(app: Sphinx, env: Any) -> list[str]:
    """Have Sphinx rewrite the home page, which shows reading times of other pages."""
    return [app.config.root_doc]


def setup(app: Sphinx) -> None:
    app.add_config_value("ways", {}, "html")
    app.add_node(ways)
    app.add_directive("ways", Ways)
    app.connect("config-inited", serve)
    app.connect("env-updated", write_home_again)
    app.connect("doctree-resolved", fill_in)
    app.connect("html-page-context", add_script)
