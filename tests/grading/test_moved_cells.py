"""Tests that moved cells cost nothing.

A notebook in which each function is complete gets its points.
"""

import copy
import itertools
import random
import re

import nbformat
import pytest
from classroom import cell, code, functions
from classroom.plain import grade
from submissions import Submission, hand_in

from grading.intake import order
from grading.intake.dependencies import names_of
from grading.intake.repair import repair
from grading.release import exercises

NAMES = exercises.names()
RANDOM = 20  # permutations of each exercise


def solved(name):
    source = exercises.source(name)
    return hand_in(Submission(name, "reference", "", {}), source, source, functions(name))


def with_imports(name):
    """Return a solved notebook with an import and a helper in each answer's cell.

    The cell begins with the imports and ends with the helper.
    """
    notebook = solved(name)
    for number, one in enumerate(solutions(notebook)):
        head = f"import math\nfrom itertools import chain\nLIMIT_{number} = math.floor({number}.5)"
        tail = f"def helper_{number}():\n    return LIMIT_{number}\nprint(helper_{number}())"
        one.source = f"{head}\n\n{one.source}\n\n{tail}"
    return notebook


def with_shared_imports(name):
    """Return a solved notebook whose answers use the first cell's import and helper."""
    notebook = solved(name)
    cells = solutions(notebook)
    for one in cells:
        one.source = one.source.replace("return ", "return same(math.floor(ONE)) and ")
    first = "import math\nONE = math.floor(1.5)\ndef same(x):\n    return math.floor(x)"
    cells[0].source = f"{first}\n{cells[0].source}"
    return notebook


def with_needs(name):
    """Return a solved notebook where each answer needs the previous cell's constant."""
    notebook = solved(name)
    for number, one in enumerate(solutions(notebook)):
        before = f"ONE_{number - 1}" if number else "1"
        one.source = f"ONE_{number} = {before} + 0\n{one.source}"
        one.source = one.source.replace("return ", f"return ONE_{number} and ")
    return notebook


def with_test_calls(name):
    """Return a solved notebook whose cells first print the previous function's name."""
    notebook = solved(name)
    called = list(functions(name).values())
    for number, one in enumerate(solutions(notebook)):
        if number:
            one.source = f"print({called[number - 1]}.__name__)\n{one.source}"
    return notebook


STYLES = (solved, with_imports, with_shared_imports, with_needs, with_test_calls)


def solutions(notebook):
    return [one for one in notebook.cells if one.metadata.get("nbgrader", {}).get("solution")]


def checks(notebook):
    return [one for one in notebook.cells if exercises.is_check(one)]


def put(notebook, cells, others):
    """Put these cells, in this order, at the positions of the other cells."""
    places = [place_of(notebook, one) for one in others]
    for place, one in zip(places, cells, strict=True):
        notebook.cells[place] = one


def place_of(notebook, one):
    return next(place for place, other in enumerate(notebook.cells) if other is one)


_LOST = {}


def lost(notebook, name):
    """Repair and grade the notebook; return part → cause for the parts without points.

    Equal notebooks are graded only once.
    """
    repair(notebook, name)
    key = (name, *((one.cell_type, one.source) for one in notebook.cells))
    if key not in _LOST:
        graded = grade(notebook, name)
        _LOST[key] = {part: found.cause for part, found in graded.items() if not found.points}
    return _LOST[key]


def moved(notebook):
    """Yield (description of a move, copy of the notebook with that move)."""
    for kind, found in (("answers", solutions), ("checks", checks)):
        for one, other in itertools.combinations(range(len(found(notebook))), 2):
            changed = copy.deepcopy(notebook)
            pair = [found(changed)[place] for place in (one, other)]
            put(changed, pair[::-1], pair)
            yield f"{kind} {one} and {other} swapped", changed
    for place in range(len(checks(notebook))):
        for where in (0, len(notebook.cells) - 1):
            changed = copy.deepcopy(notebook)
            one = checks(changed)[place]
            del changed.cells[place_of(changed, one)]
            changed.cells.insert(where, one)
            yield f"check {place} at {where}", changed
    for found in (solutions, checks):
        changed = copy.deepcopy(notebook)
        put(changed, found(changed)[::-1], found(changed))
        yield f"{found.__name__} in reverse", changed
    changed = copy.deepcopy(notebook)
    changed.cells.append(changed.cells.pop(place_of(changed, cell(changed, "given"))))
    yield "what is given at the end", changed


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", NAMES)
def test_cells_in_the_released_order_do_not_move(name, style):
    notebook = style(name)
    before = copy.deepcopy(notebook)
    assert repair(notebook, name) == ([], [])
    assert notebook.cells == before.cells


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.long if i % 3 else ()) for i, name in enumerate(NAMES)],
)
def test_a_sample_of_moved_cells_costs_no_points(name):
    """Try a move of every other kind, a different one in each exercise.

    A long test tries all.
    """
    kinds, number = {}, NAMES.index(name)
    for what, notebook in moved(solved(name)):
        kinds.setdefault(re.sub(r"\b\d\b", "", what), []).append((what, notebook))
    for moves in list(kinds.values())[number % 2 :: 2]:
        what, notebook = moves[number % len(moves)]
        assert lost(notebook, name) == {}, what


@pytest.mark.long
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", NAMES)
def test_each_move_of_cells_costs_no_points_in_any_coding_style(name, style):
    for what, notebook in moved(style(name)):
        assert lost(notebook, name) == {}, what


@pytest.mark.parametrize("style", STYLES[1:])
def test_answers_in_reverse_order_cost_no_points(style):
    name = NAMES[0]
    for what, notebook in moved(style(name)):
        if "reverse" in what:
            assert lost(notebook, name) == {}, what


@pytest.mark.long
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", NAMES)
def test_cells_in_any_order_cost_no_points(name, style):
    for seed in range(RANDOM):
        notebook = style(name)
        random.Random(seed).shuffle(notebook.cells)
        assert lost(notebook, name) == {}, seed


# --- what moving cells must not change ------------------------------------------------------------

NAME = "int8-matmul"


def test_definitions_before_the_answer_or_after_the_check_stay_in_place():
    notebook = solved(NAME)
    draft = code("def operations(B, D, F):\n    return 1")
    notebook.cells.insert(place_of(notebook, cell(notebook, "operations-solution")), draft)
    late = code("def operations(B, D, F):\n    return 2")
    notebook.cells.insert(place_of(notebook, cell(notebook, "operations")) + 1, late)
    before = copy.deepcopy(notebook.cells)
    repair(notebook, NAME)
    assert [one.source for one in notebook.cells] == [one.source for one in before]


def test_helpers_of_the_same_name_stay_with_their_functions():
    notebook = solved(NAME)
    for number, part in enumerate(("operations", "bytes-moved")):
        answer = cell(notebook, f"{part}-solution")
        function = functions(NAME)[part]
        answer.source += (
            f"\n\n\nright_{number} = {function}\n\n\ndef helper():\n    return {number}\n\n\n"
            f"def {function}(B, D, F):\n    assert helper() == {number}\n"
            f"    return right_{number}(B, D, F)"
        )
    alone = {"bytes-moved", "operations"}
    assert not alone & lost(copy.deepcopy(notebook), NAME).keys()
    pair = [cell(notebook, f"{part}-solution") for part in ("operations", "bytes-moved")]
    put(notebook, pair[::-1], pair)
    assert not alone & lost(notebook, NAME).keys()


def test_a_check_never_moves_above_its_functions_last_definition():
    notebook = solved(NAME)
    other = cell(notebook, "bytes-moved-solution")
    other.source = f"def helper():\n    return 2\n\n\n{other.source}"
    draft = code("def helper():\n    return 1\n\n\ndef operations(B, D, F):\n    return helper()")
    notebook.cells.insert(place_of(notebook, other), draft)
    put(notebook, checks(notebook)[:-3:-1], checks(notebook)[-2:])
    told, _ = repair(notebook, NAME)
    assert not any("operations" in line for line in told)
    assert lost(notebook, NAME) == {}


def test_a_cell_does_not_move_past_one_that_rebinds_its_names():
    notebook = solved(NAME)
    at = place_of(notebook, cell(notebook, "bytes-moved-solution"))
    draft = code("start = later\n\n\ndef bytes_moved(B, D, F):\n    return 1")
    notebook.cells.insert(at, draft)
    notebook.cells.append(code("later = 1"))
    assert repair(notebook, NAME) == ([], [])
    assert lost(notebook, NAME) == {}


def test_a_cell_that_checks_whether_it_ran_before_does_not_move():
    notebook = solved(NAME)
    answer = cell(notebook, "operations-solution")
    answer.source = f"if 'runs' in globals():\n    print(runs)\nruns = 1\n{answer.source}"
    assert repair(notebook, NAME) == ([], [])
    answer.source = answer.source.replace("return ", "return runs and ")
    assert repair(notebook, NAME) == ([], [])
    assert lost(notebook, NAME) == {}


def test_cells_with_chained_constants_are_sorted():
    notebook = solved(NAME)
    last = solutions(notebook)[-1]
    last.source = last.source.replace("return ", "return C and ")
    for source in ("A = 1", "B = A + 1", "C = B + 1"):
        notebook.cells.insert(0, code(source))
    assert lost(notebook, NAME) == {}


# Shorthand for cells: "f?" is the check of f, "f: code" is the cell for its answer, "# text" is a
# Markdown cell, and other strings are cells that the learner added.


def made(lines):
    notebook = nbformat.v4.new_notebook()
    for line in lines:
        key = re.match(r"\w+\?|\w+(?=: )|", line)[0]
        one = code(line.removeprefix(f"{key}: "))
        if key.endswith("?"):
            one.source = f"check({key[:-1]!r}, {key[:-1]})"
        if key:
            one.metadata["nbgrader"] = {"grade_id": key, "grade": key.endswith("?")}
        if line.startswith("# "):
            one = nbformat.v4.new_markdown_cell(line[2:])
        notebook.cells.append(one)
    return notebook


def reordered(lines):
    """Return (these cells in the order in which they will run, remarks)."""
    notebook = made(lines)
    names = {id(one): line for one, line in zip(notebook.cells, lines, strict=True)}
    marks = [one.metadata.nbgrader for one in notebook.cells if one.metadata]
    keys = sorted(one.grade_id for one in marks)
    checked = {key: key[:-1] for key in keys if key.endswith("?")}
    remarks = order.reorder(notebook, checked, [*keys, "missing"])
    return [names[id(one)] for one in notebook.cells], remarks


STUB = "f: def f(): raise NotImplementedError"
OWN, OTHER = "def f(): return 1", "def f(): return 2"
A, B, AB = "f: def f(): return a", "f: def f(): return b", "f: def f(): return a + b"
WITH_H = "f: def h(): return 1\ndef f(): return h()"
OTHER_H = "g: def h(): return 2\ndef g(): return h()"
NEEDS_A = "f: def h(): return a\ndef f(): return h()"
G = "g: def g(): return 1"

IN_ORDER = [
    ["a = 1", A, "f?"],
    # A cell stays if no function needs a name that the cell is the last to bind, or if the cell
    # itself binds the name that it lacks.
    ["print(a)", "a = 1", A, "f?"],
    ["x = a", "a = 1", A, "f?"],
    ["a = d", "a = 2", "d = 1", A, "f?"],
    ["b = a\na = 1", B, "f?"],
    ["def g(): raise NotImplementedError\nb = g()", "def g(): return 1", B, "f?"],
    # Cells that need each other are not moved.
    ["a = b", "b = a", A, "f?"],
    # The last definition above a check counts, and a stub needs nothing.
    [OWN, "f?", OTHER],
    [STUB, "f?"],
    ["f: def f():\n    a\n    raise NotImplementedError", OWN, "f?", "a = 1"],
    # A check isn't moved above another part's cell that doesn't affect the checked function.
    ["f: def f(): return 1", G, "f?", "g?"],
    [WITH_H, G, "f?", "g?"],
    ["f: x = 1\ndef f(): return 2", "g: x = 2\ndef g(): return x", "f?", "g?"],
    [WITH_H, OTHER, OTHER_H, "f?", "g?"],
    [G, "f?", "g?"],
    # A check isn't moved above cells that the checked function needs, or that the learner changed.
    [NEEDS_A, "a = 1", OTHER_H, "f?", "g?"],
    [NEEDS_A, OTHER_H, "a = 1", "f?", "g?"],
    [WITH_H, "def h(): return 2", G, "f?", "g?"],
    # A check stays if all parts are in the released order.
    ["e: def e(): return 1\ndef h(): return 1\ndef f(): return h()", "e?", "f: def h(): 2", "f?"],
]


@pytest.mark.parametrize("lines", IN_ORDER, ids=" | ".join)
def test_cells_that_need_not_move_stay(lines):
    assert reordered(lines) == (lines, [])


MOVED = [
    # A check moves below what its function needs; if that is a function, below its last
    # definition.
    ([A, "f?", "a = 1"], [A, "a = 1", "f?"]),
    (
        ["f: def f(): return h()", "f?", "def h(): return a", "a = 1", "x = 2"],
        ["f: def f(): return h()", "def h(): return a", "a = 1", "f?", "x = 2"],
    ),
    (
        [
            *("f: def f(): return h() + a", "f?", "def h(): return 1", "a = 1"),
            *("def h(): return 2", "a = 2"),
        ],
        [
            *("f: def f(): return h() + a", "def h(): return 1", "a = 1", "def h(): return 2"),
            *("f?", "a = 2"),
        ],
    ),
    # Cells move below those that they need, but not past others that bind the same names.
    (["b = a + 1", "a = 1", B, "f?"], ["a = 1", "b = a + 1", B, "f?"]),
    (["print(a)\nb = 2", "a = 1", AB, "f?"], ["a = 1", "print(a)\nb = 2", AB, "f?"]),
    (
        ["def g(): return c\nb = g()", "c = 1", B, "f?"],
        ["c = 1", "def g(): return c\nb = g()", B, "f?"],
    ),
    (["a = d\nb = 1", "a = 2", "d = 1", AB, "f?"], ["d = 1", "a = d\nb = 1", "a = 2", AB, "f?"]),
    (
        ["a = 1", "b = a + d", "a = 2", "d = 1", B, "f?"],
        ["a = 1", "d = 1", "b = a + d", "a = 2", B, "f?"],
    ),
    (["a = d", "b = a", "d = 1", B, "f?"], ["d = 1", "a = d", "b = a", B, "f?"]),
    (["b = a", "a = 1", "a = 2", B, "f?"], ["a = 1", "b = a", "a = 2", B, "f?"]),
    (["a = 1", "a = a + d", "d = 1", A, "f?"], ["a = 1", "d = 1", "a = a + d", A, "f?"]),
    (
        ["print(a)", "a = 1", "b = c", "c = 1", AB, "f?"],
        ["print(a)", "a = 1", "c = 1", "b = c", AB, "f?"],
    ),
    # Texts bind nothing.
    (["# a = 1", "b = a", "a = 2", B, "f?"], ["# a = 1", "a = 2", "b = a", B, "f?"]),
    # A check with only a stub above it moves below all definitions of its function. A stub moves
    # above the last definition that stands above the check.
    ([STUB, "f?", OWN, OTHER, "x = 1"], [STUB, OWN, OTHER, "f?", "x = 1"]),
    ([OWN, STUB, "f?"], [STUB, OWN, "f?"]),
    ([OWN, OTHER, STUB, "f?"], [OWN, STUB, OTHER, "f?"]),
    ([OWN, STUB, "f?", OTHER], [STUB, OWN, "f?", OTHER]),
    # A check moves above another part that defines the same helper.
    ([WITH_H, OTHER_H, "f?", "g?"], [WITH_H, "f?", OTHER_H, "g?"]),
    ([WITH_H, OTHER_H, "f?", "g?", OTHER], [WITH_H, "f?", OTHER_H, "g?", OTHER]),
]


@pytest.mark.parametrize(("lines", "moved"), MOVED, ids=lambda lines: " | ".join(lines))
def test_cells_move_as_little_as_needed(lines, moved):
    found, remarks = reordered(lines)
    assert (found, len(remarks)) == (moved, 1)


def test_a_remark_has_at_most_five_names():
    _, remarks = reordered(["b = c + d + e + g + h + i", "c = d = e = g = h = i = 1", B, "f?"])
    assert remarks == ["cells stood above those that they need (c, d, e, g, h)"]


@pytest.mark.parametrize(("count", "is_sorted"), [(500, True), (501, False)])
def test_cells_of_long_notebooks_are_not_sorted(count, is_sorted):
    lines = ["b = a", "a = 1", B, "f?", *["x = 1"] * (count - 3)]
    found, remarks = reordered(lines)
    assert (found[0], len(remarks)) == (("a = 1", 1) if is_sorted else ("b = a", 0))


@pytest.mark.parametrize(
    ("source", "needs", "binds"),
    [
        ("x = y", {"y"}, {"x"}),
        ("x += 1", {"x"}, {"x"}),
        ("for x in y:\n    print(x)", {"y"}, {"x"}),
        ("import a.b as c, d.e", set(), {"c", "d"}),
        ("def f(x=y) -> z:\n    return w", {"y", "z"}, {"f"}),
        ("@g\nclass A(B):\n    c = d", {"g", "B", "d"}, {"A", "c"}),
        ("with open(p) as q:\n    q.read()", {"p"}, {"q"}),
        ("f = lambda x: y", set(), {"f"}),
        ("f = lambda x=y, *z, v=w: u", {"y", "w"}, {"f"}),
        ("async def f(a: b, /, *c: d, e: g = h, **i: j):\n    k", {"b", "d", "g", "h", "j"}, {"f"}),
        ("def f(x=y):\n    raise NotImplementedError", {"y"}, set()),
        ("del x", set(), {"x"}),
        ("for f in g:\n    f(x)", {"g", "x"}, {"f"}),
        ("match x:\n    case [a, *b] as c:\n        pass", {"x"}, {"a", "b", "c"}),
        ("(a, *b), c.d = e", {"c", "e"}, {"a", "b"}),
        ("try:\n    a\nexcept E as b:\n    pass", {"a", "E"}, {"b"}),
        ("%%time\nx = y", {"y"}, {"x"}),
        ("print(len(display))", set(), set()),
    ],
)
def test_names_that_a_cell_needs_and_binds_are_found_in_its_code(source, needs, binds):
    names = names_of(source)
    assert set().union(*(step.needs for step in names.steps)) == needs
    assert (names.needs, names.binds) == (needs, binds)


@pytest.mark.parametrize(
    ("source", "needs"),
    [
        ("x = y\nz = x + a", {"y", "a"}),
        ("x = x + 1\nx += y", {"x", "y"}),
        ("def f():\n    return a\nb = f(c)", {"c"}),
        ("f()\ndef f():\n    pass", {"f"}),
    ],
)
def test_a_cell_needs_only_names_that_it_reads_before_it_binds_them(source, needs):
    assert names_of(source).needs == needs


@pytest.mark.parametrize(
    ("source", "later"),
    [
        ("def f(a, *b, c):\n    e = a + g\n    return e(b, c, len)", {"f": {"g"}}),
        ("def f(n):\n    return f(n - 1) or g", {"f": {"f", "g"}}),
        ("def f():\n    global a\n    a = b\n    return a", {"f": {"a", "b"}}),
        ("def f():\n    import a\n    def g():\n        return h\n    return g, a", {"f": {"h"}}),
        ("async def f():\n    return a", {"f": {"a"}}),
        ("class A(B):\n    c = d", {"A": {"B", "d"}}),
        ("if a:\n    def f(): return b\nelse:\n    def f(): return c", {"f": {"b", "c"}}),
        ("f = g = lambda x: x + y", {"f": {"y"}, "g": {"y"}}),
        ("f = (lambda: a) if b else (lambda: c)", {"f": {"a", "c"}}),
        ("a.f = lambda: b", {}),
        ("a = b(c)", {}),
        ("print(lambda: a)", {}),
        ("def f(:", {}),
    ],
)
def test_names_that_a_function_needs_when_called_are_found(source, later):
    assert names_of(source).later == later
