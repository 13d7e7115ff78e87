"""Tests of which functions count as stubs and as unwritten."""

import ast

import pytest

from grading.intake.own_code import is_stub, is_unwritten

RAISE = "raise NotImplementedError"


@pytest.mark.parametrize(
    ("body", "stub", "unwritten"),
    [
        (RAISE, True, True),
        ("raise NotImplementedError('later')", True, True),
        (f"'''A docstring.'''\n{RAISE}", True, True),
        (f"pass\n...\n{RAISE}", True, True),
        (f"x = 1\n{RAISE}", True, False),
        (f"if x:\n    return 1\n{RAISE}", False, False),
        (f"{RAISE}\nx = 1", False, False),
        ("raise", False, False),
        ("raise ValueError", False, False),
        ("'''A docstring.'''", False, True),
        ("pass", False, True),
        ("...", False, True),
        ("return x", False, False),
    ],
)
def test_a_stub_ends_by_raising_and_an_unwritten_function_does_nothing_else(body, stub, unwritten):
    source = "def function(x):\n" + "\n".join(f"    {line}" for line in body.split("\n"))
    (node,) = ast.parse(source).body
    assert is_stub(node) is stub
    assert is_unwritten(node) is unwritten
