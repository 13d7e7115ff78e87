"""Languages of the book: English, the original, and translations.

A translation is built by Sphinx with the catalogs of `catalogs.py`, into a folder of the site. A
message without a translation shows its English, marked with ``lang="en"``. Each page leads to the
same page in the other languages.
"""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode, depart_HideCellInput, visit_HideCellInput
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.locale import get_translation
from sphinx.locale import init as init_locale
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import ReferenceRole
from sphinx.util.i18n import docname_to_domain
from sphinx.util.nodes import is_translatable

from book_extension import contents
from roofkit.words import translations

from . import page_words, search, spacing, value_words
from .translatable import has_words

_ = get_translation("sphinx")
RELEASE = "/course/release/"
BUNDLE = "exercises.zip"


@dataclass(frozen=True)
class Language:
    """A language: gettext code, HTML tag, folder in the site, and its own name.

    font: a system's package with a font for it, where not every font will do.
    """

    code: str
    tag: str
    folder: str
    name: str
    same_page: str
    font: str = ""

    @property
    def prefix(self) -> str:
        """The path of the language's pages below the top of the site, "" or "zh/"."""
        return f"{self.folder}/" if self.folder else ""

    @property
    def suffix(self) -> str:
        """The suffix of the names of printed files, "" or ".zh-CN"."""
        return f".{self.tag}" if self.folder else ""


ORIGINAL = Language("en", "en", "", "English", "This page in English")


def read_language(settings: Path) -> Language:
    """Return the language of a folder in `locale`, from its `edition.toml`."""
    found = {"font": ""} | tomllib.loads(settings.read_text(encoding="utf-8"))
    named = (found[key] for key in ("tag", "folder", "name", "same_page", "font"))
    return Language(settings.parent.name, *named)


ROOT = Path(__file__).parents[3]
TRANSLATIONS = tuple(map(read_language, sorted(ROOT.glob("locale/*/edition.toml"))))


def of_book(book: Path) -> list[Language]:
    """Return the languages that a book is built in, the original first."""
    known = contents.languages(book)
    return [ORIGINAL, *(language for language in TRANSLATIONS if language.code in known)]


def chosen(code: str) -> Language:
    """Return the language with a code; raises ValueError with the known ones."""
    for language in (ORIGINAL, *TRANSLATIONS):
        if language.code == code:
            return language
    known = ", ".join(language.code for language in (ORIGINAL, *TRANSLATIONS))
    raise ValueError(f"no language {code}; there are {known}")


def current(config: Config) -> Language:
    """Return the language of a build."""
    found = [language for language in TRANSLATIONS if language.code == config.language]
    return found[0] if found else ORIGINAL


def space(app: Sphinx, doctree: nodes.document, page: str) -> None:
    if current(app.config).code == "zh_CN":
        spacing.close_up(doctree)
    spacing.keep_punctuation(doctree)


def mark_works(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Mark bibliography entries, which stay English, so that they get English quotation marks."""
    if is_translation(app):
        for work in doctree.findall(nodes.citation):
            work["classes"].append("language-en")


def is_translation(app: Sphinx) -> bool:
    return current(app.config) is not ORIGINAL


def top(config: Config) -> str:
    """Return the published address of the whole site; "" if it has none.

    It does not end in a slash.
    """
    return str(config.html_baseurl or "").rstrip("/").removesuffix(f"/{current(config).folder}")


def translate_settings(app: Sphinx, config: Config) -> None:
    """Translate the book's title and part captions; add the language to its address."""
    language = current(config)
    if language is ORIGINAL:
        return
    if config.html_baseurl:
        config.html_baseurl = f"{config.html_baseurl.rstrip('/')}/{language.folder}"
    config.html_title = config.project = str(_(config.html_title))
    config.author = str(_(config.author))
    for tree in config.external_site_map.root.subtrees:
        tree.caption = str(_(tree.caption)) if tree.caption else tree.caption


def words(language: Language) -> Callable[[str], str]:
    """Return a function that translates messages in code and templates."""
    return translations(language.code).gettext


def translation_of(app: Sphinx, page: str) -> Callable[[str], str]:
    """Return a function that translates messages of a page and its outputs, or of the code."""
    folders = [str(Path(app.srcdir, folder)) for folder in app.config.locale_dirs]
    domain = docname_to_domain(page, app.config.gettext_compact)
    catalog, _found = init_locale(folders, app.config.language, domain)

    def translate(message: str) -> str:
        if not message:  # a catalog's head
            return message
        found = str(catalog.gettext(message))
        return str(_(message)) if found == message else found

    return translate


def offer_languages(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Pass the addresses of a page in all languages to the templates."""
    here, known = current(app.config), of_book(Path(app.srcdir))
    context["other_languages"] = context["alternates"] = ()
    if page == "404" and here is ORIGINAL:
        context["translated_words"] = [(language, words(language)) for language in known[1:]]
    if len(known) == 1 or page == "404":
        return
    target, site = app.builder.get_target_uri(page), top(app.config)
    up = "../" * (page.count("/") + bool(here.folder))
    context["other_languages"] = [
        (language, f"{up}{language.prefix}{target}") for language in known if language is not here
    ]
    if doctree is not None:
        start = f"{site}/" if site else up
        context["alternates"] = [
            (language, f"{start}{language.prefix}{target}") for language in known
        ]


def is_fragment(document: nodes.document) -> bool:
    """Return whether a document is a single translated message, parsed by itself."""
    return str(document["source"]).endswith("<translated>")


class ChooseMessages(SphinxTransform):
    """Make table cells translatable; exclude formulas and messages without words.

    Sphinx translates only nodes with a source, which table cells lack.
    """

    default_priority = 5  # run before Sphinx looks for messages

    def apply(self, **_: Any) -> None:
        source = self.document["source"]
        for entry in self.document.findall(nodes.entry):
            for paragraph in entry.findall(nodes.paragraph):
                paragraph.source = paragraph.source or source
        for node in self.document.findall(nodes.TextElement):
            if isinstance(node, nodes.Inline):
                continue
            if isinstance(node, nodes.math_block) or not has_words(node.rawsource or node.astext()):
                node["translatable"] = False


class MarkOriginals(SphinxTransform):
    """Mark untranslated messages, code and outputs as English."""

    default_priority = 30  # run after Sphinx has translated the messages

    def apply(self, **_: Any) -> None:
        if not is_translation(self.app) or is_fragment(self.document):
            return
        for node in self.document.findall(nodes.Element):
            if is_original(node):
                # Docutils writes a class such as language-en as the HTML attribute `lang`.
                node["classes"].append(f"language-{ORIGINAL.tag}")


class TranslateDescriptions(SphinxTransform):
    """Translate a page's description, which MyST adds after Sphinx has translated the messages."""

    default_priority = 790  # run after docutils has put descriptions into the page

    def apply(self, **_: Any) -> None:
        if not is_translation(self.app) or is_fragment(self.document):
            return
        translate = translation_of(self.app, self.env.docname)
        for described in self.document.findall(nodes.meta):
            described["content"] = translate(described["content"])


class SiteFile(ReferenceRole):
    """A link to a file that all languages share: `` {site}`one file <licenses.txt>` ``."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        up = "../" * (self.env.docname.count("/") + is_translation(self.env.app))
        return [nodes.reference("", self.title, refuri=up + self.target, internal=True)], []


def visit_folded(writer: Any, node: HideCodeCellNode) -> None:
    """Translate the prompts of a folded cell."""
    for name in ("prompt_show", "prompt_hide"):
        node[name] = _(node[name])
    visit_HideCellInput(writer, node)


def link_handouts(app: Sphinx, doctree: nodes.document) -> None:
    """Lead downloads to notebooks and the archive in the language of the page, if there are any."""
    code, folder = app.config.language, Path(app.srcdir, app.env.docname).parent
    for link in doctree.findall(addnodes.download_reference):
        original = link.get("reftarget", "")
        target = original.replace(RELEASE, f"/course/release-{code}/")
        target = target.replace(f"/course/{BUNDLE}", f"/course/{code}/{BUNDLE}")
        if target != original and (folder / target).resolve().exists():
            link["reftarget"] = target


def is_original(node: nodes.Element) -> bool:
    """Return whether an element keeps its English text."""
    if isinstance(node, addnodes.translatable | nodes.image | nodes.meta):
        return False
    if node.get("nb_element") == "cell_code_output":
        # Don't mark an output as English if parts of it are translated: its table cells are marked
        # one by one, and figures are translated as a whole.
        return not any(inner.get("translated") for inner in node.findall(nodes.Element))
    if node.get("nb_element") == "cell_code_source":
        return True
    return bool(is_translatable(node)) and not node.get("translated")


def setup(app: Sphinx) -> None:
    app.add_role("site", SiteFile())
    # Run after the table of contents has been read.
    app.connect("config-inited", translate_settings, priority=950)
    app.connect("html-page-context", offer_languages)
    app.connect("builder-inited", page_words.write_words)
    app.add_transform(ChooseMessages)
    app.add_transform(value_words.TranslateValues)
    app.connect("doctree-resolved", mark_works)
    # Run before Sphinx collects files to download.
    app.connect("doctree-read", link_handouts, priority=400)
    app.add_node(HideCodeCellNode, override=True, html=(visit_folded, depart_HideCellInput))
    app.connect("doctree-resolved", space)
    app.add_transform(MarkOriginals)
    app.add_transform(TranslateDescriptions)
    app.add_search_language(search.ChineseSearch)
