"""A learner answers an exercise on its page, in a real browser with real Python."""

import contextlib
import copy
import io
import re
from pathlib import Path

import nbformat
import pytest
from figure_faults import english
from learner import PASSED, answered, by_heart, graded_points, parts, released, results, solutions
from nbformat import NotebookNode
from playwright.sync_api import expect
from reader import EDITOR, FULL, Reader
from site_sweep import ENGLISH
from submissions import Submission, submissions
from untranslated import without

from grading.release import exercises

NAME = "int8-weights"  # the smallest
HAN = re.compile("[\u4e00-\u9fff]")
RUNS_IN_GRADING = "3.11"
# What newer Python alone takes in an f-string → a word of the reason that is given.
NEWER = {
    '{"B"}': "own quotes",
    "{B  # rows\n    }": "comment",
    "{'\\n'.join(names)}": "backslash",
    "{B\n    }": "line break",
}
# Whole numbers are as large as in a notebook.
AS_IN_PYTHON = """import numpy as np
large = [2**20, 2**20]
print(np.prod(large), np.cumprod(large), np.sum([2**31, 1]), np.cumsum([2**31, 1]), [large])
for one in (np.array(large), np.asarray(large), np.full(2, 2**20), np.arange(2**20, 2**20 + 2)):
    print(one * one, repr(one), one.sum(), one.dtype)
print(np.dot(large, large), np.outer(large, large), np.vdot(large, [4, 4]), np.max(large) * 2**20)
print(np.array(large, dtype=int) * 2**20, np.ones(2, int) * 2**40, np.zeros(1, dtype=int).dtype)
print(np.array([1, 2], dtype="int32").dtype, np.array([0.5]), np.arange(3.0))"""
# What a cell displays → what is then on the page.
RICH = {
    "HTML('<i>one</i>')": "i",
    "Markdown('**two**')": "strong",
    "Markdown('- three\\n- four')": "li",
}
ONLY_IN_JUPYTER = (
    "%%time\n1 + 1",
    "%matplotlib inline",
    "files = !ls",
    "import asyncio\nawait asyncio.sleep(0)",
)


def own_answers(notebook: NotebookNode) -> dict[str, str]:
    """Return the answers in a notebook."""
    marks = {cell.id: cell.metadata.get("nbgrader", {}) for cell in notebook.cells}
    return {
        marks[cell.id]["grade_id"]: str(cell.source)
        for cell in notebook.cells
        if marks[cell.id].get("solution")
    }


def test_an_exercise_answered_on_its_page_gets_the_same_points_in_grading(
    reader: Reader, release: Path, tmp_path: Path
) -> None:
    """The learner makes mistakes, asks for hints, mends them, and leaves one part wrong."""
    right, keys = solutions(NAME), list(parts(NAME))
    first, last = keys[0], keys[-1]
    wrong = next(one for one in submissions(NAME) if first in one.told)
    mistake = {one.key: one.says for one in parts(NAME)[first].misconceptions}
    reader.answer_here(NAME)
    said = reader.check(first, wrong.source)
    assert mistake[wrong.told[first]] in " ".join(said.split())
    assert not reader.offers_hint(first)
    said = reader.check(first)
    assert reader.offers_hint(first)
    assert "check.hint" not in said  # the page has a button for it
    assert parts(NAME)[first].hint in " ".join(reader.hint(first).split())
    for code, reason in NEWER.items():
        answer = f'def intensity(B, D, F, names="ab"):\n    print(f"{code}")\n    return 1.0'
        said = reader.check(first, answer)
        assert RUNS_IN_GRADING in said, code
        assert "syntax error in line 2: " in said, code
        assert [word for word in NEWER.values() if word in said] == [reason], said
    for number, key in enumerate(keys[:-1], start=1):
        said = reader.check(key, f"{right[key]}\nprint('at', {number})")
        assert PASSED in said
        assert f"at {number}" in said
        assert reader.done().startswith(f"{number} of {len(keys)} parts done.")
        assert [bool(reader.mark(one)) for one in keys] == [
            keys.index(one) < number for one in keys
        ]
        assert not reader.offers_to_compare()
    assert PASSED not in reader.check(last, by_hand(last, 1.25))
    # What is right is green, what isn't red; the cases are folded below.
    for key in keys:
        report = reader.part(key).locator(".check-report")
        color = report.evaluate("(e) => getComputedStyle(e).borderLeftColor")
        red, green, *_ = map(int, re.findall(r"\d+", color))
        assert (green > red) == (key != last), color
        cases = report.locator("details:not([open])")
        assert parts(NAME)[key].function in (cases.text_content() or "")
    # A hint goes once its part is right.
    assert parts(NAME)[first].hint not in " ".join(reader.part(first).inner_text().split())
    # The exercise is open when the learner comes back, with answers alone or with own cells.
    reader.page.reload()
    reader.page.locator(".answers h3").first.wait_for()
    assert reader.own_cell("print('peak', peak > 1)").strip() == "peak True"
    reader.write_words("Half the *bytes*.\n\nNothing else.")
    # Nothing is lost by loading the page again, or by downloading twice.
    handed_in = reader.download(tmp_path)
    before = handed_in.read_bytes()
    reader.forget_python()
    reader.page.reload()
    reader.page.locator(".answers h3").first.wait_for()
    assert reader.done().startswith(f"{len(keys) - 1} of {len(keys)} parts done.")
    assert reader.download(tmp_path).read_bytes() == before
    expect(reader.page.locator(".own-words")).to_have_value("Half the *bytes*.\n\nNothing else.")
    assert handed_in.name == f"{NAME}.ipynb"
    notebook = nbformat.read(handed_in, as_version=4)
    nbformat.validate(notebook)
    assert any("Half the *bytes*" in cell.source for cell in notebook.cells)
    wanted = {key: part.points for key, part in parts(NAME).items()} | {last: 0}
    assert graded_points(release, tmp_path / "class", NAME, {"ada": handed_in}) == {"ada": wanted}


def count(said: str, file: str) -> list[int]:
    """Return the numbers in a sentence about a file."""
    return [int(number) for number in re.findall(r"\d+", said.replace(file, ""))]


def by_hand(key: str, value: float) -> str:
    return f"def {parts(NAME)[key].function}(**sizes):\n    return {value}"


def test_a_finished_exercise_tells_its_moral_and_is_taken_back_from_its_file(
    reader: Reader, tmp_path: Path
) -> None:
    right, exercise = solutions(NAME), exercises.load(NAME)
    mine = answered(Submission(NAME, "reference", "", {}))
    code, text = nbformat.v4.new_code_cell, nbformat.v4.new_markdown_cell
    for place, cell in ((0, text("Mine *here*.")), (9, code("mine = 3")), (10, code("mine += 1"))):
        mine.cells.insert(place, cell)
    # A copy of an answer has its marks, and is a cell of the learner's own.
    copied = copy.deepcopy(next(c for c in mine.cells if c.source == right[next(iter(right))]))
    copied.id, copied.source = "copied", f"{copied.source}\n# as it was"
    mine.cells += [copied, text("The end.")]
    nbformat.write(mine, tmp_path / "mine.ipynb")
    reader.answer_here(NAME)
    assert count(reader.take(tmp_path / "mine.ipynb"), "mine.ipynb") == [3, 3, 3]
    assert not reader.offers_to_compare()
    with reader.a_run():
        reader.press("Check all")
    reader.page.locator(".part-done").nth(2).wait_for()
    assert reader.done().startswith(f"{len(right)} of {len(right)} ")
    said = reader.part(list(right)[-1]).locator(".cell_output").first.text_content() or ""
    assert exercise.moral in " ".join(said.split())
    assert exercise.thoughts in " ".join(reader.compare().split())
    assert all(reader.page.locator(".answers-end h3").all_inner_texts())
    reader.forget_python()
    reader.page.reload()
    reader.page.locator(".answers h3").first.wait_for()
    back = nbformat.read(reader.download(tmp_path), as_version=4)
    assert [(c.cell_type, c.source) for c in back.cells] == [
        (c.cell_type, c.source) for c in mine.cells
    ]
    # A file that is none of this exercise changes nothing; one with fewer answers, only those.
    (tmp_path / "no.ipynb").write_text("no notebook", encoding="utf-8")
    nbformat.write(released("attention"), tmp_path / "other.ipynb")
    for name in ("no.ipynb", "other.ipynb"):
        assert name in reader.take(tmp_path / name)
        assert nbformat.read(reader.download(tmp_path), as_version=4) == back
    first, *others = right
    for cell in mine.cells:
        cell.metadata.pop("nbgrader", None)  # as some editors do
        if cell.source == right[first]:
            cell.source = f"{cell.source}\n# again"
    mine.cells = [cell for cell in mine.cells if cell.source != right[others[-1]]]
    nbformat.write(mine, tmp_path / "less.ipynb")
    assert count(reader.take(tmp_path / "less.ipynb"), "less.ipynb") == [2, 3, 3]
    now = own_answers(nbformat.read(reader.download(tmp_path), as_version=4))
    assert now == own_answers(back) | {f"{first}-solution": f"{right[first]}\n# again"}
    # An answer that changes is no longer done, nor are those that call it.
    key = list(right)[-1]  # no other part calls it
    reader.write(reader.part(key).locator(".code-editor .cm-content"), "# thinking again")
    assert not reader.done().startswith(f"{len(right)} of ")


def test_a_press_on_answer_here_leads_into_the_first_editor(reader: Reader) -> None:
    reader.answer_here(NAME)
    first = reader.page.locator(EDITOR).first
    expect(first).to_be_focused()
    expect(first).to_be_in_viewport()
    reader.page.keyboard.insert_text("7")
    assert "7" in reader.written(first)
    reader.page.emulate_media(media="print")
    answer = reader.part(next(iter(parts(NAME)))).locator("pre").first
    assert answer.inner_text().strip() == reader.written(first).strip()
    assert answer.is_visible()
    assert not first.is_visible()
    reader.page.emulate_media(media="screen")
    reader.page.keyboard.press("Control+z")
    assert "7" not in reader.written(first)
    reader.page.keyboard.press("Tab")  # leads on
    expect(reader.part(next(iter(parts(NAME)))).get_by_role("button").first).to_be_focused()
    # Each button adds a cell where it stands, and leads into it.
    for button in reader.page.get_by_role("button", name="Add a cell").all():
        above = reader.page.locator(".own-cell").count()
        button.press("Enter")
        assert reader.page.locator(".own-cell").count() == above + 1
        assert reader.page.evaluate("Boolean(document.activeElement.closest('.own-cell'))")


def test_an_own_cell_on_the_page_prints_plots_fails_and_is_stopped(reader: Reader) -> None:
    reader.answer_here(NAME)
    assert reader.own_cell("import matplotlib.pyplot as plt\n_ = plt.plot([1, 2])") == ""
    assert reader.page.locator(".own-cell .cell_output :is(svg, img)").count() == 1
    twice = "plt.plot([1, 2])\nplt.show()\n" * 2
    assert "Warning" not in reader.own_cell(f"import matplotlib.pyplot as plt\n{twice}")
    assert reader.page.locator(".own-cell .cell_output svg").count() == 2
    assert "ZeroDivisionError" in reader.own_cell("1 / 0")
    endless = reader.own_cell("def f(n):\n    return f(n + 1)\n\n\nf(0)")
    assert endless.count("return f(n + 1)") == 1
    for code in ONLY_IN_JUPYTER:
        assert "don't run on this page" in reader.own_cell(code), code
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(AS_IN_PYTHON, {})
    assert reader.own_cell(AS_IN_PYTHON) == printed.getvalue()
    shown = reader.own_cell("from IPython.display import display\ndisplay(1)\n{2: [3]}")
    assert shown.split("\n") == ["1", "{2: [3]}"]
    for value, element in RICH.items():
        reader.own_cell(f"from IPython.display import HTML, Markdown\n{value}")
        assert reader.page.locator(f".own-cell .cell_output {element}").count(), value
    assert reader.own_cell("7;") == ""
    cell = reader.page.locator(".own-cell").last
    editor = cell.locator(EDITOR)
    reader.write(editor, "while True:")
    reader.page.keyboard.press("Enter")  # indents
    reader.page.keyboard.type("pass")
    assert reader.written(editor) == "while True:\n    pass"
    reader.press("Check all")  # of nothing that is written
    others = reader.page.locator(".answers h3").all_inner_texts()
    assert all(other in reader.done() for other in others)
    for key, answer in solutions(NAME).items():
        reader.write(reader.part(key).locator(EDITOR), answer)
        assert others.pop(0) not in reader.done()
    key, answer = next(iter(solutions(NAME).items()))
    reader.check(key, by_hand(key, 1.25))
    assert not reader.offers_hint(key)
    editor.focus()
    with reader.a_run():
        reader.page.keyboard.press("Control+Enter")
        reader.press("Check all")
        reader.press("Stop")
    # What waited was not run, and is no longer marked as if it were to come.
    assert reader.page.locator("[aria-busy]").count() == 0
    reader.traffic.clear()
    reader.own_cell("mine = 2")
    for is_offered in (False, True):  # a new Python counts anew
        reader.check(key)
        assert reader.offers_hint(key) == is_offered
    assert PASSED in reader.check(key, answer)


def plain(text: str) -> str:
    """Return the words of a text, or of Markdown."""
    return " ".join(re.findall(r"\w+", re.sub(r"\*|```\w*", "", text)))


def test_a_page_gives_and_asks_what_the_notebook_does(reader: Reader) -> None:
    for name in ("roofline-plot", "diagnose"):
        reader.answer_here(name)
        assert reader.done().startswith(f"0 of {len(parts(name))} ")
        cells = {
            cell.metadata.get("nbgrader", {}).get("grade_id"): cell for cell in released(name).cells
        }
        given = reader.page.locator(".answers > .cell pre").first
        assert given.text_content() == cells["given"].source
        asked, texts = [], []
        for cell in released(name).cells:
            if cell.cell_type == "markdown":
                asked.append(plain(cell.source))
                texts.append(cell.source)
            elif exercises.is_check(cell):
                key = cell.metadata.nbgrader.grade_id
                shown = plain(reader.part(key).inner_text())
                assert [words for words in asked if words not in shown] == [], (name, key)
                items = sum(len(re.findall("^[-*] ", text, re.M)) for text in texts)
                assert reader.part(key).locator("li").count() == items, (name, key)
            if cell.cell_type == "code" and not cell.metadata.nbgrader.solution:
                asked, texts = [], []


def test_a_browser_that_keeps_nothing_says_so_and_warns_who_leaves(reader: Reader) -> None:
    reader.answer_here(NAME)
    kept = reader.done()
    other = reader.tab()
    other.page.add_init_script(FULL)
    other.answer_here(NAME)
    editor = other.part(next(iter(parts(NAME)))).locator(EDITOR)
    other.write(editor, "mine = 1")
    assert other.done() != kept
    with other.page.expect_event("dialog") as asked:
        other.page.close(run_before_unload=True)
    asked.value.accept()


def test_a_part_is_to_be_checked_again_after_a_change_above(reader: Reader, tmp_path: Path) -> None:
    reader.answer_here(NAME)
    right = solutions(NAME)
    first, second, _ = right
    editors = [reader.part(key).locator(EDITOR) for key in right]
    for number, key in enumerate((first, second)):
        assert PASSED in reader.check(key, right[key])
        expect(editors[number]).to_be_focused()
        with reader.a_run():
            reader.page.keyboard.press("Shift+Enter")
        expect(editors[number + 1]).to_be_focused()
    reader.write(editors[0], "peak = 0")
    assert reader.done().startswith("0 of 3 parts done. 1 to check again")
    marks = [reader.mark(key) for key in right]
    assert [bool(mark) for mark in marks] == [False, True, False]
    reader.write(editors[0], right[first])
    assert reader.done().startswith("2 of 3 parts done. Your")
    assert [bool(reader.mark(key)) for key in right] == [True, True, False]
    assert reader.mark(second) != marks[1]
    # A cell of one's own stands where it was added, and sees what is above it.
    reader.part(first).get_by_role("button", name="Add a cell").click()
    assert reader.own_cell(f"print({parts(NAME)[first].function}(1, 1, 1))", 0).strip()
    sources = [cell.source for cell in nbformat.read(reader.download(tmp_path), 4).cells]
    (at,) = (at for at, source in enumerate(sources) if source.startswith("print("))
    assert sources[at - 1].startswith(f'check("{first}"')
    # An error in it doesn't keep a part below from being checked.
    assert "ZeroDivisionError" in reader.own_cell("1 / 0", 0)
    assert PASSED in reader.check(second)
    reader.open("exercises/attention")
    marked = reader.page.locator(".bd-links a", has_text="2 of 3 parts done")
    assert str(marked.get_attribute("href")).endswith(f"{NAME}.html")


def test_two_tabs_of_an_exercise_keep_each_others_answers(reader: Reader) -> None:
    reader.answer_here(NAME)
    other = reader.tab()
    other.answer_here(NAME)
    first, second, _ = parts(NAME)
    editor = ".code-editor .cm-content"
    reader.write(reader.part(first).locator(editor), "mine = 1")
    expect(other.part(first).locator(".cell_input pre")).to_have_text("mine = 1")
    other.write(other.part(second).locator(editor), "mine = 2")
    reader.write(reader.page.locator(".own-cell").last.locator(editor), "mine = 3")
    other.page.wait_for_function(
        "document.querySelector('.own-cell pre').textContent === 'mine = 3\\n'"
    )
    other.page.reload()
    other.page.locator(".answers h3").first.wait_for()
    shown = [other.written(one) for one in other.page.locator(editor).all()]
    assert {"mine = 1", "mine = 2", "mine = 3"} <= set(shown)


def test_own_cells_of_a_notebook_run_once_and_run_no_script_in_the_site(
    reader: Reader, tmp_path: Path
) -> None:
    """The notebook may be somebody else's. A cell runs again if something above it has changed."""
    counts = "import sys\nsys.runs = getattr(sys, 'runs', 0) + 1\nprint('run', sys.runs)"
    attack = "document.title = 'taken'"
    rich = f'''
class Rich:
    def _repr_html_(self):
        return """<b>bold</b><img src=x onerror="{attack}"><svg><a href="javascript:{attack}">
        <text>press</text></a><script>{attack}</script></svg><iframe srcdoc="<script>parent.{attack}
        </script>"></iframe><details open ontoggle="{attack}"></details>"""
Rich()'''
    notebook = released(NAME)
    shown = nbformat.v4.new_output("display_data", {"text/html": f'<img src=x onerror="{attack}">'})
    notebook.cells.insert(5, nbformat.v4.new_code_cell(counts))
    notebook.cells.insert(6, nbformat.v4.new_code_cell(rich, outputs=[shown]))
    nbformat.write(notebook, tmp_path / "theirs.ipynb")
    reader.answer_here(NAME)
    reader.take(tmp_path / "theirs.ipynb")
    counted, output = (reader.page.locator(".own-cell .cell_output").nth(at) for at in (0, 1))
    for key, answer in solutions(NAME).items():
        assert PASSED in reader.check(key, answer)
        assert counted.inner_text().strip() == "run 1"
    assert output.locator("b").inner_text() == "bold"
    assert output.locator("script, iframe, img, [onerror], [ontoggle], a[href]").count() == 0
    assert reader.page.title() != "taken"


@pytest.mark.long
def test_a_check_that_does_not_end_is_stopped_and_says_so(reader: Reader) -> None:
    reader.answer_here(NAME)
    said = reader.check("intensity", "def intensity(B, D, F):\n    while True:\n        pass")
    assert "did not come to an end" in said
    assert PASSED in reader.check("intensity", solutions(NAME)["intensity"])


def test_a_chinese_page_asks_answers_and_hands_in_in_chinese(
    reader: Reader, tmp_path: Path
) -> None:
    reader.answer_here(NAME, "zh")
    key, answer = next(iter(solutions(NAME).items()))
    for _ in range(2):
        said = reader.check(key, "def intensity(B, D, F):\n    return 1.5")
    assert HAN.search(said)
    assert HAN.search(reader.hint(key))
    shown = reader.page.evaluate(ENGLISH)
    assert HAN.search(reader.check(key, answer))
    reader.own_cell("7")
    reader.press("全部检查")
    code = ('"""', "def ", "return ")  # of the answers
    shown += reader.page.evaluate(ENGLISH)
    assert [line for line in shown if not line.startswith(code) and english(without(line))] == []
    notebook = nbformat.read(reader.download(tmp_path), as_version=4)
    assert HAN.search(notebook.cells[0].source)
    assert own_answers(notebook)[f"{key}-solution"] == answer


def some_of(name: str) -> list[Submission]:
    """Return a right answer, three wrong ones, and what knows the published cases by heart."""
    right, *others = submissions(name)
    wrong = [one for one in others if one.told and "too-late" not in one.told.values()]
    first = next(key for key, part in parts(name).items() if part.kind != "figure")
    return [right, *wrong[:: max(1, len(wrong) // 3)][:3], by_heart(name, first)]


@pytest.mark.long
@pytest.mark.parametrize("name", exercises.names())
def test_the_page_says_what_the_notebook_says(reader: Reader, name: str, tmp_path: Path) -> None:
    rows = some_of(name)
    reader.answer_here(name)
    for one, (said, _) in zip(rows, results(name, rows), strict=True):
        nbformat.write(answered(one), tmp_path / "mine.ipynb")
        reader.take(tmp_path / "mine.ipynb")
        for key in parts(name):
            shown = " ".join(reader.check(key).split())
            assert (PASSED in shown) == (PASSED in said[key]), (one.name, key)
            mistakes = [known.says for known in parts(name)[key].misconceptions]
            assert [s for s in mistakes if s in shown] == [s for s in mistakes if s in said[key]]
