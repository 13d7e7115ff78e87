"""Tests of the language of `make lab`: asked once, remembered, used everywhere."""

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from book_extension.languages import ORIGINAL, TRANSLATIONS, catalogs, chosen, markdown
from book_extension.prose import expressions
from commands import handouts, lab
from commands.jupyterlab import copies, first_start, folders
from commands.jupyterlab.page_copy import book_of, chapter_notebook
from lab_browser import PANEL, lab_page, opened, prose, run_all
from nbformat import NotebookNode
from playwright.sync_api import Browser
from repository import HEADER, ROOT

CHINESE = chosen("zh_CN")
HAN = re.compile("[\u4e00-\u9fff]")
# The API page and the bibliography stay English.
CHAPTERS = [
    page
    for page in book_of(ROOT).places
    if page.startswith("chapters/") and page not in ("chapters/api", "chapters/references")
]


class Terminal:
    """Fake terminal: answers the language question, and counts how often it is asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *answers: str) -> None:
        self.answers, self.asked = [*answers], 0
        monkeypatch.setattr(first_start.sys, "stdin", self)

    def isatty(self) -> bool:
        return True

    def __call__(self, question: str) -> str:
        self.asked += 1
        assert "English" in question
        assert "中文" in question
        if not self.answers:
            raise EOFError
        return self.answers.pop(0)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"LANG": "zh_CN.UTF-8"}, CHINESE),
        ({"LANG": "zh_TW.UTF-8"}, CHINESE),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_CN.UTF-8"}, CHINESE),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C.UTF-8"}, ORIGINAL),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": ""}, CHINESE),
        ({"LANG": "de_DE.UTF-8"}, ORIGINAL),
        ({"LANG": "C", "ROOFLINE_LANGUAGE": "zh_CN"}, CHINESE),
        ({}, ORIGINAL),
    ],
)
def test_an_empty_answer_takes_the_language_of_the_environment(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    environment: dict[str, str],
    expected: object,
) -> None:
    terminal = Terminal(monkeypatch, "")
    assert first_start.language_of(tmp_path, None, environment, terminal) is expected
    assert first_start.language_of(tmp_path, None, {}, terminal) is expected
    assert terminal.asked == 1


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (["1"], ORIGINAL),
        (["2"], CHINESE),
        (["中文"], CHINESE),
        ([" zh_cn "], CHINESE),
        (["english"], ORIGINAL),
        (["3", "yes", "2"], CHINESE),
        ([], ORIGINAL),  # end of input
    ],
)
def test_the_first_make_lab_asks_until_the_answer_is_a_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: list[str], expected: object
) -> None:
    terminal = Terminal(monkeypatch, *answers)
    assert first_start.language_of(tmp_path, None, {}, terminal) is expected
    asked = terminal.asked
    assert asked == max(len(answers), 1)
    assert first_start.language_of(tmp_path, None, {"LANG": "fr"}, terminal) is expected
    assert terminal.asked == asked


def test_a_language_given_as_an_option_is_remembered_without_asking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal(monkeypatch)
    for told in (CHINESE, ORIGINAL):
        assert first_start.language_of(tmp_path, told, {}, terminal) is told
        assert first_start.language_of(tmp_path, None, {"LANG": "zh_CN"}, terminal) is told
    assert terminal.asked == 0


def test_without_a_terminal_nothing_is_asked_or_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(question: str) -> str:
        raise AssertionError(question)

    with Path(os.devnull).open() as nothing:
        for stdin in (nothing, None):
            monkeypatch.setattr(first_start.sys, "stdin", stdin)
            given = {"LANG": "zh_CN.UTF-8"}
            assert first_start.language_of(tmp_path, None, given, never) is CHINESE
            assert first_start.language_of(tmp_path, None, {}, never) is ORIGINAL


def test_an_unknown_remembered_language_is_reported(tmp_path: Path) -> None:
    (tmp_path / first_start.FILE).write_text("xx\n")
    with pytest.raises(ValueError, match="no language xx; there are en, zh_CN"):
        first_start.language_of(tmp_path, None, {})


ASKING = """
import os, sys
from pathlib import Path
from commands.jupyterlab.first_start import language_of
print(language_of(Path(sys.argv[1]), None, os.environ).code)
"""


def test_a_real_terminal_is_asked(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", ASKING, str(tmp_path)],
            stdin=slave,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": str(ROOT / "site"), "PYTHONIOENCODING": "utf-8"},
            encoding="utf-8",
        )
        os.write(master, b"2\n")
        said, _ = process.communicate(timeout=60)
    finally:
        os.close(master)
        os.close(slave)
    assert said.splitlines()[-1] == "zh_CN"
    assert "make lab LANGUAGE=en" in said
    assert (tmp_path / first_start.FILE).read_text() == "zh_CN\n"


def test_the_language_option_is_not_passed_to_jupyterlab() -> None:
    assert lab.asked(["--language", "zh_CN", "--port=1"]) == ("zh_CN", ["--port=1"])
    for others in (["--no-browser", "--lang=x"], ["--help"]):
        assert lab.asked(others) == (None, others)


def test_exercises_are_in_the_chosen_language_if_translated(tmp_path: Path) -> None:
    release = tmp_path / "release"
    assert lab.exercises_in(release, CHINESE) == release
    translated = tmp_path / "release-zh_CN"
    translated.mkdir()
    assert lab.exercises_in(release, CHINESE) == translated
    assert lab.exercises_in(release, ORIGINAL) == release


def test_kernels_and_menus_get_the_chosen_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def started(*_: object) -> None:
        file = tmp_path / ".jupyter/config/labconfig/default_setting_overrides.json"
        defaults = json.loads(file.read_text(encoding="utf-8"))
        menus = defaults.get("@jupyterlab/translation-extension:plugin", {}).get("locale")
        seen.append((lab.os.environ.get(lab.VARIABLE), menus))

    monkeypatch.setattr(lab.os, "environ", {})
    monkeypatch.setattr(lab, "WORK", tmp_path)
    monkeypatch.setattr(first_start.sys, "stdin", None)
    monkeypatch.setattr(lab.handouts, "released", lambda _: tmp_path / "release")
    monkeypatch.setattr(lab, "prepare", lambda *_: lab.Report())
    monkeypatch.setattr(lab.os, "execv", started)
    for options in ([], ["--language=zh_CN"], [], ["--language=en"], []):
        lab.os.environ.clear()
        lab.main(options)
    chinese, english = ("zh_CN", "zh_CN"), ("en", None)
    assert seen == [english, chinese, chinese, english, english]
    with pytest.raises(SystemExit, match="no language xx; there are en, zh_CN"):
        lab.main(["--language=xx"])


def test_a_jupyterlab_language_pack_is_installed_for_each_translation() -> None:
    """Language packs of JupyterLab are installed under each translation's code."""
    from importlib.metadata import entry_points

    found = {entry.name for entry in entry_points(group="jupyterlab.languagepack")}
    assert {language.code for language in TRANSLATIONS} <= found


# --- the chapters --------------------------------------------------------------------------------


def texts(notebook: NotebookNode) -> Iterator[str]:
    """Yield the Markdown of a notebook's cells."""
    yield from (cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def in_chinese(page: str) -> NotebookNode:
    return chapter_notebook(ROOT / f"{page}.md", language=CHINESE)


def same_in_chinese() -> set[str]:
    edition = (ROOT / "locale/zh_CN/edition.toml").read_text(encoding="utf-8")
    return set(re.findall('^    "(.*)",$', edition, re.MULTILINE))


@pytest.mark.parametrize("page", CHAPTERS)
def test_no_message_of_a_chapter_is_left_in_english(page: str) -> None:
    left = [
        message
        for text in texts(in_chinese(page))
        for message in markdown.messages(text)
        if not HAN.search(message) and message not in same_in_chinese()
    ]
    # This message needs no translation: it has only the names of a file and of a program.
    assert left == ["`my-class/report.html`，formgrader"] * (page == "chapters/instructors")


@pytest.mark.parametrize("page", CHAPTERS)
def test_a_chinese_chapter_has_the_cells_values_and_links_of_the_english(page: str) -> None:
    original, chinese = chapter_notebook(ROOT / f"{page}.md"), in_chinese(page)
    assert [cell.id for cell in chinese.cells] == [cell.id for cell in original.cells]
    for one, other in zip(original.cells, chinese.cells, strict=True):
        if one.cell_type == "code":
            assert other.source == one.source
            continue
        for part in (expressions_of, links_of):
            assert part(other) == part(one), one.id
        assert blocks_of(other) == blocks_of(one)


def expressions_of(cell: NotebookNode) -> list[str]:
    """Return the expressions in a cell; check that each has a stored value."""
    stored = {entry["expression"] for entry in cell.metadata.get("user_expressions", ())}
    found = [expression for expression, _ in expressions(cell.source)]
    assert stored == set(found)
    return sorted(map(without_scale, found))


def without_scale(expression: str) -> str:
    """Return an expression as on the English page, without the Chinese unit's comment."""
    return re.sub("  # [百十][万亿]$", "", expression)


def links_of(cell: NotebookNode) -> list[str]:
    """Return the targets of a cell's links."""
    return sorted(re.findall(r"\]\(([^)\s]+)\)", cell.source))


def blocks_of(cell: NotebookNode) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return (condition, values) of each {while} block in a cell, as a sorted list."""
    found = cell.metadata.get("course_blocks", ())
    return sorted(
        (
            block.get("premise", ""),
            sorted((without_scale(e), text) for e, text in block["values"].items()),
        )
        for block in found
    )


PAGE = """\
# Twice

(first)=
## What it is

```{{code-cell}} ipython3
when = "May 2024"
n = 16384
```

{{while}}`n > 1` It has {{eval}}`n`
bytes since {{eval}}`when`; see {{ref}}`first`, {{term}}`bounds <bound>` and {{cite:p}}`two`.

1. A list
   of one.

> A quote.

:::{{admonition}} Your guess
:class: tip

| what | how many \\| much |
|---|--:|
| bytes | {{eval}}`n` |
:::

```{{glossary}}
bound
  A limit, {{eval}}`n`.

  Of two paragraphs.
```

`code` and $x$
"""
WORDS = {
    "Twice": "两次",
    "What it is": "它是什么",
    "{while}`n > 1` It has {eval}`n` bytes since {eval}`when`; see {ref}`first`, "
    "{term}`bounds <bound>` and {cite:p}`two`.": "{while}`n > 1` {eval}`when` 起，共 {eval}`n` "
    "字节；见{ref}`first`、{term}`界 <bound>`和{cite:p}`two`。",
    "A list of one.": "一项的列表。",
    "A quote.": "引文。",
    "Your guess": "猜一猜",
    "what": "什么",
    "how many | much": "多少 | 几",
    "bytes": "字节",
    "bound": "界",
    "A limit, {eval}`n`.": "界限 {eval}`n`。",
    "Of two paragraphs.": "共两段。",
}
BIB = "@misc{two, author={Ada One and Bea Two}, title={T}, year={1999}}\n"
TOC = "format: jb-book\nroot: index\nparts:\n  - chapters: [{file: chapters/page}]\n"


@pytest.fixture
def small_book(tmp_path: Path) -> Path:
    (tmp_path / "chapters").mkdir()
    (tmp_path / "_toc.yml").write_text(TOC)
    (tmp_path / "references.bib").write_text(BIB)
    text = PAGE.replace("{{", "{").replace("}}", "}")
    (tmp_path / "chapters" / "page.md").write_text(f"{HEADER}\n{text}")
    write_words(tmp_path, "chapters/page", WORDS)
    code = {"{one} and {other}": "{one} 和 {other}", "May {year}": "{year} 年五月"}
    write_words(tmp_path, "course", code)
    return tmp_path


def write_words(book: Path, name: str, words: dict[str, str]) -> None:
    catalog = catalogs.Catalog(locale="zh_CN")
    for english, chinese in words.items():
        catalog.add(english, chinese)
    catalogs.write(catalog, catalogs.folder(book, "zh_CN") / f"{name}.po")


def test_all_kinds_of_messages_are_translated(small_book: Path) -> None:
    page = small_book / "chapters" / "page.md"
    made = chapter_notebook(page, small_book, CHINESE)
    assert [(cell.id, cell.source) for cell in made.cells if cell.cell_type == "markdown"] == [
        ("cell-0", "# 两次"),
        ("first", "## 它是什么"),
        (
            "cell-3",
            "{eval}`when` 起，共 {eval}`n` 字节；见[它是什么](0-page.ipynb#cell-id=first)、"
            "[界](0-page.ipynb#cell-id=term-bound)和(One 和 Two, 1999)。\n\n"
            "1. 一项的列表。\n\n> 引文。\n\n:::{admonition} 猜一猜\n:class: tip\n\n"
            "| 什么 | 多少 \\| 几 |\n|---|--:|\n| 字节 | {eval}`n` |\n:::",
        ),
        ("term-bound", "**界**: 界限 {eval}`n`。\n\n共两段。"),
        ("cell-5", "`code` and $x$"),
    ]
    prose = made.cells[3].metadata
    assert (
        prose["course_blocks"][0]["begins"]
        == "2024 年五月 起，共 16,384 字节；见{ref}`first`、{term}`界 <bound>`和{cite …"
    )
    # Block values stay English: the kernel compares them with the values that it computes.
    assert prose["course_blocks"][0]["values"] == {"when": "May 2024", "n": "16,384"}
    shown = {e["expression"]: e["result"]["data"]["text/plain"] for e in prose["user_expressions"]}
    assert shown == {"when": "2024 年五月", "n": "16,384"}
    assert made.metadata["course_words"]["values"]["May {year}"] == "{year} 年五月"


def test_a_count_of_millions_has_its_chinese_unit(tmp_path: Path) -> None:
    """Check also that an expression can occur with different units, or with none."""
    text = (
        "```{code-cell} ipython3\nn = 17\n```\n\n"
        "{while}`n > 0` {eval}`n` 百万个数，{eval}`n`十亿个数，{eval}`n` 个数，"
        "{eval}`str(n)` 百万。\n"
    )
    (tmp_path / "page.md").write_text(f"{HEADER}\n{text}", encoding="utf-8")
    cell = chapter_notebook(tmp_path / "page.md", language=CHINESE).cells[1]
    stored = {e["expression"]: e["result"] for e in cell.metadata["user_expressions"]}
    shown = {expression: result["data"]["text/plain"] for expression, result in stored.items()}
    said = re.sub("{eval}`(.+?)`", lambda role: shown[role[1]], cell.source)
    assert said == "1700 万个数，170 亿个数，17 个数，1700 万。"
    (block,) = cell.metadata["course_blocks"]
    assert set(block["values"].values()) == {"17"}
    assert block["begins"] == said


def test_a_changed_translation_changes_the_notebook(small_book: Path) -> None:
    page = small_book / "chapters" / "page.md"
    assert chapter_notebook(page, small_book, CHINESE).cells[0].source == "# 两次"
    write_words(small_book, "chapters/page", WORDS | {"Twice": "两回"})
    assert chapter_notebook(page, small_book, CHINESE).cells[0].source == "# 两回"
    (catalogs.folder(small_book, "zh_CN") / "chapters" / "page.po").unlink()
    assert chapter_notebook(page, small_book, CHINESE).cells[0].source == "# Twice"


# --- changing the language -----------------------------------------------------------------------


def test_a_change_of_language_replaces_only_untouched_copies(
    small_book: Path, tmp_path: Path
) -> None:
    work, copy = tmp_path / "work", Path("chapters/0-page.ipynb")
    other = small_book / "chapters" / "other.md"
    other.write_text(f"{HEADER}\n# Other\n")
    write_words(small_book, "chapters/other", {"Other": "另一页"})
    (small_book / "_toc.yml").write_text(TOC.replace("]", ", {file: chapters/other}]"))
    (small_book / "_config.yml").write_text("title: A course\n")

    def start(language: object) -> copies.Report:
        return lab.prepare(small_book, work, tmp_path / "release", language)

    start(ORIGINAL)
    notebook = nbformat.read(work / copy, as_version=4)
    notebook.cells[-1].source = "mine"
    nbformat.write(notebook, work / copy)
    mine = (work / copy).read_bytes()
    report = start(CHINESE)
    assert (report.updated, report.beside) == (
        ["chapters/0-other.ipynb"],
        ["chapters/0-page.new.ipynb"],
    )
    assert (work / copy).read_bytes() == mine
    beside = work / "chapters/0-page.new.ipynb"
    assert nbformat.read(beside, as_version=4).cells[0].source == "# 两次"
    assert start(CHINESE).beside == []
    # Changing the language back and forth neither overwrites the reader's two edited notebooks
    # nor saves another version.
    notebook = nbformat.read(beside, as_version=4)
    notebook.cells[-1].source = "mine, too"
    nbformat.write(notebook, beside)
    mine_too = beside.read_bytes()
    for language in (ORIGINAL, CHINESE, ORIGINAL):
        report = start(language)
        assert (report.updated, report.beside) == (["chapters/0-other.ipynb"], [])
        assert (work / copy).read_bytes() == mine
        assert beside.read_bytes() == mine_too
    assert sorted(path.name for path in (work / "chapters").glob("*page*")) == [
        "0-page.ipynb",
        "0-page.new.ipynb",
    ]


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a reader's folder in Chinese."""
    work = tmp_path_factory.mktemp("work")
    lab.prepare(ROOT, work, lab.exercises_in(handouts.released(ROOT), CHINESE), CHINESE)
    return work


@pytest.mark.long
def test_the_start_page_is_in_the_chosen_language(work: Path) -> None:
    course = json.loads((work / "course.json").read_text(encoding="utf-8"))
    titles = [page["title"] for part in course["parts"] for page in part["pages"]]
    titles += [part["caption"] for part in course["parts"]]
    for exercise in course["exercises"]:
        titles += [exercise["title"], exercise["caption"], exercise["difficulty"]]
        titles.append(exercise["first"]["title"])
    assert [title for title in titles if not HAN.search(title)] == ["Roofline"] * titles.count(
        "Roofline"
    )
    assert [said for said in course["words"].values() if not HAN.search(said)] == ["，"]
    assert len(course["words"]) > 8


def test_the_report_of_make_lab_is_in_the_chosen_language() -> None:
    report = copies.Report(["a"], ["b", "c"], [], ["d.new.ipynb"])
    assert report.line() == "1 made, 2 updated; new version beside yours: d.new.ipynb"
    translate = lab.words(ROOT, CHINESE)
    assert report.line(translate) == "新建 1 个，更新 2 个；新版本放在你的副本旁边：d.new.ipynb"
    kept = copies.Report(kept=["a"])
    assert (kept.line(), kept.line(translate)) == ("1 as they were", "保持原样 1 个")


# --- in the browser ------------------------------------------------------------------------------

CHANGING = """\
```{code-cell} ipython3
n, when = 16384, "May 2024"
```

The first is {eval}`n`, since {eval}`when`.

{while}`n > 100` It does not fit.

{while}`n > 10` 约 {eval}`n` 百万个数，{eval}`f"{n / 10}"` 十亿字节。

只印出 {eval}`n + 1` 百万个数。
"""
NOW = f"{PANEL}.content.widgets[0].model.sharedModel.setSource('n, when = 16, \"June 2024\"')"


@pytest.mark.long
def test_jupyterlab_is_in_the_chosen_language(browser: Browser, work: Path, tmp_path: Path) -> None:
    (tmp_path / "changing.md").write_text(f"{HEADER}\n{CHANGING}", encoding="utf-8")
    notebook = chapter_notebook(tmp_path / "changing.md", language=CHINESE)
    nbformat.write(notebook, work / "changing.ipynb")
    folders.set_defaults(tmp_path / "JUPYTER_CONFIG_DIR", CHINESE)
    with lab_page(browser, work, tmp_path) as page:
        page.locator(".roofkit-start h1").wait_for()
        sheet = page.locator(".roofkit-sheet").inner_text()
        assert "49 个小题，完成 0 个；接下来：练习 1 的第 1 小题" in sheet
        assert "40 分钟，" in sheet
        assert page.locator("#roofkit-start-button").inner_text() == "起始页"
        page.locator(".lm-MenuBar-itemLabel", has_text="运行").wait_for()
        opened(page, "changing.ipynb")
        said = " ".join(cell["text"] for cell in prose(page))
        assert "约 163.84 亿个数，1.6384 万亿字节" in said
        page.evaluate(f"void {NOW}")
        run_all(page)
        page.locator(".course-note").wait_for()
        assert page.locator(".course-note").inner_text() == (
            "这里是印出的文字，按你的改动未必成立：“It does not fit.”"
        )
        said = " ".join(cell["text"] for cell in prose(page))
        assert "16,384（这是印出的值；现在是 16）" in said
        assert "2024 年 5 月（这是印出的值；现在是 2024 年 6 月）" in said
        assert "约 1600 万个数，16 亿字节" in said
        assert "只印出 163.85 亿（这是印出的值；现在是 1700 万）个数" in said
