"""Tests of what counts as a learner's own code: functions, imports, and additions to a cell."""

import ast

import pytest

from grading.intake import own_code
from grading.intake.own_code import (
    added,
    dump,
    functions,
    imported,
    imports,
    is_stub,
    is_unwritten,
    parsed,
    written,
)

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
        ("raise errors.NotYet", False, False),
        (f"print(x)\n{RAISE}", True, False),
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


BROKEN = "x = (\ndef f(a)\n    return 1\n  def g(): pass"


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        ("def f():\n    return 1", True),
        (f"def f():\n    {RAISE}", False),
        (f"x = 1\ndef f():\n    {RAISE}\ndef f():\n    return 1", True),
        ("def g():\n    return 1", False),
        ("f = lambda: 1", True),
        ("f = g = lambda: 1", True),
        ("g = lambda: f", False),
        ("f = 1", False),
        ("f()", False),
        (BROKEN, True),
        ("g(", False),
    ],
)
def test_a_function_counts_as_written_if_defined_by_def_or_lambda(source, answer):
    assert written(source, "f") is answer


def test_functions_of_a_cell_that_cannot_be_parsed_are_found():
    assert functions("def f(): pass\nclass A:\n    def g(): pass\nh = 1") == ["f"]
    assert functions(BROKEN) == ["f"]


def test_code_inside_a_string_literal_is_ignored():
    source = "text = '''\ndef f():\nimport no_such\n'''"
    assert functions(source) == []
    assert not written(source, "f")
    assert imported(source) == frozenset()


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import a, b.c", {("a", "a"), ("b", "b")}),
        ("import a.b as c", {("a", "c")}),
        ("from a.b import c, d as e", {("a", "c"), ("a", "e")}),
        ("from a import *", {("a", "*")}),
        ("from . import a", set()),
    ],
)
def test_modules_and_bound_names_of_imports_are_found(source, names):
    assert set(imports(ast.parse(source).body)) == names


ORIGINAL = "import math\npeak = 1"


@pytest.mark.parametrize(
    ("more", "kept", "holds"),
    [
        ("# a comment", "", True),
        ("x = 2", "x = 2", True),
        ("x = 2\npeak = 3", "x = 2", False),
        ("peak = 3\nprint(1)", "print(1)", False),
        ("async def peak():\n    pass", "", False),
        ("%%time\n!ls\nx = '!'", "x = '!'", True),
        ("@property\n@cached\ndef f():\n    pass", "@property\n@cached\ndef f():\n    pass", True),
    ],
)
def test_added_code_is_what_the_original_neither_has_nor_binds(more, kept, holds):
    assert added(f"{ORIGINAL}\n{more}", ORIGINAL) == (kept, holds)


def test_only_bindings_count_as_added_if_the_original_code_is_gone():
    assert added("x = 1\nprint(x)\nimport os", ORIGINAL) == ("x = 1\nimport os", False)
    assert added("x = (", ORIGINAL) == ("", False)


def test_statements_nested_too_deep_are_never_equal():
    one, other = (ast.parse("x = " + "-" * 2_000 + number).body[0] for number in "12")
    assert dump(one) != dump(other)


def test_syntax_trees_of_long_sources_are_not_cached():
    """Trees take much memory, so long sources are not cached, and very long ones not parsed."""
    short = "x" * own_code.MAX_CACHED_CHARACTERS
    assert parsed(short) is parsed(short)
    for source in (short + "x", "x" * 100_000):
        assert len(parsed(source)) == 1
        assert parsed(source) is not parsed(source)
    assert parsed("x" * 100_001) is None
