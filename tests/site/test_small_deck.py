"""Tests of a small deck of slides: its folder, times in notes, translation."""

from __future__ import annotations

import io
import re
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock, patch

import pytest
import slides_extension
import yaml
from book_extension.languages import chosen
from bs4 import BeautifulSoup
from commands import executed_pages, slides
from docutils import nodes
from docutils.utils import new_document
from repository import HEADER, ROOT
from sphinx import application, locale

DECK = """
# A deck

Some words.

:::{speaker}
:minutes: 50
Say <this> first.
:::

## A formula

$$ a < b $$

:::{speaker}
:minutes: 15
Say that.
:::
"""
PAGE = """
msgid ""
msgstr ""
"Language: zh_CN\\n"
"Content-Type: text/plain; charset=utf-8\\n"

msgid "Some words."
msgstr "几个字。"

#, fuzzy
msgid "Say that."
msgstr "过时"
"""
CLOCK = (
    PAGE.partition('msgid "Some')[0]
    + """
msgid "{minutes} min, until {end}."
msgstr "{minutes} 分钟到 {end}。"
"""
)


def small_book(folder: Path, text: str = DECK) -> Path:
    (folder / "slides").mkdir()
    (folder / "slides/roofline.md").write_text(HEADER + text)
    (folder / "_config.yml").write_bytes((ROOT / "_config.yml").read_bytes())
    executed_pages.fill_cache(folder, folder / "cache")  # starts no kernel: there is no code
    return folder


def deck(folder: Path) -> BeautifulSoup:
    text = (folder / "html/slides/roofline.html").read_text(encoding="utf-8")
    return BeautifulSoup(text, "html.parser")


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the deck in both languages, over the remains of an earlier build."""
    book = small_book(tmp_path_factory.mktemp("book"))
    catalogs = book / "catalogs"
    (catalogs / "slides").mkdir(parents=True)
    (catalogs / "slides/roofline.po").write_text(PAGE, encoding="utf-8")
    (catalogs / "slides.po").write_text(CLOCK, encoding="utf-8")
    (book / "_build/html/slides").mkdir(parents=True)
    (book / "_build/html/slides/old.html").touch()
    assert slides.build(book, book / "cache")
    chinese, output = chosen("zh_CN"), book / "chinese"
    with patch.dict(locale.translators):
        assert slides.build(book, book / "cache", chinese, output=output, source=catalogs)
    return book


def test_the_folder_has_the_decks_and_what_they_load(book: Path) -> None:
    folder = book / "_build/html/slides"
    assert {path.name for path in folder.iterdir()} == {"roofline.html", "_static"}
    reveal = folder / "_static/revealjs"
    files = {path.relative_to(reveal).as_posix() for path in reveal.rglob("*") if path.is_file()}
    assert {"LICENSE", "dist/reveal.js", "plugin/notes/notes.js"} <= files
    assert {Path(name).parts[0] for name in files} == {"LICENSE", "dist", "plugin"}
    assert {Path(name).stem for name in files if "/theme/" in name and "/fonts/" not in name} == {
        "white"
    }


def test_speaker_notes_begin_with_minutes_and_time(book: Path) -> None:
    first, second = (
        " ".join(note.get_text().split()) for note in deck(book / "_build").select("aside")
    )
    assert first == "50 min, until 0:50. Say <this> first."
    assert second == "15 min, until 1:05. Say that."
    assert deck(book / "_build").select("math")


def test_a_deck_is_translated_and_what_stays_english_is_marked(book: Path) -> None:
    page = deck(book / "chinese")
    assert page.html
    assert page.html["lang"] == "zh-CN"
    words, first, second = page.select("section > p, aside")
    assert words.get_text() == "几个字。"
    assert first.get_text().split()[:2] == ["50", "分钟到"]
    assert "过时" not in second.get_text()
    marked = [part.get_text() for part in page.select("[lang=en]")]
    assert "A deck" in marked
    assert "几个字。" not in marked
    styles = [str(link["href"]).split("?")[0] for link in page.select("link[rel=stylesheet]")]
    assert "../../_static/chinese.css" in [style.removeprefix("_static/") for style in styles]
    english = deck(book / "_build")
    assert english.select("[lang=en]") == english.select("html")
    assert "chinese.css" not in str(english)


def test_all_faults_of_decks_are_reported_and_the_old_decks_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    warnings = io.StringIO()
    monkeypatch.setattr(application, "Sphinx", partial(application.Sphinx, warning=warnings))
    wrong = small_book(tmp_path, DECK.replace(":minutes: 50", "").replace("words", "{ref}`no`"))
    folder = wrong / "_build/html/slides"
    folder.mkdir(parents=True)
    (folder / "roofline.html").write_text("old")
    assert not slides.build(wrong, wrong / "cache")
    assert (folder / "roofline.html").read_text() == "old"
    assert capsys.readouterr().out == ""
    assert re.search(r"roofline\.md:17: .*a slide's notes need :minutes:", warnings.getvalue())
    assert re.search(r"roofline\.md:15: .*'no'", warnings.getvalue())


def test_a_book_without_decks_builds_no_slides(tmp_path: Path) -> None:
    assert slides.build(tmp_path, tmp_path / "cache")
    assert list(tmp_path.iterdir()) == []


def test_the_minutes_in_speaker_notes_are_not_extracted_for_translation(book: Path) -> None:
    left = book / "_build/gettext/slides/html/gone.pot"
    left.parent.mkdir(parents=True)
    left.touch()
    made = slides.templates(book, book / "cache")
    assert not left.exists()
    messages = (made / "roofline.pot").read_text(encoding="utf-8")
    assert 'msgid "Some words."' in messages
    assert "until" not in messages


def test_extracting_messages_from_faulty_decks_raises_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(slides, "make", lambda *_: False)
    with pytest.raises(slides.NotExtracted):
        slides.templates(Path("book"), Path("cache"))


def test_decks_have_the_same_execution_settings_as_pages() -> None:
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    ours, execute = slides.settings(Path("cache")), config["execute"]
    names = {
        "nb_execution_mode": execute["execute_notebooks"],
        "nb_execution_raise_on_error": execute["raise_on_error"],
        "nb_execution_show_tb": execute["show_tb"],
        "nb_execution_timeout": execute["timeout"],
        "nb_output_stderr": execute["stderr_output"],
    }
    assert {name: ours[name] for name in names} == names
    both = set(ours) & set(config["sphinx"]["config"])
    assert {"nb_merge_streams", "nb_render_markdown_format", "html_copy_source"} <= both
    assert {name for name in both if ours[name] != config["sphinx"]["config"][name]} <= {
        "extensions",
        "include_patterns",
    }


def deck_of(*raw: str) -> nodes.document:
    document = new_document("deck")
    document += [nodes.raw("", text, format="html") for text in raw]
    return document


def building(language: str) -> Any:
    return Mock(config=SimpleNamespace(language=language, revealjs_css_files=["slides.css"]))


PICTURE = " <svg><text>a &amp; b</text><text>queries</text><text>QK</text></svg>"


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_words_of_pictures_are_translated(monkeypatch: pytest.MonkeyPatch, language: str) -> None:
    chinese = {"queries": "<查询>"}
    monkeypatch.setattr(slides_extension, "_", lambda words: chinese.get(words, words))
    document = deck_of(PICTURE, "<p>queries</p>")
    slides_extension.translate_pictures(building(language), document)
    picture, other = (raw.astext() for raw in document.findall(nodes.raw))
    assert other == "<p>queries</p>"
    expected = PICTURE.replace("queries", "&lt;查询&gt;") if language == "zh_CN" else PICTURE
    assert picture == expected


FIGURE = slides_extension.live_figures.MARK


@pytest.mark.parametrize(
    ("language", "document", "loaded"),
    [
        ("en", deck_of("<p>", FIGURE), ["live.js"]),
        ("zh_CN", deck_of("<p>", FIGURE), ["words.js", "live.js"]),
        ("zh_CN", deck_of("<p>"), []),
        ("en", None, []),
    ],
)
def test_decks_with_live_figures_load_the_scripts_of_the_site(
    language: str, document: nodes.document | None, loaded: list[str]
) -> None:
    app = building(language)
    slides_extension.add_live_figures(app, "deck", "page.html", {}, document)
    calls = app.add_js_file.call_args_list
    assert [call.args[0] for call in calls] == [f"../../_static/{name}" for name in loaded]
    assert all(call.kwargs == {"loading_method": "defer"} for call in calls)


def test_speaker_notes_state_their_minutes_and_the_total_so_far() -> None:
    document = new_document("deck")
    for minutes in (50, 15):
        text = nodes.paragraph("", "Say that.")
        document += slides_extension.speaker_notes("", text, minutes=minutes)
    slides_extension.write_clock(SimpleNamespace(builder=Mock()), document)  # type: ignore[arg-type]
    assert [notes.astext().split("\n")[0] for notes in document] == [
        "50 min, until 0:50.",
        "15 min, until 1:05.",
    ]
