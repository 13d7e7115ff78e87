"""Whether what a check says of a slip is so.

A sentence is taken at its word: what it says of the published cases must be so for inputs that the
check has not seen. And a cause that it names must be the true one: several misconceptions can give
equal values, and then only an either-or is true of both.
"""

import functools
from collections.abc import Sequence

from solutions import in_check, part_of

from grading.release.cases import Cases
from roofkit.check import slips as looks
from roofkit.check.answers import Answer
from roofkit.check.compare import Verdict, same
from roofkit.check.findings import Findings

from . import Slip, answers, fresh

SEEDS = 5  # classes, whose hidden cases stand for all inputs
# What says of the value what it is, and not how somebody came to it: true of everybody with it.
SAYS_WHAT_IT_IS = {
    *("limit-for-exact", "large-limit-for-exact", "exact-for-limit", "large-batch-limit"),
    *("always-two", "always-at-peak", "larger-of-the-two", "time-for-rate", "share-of-the-peak"),
    *("swapped", "upside-down", "ratio-of-sides", "no-delay", "twice", "difference", "increase"),
    *(
        "all-chips",
        "no-chips",
        "the-others",
        "the-two-times",
        "shorter-of-the-two",
        "straight-line",
    ),
    *(
        "width-upside-down",
        "shared-weights",
        "no-infinity",
        "long-context-for-exact",
        "group-alone",
    ),
    *("no-ceiling", "always-halved", "one-prefix-for-all", "prefix-ignored", "one-side-twice"),
    *("sparse-for-dense", "doubled", "both-ways-doubled", "weights-not-counted"),
    *("exact-fit-left-out", "past-the-tie", "below-zero-cut", "weights-take-no-room"),
    *("hbm-left-out", "network-left-out", "longer-network"),
    *("one-layer", "one-head", "one-sequence", "as-for-two"),
    *("width-for-a-pair", "width-of-a-part"),
    *("group-upside-down", "not-whole", "below-zero", "as-many-times", "positions-for-sequences"),
}
# What only describes the published cases, or asks: nothing that could be false.
DESCRIPTIONS = (
    *(looks._infinite, looks._zeros, looks._signs, looks._constant, looks._repeated),
    *(looks._shift, looks._near),
)
# Words after which a sentence says what else would give these values, not what has happened.
CONDITIONAL = ("this would give the same values:", "come out in this way, among others:")


def falsehood(slip: Slip, verdict: Verdict) -> str:
    """Return what the verdict's sentences say that is not so, "" if all is true."""
    said = " ".join(verdict.sentences)
    part = part_of(slip.exercise, slip.part)
    keys = [known.key for known in part.misconceptions if known.says in said]
    told = keys if verdict.cause in keys else []
    cases = _fresh(slip.exercise, slip.part)
    seen = answers(slip, cases.inputs)[:-1]
    if told and any(words in said for words in CONDITIONAL):
        return ""
    if told:
        return _of_misconceptions(slip, told, said, cases, seen)
    known = in_check(slip.exercise, slip.part)
    found = _findings(slip, known, answers(slip, known.inputs)[:-1])
    if not found or found.names:
        return ""
    for look in looks.LOOKS:
        if (sentence := look(found.pairs, found.fine)) and sentence in said:
            return _of_look(slip, look, sentence, found, _findings(slip, cases, seen))
    return ""


@functools.cache
def _fresh(exercise: str, part: str) -> Cases:
    return fresh(exercise, part, SEEDS)


def _of_misconceptions(
    slip: Slip, told: Sequence[str], said: str, cases: Cases, seen: Sequence[Answer]
) -> str:
    part = part_of(slip.exercise, slip.part)
    hold = []
    for known in cases.misconceptions:
        if known.key not in told:
            continue
        rows = zip(seen, cases.expected, known.values, strict=True)
        if all(
            one.problem == "raised" if value is None else _right(one, value, part.tolerance)
            for one, _, value in rows
        ):
            hold.append(known.key)
    if not hold:
        rounds = "rounded too far" in said and slip.rounding
        return "" if rounds else f"{', '.join(told)}: other values than these for other inputs"
    if slip.causes is None or set(hold) & (SAYS_WHAT_IT_IS | slip.causes):
        return ""
    return f"{', '.join(hold)}: the values are the same, the cause is another"


def _of_look(
    slip: Slip, look: object, sentence: str, found: Findings, everywhere: Findings | None
) -> str:
    if look is looks._overflow:
        return "nothing overflows in Python"
    if look in DESCRIPTIONS or (look is looks._factor and len(found.pairs) == 1):
        return ""
    if look is looks._rounded and (slip.rounding or "; or " in sentence):
        return ""
    if not everywhere or not everywhere.pairs:
        return ""
    if not look(everywhere.pairs, everywhere.fine):  # type: ignore[operator]
        return f"not so for other inputs: {sentence}"
    return ""


def _findings(slip: Slip, cases: Cases, seen: Sequence[Answer]) -> Findings | None:
    tolerance = part_of(slip.exercise, slip.part).tolerance
    right = [_right(*pair, tolerance) for pair in zip(seen, cases.expected, strict=True)]
    if all(right):
        return None
    return Findings(seen, cases.expected, right, cases.inputs, tolerance)


def _right(answer: Answer, value: object, tolerance: float) -> bool:
    return not answer.problem and same(answer.value, value, tolerance)  # type: ignore[arg-type]
