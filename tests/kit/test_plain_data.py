"""Which values count as numbers, whoever made them, and that no object can break the check."""

import array
import collections
import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from roofkit.check.answers import ask
from roofkit.check.messages import asked_for
from roofkit.check.plain_data import MAX_ENTRIES, describe


class Scalar:
    """An array of no dimension, as other array libraries have it."""

    def __init__(self, value, shape=()):
        self.value, self.shape = value, shape

    def item(self):
        return self.value

    def __float__(self):
        return float(self.value)


class Symbol:
    """A number of an algebra system: it has `__float__` and no `item`."""

    def __init__(self, value):
        self.value = value

    def __float__(self):
        return float(self.value)


class Index:
    def __index__(self):
        return 8


class Vector(Scalar):
    def __init__(self, *values):
        super().__init__(values, (len(values),))

    def tolist(self):
        return list(self.value)


class Column(Vector):
    """A column of a table with a name for each row."""

    def __init__(self, **values):
        super().__init__(*values.values())
        self.named = values

    def keys(self):
        return self.named.keys()

    def to_dict(self):
        return self.named


def answer(value, kind="number"):
    return ask(lambda: value, {}, kind)


@pytest.mark.parametrize(
    "value",
    [
        8,
        8.0,
        Fraction(8),
        Decimal(8),
        np.int8(8),
        np.float16(8),
        np.longdouble(8),
        np.array(8),
        Scalar(8),
        Scalar(np.float32(8)),
        Scalar(Fraction(8)),
        Symbol(8),
        Symbol(Fraction(8)),
        Index(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_real_number_of_any_library_counts(value):
    assert answer(value).value == 8
    assert answer((value, 2), "numbers").value == [8, 2]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (True, "True or False"),
        (np.True_, "True or False"),
        (np.array(True), "True or False"),
        (Scalar(True), "True or False"),
        (8j, "a complex number"),
        (np.complex64(8), "a complex number"),
        (Scalar(8j), "a complex number"),
        ("8", "a text"),
        (np.str_("8"), "a text"),
        (Scalar("8"), "a text"),
        (b"8", "a text"),
        ([8], "a list"),
        ((8,), "a tuple with one entry, as a comma behind a value makes it"),
        ((8, 9), "a tuple"),
        (np.array([8]), "an array of shape (1,)"),
        (Scalar(8, (1,)), "an array of shape (1,)"),
        (Symbol("x"), "an object of type Symbol"),
        (None.__class__, "a function"),
        (np.datetime64("2020-01-01"), "an object of type date"),
    ],
)
def test_what_is_no_single_real_number_does_not(value, words):
    assert (answer(value).problem, answer(value).detail) == ("not-a-number", words)


@pytest.mark.parametrize(
    "value",
    [
        (8, 2),
        [8, 2],
        np.array([8, 2]),
        array.array("d", [8, 2]),
        collections.deque([8, 2]),
        {"a": 8, "b": 2}.values(),
        Vector(8, 2),
        Vector(Scalar(8), Symbol(2)),
        collections.namedtuple("Pair", "loaded written")(8, 2),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_row_of_numbers_counts_in_any_container(value):
    assert answer(value, "numbers").value == [8, 2]


def test_a_column_whose_rows_are_numbered_is_a_row_of_numbers():
    column = Column(first=8, second=2)
    column.named = {0: 8, 1: 2}
    assert answer(column, "numbers").value == [8, 2]


@pytest.mark.parametrize(
    "value", [{"a": 8, "b": 2}, collections.OrderedDict(b=2, a=8), Column(a=8, b=2)]
)
def test_numbers_by_name_count(value):
    assert answer(value, "numbers").value == {"a": 8, "b": 2}


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (("8", "2"), "a tuple in which there is a text"),
        ([8, True], "a list in which there is True or False"),
        ({"a": "8"}, "a dictionary in which there is a text"),
        ([(8, 2)], "a list in which there is a tuple"),
        (zip([8], [2], strict=True), "a zip object, which hands out its values one by one"),
        ("82", "a text"),
        (b"82", "a text"),
        (np.zeros((1, 2)), "an array of shape (1, 2)"),
        ({8, 2}, "a set"),
    ],
)
def test_a_row_in_which_something_else_stands_is_not_called_a_single_number(value, words):
    assert (answer(value, "numbers").problem, answer(value, "numbers").detail) == (
        "not-numbers",
        words,
    )


@pytest.mark.parametrize("kind", ["number", "numbers"])
def test_nan_and_numbers_without_measure_are_named_in_a_row_too(kind):
    wrap = (lambda value: value) if kind == "number" else (lambda value: (1, value))
    assert answer(wrap(math.nan), kind).problem == "nan"
    assert answer(wrap(Symbol("nan")), kind).problem == "nan"
    assert answer(wrap(10**5000), kind).problem == "too-large"
    assert answer(wrap(math.inf), kind).problem == ""


@pytest.mark.parametrize(
    "value",
    [["a", "b"], {"b", "a"}, {"a": None, "b": None}, {"a": 1.5, "b": 2}, np.array(["b", "a"])],
)
def test_names_count_in_any_container(value):
    assert answer(value, "names").value == ["a", "b"]


@pytest.mark.parametrize("value", [{"a": True, "b": False}, {"a": np.True_}])
def test_a_dictionary_of_true_and_false_does_not_name_all_its_keys(value):
    said = answer(value, "names")
    assert said.problem == "not-names"
    assert said.detail == "a dictionary that says True or False for each name"


class Hostile:
    """Fails at whatever it is asked for."""

    def __getattr__(self, name):
        raise RuntimeError(name)

    def __float__(self):
        raise RuntimeError("float")

    def __iter__(self):
        raise RuntimeError("iter")

    @property
    def __class__(self):
        raise RuntimeError("class")


class Everything:
    """Answers to every name."""

    def __getattr__(self, name):
        return self

    def __call__(self, *arguments):
        return self


class LyingList(list):
    def __iter__(self):
        return itertools.count()


class Sad(Exception):
    def __str__(self):
        raise RuntimeError("str")


@pytest.mark.parametrize("kind", ["number", "numbers", "names"])
@pytest.mark.parametrize("make", [Hostile, Everything])
def test_an_object_that_fails_is_no_error_of_the_function(make, kind):
    value = make()
    wanted = {"number": "not-a-number", "numbers": "not-numbers", "names": "not-names"}[kind]
    assert answer(value, kind).problem == wanted
    assert answer([value], kind).problem == wanted


def test_hostile_objects_can_still_be_described():
    assert describe(Hostile()) == "an object that can't be looked at"
    assert describe(Everything()).startswith("a")


@pytest.mark.parametrize("value", [LyingList([1]), range(MAX_ENTRIES + 1), [0] * (MAX_ENTRIES + 1)])
def test_a_row_without_end_comes_to_one(value):
    assert answer(value, "numbers").problem == "too-many"


def test_an_error_that_can_not_be_printed_is_named_and_a_long_one_is_cut():
    def sad():
        raise Sad

    def long():
        raise ValueError("word " * 10_000)

    assert ask(sad, {}, "number").detail == "Sad"
    assert len(ask(long, {}, "number").detail) < 400


FORMS = {
    "tuple": (8, 2),
    "list": [8, 2],
    "array": np.array([8, 2]),
    "dictionary": {"a": 8, "b": 2},
}


@pytest.mark.parametrize("expected", [[8, 2], {"a": 8, "b": 2}], ids=["pair", "dictionary"])
def test_each_form_that_a_message_asks_for_is_taken_and_no_other(expected):
    for form, value in FORMS.items():
        assert (form in asked_for(expected)) == (answer(value, "numbers").value == expected)
