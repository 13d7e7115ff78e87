"""Sphinx extension for a published course: links to its source, feed and sitemap.

Loaded through ``local_extensions`` in ``_config.yml``. Does nothing if no address is set.
"""

from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ConfigError

from book_extension import contents, languages

from .addresses import AddressError, Addresses, read
from .changes import feed, sitemap

MENU = Path(__file__).parents[2] / "browser" / "menu"
FEED, SITEMAP = "changes.xml", "sitemap.xml"
MISTAKE = "What is wrong:\n\n\nPage: {page}\nSection: \n"


def setup(app: Sphinx) -> None:
    app.connect("config-inited", take_addresses)
    # Run after the theme has set the metadata for link previews.
    app.connect("html-page-context", describe_page, priority=950)
    app.connect("build-finished", write_lists)


def addresses(app: Sphinx) -> Addresses:
    return _read(Path(app.srcdir) / "_config.yml")


@cache
def _read(config: Path) -> Addresses:
    return read(config)


def take_addresses(app: Sphinx, config: Config) -> None:
    """Set the site's address; load the page menu if an address is configured."""
    _read.cache_clear()
    try:
        found = addresses(app)
    except AddressError as error:
        raise ConfigError(str(error)) from error
    if found.course:
        config.html_baseurl = found.site
    if found.course or found.repository:
        config.html_static_path.append(str(MENU))
        app.add_css_file("page-links.css", priority=950)
        app.add_js_file("page-links.js", loading_method="defer")


def describe_page(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Pass the addresses of a page and of its source to the templates."""
    found = addresses(app)
    if page == "404":
        context["pageurl"] = None  # the 404 page is served for any missing address
    if found.course and doctree is not None:
        context["social"]["og:url"] = context["pageurl"]
        if changelog(app).is_file():
            context["feed"] = f"{found.course}/{FEED}"
    if doctree is not None:
        context["page_links"] = page_links(app, found, page, context, doctree)


def page_links(
    app: Sphinx, found: Addresses, page: str, context: dict[str, Any], doctree: nodes.document
) -> list[dict[str, str]]:
    """Return a page's links: Colab, Binder, its source, and edit and report forms."""
    links = {}
    notebook = context.get("notebook")
    notebook = languages.current(app.config).prefix + notebook if notebook else handed_out(doctree)
    if found.course and notebook:
        links["colab"] = found.colab(notebook)
    if found.repository:
        source = str(app.env.doc2path(page, base=False))
        if copy := copies(app).get(page):
            links["binder"] = found.binder(copy)
        links["source"] = found.source(source)
        links["edit"] = found.edit(source)
        text = MISTAKE.format(page=context.get("pageurl") or source)
        links["report"] = found.report(f"Mistake: {app.env.titles[page].astext()}", text)
    return [{"kind": kind, "address": address} for kind, address in links.items() if address]


def handed_out(doctree: nodes.document) -> str:
    """Return the path of the notebook that a page offers for download; "" if none."""
    for node in doctree.findall(addnodes.download_reference):
        if str(node.get("filename")).endswith(".ipynb"):
            return f"_downloads/{node['filename']}"
    return ""


def copies(app: Sphinx) -> dict[str, str]:
    """Return docname → path of the copy that Binder and `make lab` make of a page."""
    toc = Path(app.srcdir) / "_toc.yml"
    return contents.names(toc)


def changelog(app: Sphinx) -> Path:
    return Path(app.srcdir) / "CHANGELOG.md"


def write_lists(app: Sphinx, exception: Exception | None) -> None:
    """Write sitemap and feed next to the pages, or remove an older build's.

    An edition has neither.
    """
    if exception is not None or app.builder.format != "html" or languages.is_translation(app):
        return
    found, written = addresses(app), {FEED: "", SITEMAP: ""}
    if found.course and not found.edition:
        known = languages.of_book(Path(app.srcdir))
        pages = [app.builder.get_target_uri(name) for name in app.env.found_docs]
        written[SITEMAP] = sitemap(
            [{one.tag: f"{found.site}/{one.prefix}{page}" for one in known} for page in pages]
        )
        if changelog(app).is_file():
            text = changelog(app).read_text(encoding="utf-8")
            title, author = str(app.config.html_title), str(app.config.author)
            written[FEED] = feed(text, title, author, found.course, FEED)
    for name, text in written.items():
        target = Path(app.outdir) / name
        if text:
            target.write_text(text, encoding="utf-8")
        else:
            target.unlink(missing_ok=True)
