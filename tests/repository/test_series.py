"""Tests of `in_part`, which leaves most values of a series to the long tests."""

import pytest
from series import in_part


def test_in_part_marks_all_but_every_nth_value_as_long() -> None:
    late = pytest.param("c", id="last", marks=pytest.mark.long)
    found = in_part(["a", "b", late, "d", pytest.param("e", id="own")], every=2)
    long = ["long" in [mark.name for mark in one.marks] for one in found]
    assert [one.values for one in found] == [("a",), ("b",), ("c",), ("d",), ("e",)]
    assert long == [False, True, True, True, False]
    assert [one.id for one in found] == [None, None, "last", None, "own"]
