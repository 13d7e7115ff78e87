"""Catalogs: messages merged, read, written and compiled."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from babel.messages import Catalog
from babel.messages.mofile import read_mo
from book_extension.languages import TRANSLATIONS, catalogs, code_words
from book_extension.languages.markdown import has_words
from commands import translations
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
    first = catalogs.merged(translated(OLD), english, "zh_CN")
    catalogs.write(first, file)
    text, written = file.read_text(encoding="utf-8"), file.stat().st_mtime_ns
    catalogs.write(
        catalogs.merged(catalogs.read(file, "zh_CN"), [m.id for m in first], "zh_CN"), file
    )
    assert file.read_text(encoding="utf-8") == text
    assert file.stat().st_mtime_ns == written
    for volatile in ("Date", "20", "#:", "Babel", "python-"):
        assert volatile not in text


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
    # Sphinx looks for the words of templates under its own name.
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
    ],
)
def test_values_alone_are_not_messages(message: str, expected: bool) -> None:
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
    found = code_words.words(tmp_path)["course"]
    assert found[0] == "The roofline"
    assert "Inference, about {hours}" in found
    assert found[-3:] == ["In HTML", "In Python", "In {n} scripts"]
    assert code_words.of_javascript(tmp_path) == ["In {n} scripts"]


def test_all_words_of_scripts_are_found_and_literal() -> None:
    """The extraction skips what stands in the places of a template literal."""
    found = code_words.of_javascript(ROOT, code_words.FOLDERS)
    for folder, _ in {place for places in code_words.FOLDERS.values() for place in places}:
        scripts = (ROOT / folder).rglob("*.js")
        for script in (path for path in scripts if not path.name.endswith(code_words.GENERATED)):
            code = script.read_text(encoding="utf-8")
            for call in re.finditer(r'(?<![.\w])phrase\((?:"(.*?)")?', code):
                assert call[1] in found, f"{script.name}: {code[call.start() :][:60]}"
