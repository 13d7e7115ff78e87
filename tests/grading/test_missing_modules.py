"""Modules that a notebook imports and that are not there where it is graded."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from grading.intake.missing_modules import missing_modules
from grading.intake.own_code import imported


@pytest.mark.parametrize(
    ("source", "modules"),
    [
        ("import no_such as n, numpy.random", {"no_such", "numpy"}),
        ("from no_such.part import one", {"no_such"}),
        ("from . import one\nfrom .part import two", set()),
        ("def f():\n    if True:\n        import no_such", {"no_such"}),
        ("try:\n    import no_such\nexcept ImportError:\n    import other", {"other"}),
        ("try:\n    import no_such\nexcept (OSError, ModuleNotFoundError):\n    pass", set()),
        ("try:\n    import no_such\nexcept:\n    pass", set()),
        ("try:\n    import no_such\nexcept OSError:\n    pass", {"no_such"}),
        ("%%time\nimport no_such", {"no_such"}),
        ("!ls\n  import no_such\nx = (", {"no_such"}),
        ("words = !ls\nfrom no_such import one", {"no_such"}),
        ("'import no_such'", set()),
    ],
)
def test_imports_are_found_unless_the_code_handles_that_they_fail(source, modules):
    assert imported(source) == modules


def test_only_modules_that_the_sandbox_lacks_are_missing():
    sources = (
        "import os, numpy, rooflib, matplotlib.pyplot as plt",
        "from roofkit.check import check\nimport no_such\nfrom zipp_no import *",
        "import grading, exercises, conftest",
    )
    cells = [new_markdown_cell("import nothing"), *map(new_code_cell, sources)]
    found = missing_modules(new_notebook(cells=cells))
    assert found == ["conftest", "exercises", "grading", "no_such", "zipp_no"]
