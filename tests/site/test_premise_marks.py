"""How scripts find blocks with a {while} condition: by values or an empty mark."""

from itertools import product

import pytest
from book_extension import blocks
from docutils import nodes

CLASSES = ("computed", "xref", "math")


@pytest.mark.parametrize("inner", [*product(CLASSES, repeat=0), *product(CLASSES, repeat=2)])
def test_a_while_role_marks_its_paragraph_only_if_that_has_no_computed_value(
    inner: tuple[str, ...],
) -> None:
    premise = blocks.premise(expression="a < 2")
    values = [nodes.inline("", "1", classes=[name]) for name in inner]
    block = nodes.paragraph("", "", premise, nodes.Text(" words "), *values)
    blocks.mark_or_remove(premise, block)
    marks = [one for one in block.findall(nodes.inline) if "premise" in one["classes"]]
    assert len(marks) == ("computed" not in inner)
    assert [one["expression"] for one in marks] == ["a < 2"] * len(marks)
    assert block.astext() == "words " + "1" * len(inner)
    assert not list(block.findall(blocks.premise))
