"""Tests that answers from a sandbox are validated before anything uses them."""

import contextlib
import copy
import functools
import json
import math
import operator
import sys
import tracemalloc
import warnings

import pytest
from figures import figures
from hypothesis import given, settings
from hypothesis import strategies as st

from grading.judging.validation import validated
from grading.judging.verdicts import _judged, cases
from grading.release.exercises import load
from roofkit.check.answers import Answer, ask
from roofkit.check.compare import judge
from roofkit.check.plain_data import MAX_ENTRIES

(PART,) = [part for part in load("roofline-plot").parts if part.kind == "figure"]
KNOWN = cases("roofline-plot", PART.key, "seed")[0]
CASE = {"sizes": [9], "batches": [1, 2]}
AXIS = {"label": "B", "limits": [1, 2], "scale": "log", "ticks": [[1, "1"]], "offset": ""}
CURVE = {"x": [1, 2], "y": [1, 2], "axes": 0, "seen": True, "same_look": True}
CURVE |= {"legend": ["9"], "texts": ["9"], "between": ["9"]}
MAX = int(sys.float_info.max)
WHOLE = {"curves": [CURVE], "legend": True, "entries": 1, "xlabel": "B", "ylabel": "FLOP/s"}
WHOLE |= {"axes": [{"x": AXIS, "y": AXIS | {"label": "FLOP/s"}}]}
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text() | st.sampled_from(["curves", "x", "axes"]), inner, max_size=4)
    ),
    max_leaves=20,
)
GIVE_UP = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def places(whole, path=()):
    """Yield the paths to all values inside nested data."""
    whole_is = isinstance(whole, dict)
    for key in whole if whole_is else range(len(whole)) if isinstance(whole, list) else ():
        yield (*path, key)
        yield from places(whole[key], (*path, key))


def test_figures_sent_by_the_probe_are_valid():
    for drawn in figures()[::6]:
        answer = ask(drawn.function, KNOWN.inputs[0], "figure")
        sent = Answer(json.loads(json.dumps(answer.value)), answer.problem)
        assert validated(sent, "figure") == sent, drawn.name


def test_overflowing_y_values_of_a_figure_print_no_warning():
    right = next(drawn for drawn in figures() if drawn.name.startswith("right"))
    answers = [ask(right.function, case, "figure") for case in KNOWN.inputs]
    for answer in answers:
        for curve in answer.value["curves"]:
            curve["y"] = [1e308] * len(curve["y"])
        for axes in answer.value["axes"]:
            # Multiplied by 1e15, the y values overflow.
            axes["y"] |= {"label": "PFLOP/s", "limits": [0, 1.7e308], "ticks": [], "offset": ""}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not _judged(answers, KNOWN, PART).passed


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        *(("number", value) for value in (0, -1, 1.5, math.inf, 10**300, MAX, -MAX)),
        *(("numbers", value) for value in ([], [1, 2.5], {"a": 1, "b": math.inf})),
        *(("names", value) for value in ([], ["A", "B"])),
    ],
)
def test_plain_answers_are_accepted(kind, value):
    assert validated(Answer(value), kind).value == value


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        *(("number", value) for value in (None, True, "1", [1], {}, 10**400, MAX + 1)),
        *(("numbers", value) for value in (None, 1, [True], ["1"], [[1]], {"a": "1"}, "12")),
        *(("numbers", value) for value in ([1.0] * (MAX_ENTRIES + 1), {"x" * 10**6: 1})),
        *(("names", value) for value in (None, [1], "name", {"a": 1}, ["x" * 10**6])),
        *(("figure", value) for value in (None, 1, [], {}, {"curves": []}, {"1024": [1, 2]})),
    ],
    ids=lambda value: str(value)[:30],
)
def test_malformed_answers_are_refused(kind, value):
    with pytest.raises(ValueError, match=r"not|missing"):
        validated(Answer(value), kind)


def grown(*path):
    """Return a function: length → figure whose list or text at a path is that long."""

    def figure(length):
        changed = copy.deepcopy(WHOLE)
        *most, last = path
        there = functools.reduce(operator.getitem, most, changed)
        there[last] = ((there[last] or "x") * length)[:length]
        return changed

    return figure


def curve(points):
    return WHOLE | {"curves": [CURVE | {"x": [1.0] * points, "y": [1.0] * points}]}


@pytest.mark.parametrize(
    ("kind", "made", "most"),
    [
        ("names", lambda length: ["x" * length], 1_000),
        ("names", lambda length: ["x"] * length, MAX_ENTRIES),
        ("numbers", lambda length: {"x" * length: 1}, 1_000),
        ("figure", grown("xlabel"), 20_000),
        ("figure", grown("axes", 0, "y", "offset"), 20_000),
        ("figure", grown("axes", 0, "x", "ticks", 0, 1), 20_000),
        ("figure", grown("axes", 0, "x", "ticks"), 20_000),
        ("figure", grown("axes"), 20_000),
        ("figure", grown("curves"), 20_000),
        ("figure", grown("curves", 0, "between"), 20_000),
        ("figure", grown("curves", 0, "texts", 0), 20_000),
        ("figure", curve, MAX_ENTRIES),
    ],
)
def test_the_longest_answers_are_accepted_and_longer_ones_refused(kind, made, most):
    validated(Answer(made(most)), kind)
    with pytest.raises(ValueError, match=r"not|more"):
        validated(Answer(made(most + 1)), kind)


@pytest.mark.parametrize(
    "change", [{"y": [1]}, {"x": []}, {"axes": 1}, {"axes": -1}], ids=["y", "x", "after", "before"]
)
def test_a_curve_has_two_equal_lists_and_is_on_one_of_the_axes(change):
    with pytest.raises(ValueError, match="not a curve"):
        validated(Answer(WHOLE | {"curves": [CURVE | change]}), "figure")


@pytest.mark.parametrize("odd", [math.nan, math.inf, 10**400])
def test_the_numbers_in_a_figure_must_be_finite(odd):
    for axis in ({"limits": [1, odd]}, {"ticks": [[odd, "1"]]}):
        with pytest.raises(ValueError, match="number"):
            validated(Answer(WHOLE | {"axes": [{"x": AXIS | axis, "y": AXIS}]}), "figure")
    for points in ("x", "y"):
        with pytest.raises(ValueError, match="number"):
            validated(Answer(WHOLE | {"curves": [CURVE | {points: [1, odd]}]}), "figure")


@pytest.mark.parametrize(
    "change", [{"limits": [1]}, {"limits": [1, 2, 3]}, {"ticks": [[1]]}, {"ticks": [[1, "1", 2]]}]
)
def test_axis_limits_and_ticks_must_be_pairs(change):
    with pytest.raises(ValueError, match=r"not an axis|not a tick"):
        validated(Answer(WHOLE | {"axes": [{"x": AXIS | change, "y": AXIS}]}), "figure")


@pytest.mark.parametrize("path", list(places(WHOLE)), ids=lambda path: "-".join(map(str, path)))
def test_a_wrong_type_anywhere_in_a_figure_is_refused(path):
    assert validated(Answer(WHOLE), "figure").value == WHOLE
    *most, last = path
    there = functools.reduce(operator.getitem, path, WHOLE)
    for odd in (None, {}, [], [[1]], ["1"] * 2, "1", 1, 0.5, True, math.nan, math.inf, 10**400):
        changed = copy.deepcopy(WHOLE)
        functools.reduce(operator.getitem, most, changed)[last] = odd
        number = isinstance(there, int) and isinstance(odd, int | float)
        if type(odd) is not type(there) and not number:
            with pytest.raises(ValueError, match=r"not|missing|more"):
                validated(Answer(changed), "figure")


@given(ANYTHING, st.sampled_from(list(places(WHOLE))), st.sampled_from([None, "figure"]))
@settings(deadline=None, max_examples=300)
def test_arbitrary_answers_are_refused_or_judged(value, path, whole):
    changed = copy.deepcopy(WHOLE)
    *most, last = path
    functools.reduce(operator.getitem, most, changed)[last] = value
    with contextlib.suppress(*GIVE_UP):
        fitting = validated(Answer(changed if whole else value), "figure")
        judge([fitting], [{"9": [1, 2]}], [], 0.01, [CASE])


def test_curve_points_given_as_strings_take_little_memory():
    """Check that no numpy array of strings is made.

    It would pad all hundred thousand strings to the longest one.
    """
    points = ["1"] * 99_999 + ["1" * 10_000]
    figure = copy.deepcopy(WHOLE)
    figure["curves"][0]["x"] = figure["curves"][0]["y"] = points
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="not a number"):
            judge([validated(Answer(figure), "figure")], [{}], [], 0.01, [CASE])
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()
