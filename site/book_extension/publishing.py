"""Sphinx extension for a published course: links to a page's source and notebook, and a sitemap.

The addresses come from `_config.yml`, and EDITION names the tag that a build is made from. Without
an address, which is the default, the site has no links that need it.
"""

import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit
from xml.etree import ElementTree

import yaml
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ConfigError
from sphinx.util.docutils import ReferenceRole

from . import contents, languages

SITE = re.compile(r"https://[^\s?#]+|http://(127\.0\.0\.1|localhost)[^\s?#]*")  # one's own, to try
REPOSITORY = re.compile(r"https://[^/?#]*(github|gitlab)[^/?#]*(/[^/?#]+){2,}")
EDITION = re.compile(r"\w[\w.-]*")
SITEMAP = "sitemap.xml"
MISTAKE = "What is wrong:\n\n\nPage: {page}\n"


class Repository(ReferenceRole):
    """A link to a file, `` {repository}`words <README.md>` ``; without an address only words."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        if not self.config.published_repository:
            return [nodes.inline("", self.title)], []
        return [nodes.reference("", self.title, refuri=file_address(self.config, self.target))], []


def setup(app: Sphinx) -> None:
    app.add_role("repository", Repository())
    app.add_config_value("published_repository", "", "html")
    app.add_config_value("published_branch", "main", "html")
    app.connect("config-inited", take_addresses)
    # Run after the theme has set the metadata for link previews.
    app.connect("html-page-context", describe_page, priority=950)
    app.connect("build-finished", write_sitemap)


def take_addresses(app: Sphinx, config: Config) -> None:
    """Set the addresses of this build's site and of its sources."""
    settings = yaml.safe_load((Path(app.srcdir) / "_config.yml").read_text(encoding="utf-8"))
    repository = settings.get("repository") or {}
    site = address("html.baseurl", (settings.get("html") or {}).get("baseurl"), SITE)
    edition = address("EDITION", os.environ.get("EDITION"), EDITION)
    config.html_baseurl = f"{site}/{edition}" if site and edition else site
    source = address("repository.url", repository.get("url"), REPOSITORY)
    config.published_repository = source.removesuffix(".git")
    config.published_branch = edition or repository.get("branch") or "main"


def address(name: str, value: str | None, allowed: re.Pattern[str]) -> str:
    """Return a setting without a slash at its end; raise a ConfigError if it is none."""
    text = str(value or "").rstrip("/")
    if text and not allowed.fullmatch(text):
        example = {SITE: "https://example.org/course", EDITION: "1.0.0"}
        known = example.get(allowed, "https://github.com/owner/name, at GitHub or GitLab")
        place = name if allowed is EDITION else f"{name} in _config.yml"
        raise ConfigError(f'{place} is {value!r}; allowed is an address such as {known}, or ""')
    return text


def describe_page(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Pass the addresses of a page and of its source to the templates."""
    if page == "404":
        context["pageurl"] = None  # the 404 page is served for any missing address
    if doctree is None:
        return
    if app.config.html_baseurl:
        context["social"]["og:url"] = context["pageurl"]
    context["page_links"] = page_links(app, page, context, doctree)


def page_links(
    app: Sphinx, page: str, context: dict[str, Any], doctree: nodes.document
) -> dict[str, str]:
    """Return a page's links: Colab, Binder, its source, and edit and report forms."""
    links = {}
    site, repository = languages.top(app.config), app.config.published_repository
    branch = quote(app.config.published_branch)
    own = context.get("notebook")
    notebook = languages.current(app.config).prefix + own if own else handed_out(doctree)
    if site and notebook:
        opened = quote(f"{site}/{notebook}", safe="")
        links["colab"] = f"https://colab.research.google.com/#fileId={opened}"
    if not repository:
        return links
    source = str(app.env.doc2path(page, base=False))
    if copy := contents.names(Path(app.srcdir) / "_toc.yml").get(page):
        links["binder"] = binder(repository, branch, copy)
    links["source"] = file_address(app.config, source)
    if not os.environ.get("EDITION"):
        links["edit"] = file_address(app.config, source, "edit")
    between = "/-" if is_on_gitlab(repository) else ""
    title, body = ("issue[title]", "issue[description]") if between else ("title", "body")
    text = {
        title: f"Mistake: {app.env.titles[page].astext()}",
        body: MISTAKE.format(page=context.get("pageurl") or quote(source)),
    }
    links["report"] = f"{repository}{between}/issues/new?{urlencode(text, quote_via=quote)}"
    return links


def file_address(config: Config, path: str, view: str = "blob") -> str:
    """Return the address at which a file is shown, or edited with view="edit"."""
    repository, branch = config.published_repository, quote(config.published_branch)
    between = "/-" if is_on_gitlab(repository) else ""
    return f"{repository}{between}/{view}/{branch}/{quote(path)}"


def is_on_gitlab(repository: str) -> bool:
    return "gitlab" in urlsplit(repository).netloc


def handed_out(doctree: nodes.document) -> str:
    """Return the path of the notebook that a page offers for download; "" if none."""
    for node in doctree.findall(addnodes.download_reference):
        if str(node.get("filename")).endswith(".ipynb"):
            return f"_downloads/{node['filename']}"
    return ""


def binder(repository: str, branch: str, notebook: str) -> str:
    """Return the address at which Binder opens a page's JupyterLab notebook."""
    parts = urlsplit(repository)
    where = {"github.com": f"gh{parts.path}", "gitlab.com": f"gl/{quote(parts.path[1:], safe='')}"}
    found = where.get(parts.netloc, f"git/{quote(repository, safe='')}")
    return f"https://mybinder.org/v2/{found}/{branch}?urlpath={quote(f'lab/tree/{notebook}')}"


def write_sitemap(app: Sphinx, exception: Exception | None) -> None:
    """Write the sitemap for search engines, with the pages of all languages.

    Each language is a build of its own. An edition has no sitemap.
    """
    if exception is not None or app.builder.format != "html" or languages.is_translation(app):
        return
    target, site = Path(app.outdir) / SITEMAP, app.config.html_baseurl
    if not site or os.environ.get("EDITION"):
        target.unlink(missing_ok=True)
        return
    top = ElementTree.Element("urlset", xmlns="http://www.sitemaps.org/schemas/sitemap/0.9")
    for language in languages.of_book(Path(app.srcdir)):
        for name in sorted(app.env.found_docs):
            entry = ElementTree.SubElement(ElementTree.SubElement(top, "url"), "loc")
            entry.text = f"{site}/{language.prefix}{app.builder.get_target_uri(name)}"
    ElementTree.indent(top)
    ElementTree.ElementTree(top).write(target, encoding="utf-8", xml_declaration=True)
