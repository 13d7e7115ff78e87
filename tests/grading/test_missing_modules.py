"""Tests of notebooks that import modules which the grader does not have."""

import ast
import re
from dataclasses import replace

import pytest
from classroom import cell, functions, points
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from submissions import Submission, hand_in

from grading.grade_notebook import grade
from grading.intake.missing_modules import missing_modules, sentence
from grading.intake.own_code import imported
from grading.judging import missing_imports
from grading.judging.missing_imports import name_missing_modules
from grading.judging.verdicts import ONLY_HIDDEN_FAIL, Graded, cases
from grading.release import exercises


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
        ("try:\n    import no_such\nexcept OSError:\n    1\nexcept ImportError:\n    2", set()),
        ("try:\n    import no_such\nexcept os.error:\n    pass", {"no_such"}),
        ("try:\n    import no_such\nexcept ImportError:\n    1\nelse:\n    import a", {"a"}),
        ("try:\n    import no_such\nexcept ImportError:\n    1\nfinally:\n    import a", {"a"}),
        ("try:\n    import no_such\nexcept OSError:\n    pass", {"no_such"}),
        ("%%time\nimport no_such", {"no_such"}),
        ("!ls\n  import no_such\nx = (", {"no_such"}),
        ("words = !ls\nfrom no_such import one", {"no_such"}),
        ("'import no_such'", set()),
    ],
)
def test_imports_are_found_unless_their_failure_is_handled(source, modules):
    assert imported(source) == modules


def test_only_modules_unavailable_in_the_sandbox_are_missing():
    sources = (
        "import os, numpy, rooflib, matplotlib.pyplot as plt",
        "from roofkit.check import check\nimport no_such\nfrom zipp_no import *",
        "import grading, exercises, conftest",
    )
    cells = [new_markdown_cell("import nothing"), *map(new_code_cell, sources)]
    found = missing_modules(new_notebook(cells=cells))
    assert found == ["conftest", "exercises", "grading", "no_such", "zipp_no"]


def test_long_names_of_missing_modules_are_cut():
    cells = [new_code_cell(f"import {'a' * 101}\nimport {'b' * 100}")]
    assert missing_modules(new_notebook(cells=cells)) == ["a" * 100, "b" * 100]


def test_one_sentence_names_all_missing_modules():
    assert sentence(["a"]) == "a is not installed where notebooks are graded."
    assert sentence(["a", "b", "c"]).startswith("a, b and c are not installed")


# --- while a notebook is graded -------------------------------------------------------------------

NAME = "int8-weights"
FULL = points(NAME)
LAST = list(FULL)[-1]
ABSENT = "no_such_module"
USING = f"from {ABSENT} import one\ndef use():\n    return one.two + 1\n"


def graded(*changes, name=NAME):
    """Grade the changed reference solution; return (key → part, graded notebook).

    Each change is a pattern and its replacement, applied to every solution cell.
    """
    source = exercises.source(name)
    notebook = hand_in(Submission(name, "reference", "", {}), source, source, functions(name))
    for one in notebook.cells:
        if one.metadata.get("nbgrader", {}).get("solution") and one.cell_type == "code":
            for old, new in changes:
                one.source = re.sub(old, new, one.source, count=1, flags=re.MULTILINE)
    done = grade(notebook, name, "tests")
    return {part["key"]: part for part in done.metadata.rooflib["parts"]}, done


def first_importing(notebook):
    return next(one for one in notebook.cells if one.source.startswith(f"import {ABSENT}"))


def lost(parts):
    return {key: part["cause"] for key, part in parts.items() if part["points"] < part["of"]}


HEADS = [
    f"import {ABSENT}",
    f"import numpy as np, {ABSENT}.part as absent",
    f"from {ABSENT} import one, two as three",
    f"from {ABSENT} import *",
    f"import {ABSENT} as absent\nabsent.set_theme(style='dark')\nabsent.settings.x = 1",
    f"import {ABSENT} as absent\ntable = absent.Table()\ntable.columns = 'a'",
    f"from {ABSENT} import nn\nclass Net(nn.Module):\n    pass",
    f"if True:\n    import {ABSENT}",
    f"try:\n    import {ABSENT}\nexcept ImportError:\n    {ABSENT} = None",
    f"import {ABSENT}\nvalue = 1\nvalue = {ABSENT}.one(value)\nvalue += 1\n"
    f"class Box:\n    pass\nBox.value = {ABSENT}.two()",
    f"def load():\n    import {ABSENT}\ntry:\n    load()\nexcept ImportError:\n    pass",
]
# By default, test every third item of HEADS in an exercise with numeric answers, but only the
# first in the exercise with a plot, which takes long to grade. The long tests try all in both.
UNUSED = [
    pytest.param(
        head, name, marks=pytest.mark.long if number % 3 or (number and name != NAME) else ()
    )
    for number, head in enumerate(HEADS)
    for name in (NAME, "roofline-plot")
]


@pytest.mark.parametrize(("head", "name"), UNUSED)
def test_unused_missing_imports_cost_no_points(head, name):
    parts, _ = graded((r"\A", f"{head}\n"), name=name)
    assert lost(parts) == {}


def test_a_cell_shows_the_import_error_and_continues():
    _, notebook = graded((r"\A", f"import {ABSENT}\n"), (r"\Z", "\nprint('after')"))
    error, printed = first_importing(notebook).outputs
    assert (error.ename, printed.text) == ("ModuleNotFoundError", "after\n")
    assert f"----> 1 import {ABSENT}" in re.sub(r"\x1b\[[\d;]*m", "", "\n".join(error.traceback))


def test_annotations_do_not_count_as_use():
    head = f"import {ABSENT} as absent\n"
    parts, _ = graded((r"\A", head), (r"\):$", ") -> absent.Table[int] | None:"))
    assert lost(parts) == {}


def test_a_missing_module_can_be_shown_and_has_no_version():
    asked = "\nprint(getattr(absent, '__version__', 'none'))\nabsent"
    _, notebook = graded((r"\A", f"import {ABSENT} as absent\n"), (r"\Z", asked))
    _, printed, shown = first_importing(notebook).outputs
    assert printed.text == "none\n"
    assert shown.data == {"text/plain": f"<module '{ABSENT}' is not installed>"}


def test_an_error_after_a_missing_import_is_shown_too():
    _, notebook = graded((r"\A", f"import {ABSENT}\n1 / 0\n"))
    shown = first_importing(notebook).outputs
    assert [one.ename for one in shown] == ["ModuleNotFoundError", "ZeroDivisionError"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r"^    return ", f"    import {ABSENT}\n    return "),
        (r"^    return (.*)", rf"    from {ABSENT} import one\n    return one(\1)"),
        (r"^def ", f"import {ABSENT} as absent\n@absent.jit\ndef "),
        (r"\A([\s\S]*?)^    return ", rf"import {ABSENT} as a\n\1    a.b()\n    return "),
        (r"\A([\s\S]*?)^    return ", rf"from {ABSENT} import *\n\1    one()\n    return "),
        (r"\A([\s\S]*?)^    return ", rf"{USING}\1    use()\n    return "),
    ],
)
def test_missing_modules_that_a_function_uses_are_named(old, new):
    parts, notebook = graded((old, new))
    assert set(lost(parts).values()) == {f"not installed: {ABSENT}"}
    assert set(lost(parts)) == set(FULL)
    said = f"{ABSENT} is not installed where notebooks are graded."
    for part in parts.values():
        assert part["sentences"][-1] == said
        assert said in cell(notebook, part["key"]).outputs[0].text


def test_other_failures_are_not_blamed_on_missing_modules():
    parts, _ = graded((r"\A", f"import {ABSENT}\n"), (r"^    return ", "    return 1 / 0 * "))
    assert set(lost(parts).values()) == {"raised"}
    assert not any("installed" in line for part in parts.values() for line in part["sentences"])


def test_failures_on_hidden_cases_only_are_not_explained_to_learners():
    case = cases(NAME, LAST, "tests")[0].inputs
    shown = [repr(sorted(one.items())) for one in case]
    name = functions(NAME)[LAST]
    more = (
        f"right = {name}\n\ndef {name}(**case):\n"
        f"    if repr(sorted(case.items())) not in {shown!r}:\n        import {ABSENT}\n"
        "    return right(**case)\n"
    )
    parts, _ = graded((rf"(def {name}\([\s\S]*)\Z", rf"\1\n{more}"))
    last = parts[LAST]
    assert (last["points"], last["cause"]) == (0, f"not installed: {ABSENT}")
    assert list(last["sentences"]) == [ONLY_HIDDEN_FAIL]


# --- the search for the modules of one function ---------------------------------------------------

RAISED = Graded("part", 0, 3, "raised", ("It raised.",))
RIGHT = Graded("other", 2, 2, "", ())
BOTH = {"part": RAISED, "other": RIGHT}


def named(*sources, graded=BOTH):
    """Name missing modules in the results of f and g; the last source is Markdown."""
    *code, text = sources
    notebook = new_notebook(cells=[*map(new_code_cell, code), new_markdown_cell(text)])
    return name_missing_modules(notebook, {"part": "f", "other": "g"}, graded)


def test_parts_with_errors_name_missing_modules_but_wrong_answers_do_not():
    source = f"import {ABSENT}\ndef f(): return {ABSENT}.one()\ndef g(): return {ABSENT}.one()"
    found = named(source, "")
    said = f"{ABSENT} is not installed where notebooks are graded."
    assert found["other"] == RIGHT
    assert found["part"] == replace(
        RAISED, cause=f"not installed: {ABSENT}", sentences=("It raised.", said)
    )
    wrong = {"part": replace(RAISED, cause=""), "other": RIGHT}
    assert named(source, "", graded=wrong) == wrong
    hidden = replace(RAISED, sentences=(ONLY_HIDDEN_FAIL,))
    assert named(source, "", graded={"part": hidden})["part"].sentences == hidden.sentences


@pytest.mark.parametrize(
    "use",
    [
        "table = absent.Table()\ndef f(): return table",
        "class Net(absent.Module): pass\ndef f(): return Net()",
        "async def later(): return absent\ndef f(): return later()",
        "def f(): return inner()\ndef inner(): return f() or absent",
        "one, two = absent.pair()\ndef f(): return one + two",
        "f = absent.one",
        "def f(): import no_such_module",
    ],
)
def test_a_missing_module_is_named_though_the_function_uses_it_indirectly(use):
    found = named(f"import os, {ABSENT} as absent\n{use}", "")
    assert found["part"].cause == f"not installed: {ABSENT}"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("table = absent.Table()\ndef f(): import os", ""),
        ("def other(): return absent\ndef f(): return os", ""),
        ("def f(): return os", f"def f(): import {ABSENT}"),
        ("absent.table.rows = 1\nabsent.table[0] = 1\ndef f(): return rows", ""),
    ],
)
def test_a_module_that_the_function_does_not_reach_is_not_named(source, text):
    assert named(f"import os, {ABSENT} as absent\n{source}", "this is no code", text) == BOTH


def test_at_most_three_missing_modules_are_named_shortened_and_in_ascii():
    names = ["\u0430bsent", "b" * 50, "c", "d"]
    imports = "".join(f"    import {name}\n" for name in names)
    found = named(f"def f():\n{imports}", "")["part"]
    assert found.cause == f"not installed: {'b' * 40}, c, d"
    found = named(f"def f():\n    import {names[0]}\n", "")["part"]
    assert found.cause == r"not installed: \u0430bsent"


def test_a_statement_is_searched_once_however_many_names_it_defines(monkeypatch):
    """Otherwise the search would take forever on a cell that defines thousands of names."""
    counted, walk = [], ast.walk
    monkeypatch.setattr(
        missing_imports.ast, "walk", lambda node: counted.append(node) or walk(node)
    )
    names = ", ".join(f"name{number}" for number in range(100))
    assert named(f"import {ABSENT}\n{names} = {names}\ndef f(): return {names}", "") == BOTH
    assert len(counted) < 10
