"""Settings of autodoc for the page of rooflib's functions."""

import dataclasses
import re
import sys
from collections.abc import Iterator
from typing import Any

from sphinx.application import Sphinx
from sphinx.ext.autodoc import AttributeDocumenter, Options, PropertyDocumenter


class Property(PropertyDocumenter):
    """Documenter of properties.

    Napoleon would take the text before a colon in the docstring for a type.
    """

    def process_doc(self, docstrings: list[list[str]]) -> Iterator[str]:
        for lines in docstrings:
            yield from lines


class Field(AttributeDocumenter):
    """Documenter of fields, which the search would list before chapters: "experts", "window"."""

    def add_directive_header(self, sig: str) -> None:
        self.options = Options({**self.options, "no-index": True})
        super().add_directive_header(sig)


def name_factories(
    app: Sphinx, what: str, name: str, value: Any, options: Any, signature: str, returns: str
) -> tuple[str, str] | None:
    """Show a dataclass field's default factory as a call, such as ``dict()``.

    Python shows ``<factory>`` instead.
    """
    if not dataclasses.is_dataclass(value):
        return None
    factories = (
        getattr(field.default_factory, "__name__", "")
        for field in dataclasses.fields(value)
        if field.init and field.default_factory is not dataclasses.MISSING
    )
    return re.sub("<factory>", lambda _: f"{next(factories)}()", signature), returns


def document_book_packages(app: Sphinx) -> None:
    """Document the packages next to the book, not the installed ones."""
    sys.path.insert(0, str(app.srcdir))


def setup(app: Sphinx) -> None:
    for extension in ("autodoc", "napoleon"):
        app.setup_extension(f"sphinx.ext.{extension}")
    for documenter in (Property, Field):
        app.add_autodocumenter(documenter, override=True)
    app.connect("builder-inited", document_book_packages)
    app.connect("autodoc-process-signature", name_factories)
