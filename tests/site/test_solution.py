"""Tests of `make solution`: the reference, or one line that says why not."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from commands import handouts, solution
from nbclient.exceptions import CellTimeoutError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from repository import ROOT

from grading.release import exercises

NAME = "int8-matmul"
SOURCE = ROOT / "exercises" / NAME / f"{NAME}.ipynb"
Change = Callable[[NotebookNode], None]
# A wrong answer to a part on which no other part depends.
WRONG = "def bounds(B, D, F, peak, bandwidth):\n    return 1.0, 1.0"


@pytest.fixture
def ask(tmp_path: Path, release: Path) -> Callable[..., str]:
    """Return a function that requests an exercise's solution for a learner's copy.

    The copy is the reference after `change`, or missing if `change` is None.
    """

    def asked(change: Change | None, of: Path = SOURCE, name: str = NAME, book: Path = ROOT) -> str:
        copy = tmp_path / "my-work" / NAME / f"{NAME}.ipynb"
        if change:
            notebook = nbformat.read(of, as_version=4)
            change(notebook)
            copy.parent.mkdir(parents=True)
            nbformat.write(notebook, copy)
        return solution.solution(name, book, tmp_path / "my-work", release / "release")

    return asked


def nothing(_: NotebookNode) -> None:
    """Leave the learner's notebook unchanged."""


def cell(notebook: NotebookNode, name: str) -> NotebookNode:
    return next(c for c in notebook.cells if solution.name_of(c) == name)


def replaced(name: str, source: str) -> Change:
    def change(notebook: NotebookNode) -> None:
        cell(notebook, name).source = source

    return change


def refusal(ask: Callable[..., str], *arguments: object, **named: object) -> str:
    with pytest.raises(solution.Refused) as refused:
        ask(*arguments, **named)
    line = str(refused.value)
    assert "\n" not in line
    return line


def test_a_finished_notebook_gets_the_solution_after_a_note_on_its_use(
    ask: Callable[..., str], tmp_path: Path
) -> None:
    def own_work(notebook: NotebookNode) -> None:
        notebook.cells.insert(3, new_code_cell("mine = 1"))

    told = ask(own_work)
    head, worked = told.split("## Worked solution")
    assert head.startswith(f"{NAME}: all 7 checks pass. ")
    assert "If you work with an instructor, their rules come first" in head
    assert worked.count("```python") == 7
    assert "return B * D + D * F, B * F" in worked
    assert "SOLUTION" not in told
    # The solution isn't written to any file.
    assert [p.name for p in (tmp_path / "my-work").rglob("*") if p.is_file()] == [f"{NAME}.ipynb"]


def test_the_solution_is_refused_for_an_unanswered_notebook_naming_all_parts(
    ask: Callable[..., str], release: Path
) -> None:
    line = refusal(ask, nothing, of=release / "release" / NAME / f"{NAME}.ipynb")
    assert line == (
        f"{NAME}: 7 of 7 checks do not pass in my-work/{NAME}/{NAME}.ipynb, as it was saved last: "
        "bytes-moved, operations, intensity, intensity-small-batch, critical-batch, times, bounds"
    )


def test_the_solution_is_refused_if_one_part_is_wrong_naming_that_part(
    ask: Callable[..., str],
) -> None:
    line = refusal(ask, replaced("bounds-solution", WRONG))
    assert "1 of 7 checks do not pass" in line
    assert line.endswith("saved last: bounds")


def cheat(how: str) -> Change:
    def change(notebook: NotebookNode) -> None:
        cell(notebook, "bounds-solution").source = WRONG
        check = cell(notebook, "bounds")
        if how == "removed":
            notebook.cells.remove(check)
        elif how == "emptied":
            check.source = "1 + 1"
        elif how == "no cell of code":
            check.cell_type, check.source = "markdown", "passed"
            del check["outputs"], check["execution_count"]
        else:
            cell(notebook, "given").source += "\n\ndef check(part, function): ..."

    return change


@pytest.mark.parametrize(
    "how",
    [
        *(pytest.param(how, marks=pytest.mark.long) for how in ("emptied", "no cell of code")),
        *("removed", "another check"),
    ],
)
def test_a_wrong_answer_is_refused_even_if_its_check_was_changed(
    ask: Callable[..., str], how: str
) -> None:
    assert refusal(ask, cheat(how)).endswith("saved last: bounds")


@pytest.mark.long
def test_missing_cells_are_restored(ask: Callable[..., str]) -> None:
    def lose(notebook: NotebookNode) -> None:
        # The cell with cases is missing as well: this copy is made from the reference, and only the
        # release adds that cell.
        notebook.cells.remove(cell(notebook, "given"))
        notebook.cells.remove(cell(notebook, "times"))

    assert "all 7 checks pass" in ask(lose)


def test_missing_provided_cells_are_put_first_and_missing_checks_last() -> None:
    def made(name: str, source: str, **marks: bool) -> NotebookNode:
        return new_code_cell(source, metadata={"nbgrader": {"grade_id": name, **marks}})

    given = made("given", "import", grade=False, locked=True)
    checks = [made(name, f"check {name}", grade=True, locked=True) for name in "ab"]
    task = made("task", "", grade=False, locked=False)
    by_hand = made("by-hand", "", grade=True, locked=False)
    released = new_notebook(cells=[given, task, *checks, by_hand])
    own, mine = new_code_cell("own"), made("task", "mine", grade=False, locked=False)
    changed = made("a", "passes", grade=True, locked=True)
    found = solution.with_released_checks(new_notebook(cells=[mine, changed, own]), released)
    assert found == [given, mine, checks[0], own, checks[1]]
    assert solution.checks(released) == ["a", "b"]


@pytest.mark.parametrize(
    ("ran", "kinds", "passed"),
    [(1, [], True), (1, ["stream"], True), (1, ["stream", "error"], False), (None, [], False)],
)
def test_a_cell_passed_if_it_ran_without_an_error(
    ran: int | None, kinds: list[str], passed: bool
) -> None:
    outputs = [new_output(kind) for kind in kinds]
    assert solution.passed(new_code_cell("1", execution_count=ran, outputs=outputs)) == passed
    assert not solution.passed(new_markdown_cell("1"))


def test_a_missing_notebook_is_refused_with_the_command_that_creates_it(
    ask: Callable[..., str],
) -> None:
    line = refusal(ask, None)
    assert line == f"{NAME}: there is no my-work/{NAME}/{NAME}.ipynb yet; `make lab` makes it"


@pytest.mark.parametrize("name", ["", "int8", "chapters/matmul", "matmul", "../int8-matmul"])
def test_unknown_exercises_are_refused_with_a_list_of_the_known_ones(
    ask: Callable[..., str], name: str
) -> None:
    line = refusal(ask, None, name=name)
    assert line == f"EXERCISE must be one of {', '.join(sorted(exercises.names()))}; got {name!r}"


def test_invalid_notebooks_are_reported(
    ask: Callable[..., str], tmp_path: Path, release: Path
) -> None:
    copy = tmp_path / "my-work" / NAME / f"{NAME}.ipynb"
    copy.parent.mkdir(parents=True)
    copy.write_text("{")
    line = refusal(ask, None)
    assert line.startswith(f"{NAME}.ipynb can't be read as a notebook")


def test_a_dead_kernel_is_reported(ask: Callable[..., str]) -> None:
    dies = replaced("operations-solution", "import os\nos._exit(1)")
    assert refusal(ask, dies) == f"{NAME}.ipynb: the kernel died while the notebook ran"


def test_a_cell_timeout_is_reported(
    ask: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_long(self: object) -> None:
        raise CellTimeoutError("it took too long")

    monkeypatch.setattr(solution.NotebookClient, "execute", too_long)
    assert refusal(ask, nothing) == f"{NAME}.ipynb: a cell ran for more than 60 s"


@pytest.mark.long
def test_a_course_without_solutions_says_so(
    ask: Callable[..., str], tmp_path: Path, release: Path
) -> None:
    book = tmp_path / "book"
    (book / "exercises" / NAME).mkdir(parents=True)
    shutil.copy(ROOT / "_toc.yml", book)
    notebook = nbformat.read(release / "release" / NAME / f"{NAME}.ipynb", as_version=4)
    for each in notebook.cells:
        each.metadata.pop("nbgrader", None)
    nbformat.write(notebook, book / "exercises" / NAME / f"{NAME}.ipynb")
    line = refusal(ask, nothing, book=book)
    assert line == f"{NAME}: this copy of the course holds no solutions"


def test_the_command_prints_a_refusal_as_one_line_and_fails(
    tmp_path: Path, release: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(solution, "WORK", tmp_path / "my-work")
    monkeypatch.setattr(solution.handouts, "released", lambda _: release / "release")
    monkeypatch.setattr(solution, "variables", lambda *_: {})
    monkeypatch.setattr(solution, "prepare_kernels", lambda *_: None)
    monkeypatch.setattr("sys.argv", ["solution.py", NAME])
    assert solution.main() == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == [
        f"{NAME}: there is no my-work/{NAME}/{NAME}.ipynb yet; `make lab` makes it"
    ]


def test_the_command_prints_the_solution_of_the_exercise_in_its_argument(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(solution, "solution", lambda exercise, *_: f"all of {exercise!r}")
    monkeypatch.setattr(solution.handouts, "released", lambda _: Path())
    monkeypatch.setattr(solution, "prepare_kernels", lambda *_: None)
    monkeypatch.setattr(solution.os, "environ", {})
    for words, expected in (([NAME], NAME), ([], "")):
        monkeypatch.setattr("sys.argv", ["solution.py", *words])
        assert solution.main() == 0
        assert capsys.readouterr().out == f"all of {expected!r}\n"
    assert solution.os.environ["JUPYTER_DATA_DIR"] == str(solution.WORK / ".jupyter" / "data")


def test_the_page_of_worked_solutions_has_each_parts_code_below_its_heading(tmp_path: Path) -> None:
    def answer(code: str) -> NotebookNode:
        return new_code_cell(code, metadata={"nbgrader": {"solution": True}})

    cells = [
        new_markdown_cell("# Title"),
        new_markdown_cell("## One\n\nA task."),
        answer("def one():\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION\n"),
        new_code_cell("check()"),
        new_markdown_cell("## Two"),
        answer("two = 2"),
    ]
    nbformat.write(new_notebook(cells=cells), tmp_path / "made-up.ipynb")
    assert handouts.worked(tmp_path / "made-up.ipynb") == (
        "## Worked solution\n\n"
        "### One\n\n```python\ndef one():\n    return 1\n```\n\n"
        "### Two\n\n```python\ntwo = 2\n```\n"
    )
