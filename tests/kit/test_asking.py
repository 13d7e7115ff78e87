"""Calls of learners' functions: repeated calls, time limits, and parameter lists."""

import functools
import inspect
import itertools
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofkit.check.answers import TooLate, ask_all

CASES = [{"B": 2, "sides": [1, 2]}, {"B": 3, "sides": [1, 2, 3]}]


def problems(function, cases=CASES, **options):
    return [answer.problem for answer in ask_all(function, cases, "number", **options)]


def test_each_case_is_called_once_and_then_the_first_case_again():
    asked = []

    def area(B, sides):
        asked.append((B, list(sides)))
        return B

    answers = list(ask_all(area, CASES, "number"))
    assert [answer.value for answer in answers[:2]] == [2, 3]
    assert [answer.problem for answer in answers] == ["", "", ""]
    assert asked == [(2, [1, 2]), (3, [1, 2, 3]), (2, [1, 2])]
    assert list(ask_all(area, [], "number")) == []


def test_changed_arguments_are_detected_by_repeating_the_first_call():
    def last(B, sides):
        return sides.pop()

    assert problems(last) == ["", "", "changed-inputs"]
    assert CASES[0]["sides"] == [1, 2]

    def fails_again(B, sides):
        del sides[0], sides[0]
        return B

    assert problems(fails_again) == ["", "", "changed-inputs"]

    def harmless(B, sides):
        sides.append(7)
        return B

    assert problems(harmless) == ["", "", ""]


def test_state_kept_between_calls_is_not_reported_as_changed_inputs():
    """The third call gives another answer, the fourth by chance the first one again."""
    known = [2]

    def before(B, sides):
        known.append(B)
        return known[-2]

    assert problems(before) == ["", "", "changing"]


def test_reordering_a_dictionary_counts_as_changing_the_inputs():
    def first(sides):
        found = next(iter(sides))
        sides[found] = sides.pop(found)
        return sides[found]

    *_, again = ask_all(first, [{"sides": {"a": 1, "b": 2}}], "number")
    assert again.problem == "changed-inputs"


def test_state_kept_between_calls_is_detected_by_repeating_the_first_call():
    calls = []

    def count(B, sides):
        calls.append(B)
        return len(calls)

    assert problems(count) == ["", "", "changing"]

    def differs_once(B, sides):
        calls.append(B)
        return B + (len(calls) == len(CASES) + 1)

    calls.clear()
    assert problems(differs_once) == ["", "", "changing"]

    def once(B, sides):
        if calls:
            raise ValueError("done")
        return calls.append(B) or B

    calls.clear()
    assert problems(once, CASES[:1]) == ["", "changing"]


def test_a_function_without_a_signature_gets_keyword_arguments():
    with pytest.raises(ValueError, match="no signature"):
        inspect.signature(dict)
    answer, *_ = ask_all(dict, [{"B": 2, "D": 3}], "numbers")
    assert (answer.value, answer.problem) == ({"B": 2, "D": 3}, "")


@pytest.mark.parametrize(("change", "said"), [(0, ""), (9e-13, ""), (1.5e-12, "changing")])
def test_a_repeated_call_may_round_differently(change, said):
    answers = itertools.chain([1.0, 7.0], itertools.repeat(1 + change))
    assert problems(lambda B, sides: next(answers)) == ["", "", said]


def test_the_first_call_is_not_repeated_if_it_fails():
    calls = []

    def area(B, sides):
        calls.append(B)
        raise NotImplementedError

    assert problems(area) == ["unwritten", "unwritten", ""]
    assert calls == [2, 3]


@pytest.mark.parametrize(
    ("late_at", "wanted", "calls"),
    [
        (1, ["too-late", "too-late", ""], 1),
        (2, ["", "too-late", ""], 2),
        (3, ["", "", "too-late"], 3),
        (4, ["", "", "too-late"], 4),
    ],
)
def test_each_call_has_its_own_time_limit_and_a_timeout_stops_further_calls(late_at, wanted, calls):
    limits = []

    @contextmanager
    def limit():
        limits.append(len(limits) + 1)
        if limits[-1] == late_at:
            raise TooLate
        yield

    values = iter([5, 6, 7, 8])
    assert problems(lambda B, sides: next(values), limit=limit) == wanted
    assert len(limits) == calls


# --- parameter lists ---------------------------------------------------------------------------

# B - D * F at B = 2, D = 2, F = 3. Swapping B and F would give another result.
WANTED = 2.0 - 2 * 3
ASKED = [{"B": 2.0, "D": 2, "F": 3}]


def function_with(parameters: str, result: str = "B - D * F"):
    """Return a function with this parameter list."""
    names: dict[str, object] = {"Callable": object}
    exec(f"def function({parameters}):\n    return {result}", names)
    return names["function"]


CALLABLE = [
    *("B, D, F", "B, D, F, /", "B, /, D, F", "B, D, /, *, F", "*, B, D, F", "B, *, D, F"),
    *("F, D, B", "F, D, B, /", "D, /, F, B", "D, B, /, *, F"),
    *("B: float, D: int, F: 'int' = 9", "B: 'no such type', /, D=1, *, F=1", "B=0, D=0, F=0, /"),
    *("B, D, F, *rest", "B, D, F, **rest", "B, D, F, /, *rest, **more", "B, D, F, scale=1"),
    *("B, scale=1, D=0, F=0, /", "B, D=0, scale=1, F=0, /", "scale=1, /, *, B, D, F"),
    "B, D, /, *rest, F, scale=1",
]


@pytest.mark.parametrize("parameters", CALLABLE)
def test_any_parameter_list_with_the_requested_names_is_accepted(parameters: str) -> None:
    """Arguments for positional-only parameters are matched by name, too, not by order."""
    answers = list(ask_all(function_with(parameters), ASKED, "number"))
    assert [(a.problem, a.detail) for a in answers] == [("", ""), ("", "")]
    assert answers[0].value == WANTED


@pytest.mark.parametrize("parameters", ["B, /, **rest", "**rest", "B, *, D, **rest"])
def test_parameters_may_be_collected_by_a_double_star_parameter(parameters: str) -> None:
    given = {"B": "B", "D": "D", "F": "F"} | {
        n: f"rest['{n}']" for n in "BDF" if n not in parameters
    }
    function = function_with(parameters, f"{given['B']} - {given['D']} * {given['F']}")
    assert [a.value for a in ask_all(function, ASKED, "number")] == [WANTED, None]


def test_positional_only_parameters_may_be_combined_with_keyword_arguments() -> None:
    function = function_with("B, /, D, F, **rest", "B - D * F + len(rest)")
    assert next(ask_all(function, ASKED, "number")).value == WANTED


def test_lambdas_partials_methods_and_wrapped_functions_can_be_called() -> None:
    class Layer:
        def __call__(self, B, D, F, /):
            return B - D * F

        def method(self, B, /, D, *, F):
            return B - D * F

        @staticmethod
        def static(B, D, F, /):
            return B - D * F

    @functools.wraps(function_with("B, D, F, /"))
    def wrapped(*args, **named):
        return function_with("B, D, F, /")(*args, **named)

    functions = [
        lambda B, D, F, /: B - D * F,
        lambda B, /, D, *, F=1: B - D * F,
        functools.partial(lambda scale, B, D, F, /: scale * (B - D * F), 1),
        functools.partial(lambda B, D, F, *, scale: scale * (B - D * F), scale=1),
        functools.lru_cache(function_with("B, D, F, /")),
        Layer(),
        Layer().method,
        Layer.static,
        wrapped,
    ]
    for function in functions:
        assert next(ask_all(function, ASKED, "number")).value == WANTED


@pytest.mark.parametrize(
    ("parameters", "takes"),
    [
        ("", "none"),
        ("B, D", "B, D"),
        ("B, D, /", "B, D, /"),
        ("x, y, z, /", "x, y, z, /"),
        ("B, D, F, scale", "B, D, F, scale"),
        ("B, D, F, scale, /", "B, D, F, scale, /"),
        ("B, D, F, *, scale", "B, D, F, *, scale"),
        ("B, D, scale, F, /", "B, D, scale, F, /"),
        ("*B", "*B"),
        ("*args", "*args"),
        ("B, D, *F", "B, D, *F"),
        ("B: int, D: int = 2, *, f", "B, D, *, f"),
        ("B, D, /, f, *rest, g, **more", "B, D, /, f, *rest, g, **more"),
    ],
)
def test_a_mismatched_parameter_list_is_quoted_as_written(parameters: str, takes: str) -> None:
    answer = next(ask_all(function_with(parameters, "1"), ASKED, "number"))
    assert answer.problem == "arguments"
    assert answer.detail == f"B, D, F (yours takes {takes})"


@given(st.data())
def test_matching_parameter_lists_are_accepted_and_all_others_quoted(data: st.DataObject) -> None:
    """Draw random parameter lists of all kinds that Python allows."""
    names = data.draw(st.permutations(["B", "D", "F", "scale", "more"]))
    count = data.draw(st.integers(0, 5))
    ends = sorted(data.draw(st.lists(st.integers(0, count), min_size=2, max_size=2)))
    defaults = data.draw(st.lists(st.booleans(), min_size=5, max_size=5))
    kinds = (
        [inspect.Parameter.POSITIONAL_ONLY] * ends[0]
        + [inspect.Parameter.POSITIONAL_OR_KEYWORD] * (ends[1] - ends[0])
        + [inspect.Parameter.KEYWORD_ONLY] * (count - ends[1])
    )
    parameters, optional = [], False
    for name, kind, default in zip(names, kinds, defaults, strict=False):
        optional = default or (optional and kind != inspect.Parameter.KEYWORD_ONLY)
        empty = inspect.Parameter.empty
        parameters.append(inspect.Parameter(name, kind, default=1 if optional else empty))
    listed = str(inspect.Signature(parameters))[1:-1]
    required = {p.name for p in parameters if p.default is inspect.Parameter.empty}
    given = {p.name for p in parameters}
    answer = next(ask_all(function_with(listed, f"[{', '.join(sorted(given))}]"), ASKED, "numbers"))
    if given.issuperset("BDF") and required.issubset("BDF"):
        case = ASKED[0]
        assert answer.value == [case.get(name, 1) for name in sorted(given)]
    else:
        takes = listed.replace("=1", "") or "none"
        assert (answer.problem, answer.detail) == ("arguments", f"B, D, F (yours takes {takes})")
        assert takes != "B, D, F"


@pytest.mark.parametrize(
    "parameters",
    [
        *("ax, sizes, batches", "ax, /, sizes, batches", "ax, sizes, batches, /"),
        *("axis, sizes, *, batches", "ax, batches, sizes, /", "*, ax, sizes, batches"),
        *("sizes, batches, *, ax", "sizes, batches, /, ax"),
    ],
)
def test_drawing_functions_may_take_the_axes_in_any_position(parameters: str) -> None:
    axis = "axis" if "axis" in parameters else "ax"
    draw = function_with(parameters, f"{axis}.plot(batches, [sizes[0] * B for B in batches])")
    (answer, _) = ask_all(draw, [{"sizes": [8], "batches": [1, 2]}], "figure")
    assert answer.problem == ""
    assert answer.value["curves"][0]["y"] == [8, 16]


@pytest.mark.parametrize("parameters", ["sizes, batches", "*, axis, sizes, batches", "*ax"])
def test_a_missing_axes_parameter_is_reported(parameters: str) -> None:
    answer = next(
        ask_all(function_with(parameters, "1"), [{"sizes": [8], "batches": [1]}], "figure")
    )
    assert answer.problem == "arguments"
    assert answer.detail == f"ax, sizes, batches (yours takes {parameters})"
