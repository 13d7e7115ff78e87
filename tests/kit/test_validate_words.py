"""What HonestValidator says of notebooks that have run already."""

from __future__ import annotations

import io
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from roofkit.validate import HonestValidator, summary


def part(name: str, right: bool, source: str = "") -> nbformat.NotebookNode:
    """A graded cell, as it is after its check has run."""
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
def test_it_counts_the_parts_and_says_each_once_in_order(
    tmp_path: Path, rights: tuple[bool, ...]
) -> None:
    cells = [part(f"part-{place}", right) for place, right in enumerate(rights)]
    first, *reports = said(tmp_path, *cells).split("\n\n")
    assert first == f"{sum(rights)} of 3 parts right."
    expected = ["right for" if right else "not right yet" for right in rights]
    assert len(reports) == len(rights)
    for place, (report, words) in enumerate(zip(reports, expected, strict=True)):
        assert report.strip().startswith(f"part-{place}: {words}")


def test_where_all_are_right_it_says_what_that_means(tmp_path: Path) -> None:
    first, *reports = said(tmp_path, part("one", True), part("two", True)).split("\n\n")
    assert first.split() == summary(2, 2).split()
    assert first.startswith("2 of 2 parts right, for the published cases. Grading asks")
    assert [report.strip()[:4] for report in reports] == ["one:", "two:"]


def test_a_notebook_of_another_course_keeps_the_words_of_nbgrader(tmp_path: Path) -> None:
    right = said(tmp_path, part("one", True, "assert True"))
    assert right == "Success! Your notebook passes all the tests.\n"
    wrong = said(tmp_path, part("one", False, "assert False"))
    assert "VALIDATION FAILED ON 1 CELL(S)" in wrong
    assert "The following cell failed:\n\n    assert False" in wrong
