"""From answers to a verdict: which are right, and which known misconception explains the others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .answers import Answer
from .messages import PROBLEMS
from .plain_data import Plain, same
from .plot_reading import reading

__all__ = ["MisconceptionValues", "Verdict", "judge", "same"]


@dataclass(frozen=True)
class MisconceptionValues:
    """A misconception as values: what it gives for each case, None where it gives nothing."""

    key: str
    says: str
    read: str
    values: Sequence[Plain]


@dataclass(frozen=True)
class Verdict:
    """How many of `total` answers are right, and sentences about the others.

    `cause` is the key of the misconception that explains them, or of the problem they share.
    """

    right: int
    total: int
    cause: str = ""
    sentences: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return self.right == self.total


def judge(
    answers: Sequence[Answer],
    expected: Sequence[Plain],
    misconceptions: Sequence[MisconceptionValues],
    tolerance: float,
    cases: Sequence[Mapping[str, Any]],
    private: bool = False,
) -> Verdict:
    """Compare each answer with what is expected for its case.

    private: only the learner reads the sentences, so they may quote what the function was given
    and said.
    """
    seen = [_read(answer, case) for answer, case in zip(answers, cases, strict=True)]
    right = [
        not answer.problem and same(answer.value, value, tolerance)
        for answer, value in zip(seen, expected, strict=True)
    ]
    total = len(right)
    if all(right):
        return Verdict(total, total)
    known = recognise(seen, right, misconceptions, tolerance)
    if known:
        return Verdict(sum(right), total, known.key, (known.says, f"Read: {known.read}."))
    wrong = [index for index, is_right in enumerate(right) if not is_right]
    first = seen[wrong[0]]
    problem = first.problem or misshapen(first.value, expected[wrong[0]])
    if not problem:
        some = "some of them are right" if any(right) else "none of them is right"
        return Verdict(sum(right), total, "", (f"The values are not as expected: {some}.",))
    sentence = PROBLEMS[problem]
    if private and first.detail:
        sentence = sentence.removesuffix(".") + f": {first.detail}."
    return Verdict(sum(right), total, problem, (sentence,))


def recognise(
    answers: Sequence[Answer],
    right: Sequence[bool],
    misconceptions: Sequence[MisconceptionValues],
    tolerance: float,
) -> MisconceptionValues | None:
    """The misconception with the same values: in every case, or at least in every wrong one."""
    strict, loose = None, None
    for known in misconceptions:
        hits = [
            not answer.problem and value is not None and same(answer.value, value, tolerance)
            for answer, value in zip(answers, known.values, strict=True)
        ]
        if all(hits):
            strict = strict or known
        elif all(hit or fine for hit, fine in zip(hits, right, strict=True)):
            loose = loose or known
    return strict or loose


def misshapen(value: Plain, expected: Plain) -> str:
    """The problem with the shape of the value, "" if it has the expected one."""
    if isinstance(expected, dict) or isinstance(value, dict):
        fits = isinstance(value, dict) and isinstance(expected, dict)
        return "" if fits and value.keys() == expected.keys() else "wrong-keys"
    if isinstance(expected, list) and not any(isinstance(entry, str) for entry in expected):
        fits = isinstance(value, list) and len(value) == len(expected)
        return "" if fits or any(isinstance(entry, str) for entry in value) else "wrong-length"
    return ""


def _read(answer: Answer, case: Mapping[str, Any]) -> Answer:
    """A figure's facts as a reader takes them; every other answer as it is."""
    if answer.problem or not (isinstance(answer.value, dict) and "curves" in answer.value):
        return answer
    values, problem = reading(answer.value, case)
    return Answer(value=values, problem=problem)
