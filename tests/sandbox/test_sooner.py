"""What is done sooner in a kernel than in a stock one comes out the same."""

import warnings
from typing import Any

import pytest
from IPython.core.inputtransformer2 import TransformerManager

from grading.release import exercises
from grading.sandbox.inside import sooner

COMMANDS = (
    "%time 1\n",
    "x = !ls\nx\n",
    "len?\n",
    "a = 1\n!ls\n",
    "if a:\n    %pwd\n",
    "x = %pwd\n",
)
COMMANDS += ("/f 1\n", ",f a\n", ";f a\n", "?len\n", "a.b??\n", "x = (1 +\n2)\n%pwd\n", "(\n")
COMMANDS += ("if a:\n        b\n    c\n", 'text = """\n%no command\n"""\n!ls\n', "a = '\\d'\n")
PYTHON = ("a = 1\n", 'text = """\n%no command\n"""\n', "x = (a\n% b)\n", "f(1\n, 2)\n", "await a\n")
PYTHON += (
    "a = 5  # what?\n",
    "f'{a!r}'\n",
    "def f():\n    return a % 2\n",
    "\n",
    "a; b\n",
    "a != b\n",
)


@pytest.mark.parametrize("cell", COMMANDS + PYTHON)
def test_commands_are_found_as_in_a_stock_kernel_and_looked_for_once(cell: str) -> None:
    make: Any = TransformerManager
    manager, plain, looked = make(), make.do_token_transforms, []

    def counted(of: Any, lines: list[str]) -> Any:
        looked.append(lines)
        return plain(of, lines)

    once = sooner._Once(counted, make().token_transformers).method()
    lines = cell.splitlines(keepends=True)
    outcomes = [tried(one, manager, lines) for one in (once, once, plain)]
    assert outcomes[0] == outcomes[1] == outcomes[2]
    if isinstance(outcomes[0], list):
        assert len(looked) == (cell in COMMANDS)
    manager.token_transformers = []  # as a notebook may do
    looked.clear()
    assert tried(once, manager, lines) == tried(plain, manager, lines)
    assert len(looked) == 1
    tried(once, manager, [*lines, "b = 2\n"])
    assert len(looked) == 2


def tried(transform: Any, manager: Any, lines: list[str]) -> Any:
    try:
        return transform(manager, list(lines))
    except SyntaxError as error:
        return repr(error)


@pytest.mark.parametrize("name", exercises.names())
def test_the_cells_of_an_exercise_are_the_same(name: str) -> None:
    make: Any = TransformerManager
    plain = make.do_token_transforms
    once = sooner._Once(plain, make().token_transformers).method()
    for cell in exercises.source(name).cells:
        if cell.cell_type == "code":
            lines = cell.source.splitlines(keepends=True)
            assert once(make(), lines) == plain(make(), lines)


def test_nothing_is_said_about_the_cell() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not sooner._is_python(["'\\d'\n"])
        assert not sooner._is_python(["a = '\0'\n"])
        assert not sooner._is_python(["(" * 100_000])


def test_each_cell_has_a_number_of_its_own() -> None:
    cells = COMMANDS + PYTHON
    assert len({sooner._number(cell, 7) for cell in cells}) == len(cells)
