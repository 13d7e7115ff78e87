"""Conversion to plain data: it accepts numbers of all libraries."""

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
    """A zero-dimensional array, as in other array libraries."""

    def __init__(self, value, shape=()):
        self.value, self.shape = value, shape

    def item(self):
        return self.value

    def __float__(self):
        return float(self.value)


class Symbol:
    """A number of a computer algebra system: it has `__float__` but no `item`."""

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
    """A table column with a name for each row, like a pandas Series."""

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
        Scalar(8, None),
        Scalar(np.float32(8)),
        Scalar(Fraction(8)),
        Symbol(8),
        Symbol(Fraction(8)),
        Index(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_real_numbers_of_any_library_are_accepted(value):
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
def test_values_other_than_a_single_real_number_are_refused(value, words):
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
def test_several_numbers_are_accepted_in_any_ordered_container(value):
    assert answer(value, "numbers").value == [8, 2]


def test_a_table_column_with_numbered_rows_becomes_a_list():
    column = Column(first=8, second=2)
    for names in ({0: 8, 1: 2}, {0: 8, "second": 2}):
        column.named = names
        assert answer(column, "numbers").value == [8, 2]


@pytest.mark.parametrize(
    "value", [{"a": 8, "b": 2}, collections.OrderedDict(b=2, a=8), Column(a=8, b=2)]
)
def test_mappings_from_name_to_number_are_accepted(value):
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
def test_invalid_containers_and_entries_are_described(value, words):
    assert (answer(value, "numbers").problem, answer(value, "numbers").detail) == (
        "not-numbers",
        words,
    )


@pytest.mark.parametrize("kind", ["number", "numbers"])
def test_nan_and_too_large_numbers_are_refused_alone_and_in_containers(kind):
    wrap = (lambda value: value) if kind == "number" else (lambda value: (1, value))
    assert answer(wrap(math.nan), kind).problem == "nan"
    assert answer(wrap(Symbol("nan")), kind).problem == "nan"
    assert answer(wrap(10**5000), kind).problem == "too-large"
    assert answer(wrap(math.inf), kind).problem == ""


@pytest.mark.parametrize(
    "value",
    [["a", "b"], {"b", "a"}, {"a": None, "b": None}, {"a": 1.5, "b": 2}, np.array(["b", "a"])],
)
def test_names_are_accepted_in_any_container(value):
    assert answer(value, "names").value == ["a", "b"]


@pytest.mark.parametrize("value", [{"a": True, "b": False}, {"a": np.True_}])
def test_a_dictionary_of_booleans_is_not_accepted_as_names(value):
    said = answer(value, "names")
    assert said.problem == "not-names"
    assert said.detail == "a dictionary that says True or False for each name"


class Hostile:
    """An object that raises an error at every access."""

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
    """An object that has every attribute and can be called."""

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
def test_hostile_objects_are_refused_as_the_wrong_type(make, kind):
    value = make()
    wanted = {"number": "not-a-number", "numbers": "not-numbers", "names": "not-names"}[kind]
    assert answer(value, kind).problem == wanted
    assert answer([value], kind).problem == wanted


def test_hostile_objects_can_still_be_described():
    assert describe(Hostile()) == "an object that can't be looked at"
    assert describe(Everything()).startswith("a")


def test_a_coroutine_is_described_as_the_result_of_an_async_function():
    async def area():
        return 8

    value = area()
    assert describe(value) == "what an `async def` returns: write `def`"
    value.close()


@pytest.mark.parametrize("value", [LyingList([1]), range(MAX_ENTRIES + 1), [0] * (MAX_ENTRIES + 1)])
def test_endless_and_huge_containers_are_refused(value):
    assert answer(value, "numbers").problem == "too-many"


def test_unprintable_errors_are_named_and_long_messages_truncated():
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


def test_the_message_says_how_many_numbers_to_return():
    assert "a pair of numbers" in asked_for([8, 2])
    assert "Return 3 numbers" in asked_for([8, 2, 1])


@pytest.mark.parametrize("expected", [[8, 2], {"a": 8, "b": 2}], ids=["pair", "dictionary"])
def test_exactly_the_containers_that_the_message_lists_are_accepted(expected):
    for form, value in FORMS.items():
        assert (form in asked_for(expected)) == (answer(value, "numbers").value == expected)
