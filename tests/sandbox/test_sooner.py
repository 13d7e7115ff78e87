"""What is done sooner in a kernel than in a stock one comes out the same."""

from typing import Any

import pytest
from IPython.core.inputtransformer2 import TransformerManager

from grading.sandbox.inside import sooner

CELLS = ("a = 1\n", "%time 1\n", "x = !ls\nx\n", "len?\n", 'text = """\n%no command\n"""\n', "(\n")


@pytest.mark.parametrize("cell", CELLS)
def test_commands_are_found_as_in_a_stock_kernel_and_looked_for_once(cell: str) -> None:
    make: Any = TransformerManager
    manager, plain, looked = make(), make.do_token_transforms, []

    def counted(of: Any, lines: list[str]) -> Any:
        looked.append(lines)
        return plain(of, lines)

    once = sooner._Once(counted).method()
    lines = cell.splitlines(keepends=True)
    assert once(manager, lines) == once(manager, lines) == plain(manager, lines)
    assert len(looked) == 1
    manager.token_transformers = []  # as a notebook may do
    assert once(manager, lines) == lines
    assert len(looked) == 2
    once(manager, [*lines, "b = 2\n"])
    assert len(looked) == 3


def test_each_cell_has_a_number_of_its_own() -> None:
    assert len({sooner._number(cell, 7) for cell in CELLS}) == len(CELLS)
