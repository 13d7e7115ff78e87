"""A learner's answer gets the same verdict in the notebook and in every class.

The answers are in tables beside this file, one for each exercise; see tests/support/submissions.py.
"""

import math
import re
from collections import Counter, UserDict, deque
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from learner import PASSED, Result, about, answered, book, by_heart, graded, parts, results
from submissions import Submission, submissions

from grading.release import exercises
from roofkit.check import headline
from roofkit.check.answers import Answer, ask
from roofkit.check.compare import MisconceptionValues, judge
from roofkit.check.messages import PROBLEMS

NAMES = [name for name in exercises.names() if submissions(name)]
CLASSES = 1
MANY = 20
PHASES = ("prefill", "decode")  # of a model, each with a section of its own
# What tells the hints for mistakes that have no name apart, a word or two of each.
HINTS = {
    "prefix": "a prefix such as",
    "power of two": "power of two",
    "width": "another width",
    "bits": "bits for bytes, or",
    "factor two": "multiply-add counted as one",
    "close": "come close",
    "overflow": "overflowed",
    "infinite": "infinite value is returned",
    "only infinite": "wherever the answer is finite",
    "rounded": "look rounded",
    "whole": "Whole numbers are returned",
    "constant": "the same number in all",
    "zero": "gives 0",
    "repeated": "one number where the right ones differ",
    "negative": "negative number",
    "percentage": "a percentage",
    "offset": "the same amount",
    "upside down": "pside down",
    "missing and extra": "Some names are missing, and some",
    "missing": "Some names are missing.",
    "extra": "Some are named that",
    "unknown": "Not among the names",
}

each_exercise = pytest.mark.parametrize("name", NAMES)


@cache
def found(name: str) -> list[tuple[Submission, Result]]:
    """Return all answers to an exercise, with their results."""
    answers = submissions(name)
    return list(zip(answers, results(name, list(map(book, answers)), CLASSES), strict=True))


@each_exercise
def test_every_right_answer_passes_the_check_and_every_class(name: str) -> None:
    failed = []
    for one, (said, judged) in found(name):
        for key in about(one) - one.told.keys():
            if PASSED not in said[key]:
                failed.append(f"{one.name}, {key}: {said[key]}")
            elif not all(judged[key]):
                failed.append(f"{one.name}, {key}: passes the check, but not every class")
    assert failed == []


@each_exercise
def test_every_wrong_idea_is_named_and_no_other(name: str) -> None:
    wrong = []
    for one, (said, _) in found(name):
        for key, told in one.told.items():
            if what := misnamed(name, key, told, said[key]):
                wrong.append(f"{one.name}, {key}: {what}: {said[key][:400]}")
    assert wrong == []


def misnamed(name: str, key: str, told: str, said: str) -> str:
    """Return what is wrong with a message, or ""."""
    if PASSED in said:
        return "passed"
    mistakes = {known.key: known.says for known in parts(name)[key].misconceptions}
    named = [mistake for mistake, says in mistakes.items() if says in said]
    if told in mistakes:
        (read,) = (one.read for one in parts(name)[key].misconceptions if one.key == told)
        if told not in named:
            return f"{told} is not named"
        return "" if "Read: " in said and read in said else "what to read is not named"
    if named:
        return f"{', '.join(named)} named"
    if told in PROBLEMS:
        return "" if PROBLEMS[told].rstrip(".") in said else f"{told} is not named"
    hints = [hint for hint, words in HINTS.items() if words in said]
    if told.startswith("hint: "):
        return "" if told.removeprefix("hint: ") in hints else f"hints {hints}"
    return "" if told == "not known" else f"{told} is no mistake of this part"


@each_exercise
def test_answers_learned_by_heart_pass_the_check_but_no_class(name: str) -> None:
    keys = [key for key, part in parts(name).items() if part.kind != "figure"]
    for key, (said, judged) in zip(
        keys, results(name, [by_heart(name, key) for key in keys], CLASSES), strict=True
    ):
        assert PASSED in said[key], (key, said[key])
        assert not any(judged[key]), key


@pytest.mark.parametrize("name", NAMES)
def test_what_is_said_of_a_mistake_is_about_what_its_name_is(name: str) -> None:
    """Of two similar lines, such as those of input and output, each is at its own mistake."""
    for part in parts(name).values():
        for known in part.misconceptions:
            for thing in ("input", "output", "scores", "experts"):
                if thing in known.key.split("-"):
                    assert thing.rstrip("s") in known.says.lower(), known.key
            # A part about one phase sends nobody to the section on the other.
            asked = {phase for phase in PHASES if phase in part.title}
            read = {phase for phase in PHASES if phase in known.read.lower()}
            assert not asked or not read or asked & read, known.key


@pytest.mark.long
@each_exercise
def test_an_answer_that_passes_the_check_passes_in_many_classes(name: str) -> None:
    rows = submissions(name)
    for one, (said, judged) in zip(rows, results(name, list(map(book, rows)), MANY), strict=True):
        for key in about(one):
            if PASSED in said[key]:
                assert all(judged[key]), (one.name, key)


@pytest.mark.long
@each_exercise
def test_grading_gives_the_points_and_names_the_mistakes_that_the_check_named(
    name: str, release: Path, tmp_path: Path
) -> None:
    """The class has hidden cases of its own, which nobody has seen before.

    In the class of tests/instructor, somebody has a known mistake in each exercise.
    """
    rows = submissions(name)
    handed_in = {}
    for one in rows:
        handed_in[one.name] = tmp_path / f"{one.name}.ipynb"
        nbformat.write(answered(one), handed_in[one.name])
    grades, wrong = graded(release, tmp_path / "class", name, handed_in), []
    for one, (said, _) in found(name):
        for key in about(one):
            part, (points, cause) = parts(name)[key], grades[one.name][key]
            # Of mistakes that give the same values, the check names all, grading the first.
            also = [known.key for known in part.misconceptions if known.says in said[key]]
            if points != (0 if key in one.told else part.points):
                wrong.append(f"{one.name}, {key}: {points} points")
            elif (named := one.expected.get(key)) and named not in cause and cause not in also:
                wrong.append(f"{one.name}, {key}: {cause!r} instead of {named}")
            elif one.told.get(key, "").startswith("hint: ") and cause != "other":
                wrong.append(f"{one.name}, {key}: {cause!r}, which the check does not say")
    assert wrong == []


# By what a number is off → words of the only slips that are named for it.
FACTORS = {
    2: "multiply-add counted as one",
    4: "elements of another width; bits",
    8: "bits for bytes, or",
    64: "the wrong way round",
    100: "a percentage",
    1000: "taken for another.",
    1000**4: "taken for another.",
    1024**3: "powers of two besides",
    1.024: "as a power of two, or",
    1.024**4: "as a power of two, or",
    4000: "another, together with a second",
    10: "a power of ten in",
    7: "constant that is missing",
}
RIGHT = {"times": [3.7e-3, 9.25e-3, 0.713], "counts": [5_137_000, 8_221_333, 77_000_001]}
# What is done with each right number → a hint of HINTS.
SLIPS: dict[str, tuple[Callable[[float], float], str]] = {
    "a ratio": (lambda right: 1 / right, "upside down"),
    "a ratio, and a factor": (lambda right: 3 / right, "upside down"),
    "the same too much": (lambda right: right + 2_048, "offset"),
    "the same too little": (lambda right: right - (2_048 if right > 1 else 1e-3), "offset"),
    "a little more": (lambda right: right * (1.02 + right % 3 / 1e3), "close"),
    "a little less": (lambda right: right / (1.02 + right % 3 / 1e3), "close"),
    "nothing": (lambda right: 0, "zero"),
    "less than nothing": (lambda right: -right * (1 + right % 3), "negative"),
    "one for all": (lambda right: 1234.5, "constant"),
    "two digits": (lambda right: float(f"{right:.1e}"), "rounded"),
    "infinite": (lambda right: float("inf"), "infinite"),
}


def hinted(change: Callable[[float], float], right: list[float]) -> str:
    cases = [{"B": number} for number in range(len(right))]
    answers = [Answer(change(number)) for number in right]
    return " ".join(judge(answers, right, [], 1e-5, cases, private=True).sentences)


@pytest.mark.parametrize("right", RIGHT.values(), ids=RIGHT)
def test_a_slip_without_a_name_is_hinted_at_by_its_own_hint(right: list[float]) -> None:
    for factor, words in FACTORS.items():
        for change in (lambda one, by=factor: one * by, lambda one, by=factor: one / by):
            said = hinted(change, right)
            assert [one for one in dict.fromkeys(FACTORS.values()) if one in said] == [words], said
    for what, (change, hint) in SLIPS.items():
        said = hinted(change, right)
        assert [one for one, words in HINTS.items() if words in said] == [hint], (what, said)
        assert "For B = " in said


CASES: list[dict[str, Any]] = [{"B": 3, "D": ["a"]}, {"B": 4, "D": ["a"]}]


class Quantity:
    """A number with a unit, as packages for units have it."""

    def __float__(self) -> float:
        return 1.5


class Pair(tuple[float, float]):
    """A learner's own kind of pair."""


PAIR, AB = [3.7, 92.5], ["a", "b"]
TABLE = np.array([("a", 1), ("b", 2), ("c", 3)], dtype=[("name", "U9"), ("peak", float)])
# What is asked for, what is right, and what functions may return for it.
FORMS: list[tuple[str, Any, list[Any]]] = [
    ("number", 1.5, [Fraction(3, 2), Decimal("1.5"), np.float32(1.5), np.array(1.5), Quantity()]),
    ("number", 3, [3.0, np.int32(3), np.longdouble(3), 3.00001]),
    ("number", math.inf, [Decimal("Infinity"), np.float32("inf")]),
    ("numbers", PAIR, [[*PAIR], Pair(PAIR), deque(PAIR), np.array(PAIR, dtype="float32")]),
    ("numbers", PAIR, [dict(enumerate(PAIR)).values(), [Decimal("3.7"), Fraction(185, 2)]]),
    ("numbers", {"a": 3.7}, [UserDict(a=3.7), {np.str_("a"): np.array(3.7)}]),
    ("names", AB, [("b", "a"), {"b", "a"}, frozenset("ab"), deque("abab"), Counter("ba")]),
    ("names", AB, [dict.fromkeys("ba").keys(), TABLE["name"][TABLE["peak"] < 3]]),
]


@pytest.mark.parametrize(("kind", "right", "values"), FORMS)
def test_a_right_answer_is_right_in_any_form(kind: str, right: Any, values: list[Any]) -> None:
    for value in values:
        found = [ask(lambda B, D, one=value: one, case, kind) for case in CASES]
        assert judge(found, [right] * 2, [], 1e-5, CASES, private=True).passed, value


class Layer:
    def __call__(self, B: int, D: Any) -> float:
        return 1.5 * B


FUNCTIONS: list[Callable[..., float]] = [
    Layer(),
    partial(lambda more, B, D: more * B, 1.5),
    lambda **sizes: 1.5 * sizes["B"],
    lambda *, D, B, more=1.5: more * B,
    lambda B, /, D: 1.5 * B,
    lambda *sizes, **others: 1.5 * others["B"],
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_any_function_that_takes_the_names_of_the_question_is_asked(
    function: Callable[..., float],
) -> None:
    assert [ask(function, case, "number").value for case in CASES] == [4.5, 6.0]


LATE = MisconceptionValues("late", "It comes late.", "here", [9.5, 4.75])
TWO, THREE, NAMED = [3.7, 92.5], [3.7, 92.5, 7_130.0], {"loaded": 8.5, "kept": 3.25}
# What a learner's function does → what is expected, and what is said, in this order.
SAID: dict[str, tuple[Any, Any, str]] = {
    "a mistake": (lambda B, D: 9.5 / (B - 2), 1.5, r"\(0 of 2 [^)]*\)\. It comes late"),
    "in part": (
        lambda B, D: 9.5 if B == 3 else 1.5,
        1.5,
        r"\(1 of 2 .*: It comes late.*For B = 3, .*9\.5,",
    ),
    "other arguments": (lambda B, depth: 1, 1.5, ": B, D .*B, depth"),
    "other keys": (lambda B, D: {"loaded": 8, "lost": 1}, NAMED, ": kept; .*: lost"),
    "many names": (lambda B, D: [*"vwxyz"], ["a"], ": v, w, x and 2 "),
    "the first": (lambda B, D: (7.77, 92.5), TWO, r"\(the first\)"),
    "the second": (lambda B, D: (3.7, 7.77), TWO, r"\(the second\)"),
    "both": (lambda B, D: (7.77, 7.77), TWO, r"\(neither of the two\)"),
    "two of three": (lambda B, D: (7.77, 92.5, 7.77), THREE, r"\(number 1, 3\)"),
    "no arguments": (lambda: 1.5, 1.5, "B, D .*none"),
    "one of a name": (lambda B, D: NAMED | {"kept": 9}, NAMED, "returned 9 for kept, .*not it\\."),
    "two of a name": (lambda B, D: {"loaded": 7, "kept": 9}, NAMED, "7 for loaded, .*and 1 more"),
    "one case": (lambda B, D: 1.5 if B == 3 else None, 1.5, r"For B = 4, .*None"),
    "another error": (lambda B, D: 1.5 / (4 - B), 1.5, r"For B = 4, .*ZeroDivisionError: "),
    "one for two": (lambda B, D: 3.7, TWO, "but a number.*a pair"),
    "two for three": (lambda B, D: TWO, THREE, r"2\b.* 3 numbers"),
    "a list for names": (lambda B, D: [1, 2], NAMED, "a dictionary"),
    "a text": (lambda B, D: "1.5", 1.5, "single number, but a text"),
    "no names": (lambda B, D: [], ["a"], "B = 3, .*returned no names"),
    "none for names": (lambda B, D: None, ["a"], "an empty list"),
    "none, infinite": (lambda B, D: None, math.inf, "None.*not finite"),
    "too large": (lambda B, D: 10**400, 1.5, "too large"),
    "no function": (1.5, 1.5, "no function of the name.*a number"),
    "not a number": (lambda B, D: math.nan, 1.5, "nan, which is not a number"),
    "a pair for a number": (lambda B, D: (1.5, 1.5), 1.5, "single number, but a tuple"),
    "too many": (lambda B, D: [1.5] * 10**6, TWO, "far more"),
}


@pytest.mark.parametrize(("function", "right", "words"), SAID.values(), ids=SAID)
def test_what_is_said_of_an_answer_has_its_own_numbers_and_names(
    function: Any, right: Any, words: str
) -> None:
    kind = "number" if right == 1.5 else "names" if right == ["a"] else "numbers"
    answers = [ask(function, case, kind) for case in CASES]
    known = [LATE] if kind == "number" else []
    found = judge(answers, [right] * 2, known, 1e-5, CASES, private=True)
    assert re.search(words, " ".join([headline("part", found), *found.sentences]))


def test_a_mistake_that_gives_the_whole_answer_is_named_before_one_that_gives_a_part() -> None:
    in_part = MisconceptionValues("in-part", "In part.", "here", [[7.7, 9], [5.5, 9]])
    whole = MisconceptionValues("whole", "Whole.", "here", [[7.7, 92.5], [5.5, 92.5]])
    answers = [Answer([7.7, 92.5]), Answer([3.7, 92.5])]
    found = judge(answers, [[3.7, 92.5]] * 2, [in_part, whole], 1e-5, CASES, private=True)
    assert found.cause == "whole"
    assert not any("In part." in one for one in found.sentences)


def test_a_returned_number_is_quoted_with_its_value() -> None:
    for value in (-2.5, 1e-5, 0.0123, 1234.5, 98_765.4321, 12_345_678, 1.97e14, 10**15):
        quoted = re.search(r"you returned (\S+), which", hinted(lambda _, one=value: one, [7, 9]))
        assert quoted
        assert float(quoted[1].replace(",", "")) == pytest.approx(value)
