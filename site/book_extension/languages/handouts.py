"""Links to exercises in the language of the page.

They lead to the notebooks and the archive in that language.
"""

from pathlib import Path

from docutils import nodes
from sphinx.addnodes import download_reference
from sphinx.application import Sphinx

RELEASE = "/course/release/"
BUNDLE = "exercises.zip"


def link_translated(app: Sphinx, doctree: nodes.document) -> None:
    """Replace targets of downloads by files in the pages' language, if any."""
    code = app.config.language
    for link in doctree.findall(download_reference):
        original = link.get("reftarget", "")
        target = original.replace(RELEASE, f"/course/release-{code}/")
        target = target.replace(f"/course/{BUNDLE}", f"/course/{code}/{BUNDLE}")
        if target != original and (_folder(app) / target).resolve().exists():
            link["reftarget"] = target


def _folder(app: Sphinx) -> Path:
    return Path(app.srcdir, app.env.docname).parent
