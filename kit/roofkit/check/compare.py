"""Verdicts on answers: how many are right, and what explains the others."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from roofkit.words import N_, _

from .answers import Answer
from .findings import Findings
from .messages import sentence
from .plain_data import Plain, describe, has_names, same
from .plot_reading import reading
from .slips import SMALL, rounded
from .wording import case_text, joined, listed, series

__all__ = ["MisconceptionValues", "Verdict", "judge", "same"]


@dataclass(frozen=True)
class MisconceptionValues:
    """The value that a misconception gives for each case; None for an error."""

    key: str
    says: str
    read: str
    values: Sequence[Plain]


@dataclass(frozen=True)
class Verdict:
    """The number of right answers out of `total`, and sentences about the others.

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

    Check and grading both call this, so that they name the same cause.

    private: whether the sentences may quote arguments and results, because only the learner reads
    them and the cases are published.
    """
    total = len(answers)
    seen = [_read(answer, case) for answer, case in zip(answers, cases, strict=True)]
    right = [
        not answer.problem and same(answer.value, value, tolerance)
        for answer, value in zip(seen, expected, strict=True)
    ]
    if all(right):
        return Verdict(total, total)
    found = Findings(seen, expected, right, cases, tolerance)
    known, everywhere = recognize(seen, expected, right, misconceptions, tolerance)
    if known:
        read = _("Read: {places}.").format(
            places=series([*dict.fromkeys(one.read for one in known)])
        )
        says = explanation(known, qualifier(found, everywhere))
        where = [] if everywhere or not private else [found.shown(right.index(False))]
        return Verdict(sum(right), total, known[0].key, (says, *where, read))
    first = right.index(False)
    problem, detail = seen[first].problem, seen[first].detail
    if not problem:
        problem = shape_problem(seen[first].value, expected[first])
        detail = shape_detail(seen[first].value, expected[first])
    if not problem:
        return Verdict(sum(right), total, "", tuple(found.sentences(private)))
    if problem == "unwritten" and any(answer.problem != "unwritten" for answer in seen):
        problem, detail = "raised", "NotImplementedError"
    said = sentence(problem, detail if private else "", expected[first])
    if private and 0 < sum(answer.problem == problem for answer in seen) < total:
        said = _("For {case}: {sentence}").format(case=case_text(cases[first]), sentence=said)
    return Verdict(sum(right), total, problem, (said,))


def recognize(
    answers: Sequence[Answer],
    expected: Sequence[Plain],
    right: Sequence[bool],
    misconceptions: Sequence[MisconceptionValues],
    tolerance: float,
) -> tuple[list[MisconceptionValues], bool]:
    """Return the misconceptions that fit, and whether they fit in every case.

    If none agrees in every case, return those that agree in every wrong case; if there is none,
    and there are several numbers, those that agree in every wrong number. Agreement in nothing but
    names or small integers doesn't count there, since it may be chance.
    """
    everywhere: list[MisconceptionValues] = []
    wherever_wrong: list[MisconceptionValues] = []
    loose: list[MisconceptionValues] = []
    wrong = [at for at, fine in enumerate(right) if not fine]
    for known in misconceptions:
        hits = [
            answer.problem == "raised"
            if value is None
            else not answer.problem and same(answer.value, value, tolerance)
            for answer, value in zip(answers, known.values, strict=True)
        ]
        if all(hits):
            everywhere.append(known)
        elif not any(answers[at].problem for at in wrong):
            pairs = [
                pair
                for at in wrong
                for pair in _wrong_numbers(
                    answers[at].value, known.values[at], expected[at], tolerance
                )
            ]
            if all(same(*pair, tolerance) for pair in pairs) and telling([one for one, _ in pairs]):
                whole = all(hits[at] for at in wrong)
                (wherever_wrong if whole else loose).append(known)
    return everywhere or wherever_wrong or loose, bool(everywhere)


def _wrong_numbers(
    value: Plain, known: Plain, expected: Plain, tolerance: float
) -> list[tuple[Plain, Plain]]:
    """Return the wrong numbers of an answer, each with that of a misconception."""
    lists = [one for one in (value, known, expected) if isinstance(one, list)]
    if len(lists) < 3 or len({len(one) for one in lists}) > 1 or has_names(expected):
        return [(value, known)]
    if same(sorted(known), sorted(expected), tolerance):  # an order is wrong only as a whole
        return [(value, known)]
    return [
        (number, other)
        for number, other, right in zip(value, known, expected, strict=True)
        if not same(number, right, tolerance)
    ]


def explanation(known: Sequence[MisconceptionValues], qualifier: str) -> str:
    """Return the explanation; with "Either … Or …" if several misconceptions fit.

    qualifier: "" or one of the messages that `qualifier` returns.
    """
    if len(known) == 1:
        said = _(known[0].says)
    else:
        first, *others = (_(one.says) for one in known)
        ors = [_("Or: {explanation}").format(explanation=other) for other in others]
        said = joined([_("Either: {explanation}").format(explanation=first), *ors])
        qualifier = qualifier or N_("More than one slip gives these values. {explanation}")
    return _(qualifier).format(explanation=said) if qualifier else said


def telling(value: Plain) -> bool:
    """Return whether a value is unlikely to agree by chance."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return any(map(telling, value))
    if isinstance(value, str):
        return False
    return math.isfinite(value) and (abs(value) > SMALL or value != round(value))


def qualifier(found: Findings, everywhere: bool) -> str:
    """Return a message that qualifies a misconception's sentence if it is uncertain.

    The sentence replaces {explanation}. The message is "" if none is needed.
    """
    if found.names:
        return N_("These names come out in this way, among others: {explanation}")
    if not everywhere:
        return N_("Where it is not right, this would give the same values: {explanation}")
    # Who rounds does so in right answers, too.
    if rounded([*found.pairs, *((one, one) for one in found.fine)]):
        return N_("The numbers are rounded too far, or this has happened: {explanation}")
    return ""


def shape_problem(value: Plain, expected: Plain) -> str:
    """Return the problem with the shape of the value, "" if the shape is as expected."""
    if isinstance(expected, dict):
        if not isinstance(value, dict):
            return "wrong-form"
        return "" if value.keys() == expected.keys() else "wrong-keys"
    if isinstance(expected, list) and not has_names(expected):
        if isinstance(value, dict):
            return "wrong-form"
        fits = isinstance(value, list) and len(value) == len(expected)
        return "" if fits else "wrong-length"
    return ""


def shape_detail(value: Plain, expected: Plain) -> str:
    """Describe the value's shape, or its missing and extra keys, for the learner."""
    if isinstance(value, dict) and isinstance(expected, dict):
        missing = [key for key in expected if key not in value]
        extra = [key for key in value if key not in expected]
        said = [_("missing: {names}").format(names=listed(missing))] if missing else []
        if extra:
            said.append(_("not asked for: {names}").format(names=listed(extra)))
        return series(said)
    if isinstance(value, list):
        return _("1 value") if len(value) == 1 else _("{count} values").format(count=len(value))
    return describe(value)


def _read(answer: Answer, case: Mapping[str, Any]) -> Answer:
    """Return the answer with values read from a figure's facts, if it has them."""
    if answer.problem or not (isinstance(answer.value, dict) and "curves" in answer.value):
        return answer
    values, problem = reading(answer.value, case)
    return Answer(value=values, problem=problem)
