"""Tests of the similarity of solutions: what counts, and robustness."""

import itertools
import string
import unicodedata
from difflib import SequenceMatcher

import pytest
from classroom import Classroom, code, functions
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nbformat.v4 import new_markdown_cell, new_notebook
from submissions import Submission, hand_in, submissions

from grading.release import exercises
from grading.reports import similarity

NAME = "int8-matmul"
LONG = """
def traffic(B, D, F):
    loaded = B * D + D * F
    written = B * F * 2
    total = loaded + written
    return total / 8.1e11 if total > 0 else None
"""


def written(source):
    return similarity.code(new_notebook(cells=[code(source)]))


def state(**sources):
    return {student: {NAME: {"code": written(source)}} for student, source in sources.items()}


def share(one, other):
    ((_, _, _, percent, _, _),) = similarity.pairs(state(one=one, other=other))
    return percent


@pytest.mark.parametrize(
    "other",
    [
        LONG.replace(" * ", "*").replace("\n    total", "  # so much\n\n    total"),
        LONG.replace("B, D, F):", 'B, D, F):\n    """Bytes."""'),
        LONG.replace("(B, D, F)", "(B: int, D: int, F: int)"),
        LONG.replace("2\n", "2.0\n"),
        LONG.replace("D * F\n", "(D * F)\n"),
        "%matplotlib inline\n" + LONG,
    ],
)
def test_layout_comments_and_docstrings_do_not_affect_similarity(other):
    assert other != LONG
    assert share(LONG, other) == 100


@pytest.mark.parametrize(
    ("other", "below"),
    [
        (LONG.replace("loaded", "first"), 100),
        (LONG.replace(" + ", " - "), 100),
        (LONG.replace("8.1e11", "3e12"), 100),
        ("def traffic(B, D, F):\n" + "    print([x for x in 'abc'], sep='')\n" * 4, 50),
    ],
)
def test_names_operators_and_numbers_affect_similarity(other, below):
    assert share(LONG, other) < below


@pytest.mark.parametrize(
    "other",
    [
        *("f(a + b * 7, 'c', b'd')", "g(a + b * c, 'c', b'd')", "f(a - b * c, 'c', b'd')"),
        *("f(-a + b * c, 'c', b'd')", "f(a + b * c, 'd', b'd')", "f(a + b * c, 'c', b'c')"),
    ],
)
def test_a_change_of_one_syntax_element_changes_one_character(other):
    before, after = written("x = f(a + b * c, 'c', b'd')"), written(f"x = {other}")
    operations = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    changed = [change for change in operations if change[0] != "equal"]
    assert [max(j - i, m - k) for _, i, j, k, m in changed] == [1]


def test_each_syntax_element_is_a_private_use_character():
    names = [f"name_{number}" for number in range(1_000)]
    text = written("\n".join(names))  # each line has two elements: a statement and a name
    assert len(text) == 2 * len(names)
    assert {unicodedata.category(one) for one in text} == {"Co"}
    assert len(set(text)) > 900, "different names are different characters"


def test_code_cells_are_joined_without_markdown_and_check_cells():
    def cells(*sources):
        return new_notebook(cells=[code(source) for source in sources])

    whole = cells("a = 1", "f(a)", "a + b")
    first, second, third = (written(cell.source) for cell in whole.cells)
    assert similarity.code(whole) == first + second + third
    whole.cells[0] = new_markdown_cell("a = 1")
    whole.cells[1].metadata["nbgrader"] = {"solution": False, "grade": True}
    assert similarity.code(whole) == third
    whole.cells[1].metadata["nbgrader"] = {"solution": True}
    assert similarity.code(whole) == second + third


def test_code_cells_beyond_the_maximum_source_length_are_ignored(monkeypatch):
    monkeypatch.setattr(similarity, "MAX_SOURCE_CHARACTERS", 10)
    nb = new_notebook(cells=[code("a = 1"), code("b = 2"), code("c")])
    assert similarity.code(nb) == written("a = 1") + written("b = 2")


@pytest.mark.parametrize("more", [0, 1])
def test_only_short_cells_are_cached(more):
    similarity._cached_code.cache_clear()
    written("#" * (similarity.MAX_CACHED_CHARACTERS + more))
    assert similarity._cached_code.cache_info().currsize == 1 - more


def test_a_renamed_copy_is_more_similar_than_another_solution():
    renamed = LONG.replace("loaded", "a").replace("written", "b").replace("total", "c")
    another = LONG.split("    loaded")[0] + "    return sum([B * D, D * F, B * F * 2]) / 8.1e11\n"
    another += "print(traffic(2, 3, 4), traffic(5, 6, 7))\n"
    assert share(LONG, another) < share(LONG, renamed) < 100


def test_only_what_the_learner_wrote_is_compared(release, tmp_path):
    source = exercises.source(NAME)
    right = hand_in(Submission(NAME, "reference", "", {}), source, source, functions(NAME))
    assert len(similarity.code(right)) > similarity.MIN_ELEMENTS
    room = Classroom(tmp_path, release)
    for name in exercises.names():
        assert len(similarity.code(room.released(name))) < similarity.MIN_ELEMENTS, name


def test_pairs_of_solutions_are_sorted_by_similarity_and_show_the_median():
    class_ = state(ada=LONG, bob=LONG, eve=LONG.replace("total", "t"), short="x = 1", bad="def (")
    rows = similarity.pairs(class_)
    assert [(one, other, percent == 100) for _, one, other, percent, _, _ in rows] == [
        ("ada", "bob", True),
        ("ada", "eve", False),
        ("bob", "eve", False),
    ]
    assert {row[4] for row in rows} == {rows[1][3]}
    assert {row[5] for row in rows} == {len(written(LONG))}


def test_an_unwritten_function_has_no_syntax_elements():
    assert written('def f(x):\n    """Text."""\n    raise NotImplementedError("to do")') == ""


def test_a_short_solution_is_not_compared():
    least = similarity.MIN_ELEMENTS
    texts = {"ada": "a" * least, "bob": "a" * (2 * least), "eve": "a" * (least - 1)}
    rows = similarity.pairs({student: {NAME: {"code": text}} for student, text in texts.items()})
    # The common subsequence covers 20 elements of each text: 40 of 60, or 67%.
    assert rows == [(NAME, "ada", "bob", 67, 67, least)]


def test_the_ten_most_similar_pairs_of_solutions_are_reported():
    names = [a + b for a, b in itertools.product(string.ascii_lowercase[:13], repeat=2)]
    rows = similarity.pairs(state(**dict.fromkeys(names, LONG)))
    assert [row[1:3] for row in rows] == list(itertools.combinations(names, 2))[:10]
    assert similarity.pairs(state(ada=LONG)) == similarity.pairs({}) == []
    assert similarity.pairs({"ada": {NAME: {}}, "bob": {NAME: {}}}) == [], "of an older version"


@settings(deadline=None)
@given(st.text(max_size=200) | st.binary(max_size=200).map(lambda raw: raw.decode("latin-1")))
@example("x = " + "(" * 5000)
@example("x = " + "0x" + "f" * 90_000)
@example("-" * 50_000 + "1")
@example("x = 1e999, 1e999j, ..., b'a', None, True")
@example("a = '\ud800'")
@example("'\\" * 50_000)
@example("x=[" + "1," * 49_000 + "]")
def test_the_number_of_syntax_elements_of_any_source_is_limited(source):
    assert len(written(source)) <= similarity.MAX_ELEMENTS


def test_different_right_solutions_are_not_identical():
    source = exercises.source("roofline-plot")
    codes = {
        one.name: similarity.code(hand_in(one, source, source, functions("roofline-plot")))
        for one in submissions("roofline-plot")
        if not one.expected
    }
    class_ = {name: {"roofline-plot": {"code": text}} for name, text in codes.items()}
    rows = similarity.pairs(class_)
    assert rows
    assert rows[-1][3] < 100
    assert rows[-1][4] < 90
