"""Each class has cases of its own, all of the kind that a check names."""

import itertools
import math
import random

import pytest
from learner import parts

from grading.release import exercises
from grading.release.cases import hidden
from grading.schema import Real, Whole


@pytest.mark.parametrize("name", exercises.names())
def test_each_class_has_inputs_of_its_own_of_the_kind_that_a_check_names(name: str) -> None:
    for part in parts(name).values():
        classes = [hidden(name, part, f"class {seed}").inputs for seed in range(3)]
        assert len({repr(inputs) for inputs in classes}) == 3, part.key
        for argument, span in part.ranges.items():
            # Few numbers may have a common factor by chance.
            if isinstance(span, Whole) and span.high - span.low > 60:
                values = list(itertools.islice(span.draws(random.Random(argument)), 600))
                step, powers = math.gcd(*values), all(one.bit_count() == 1 for one in values)
                kind = "power of two" if powers else f"multiple of {step}" if step > 1 else "whole"
                assert kind in str(span), (part.key, argument, values)


@pytest.mark.parametrize("name", exercises.names())
def test_boundary_cases_are_within_the_ranges(name: str) -> None:
    for part in (one for one in parts(name).values() if one.boundaries):
        for case in itertools.islice(part.draws(random.Random(name)), 600):
            assert part.allowed(**case)
            for argument, span in part.ranges.items():
                if isinstance(span, Real | Whole):
                    assert span.low <= case[argument] <= span.high, case
        assert all(part.allowed(**case) for case in part.cases)
