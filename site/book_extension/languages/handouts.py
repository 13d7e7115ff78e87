"""Links to an exercise's notebook: a page in another language leads to the notebook in it."""

from pathlib import Path

from docutils import nodes
from sphinx.addnodes import download_reference
from sphinx.application import Sphinx

RELEASE = "/course/release/"


def link_translated(app: Sphinx, doctree: nodes.document) -> None:
    """Replace the targets of downloads by the notebooks in the language of the pages, if any."""
    code = app.config.language
    for link in doctree.findall(download_reference):
        target = link.get("reftarget", "").replace(RELEASE, f"/course/release-{code}/")
        if RELEASE in link.get("reftarget", "") and (_folder(app) / target).resolve().exists():
            link["reftarget"] = target


def _folder(app: Sphinx) -> Path:
    return Path(app.srcdir, app.env.docname).parent
