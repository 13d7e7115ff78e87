"""Second builds: without these fixes, they would differ from first ones."""

import hashlib
import pickle
from pathlib import Path

from pybtex.backends import plaintext
from pybtex.plugin import register_plugin
from sphinx.application import ENV_PICKLE_FILENAME, Sphinx
from sphinx.environment import BuildEnvironment

WORKS = "hashes of the cited works"  # a key of the domain's data, which Sphinx keeps
PAGE_FILES = (".html", ".ipynb", ".steps.json")


def setup(app: Sphinx) -> None:
    app.connect("env-updated", empty_entries)
    app.connect("env-updated", pages_that_cite)
    app.connect("env-updated", remove_pages_without_source)
    app.connect("build-finished", keep_terms)
    # Register the backend that sphinxcontrib-bibtex looks up for each citation: without this line,
    # each lookup takes 10 ms.
    register_plugin("pybtex.backends", "plaintext", plaintext.Backend, force=True)


def keep_terms(app: Sphinx, exception: Exception | None) -> None:
    """Save the environment again, now with the search index's glossary terms.

    Sphinx saves the environment before it writes pages, and collects the terms while writing them.
    Without this, the next build would lack the terms of all pages that it doesn't write again.
    """
    if exception is None and app.builder.format == "html":
        with (Path(app.doctreedir) / ENV_PICKLE_FILENAME).open("wb") as file:
            pickle.dump(app.env, file, pickle.HIGHEST_PROTOCOL)


def empty_entries(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Clear bibliography entries of an earlier build; return the docnames to rewrite.

    Those pages are written again in each build, since the cited works may have changed.

    sphinxcontrib-bibtex adds the entries to a node of the environment when it writes the page. We
    save the environment after that, so a second build would add them again.
    """
    bibliographies = env.get_domain("cite").data["bibliographies"]
    for bibliography in bibliographies.values():
        for entry in bibliography.citation_nodes.values():
            entry.clear()
    return [key.docname for key in bibliographies]


def pages_that_cite(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Return all pages that cite if the works have changed since the last build.

    A citation shows the authors and the year of its work. Sphinx writes a page again only if its
    own source has changed.
    """
    data = env.get_domain("cite").data
    files = [Path(name).read_bytes() for name in sorted(data["bibdata"].bibfiles)]
    now = [hashlib.sha256(content).hexdigest() for content in files]
    before, data[WORKS] = data.get(WORKS), now
    return [] if before in (None, now) else sorted({ref.docname for ref in data["citation_refs"]})


def remove_pages_without_source(app: Sphinx, env: BuildEnvironment) -> None:
    """Remove pages of earlier builds, and their files, whose source has gone.

    Sphinx itself leaves them.
    """
    if app.builder.format != "html":
        return
    for folder in {page.split("/")[0] for page in env.found_docs if "/" in page}:
        for file in Path(app.outdir, folder).rglob("*.html"):
            page = file.relative_to(app.outdir).with_suffix("").as_posix()
            if page not in env.found_docs:
                for suffix in PAGE_FILES:
                    file.with_suffix(suffix).unlink(missing_ok=True)
