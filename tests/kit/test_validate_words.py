"""Messages of HonestValidator about notebooks that have already run."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from classroom import Classroom, cell, points
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook, new_output
from nbgrader.apps import validateapp

from grading.release import exercises
from roofkit.check.messages import PROBLEMS
from roofkit.validate import MARKED, MESSAGES, HonestValidator, install, messages, server, summary


def part(name: str, right: bool, source: str = "") -> nbformat.NotebookNode:
    """Return a graded cell with the output of its check."""
    said = f"{name}: {'right for' if right else 'not right yet (0 of'} 3 published cases."
    output = new_output("stream", text=said)
    if not right:
        output = new_output("error", ename="CheckFailed", evalue=said, traceback=[said])
    marks = {"grade": True, "grade_id": name, "solution": False, "locked": True, "points": 1}
    return new_code_cell(
        source or f'check("{name}", f)',
        metadata={"nbgrader": marks | {"schema_version": 3, "cell_type": "code"}},
        outputs=[output],
    )


def said(tmp_path: Path, *cells: nbformat.NotebookNode) -> str:
    path = tmp_path / "notebook.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell("1 + 1"), *cells]), path)
    validator = HonestValidator(preprocessors=[])
    validator.stream = io.StringIO()
    validator.validate_and_print(str(path))
    return validator.stream.getvalue()


@pytest.mark.parametrize("rights", [(False,) * 3, (True, False, True), (False, True, False)])
def test_the_summary_counts_parts_and_reports_each_once_in_order(
    tmp_path: Path, rights: tuple[bool, ...]
) -> None:
    cells = [part(f"part-{place}", right) for place, right in enumerate(rights)]
    first, *reports = said(tmp_path, *cells).split("\n\n")
    assert first == f"{sum(rights)} of 3 parts right."
    expected = ["right for" if right else "not right yet" for right in rights]
    assert len(reports) == len(rights)
    for place, (report, words) in enumerate(zip(reports, expected, strict=True)):
        assert report.strip().startswith(f"part-{place}: {words}")


def test_the_summary_of_a_finished_notebook_says_what_it_means(tmp_path: Path) -> None:
    first, *reports = said(tmp_path, part("one", True), part("two", True)).split("\n\n")
    assert first.split() == summary(2, 2).split()
    assert first.startswith("2 of 2 parts right, for the published cases. Grading asks")
    assert [report.strip()[:4] for report in reports] == ["one:", "two:"]


def test_notebooks_of_other_courses_keep_the_messages_of_nbgrader(tmp_path: Path) -> None:
    right = said(tmp_path, part("one", True, "assert True"))
    assert right == "Success! Your notebook passes all the tests.\n"
    wrong = said(tmp_path, part("one", False, "assert False"))
    assert "VALIDATION FAILED ON 1 CELL(S)" in wrong
    assert "The following cell failed:\n\n    assert False" in wrong


def test_one_roofkit_check_is_enough_to_replace_the_messages_of_nbgrader(tmp_path: Path) -> None:
    cells = [part("one", True), part("two", True, "assert True")]
    assert said(tmp_path, *cells).startswith("2 of 2 parts right")


def test_displayed_output_in_a_check_cell_is_not_reported(tmp_path: Path) -> None:
    right = part("one", True)
    right.outputs.insert(0, new_output("display_data", data={"text/plain": "a picture"}))
    _, report = said(tmp_path, right).split("\n\n")
    assert report.strip() == "one: right for 3 published cases."


def test_the_command_and_the_button_use_our_validator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validateapp, "Validator", object)
    monkeypatch.setattr(server.handlers, "Validator", object)
    install()
    assert validateapp.Validator is HonestValidator
    added: list[Any] = []
    settings = {"base_url": "/user/ada/"}
    app = SimpleNamespace(settings=settings, add_handlers=lambda *given: added.append(given))
    server._load_jupyter_server_extension(SimpleNamespace(web_app=app))
    assert server.handlers.Validator is HonestValidator
    assert added == [(".*$", [("/user/ada/roofkit/messages", server.Messages)])]


# --- errors of cells above, without running them --------------------------------------------------


def failing(source: str, name: str, *lines: str) -> nbformat.NotebookNode:
    """Return a cell whose error has this name and traceback."""
    error = new_output("error", ename=name, evalue=lines[-1], traceback=list(lines))
    return new_code_cell(source, outputs=[error])


def unknown(grade_id: str, name: str = "f") -> nbformat.NotebookNode:
    """Return a graded cell whose check found a name undefined."""
    check = part(grade_id, False)
    check.outputs = failing("", "NameError", f"NameError: name '{name}' is not defined").outputs
    return check


def test_the_last_cell_above_with_an_error_explains_an_undefined_name(tmp_path: Path) -> None:
    early = failing("f = 1 / 0", "ZeroDivisionError", "a frame", "ZeroDivisionError: division")
    late = failing("def f(:", "SyntaxError", "  def f(:", "        ^", "SyntaxError: no, thanks")
    after = failing("f[0]", "TypeError", "TypeError: too late")
    check = unknown("one")
    wrong = unknown("two", "g")
    words = said(tmp_path, early, late, new_code_cell("f"), check, wrong, after)
    first, second, third = words.split("\n\n")
    assert first == "0 of 2 parts right."
    assert second.splitlines() == [
        "    one: no answer to check, since a cell above stopped with an error:",
        "      def f(:",
        "            ^",
        "    SyntaxError: no, thanks",
    ]
    # No cell above mentions g, so the NameError is shown.
    assert third.strip() == "NameError: name 'g' is not defined"
    third = said(tmp_path, early, check).split("\n\n")[1]
    assert third.splitlines()[1:] == ["    ZeroDivisionError: division"]


def test_an_undefined_name_is_not_explained_by_failed_checks_or_longer_names(
    tmp_path: Path,
) -> None:
    longer = failing("ff = 1 / 0", "ZeroDivisionError", "ZeroDivisionError: division")
    words = said(tmp_path, longer, unknown("one"), unknown("two"))
    assert "ZeroDivisionError" not in words
    assert "no answer to check" not in words


def test_a_function_with_an_undefined_name_shows_the_error_that_caused_it(tmp_path: Path) -> None:
    helper = failing("g = 1 / 0", "ZeroDivisionError", "ZeroDivisionError: division")
    check = part("one", False)
    check.outputs = failing(
        "", "CheckFailed", "f stopped: NameError: name 'g' is not defined"
    ).outputs
    report = said(tmp_path, helper, check).split("\n\n")[1].splitlines()
    assert [line.strip().partition(":")[0] for line in report] == [
        *("one", "ZeroDivisionError", "f stopped")
    ]


def test_in_other_courses_an_undefined_name_is_not_explained(tmp_path: Path) -> None:
    helper = failing("f = 1 / 0", "ZeroDivisionError", "ZeroDivisionError: division")
    check = unknown("one")
    check.source = "assert f"
    words = said(tmp_path, helper, check)
    assert "name 'f' is not defined" in words
    assert "ZeroDivisionError" not in words


@pytest.mark.parametrize("length", range(10, 30))
def test_no_report_is_truncated(tmp_path: Path, length: int) -> None:
    name = "n" * length
    helper = failing("f = 1 / 0", "ZeroDivisionError", "ZeroDivisionError: division")
    words = said(tmp_path, helper, unknown(name))
    assert " ".join(MESSAGES["stopped"].format(part=name).split()) in " ".join(words.split())


# --- unwritten parts, and cells that failed to run -----------------------------------------------

SCREEN_LINES = 24  # lines of a terminal
NAME = "int8-matmul"


@pytest.fixture
def room(release: Path, tmp_path: Path) -> Classroom:
    return Classroom(tmp_path / "course", release)


def validated(tmp_path: Path, notebook: nbformat.NotebookNode) -> str:
    """Run all cells of a notebook, and return the message of the validator."""
    NotebookClient(notebook, timeout=600, allow_errors=True).execute()
    path = tmp_path / "notebook.ipynb"
    nbformat.write(notebook, path)
    validator = HonestValidator(preprocessors=[])
    validator.stream = io.StringIO()
    validator.validate_and_print(str(path))
    return validator.stream.getvalue()


def test_the_message_for_unwritten_parts_matches_the_check() -> None:
    assert MESSAGES["unwritten_line"] == PROBLEMS["unwritten"]


def test_all_messages_are_marked_for_translation() -> None:
    assert MESSAGES == MARKED


def test_a_notebook_in_chinese_gets_chinese_messages(tmp_path: Path) -> None:
    unwritten = part("two", False)
    unwritten.outputs[0].traceback = ["two：还不对。", messages("zh_CN")["unwritten_line"]]
    right = part("one", True)
    right.outputs[0].text = "one：正确，公开用例通过。"
    book = new_notebook(cells=[right, unwritten], metadata={"exercise": {"language": "zh_CN"}})
    path = tmp_path / "notebook.ipynb"
    nbformat.write(book, path)
    validator = HonestValidator(preprocessors=[])
    validator.stream = io.StringIO()
    validator.validate_and_print(str(path))
    first, second, third = validator.stream.getvalue().split("\n\n")
    assert first == "2 个小题中，1 个正确。"
    assert second == messages("zh_CN")["unwritten"].format(parts="two")
    assert third.strip() == right.outputs[0].text


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name == NAME else pytest.mark.long)
        for name in exercises.names()
    ],
)
def test_a_fresh_exercise_lists_its_unwritten_parts_on_one_screen(
    tmp_path: Path, room: Classroom, name: str
) -> None:
    words = validated(tmp_path, room.released(name))
    parts = list(points(name))
    assert (
        words.split()
        == (f"0 of {len(parts)} parts right. Still to be written: {', '.join(parts)}.").split()
    )
    assert len(words.splitlines()) < SCREEN_LINES / 3


def test_written_parts_are_reported_after_the_list_of_unwritten_ones(
    tmp_path: Path, room: Classroom
) -> None:
    notebook = room.released(NAME)
    first, second, *rest = points(NAME)
    solved = room.solved(NAME)
    cell(notebook, f"{first}-solution").source = cell(solved, f"{first}-solution").source
    stub = cell(notebook, f"{second}-solution")
    stub.source = stub.source.replace("raise NotImplementedError", "return 1")
    words = validated(tmp_path, notebook)
    blocks = words.split("\n\n")
    assert blocks[0].startswith("1 of ")
    assert blocks[1].split() == f"Still to be written: {', '.join(rest)}.".split()
    assert [block.strip().partition(":")[0] for block in blocks[2:4]] == [first, second]


# Invalid lines of code, with the error and the text that Validate shows; only long tests try all.
SPOILED = [
    ("return 2 *", "SyntaxError: invalid syntax", "return 2 *\n              ^"),
    pytest.param(
        *("return (2", "SyntaxError: incomplete input", "return (2"), marks=pytest.mark.long
    ),
    pytest.param(
        *("return 'two", "SyntaxError: unterminated string literal", "return 'two"),
        marks=pytest.mark.long,
    ),
    pytest.param(
        *("    return 2", "IndentationError: unexpected indent", "return 2"), marks=pytest.mark.long
    ),
    ("\treturn 2", "Error: ", "return 2"),
]


@pytest.mark.parametrize(("line", "error", "shown"), SPOILED)
def test_syntax_errors_are_shown_with_their_line_instead_of_a_name_error(
    tmp_path: Path, room: Classroom, line: str, error: str, shown: str
) -> None:
    notebook = room.released(NAME)
    first = next(iter(points(NAME)))
    stub = cell(notebook, f"{first}-solution")
    stub.source = stub.source.replace("    raise NotImplementedError", f"    {line}")
    words = validated(tmp_path, notebook)
    assert MESSAGES["stopped"].format(part=first) in " ".join(words.split())
    assert error in words
    assert shown.splitlines()[0] in words
    assert "^" in words
    assert "NameError" not in words
    assert "\x1b" not in words


def test_a_failed_import_is_shown_instead_of_a_name_error(tmp_path: Path, room: Classroom) -> None:
    notebook = room.released(NAME)
    first = next(iter(points(NAME)))
    stub = cell(notebook, f"{first}-solution")
    stub.source = f"import nowhere_to_be_found\n{stub.source}"
    words = validated(tmp_path, notebook)
    assert "ModuleNotFoundError: No module named 'nowhere_to_be_found'" in words
    assert "NameError" not in words


@pytest.mark.long
def test_errors_in_a_helper_cell_precede_the_error_of_the_check(
    tmp_path: Path, room: Classroom
) -> None:
    notebook = room.released(NAME)
    first = next(iter(points(NAME)))
    stub = cell(notebook, f"{first}-solution")
    stub.source = stub.source.replace("raise NotImplementedError", "return helper()")
    notebook.cells.insert(notebook.cells.index(stub), new_code_cell("def helper(:\n    return 1"))
    words = validated(tmp_path, notebook)
    assert words.index("SyntaxError") < words.index("name 'helper' is not defined")


@pytest.mark.long
def test_an_error_in_a_cell_without_the_undefined_name_is_not_shown(
    tmp_path: Path, room: Classroom
) -> None:
    notebook = room.released(NAME)
    first = next(iter(points(NAME)))
    cell(notebook, f"{first}-solution").source = "1 / 0"
    words = validated(tmp_path, notebook)
    assert "NameError: name" in words
    assert "ZeroDivisionError" not in words
