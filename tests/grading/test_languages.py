"""Tests that notebooks in English and in Chinese are graded alike.

Parts, points and causes are the same; texts are in the notebook's language.
"""

import copy
import json
import re
from functools import cache
from pathlib import Path

import nbformat
import pytest
from book_extension.languages import catalogs, code_words
from bs4 import BeautifulSoup
from classroom import Classroom, made_up
from classroom.plain import grade
from nbformat import NotebookNode
from nbgrader.utils import compute_checksum
from repository import ROOT
from submissions import Submission, hand_in, submissions

from grading.__main__ import parser
from grading.course import Course
from grading.errors import Unable
from grading.intake.repair import repair
from grading.release import embedding, exercises, translation
from grading.reports import overview, template_words
from grading.schema.misconceptions import MESSAGES
from grading.work import Outcome, work
from roofkit.notebook_language import language_of
from roofkit.words import spoken

CHINESE = "zh_CN"
HAN = re.compile("[\u4e00-\u9fff]")
EXERCISES = exercises.names()
NAME = "int8-matmul"
LONG = [pytest.mark.long]
ALL = [
    pytest.param(
        one,
        id=f"{name}/{one.name}",
        # By default, test one submission of every second exercise, except the one with a plot.
        marks=[] if number == 0 and name in EXERCISES[::2] and name != "roofline-plot" else LONG,
    )
    for name in EXERCISES
    # Wrong submissions come first: they have both points and causes.
    for number, one in enumerate(sorted(submissions(name), key=lambda one: not one.expected))
]


@cache
def english(release: Path, name: str) -> NotebookNode:
    return nbformat.read(release / "release" / name / f"{name}.ipynb", as_version=4)


@cache
def chinese(release: Path, name: str) -> NotebookNode:
    return translation.translated(english(release, name), name, CHINESE)


def both(release: Path, one: Submission) -> list[NotebookNode]:
    """Return the submission in the English and in the Chinese notebook."""
    functions = {part.key: part.function for part in exercises.load(one.exercise).parts}
    source = exercises.source(one.exercise)
    released = english(release, one.exercise), chinese(release, one.exercise)
    return [hand_in(one, nb, source, functions) for nb in released]


def graded(release: Path, nb: NotebookNode, name: str = NAME) -> Outcome:
    text = nbformat.writes(english(release, name))
    content = nbformat.writes(nb).encode()
    return work(made_up.job(name, content, text))


@pytest.mark.parametrize("name", EXERCISES)
def test_only_texts_differ_between_a_notebooks_languages(release: Path, name: str) -> None:
    for one, other in zip(english(release, name).cells, chinese(release, name).cells, strict=True):
        marks = one.metadata.get("nbgrader", {})
        assert (one.id, one.cell_type) == (other.id, other.cell_type)
        if marks.get("grade_id") == "cases":
            assert other.source.endswith(f'""", "{CHINESE}")')
            assert marks["checksum"] != other.metadata.nbgrader.checksum
            continue
        if marks.get("grade_id") == "opening":
            # In both languages, this cell calls the same function; only the messages passed differ.
            assert other.source.startswith(one.source.removesuffix(")"))
            assert marks["checksum"] != other.metadata.nbgrader.checksum
            continue
        assert one.metadata == other.metadata
        if one.cell_type == "code":
            assert one.source == other.source
        else:
            assert re.findall("```.*?```", one.source, re.DOTALL) == re.findall(
                "```.*?```", other.source, re.DOTALL
            )
    assert chinese(release, name).metadata.exercise.language == CHINESE
    assert language_of(english(release, name)) == "en"


@pytest.mark.parametrize("name", EXERCISES)
def test_each_text_cell_of_a_translated_notebook_is_translated(release: Path, name: str) -> None:
    texts = [
        cell.source
        for cell in chinese(release, name).cells
        if cell.cell_type == "markdown" and "nbgrader" not in cell.metadata
    ]
    assert len(texts) > 5
    assert [text for text in texts if not HAN.search(text)] == []


@pytest.mark.parametrize("name", EXERCISES)
def test_all_texts_of_a_notebook_are_in_the_catalog(name: str) -> None:
    known = set(code_words.of_notebooks(ROOT))
    found = [
        " ".join(text.split())
        for cell in exercises.source(name).cells
        if cell.cell_type == "markdown"
        for block in re.split(r"\n{2,}", cell.source)
        for _, text in translation.pieces(block)
        if text
    ]
    assert len(found) > 15
    assert set(found) <= known


def test_the_first_cells_error_message_is_in_the_notebooks_language(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = next(c for c in chinese(release, NAME).cells if "set_up_notebook" in c.source).source
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ImportError) as caught:
        exec(source.replace("'roofkit.check'", "'roofkit.no_such_module'"), {})
    assert "这个 notebook 需要课程的两个软件包" in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_headings_list_items_and_paragraphs_are_translated_and_code_is_not() -> None:
    source = "# One\n\nTwo\nlines.\n\n- Three\n  more.\n- Four.\n\n```\nTwo lines.\n```\n\nFive."
    texts = {"One": "一", "Two lines.": "二", "Three more.": "三", "Four.": "四"}
    assert translation.in_words(source, texts) == (
        "# 一\n\n二\n\n- 三\n- 四\n\n```\nTwo lines.\n```\n\nFive."
    )
    assert translation.in_words(source, {}) == source


def test_only_finished_translations_of_texts_are_used(tmp_path: Path) -> None:
    file = tmp_path / "x.po"
    file.write_text(
        'msgid ""\nmsgstr "Language: zh_CN\\n"\n\nmsgid "one"\nmsgstr "一"\n\n'
        'msgid "two"\nmsgstr ""\n\n#, fuzzy\nmsgid "three"\nmsgstr "二"\n'
    )
    assert translation._read(file) == {"one": "一"}
    assert translation.messages(NAME, "xx") == {}


@pytest.mark.parametrize("marks", [{}, {"checksum": "0"}])
def test_a_replaced_cell_gets_a_new_checksum_if_it_had_one(marks: dict[str, str]) -> None:
    cell = embedding.locked_cell("before", "name")
    cell.metadata["nbgrader"] |= marks
    translation.replace(cell, "after")
    assert cell.source == "after"
    expected = compute_checksum(cell) if marks else None
    assert cell.metadata["nbgrader"].get("checksum") == expected


@pytest.mark.parametrize("submission", ALL)
def test_the_same_answers_get_the_same_points_and_causes(
    release: Path, submission: Submission
) -> None:
    name = submission.exercise
    one, other = both(release, submission)
    expected, found = grade(one, name), grade(other, name)
    assert {key: (part.points, part.cause) for key, part in expected.items()} == {
        key: (part.points, part.cause) for key, part in found.items()
    }
    lost = {key for key, part in found.items() if not part.points}
    assert lost == set(submission.expected)
    for key in lost:
        assert all(HAN.search(sentence) for sentence in found[key].sentences)
        assert not any(HAN.search(sentence) for sentence in expected[key].sentences)


def test_the_feedback_page_is_in_the_language_of_the_notebook(release: Path) -> None:
    wrong = next(one for one in submissions(NAME) if "output-not-counted" in one.expected.values())
    outcomes = [graded(release, nb) for nb in both(release, wrong)]
    points = [[(one["key"], one["points"], one["cause"]) for one in o.parts] for o in outcomes]
    assert points[0] == points[1]
    said = MESSAGES["output-not-counted"][0]
    with spoken(CHINESE):
        in_chinese = translation._(said)
    pages = [BeautifulSoup(outcome.feedback, "html.parser") for outcome in outcomes]
    assert [page.html.get("lang") for page in pages] == [None, "zh-CN"]
    texts = [" ".join(page.body.get_text().split()) for page in pages]
    assert [said in text for text in texts] == [True, False]
    assert [in_chinese in text for text in texts] == [False, True]
    # The words of nbgrader's template are translated.
    for words in ("Score:", "(Top)", "Student's answer", "Grade cell"):
        assert [words in text for text in texts] == [True, False]
    # Chinese brackets have no spaces beside them.
    assert "int8-matmul（得分：7.0 / 20.0） bytes-moved（得分：0.0 / 3.0）" in texts[1]
    assert "评分单元格 bytes-moved" in texts[1]
    assert not any("roofkit.check import cases" in text for text in texts)


def test_nbgraders_template_words_are_translated_and_comments_are_not() -> None:
    page = (
        "<html><h4>attention (Score: 1.5 / 2.0)</h4>"
        '<li><a href="#a">a</a> (Score: 0.0 / 2.0)</li>'
        '<li><a href="#comment-a-solution">Comment</a></li>'
        '<li class="late-penalty">Late submission penalty (Score: -2.0)</li>'
        '<span class="nbgrader-label">Student\'s answer</span>'
        '<span class="pull-right">\n Score: 1.0 / 3.0 <a href="#top">(Top)</a></span>'
        '<span class="nbgrader-label">Grade cell: <code>a</code></span>'
        "<b>Comments:</b> Comment, Score: 1.0"
    )
    assert template_words.translated(page) == page
    with spoken(CHINESE):
        assert template_words.translated(page) == (
            '<html lang="zh-CN"><h4>attention（得分：1.5 / 2.0）</h4>'
            '<li><a href="#a">a</a>（得分：0.0 / 2.0）</li>'
            '<li><a href="#comment-a-solution">评语</a></li>'
            '<li class="late-penalty">迟交扣分（得分：-2.0）</li>'
            '<span class="nbgrader-label">学生的回答</span>'
            '<span class="pull-right">\n 得分：1.0 / 3.0 <a href="#top">（回顶部）</a></span>'
            '<span class="nbgrader-label">评分单元格 <code>a</code></span>'
            "<b>评语：</b> Comment, Score: 1.0"
        )


def test_the_language_of_a_notebook_is_detected_without_metadata(release: Path) -> None:
    nb = copy.deepcopy(chinese(release, NAME))
    nb.metadata.clear()
    assert language_of(nb) == CHINESE
    repair(nb, NAME)
    assert nb.metadata.exercise == exercises.source(NAME).metadata.exercise | {"language": CHINESE}
    assert graded(release, nb).feedback.count('<html lang="zh-CN">') == 1
    # An unknown language in the metadata of an English notebook is ignored.
    other = copy.deepcopy(english(release, NAME))
    for said in ("xx_XX", 7, "../zh_CN", {"a": 1}):
        other.metadata["exercise"]["language"] = said
        assert "<html lang" not in graded(release, other).feedback


def test_reports_stay_english(release: Path) -> None:
    nb = copy.deepcopy(chinese(release, NAME))
    cell = next(cell for cell in nb.cells if cell.source.startswith("def bytes_moved"))
    cell.source = "import os\nos._exit(1)"
    outcome = graded(release, nb)
    assert outcome.reason.startswith("A cell ended the whole Python process")
    assert {part["cause"] for part in outcome.parts} == {"not-reached"}
    assert not HAN.search(outcome.reason + json.dumps(outcome.remarks + outcome.tampering))
    assert "结束了整个 Python 进程" in BeautifulSoup(outcome.feedback, "html.parser").get_text()


def test_reading_advice_uses_the_translated_chapter_titles() -> None:
    chapter = catalogs.folder(ROOT, CHINESE) / "chapters" / "time.po"
    titles = {m.id: m.string for m in catalogs.messages(catalogs.read(chapter, CHINESE))}
    title, heading = "Where does the time go?", "How do the times add up?"
    with spoken(CHINESE):
        assert translation.place(f"“{title}”, “{heading}”") == (
            f"“{titles[title]}”，“{titles[heading]}”"
        )
    assert translation.place(f"“{title}”, “{heading}”") == f"“{title}”, “{heading}”"


@pytest.mark.parametrize("cause", MESSAGES)
def test_the_section_to_read_for_each_misconception_is_translated(cause: str) -> None:
    read = MESSAGES[cause][1]
    assert not HAN.search(translation.place(read))
    with spoken(CHINESE):
        assert HAN.search(translation.place(read))


def test_the_release_has_both_languages(tmp_path: Path) -> None:
    course = Course(tmp_path)
    course.release([NAME], [CHINESE])
    file = Path(NAME, f"{NAME}.ipynb")
    books = [nbformat.read(tmp_path / f / file, 4) for f in ("release", f"release-{CHINESE}")]
    assert [language_of(book) for book in books] == ["en", CHINESE]
    assert parser().parse_args(["release", "--language", CHINESE]).language == [CHINESE]
    with pytest.raises(Unable, match="no translation is called 'xx', only zh_CN"):
        course.release([NAME], ["xx"])


def test_a_class_of_students_may_mix_languages(release: Path, tmp_path: Path) -> None:
    room = Classroom(tmp_path, release)
    wrong = next(one for one in submissions(NAME) if "output-not-counted" in one.expected.values())
    in_english, in_chinese = both(release, wrong)
    room.hand_in("ada", NAME, in_english)
    file = room.hand_in("bob", NAME, in_chinese)
    file.rename(file.with_name(f"{NAME} (1).ipynb"))  # as browsers rename a second download
    room.course.grade()
    overview.write(room.course)
    state = room.course.state()
    ada, bob = state["ada"][NAME]["parts"], state["bob"][NAME]["parts"]
    assert [(part["points"], part["cause"]) for part in ada] == [
        (part["points"], part["cause"]) for part in bob
    ]
    pages = [room.course.feedback(one, NAME).read_text(encoding="utf-8") for one in ("ada", "bob")]
    assert ['lang="zh-CN"' in page for page in pages] == [False, True]
    assert ["漏算了输出" in page for page in pages] == [False, True]
    # nbgrader's own feedback page of the graded notebook is in Chinese, too.
    made = room.course.feedback("bob", NAME)
    made.unlink()
    room.course._make_page("bob", NAME)
    text = BeautifulSoup(made.read_text(encoding="utf-8"), "html.parser").get_text()
    assert "漏算了输出" in text
    assert "Student's answer" not in text
    tables = list(tmp_path.glob("*.csv"))
    assert len(tables) > 2
    assert not any(HAN.search(table.read_text(encoding="utf-8-sig")) for table in tables)
