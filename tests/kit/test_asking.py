"""How a function is asked: each case once, the first again, and what comes of odd functions."""

from contextlib import contextmanager

import pytest

from roofkit.check.answers import TooLate, ask_all

CASES = [{"B": 2, "sides": [1, 2]}, {"B": 3, "sides": [1, 2, 3]}]


def problems(function, cases=CASES, **options):
    return [answer.problem for answer in ask_all(function, cases, "number", **options)]


def test_each_case_is_asked_once_and_the_first_again():
    asked = []

    def area(B, sides):
        asked.append((B, list(sides)))
        return B

    answers = list(ask_all(area, CASES, "number"))
    assert [answer.value for answer in answers[:2]] == [2, 3]
    assert [answer.problem for answer in answers] == ["", "", ""]
    assert asked == [(2, [1, 2]), (3, [1, 2, 3]), (2, [1, 2])]
    assert list(ask_all(area, [], "number")) == []


def test_a_function_that_changes_what_it_is_given_is_caught_by_its_second_answer():
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


def test_a_result_of_the_call_before_is_no_change_of_the_inputs():
    """Even if the first answer comes again when it is asked a third time."""
    known = [2]

    def before(B, sides):
        known.append(B)
        return known[-2]

    assert problems(before) == ["", "", "changing"]


def test_another_order_is_a_change_of_the_inputs():
    def first(sides):
        found = next(iter(sides))
        sides[found] = sides.pop(found)
        return sides[found]

    *_, again = ask_all(first, [{"sides": {"a": 1, "b": 2}}], "number")
    assert again.problem == "changed-inputs"


def test_a_function_that_remembers_is_caught_by_its_second_answer():
    calls = []

    def count(B, sides):
        calls.append(B)
        return len(calls)

    assert problems(count) == ["", "", "changing"]

    def once(B, sides):
        if calls:
            raise ValueError("done")
        return calls.append(B) or B

    calls.clear()
    assert problems(once, CASES[:1]) == ["", "changing"]


def test_without_a_first_value_there_is_nothing_to_ask_again():
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
def test_each_call_has_a_limit_of_its_own_and_none_follows_a_late_one(late_at, wanted, calls):
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
