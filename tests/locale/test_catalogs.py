"""Catalogs: messages merged, read, written and compiled."""

import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from babel.messages import Catalog
from babel.messages.mofile import read_mo
from book_extension.languages import TRANSLATIONS, catalogs, code_words, markdown
from book_extension.languages.markdown import has_words
from commands import translations
from commands.languages import shared_files
from repository import ROOT

WORDS = code_words.words(ROOT)
OLD = {
    "A chip computes.": "芯片做计算。",
    "It loads {eval}`a` bytes per step.": "每步加载 {eval}`a` 字节。",
}


def translated(messages: dict[str, str]) -> Catalog:
    catalog = Catalog(locale="zh_CN")
    for english, text in messages.items():
        catalog.add(english, text)
    return catalog


def test_merging_keeps_translations_and_follows_the_order_of_the_page() -> None:
    new = catalogs.merged(translated(OLD), [*reversed(OLD), "New here."], "zh_CN")
    found = {str(m.id): m.string for m in catalogs.messages(new)}
    assert list(found) == [*reversed(OLD), "New here."]
    assert {english: found[english] for english in OLD} == OLD
    assert catalogs.progress(new) == catalogs.Progress(3, ("New here.",), ())


def test_the_same_messages_compile_to_the_same_bytes_at_any_time() -> None:
    dates = [datetime(year, 1, 1, tzinfo=UTC) for year in (2026, 2027)]
    made = [Catalog(locale="zh_CN", creation_date=date, revision_date=date) for date in dates]
    for catalog in made:
        catalog.add("A chip computes.", "芯片做计算。")
    assert len({catalogs.compiled(catalog) for catalog in made}) == 1


def test_a_changed_message_keeps_its_translation_as_outdated() -> None:
    changed = "It loads {eval}`a` bytes in each step."
    new = catalogs.merged(translated(OLD), ["A chip computes.", changed], "zh_CN")
    assert catalogs.progress(new) == catalogs.Progress(2, (), (changed,))
    (message,) = [m for m in catalogs.messages(new) if m.fuzzy]
    assert message.string == OLD["It loads {eval}`a` bytes per step."]
    assert not catalogs.is_current(message)


def test_removed_messages_leave_the_catalog() -> None:
    new = catalogs.merged(translated(OLD), ["Something else entirely?"], "zh_CN")
    assert "芯片" not in catalogs.text(new)


@pytest.mark.parametrize("name", [*code_words.FOLDERS, code_words.NOTEBOOKS])
def test_catalogs_have_the_messages_of_the_code(name: str) -> None:
    for language in TRANSLATIONS:
        catalog = catalogs.read(catalogs.folder(ROOT, language.code) / f"{name}.po")
        assert [message.id for message in catalogs.messages(catalog)] == WORDS[name]


def test_a_catalog_written_twice_has_the_same_text(tmp_path: Path) -> None:
    file = tmp_path / "page.po"
    english = ["A chip computes.", "It loads {eval}`a` bytes in each step.", "New {x} of %d"]
    english.append("First:\nSecond: third")
    first = catalogs.merged(translated(OLD), english, "zh_CN")
    catalogs.write(first, file)
    text, written = file.read_text(encoding="utf-8"), file.stat().st_mtime_ns
    catalogs.write(
        catalogs.merged(catalogs.read(file, "zh_CN"), [m.id for m in first], "zh_CN"), file
    )
    assert file.read_text(encoding="utf-8") == text
    assert file.stat().st_mtime_ns == written
    assert text.startswith('msgid ""\nmsgstr ""\n"Language: zh_CN\\n"\n')
    assert "Second: third" in text
    for volatile in ("Date", "20", "#:", "Babel", "python-"):
        assert volatile not in text


def test_translators_comments_are_kept_and_those_of_programs_dropped(tmp_path: Path) -> None:
    """Drop the former text and the position that some programs add to a message."""
    message = 'msgid "A chip computes."\nmsgstr "芯片做计算。"\n'
    file = tmp_path / "page.po"
    file.write_text(f'# Mine\n#| msgid "A chip counts."\n#: page.md:3\n{message}', encoding="utf-8")
    merged = catalogs.merged(catalogs.read(file, "zh_CN"), ["A chip computes."], "zh_CN")
    assert catalogs.text(merged).partition("\n\n")[2] == f"# Mine\n{message}"


def test_only_current_messages_are_compiled(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    changed = "It loads {eval}`a` bytes in each step."
    page = catalogs.merged(translated(OLD), ["A chip computes.", changed, "New here."], "zh_CN")
    catalogs.write(page, source / "chapters" / "page.po")
    catalogs.write(translated({"Search": "搜索"}), source / "course.po")
    catalogs.write(translated(OLD), target / "gone.po")
    catalogs.compile_all(source, target, "zh_CN")
    with (target / "chapters" / "page.mo").open("rb") as file:
        assert [m.id for m in catalogs.messages(read_mo(file))] == ["A chip computes."]
    # course.po becomes sphinx.mo, where Sphinx looks for the words of templates.
    files = sorted(path.relative_to(target).as_posix() for path in target.rglob("*.?o"))
    assert files == ["chapters/page.mo", "chapters/page.po", "sphinx.mo"]
    before = (target / "chapters" / "page.mo").stat().st_mtime_ns
    catalogs.compile_all(source, target, "zh_CN")
    assert (target / "chapters" / "page.mo").stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("102 GB", False),
        ("TPU v6e", False),
        ("1.94\u00a0ms", False),
        ("{eval}`rl.text(t, 's')`", False),
        ("$T_\\text{math}$", False),
        ("`rooflib`", False),
        ("{eval}`n` chips", True),
        ("Answer", True),
        ("HBM copy", True),
        ("a TPU v5p", True),
        ("GPUs", True),
        ("{eval}`n`{eval}`m`", False),
    ],
)
def test_text_without_words_to_translate_is_not_a_message(message: str, expected: bool) -> None:
    assert has_words(message) == expected


def test_the_report_counts_and_lists_untranslated_messages(tmp_path: Path) -> None:
    changed = "It loads {eval}`a` bytes in each step."
    translations.update(tmp_path, "zh_CN", {"page": list(OLD), "old": ["Gone."]})
    catalogs.write(translated(OLD), tmp_path / "page.po")
    translations.update(tmp_path, "zh_CN", {"page": ["A chip computes.", changed, "New here."]})
    assert list(translations.report(tmp_path, "zh_CN", ["page"])) == [
        "page: 1 of 3 translated, 1 missing, 1 outdated",
        "  missing: New here.",
        f"  outdated: {changed}",
    ]


@pytest.fixture
def extracted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Replace Sphinx by a fake that writes templates; return the settings it receives."""
    told: dict[str, Any] = {"status": 0}

    def write(folder: Path, **pages: str) -> None:
        for name, message in pages.items():
            file = (folder / name.replace("__", "/")).with_suffix(".pot")
            file.parent.mkdir(parents=True, exist_ok=True)
            text = f'\nmsgid "{message}"\nmsgstr ""\n\nmsgid "More"\nmsgstr ""\n' if message else ""
            file.write_text(f'msgid ""\nmsgstr ""\n{text}')

    def pages(book: Path, output: Path, cache: Path, settings: Any, **options: Any) -> int:
        told.update(cache=cache, settings=settings, **options)
        write(output, chapters__time="Time", chapters__api="Functions", empty="", sphinx="Search")
        return int(told["status"])

    def decks(book: Path, cache: Path) -> Path:
        assert (book, cache) == (tmp_path, tmp_path / "cache")
        write(tmp_path / "decks", roofline="A deck", sphinx="Search")
        return tmp_path / "decks"

    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters/api.md").write_text("---\na: b\n---\n\n# Functions\n\nMore\n\n# Last\n")
    gone = tmp_path / "_build/gettext/pot/gone.pot"
    gone.parent.mkdir(parents=True)
    gone.write_text('msgid "Gone"\nmsgstr ""\n')
    monkeypatch.setattr(translations, "run_pages", lambda book: book / "cache")
    monkeypatch.setattr(translations, "build_pages", pages)
    monkeypatch.setattr(translations.slides, "templates", decks)
    monkeypatch.setattr(translations.code_words, "words", lambda _: {"course": ["Back"]})
    monkeypatch.setattr(translations.os, "environ", {})
    monkeypatch.setattr(translations, "ROOT", tmp_path)
    return told


def test_messages_come_from_pages_decks_and_code(tmp_path: Path, extracted: dict[str, Any]) -> None:
    for _ in range(2):
        assert translations.templates(tmp_path) == {
            "chapters/api": ["Functions"],  # messages from docstrings are left out
            "chapters/time": ["Time", "More"],
            "slides/roofline": ["A deck", "More"],
            "course": ["Back"],
        }
    assert extracted["cache"] == tmp_path / "cache"
    assert (extracted["builder"], extracted["freshenv"]) == ("gettext", True)
    # One catalog per page, not per folder; figures are read as SVG, so that their texts are found.
    assert extracted["settings"]["gettext_compact"] is False
    ((builder, kind, _),) = extracted["settings"]["nb_mime_priority_overrides"]
    assert (builder, kind) == ("gettext", "image/svg+xml")
    assert translations.os.environ[translations.PYODIDE] == ""


def test_the_command_updates_all_catalogs_and_lists_missing_translations(
    tmp_path: Path,
    extracted: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.argv", ["translations", "chapters/time"])
    extracted["status"] = 1
    assert translations.main() == 1
    said = capsys.readouterr()
    assert (said.out, len(said.err.splitlines())) == ("", 1)
    assert not (tmp_path / "locale").exists()
    extracted["status"] = 0
    assert translations.main() == 0
    assert capsys.readouterr().out.splitlines() == [
        "zh_CN:",
        "  chapters/api: 0 of 1 translated, 1 missing, 0 outdated",
        "  chapters/time: 0 of 2 translated, 2 missing, 0 outdated",
        "    missing: Time",
        "    missing: More",
        "  course: 0 of 1 translated, 1 missing, 0 outdated",
        "  slides/roofline: 0 of 2 translated, 2 missing, 0 outdated",
    ]
    made = catalogs.folder(tmp_path, "zh_CN") / "chapters/time.po"
    assert '"Language: zh_CN\\n"' in made.read_text(encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["translations"])
    assert translations.main() == 0


def test_long_messages_are_cut_to_a_line() -> None:
    for length in (1, translations.WIDTH, translations.WIDTH + 1, 3 * translations.WIDTH):
        shown = translations.short("x" * length)
        assert len(shown) == min(length, translations.WIDTH)
        assert shown.endswith("…") == (length > translations.WIDTH)


# Tests of files that a translated site shares with the original.


def test_files_equal_to_the_originals_are_left_out_of_a_translated_site(tmp_path: Path) -> None:
    original, translated = tmp_path / "html", tmp_path / "chinese"
    target = original / "zh"
    shared = {
        "_static/a.js": "a",
        "_static/page.html": "frame",
        "fonts/b.woff": "b",
        "x/own.css": "c",
    }
    page = (
        '<a href="../_static/a.js?v=1"><a href="../fonts/"><a href="../../fonts/b.woff">'
        '<img src="../wheels/x.whl"><a data-python="../wheels"><a href="other.html#a">'
        '<a href="../mixed/"><a href="https://a.example/fonts/b.woff"><a href="gone.txt">'
    )
    for folder, files in {
        original: shared | {
            "one/two/page.html": "english", "wheels/x.whl": "w", "mixed/a": "1",
            "words.txt": "1234", "404.html": "original", "objects.inv": "original",
        },
        translated: shared | {
            "one/two/page.html": page, "one/two/other.html": "", "mixed/a": "1", "mixed/b": "2",
            "words.txt": "4321", "404.html": "translated", "objects.inv": "translated",
        },
        target: {"left.html": ""},
    }.items():  # fmt: skip
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
            os.utime(folder / name, (1, 1))
    (original / "linked").mkdir()
    (original / "linked/c").write_text("c")
    (translated / "linked").mkdir()
    (translated / "linked/c").hardlink_to(original / "linked/c")
    shared_files.publish(translated, original, target)
    made = {path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()}
    assert made == {
        "left.html", "one/two/page.html", "one/two/other.html", "mixed/b", "words.txt",
    }  # fmt: skip
    assert (target / "words.txt").read_text() == "4321"
    assert (original / "404.html").read_text() == "original"
    # Links to files that only the original site has are rewritten to lead there.
    text = (target / "one/two/page.html").read_text()
    assert re.findall(r'="([^"]*)"', text) == [
        "../_static/a.js?v=1",
        "../fonts/",
        "../../../fonts/b.woff",
        "../wheels/x.whl",
        "../wheels",
        "other.html#a",
        "../mixed/",
        "https://a.example/fonts/b.woff",
        "gone.txt",
    ]
    (translated / "one/two/page.html").write_text(page.replace('"../', '"../../'))
    shared_files.publish(translated, original, target)
    text = (target / "one/two/page.html").read_text()
    assert re.findall(r'="([^"]*)"', text)[:7] == [
        "../../../_static/a.js?v=1",
        "../../../fonts/",
        "../../../fonts/b.woff",
        "../../../wheels/x.whl",
        "../../../wheels",
        "other.html#a",
        "../../mixed/",
    ]


def test_words_come_from_settings_templates_python_and_scripts(tmp_path: Path) -> None:
    for folder in ("site/book_extension/templates", "site/browser/python"):
        (tmp_path / folder).mkdir(parents=True)
    for name in ("_config.yml", "_toc.yml"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    (tmp_path / "site/book_extension/templates/a.html").write_text('<p>{{ _("In HTML") }}</p>')
    (tmp_path / "site/book_extension/b.py").write_text('title = _("In Python")\nother = "none"\n')
    script = 'const a = phrase("In {n} scripts", { n }) + "none";\n'
    (tmp_path / "site/browser/python/c.js").write_text(script)
    (tmp_path / "site/browser/python/d.min.js").write_text('phrase("Not ours")\n')
    assert set(code_words.words(tmp_path)) == {"course"}
    found = code_words.words(tmp_path)["course"]
    assert found[0] == "The roofline"
    assert "Inference, about {hours}" in found
    assert found[-3:] == ["In HTML", "In Python", "In {n} scripts"]
    assert code_words.of_javascript(tmp_path) == ["In {n} scripts"]


def test_parts_of_a_book_may_have_no_caption(tmp_path: Path) -> None:
    (tmp_path / "_config.yml").write_text("title: A book\nauthor: Somebody\nsphinx: {config: {}}\n")
    (tmp_path / "_toc.yml").write_text("parts: [{chapters: []}, {caption: Part, chapters: []}]\n")
    assert list(code_words.of_settings(tmp_path)) == ["A book", "Somebody", "Part"]
    (tmp_path / "_toc.yml").write_text("root: index\n")
    assert list(code_words.of_settings(tmp_path)) == ["A book", "Somebody"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("> :::{note} A title\n>\n> Some text.\n> :::\n",
         "> :::{note} A TITLE\n>\n> SOME TEXT.\n> :::\n"),
        (":::{note} A title\n:class: tip\nSome\ntext.\n:::\n\nMore.\n",
         ":::{note} A TITLE\n:class: tip\nSOME TEXT.\n:::\n\nMORE.\n"),
        (":::{note}\n:class: tip\n:::\n", ":::{note}\n:class: tip\n:::\n"),
        ("```{code} python\nnot words\n```\n\n- an\n  item\n",
         "```{code} python\nnot words\n```\n\n- AN ITEM\n"),
        ("| a b | c |\n|--|--|\n| d | e or f |\n", "| A B | C |\n|--|--|\n| D | E OR F |\n"),
    ],
)  # fmt: skip
def test_each_message_of_a_text_is_translated_in_its_place(text: str, said: str) -> None:
    assert markdown.in_words(text, str.upper) == said
    assert markdown.in_words(text, str) == text


def test_each_phrase_in_scripts_is_a_literal_and_is_extracted() -> None:
    """Check calls in template literals, too, since the extraction skips those."""
    found = code_words.of_javascript(ROOT, code_words.FOLDERS)
    for folder, _ in {place for places in code_words.FOLDERS.values() for place in places}:
        scripts = (ROOT / folder).rglob("*.js")
        for script in (path for path in scripts if not path.name.endswith(code_words.GENERATED)):
            code = script.read_text(encoding="utf-8")
            for call in re.finditer(r'(?<![.\w])phrase\((?:"(.*?)")?', code):
                assert call[1] in found, f"{script.name}: {code[call.start() :][:60]}"
