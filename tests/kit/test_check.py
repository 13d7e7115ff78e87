"""Messages of a check to the learner, for everything that a function may do."""

import itertools
import math
import re
from fractions import Fraction

import numpy as np
import pytest

from roofkit.check import CheckFailed, cases
from roofkit.check import check as check_part
from roofkit.check.answers import Answer, ask
from roofkit.check.compare import MisconceptionValues, judge, recognize, same
from roofkit.check.messages import PROBLEMS
from roofkit.check.packing import literal, pack
from roofkit.check.plot_reading import looked_at, reading, scale

CASES = ({"B": 2, "D": 4}, {"B": 3, "D": 1000})
DATA = {
    "function": "area",
    "kind": "number",
    "tolerance": 1e-5,
    "cases": literal(CASES),
    "expected": [8, 3000],
    "misconceptions": [
        {"key": "sum", "says": "The sides are added.", "read": "chapter one", "values": [6, 1003]},
        {"key": "half", "says": "Half is left out.", "read": "chapter two", "values": [None, 1500]},
    ],
    "ranges": {"B": "a whole number from 2 to 9"},
}
PAIR = DATA | {"kind": "numbers", "expected": [[8, 2], [3000, 3]], "misconceptions": []}
NAMES = DATA | {"kind": "names", "expected": [["a", "b"], ["a", "b"]], "misconceptions": []}


def check(part: str, function: object, data: dict) -> None:
    cases(pack({part: data}))
    check_part(part, function)


def words(function: object, data: dict = DATA) -> str:
    """Return the message of a failed check, with whitespace collapsed."""
    with pytest.raises(CheckFailed) as failure:
        check("part", function, data)
    return " ".join(str(failure.value).split())


def test_a_passed_check_states_its_cases_and_the_ranges_used_in_grading(capsys):
    check("part", lambda B, D: B * D, DATA)
    said = " ".join(capsys.readouterr().out.split())
    assert "part: right for 2 published cases." in said
    assert "B = 2, D = 4" in said
    assert "Grading asks area with these values and with others, not shown here" in said
    assert "B: a whole number from 2 to 9" in said


@pytest.mark.parametrize(
    "area",
    [
        lambda B, D: np.float32(B * D),
        lambda B, D: np.array(B * D),
        lambda B, D: Fraction(B * D, 1),
        lambda B, D: float(B * D) * (1 + 1e-7),
        lambda *, D, B: B * D,
        lambda **sides: math.prod(sides.values()),
        lambda B, D, extra=1: B * D * extra,
    ],
)
def test_any_number_type_and_parameter_style_is_accepted(area, capsys):
    check("part", area, DATA)
    assert "right" in capsys.readouterr().out


def test_a_misconception_is_named_with_what_to_read_but_without_the_answer():
    said = words(lambda B, D: B + D)
    assert "The sides are added." in said
    assert "Read: chapter one." in said
    assert "0 of 2" in said
    assert not re.search(r"\b(8|3000|3,000|1003)\b", said)


def test_a_misconception_needs_to_explain_only_the_wrong_values():
    said = words(lambda B, D: B * D if B == 2 else 1500)
    assert "Half is left out." in said
    assert "1 of 2" in said


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (None, "There is no function of this name"),
        (3, "no function of this name when the check runs: what was handed in is a number."),
        (
            lambda B: B,
            "the names of the arguments in the question: B, D (yours takes B).",
        ),
        (lambda B, D: None, "returned nothing (None): is a `return` missing?"),
        (lambda B, D: "8", "did not return a single number: a text."),
        (lambda B, D: [8], "did not return a single number: a list."),
        (lambda B, D: np.zeros(3), "did not return a single number: an array of shape (3,)."),
        (lambda B, D: True, "did not return a single number: True or False."),
        (lambda B, D: 8j, "did not return a single number: a complex number."),
        (
            lambda B, D: (x for x in [8]),
            "a generator object, which hands out its values one by one",
        ),
        (lambda B, D: print, "did not return a single number: a function."),
        (lambda B, D: math.nan, "returned nan, which is not a number."),
        (lambda B, D: np.float64("nan"), "returned nan, which is not a number."),
        (lambda B, D: 10**5000, "returned a number too large to be meant."),
        (lambda B, D: B / 0, "stopped with an error: ZeroDivisionError: division by zero."),
        (lambda B, D: math.inf, "For B = 2, D = 4 you returned inf, which is not it."),
        (lambda B, D: B * D if B == 2 else 7, "For B = 3, D = 1,000 you returned 7, which is not"),
    ],
)
def test_each_problem_is_reported_with_its_message(function, sentence):
    assert sentence in words(function)


def test_an_unwritten_function_is_not_reported_as_an_error():
    def area(B, D):
        raise NotImplementedError

    assert "The function is still to be written." in words(area)


def test_exiting_is_prevented_and_reported():
    def area(B, D):
        raise SystemExit("bye")

    assert "stopped with an error: SystemExit: bye." in words(area)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ((8,), "returned the wrong number of values: 1 value."),
        ((), "returned the wrong number of values: 0 values"),
        (np.array([]), "returned the wrong number of values: 0 values"),
        (8, "did not return the numbers in the form asked for: a number. Return a pair of"),
        (
            {"a": 8, "b": 2},
            "in another form than the one asked for: a dictionary. Return a pair",
        ),
        (np.zeros((2, 2)), "an array of shape (2, 2)"),
        (
            (8, None),
            "in the form asked for: a tuple in which there is None. Return a pair of numbers",
        ),
        ({8, 2}, "in the form asked for: a set. Return a pair of numbers: a tuple, a list or"),
    ],
)
def test_anything_but_two_numbers_is_refused_where_two_are_expected(value, sentence):
    assert sentence in words(lambda B, D: value, PAIR)


@pytest.mark.parametrize("make", [list, tuple, set, frozenset, np.array, dict.fromkeys])
def test_names_are_accepted_in_any_order_and_container(make, capsys):
    check("part", lambda B, D: make(["b", "a"]), NAMES)
    assert "right" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("a", "did not return a list of names: a text."),
        ([1], "did not return a list of names: a list in which there is a number."),
        ("a", "Return a list of texts, the names alone; where no name fits, an empty list."),
        (filter(None, ["a"]), "a filter object, which hands out its values one by one"),
        (["a"], "For B = 2, D = 4 you returned a, which is not it. Some names are missing."),
    ],
)
def test_wrong_or_invalid_names_are_reported(value, sentence):
    assert sentence in words(lambda B, D: value, NAMES)


def test_changed_arguments_do_not_reach_other_cases():
    seen = []

    def area(B, D, sides):
        seen.append(list(sides))
        sides.append(1)
        return B * D

    cases = [{"B": 2, "D": 4, "sides": [0]}] * 2
    data = DATA | {"cases": literal(cases), "expected": [8, 8], "misconceptions": []}
    check("part", area, data)
    assert seen == [[0], [0], [0, 1]]  # the repeated call gets the first call's list


def test_a_keyboard_interrupt_propagates():
    def area(B, D):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check("part", area, DATA)


def test_jupyter_shows_a_failed_check_without_a_traceback():
    failure = CheckFailed("first line\nsecond line")
    assert failure._render_traceback_() == ["first line", "second line"]


def test_a_check_without_data_names_the_cell_to_run():
    with pytest.raises(CheckFailed, match=r"(?s)Run the cell of the released .* `cases\(`"):
        check_part("unheard of", print)


@pytest.mark.parametrize("data", ["", "abc", pack(DATA)[:-8], pack(DATA).swapcase(), pack([DATA])])
def test_corrupted_data_is_detected(data):
    with pytest.raises(CheckFailed, match="the data of this check were changed"):
        cases(data)


SIZES = {"sizes": [4096, 1024], "batches": list(range(1, 101))}
FIGURE = DATA | {
    "kind": "figure",
    "cases": literal([SIZES]),
    "misconceptions": [],
    "tolerance": 0.01,
}


def rate(size, batch):
    return 1e12 * size / 1024 * np.asarray(batch, dtype=float)


def figure_data():
    batches = np.array(SIZES["batches"])[looked_at(SIZES["batches"])]
    expected = {str(size): rate(size, batches).tolist() for size in SIZES["sizes"]}
    return FIGURE | {"expected": [expected]}


def labeled(ax):
    ax.set_xlabel("batch (tokens)")
    ax.set_ylabel("attainable (FLOP/s)")


def plotted(ax, sizes, batches):
    for size in sizes:
        ax.plot(batches, rate(size, batches), label=f"D = F = {size}")
    ax.legend()
    labeled(ax)


def by_scatter(ax, sizes, batches):
    for size in sizes:
        ax.scatter(batches, rate(size, batches), label=f"{size:,} × {size:,}")
    ax.legend()
    labeled(ax)


def by_legend_of_its_own(ax, sizes, batches):
    lines = [ax.semilogx(batches, rate(size, batches) / 1e12)[0] for size in sizes]
    ax.legend(lines, [f"$D = {size}$" for size in sizes])
    ax.set(xlabel="B", ylabel="TFLOP/s")


def by_text(ax, sizes, batches):
    for size in sizes:
        ax.loglog(batches, rate(size, batches))
        ax.text(batches[-1], rate(size, batches)[-1], f"D = {size}")
    labeled(ax)


def by_arrow(ax, sizes, batches):
    for size in sizes:
        ax.step(batches, rate(size, batches))
        ax.annotate(
            str(size),
            (batches[50], rate(size, batches)[50]),
            (30, 30),
            "data",
            "offset points",
            arrowprops={"arrowstyle": "->"},
        )
    ax.axhline(1e12, linestyle="--", label="peak")
    labeled(ax)


def by_far_arrow(ax, sizes, batches):
    # Each text is closer to the other curve than to the one that its arrow points at.
    for size, away in zip(sizes, (400, -400), strict=True):
        ax.semilogx(batches, rate(size, batches))
        point = (batches[50], rate(size, batches)[50])
        ax.annotate(str(size), point, (0, -away), "data", "offset points", {"arrowstyle": "->"})
    labeled(ax)


def by_pyplot(ax, sizes, batches):
    import matplotlib.pyplot as plt

    for size in sizes:
        plt.plot(batches, rate(size, batches) / 1e12, label=f"{size // 1024}k")
    plt.legend(title="D = F")
    plt.xlabel("tokens")
    plt.ylabel(r"attainable [$10^{12}$ FLOP/s]")


@pytest.mark.parametrize(
    "draw", [plotted, by_scatter, by_legend_of_its_own, by_text, by_arrow, by_far_arrow, by_pyplot]
)
def test_readable_figures_are_accepted_in_any_style(draw, capsys):
    check("figure", draw, figure_data())
    assert "figure: right for the published case." in capsys.readouterr().out


def changed(**changes):
    def draw(ax, sizes, batches):
        plotted(ax, sizes, batches)
        ax.set(**changes)

    return draw


def elsewhere(ax, sizes, batches):
    import matplotlib.pyplot as plt

    plotted(plt.figure().gca(), sizes, batches)


def no_legend(ax, sizes, batches):
    plotted(ax, sizes, batches)
    ax.get_legend().remove()


def one_size(ax, sizes, batches):
    plotted(ax, sizes[:1], batches)


def half_way(ax, sizes, batches):
    plotted(ax, sizes, batches[:50])


def legend_too_early(ax, sizes, batches):
    ax.legend()
    for size in sizes:
        ax.plot(batches, rate(size, batches), label=str(size))
    labeled(ax)


def swapped(ax, sizes, batches):
    for size, label in zip(sizes, reversed(sizes), strict=True):
        ax.plot(batches, rate(size, batches), label=str(label))
    ax.legend()
    labeled(ax)


@pytest.mark.parametrize(
    ("draw", "sentence"),
    [
        (elsewhere, "There is no curve on the axis that was handed in"),
        (no_legend, "There is no telling which curve is which"),
        (one_size, "Not every size can be told from the legend"),
        (half_way, "A curve does not go through all the batches."),
        (changed(xlabel=""), "The horizontal axis has no label: call `ax.set_xlabel` with one."),
        (changed(ylabel=" "), "The vertical axis has no label: call `ax.set_ylabel` with one."),
        (changed(ylabel="throughput"), "does not name the unit."),
        (
            changed(ylabel="TFLOP/s"),
            "The curve for 4,096 shows 4e24 FLOP/s at batch 1, by the unit",
        ),
        (swapped, "The curve that is named 4,096 is that of another size."),
        (legend_too_early, "The legend is empty: call `ax.legend()` after the curves are drawn"),
    ],
)
def test_each_defect_of_a_figure_is_reported(draw, sentence):
    assert sentence in words(draw, figure_data())


def unseen(ax, sizes, batches):
    plotted(ax, sizes, batches)
    for line in ax.get_lines():
        line.set_visible(False)


def unseen_legend(ax, sizes, batches):
    plotted(ax, sizes, batches)
    ax.get_legend().set_visible(False)


def only_a_point_each(ax, sizes, batches):
    for size in sizes:
        ax.plot(batches[-1:], rate(size, batches)[-1:], "o", label=str(size))
    ax.legend()
    labeled(ax)


def across_the_axis(ax, sizes, batches):
    for size in sizes:
        ax.axhline(size, label=str(size))
    ax.legend()
    labeled(ax)


def from_the_second_on(ax, sizes, batches):
    plotted(ax, sizes, batches[1:])


def up_to_the_last_but_one(ax, sizes, batches):
    plotted(ax, sizes, batches[:-1])


def dipped(first, last):
    """Return a function that draws curves 10% too low from batch `first` to `last`."""

    def draw(ax, sizes, batches):
        dip = np.where((batches >= first) & (batches <= last), 0.9, 1)
        for size in sizes:
            ax.plot(batches, rate(size, batches) * dip, label=f"D = F = {size}")
        ax.legend()
        labeled(ax)

    return draw


@pytest.mark.parametrize(
    ("draw", "sentence"),
    [
        (unseen, "There is no curve on the axis that was handed in"),
        (unseen_legend, "There is no telling which curve is which"),
        (only_a_point_each, "There is no curve on the axis that was handed in"),
        (across_the_axis, "There is no curve on the axis that was handed in"),
        (from_the_second_on, "A curve does not go through all the batches."),
        (up_to_the_last_but_one, "A curve does not go through all the batches."),
        (dipped(1, 1), "FLOP/s at batch"),
        (dipped(3, 4), "FLOP/s at batch"),
        (dipped(12, 13), "FLOP/s at batch"),
        (dipped(30, 34), "FLOP/s at batch"),
        (dipped(100, 100), "FLOP/s at batch 100, by"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_hidden_or_incomplete_curves_and_single_wrong_values_are_found(draw, sentence):
    assert sentence in words(draw, figure_data())


@pytest.mark.parametrize(("count", "places"), [(1, 1), (2, 2), (10, 8), (100, 34), (1000, 41)])
def test_compared_batches_are_evenly_spaced_on_a_log_scale(count, places):
    found = looked_at(range(count))
    assert (found[0], found[-1]) == (0, count - 1)
    assert len(found) == places
    gaps = np.diff(np.log(found + 1.0))
    assert (gaps > 0).all()
    # No gap exceeds both the first gap, log 2, and 1/47 of the axis (with 1% for rounding).
    assert gaps.size == 0 or gaps.max() <= max(math.log(2), 1.01 * math.log(count) / 47)


def test_the_longer_of_two_curves_for_one_matrix_size_is_read(capsys):
    def draw(ax, sizes, batches):
        plotted(ax, sizes, batches)
        for size in sizes:
            ax.plot(batches[:2], [0, 0], label=str(size))
        ax.legend()

    check("figure", draw, figure_data())
    assert "right" in capsys.readouterr().out


def test_a_curve_may_be_drawn_from_right_to_left_and_with_gaps(capsys):
    def draw(ax, sizes, batches):
        x = np.insert(np.asarray(batches, dtype=float)[::-1], 3, math.nan)
        for size in sizes:
            ax.plot(x, np.nan_to_num(rate(size, x)), label=str(size))
        ax.legend()
        labeled(ax)

    check("figure", draw, figure_data())
    assert "right" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "size", "named"),
    [
        ("4096", 4096, True),
        ("4,096", 4096, True),
        ("4 096", 4096, True),
        ("4\u202f096", 4096, True),
        ("D=4_096,", 4096, True),
        ("4k", 4096, True),
        ("4Ki", 4096, True),
        ("$4{,}096$", 4096, True),
        ("4096.", 4096, True),
        ("14096", 4096, False),
        ("4096.5", 4096, False),
        ("40960", 4096, False),
        ("1.4k", 4096, False),
        ("4k", 4000, False),
        ("1k", 1000, False),
    ],
)
def test_common_spellings_of_a_matrix_size_are_recognized(text, size, named):
    seen = {"curves": [{"x": [1, 2], "y": [1, 2], "texts": [text]}], "legend": True}
    seen |= {"xlabel": "B", "ylabel": "FLOP/s"}
    _, problem = reading(seen, {"sizes": [size], "batches": [1, 2]})
    assert problem == ("" if named else "figure-curve")


@pytest.mark.parametrize(
    ("label", "factor"),
    [
        ("attainable (FLOP/s)", 1),
        ("TFLOP/s", 1e12),
        ("throughput in TFLOPs per second", 1e12),
        ("PFLOPS", 1e15),
        ("teraFLOP/s", 1e12),
        (r"$10^{12}$ FLOP/s", 1e12),
        ("10¹² FLOP/s", 1e12),
        ("1e12 FLOP/s", 1e12),
        ("TFLOP/s (10^12 FLOP/s)", 1e12),
        ("operations per second", 1),
        (r"$\mathrm{GFLOP/s}$", 1e9),
    ],
)
def test_axis_units_are_parsed(label, factor):
    assert scale(label) == (factor, True)


@pytest.mark.parametrize("label", ["", "throughput", "option", "bytes/s"])
def test_labels_that_name_no_flops_per_second_leave_values_unscaled(label):
    assert scale(label) == (1, False)


@pytest.mark.parametrize(
    ("value", "expected", "equal"),
    [
        (100, 101, True),
        (100, 102, False),
        (102, 100, False),
        (0, 0, True),
        (1e-9, 0, False),
        (math.inf, math.inf, True),
        (math.inf, -math.inf, False),
        ("a", "a", True),
        ("a", "b", False),
        (1, "1", False),
        ("1", 1, False),
        ([1, 2], [1, 2], True),
        ([1, 2], [1, 2, 3], False),
        ([1, 2, 3], [1, 2], False),
        ([1], 1, False),
        (1, [1], False),
        ({"a": 1}, {"a": 1}, True),
        ({"a": 1, "b": 2}, {"a": 1}, False),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({"a": 1}, {"a": 2}, False),
        ([1], {"a": 1}, False),
        ({"a": 1}, [1], False),
    ],
)
def test_values_are_compared_by_shape_and_within_the_tolerance(value, expected, equal):
    assert same(value, expected, 0.01) is equal


SENTENCES = {
    "not-a-function": "no function of this name when",
    "arguments": "names of the arguments",
    "unwritten": "The function is still to be written",
    "raised": "stopped with an error",
    "nothing": "returned nothing",
    "not-a-number": "not return a single number",
    "not-numbers": "not return the numbers in the form",
    "not-names": "not return a list of names",
    "nan": "returned nan",
    "too-large": "too large to be meant",
    "wrong-length": "wrong number of values",
    "wrong-form": "in another form",
    "too-many": "far more values",
    "calls-unwritten": "calls another one",
    "wrong-keys": "one value for each of the names",
    "too-late": "did not come back in time",
    "died": "ended the whole Python process",
    "changing": "two different values",
    "changed-inputs": "changes what it is given",
    "figure-empty": "no curve on the axis",
    "figure-unseen": "can't be seen",
    "figure-alike": "look the same",
    "figure-curve": "Not every size",
    "figure-legend": "no telling which curve is which",
    "figure-legend-empty": "The legend is empty",
    "figure-swapped": "The axes are swapped",
    "figure-range": "not go through all the batches",
    "figure-outside": "limits of an axis cut a curve off",
    "figure-xlabel": "horizontal axis has no label",
    "figure-batch": "does not say that it shows the batch",
    "figure-ylabel": "vertical axis has no label",
    "figure-unit": "not name the unit",
    "figure-rate": "names operations, but not operations per second",
}


def test_each_problem_has_a_distinct_message():
    assert SENTENCES.keys() == PROBLEMS.keys()
    for key, part in SENTENCES.items():
        assert [other for other, sentence in PROBLEMS.items() if part in sentence] == [key]


def test_a_misconception_that_explains_all_values_takes_precedence():
    some = {"key": "some", "says": "Some.", "read": "here", "values": [8, 1003]}
    every = {"key": "all", "says": "All.", "read": "there", "values": [8, 1003]}
    loose, other = some | {"values": [1, 1003]}, every | {"values": [2, 1003]}

    def area(B, D):
        return 8 if B == 2 else B + D

    assert "All." in words(area, DATA | {"misconceptions": [loose, every]})
    assert "Some." in words(area, DATA | {"misconceptions": [some, every]})
    assert "Some." in words(area, DATA | {"misconceptions": [loose, other]})


@pytest.mark.parametrize(
    ("wrong", "agrees"),
    [
        (1003, True),
        ([2, 1003], True),
        ({"rows": 2, "bytes": 1003}, True),
        ({"rows": 2, "share": 0.25}, True),
        (3, False),
        (10, False),
        (11, True),
        (-11, True),
        (math.inf, False),
        ({"rows": 2, "bytes": 3}, False),
        ({"roof": "HBM"}, False),
    ],
)
def test_a_value_that_may_agree_by_chance_shows_no_misconception(wrong, agrees):
    """The other answer is right, so the misconception explains only one of the two."""
    known = MisconceptionValues("slip", "A slip.", "here", ["another value", wrong])
    answers = [Answer("the right value"), Answer(wrong)]
    found = recognize(answers, [True, False], [known], 1e-9)
    assert found == ([known] if agrees else [], False)


def test_a_misconception_may_stop_with_an_error_in_some_cases():
    known = MisconceptionValues("slip", "A slip.", "here", [None, 1003])
    for problem, found in (("raised", ([known], True)), ("nan", ([], False))):
        answers = [Answer(problem=problem), Answer(1003)]
        assert recognize(answers, [False, False], [known], 1e-9) == found


def test_judging_right_answers_gives_no_cause_and_no_sentences():
    verdict = judge([Answer(8)], [8], [], 0, [{"B": 2}])
    assert (verdict.passed, verdict.cause, verdict.sentences) == (True, "", ())


TWINS = [
    {"key": "one", "says": "One.", "read": "here", "values": [6, 1003], "excluded_by": "first"},
    {"key": "two", "says": "Two.", "read": "there", "values": [6, 1003]},
    {"key": "three", "says": "Three.", "read": "here", "values": [1, 2]},
]


def test_all_misconceptions_with_the_same_values_are_named():
    said = words(lambda B, D: B + D, DATA | {"misconceptions": TWINS})
    assert "Either: One. Or: Two. Read: here; there." in said
    assert "Three." not in said


def test_a_correct_earlier_part_rules_out_its_misconception_in_callers():
    names = {}
    exec("def floor(B, D): return B * D\ndef whole(B, D): return floor(B, D) and B + D", names)
    exec("def alone(B, D): return B + D", names)
    data = DATA | {"misconceptions": TWINS}

    def said(function="whole"):
        return words(names[function], data)

    assert "Either: One. Or: Two." in said()
    check("first", names["floor"], DATA | {"function": "floor"})
    assert "Either" not in said()
    assert "Two. Read: there." in said()
    assert "Either: One. Or: Two." in said("alone")
    exec("def floor(B, D): return B + D", names)  # redefine `floor` after its check
    assert "Either: One. Or: Two." in said()


def test_error_messages_are_quoted_only_to_the_learner():
    def area(B, D):
        raise ValueError(f"B is {B}")

    case = {"B": 2, "D": 4}
    answer = ask(area, case, "number")
    for private, said in ((True, "an error: ValueError: B is 2."), (False, "an error.")):
        (sentence,) = judge([answer], [8], [], 0, [case], private=private).sentences
        assert sentence == f"The function stopped with {said}"


def test_figures_are_closed_after_reading():
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    for draw in itertools.repeat(plotted, 3):
        ask(draw, SIZES, "figure")
    assert plt.get_fignums() == before


def test_lines_fit_the_width_of_nbgrader_validate():
    wide = DATA | {"ranges": dict.fromkeys("ABCDEFG", "a whole number from 2 to 9")}
    with pytest.raises(CheckFailed) as failure:
        check("part", None, wide)
    assert max(map(len, str(failure.value).splitlines())) <= 80


def test_errors_name_the_function_and_its_line_in_the_cell():
    # ipykernel compiles each cell under a file name like this one.
    names = {}
    source = "def bytes_moved(B, D, F):\n    return int('no number')\n"
    exec(compile(source, "/tmp/ipykernel_7/1.py", "exec"), names)
    answer = ask(names["bytes_moved"], {"B": 1, "D": 1, "F": 1}, "numbers")
    assert answer.problem == "raised"
    assert answer.detail.endswith(" (line 2 of the cell with bytes_moved)")


@pytest.mark.parametrize("kind", ["[{}]", "{{{}}}", "{{1: {}}}", "sum({})"])
def test_errors_in_comprehensions_name_the_enclosing_function(kind):
    # Python 3.11 runs each comprehension in its own frame; 3.12 inlines most of them.
    names = {}
    body = kind.format("int('no number') for _ in range(B)")
    source = f"def bytes_moved(B, D, F):\n    return {body}\n"
    exec(compile(source, "/tmp/ipykernel_7/2.py", "exec"), names)
    answer = ask(names["bytes_moved"], {"B": 1, "D": 1, "F": 1}, "numbers")
    assert answer.detail.endswith(" (line 2 of the cell with bytes_moved)")
