"""Second builds: without these fixes, they would differ from first ones."""

from pathlib import Path

from docutils import nodes
from pybtex.backends import plaintext
from pybtex.plugin import register_plugin
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

PAGE_FILES = (".html", ".ipynb", ".steps.json")


def setup(app: Sphinx) -> None:
    app.connect("doctree-read", depend_on_works)
    app.connect("env-updated", pages_to_write)
    app.connect("env-updated", remove_pages_without_source)
    # Register the backend that sphinxcontrib-bibtex looks up for each citation: without this line,
    # each lookup takes 10 ms.
    register_plugin("pybtex.backends", "plaintext", plaintext.Backend, force=True)


def depend_on_works(app: Sphinx, doctree: nodes.document) -> None:
    """Have a page that cites read again when the works change: it shows authors and years."""
    cite = app.env.get_domain("cite")
    if any(reference.docname == app.env.docname for reference in cite.data["citation_refs"]):
        for name in cite.data["bibdata"].bibfiles:
            app.env.note_dependency(name)


def pages_to_write(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Return the pages that each build writes.

    These are pages with terms or functions for the search: Sphinx collects them while it writes
    pages, after it has saved the environment, so the next build would lack those of a page that it
    doesn't write. And the bibliography, since another page may have cited more works.
    """
    with_terms = [page for page, found in env.get_domain("index").data["entries"].items() if found]
    return with_terms + [key.docname for key in env.get_domain("cite").data["bibliographies"]]


def remove_pages_without_source(app: Sphinx, env: BuildEnvironment) -> None:
    """Remove pages of earlier builds, and their files, whose source has gone.

    Sphinx itself leaves them.
    """
    if app.builder.format != "html":
        return
    kept = {*env.found_docs, *app.config.html_additional_pages, "search"}
    for folder in {Path(page).parent for page in env.found_docs}:
        for file in Path(app.outdir, folder).glob("*.html"):
            if file.relative_to(app.outdir).with_suffix("").as_posix() not in kept:
                for suffix in PAGE_FILES:
                    file.with_suffix(suffix).unlink(missing_ok=True)
