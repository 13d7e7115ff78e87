"""Tests of the opening cell that a release adds, and that grading ignores."""

import copy

import nbformat
import pytest
from classroom import cell, functions, points
from submissions import Submission, hand_in

import roofkit
import rooflib
from grading.execution.time_limits import TimeLimits
from grading.grade_notebook import grade
from grading.intake.repair import repair
from grading.release import exercises, opening

NAME = "int8-matmul"


def released(release, name=NAME):
    path = release / "release" / name / f"{name}.ipynb"
    return nbformat.read(path, as_version=4)


def solved(notebook):
    """Return the released notebook with right answers."""
    mine = Submission(NAME, "reference", "", {})
    return hand_in(mine, notebook, exercises.source(NAME), functions(NAME))


@pytest.mark.parametrize("name", exercises.names())
def test_the_opening_cell_comes_before_other_code(release, name):
    code = [cell for cell in released(release, name).cells if cell.cell_type == "code"]
    assert [cell.metadata.nbgrader.grade_id for cell in code[:3]] == ["opening", "given", "cases"]
    marks = code[0].metadata.nbgrader
    assert (marks.grade, marks.solution, marks.locked) == (False, False, True)
    assert code[0].metadata.jupyter.source_hidden
    assert code[0].source == opening.source(opening.address(opening.CONFIG))


def test_the_opening_cell_names_the_course_address_and_versions():
    last = opening.source("https://example.org").splitlines()[-1]
    versions = {"rooflib": rooflib.__version__, "roofkit": roofkit.__version__}
    asked = eval(last.removeprefix("set_up_notebook"))
    assert asked == ("https://example.org", versions, "rooflib", "roofkit.check")


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ("html:\n  baseurl: https://example.org/book\n", "https://example.org/book"),
        ('html:\n  baseurl: ""\n', ""),
        ("html:\n  baseurl:\n", ""),
        ("html:\n", ""),
        ("title: a book\n", ""),
    ],
)
def test_the_course_address_comes_from_the_book_configuration(tmp_path, config, expected):
    (tmp_path / "_config.yml").write_text(config)
    assert opening.address(tmp_path / "_config.yml") == expected


def test_the_course_address_of_an_edition_ends_with_its_version(tmp_path, monkeypatch):
    monkeypatch.setenv("EDITION", "0.2.0")
    for baseurl, expected in (("https://example.org/", "https://example.org/0.2.0"), ("''", "")):
        (tmp_path / "_config.yml").write_text(f"html:\n  baseurl: {baseurl}\n")
        assert opening.address(tmp_path / "_config.yml") == expected


def test_a_missing_opening_cell_is_accepted(release):
    with_it = solved(released(release))
    old = copy.deepcopy(with_it)
    old.cells.remove(cell(old, "opening"))
    assert repair(with_it, NAME) == repair(old, NAME) == ([], [])
    assert len(with_it.cells) == len(old.cells) + 1


@pytest.mark.parametrize("made_with", ["0.0.1", "99.0"])
def test_the_opening_cell_installs_nothing_in_the_sandbox(release, made_with):
    notebook = solved(released(release))
    first = cell(notebook, "opening")
    for package in (rooflib, roofkit):
        first.source = first.source.replace(repr(package.__version__), repr(made_with))
    first.source = first.source.replace("set_up_notebook('',", "set_up_notebook('https://x.org',")
    at = notebook.cells.index(first)
    repair(notebook, NAME)
    graded = grade(notebook, NAME, "seed", TimeLimits(cell=2, call=5))
    said = "".join(output.get("text", output.output_type) for output in graded.cells[at].outputs)
    # The cell prints a warning only if the notebook needs a newer course than the grader has.
    assert said.count("this notebook was made with 99.0.") == (made_with == "99.0") * 2
    assert "Installing" not in said
    assert bool(said) == (made_with == "99.0")
    parts = graded.metadata.rooflib.parts
    assert sum(part["points"] for part in parts) == sum(points(NAME).values())
