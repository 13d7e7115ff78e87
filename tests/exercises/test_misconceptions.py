"""Misconceptions: their messages, and that published cases distinguish them."""

import itertools
import random
import re
from typing import Any

import pytest
from repository import ROOT
from solutions import in_check, parts

from grading.release import exercises
from grading.release.cases import Cases, with_values
from grading.schema.misconceptions import MESSAGES
from grading.schema.parts import Part
from roofkit.check.compare import same

DRAWS = 240
each_part = pytest.mark.parametrize(
    ("name", "part"), [pytest.param(name, part, id=f"{name}/{part.key}") for name, part in parts()]
)
# Misconceptions that give the same values in every case: the hint names one "or" the other.
ALIKE = {
    ("attention/decode-intensity", "prefill-for-decode", "one-position-loaded"),
    ("attention/decode-limit", "half-the-operations", "cache-counted-twice"),
    ("attention/decode-limit", "values-not-counted", "operations-counted-twice"),
    ("many-chips/bytes-sent", "whole-array-each-step", "all-chips-together"),
    ("many-chips/times", "whole-array-each-step", "all-chips-together"),
    ("many-chips/times", "one-lap", "sums-in-one-byte"),
    ("many-chips/times", "one-lap", "both-ways"),
    ("many-chips/times", "sums-in-one-byte", "both-ways"),
    ("many-chips/times", "sums-in-parts", "links-together"),
    ("many-chips/first-depth", "one-lap", "sums-in-one-byte"),
    ("many-chips/first-depth", "one-lap", "both-ways"),
    ("many-chips/first-depth", "sums-in-one-byte", "both-ways"),
    ("many-chips/first-depth", "one-lap", "product-counted-more"),
    ("many-chips/first-depth", "sums-in-one-byte", "product-counted-more"),
    ("many-chips/first-depth", "both-ways", "product-counted-more"),
    ("many-chips/first-depth", "multiply-add-once", "longer-network"),
    ("many-chips/speedup", "one-lap", "sums-in-one-byte"),
    ("many-chips/speedup", "one-lap", "both-ways"),
    ("many-chips/speedup", "sums-in-one-byte", "both-ways"),
    ("many-chips/all-reduce-time", "whole-array-each-step", "all-chips-together"),
}


def without_types(text: str) -> str:
    """Return a text without names of data types, which contain digits."""
    return re.sub(r"int8|bf16", "", text)


@pytest.mark.parametrize("key", MESSAGES)
def test_misconception_messages_contain_no_formula(key: str) -> None:
    says, _ = MESSAGES[key]
    assert says.endswith(".")
    assert not re.search(r"[\d*/=]", without_types(says)), says


@each_part
def test_hints_contain_no_formula(name: str, part: Part) -> None:
    assert part.hint.endswith((".", "?"))
    assert not re.search(r"[\d*=^√]|\w\(", without_types(part.hint)), part.hint


def test_misconception_messages_are_unique() -> None:
    sentences = [says for says, _ in MESSAGES.values()]
    assert len(sentences) == len(set(sentences))


def test_each_message_is_used_by_a_part() -> None:
    used = {known.key for _, part in parts() for known in part.misconceptions}
    assert used == set(MESSAGES)


def test_each_recommended_section_exists() -> None:
    headings = {}
    for path in (ROOT / "chapters").glob("*.md"):
        title, *others = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        headings[title] = others
    for key, (_, read) in MESSAGES.items():
        assert read, key
        if read.startswith("“"):
            chapter, heading = re.fullmatch(r"“(.*?)”, “(.*?)”", read).groups()
            assert heading in headings[chapter], key


@each_part
def test_each_part_has_at_least_three_misconceptions(name: str, part: Part) -> None:
    keys = [known.key for known in part.misconceptions]
    assert len(keys) == len(set(keys)) >= 3


def pairs_alike(part: Part, cases: Cases) -> set[tuple[str, str]]:
    """Return the pairs of misconceptions with equal values in all cases.

    The right answer has the key "".
    """
    rows = [("", cases.expected), *((known.key, known.values) for known in cases.misconceptions)]
    return {
        (one, other)
        for (one, values), (other, others) in itertools.combinations(rows, 2)
        if all(alike(*pair, part.tolerance) for pair in zip(values, others, strict=True))
    }


def alike(value: Any, other: Any, tolerance: float) -> bool:
    """Return whether two values are equal within the tolerance.

    None equals only None.
    """
    if value is None or other is None:
        return value is other
    return same(value, other, tolerance)


@each_part
def test_published_cases_distinguish_misconceptions_except_alike_ones(
    name: str, part: Part
) -> None:
    found = pairs_alike(part, in_check(name, part.key))
    assert found == {(one, other) for at, one, other in ALIKE if at == f"{name}/{part.key}"}


@pytest.mark.parametrize("at", sorted({at for at, _, _ in ALIKE}))
def test_indistinguishable_misconceptions_agree_in_random_cases_too(at: str) -> None:
    name, _, key = at.partition("/")
    (part,) = (part for part in exercises.load(name).parts if part.key == key)
    drawn = itertools.islice(part.draws(random.Random(0)), DRAWS)
    found = pairs_alike(part, with_values(name, part, drawn))
    assert found == {(one, other) for place, one, other in ALIKE if place == at}
