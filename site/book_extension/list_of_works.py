"""Fixes for the bibliography: no repeated works, and faster citations.

Without them, an incremental build lists works twice.
"""

from pybtex.backends import plaintext
from pybtex.plugin import register_plugin
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment


def setup(app: Sphinx) -> None:
    app.connect("env-updated", empty_entries)
    # Register the backend that sphinxcontrib-bibtex looks up for each citation: without this line,
    # each lookup takes 10 ms.
    register_plugin("pybtex.backends", "plaintext", plaintext.Backend, force=True)


def empty_entries(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Clear bibliography entries of an earlier build; return the docnames to rewrite.

    Those pages are written again in each build, since the cited works may have changed.

    sphinxcontrib-bibtex adds the entries to a node of the environment when it writes the page. We
    save the environment after that (search.py), so a second build would add them again.
    """
    bibliographies = env.get_domain("cite").data["bibliographies"]
    for bibliography in bibliographies.values():
        for entry in bibliography.citation_nodes.values():
            entry.clear()
    return [key.docname for key in bibliographies]
